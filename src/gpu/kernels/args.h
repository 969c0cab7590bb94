/* The parameters of a kernel: one struct, passed by value, so that a plan touches no device memory. Shared by the host, the
 * kernels and the emulator. Offsets and steps in global memory are in bytes, from the kernel's in and out.
 *
 * A tile is a box of the canonical problem: M_mk of the paper, with up to two of its modes cut into chunks. It is read as
 * rows (runs of the input over M_m) and written as columns (runs of the output over M_k). Between the two it lies in
 * shared memory as rows, `pitch` bytes apart. A column is counted in loads from shared memory, each of one element or of
 * the part of one that the alignment of the buffers allows to be moved at a time. */
#ifndef CUTT_GPU_KERNELS_ARGS_H
#define CUTT_GPU_KERNELS_ARGS_H

#include "combine.h"
#include "divisor.h"

enum {
  CUTT_GRID_MODES = 32,  /* most digits of a tile's number */
  CUTT_TABLE_MODES = 48, /* most entries of the three lists of modes together */
  /* Most threads of a block, and the blocks of that size that fit on an SM: 64 registers for each thread. */
  CUTT_BLOCK_THREADS = 512,
  CUTT_BLOCKS = 2,
  /* The same for copies: 85 registers, since they hold the loads in flight. */
  CUTT_COPY_THREADS = 256,
  CUTT_COPY_BLOCKS = 3,
  /* Loads of a thread that are in flight at once in a copy, and the same for loads of 16 bytes. */
  CUTT_COPY_LOADS = 8,
  CUTT_COPY_LOADS_16 = 5,
  CUTT_BLOCK_TILES = 32, /* most tiles of a block; at most its threads */
  CUTT_STAGES = 4,       /* most tiles of a block in shared memory at once */
  /* Bytes in shared memory: of a tile's description, a row's, a column's, and of one load of a column. */
  CUTT_TILE_ENTRY = 32,
  CUTT_ROW_ENTRY = 8,
  CUTT_COLUMN_ENTRY = 16,
  CUTT_RUN_ENTRY = 4,
  /* Of load_log2: rows begin at any byte, and are loaded as the 4-byte words that they touch. */
  CUTT_LOAD_UNALIGNED = 255
};

/* A digit of a tile's number (Eq. 2 and 3): bytes per step on both sides. */
typedef struct cutt_grid_mode {
  int64_t in, out;
  cutt_divisor extent;
  uint32_t unused;
} cutt_grid_mode;

/* A digit of a position in a tile (Eq. 4 to 6). Rows use `global` only, and a column's run all but `global`. */
typedef struct cutt_table_mode {
  /* Bytes per step in global memory: in the input for rows, in the output for columns. */
  int64_t global;
  cutt_divisor extent;
  /* Bytes per step in shared memory, modulo 2^32. */
  uint32_t shared;
  /* Bytes per step, modulo 4, of where the row begins in the input. */
  uint32_t phase;
  uint32_t unused;
} cutt_table_mode;

/* A mode that tiles cut into chunks. */
typedef struct cutt_tile_cut {
  /* Where the chunk's number is in grid[]; UINT32_MAX: there is no such mode. */
  uint32_t digit;
  /* The extent of all chunks but the last, and of the last. */
  uint32_t chunk, last;
} cutt_tile_cut;

/* How alpha or beta is multiplied by a complex number. */
enum {
  CUTT_PARTS_ALONE,  /* not at all: it is 1 */
  CUTT_PARTS_SCALED, /* real and imaginary part each by the same real factor */
  CUTT_PARTS_MIXED   /* the product of two complex numbers */
};

/* alpha * op(x) + beta * y: alpha and beta in the form that the type needs; how they multiply complex numbers. */
typedef struct cutt_scale_args {
  double alpha[2], beta[2];
  int64_t alpha_integer, beta_integer;
  uint32_t alpha_parts, beta_parts;
  /* To conjugate, the sign bit of the imaginary part's upper word; else 0. */
  uint32_t flip;
  uint32_t op; /* a cutt_combine: what becomes of both terms */
} cutt_scale_args;

