/* What a candidate asks of memory: warps' requests, the 32-byte sectors that they touch, wavefronts of shared memory. */
#ifndef CUTT_GPU_COUNT_H
#define CUTT_GPU_COUNT_H

#include "gpu/tile.h"
#include "model/method.h"

/* Of a whole execution, all tiles together. */
typedef struct cutt_gpu_requests {
  double load_requests, load_sectors;
  double store_requests, store_sectors, store_sectors_whole; /* sectors of single requests */
  /* Sectors of tiles: as if a tile's requests met in L1 or L2, and no two tiles' did. */
  double tile_load_sectors, tile_store_sectors, tile_store_sectors_whole;
  /* Of tiles in shared memory, tables left out. A copy that does not wait is a store. */
  double shared_stores, shared_store_wavefronts;
  double shared_loads, shared_load_wavefronts;
} cutt_gpu_requests;

/* In closed form, O(rank), for buffers that begin at sectors. Exact but where runs begin is taken to be spread evenly over
 * the multiples of their alignment, and for bank conflicts, of which only the usual ones are foreseen. What alpha and beta
 * make a kernel read of the output is not counted. */
void cutt_gpu_count_requests(const cutt_canonical *canonical, const cutt_gpu_tile *tile,
                             const cutt_candidate *candidate, cutt_gpu_requests *counts);

#endif
