/* What is staged, to the output: in whole lines past the caches, with gaps between its elements, or with scalars. */
#include <string.h>

#include "base/number.h"
#include "cpu/execute.h"

enum { LINE = CUTT_CPU_LINE };

void cutt_cpu_drain_lines(cutt_cpu_drain *d, int64_t bytes) {
  if (!d->writes || d->lead + bytes < d->at + LINE) return;
  const int64_t lines = (d->lead + bytes - d->at) / LINE;
  d->kernels->store_lines(d->line + d->at, d->stage + d->at, lines);
  d->at += lines * LINE;
}

/* Writes a run of n bytes, staged at `stage + lead`, to dst in whole lines, but for what has been written; lead = dst mod 64. */
static void flush_lines(const cutt_cpu_kernels *k, char *dst, char *stage, int64_t lead, int64_t n, bool first,
                        bool last, char *carry, int64_t written) {
  int64_t at = 0; /* bytes written, from the beginning of dst's line */
  const int64_t end = lead + n;
  char *line = dst - lead;
  if (first && lead > 0) {
    at = LINE;
    const int64_t head = end < LINE ? n : LINE - lead;
    k->copy(dst, stage + lead, head);
    if (end <= LINE) return; /* not continued by another tile: see share_out */
  }
  at = larger(at, written);
  const int64_t lines = (end - at) / LINE;
  k->store_lines(line + at, stage + at, lines);
  at += lines * LINE;
  if (last) {
    k->copy(line + at, stage + at, end - at);
  } else {
    memcpy(carry, stage + end - LINE, LINE);
  }
}

/* Elements of an output run with gaps that are scaled at a time, and so gathered first where they are read. */
enum { SCALED_ELEMENTS = 64 };

/* A staged run with its scalars, to where it is. */
static void scale_strided(const cutt_cpu_job *j, char *dst, char *run, int64_t elements) {
  const cutt_cpu_plan *p = j->p;
  char old[SCALED_ELEMENTS * 16];
  for (int64_t i = 0; i < elements; i += SCALED_ELEMENTS) {
    const int64_t some = smaller(elements - i, SCALED_ELEMENTS);
    char *const from = run + i * p->w, *const to = dst + i * p->run_stride;
    for (int64_t k = 0; p->scale.reads_out && k < some; ++k) {
      p->kernels->copy(old + k * p->w, to + k * p->run_stride, p->w);
    }
    p->kernels->scale(from, from, old, some * p->parts_per_element, &p->scale);
    p->scatter(to, p->run_stride, from, some, p->w);
  }
}

void cutt_cpu_flush_run(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, char *dst, char *stage, int64_t lead,
                        int64_t bytes, char *carry, int64_t written) {
  const cutt_cpu_plan *p = j->p;
  char *const run = stage + lead;
  const int64_t elements = bytes / p->w;
  if (p->non_temporal) {
    if (p->scale.active) p->kernels->scale(run, run, run, elements * p->parts_per_element, &p->scale);
    flush_lines(p->kernels, dst, stage, lead, bytes, t->first, t->last, carry, written);
  } else if (p->run_stride != p->w) {
    if (p->scale.active) {
      scale_strided(j, dst, run, elements);
    } else {
      p->scatter(dst, p->run_stride, run, elements, p->w);
    }
  } else if (p->scale.active) {
    p->kernels->scale(dst, run, dst, elements * p->parts_per_element, &p->scale);
  } else {
    p->kernels->copy(dst, run, bytes);
  }
}

int64_t cutt_cpu_begin_run(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, const char *dst, char *stage,
                           const char *carry) {
  if (!j->p->non_temporal) return 0;
  const int64_t lead = (int64_t)((uintptr_t)dst & (LINE - 1));
  if (!t->first && lead > 0) memcpy(stage, carry + LINE - lead, LINE);
  return lead;
}
