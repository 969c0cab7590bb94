/* Run-time dispatch: the tables of kernels of each instruction set. */
#include "cpu/dispatch.h"

#include <string.h>

#define DECLARE(isa)                                                                                                   \
  extern const cutt_cpu_kernels cutt_cpu_kernels_##isa;                                                                \
  extern const cutt_cpu_byte_kernels cutt_cpu_byte_kernels_##isa;
#define TABLES(isa)                                                                                                    \
  { #isa, &cutt_cpu_kernels_##isa, &cutt_cpu_byte_kernels_##isa }

#ifdef CUTT_HAVE_KERNELS_GENERIC
DECLARE(generic)
#endif
#ifdef CUTT_HAVE_KERNELS_NEON
DECLARE(neon)
#endif
#ifdef CUTT_HAVE_KERNELS_SSE2
DECLARE(sse2)
#endif
#ifdef CUTT_HAVE_KERNELS_AVX2
DECLARE(avx2)
#endif
#ifdef CUTT_HAVE_KERNELS_AVX512
DECLARE(avx512)
#endif
#ifdef CUTT_HAVE_KERNELS_AVX512VBMI
DECLARE(avx512vbmi)
#endif

static const cutt_cpu_tables tables[] = {
#ifdef CUTT_HAVE_KERNELS_GENERIC
    TABLES(generic),
#endif
#ifdef CUTT_HAVE_KERNELS_NEON
    TABLES(neon),
#endif
#ifdef CUTT_HAVE_KERNELS_SSE2
    TABLES(sse2),
#endif
#ifdef CUTT_HAVE_KERNELS_AVX2
    TABLES(avx2),
#endif
#ifdef CUTT_HAVE_KERNELS_AVX512
    TABLES(avx512),
#endif
#if defined(CUTT_HAVE_KERNELS_AVX512VBMI) && defined(CUTT_HAVE_KERNELS_AVX512)
    {"avx512vbmi", &cutt_cpu_kernels_avx512, &cutt_cpu_byte_kernels_avx512vbmi},
#elif defined(CUTT_HAVE_KERNELS_AVX512VBMI)
    TABLES(avx512vbmi),
#endif
    {NULL, NULL, NULL},
};

const cutt_cpu_tables *cutt_cpu_tables_named(const char *isa) {
  const cutt_cpu_tables *found = tables;
  while (found->isa && strcmp(found->isa, isa) != 0) ++found;
  return found->isa ? found : NULL;
}
