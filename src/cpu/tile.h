/* The geometry of a candidate on the CPU: what role each mode of the canonical problem plays.
 *
 * A tile is the paper's M_mk = M_m u M_k. One tile is read in input runs (over M_m) and written in output runs (over
 * M_k), through a staging buffer in L1. Roles of the tile's modes:
 *
 *   shared    gather only: the first mode of both sides, copied as a contiguous run
 *   row       leading output modes: rows of the register transpose; a gather's table is over these alone
 *   column    leading input modes: columns of the register transpose
 *   inner     modes of M_k that are none of these: they lengthen the output run
 *   segment   modes of M_m that are not in M_k: each of their positions is an output run (a "segment") of its own
 *
 * The column modes are either all in M_k (columns are parts of one run: cols_inside) or all outside of it (each column
 * is a segment), or, in a mixed walk, of both kinds: columns are parts of a few runs then, which are staged side by side.
 * The modes outside of the tile:
 *
 *   sequence  those that continue the tile's output run in memory (after the chunks of a split M_k): the innermost
 *             loops, so that the next tile completes the cache line in which a segment ends, and only whole lines are
 *             written
 *   outer     the rest (and the chunks of a split M_m): the loops that threads share. */
#ifndef CUTT_CPU_TILE_H
#define CUTT_CPU_TILE_H

#include "base/number.h"
#include "model/machine.h"
#include "model/method.h"

typedef enum cutt_cpu_kernel {
  CUTT_CPU_COPY,
  CUTT_CPU_GATHER,    /* run by run, from a table of their offsets */
  CUTT_CPU_TRANSPOSE, /* through registers */
  CUTT_CPU_WINDOW,    /* the gather's table, several elements per instruction */
  CUTT_CPU_KERNELS
} cutt_cpu_kernel;

/* cutt_candidate.param[] of the CPU backend. */
enum {
  CUTT_CPU_PARAM_KERNEL,       /* cutt_cpu_kernel */
  CUTT_CPU_PARAM_VECTOR,       /* transpose: bytes of a register */
  CUTT_CPU_PARAM_NON_TEMPORAL, /* 1: stores go past the caches; "stream" in texts and files */
  CUTT_CPU_PARAM_STEP,         /* transpose: columns that one step takes when each column is a segment */
  CUTT_CPU_PARAM_WALK,         /* transpose, and Copy past the caches: cutt_cpu_walk */
  CUTT_CPU_PARAM_PREFETCH      /* cutt_cpu_prefetch_to */
};

/* In which order a transpose goes through its tile, and a copy past the caches through its bytes. */
typedef enum cutt_cpu_walk {
  CUTT_CPU_DOWN,  /* a few columns at a time, all rows; four pages at a time */
  CUTT_CPU_ALONG, /* a few rows at a time, all columns; one line after the other */
  CUTT_CPU_MIXED, /* transpose: down, with all columns that follow one another in the input, in M_k or not */
  CUTT_CPU_WALKS
} cutt_cpu_walk;

typedef enum cutt_cpu_role {
  CUTT_CPU_OUTER,
  CUTT_CPU_SEQUENCE,
  CUTT_CPU_SHARED,
  CUTT_CPU_ROW,
  CUTT_CPU_COLUMN,
  CUTT_CPU_INNER,
  CUTT_CPU_SEGMENT
} cutt_cpu_role;

/* Cache lines that a few columns of a tile's rows touch, and that L1 can hold of them beside the output. */
typedef struct cutt_cpu_row_lines {
  int64_t lines, holds;
} cutt_cpu_row_lines;

