/* What a candidate is predicted to take on a device: a pure function of numbers. */
#ifndef CUTT_CUDA_COST_H
#define CUTT_CUDA_COST_H

#include "core/backend.h"
#include "cuda/device.h"
#include "cuda/tile.h"

/* What the price of a geometry is made of, for buffers that are aligned as well as can be. */
typedef struct cutt_cuda_counts {
  double row_bytes, column_bytes;
  double in_align, out_align; /* bytes: what divides all places where rows, and columns, begin; up to 128 */
  double tile_bytes;
  double shared_bytes; /* of a tile, with its rows' padding */
  double table_bytes;  /* of a block's tables */
  double conflicts;    /* how many of a column's first places fall into one bank, less 1 */
  double padding;      /* what tiles at edges would have if they were whole, over the volume */
} cutt_cuda_counts;

void cutt_cuda_count(const cutt_canonical *c, const cutt_cuda_tile *tile, bool direct, cutt_cuda_counts *n);

/* Blocks that are resident on an SM at once; 0: not even one fits. copies: of a kernel of copy.cu, else of tile.cu. */
int cutt_cuda_occupancy(const cutt_cuda_device *d, bool copies, int threads, double shared_bytes);

/* Chooses stages, tiles of a block and threads for the geometry, and predicts the seconds: fills candidate's threads,
 * param[] and seconds. False when the tile does not fit into shared memory with so many stages. */
bool cutt_cuda_price(const cutt_cuda_device *d, const cutt_canonical *c, const cutt_cuda_tile *tile,
                     const cutt_cuda_counts *n, int stages, int threads, cutt_candidate *candidate);

#endif
