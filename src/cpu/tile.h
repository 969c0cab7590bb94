/* The geometry of a candidate on the CPU: what role each mode of the canonical problem plays.
 *
 * A tile is the paper's M_mk = M_m u M_k. One tile is read in input runs (over M_m) and written in output runs (over
 * M_k), through a staging buffer in L1. Roles of the tile's modes:
 *
 *   row       Y  leading output modes: rows of the register transpose, and all of the table that a gather runs over
 *   column    X  leading input modes: columns of the register transpose
 *   inner     modes of M_k that are neither: they lengthen the output run
 *   segment   modes of M_m that are not in M_k: each of their positions is an output run (a "segment") of its own
 *
 * X lies either wholly in M_k (columns are parts of one run: "x_inside") or wholly outside (each column is a segment).
 * The modes outside of the tile:
 *
 *   sequence  those that continue the tile's output run in memory (after the chunks of a split M_k): walked innermost,
 *             so that a segment that ends inside a cache line is carried on by the next tile, and only whole lines are
 *             ever written
 *   outer     the rest (and the chunks of a split M_m): what threads share out among themselves. */
#ifndef CUTT_CPU_TILE_H
#define CUTT_CPU_TILE_H

#include "model/method.h"

typedef enum cutt_cpu_kernel {
  CUTT_CPU_COPY,
  CUTT_CPU_GATHER,    /* piece by piece from a table */
  CUTT_CPU_TRANSPOSE, /* through registers */
  CUTT_CPU_WINDOW,    /* the gather's table, several elements per instruction */
  CUTT_CPU_KERNELS
} cutt_cpu_kernel;

/* cutt_candidate.param[] of the CPU backend. */
enum {
  CUTT_CPU_PARAM_KERNEL, /* cutt_cpu_kernel */
  CUTT_CPU_PARAM_VECTOR, /* transpose: bytes of a register */
  CUTT_CPU_PARAM_STREAM, /* 1: stores go past the caches */
  CUTT_CPU_PARAM_STEP    /* transpose: columns that one step takes when each column is a segment */
};

typedef enum cutt_cpu_role {
  CUTT_CPU_OUTER,
  CUTT_CPU_SEQUENCE,
  CUTT_CPU_PIECE, /* gather: the shared first mode, copied as a run */
  CUTT_CPU_ROW,
  CUTT_CPU_COLUMN,
  CUTT_CPU_INNER,
  CUTT_CPU_SEGMENT
} cutt_cpu_role;

typedef struct cutt_cpu_tile {
  cutt_cpu_kernel kernel;
  cutt_cpu_role role[CUTT_MAX_RANK];
  int64_t extent[CUTT_MAX_RANK]; /* of each mode inside a tile (the chunk of a split one); 1 outside of it */
  int split_m, split_k;          /* the modes that are cut into chunks; -1: none */
  int last_k;                    /* the last mode of M_k; -1: M_k is empty */
  bool x_inside;
  bool gaps;                              /* between elements of the input there may be pages that hold none */
  bool rows_apart;                        /* ... and such pages between the rows of a tile */
  bool stream;                            /* stores go past the caches */
  bool shifts;                            /* by the transpose that does so without staging, where there is no scale */
  bool direct;                            /* the kernel writes the output itself, without staging */
  int64_t block_rows;                     /* transpose: rows of a vector; else 1 */
  int64_t piece;                          /* elements that a gather copies as one */
  int64_t rows;                           /* product of the extents of the row modes */
  int64_t cols;                           /* ... of the column modes */
  int64_t inners;                         /* ... of the inner modes */
  int64_t segments;                       /* ... of the segment modes */
  int64_t run;                            /* elements of an output run: piece * rows * inners (* cols if x_inside) */
  int64_t out_unit;                       /* stride of the output's runs: 1, or the smallest output stride there is */
  int steps_cols;                         /* columns of one step */
  int staged_cols;                        /* of which the staging buffer holds so many at a time */
  int sequence[CUTT_MAX_RANK], sequences; /* sequence modes in output order */
  int outer[CUTT_MAX_RANK], outers;       /* outer modes in input order */
} cutt_cpu_tile;

/* Bounds that keep an execution's scratch on the stack small. */
enum {
  CUTT_CPU_STAGE_BYTES = 48 * 1024,
  CUTT_CPU_CARRIES = 1024,     /* segments of a tile at most, when stores go past the caches */
  CUTT_CPU_MAX_STEP = 64,      /* columns of a step at most */
  CUTT_CPU_MAX_TABLE = 8192,   /* entries of a table at most */
  CUTT_CPU_MAX_WINDOWED = 2048 /* of one that is sorted into windows */
};

/* Bytes between the staging places of two segments: a line for the place inside the first line, a vector's width of
 * slack for what a transpose writes past its end, and an odd number of lines, so that columns fall into different sets
 * of the L1 cache. */
int64_t cutt_cpu_stage_stride(int64_t run_bytes);

/* stride * extent, or 0 (no stride) where that is beyond 64 bits: a sparse tensor may end close to there. */
static inline int64_t cutt_cpu_next_stride(int64_t stride, int64_t extent) {
  int64_t next;
  return __builtin_mul_overflow(stride, extent, &next) ? 0 : next;
}

/* Derives the geometry; false with *why if the candidate does not fit the problem (bounds above included). */
bool cutt_cpu_tile_derive(const cutt_canonical *canonical, const cutt_candidate *candidate, cutt_cpu_tile *tile,
                          const char **why);

#endif
