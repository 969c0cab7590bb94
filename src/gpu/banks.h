/* Bank conflicts of a tile in shared memory, estimated: what pitch.c finds by trying, without looking at single lanes. */
#ifndef CUTT_GPU_BANKS_H
#define CUTT_GPU_BANKS_H

#include "gpu/access.h"

typedef struct cutt_gpu_banks {
  /* Wavefronts over those without conflicts, in the mean of a tile's accesses: of writing rows, and of reading columns. */
  double rows, columns;
  cutt_gpu_spread loads, stores;
} cutt_gpu_banks;

/* For a tile that goes through shared memory. access, as chosen for the buffers, becomes what cutt_gpu_lay_out would make
 * of it for a block of so many threads: narrower, where that avoids bank conflicts. */
cutt_gpu_banks cutt_gpu_banks_expect(const cutt_canonical *canonical, const cutt_gpu_tile *tile, uint32_t threads,
                                     cutt_gpu_access *access);

#endif