typedef struct cutt_cpu_tile {
  cutt_cpu_kernel kernel;
  cutt_cpu_role role[CUTT_MAX_RANK];
  int64_t extent[CUTT_MAX_RANK]; /* of each mode inside a tile (the chunk of a split one); 1 outside of it */
  int split_m, split_k;          /* the modes that are cut into chunks; -1: none */
  int last_k;                    /* the last mode of M_k; -1: M_k is empty */

  bool cols_inside;  /* columns are parts of an output run */
  bool gaps;         /* between elements of the input there may be pages without elements */
  bool rows_apart;   /* between the rows of a tile there may be such pages */
  bool non_temporal; /* stores go past the caches */
  bool shifts;       /* without a scale, the kernel that needs no stage for that */
  bool follows;      /* columns are an output run one after the other, which a kernel needs no stage for, likewise */
  bool along;        /* ... and goes along the rows */
  bool one_line;     /* ... by passes of one line, since L2 has too few sets for the rows of two */
  bool few;          /* columns are an output run one after the other, but shorter than a line: see kernels/few.h */
  cutt_cpu_row_lines pass; /* of a transpose: of as many rows as a pass of two lines has */
  bool rows_collide;       /* ... it has more of these lines than L1 has sets for */
  bool reads_lines;        /* of a transpose: rows are read in whole lines, and not 16 bytes at a time */
  bool tiles_ahead; /* ... prefetching the next tile, whose rows follow one another in memory, in the order of that */
  bool joins;       /* a gather of runs that needs no stage for non-temporal stores */
  bool direct;      /* the kernel writes the output, nothing is staged */
  int prefetch;     /* cutt_cpu_prefetch_to */

  bool scales;        /* by the transpose that multiplies and adds on its way */
  int64_t block_rows; /* transpose: rows of a vector; else 1 */
  int64_t strip; /* transpose through the caches: rows that all columns of a step are done for, before the next rows */
  int64_t strip_within; /* ... where columns begin within lines */
  int64_t strip_past;   /* the same of columns that go straight past the caches */
  int64_t collected;    /* ... of rows that collide: most that are copied to the stage first; 0: none are */
  bool lines;           /* ... there, columns are written in whole lines */
  int64_t shared_run;   /* elements that a gather copies as one run */
  int64_t repeats;      /* gather of single elements: as many of its rows, one after another, are the same element */
  int64_t in_step;   /* copy, gather of single elements: from each to the next in the input, if they are near; else 0 */
  bool skips;        /* ... which is -1 or 2 to 4, and there is a kernel for that */
  bool by_segments;  /* gather of few runs for each segment: one of each of many segments at a time */
  int64_t turned;    /* gather of short runs: segments that are transposed at a time; 0: runs are copied one by one */
  int turned_mode;   /* ... the mode whose positions these are */
  int64_t rows;      /* product of the extents of the row modes */
  int64_t cols;      /* ... of the column modes */
  int64_t apart;     /* ... of those that are not in M_k, where columns are parts of several runs; else 1 */
  int64_t inners;    /* ... of the inner modes */
  int64_t segments;  /* ... of the segment modes */
  int64_t run;       /* elements of an output run: shared_run * rows * inners (* cols / apart if cols_inside) */
  int64_t whole_run; /* elements of an output run with the sequence that continues it; 0: more than int64_t has */
  int64_t
      chain; /* walk along rows: elements of a column's whole run, where the next column's follows it; 0: none does */
  int64_t run_stride; /* from an element of an output run to the next: the smallest output stride; 1: contiguous */
  int steps_cols;     /* columns of a step */
  int staged_cols;    /* columns that the staging buffer holds at a time */

  int sequence[CUTT_MAX_RANK], sequences; /* the sequence modes in output order, their number */
  int outer[CUTT_MAX_RANK], outers;       /* the outer modes in input order, their number */
} cutt_cpu_tile;

/* Bytes of the elements from which on these go to an output with gaps one by one, without a stage: of narrower ones a store of what is staged has
 * many. */
enum { CUTT_CPU_SPREAD_BYTES = 4 };

/* Bounds that keep an execution's scratch within a block (runtime/host/scratch.h). */
enum {
  CUTT_CPU_STAGE_BYTES = 48 * 1024,
  CUTT_CPU_LONG_RUN = 256 * 1024, /* of runs that are copied from the input to the output, through the caches, about */
  CUTT_CPU_CARRIES = 1024,        /* segments of a tile with non-temporal stores, at most; a line of each is kept */
  CUTT_CPU_CARRIES_ALONG = 7168,  /* the same of a walk along rows, lines: two of each segment where there is a chain */
  CUTT_CPU_MAX_STEP = 64,         /* columns of a step, and runs side by side, at most */
  CUTT_CPU_MAX_MIXED = 256,       /* columns of a mixed walk at most: their places are in the scratch */
  CUTT_CPU_MAX_TABLE = 8192,      /* entries of a table at most */
  CUTT_CPU_MAX_WINDOWED = 2048    /* entries of a table with windows at most */
};

/* Bytes from one staged run to the next: the run, a line for its offset in the first line, a line for what a transpose
 * writes past its end, and an odd number of lines in all, so that columns fall into different sets of the L1 cache. */
int64_t cutt_cpu_stage_stride(int64_t run_bytes);

