/* Adding up parts of sums (device_join.h): the kernel's parameters, and what it is predicted to take. */
#include "contract/device_join.h"

#include <string.h>

#include "base/number.h"
#include "contract/device_walk.h"
#include "gpu/divisor.h"

enum {
  SECTOR = 32,    /* bytes: the least that memory moves */
  MOST_LANES = 32 /* threads side by side */
};

static const double launch_seconds = 3.2e-6;

double cutt_join_seconds(void) { return launch_seconds; }

double cutt_join_part_seconds(const cutt_contraction *c, const cutt_rates *r) {
  return 2 * (double)(cutt_sum_bytes(c) * c->volume[CUTT_RESULT]) / r->memory;
}

/* A mode of D: its steps as it is packed and in D, in elements. */
typedef struct join_mode {
  int64_t extent, packed, step;
} join_mode;

/* The shortest step as they are packed first, and those together that are one in both. */
static int modes_of(const cutt_contraction *c, const int64_t *packed, join_mode *mode) {
  int count = 0;
  for (int i = 0; i < c->modes; ++i) {
    if (cutt_is_summed(c, i)) continue;
    int at = count++;
    for (; at > 0 && mode[at - 1].packed > packed[i]; --at) mode[at] = mode[at - 1];
    mode[at] = (join_mode){c->mode[i].extent, packed[i], c->mode[i].stride[CUTT_RESULT]};
  }
  int last = 0;
  for (int i = 1; i < count; ++i) {
    if (mode[i].step == mode[last].step * mode[last].extent)
      mode[last].extent *= mode[i].extent;
    else
      mode[++last] = mode[i];
  }
  return count ? last + 1 : 0;
}

uint32_t cutt_join_fill(const cutt_contraction *c, int64_t parts, const int64_t *packed, cutt_join_args *args) {
  join_mode mode[CUTT_MOST_MODES];
  const int64_t results = c->volume[CUTT_RESULT], sum = cutt_sum_bytes(c);
  memset(args, 0, sizeof *args);
  if (results >= INT32_MAX || parts >= INT32_MAX) return 0;
  args->results = (uint32_t)results;
  args->parts = (uint32_t)parts;
  args->part_bytes = results * sum;
  args->op = (uint8_t)c->reduce;
  args->digits = (uint32_t)modes_of(c, packed, mode);
  for (uint32_t i = 0; i < args->digits; ++i)
    args->digit[i] = (cutt_join_digit){cutt_divide_by(mode[i].extent), mode[i].step * c->type->bytes};
  /* Fewer lanes have sectors at least, as long as threads would go for parts more than once. */
  int64_t lanes = MOST_LANES;
  while (lanes > 1 &&
         (lanes / 2 >= results || (lanes / 2 * sum >= SECTOR && parts > CUTT_JOIN_THREADS / lanes * CUTT_JOIN_LOADS)))
    lanes /= 2;
  while (INT64_C(1) << args->lane_bits < lanes) ++args->lane_bits;
  return (uint32_t)cutt_ceil_of(results, lanes);
}
