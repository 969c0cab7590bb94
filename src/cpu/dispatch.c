/* Run-time dispatch: one table of kernels per instruction set. */
#include "cpu/dispatch.h"

#include <string.h>

#ifdef CUTT_HAVE_KERNELS_SSE2
extern const cutt_cpu_kernels cutt_cpu_kernels_sse2;
#endif
#ifdef CUTT_HAVE_KERNELS_AVX2
extern const cutt_cpu_kernels cutt_cpu_kernels_avx2;
#endif
#ifdef CUTT_HAVE_KERNELS_AVX512
extern const cutt_cpu_kernels cutt_cpu_kernels_avx512;
#endif
#ifdef CUTT_HAVE_KERNELS_AVX512VBMI
extern const cutt_cpu_kernels cutt_cpu_kernels_avx512vbmi;
#endif
#ifdef CUTT_HAVE_KERNELS_NEON
extern const cutt_cpu_kernels cutt_cpu_kernels_neon;
#endif
#ifdef CUTT_HAVE_KERNELS_GENERIC
extern const cutt_cpu_kernels cutt_cpu_kernels_generic;
#endif

static const cutt_cpu_kernels *const tables[] = {
#ifdef CUTT_HAVE_KERNELS_GENERIC
    &cutt_cpu_kernels_generic,
#endif
#ifdef CUTT_HAVE_KERNELS_NEON
    &cutt_cpu_kernels_neon,
#endif
#ifdef CUTT_HAVE_KERNELS_SSE2
    &cutt_cpu_kernels_sse2,
#endif
#ifdef CUTT_HAVE_KERNELS_AVX2
    &cutt_cpu_kernels_avx2,
#endif
#ifdef CUTT_HAVE_KERNELS_AVX512
    &cutt_cpu_kernels_avx512,
#endif
#ifdef CUTT_HAVE_KERNELS_AVX512VBMI
    &cutt_cpu_kernels_avx512vbmi,
#endif
    NULL,
};

const cutt_cpu_kernels *cutt_cpu_kernels_named(const char *isa) {
  int i = 0;
  while (tables[i] && strcmp(tables[i]->name, isa) != 0) ++i;
  return tables[i];
}
