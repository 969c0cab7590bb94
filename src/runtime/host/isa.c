/* Instruction sets as data: the features that each requires of a processor. */
#include "runtime/host/isa.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define FEATURES(X)                                                                                                    \
  X(AVX2, "avx2")                                                                                                      \
  X(BMI, "bmi")                                                                                                        \
  X(BMI2, "bmi2")                                                                                                      \
  X(FMA, "fma")                                                                                                        \
  X(AVX512F, "avx512f")                                                                                                \
  X(AVX512BW, "avx512bw")                                                                                              \
  X(AVX512CD, "avx512cd")                                                                                              \
  X(AVX512DQ, "avx512dq")                                                                                              \
  X(AVX512VL, "avx512vl")                                                                                              \
  X(AVX512VBMI, "avx512vbmi")
#define NUMBER(feature, name) feature##_NUMBER,
#define BIT(feature, name) feature = 1u << feature##_NUMBER,
enum { FEATURES(NUMBER) FEATURE_COUNT };
enum {
  FEATURES(BIT)
  /* Of the features of -march=x86-64-v3 and -v4, those that the others come with on every processor. */
  X86_64_V3 = AVX2 | BMI | BMI2 | FMA,
  X86_64_V4 = X86_64_V3 | AVX512F | AVX512BW | AVX512CD | AVX512DQ | AVX512VL,
  X86_64_V4_VBMI = X86_64_V4 | AVX512VBMI
};

/* The features of this machine, as far as the operating system supports them. */
static unsigned features_here(void) {
  unsigned here = 0;
  __builtin_cpu_init();
#define ASK(feature, name)                                                                                             \
  if (__builtin_cpu_supports(name)) here |= (unsigned)feature;
  FEATURES(ASK)
  return here;
}
#else
static unsigned features_here(void) { return 0; }
#endif

const cutt_isa cutt_isa_all[] = {
#ifdef CUTT_HAVE_KERNELS_GENERIC
    {"generic", 16, false, 0, ""},
#endif
#ifdef CUTT_HAVE_KERNELS_NEON
    {"neon", 16, true, 0, ""},
#endif
#ifdef CUTT_HAVE_KERNELS_SSE2
    {"sse2", 16, false, 0, ""},
#endif
#ifdef CUTT_HAVE_KERNELS_AVX2
    {"avx2", 32, true, X86_64_V3, "the processor has no AVX2, BMI and FMA"},
#endif
#ifdef CUTT_HAVE_KERNELS_AVX512
    {"avx512", 64, false, X86_64_V4, "the processor has no AVX-512 F, BW, CD, DQ and VL"},
#endif
#ifdef CUTT_HAVE_KERNELS_AVX512VBMI
    {"avx512vbmi", 64, true, X86_64_V4_VBMI, "the processor has no AVX-512 VBMI"},
#endif
    {NULL, 0, false, 0, NULL},
};

bool cutt_isa_usable(const cutt_isa *isa, const char **why) {
  const bool usable = !(isa->required & ~features_here());
  *why = usable ? "" : isa->lacking;
  return usable;
}

const cutt_isa *cutt_isa_in_use(const char **note) {
  const char *forced = getenv("CUTT_CPU_ISA");
  if (forced && !*forced) forced = NULL;
  const unsigned here = features_here();
  const cutt_isa *best = cutt_isa_all;
  if (note) *note = NULL;
  for (const cutt_isa *isa = cutt_isa_all; isa->name; ++isa) {
    if (isa->required & ~here) continue;
    best = isa;
    if (forced && !strcmp(forced, isa->name)) return isa;
  }
  if (forced && note) {
    *note = "CUTT_CPU_ISA names no instruction set that is usable here; without it, `cutt devices` lists them";
  }
  return best;
}