/* stride * extent, or 0 (no stride) where that overflows, as it may for a sparse tensor. */
static inline int64_t cutt_cpu_next_stride(int64_t stride, int64_t extent) {
  int64_t next;
  return __builtin_mul_overflow(stride, extent, &next) ? 0 : next;
}

/* Elements from a position of a mode to the next one in the input, in either direction. */
static inline int64_t cutt_cpu_distance(const cutt_mode *mode) { return magnitude(mode->in_stride); }

/* Of memory in pieces of so many bytes, lines or pages: those that a mode's positions inside a tile are in, elements of w bytes. */
static inline int64_t cutt_cpu_pieces(const cutt_mode *mode, int64_t extent, int64_t w, int64_t bytes) {
  const int64_t distance = cutt_cpu_distance(mode) * w;
  return distance < bytes ? 1 + extent * distance / bytes : extent;
}

/* The output runs of a tile, and its elements. */
static inline int64_t cutt_cpu_runs(const cutt_cpu_tile *tile) {
  return tile->segments * (tile->cols_inside ? tile->apart : tile->cols);
}
static inline int64_t cutt_cpu_elements(const cutt_cpu_tile *tile) { return tile->run * cutt_cpu_runs(tile); }

/* Elements of a tile that follow one another in the input, from a row's first column on. */
int64_t cutt_cpu_together(const cutt_canonical *canonical, const cutt_cpu_tile *tile);

/* Does a walk along rows prefetch the next tile into L2, rather than the next rows? Pages of short rows that follow one another
 * have one stream each then; rows of a page and more have streams of their own. */
bool cutt_cpu_tiles_ahead(const cutt_canonical *canonical, const cutt_cpu_tile *tile);

/* Is a walk along rows one whose rows have no room in L1 ahead of what is read, so that prefetching into L2 is the better way? Of bytes
 * 64 rows are read at once. */
bool cutt_cpu_ahead_in_l2(const cutt_canonical *canonical, const cutt_cpu_tile *tile);

/* Into how many parts the threads cut each sequence of tiles: items of work are one part each, as many as threads can share
 * evenly. *positions: how often there is a sequence, *length: its tiles. */
int64_t cutt_cpu_parts(const cutt_canonical *canonical, const cutt_cpu_tile *tile, int threads, int64_t *positions,
                       int64_t *length);

enum { CUTT_CPU_L2_WAYS = 16 }; /* lines that a set of L2 has, about: 8 to 16 */

/* Lines at multiples of `distance` bytes that half of a cache can hold; the other half is for the output. */
int64_t cutt_cpu_cache_holds(int64_t cache_bytes, int64_t ways, int64_t distance);
int64_t cutt_cpu_l1_holds(const cutt_cpu_machine *machine, int64_t distance);

/* Bytes that a step of columns has of a row. */
static inline int64_t cutt_cpu_step_bytes(const cutt_cpu_tile *tile, int64_t elem_bytes) {
  return (tile->steps_cols < tile->cols ? tile->steps_cols : tile->cols) * elem_bytes;
}

/* The same lines of all rows. */
cutt_cpu_row_lines cutt_cpu_lines_of_columns(const cutt_cpu_machine *machine, const cutt_canonical *canonical,
                                             const cutt_cpu_tile *tile);

/* Bytes by which to tell where the data is: of the output or the whole that it is a part of, or, if that is more, of what input and output span
 * in the mean, where each element takes a line at most. */
int64_t cutt_cpu_touched(const cutt_canonical *canonical);

/* Are rows copied backwards past the caches, each while the next one is asked for, from its lowest address on? Hardware prefetchers begin anew with
 * each row, and follow what goes down for long alone. */
static inline bool cutt_cpu_asks_for_next_row(const cutt_cpu_tile *tile, int64_t elem_bytes) {
  enum { LONG_ROW = 16 * 1024 };
  return tile->skips && tile->in_step < 0 && tile->non_temporal && tile->split_k < 0 &&
         tile->rows * elem_bytes <= LONG_ROW;
}

/* Does L2 hold the input and the output, or those that they are parts of? */
bool cutt_cpu_fits_l2(const cutt_cpu_machine *machine, const cutt_canonical *canonical);

/* Derives the geometry; false with *why if the candidate does not fit the problem (bounds above included). */
bool cutt_cpu_tile_derive(const cutt_cpu_machine *machine, const cutt_canonical *canonical,
                          const cutt_candidate *candidate, cutt_cpu_tile *tile, const char **why);

#endif
