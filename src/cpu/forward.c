/* The input's first mode from its other end (forward.h). */
#include "cpu/forward.h"

#include "cpu/kernels/kernels.h"

/* Bytes of the output's modes before the input's first one: those of a run, where that mode can't be part of it. */
static int64_t run_before(const cutt_canonical *c) {
  int64_t bytes = c->elem_bytes;
  for (int i = 0; c->out_order[i] != 0 && bytes < CUTT_CPU_LINE; ++i) bytes *= c->mode[c->out_order[i]].extent;
  return bytes;
}

const cutt_canonical *cutt_cpu_forward(const cutt_canonical *canonical, cutt_canonical *other) {
  enum { LEAST_RUN = 16 }; /* the narrowest vector */
  if (canonical->rank < 2 || canonical->mode[0].in_stride != -1 || canonical->out_order[0] == 0 ||
      run_before(canonical) < LEAST_RUN)
    return canonical;
  *other = *canonical;
  cutt_mode *mode = &other->mode[0];
  other->in_start += (mode->extent - 1) * mode->in_stride * other->elem_bytes;
  other->out_start += (mode->extent - 1) * mode->out_stride * other->elem_bytes;
  mode->in_stride = 1;
  mode->out_stride = -mode->out_stride;
  return other;
}
