/* How a tile is accessed: what is loaded and stored at a time, by which kernel, and which threads do it. Shared by those
 * who launch it and those who count what it asks of memory. */
#ifndef CUTT_GPU_ACCESS_H
#define CUTT_GPU_ACCESS_H

#include "gpu/kernels/list.h"
#include "gpu/tile.h"

typedef struct cutt_gpu_access {
  cutt_kernel kernel;
  uint32_t in_align, out_align; /* what divides all places and lengths of rows, and of columns: in bytes */
  uint32_t piece;               /* bytes */
  uint32_t load;                /* bytes of a load; 0: rows are aligned to nothing */
  uint32_t store;               /* bytes of a store: one or more pieces */
  bool copies;                  /* runs go straight from global to global memory, in pieces */
  bool halves;                  /* scale kernels: an element of the output is accessed in two halves */
} cutt_gpu_access;

/* The widest access for buffers that are aligned to in_align and out_align bytes (powers of two up to CUTT_GPU_ALIGNED)
 * at the user's pointers. False, with *why, when a scale kernel can't do with that alignment. The pitch of
 * rows may make loads and stores narrower: pitch.h. */
bool cutt_gpu_access_choose(const cutt_canonical *canonical, const cutt_gpu_tile *tile, bool direct, uint32_t in_align,
                            uint32_t out_align, cutt_gpu_access *access, const char **why);

/* Pieces are stored as they are, and not several at a time. */
void cutt_gpu_access_narrow(cutt_gpu_access *access);

/* Are columns, which begin anywhere, stored in the words that they touch? */
static inline bool cutt_gpu_stores_anywhere(const cutt_gpu_access *access) {
  return access->kernel == CUTT_KERNEL_tile_1u || access->kernel == CUTT_KERNEL_tile_2u;
}

/* Bytes of the parts that have to be aligned for alpha and beta: what a scale kernel can't do without. */
uint32_t cutt_gpu_scalar_bytes(cuttType_t type);

/* The places of a block's threads: so many units of a line, of so many lines. */
typedef struct cutt_gpu_spread {
  uint32_t units, lines;
} cutt_gpu_spread;

/* Spreads threads over lines of units, so that the fewest passes are needed for a whole tile. Those on one line are all
 * of its units, or whole warps. The lines of a pass are a multiple of `period` where that is possible; then *periodic. */
cutt_gpu_spread cutt_gpu_spread_lines(uint32_t threads, uint32_t units, uint32_t lines, uint32_t period,
                                      bool *periodic);

/* Of rows, in units of a load, and of columns, in units of a store. *alike: a thread's columns lie alike in the words that
 * they touch, where they begin anywhere. Copies load and store at the same places. */
cutt_gpu_spread cutt_gpu_spread_loads(const cutt_canonical *canonical, const cutt_gpu_tile *tile,
                                      const cutt_gpu_access *access, uint32_t threads);
cutt_gpu_spread cutt_gpu_spread_stores(const cutt_canonical *canonical, const cutt_gpu_tile *tile,
                                       const cutt_gpu_access *access, uint32_t threads, bool *alike);

/* Units of a run of so many bytes: of `width` bytes each; width 0: words that it may touch, beginning anywhere. */
static inline uint32_t cutt_gpu_units(uint32_t bytes, uint32_t width) {
  return width > 0 ? bytes / width : (bytes + 6) / 4;
}

#endif
