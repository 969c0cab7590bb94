/* The input's first mode from its other end (forward.h). */
#include "cpu/forward.h"

const cutt_canonical *cutt_cpu_forward(const cutt_canonical *canonical, cutt_canonical *other) {
  if (canonical->rank < 2 || canonical->mode[0].in_stride != -1 || canonical->out_order[0] == 0) return canonical;
  *other = *canonical;
  cutt_mode *mode = &other->mode[0];
  other->in_start += (mode->extent - 1) * mode->in_stride * other->elem_bytes;
  other->out_start += (mode->extent - 1) * mode->out_stride * other->elem_bytes;
  mode->in_stride = 1;
  mode->out_stride = -mode->out_stride;
  return other;
}
