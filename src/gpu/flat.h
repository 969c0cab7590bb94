/* Launches of the kernels without tables (kernels/flat*.cu): which tiles they do, how wide accesses are, and which threads make
 * them. Shared by those who launch one and those who count what it asks of memory. */
#ifndef CUTT_GPU_FLAT_H
#define CUTT_GPU_FLAT_H

#include "gpu/access.h"
#include "gpu/kernels/flat_args.h"
#include "gpu/tile.h"

typedef struct cutt_gpu_flat {
  cutt_kernel kernel;
  uint32_t load, store;  /* bytes of an access to global memory */
  uint32_t shared_load;  /* of a load from shared memory: an element, or a word of narrow ones */
  uint32_t shared_store; /* of a store to it */
  uint32_t group;        /* columns that are stored from the same loads: the elements of a word, or 1 */
  uint32_t pitch;        /* bytes from row to row in shared memory; from column to column, where columns are joined */
  bool async;            /* rows are copied asynchronously, 16 bytes at a time */
  bool windows;          /* there: each run has a window that begins with a sector (flat_windows.cu) */
  bool line_alone;       /* there: of rows that begin inside of lines, the line alone is fetched */
  /* Where rows are copied asynchronously: chunks of the mode that M_m cuts, of which `row_group` come one after the other; else 0, 1. */
  uint32_t row_chunks, row_group;
  uint32_t joined; /* CUTT_FLAT_ROWS or _COLUMNS: this side's runs, of few elements each, lie one behind the other */
  uint32_t
      copies; /* accesses of all runs, in a copy of runs (load bytes each, `run` of them in a run); 0: it is none */
  uint32_t run, each;      /* ... and so many of a thread */
  uint32_t pieces;         /* ... and of all runs so many, a warp's accesses each, where they are long enough; else 0 */
  int32_t run_in, run_out; /* ... bytes from one access of a run to the next, on both sides */
  int32_t in_first;        /* ... and from the first element to the first access */
  uint32_t turn;           /* ... CUTT_FLAT_TURN_1 ..., where some elements at a time are turned round */
  /* Of threads over rows, and over groups of columns; and accesses of a run that all of them make at once. */
  cutt_gpu_spread loads, stores;
  uint32_t load_step, store_step;
} cutt_gpu_flat;

/* Is it a tile that these kernels can do, in buffers of some alignment? *why says why not. direct: runs go from global to
 * global memory, all of them, whatever the tile has of them. */
bool cutt_gpu_flat_takes(const cutt_canonical *canonical, const cutt_gpu_tile *tile, bool direct, const char **why);

/* The accesses of such a tile in buffers that are aligned to so many bytes, for which `access` has been chosen. False: elements
 * are not aligned, or there are too many accesses. */
bool cutt_gpu_flat_choose(const cutt_device *device, const cutt_canonical *canonical, const cutt_gpu_tile *tile,
                          bool direct, const cutt_gpu_access *access, uint32_t in_buffer, uint32_t out_buffer,
                          uint32_t threads, cutt_gpu_flat *flat);

/* Can tiles of the problem be done in windows on the device? */
bool cutt_gpu_flat_windows(const cutt_device *device, const cutt_canonical *canonical);

/* Is M_k the last mode of M_m alone, whole or the same chunk of it? Each row of a tile in windows then has some columns, whose elements
 * it has in turns: so many are returned, 1 where M_m is that mode, too. A tile has one such row, or a batch of whole ones. 0: it is another
 * tile, or one of an even number of columns, more than one, as lanes side by side would meet in few banks. */
uint32_t cutt_gpu_run_columns(const cutt_gpu_tile *tile);

/* The rows that a tile in windows reads, with those of the next one, of elements of w bytes. */
uint32_t cutt_gpu_window_rows(const cutt_gpu_tile *tile, uint32_t w);

/* The bytes of a row that it reads; where it has columns in turns with what a window reaches into the next chunk. */
uint32_t cutt_gpu_window_row_bytes(const cutt_gpu_tile *tile, uint32_t w);

/* Has a tile the whole of each run of a side, and do all these runs lie one behind the other? */
bool cutt_gpu_one_range(const cutt_canonical *canonical, const cutt_gpu_tile *tile, bool input);

/* The bitwise or of the bytes by which the beginnings of tiles differ on a side: of ranges, where the side is joined. */
uint64_t cutt_gpu_range_steps(const cutt_canonical *canonical, const cutt_gpu_tile *tile, bool input);

/* The blocks of a launch. */
uint32_t cutt_gpu_flat_blocks(const cutt_gpu_tile *tile, const cutt_gpu_flat *flat, uint32_t threads);

/* The bytes of shared memory of a block. */
uint32_t cutt_gpu_flat_shared(const cutt_gpu_tile *tile, const cutt_gpu_flat *flat);

/* All of it if it is a tile in windows, else all->flat. */
void cutt_gpu_flat_fill(const cutt_canonical *canonical, const cutt_gpu_tile *tile, const cutt_gpu_flat *flat,
                        cutt_flat_window_args *all);

#endif
