/* How tiles meet the banks of shared memory, estimated: what pitch.c finds by trying, without looking at lanes. */
#ifndef CUTT_GPU_BANKS_H
#define CUTT_GPU_BANKS_H

#include "gpu/access.h"

typedef struct cutt_gpu_banks {
  /* How often the banks are asked, over how often they have to be, in the mean of a tile's accesses. */
  double rows, columns;          /* rows being written, columns being read */
  cutt_gpu_spread loads, stores; /* the threads' places */
} cutt_gpu_banks;

/* For a tile that goes through shared memory. access, as chosen for the buffers, becomes what cutt_gpu_lay_out would make
 * of it for a block of so many threads: narrower, where the banks have it so. */
cutt_gpu_banks cutt_gpu_banks_expect(const cutt_canonical *canonical, const cutt_gpu_tile *tile, uint32_t threads,
                                     cutt_gpu_access *access);

#endif
