/* Launches of the kernels without tables (kernels/flat.cu): which tiles they do, how wide accesses are, and which threads make
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
  uint32_t pitch;        /* bytes from row to row in shared memory */
  /* Of threads over rows, and over groups of columns; and accesses of a run that all of them make at once. */
  cutt_gpu_spread loads, stores;
  uint32_t load_step, store_step;
} cutt_gpu_flat;

/* Is it a tile that these kernels can do, in buffers of some alignment? *why says why not. */
bool cutt_gpu_flat_takes(const cutt_canonical *canonical, const cutt_gpu_tile *tile, const char **why);

/* The accesses of such a tile; in_align and out_align as in cutt_gpu_access. False: elements are not aligned. */
bool cutt_gpu_flat_choose(const cutt_canonical *canonical, const cutt_gpu_tile *tile, uint32_t in_align,
                          uint32_t out_align, uint32_t threads, cutt_gpu_flat *flat);

/* The bytes of shared memory of a block. */
uint32_t cutt_gpu_flat_shared(const cutt_gpu_tile *tile, const cutt_gpu_flat *flat);

void cutt_gpu_flat_fill(const cutt_canonical *canonical, const cutt_gpu_tile *tile, const cutt_gpu_flat *flat,
                        cutt_flat_args *args);

#endif
