/* The loops around a tile: which tile of the sequence comes next, and which item. Counted up without divisions, which
 * take as long as a small tile does; divided only where a thread's share begins. */
#ifndef CUTT_CPU_LOOPS_H
#define CUTT_CPU_LOOPS_H

#include "cpu/prepared.h"

/* A tile of the sequence: its chunk of the split mode, its positions, and its input and output offsets. */
typedef struct cutt_cpu_sequence_at {
  int64_t chunk, in, out;
  int64_t position[CUTT_MAX_RANK];
} cutt_cpu_sequence_at;

static inline void cutt_cpu_sequence_begin(const cutt_cpu_plan *p, int64_t at, cutt_cpu_sequence_at *s) {
  if (at == 0) { /* without divisions */
    s->chunk = s->in = s->out = 0;
    for (int i = 0; i < p->sequences; ++i) s->position[i] = 0;
    return;
  }
  s->chunk = at % p->split_k.chunks;
  at /= p->split_k.chunks;
  s->in = s->chunk * p->k_in_stride;
  s->out = s->chunk * p->k_out_stride;
  for (int i = 0; i < p->sequences; ++i) {
    s->position[i] = at % p->sequence[i].extent;
    at /= p->sequence[i].extent;
    s->in += s->position[i] * p->sequence[i].in_stride;
    s->out += s->position[i] * p->sequence[i].out_stride;
  }
}

/* The next position of some loops, of which the first is the innermost; the last one is followed by the first. */
static inline void cutt_cpu_loops_next(const cutt_cpu_loop *restrict loop, int loops, int64_t *restrict position,
                                       int64_t *restrict in, int64_t *restrict out) {
  for (int i = 0; i < loops; ++i) {
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): all positions were set where the loops began */
    if (++position[i] < loop[i].extent) {
      *in += loop[i].in_stride;
      *out += loop[i].out_stride;
      return;
    }
    *in -= (position[i] - 1) * loop[i].in_stride;
    *out -= (position[i] - 1) * loop[i].out_stride;
    position[i] = 0;
  }
}

static inline void cutt_cpu_sequence_next(const cutt_cpu_plan *p, cutt_cpu_sequence_at *s) {
  if (++s->chunk < p->split_k.chunks) {
    s->in += p->k_in_stride;
    s->out += p->k_out_stride;
    return;
  }
  s->in -= (s->chunk - 1) * p->k_in_stride;
  s->out -= (s->chunk - 1) * p->k_out_stride;
  s->chunk = 0;
  cutt_cpu_loops_next(p->sequence, p->sequences, s->position, &s->in, &s->out);
}

/* Where an item is: its part of the sequence, its chunk of the split mode of M_m, its outer position and their offsets. */
typedef struct cutt_cpu_outer_at {
  int64_t part, chunk, in, out;
  int64_t position[CUTT_MAX_RANK];
} cutt_cpu_outer_at;

static inline void cutt_cpu_outer_begin(const cutt_cpu_plan *p, int64_t item, cutt_cpu_outer_at *o) {
  o->part = item % p->parts;
  item /= p->parts;
  o->chunk = item % p->split_m.chunks;
  item /= p->split_m.chunks;
  o->in = o->chunk * p->m_in_stride;
  o->out = o->chunk * p->m_out_stride;
  for (int i = 0; i < p->outers; ++i) {
    o->position[i] = item % p->outer[i].extent;
    item /= p->outer[i].extent;
    o->in += o->position[i] * p->outer[i].in_stride;
    o->out += o->position[i] * p->outer[i].out_stride;
  }
}

static inline void cutt_cpu_outer_next(const cutt_cpu_plan *p, cutt_cpu_outer_at *o) {
  if (++o->part < p->parts) return;
  o->part = 0;
  if (++o->chunk < p->split_m.chunks) {
    o->in += p->m_in_stride;
    o->out += p->m_out_stride;
    return;
  }
  o->in -= (o->chunk - 1) * p->m_in_stride;
  o->out -= (o->chunk - 1) * p->m_out_stride;
  o->chunk = 0;
  cutt_cpu_loops_next(p->outer, p->outers, o->position, &o->in, &o->out);
}

#endif
