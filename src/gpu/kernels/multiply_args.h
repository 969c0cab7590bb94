/* The parameters of the kernels of multiply.cu: one struct, passed by value. Offsets and steps are in bytes.
 *
 * D = alpha * L R + beta * D. A block does a tile of D: rows, which are positions of L and D, times columns, which are positions of R
 * and D. Rows, columns, terms and tiles are numbers whose digits are modes of the contraction, or chunks of modes. The terms are taken
 * so many at a time: while one lot is multiplied, the next is copied to shared memory, be it of the same tile or of the block's next one.
 * Where there are few tiles the terms are cut into parts, of which a block does one: its sums go to workspace, one D for each part. */
#ifndef CUTT_GPU_KERNELS_MULTIPLY_ARGS_H
#define CUTT_GPU_KERNELS_MULTIPLY_ARGS_H

#include "divisor.h"

enum {
  CUTT_MULTIPLY_THREADS = 128,
  CUTT_MULTIPLY_BLOCKS = 4, /* on an SM */
  CUTT_MULTIPLY_LANES = 32,
  CUTT_MULTIPLY_COLUMNS = 32,     /* of a tile */
  CUTT_MULTIPLY_COLUMNS_EACH = 8, /* of a thread, which has the same ones as all of its warp */
  CUTT_MULTIPLY_DEPTH = 16,       /* most terms in shared memory at once, of each of two lots */
  CUTT_MULTIPLY_TERMS = 1024,     /* of a part */
  CUTT_MULTIPLY_DIGITS = 72,
  CUTT_MULTIPLY_BOUNDS = 5, /* most modes that are cut with a shorter last chunk */
  CUTT_MULTIPLY_ENTRY = 16, /* bytes in shared memory of a row's description, a column's, a term's */
  CUTT_MULTIPLY_UNIT = 16,  /* bytes that are copied at a time, of wide ones */
  CUTT_MULTIPLY_UNITS = 64, /* most of a term's rows, as many for each type */
  CUTT_MULTIPLY_UNIT_PAD = 3
};

/* Rows of a thread: so many that a lane's are all of a tile's, by elements of so many bytes. */
#define CUTT_MULTIPLY_ROWS_EACH(element_bytes) ((element_bytes) > 4 ? 4u : 8u)
#define CUTT_MULTIPLY_ROWS(element_bytes) (CUTT_MULTIPLY_LANES * CUTT_MULTIPLY_ROWS_EACH(element_bytes))
/* Where the descriptions of columns are behind a tile's rows, and those of the next tile's rows. */
#define CUTT_MULTIPLY_COLUMNS_AT(element_bytes) (CUTT_MULTIPLY_ROWS(element_bytes) * (uint32_t)CUTT_MULTIPLY_ENTRY)
#define CUTT_MULTIPLY_TABLE(element_bytes)                                                                             \
  (CUTT_MULTIPLY_COLUMNS_AT(element_bytes) + (uint32_t)(CUTT_MULTIPLY_COLUMNS * CUTT_MULTIPLY_ENTRY))

/* A digit of a number: its steps in each tensor (L, R, D), and in the mode that it is a part of. */
typedef struct cutt_multiply_digit {
  cutt_divisor extent;
  uint32_t bound; /* the number of that mode's bound; CUTT_MULTIPLY_BOUNDS: it needs none */
  int64_t step[3];
  int64_t along;
} cutt_multiply_digit;

typedef struct cutt_multiply_args {
  /* Ends of the lists of digits in digit[]: of rows, columns, terms, and tiles. */
  uint32_t row_end, column_end, term_end, tile_end;
  uint32_t rows, columns, terms; /* of a tile; of the contraction */
  cutt_divisor depth;            /* terms at once */
  /* Blocks of a part: each has every so manieth of the tiles, of parts, or of terms that come at once, only one. bounded: are there shorter
   * last chunks? If not, all tiles have the same rows and columns, from where they begin. */
  cutt_divisor blocks;
  uint32_t tiles, bounded;
  uint32_t part_terms; /* of all parts but the last, which has what is left */
  int64_t part_bytes;  /* from a part's D to the next */
  /* Rows that L has next to each other: `run` of them, `apart` from one to the next. The order in which they are loaded. */
  cutt_divisor run, apart;
  uint32_t left_by_terms, right_by_terms; /* the operand has its terms next to each other */
  uint32_t keeps;    /* all of a block's tiles have the same columns, whose terms stay in shared memory */
  uint32_t pad_log2; /* in shared memory an element is left out behind every so many rows */
  uint32_t row_step; /* bytes from there to there of a thread's rows, if L is not turned by 16 bytes */
  /* L's rows may be copied 16 bytes at a time, if it begins at a multiple of 16; if it is turned, these are neighbours in shared memory, too,
   * with 16 bytes left out behind every eight, and each thread has all rows of two of them (quads). units: how many a tile has, and `run` in
   * them. */
  uint32_t wide, quads, units;
  cutt_divisor unit_run;
  uint32_t pitch;        /* of a term's rows, in elements */
  uint32_t reads, alone; /* is beta not 0; is alpha 1 */
  /* In shared memory, behind the descriptions of rows and columns, of two tiles if a block has several that differ: those of terms; the
   * lots of L, and of R. */
  uint32_t terms_at, left_at, right_at, left_bytes, right_bytes;
  int64_t extent[CUTT_MULTIPLY_BOUNDS];
  double alpha, beta;
  cutt_multiply_digit digit[CUTT_MULTIPLY_DIGITS];
} cutt_multiply_args;

#endif
