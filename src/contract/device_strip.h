/* Contractions of floats in strips, for a pass on a GPU (device_pass.h): D = alpha * L R + beta * D by gpu/kernels/strip.cu. A block keeps
 * some rows or columns of one operand in shared memory, with all their terms, and goes along the other one, tile by tile. So a
 * large operand is read once, as it lies, and D is written where it belongs.
 *
 * Rows are positions of the operand that has the modes in which D has its neighbours, columns those of the other one. */
#ifndef CUTT_CONTRACT_DEVICE_STRIP_H
#define CUTT_CONTRACT_DEVICE_STRIP_H

#include "contract/cost.h"
#include "gpu/kernels/strip_args.h"

/* A pure function of the contraction and the rates. */
typedef struct cutt_strip_shape {
  cutt_tensor by_rows;
  bool streams_rows; /* rows come in tiles, and columns are kept; or the other way round */
  bool turned;       /* the rows' operand has its neighbours in other rows than D: a tile has some of both */
  int spread; /* threads side by side have 2 to the power of this of D's neighbours one by one; 0: four by four */
  bool wide,
      writes_wide; /* what comes in tiles may be copied 16 bytes at a time, and D written so, if they begin at multiples of 16 */
  bool by_terms; /* what comes in tiles has its terms next to each other */
  int64_t rows, columns, terms, matrices;
  int each;              /* kept positions of a thread */
  int across, along;     /* a block's warps: beside each other in what is kept, and along a tile */
  int64_t panel, panels; /* positions that a block keeps; of all */
  int64_t tiles, strips; /* of all others; so many blocks share them */
  int64_t depth, slots;  /* terms at once; so often in shared memory */
  double seconds;
} cutt_strip_shape;

/* The shape in which rows come in tiles, or columns. The seconds are INFINITY where there is none. */
void cutt_strip_choose(const cutt_contraction *contraction, const cutt_rates *rates, bool streams_rows,
                       cutt_strip_shape *shape);

/* Kept positions of a warp. */
static inline int64_t cutt_strip_kept(const cutt_strip_shape *s) {
  return (int64_t)s->each * (s->streams_rows ? CUTT_STRIP_ROWS_OWN : CUTT_STRIP_COLUMNS_OWN) / 2;
}

/* Positions of a tile. */
static inline int64_t cutt_strip_tile(const cutt_strip_shape *s) { return (int64_t)s->along * CUTT_STRIP_TILE; }

/* What the kernel is given, of shared memory too. */
void cutt_strip_fill(const cutt_contraction *contraction, const cutt_strip_shape *shape, cutt_strip_args *args,
                     uint32_t *shared_bytes);

#endif
