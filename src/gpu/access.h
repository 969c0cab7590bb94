/* How a tile is accessed: what is loaded and stored at a time, by which kernel, and which threads do it. Shared by those
 * who launch it and those who count what it asks of memory. */
#ifndef CUTT_GPU_ACCESS_H
#define CUTT_GPU_ACCESS_H

#include "gpu/kernels/list.h"
#include "gpu/tile.h"

/* No access is wider than this, so that buffers need not be aligned to more. */
enum { CUTT_GPU_ALIGNED = 16 };

typedef struct cutt_gpu_access {
  cutt_kernel kernel;
  /* The one that stores each load from shared memory by itself. */
  cutt_kernel narrow;
  /* What divides the beginnings and the lengths of all rows, and of all columns: in bytes. */
  uint32_t in_align, out_align;
  /* Bytes of a load from global memory; 0: rows are aligned to nothing. */
  uint32_t load;
  /* Bytes of a load from shared memory: an element, or the part of one that can be moved at a time. In copies, as `load`. */
  uint32_t shared_load;
  /* Bytes of a store to global memory: of one or more loads from shared memory. */
  uint32_t store;
  /* Runs go straight from global to global memory. */
  bool copies;
  /* Stores over a link: a warp's begin with a line of the column, and it has a column to itself. */
  bool lines;
} cutt_gpu_access;

/* The widest access for buffers that are aligned to in_align and out_align bytes (powers of two up to CUTT_GPU_ALIGNED)
 * at the tensors' lowest bytes. False, with *why, when that is too little for a scale kernel. The pitch of rows may
 * make loads and stores narrower (pitch.h). */
bool cutt_gpu_access_choose(const cutt_canonical *canonical, const cutt_gpu_tile *tile, bool direct, uint32_t in_align,
                            uint32_t out_align, cutt_gpu_access *access, const char **why);

/* Each load from shared memory is stored by itself, and not several at a time. */
void cutt_gpu_access_narrow(cutt_gpu_access *access);

/* Do columns begin at any byte, and are stored as the words that they touch? */
static inline bool cutt_gpu_stores_anywhere(const cutt_gpu_access *access) {
  return access->kernel == CUTT_KERNEL_tile_1u || access->kernel == CUTT_KERNEL_tile_2u;
}

/* The alignment that a scale kernel needs, in bytes: of a number, or of the real and imaginary parts of one. */
uint32_t cutt_gpu_scalar_bytes(cuttType_t type);

/* How a block's threads are spread over the rows (or columns) of a tile: so many side by side along one of them, times so
 * many rows at once. */
typedef struct cutt_gpu_spread {
  uint32_t along, across;
} cutt_gpu_spread;

/* Spreads threads over runs of so many accesses each, so that a whole tile takes the fewest passes. There are as many
 * threads along a run as it has accesses, or whole warps. The runs of a pass are a multiple of `period` where that is
 * possible; then *periodic. */
cutt_gpu_spread cutt_gpu_spread_runs(uint32_t threads, uint32_t accesses, uint32_t runs, uint32_t period,
                                     bool *periodic);

/* Over rows, by loads, and over columns, by stores. Copies store where they load. *alike: columns begin at any byte, but all
 * of a thread's begin at the same byte of a word. */
cutt_gpu_spread cutt_gpu_spread_loads(const cutt_canonical *canonical, const cutt_gpu_tile *tile,
                                      const cutt_gpu_access *access, uint32_t threads);
cutt_gpu_spread cutt_gpu_spread_stores(const cutt_canonical *canonical, const cutt_gpu_tile *tile,
                                       const cutt_gpu_access *access, uint32_t threads, bool *alike);

/* Accesses of a run of so many bytes: of `width` bytes each; width 0: the most words that it touches, beginning at any byte. */
static inline uint32_t cutt_gpu_accesses(uint32_t bytes, uint32_t width) {
  return width > 0 ? bytes / width : (bytes + 6) / 4;
}

#endif
