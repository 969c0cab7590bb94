/* The tables of kernels, one for each instruction set (kernels.h). */
#include <stddef.h>
#include <string.h>

#include "contract/kernels/kernels.h"

#ifdef CUTT_HAVE_KERNELS_SSE2
extern const cutt_pass_kernels cutt_pass_kernels_sse2;
#endif
#ifdef CUTT_HAVE_KERNELS_AVX2
extern const cutt_pass_kernels cutt_pass_kernels_avx2;
#endif
#ifdef CUTT_HAVE_KERNELS_AVX512
extern const cutt_pass_kernels cutt_pass_kernels_avx512;
#endif
#ifdef CUTT_HAVE_KERNELS_NEON
extern const cutt_pass_kernels cutt_pass_kernels_neon;
#endif
#ifdef CUTT_HAVE_KERNELS_GENERIC
extern const cutt_pass_kernels cutt_pass_kernels_generic;
#endif

static const struct {
  const char *isa;
  const cutt_pass_kernels *kernels;
} tables[] = {
#ifdef CUTT_HAVE_KERNELS_GENERIC
    {"generic", &cutt_pass_kernels_generic},
#endif
#ifdef CUTT_HAVE_KERNELS_NEON
    {"neon", &cutt_pass_kernels_neon},
#endif
#ifdef CUTT_HAVE_KERNELS_SSE2
    {"sse2", &cutt_pass_kernels_sse2},
#endif
#ifdef CUTT_HAVE_KERNELS_AVX2
    {"avx2", &cutt_pass_kernels_avx2},
#endif
#ifdef CUTT_HAVE_KERNELS_AVX512
    {"avx512", &cutt_pass_kernels_avx512},
    {"avx512vbmi", &cutt_pass_kernels_avx512}, /* permutes of bytes would be of no use */
#endif
};

const cutt_pass_kernels *cutt_pass_kernels_named(const char *isa) {
  for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i)
    if (strcmp(tables[i].isa, isa) == 0) return tables[i].kernels;
  return NULL;
}
