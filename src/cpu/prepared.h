/* A prepared plan of the CPU backend: immutable once made, so that any number of threads may execute it at once. */
#ifndef CUTT_CPU_PREPARED_H
#define CUTT_CPU_PREPARED_H

#include "cpu/kernels/kernels.h"
#include "cpu/tile.h"

/* A loop over modes outside of the tile: index i of it stands for extent positions, strides in bytes. */
typedef struct cutt_cpu_loop {
  int64_t extent;
  int64_t in_stride, out_stride;
} cutt_cpu_loop;

/* A split mode: `chunks` tiles along it, of which the last one has `last` positions instead of `full`. */
typedef struct cutt_cpu_split {
  int64_t chunks, full, last;
} cutt_cpu_split;

typedef struct cutt_cpu_plan {
  const cutt_cpu_kernels *kernels;
  cutt_cpu_transpose_fn *transpose; /* NULL: gather */
  cutt_cpu_shift_fn *shift;         /* transpose past the caches without staging; NULL: not for this plan */
  cutt_cpu_window_fn *window;       /* gather through windows; NULL: piece by piece */
  cutt_cpu_windows windows;
  cutt_cpu_kernel kernel;
  cutt_scale scale;
  int64_t in_start, out_start; /* bytes from the user's pointers to element (0, ..., 0) */
  int64_t in_low, in_high;     /* the input's bytes from the user's pointer */
  int64_t w;                   /* bytes of an element */
  int64_t bytes;               /* Copy: bytes to copy */
  int64_t parts_per_element;   /* base elements (those that the scale is of) in one element */
  int threads;
  bool stream; /* stores past the caches */
  bool direct; /* kernels may write the output themselves, without staging */
  bool x_inside;
  bool gaps, rows_apart; /* see tile.h */

  /* Tables, bytes. Each is in order of its modes, so that a tile cut short uses the beginning of one of them. */
  const int64_t *row;                      /* rows: input offsets, padded to a vector's worth */
  const int64_t *inner_in, *inner_pos;     /* inners: input offset, position in the run */
  const int64_t *segment_in, *segment_out; /* segments */
  const int64_t *col_out;                  /* cols: output offset (x outside) or position in the run (x inside) */
  const int64_t *ahead; /* aheads: starts of the input runs of a tile, for the prefetch of the next one */
  int64_t rows, cols, inners, segments, aheads;
  int64_t row_max;     /* largest entry of row */
  int64_t block_rows;  /* rows of a vector */
  int64_t ahead_bytes; /* bytes of an input run */

  int64_t piece;         /* bytes */
  int64_t step;          /* columns of a step */
  int64_t step_staged;   /* of which the stage holds so many at a time */
  int64_t stage_stride;  /* bytes between the staging places of two segments */
  int64_t stage_bytes;   /* of a thread's staging places: whole lines */
  int64_t scratch_bytes; /* of all that a thread stages and carries */
  int64_t out_unit;      /* bytes between the elements of an output run; w when it is contiguous */

  /* Which count does a split mode's last chunk cut short? */
  cutt_cpu_role role_m, role_k;
  int64_t per_m, per_k; /* entries of that table for one position of the mode (1 for piece: bytes) */
  cutt_cpu_split split_m, split_k;
  int64_t m_in_stride, m_out_stride, k_in_stride, k_out_stride; /* of one chunk, bytes */

  int sequences, outers;
  cutt_cpu_loop sequence[CUTT_MAX_RANK]; /* after the chunks of split_k */
  cutt_cpu_loop outer[CUTT_MAX_RANK];    /* after the chunks of split_m */
  int64_t sequence_length;               /* tiles of a sequence: chunks of split_k included */
  int64_t sequence_part;                 /* tiles of it that one item of work does */
  int64_t parts;                         /* items per sequence */
  int64_t items;                         /* of work: outer positions x parts */
  int64_t batches;                       /* that threads take: runs of items */
} cutt_cpu_plan;

cuttResult cutt_cpu_prepare(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                            void **prepared);
cuttResult cutt_cpu_execute(const void *prepared, const void *in, void *out, cudaStream_t stream);
void cutt_cpu_release(void *prepared);

#endif
