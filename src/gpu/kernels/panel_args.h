/* The parameters of the kernels of panel.cu: one struct, passed by value. Steps are in bytes.
 *
 * D = alpha * L R + beta * D. A block keeps a panel of L in shared memory, some rows with all their terms, and goes along columns of R,
 * so many at a time: while one lot of their terms is multiplied, the next is copied to shared memory. Rows are positions of L and D,
 * columns positions of R and D; both, and the terms, are numbers whose digits are modes of the contraction. Rows are counted in the
 * order in which D has them, so that threads side by side write what lies next to each other. */
#ifndef CUTT_GPU_KERNELS_PANEL_ARGS_H
#define CUTT_GPU_KERNELS_PANEL_ARGS_H

#include "digit.h"

enum {
  CUTT_PANEL_THREADS = 128,
  CUTT_PANEL_LANES = 32,
  CUTT_PANEL_DEPTH = 16,  /* most terms of columns in shared memory at once, of each of two lots */
  CUTT_PANEL_TERMS = 128, /* most of a contraction */
  CUTT_PANEL_DIGITS = 72,
  CUTT_PANEL_TABLES = 3, /* of columns: of the tile that is stored, of the one that is copied, and of the next */
  CUTT_PANEL_ENTRY = 16  /* bytes in shared memory of a row's description, a column's, a term's */
};

/* Rows of a thread, by elements of so many bytes, and of a panel; columns of a thread, which has the same ones as all of its warp, and
 * of a tile. */
#define CUTT_PANEL_ROWS_EACH(element_bytes) ((element_bytes) > 4 ? 4u : 8u)
#define CUTT_PANEL_ROWS(element_bytes) (CUTT_PANEL_LANES * CUTT_PANEL_ROWS_EACH(element_bytes))
#define CUTT_PANEL_COLUMNS_EACH(element_bytes) ((element_bytes) > 4 ? 16u : 8u)
#define CUTT_PANEL_COLUMNS(element_bytes)                                                                              \
  (CUTT_PANEL_THREADS / CUTT_PANEL_LANES * CUTT_PANEL_COLUMNS_EACH(element_bytes))
/* From a term to the next, in elements: so that threads with terms side by side meet few banks twice. */
#define CUTT_PANEL_LEFT_PITCH(element_bytes) (CUTT_PANEL_ROWS(element_bytes) + 1)
#define CUTT_PANEL_RIGHT_PITCH(element_bytes) (CUTT_PANEL_COLUMNS(element_bytes) + 16 / (element_bytes))

typedef struct cutt_panel_args {
  /* Ends of the lists of digits in digit[]: of rows, columns, terms, and matrices. */
  uint32_t row_end, column_end, term_end, batch_end;
  uint32_t rows, columns, terms;          /* of the contraction */
  cutt_divisor panels, strips;            /* of a matrix: panels, and strips that its columns are cut into */
  uint32_t tiles, strip_tiles;            /* of the columns; of a strip */
  uint32_t depth, lots;                   /* terms at once; how many times */
  cutt_divisor term_run, depth_run;       /* terms of a row, and of a column's lot, that threads side by side copy */
  uint32_t left_by_terms, right_by_terms; /* the operand has its terms next to each other */
  uint32_t reads, alone;                  /* is beta not 0; is alpha 1 */
  /* In shared memory, behind the rows' descriptions: those of columns, and of terms; the panel; the lots of R. */
  uint32_t columns_at, terms_at, left_at, right_at, right_bytes;
  double alpha, beta;
  cutt_digit digit[CUTT_PANEL_DIGITS];
} cutt_panel_args;

#endif
