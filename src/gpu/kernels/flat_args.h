/* The parameters of the kernels without tables (flat*.cu): few, so that a launch is short and a block begins at once. As in args.h, offsets
 * and steps in global memory are in bytes, from the kernel's in and out, and here of 32 bits each.
 *
 * A tile's rows are counted over the modes of M_k, in output order, and its columns over those of M_m, which are others: so
 * row number y is place y of every column, and column number x is place x of every row.
 *
 * A copy of runs uses few of them: `rows` is the number of accesses of all runs, `each` that of a thread, loads.along how many a
 * run has, and `grid` the digits of a run's number. */
#ifndef CUTT_GPU_KERNELS_FLAT_ARGS_H
#define CUTT_GPU_KERNELS_FLAT_ARGS_H

#include "args.h"

enum {
  CUTT_FLAT_GRID = 5,         /* most digits of a tile's number */
  CUTT_FLAT_WINDOW_GRID = 12, /* in flat_windows.cu */
  CUTT_FLAT_WINDOW_MODES = 6, /* there: most modes of M_m, and of M_k */
  CUTT_FLAT_MODES = 3,        /* most modes of M_m, and of M_k */
  CUTT_FLAT_THREADS = 256,
  CUTT_FLAT_LANES = 32,     /* of a warp */
  CUTT_FLAT_BATCH = 8,      /* loads of a thread that are in flight at once, of less than 16 bytes */
  CUTT_FLAT_HALF_LINE = 64, /* bytes: in flat_async.cu two rows of up to so many share a line of shared memory */
  CUTT_FLAT_COPIES = 4,     /* most accesses of a thread in a copy of runs */
  CUTT_FLAT_NARROW = 8      /* the same of up to 4 bytes */
};

/* How 16 bytes are turned round, or 4: elements of 8 bytes; else each word by this choice of its bytes (permute_bytes). */
enum { CUTT_FLAT_TURN_1 = 0x0123, CUTT_FLAT_TURN_2 = 0x1032, CUTT_FLAT_TURN_4 = 0x3210, CUTT_FLAT_TURN_8 = 0 };

/* A side of which a tile has one range of memory (flat_joined.cu). */
enum { CUTT_FLAT_NOT_JOINED, CUTT_FLAT_ROWS, CUTT_FLAT_COLUMNS };

/* A digit of a tile's number: bytes per step on both sides. */
typedef struct cutt_flat_digit {
  cutt_divisor extent;
  int32_t in, out;
} cutt_flat_digit;

/* Rows, or columns: the modes that they are counted over, fastest first, and the bytes from one to the next of each, of rows
 * in the input and of columns in the output. */
typedef struct cutt_flat_runs {
  uint32_t modes;
  int32_t step[CUTT_FLAT_MODES];
  cutt_divisor extent[CUTT_FLAT_MODES - 1];
} cutt_flat_runs;

/* How the threads of a block are spread: so many side by side along a run, times so many runs at once, times as often as there
 * are threads. along_step: accesses of a run that are made at once, all together. */
typedef struct cutt_flat_spread {
  cutt_divisor along, across;
  uint32_t along_step;
} cutt_flat_spread;

/* What is counted over up to 6 modes, fastest first: the last of them goes on behind its extent. */
typedef struct cutt_flat_count {
  uint32_t modes;
  struct {
    cutt_divisor extent;
    int32_t step, rows, inside;
  } mode[CUTT_FLAT_WINDOW_MODES];
} cutt_flat_count;

typedef struct cutt_flat_args {
  /* Digit 0 numbers the chunks of the mode that M_k cuts, digit 1 those of M_m's; of extent 1 where there is none. */
  uint32_t grid_modes;
  cutt_flat_digit grid[CUTT_FLAT_GRID];
  /* Bytes of a row, and rows: of all tiles but those that have the last chunk, and of those. */
  uint32_t row_bytes, last_row_bytes, rows, last_rows;
  uint32_t pitch; /* bytes from row to row in shared memory; from column to column of joined ones */
  uint32_t store_pitch,
      joined; /* with alpha, op and beta: bytes from element to element of a column there; which side is joined */
  cutt_flat_spread loads, stores; /* over rows; over columns, or groups of them that are stored from the same loads */
  uint32_t load_log2, store_log2; /* of the bytes of an access of global memory, in the kernels that have a choice */
  uint32_t range_log2; /* of the bytes of an access of the side that is one range, in those of flat_joined.cu */
  cutt_flat_runs row, column;
  uint32_t row_chunks;    /* of the mode that M_m cuts, where digit 1 numbers groups of them; else 0 */
  cutt_divisor row_group; /* as many of them; else 1 */
  /* In a copy of runs: accesses of a thread; and of a run, where those of a warp are all of one, of which loads.along numbers such
   * pieces, rows of them in all; else 0, and rows are all accesses, loads.along those of a run. */
  uint32_t each, run;
  int32_t run_in, run_out; /* in flat_step.cu: bytes from an access of a run to the next on both sides */
  uint32_t turn;           /* there: CUTT_FLAT_TURN_1 ... */
  uint32_t last;           /* the number of the last block */
  uint32_t line_alone;     /* in flat_async.cu: is of a row's line the rest fetched, and not the next line, too? */
  uint32_t next_early;     /* may the next kernel in the stream begin before this one has ended? */
  uint32_t reads_out;      /* with alpha, op and beta: is what beta multiplies read? */
  int64_t second;          /* where it is, as in args.h */
  cutt_scale_args scale;   /* of these */
} cutt_flat_args;

/* Of tiles in windows (flat_windows.cu), which alone need more: rows, whose steps are bytes of the input; columns, with bytes of the
 * output, and inside of a row; and the elements of a column, with bytes of the input from row to row, rows, and bytes inside of a row. */
typedef struct cutt_flat_window_args {
  cutt_flat_args flat;
  cutt_flat_digit grid[CUTT_FLAT_WINDOW_GRID]; /* instead of flat.grid */
  cutt_flat_count row, column, element;
  uint32_t columns, last_columns, elements, last_elements;
  uint32_t
      whole; /* M_k is not cut: digit 0 numbers the mode along which the output's runs go on, whose tiles share sectors */
  uint32_t
      run_columns; /* of a row, whose elements it has in turns, and whose runs it has all of; 0: columns go from row to row */
  /* Rows come `step_rows` at a time, for as many elements of a column. */
  cutt_divisor step_elements;
  uint32_t step_rows;
  uint32_t align;                          /* bytes, up to a sector, that divide the distances between columns */
  uint32_t places_at, rows_at, columns_at; /* tables in shared memory */
  int64_t in_low, in_high;                 /* what the input's tensor spans, from the kernel's in */
} cutt_flat_window_args;

#endif
