/* The parameters of the kernels of core.cu: one struct, passed by value. Steps are in bytes.
 *
 * D = alpha * L R + beta * D, by tensor cores. Rows are positions of L and D, columns of R and D; they and the terms are numbers whose
 * digits are modes of the contraction. A block keeps a part of one operand in shared memory, some rows or columns with all their terms,
 * and goes along the other one in tiles, of which each comes with all its terms too, or in lots of terms: while a tile or a lot is multiplied, the next ones
 * are copied. In shared memory an operand has its terms next to each other if it has them so in memory, else its positions. */
#ifndef CUTT_GPU_KERNELS_CORE_ARGS_H
#define CUTT_GPU_KERNELS_CORE_ARGS_H

#include "digit.h"

enum {
  CUTT_CORE_THREADS =
      256, /* at most: a warp has 16 positions of a tile, and all that are kept, or shares them with another one */
  CUTT_CORE_TILE = 64,    /* positions of a tile */
  CUTT_CORE_STEP = 4,     /* terms that are multiplied at once; zeros fill up the last ones */
  CUTT_CORE_TURNED = 8,   /* D's neighbours in a tile, and the operand's, where these are others */
  CUTT_CORE_TERMS = 1024, /* most of a contraction */
  CUTT_CORE_SLOTS = 3,    /* most tiles, or lots, in shared memory */
  /* Groups of eight kept positions of a warp, of kept columns and of kept rows: at once, and where terms come in lots, at most. */
  CUTT_CORE_COLUMN_GROUPS = 5,
  CUTT_CORE_ROW_GROUPS = 4,
  CUTT_CORE_DIGITS = 80,
  CUTT_CORE_ENTRY = 16 /* bytes in shared memory of a description of a position, or of a term */
};

/* How an operand lies in shared memory: bytes from a position to the next, and from a term. */
typedef struct cutt_core_layout {
  uint32_t at, position, term;
  uint32_t by_terms; /* in memory it has its terms next to each other */
} cutt_core_layout;

typedef struct cutt_core_args {
  /* Ends of the lists of digits in digit[]: of positions that are kept, of those in tiles, of terms, and of matrices. */
  uint32_t kept_end, tile_end, term_end, batch_end;
  uint32_t kept, streamed, terms, steps; /* positions of the contraction; terms, and how many times four */
  uint32_t panel, panel_room;            /* positions that a block keeps, and room for: a multiple of 8 or 16 */
  cutt_divisor panels, strips;           /* of a matrix; a strip has every so many'th tile */
  uint32_t tiles, slots;                 /* of a matrix; in shared memory, 2 or 3 */
  uint32_t wide;           /* what lies next to each other in tiles, lies so at multiples of 16 bytes, if one does */
  uint32_t turned;         /* a tile has 8 of D's neighbours times 8 of its operand's */
  uint32_t depth, lots;    /* terms of a lot, a multiple of 4 if there are several; lots of a tile */
  cutt_divisor term, room; /* terms, and the panel's room, to divide by */
  cutt_divisor run, run_pairs; /* terms of a lot, and half of them */
  uint32_t reads, alone;       /* is beta not 0; is alpha 1 */
  uint32_t terms_at, tables_at,
      slot_bytes; /* in shared memory, behind descriptions of what is kept: of terms, of tiles */
  cutt_core_layout keeps, streams;
  double alpha, beta;
  cutt_digit digit[CUTT_CORE_DIGITS];
} cutt_core_args;

#endif