/* A count that depends on the tile: `each`, times the extent that cut 1 or 2 has in this tile; cut 0: `each` alone. */
typedef struct cutt_count {
  uint32_t each, cut;
} cutt_count;

/* The cut of a mode that has slower ones behind it among a tile's columns: its number, as in cutt_count, and the entries of the
 * second table of columns, behind the first one, which is that of tiles with its last chunk; 0: all of its chunks are alike. */
typedef struct cutt_inner_cut {
  uint32_t cut, columns;
} cutt_inner_cut;

typedef struct cutt_kernel_args {
  /* All tiles; the most of one block; from one tile of a block to its next, which is how many blocks share a group of tiles. */
  uint32_t tiles, block_tiles, tile_step;
  /* Entries of grid[]; entries of mode[], whose three lists lie one behind the other. */
  uint32_t grid_modes;
  uint32_t row_modes, run_modes, column_modes;
  /* Entries of the tables, as for a whole tile, and where the tables begin in shared memory. */
  uint32_t table_rows, table_run, table_columns;
  uint32_t rows_at, columns_at, run_at;
  /* Where the first tile begins in shared memory, bytes from there to the next tile, and how many there is room for. */
  uint32_t stage_at, stage_bytes, stages;
  /* Bytes from row to row in shared memory. */
  uint32_t pitch;
  /* How the threads of a block are spread: side by side along a row, times rows at once; the same for columns. */
  uint32_t load_along, load_rows;
  uint32_t store_along, store_columns;
  /* log2 of the bytes of a load from global memory: 2, 3, 4, or CUTT_LOAD_UNALIGNED. */
  uint32_t load_log2;
  /* The input, and the output, has no gaps: L2 may fetch what lies around a row, or a column that is read. */
  uint32_t near, near_out;
  /* tile_1u, tile_2u: all columns of a thread begin at the same byte of a 4-byte word. */
  uint32_t store_alike;
  /* May the next kernel in the stream begin before this one has ended? */
  uint32_t next_early;
  /* Of a tile: bytes of a row, rows, shared loads of a column, columns. A row has row_gap bytes less than what its cut's extent says,
   * and columns are as many times more as the inner cut's extent. */
  cutt_count row_bytes, rows, run, columns;
  uint32_t row_gap;
  /* Of tiles whose rows are backwards: bytes of a whole one, at whose end shorter ones end; 0: rows begin with their first element. */
  uint32_t whole_row;
  /* Bytes from the beginning of a row to the first element of a column's run, and to that of the first column: modes whose shared
   * steps are negative begin at their end. */
  uint32_t run_first, column_first;
  /* Rows need not end with a load. */
  uint32_t row_tails;
  cutt_inner_cut inner;
  cutt_tile_cut cut[2];
  /* The bytes that the input spans: unaligned rows are not read past them. */
  int64_t in_low, in_high;
  int64_t
      second; /* bytes from the output to what beta multiplies, which lies as the output does; 0: it is the output */
  cutt_scale_args scale; /* of scale kernels */
  cutt_table_mode mode[CUTT_TABLE_MODES];
  cutt_grid_mode grid[CUTT_GRID_MODES];
} cutt_kernel_args;

/* The most bytes of a kernel's parameters: 4096 where the compiler of the kernels is older than CUDA 12.1. */
#ifndef CUTT_PARAMETER_BYTES
#define CUTT_PARAMETER_BYTES 32764
#endif

/* Where the tensors of one execution of many are: from the kernel's in and out, in steps of as many bytes as divide all these
 * distances, so that 32 bits reach far. */
typedef struct cutt_pair {
  uint32_t in, out;
} cutt_pair;

/* Many executions of one plan by one launch. The tiles of each are numbered behind those of the one before; args.tiles is all
 * of them. */
enum { CUTT_PAIRS = (CUTT_PARAMETER_BYTES - 24 - (int)sizeof(cutt_kernel_args)) / (int)sizeof(cutt_pair) };
typedef struct cutt_pairs {
  uint32_t in_log2, out_log2; /* of a step's bytes */
  cutt_pair at[CUTT_PAIRS];
} cutt_pairs;

#endif
