/* Numbers that products take as long as with any others (numbers.h). */
#include "contract/numbers.h"

#include <stdlib.h>

#include "base/error.h"
#include "blas/blocks.h"

enum { PATTERN = 1 << 16 };

typedef union pattern {
  double f64[PATTERN / sizeof(double)];
  float f32[PATTERN / sizeof(float)];
  uint16_t half[PATTERN / sizeof(uint16_t)];
} pattern;

/* Numbers from 0.5 to 1, since products of denormal numbers take longer. */
static void draw_pattern(cuttType_t type, pattern *p) {
  if (type == CUTT_F16 || type == CUTT_BF16)
    for (size_t i = 0; i < sizeof p->half / sizeof *p->half; ++i)
      p->half[i] = (uint16_t)(type == CUTT_F16 ? 0x3800 + i % 997 : 0x3f00 + i % 127);
  else if (cutt_gemm_single(type))
    for (size_t i = 0; i < sizeof p->f32 / sizeof *p->f32; ++i) p->f32[i] = 0.5f + (float)(i % 997) / 1994;
  else
    for (size_t i = 0; i < sizeof p->f64 / sizeof *p->f64; ++i) p->f64[i] = 0.5 + (double)(i % 997) / 1994;
}

cuttResult cutt_numbers_fill(const cutt_runtime *runtime, cuttType_t type, void *memory, int64_t bytes) {
  pattern *p = malloc(sizeof *p);
  if (!p)
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes of numbers to time products with", sizeof *p);
  draw_pattern(type, p);
  const int64_t first = bytes < PATTERN ? bytes : PATTERN;
  cuttResult result = bytes ? runtime->memory_copy(memory, p, (size_t)first) : CUTT_SUCCESS;
  for (int64_t done = first; done < bytes && !result; done *= 2)
    result = runtime->memory_copy((unsigned char *)memory + done, memory,
                                  (size_t)(bytes - done < done ? bytes - done : done));
  free(p);
  return result;
}
