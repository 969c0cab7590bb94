/* What a candidate asks of memory: warps' requests, the sectors that they touch, wavefronts of shared memory. */
#ifndef CUTT_GPU_COUNT_H
#define CUTT_GPU_COUNT_H

#include "gpu/tile.h"
#include "model/device.h"
#include "model/method.h"

/* Of a whole execution, all tiles together. */
typedef struct cutt_gpu_requests {
  double load_requests, load_sectors;
  double store_requests, store_sectors, store_sectors_whole; /* sectors of single requests */
  /* Sectors of tiles: as if L1 or L2 joined the requests of a tile, and no two tiles shared a sector. */
  double tile_load_sectors, tile_store_sectors, tile_store_sectors_whole;
  /* Of tiles in shared memory, without the tables. An asynchronous copy counts as a store. */
  double shared_stores, shared_store_wavefronts;
  double shared_loads, shared_load_wavefronts;
} cutt_gpu_requests;

/* In closed form, O(rank), for buffers that begin at sectors. Exact, except that the beginnings of runs are taken to be
 * spread evenly over the multiples of their alignment, and that only the usual bank conflicts are foreseen. Loads are also
 * those of the output, where it is read for beta. */
void cutt_gpu_count_requests(const cutt_device *device, const cutt_canonical *canonical, const cutt_gpu_tile *tile,
                             const cutt_candidate *candidate, cutt_gpu_requests *counts);

#endif
