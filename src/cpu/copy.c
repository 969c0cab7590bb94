/* A tensor that is contiguous on both sides and in the same order, a copy, with scalars or without; or all elements of the input
 * backwards, or every second to fourth one. */
#include <string.h>

#include "base/number.h"
#include "cpu/prepared.h"

enum { LINE = CUTT_CPU_LINE };

void cutt_cpu_copy(const cutt_cpu_plan *p, const char *in, char *out, int64_t from, int64_t to, char *stage) {
  if (p->skip) {
    const bool past = p->non_temporal && ((uintptr_t)out & (uintptr_t)(p->w - 1)) == 0;
    p->skip(out + from, in + from / p->w * p->in_step, (to - from) / p->w, p->in_step, past);
    return;
  }
  if (!p->scale.active) {
    if (p->non_temporal) {
      p->kernels->copy_non_temporal(out + from, in + from, to - from, p->one_stream);
    } else {
      memmove(out + from, in + from, (size_t)(to - from)); /* a copy may be in place */
    }
    return;
  }
  const int64_t base = p->w / p->parts_per_element, lead = (int64_t)(-(uintptr_t)(out + from) & (LINE - 1));
  if (!p->non_temporal || lead % base != 0 || lead > to - from) {
    p->kernels->scale(out + from, in + from, out + from, (to - from) / base, &p->scale);
    return;
  }
  p->kernels->scale(out + from, in + from, out + from, lead / base, &p->scale);
  int64_t at = from + lead;
  for (; to - at >= LINE; at += smaller((to - at) / LINE * LINE, p->stage_bytes)) {
    const int64_t n = smaller((to - at) / LINE * LINE, p->stage_bytes);
    p->kernels->scale(stage, in + at, stage, n / base, &p->scale);
    p->kernels->store_lines(out + at, stage, n / LINE);
  }
  p->kernels->scale(out + at, in + at, out + at, (to - at) / base, &p->scale);
}
