/* M_m and M_k of the candidates: what lengths they have. */
#ifndef CUTT_GPU_GROW_H
#define CUTT_GPU_GROW_H

#include "model/canonical.h"
#include "model/device.h"

enum {
  CUTT_GPU_RUNS = 6,           /* lengths of each */
  CUTT_GPU_RUNS_OVER_GAPS = 8, /* the same of problems with gaps, where few others have long runs */
  /* The most elements that a run over gaps spans, over those that it has: what is read beyond these, or not written, takes its time, too. */
  CUTT_GPU_MOST_SPAN = 4,
  CUTT_GPU_LONG_RUN =
      512 /* bytes, of a run that does not become faster by going on over a gap: measured, docs/log.md */
};

/* M_m or M_k: the first `count` modes of a side, the last in chunks of `split` unless 0; `length` elements in all. */
typedef struct cutt_gpu_prefix {
  int count;
  int64_t split, length;
} cutt_gpu_prefix;

/* A chunk of about `wanted` of `extent`: chunks as even as possible, and of whole sectors where that changes little.
 * step_bytes: of an element of the mode. */
int64_t cutt_gpu_even_chunk(const cutt_device *d, int64_t extent, int64_t wanted, int64_t step_bytes);

/* One for each of so many lengths of run, as far as they differ, over modes that lie one behind the other; returns how many there are.
 * order: of the modes; NULL: theirs. */
int cutt_gpu_grow_all(const cutt_device *d, const cutt_canonical *c, const int *order, bool input, int lengths,
                      cutt_gpu_prefix *list);

/* The same over gaps, where the memory from the first element to the last is not mostly gaps. */
int cutt_gpu_grow_over_gaps(const cutt_device *d, const cutt_canonical *c, const int *order, bool input,
                            cutt_gpu_prefix *list);

/* Where one of them cuts a mode that the other goes on behind, that one ends there, too. */
void cutt_gpu_shorten(const cutt_canonical *c, cutt_gpu_prefix *m, cutt_gpu_prefix *k);

/* Where M_m and M_k have a mode in common, what one of them cuts must be what the other has. */
void cutt_gpu_reconcile(const cutt_canonical *c, cutt_gpu_prefix *m, cutt_gpu_prefix *k);

#endif
