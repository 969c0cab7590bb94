/* What a kernel is told: one struct, passed by value, so that a plan touches no device memory. Shared by the host, the
 * kernels and the emulator. Offsets and steps in global memory are in bytes, from the kernel's in and out.
 *
 * A tile is a box of the canonical problem: M_mk of the paper, with up to two of its modes cut into chunks. It is read as
 * rows (runs of the input over M_m) and written as columns (runs of the output over M_k). Between the two it lies in
 * shared memory as rows, `pitch` bytes apart. A run is counted in pieces: elements, or the parts of one that the buffers'
 * alignment allows to be moved. */
#ifndef CUTT_GPU_KERNELS_ARGS_H
#define CUTT_GPU_KERNELS_ARGS_H

#include <stdint.h>

enum {
  CUTT_GRID_MODES = 32,     /* most digits that a tile's number has */
  CUTT_TABLE_MODES = 48,    /* most entries of the three lists of modes together */
  CUTT_BLOCK_THREADS = 512, /* most threads of a block */
  CUTT_BLOCKS = 2,          /* of so many threads that fit on an SM: 64 registers for each */
  CUTT_COPY_THREADS = 256,  /* the same for copies: 85 registers, since it is their loads that are in flight */
  CUTT_COPY_BLOCKS = 3,
  CUTT_COPY_LOADS = 8,      /* of a thread that are in flight in a copy */
  CUTT_COPY_LOADS_16 = 5,   /* the same for loads of 16 bytes */
  CUTT_BLOCK_TILES = 32,    /* most tiles of a block; at most its threads */
  CUTT_STAGES = 4,          /* most tiles of a block in shared memory at once */
  CUTT_TILE_ENTRY = 32,     /* bytes in shared memory: of a tile's description */
  CUTT_ROW_ENTRY = 8,       /* ... of a row's */
  CUTT_COLUMN_ENTRY = 16,   /* ... of a column's */
  CUTT_RUN_ENTRY = 4,       /* ... of a place's in the run */
  CUTT_LOAD_UNALIGNED = 255 /* of load_log2: rows begin anywhere, and are read in the words that they touch */
};

/* Division by a constant: n / by == (multiply_high(n, multiplier) + n) >> shift for n < 2^31 (Granlund, Montgomery). */
typedef struct cutt_divisor {
  uint32_t by, multiplier, shift;
} cutt_divisor;

/* A digit of a tile's number (Eq. 2 and 3): bytes per step on both sides. */
typedef struct cutt_grid_mode {
  int64_t in, out;
  cutt_divisor extent;
  uint32_t unused;
} cutt_grid_mode;

/* A digit of a place in a tile (Eq. 4 to 6). */
typedef struct cutt_table_mode {
  int64_t global; /* bytes per step in global memory: rows: of the input; columns: of the output; run: none */
  cutt_divisor extent;
  uint32_t shared; /* bytes per step in shared memory; for run and columns */
  uint32_t phase;  /* bytes per step of the row's beginning in the input, modulo 4; for run and columns */
  uint32_t unused;
} cutt_table_mode;

/* A mode that tiles cut into chunks: where the chunk's number is in grid[] (none: UINT32_MAX), and the extent of the
 * chunks: of all but the last, and of that. */
typedef struct cutt_cut {
  uint32_t digit, chunk, last;
} cutt_cut;

/* How alpha or beta is multiplied by a complex number. */
enum {
  CUTT_PARTS_ALONE,  /* not at all: it is 1 */
  CUTT_PARTS_SCALED, /* each part by itself, by a real factor */
  CUTT_PARTS_MIXED   /* as complex numbers are */
};

/* So many, times the extent of cut 1 or 2 in the tile at hand; cut 0: just so many. */
typedef struct cutt_count {
  uint32_t each, cut;
} cutt_count;

typedef struct cutt_kernel_args {
  uint32_t tiles, block_tiles;                   /* in all; of a block at most */
  uint32_t tile_step;                            /* from a tile of a block to its next; so many blocks share them */
  uint32_t grid_modes;                           /* entries of grid[] */
  uint32_t row_modes, run_modes, column_modes;   /* entries of mode[], one list behind the other */
  uint32_t table_rows, table_run, table_columns; /* entries of the tables: counts of a whole tile */
  uint32_t rows_at, columns_at, run_at;          /* where the tables begin in shared memory */
  uint32_t stage_at, stage_bytes, stages;        /* where the first tile begins; from there to the next; how many */
  uint32_t pitch;                                /* bytes from row to row */
  uint32_t load_units, load_rows;                /* the block's threads take so many units of a row, of so many rows */
  uint32_t store_units, store_columns;           /* and so many units of a column, of so many columns */
  uint32_t load_log2;                            /* log2 of the bytes of a load: 2, 3, 4, or CUTT_LOAD_UNALIGNED */
  uint32_t near;                                 /* the input has no gaps: L2 may fetch what lies around a row */
  uint32_t store_alike;                          /* tile_1u, tile_2u: the columns of a thread lie alike in words */
  uint32_t halves;                               /* scale kernels: an element of the output is accessed in two halves */
  cutt_count row_bytes, rows, run, columns;      /* of a tile: bytes of a row, rows, pieces of a column, columns */
  cutt_cut cut[2];
  int64_t in_low, in_high;  /* the input's bytes: unaligned rows are not read past them */
  double alpha[2], beta[2]; /* scale kernels */
  int64_t alpha_integer, beta_integer;
  uint32_t alpha_parts, beta_parts; /* of complex types */
  uint32_t flip;                    /* bits of the imaginary part's upper word: its sign, to conjugate; else 0 */
  uint32_t reads_out;               /* beta is not 0 */
  cutt_table_mode mode[CUTT_TABLE_MODES];
  cutt_grid_mode grid[CUTT_GRID_MODES];
} cutt_kernel_args;

#endif
