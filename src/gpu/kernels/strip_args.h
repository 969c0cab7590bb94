/* The parameters of the kernels of strip.cu: one struct, passed by value. Steps are in bytes.
 *
 * D = alpha * L R + beta * D, in float. Rows are positions of L and D, columns of R and D; they and the terms are numbers whose
 * digits are modes of the contraction. A block keeps a part of one operand in shared memory, some rows or columns with all their terms,
 * and goes along a strip of the other one in tiles, whose terms come in lots: while one lot is multiplied, the next ones are
 * copied, be they of the same tile or of the next. A warp has 64 positions of a tile times 16 or 24 that are kept. */
#ifndef CUTT_GPU_KERNELS_STRIP_ARGS_H
#define CUTT_GPU_KERNELS_STRIP_ARGS_H

#include "digit.h"

enum {
  CUTT_STRIP_THREADS = 256, /* at most */
  CUTT_STRIP_BLOCKS = 2,    /* on an SM, of so many threads */
  CUTT_STRIP_TILE = 64,     /* a tile's positions of a warp */
  /* Of these a thread's, where rows come in tiles, and where columns do: so that threads side by side write D's neighbours. */
  CUTT_STRIP_ROWS_OWN = 4,
  CUTT_STRIP_COLUMNS_OWN = 8,
  CUTT_STRIP_STEP = 4,     /* terms that are multiplied at once; zeros fill up the last ones */
  CUTT_STRIP_TERMS = 1024, /* most of a contraction */
  CUTT_STRIP_SLOTS = 3,    /* most lots in shared memory */
  CUTT_STRIP_TURNED = 8,   /* neighbours of the operand, where these are others than D's */
  CUTT_STRIP_UNIT = 16,    /* bytes that are copied at a time, of wide ones */
  CUTT_STRIP_DIGITS = 80,
  CUTT_STRIP_ENTRY = 16 /* bytes in shared memory of a description of a position, or of a term */
};

typedef struct cutt_strip_args {
  /* Ends of the lists of digits in digit[]: of positions that are kept, of those in tiles, of terms, and of matrices. */
  uint32_t kept_end, tile_end, term_end, batch_end;
  uint32_t kept, streamed, terms;
  uint32_t depth, lots;        /* terms of a lot, a multiple of CUTT_STRIP_STEP; lots of a tile */
  uint32_t panel;              /* positions that a block keeps: those of all its warps */
  cutt_divisor panels, strips; /* of a matrix; a strip has every so many'th tile */
  uint32_t tiles;              /* of a matrix */
  uint32_t tile_log2;          /* positions of a tile: CUTT_STRIP_TILE of each of its warps, a power of 2 */
  uint32_t slots, tables;      /* lots in shared memory; tiles that are described, 2 or 4, all but one ahead */
  /* The positions of a tile follow each other in quads, of which a thread has one or two; or, if not 0, 2 to the power of this apart, so
   * that threads side by side have D's neighbours one by one. A tile that is turned has as many of these times the operand's neighbours. */
  uint32_t spread, turned;
  /* Of a tile that is turned: quads of the operand's neighbours, and which bits of D's neighbour exchange them. */
  uint32_t beside_log2, exchange, exchange_shift;
  uint32_t by_terms, kept_by_terms; /* the operand has its terms next to each other */
  uint32_t wide;        /* what comes in tiles may be copied by units, if its first element lies at a multiple of 16 */
  uint32_t writes_wide; /* D may be written by 16 bytes, if it begins at a multiple of 16 */
  cutt_divisor term, room; /* terms, and the panel, to divide by; of a lot the terms, and units of four */
  cutt_divisor run, unit_run;
  uint32_t pitch;        /* in shared memory: from a term to the next, or if they lie so, from a position */
  uint32_t reads, alone; /* is beta not 0; is alpha 1 */
  /* In shared memory, behind descriptions of what is kept: of terms, of tiles; what is kept; lots. */
  uint32_t terms_at, tables_at, kept_at, slots_at, slot_bytes;
  float alpha, beta;
  cutt_digit digit[CUTT_STRIP_DIGITS];
} cutt_strip_args;

#endif
