/* A prepared plan of the CPU backend: immutable once made, so that any number of threads may execute it at once. */
#ifndef CUTT_CPU_PREPARED_H
#define CUTT_CPU_PREPARED_H

#include "cpu/kernels/kernels.h"
#include "cpu/tile.h"

/* A loop over a mode outside of the tile; strides in bytes. */
typedef struct cutt_cpu_loop {
  int64_t extent;
  int64_t in_stride, out_stride;
} cutt_cpu_loop;

/* The chunks of a split mode: each has `full` positions, but the last one, which has `last`. */
typedef struct cutt_cpu_split {
  int64_t chunks, full, last;
} cutt_cpu_split;

/* An item of a copy: so many bytes. */
enum { CUTT_CPU_COPY_GRAIN = 256 * 1024 };

typedef struct cutt_cpu_plan {
  const cutt_cpu_kernels *kernels;
  void (*scatter)(char *dst, int64_t stride_bytes, const char *stage, int64_t n, int64_t w);
  cutt_cpu_transpose_fn *transpose; /* NULL: the plan gathers */
  cutt_cpu_scaled_fn *scaled;       /* transpose with alpha and beta, unstaged; NULL: not used by this plan */
  cutt_cpu_shift_fn *shift;         /* transpose with non-temporal stores, unstaged; NULL: not used by this plan */
  cutt_cpu_shift_fn *lines;         /* transpose through the caches where columns begin within lines; NULL: likewise */
  cutt_cpu_follow_fn *follow;       /* the same for columns that are one output run; NULL: likewise */
  cutt_cpu_along_fn *along;         /* the same along the rows, a tile at a time; NULL: likewise */
  cutt_cpu_skip_fn *skip;           /* copy or gather of elements in_step bytes apart; NULL: not used by this plan */
  cutt_cpu_few_fn *few;             /* transpose of few rows into the stage; NULL: likewise */
  cutt_cpu_window_fn *window;       /* gather through windows; NULL: run by run */
  cutt_cpu_turn_fn *turn;           /* gather of short runs, `turned` segments at a time; NULL: not used by this plan */
  cutt_cpu_windows windows;
  cutt_cpu_few few_indices;
  int64_t window_vector; /* bytes of the output that have windows of their own */
  bool guards_windows;   /* the kernel can be asked to read no more than elements */
  bool broadcasts;       /* some mode of the input has stride 0: the same elements again and again */
  cutt_cpu_kernel kernel;
  cutt_scale scale;
  int64_t in_start, out_start; /* bytes from the caller's pointers to element (0, ..., 0) */
  int64_t in_low, in_high;     /* the bytes that the input spans, from the caller's pointer */
  int64_t w;                   /* bytes of an element */
  int64_t bytes;               /* of the elements of one side */
  int64_t parts_per_element;   /* elements of the user's type, which the scale is applied to, in one element */
  int threads;                 /* of one execution */
  int most_threads;            /* of several, unless the caller says otherwise */
  bool one_stream;             /* copy past the caches: line after line, not four pages at a time */
  bool non_temporal;           /* stores past the caches */
  int prefetch;                /* cutt_cpu_prefetch_to */
  bool tiles_ahead;            /* see tile.h */
  bool one_line;               /* likewise */
  bool steps_ahead;            /* each step of columns prefetches the next one, not all of them the next tile */
  bool asks_for_output;        /* its lines, which are written in part, before they are */
  bool direct;                 /* kernels may write the output themselves, without staging */
  bool cols_inside;
  int64_t in_step;       /* gather: bytes from each row to the next, where no table is needed; 0: the table */
  int64_t step_ahead;    /* ... bytes ahead that are prefetched along them */
  bool by_segments;      /* see tile.h */
  int64_t repeats;       /* gather: so many rows, one after another, are the same element */
  int64_t turned;        /* segments that turn takes, of neighbours in the input */
  int64_t beside;        /* segments of a tile that are neighbours in the input */
  bool turned_back;      /* ... the last one first */
  bool gaps, rows_apart; /* see tile.h */

  /* Tables of offsets in bytes, each in the order of its modes, so that a tile that is cut short uses a table's
   * beginning. */
  const int64_t *row;                      /* rows: input offsets, padded to a vector's worth */
  const int64_t *row_collected;            /* ... in the stage, of those that are collected */
  const int64_t *inner_in, *inner_pos;     /* inners: input offset, position in the run */
  const int64_t *segment_in, *segment_out; /* segments */
  const int64_t *col_out;                  /* cols: position in the output run if cols_inside, else output offset */
  const int64_t *col_run;                  /* cols, where they are parts of several runs: which run, */
  const int64_t *apart_out;                /* apart: ... and the output offsets of these */
  const int64_t *ahead;                    /* aheads: starts of a tile's input runs, to prefetch the next tile */
  int64_t rows, cols, apart, inners, segments, aheads;
  int64_t apart_last;          /* apart, in the last chunk of split_m */
  int64_t row_max, inner_max;  /* largest entries of row and inner_in */
  int64_t even_rows, row_step; /* walk along rows: see cutt_cpu_columns */
  int64_t block_rows;          /* rows of a vector */
  int64_t strip;               /* see tile.h */
  int64_t strip_within;
  int64_t strip_past;
  int64_t collected;   /* bytes of each row that is copied to the stage first; 0: none are */
  int64_t ahead_bytes; /* bytes of an input run */
  int64_t ahead_more;  /* see kernels.h */
  int64_t ahead_room;

  int64_t shared_run;    /* bytes that a gather copies at once */
  int64_t step;          /* columns of a step */
  int64_t step_staged;   /* columns that the stage holds at a time */
  int64_t stage_stride;  /* bytes from one column's run in the stage to the next */
  int64_t stage_bytes;   /* of a thread's stage: whole lines */
  int64_t carries;       /* lines that are carried: one for each segment */
  int64_t chain;         /* walk along rows: bytes of a column's run where the next column's follows it; 0: none does */
  int64_t scratch_bytes; /* of a thread's stage and carried lines */
  int64_t run_stride;    /* bytes between the elements of an output run; w when it is contiguous */

  /* The role of a split mode says which of a tile's counts its short chunk changes. */
  cutt_cpu_role role_m, role_k;
  int64_t per_m, per_k; /* entries of that role's table for one position of the mode; 1 if there is no table */
  cutt_cpu_split split_m, split_k;
  int64_t m_in_stride, m_out_stride, k_in_stride, k_out_stride; /* of one chunk, bytes */

  int sequences, outers;
  cutt_cpu_loop sequence[CUTT_MAX_RANK]; /* after the chunks of split_k */
  cutt_cpu_loop outer[CUTT_MAX_RANK];    /* after the chunks of split_m */
  int64_t sequence_length;               /* tiles of a sequence: chunks of split_k included */
  int64_t sequence_part;                 /* tiles of it that one item of work does */
  int64_t parts;                         /* items per sequence */
  int64_t items;                         /* of work: outer positions x parts */
  int64_t shares;                        /* of consecutive items, which the threads of one execution take */
} cutt_cpu_plan;

cuttResult cutt_cpu_prepare(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                            void **prepared);
cuttResult cutt_cpu_execute(const cutt_executions *executions, cudaStream_t stream);
void cutt_cpu_release(void *prepared);

/* Bytes [from, to) of a contiguous tensor; stage: scratch for a scaled copy by non-temporal stores. */
void cutt_cpu_copy(const cutt_cpu_plan *plan, const char *in, char *out, int64_t from, int64_t to, char *stage);

/* Items [first, end) of an execution, first < end, by the calling thread. memory: scratch_bytes of it, at a cache line. */
void cutt_cpu_run(const cutt_cpu_plan *plan, const void *in, void *out, int64_t first, int64_t end, char *memory);

#endif
