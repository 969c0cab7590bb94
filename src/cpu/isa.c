/* Run-time dispatch: one table of kernels per instruction set, the best one that the processor and the operating system
 * support. The environment is read at each plan, so that a test can go through all of them in one process. */
#include "cpu/isa.h"

#include <stdlib.h>
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
#ifdef CUTT_HAVE_KERNELS_NEON
extern const cutt_cpu_kernels cutt_cpu_kernels_neon;
#endif
#ifdef CUTT_HAVE_KERNELS_GENERIC
extern const cutt_cpu_kernels cutt_cpu_kernels_generic;
#endif

const cutt_cpu_kernels *const cutt_cpu_isa_all[] = {
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
    NULL,
};

bool cutt_cpu_isa_usable(const cutt_cpu_kernels *kernels, const char **why) {
  *why = "";
#if defined(__x86_64__)
  /* Exactly what -march=x86-64-v3 and -v4 let the compiler use. __builtin_cpu_supports asks the operating system too. */
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("fma");
  if (strcmp(kernels->name, "avx2") == 0 && !v3) {
    *why = "the processor has no AVX2, BMI and FMA";
    return false;
  }
  if (strcmp(kernels->name, "avx512") == 0 &&
      !(v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))) {
    *why = "the processor has no AVX-512 F, BW, CD, DQ and VL";
    return false;
  }
#else
  (void)kernels;
#endif
  return true;
}

const cutt_cpu_kernels *cutt_cpu_isa_kernels(const char **note) {
  const char *forced = getenv("CUTT_CPU_ISA"), *why = NULL;
  if (forced != NULL && *forced == 0) forced = NULL;
  const cutt_cpu_kernels *best = cutt_cpu_isa_all[0];
  if (note != NULL) *note = NULL;
  for (int i = 0; cutt_cpu_isa_all[i] != NULL; i++) {
    if (!cutt_cpu_isa_usable(cutt_cpu_isa_all[i], &why)) continue;
    best = cutt_cpu_isa_all[i];
    if (forced != NULL && strcmp(forced, best->name) == 0) return best;
  }
  if (forced != NULL && note != NULL) {
    *note = "CUTT_CPU_ISA names no instruction set that is usable here; without it, `cutt devices` lists them";
  }
  return best;
}
