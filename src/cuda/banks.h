/* How tiles meet the banks of shared memory, estimated: what pitch.c finds by trying, without looking at lanes. */
#ifndef CUTT_CUDA_BANKS_H
#define CUTT_CUDA_BANKS_H

#include "cuda/access.h"

typedef struct cutt_cuda_banks {
  /* How often the banks are asked, over how often they have to be, in the mean of a tile's accesses. */
  double rows, columns;           /* rows being written, columns being read */
  cutt_cuda_spread loads, stores; /* the threads' places */
} cutt_cuda_banks;

/* For a tile that goes through shared memory. access, as chosen for the buffers, becomes what cutt_cuda_lay_out would make
 * of it for a block of so many threads: narrower, where the banks have it so. */
cutt_cuda_banks cutt_cuda_banks_expect(const cutt_canonical *canonical, const cutt_cuda_tile *tile, uint32_t threads,
                                       cutt_cuda_access *access);

#endif
