/* The parameters of the kernels of combine.cu: one struct, passed by value. Offsets and steps are in elements.
 *
 * D = (alpha A op_ab beta B) op_abc gamma C, element by element. A block does a tile of D, a chunk of each of its modes. A walk is an
 * order in which the block's threads go over the tile: side by side they have positions x, and one after the other they do rows y,
 * both of which are numbers whose digits are the tile's modes, or parts of them. The first walk is in D's order, and D is computed by
 * it. An operand that has its elements in another order is turned: it is loaded by a walk in its own order, and put into shared
 * memory, where the first walk finds it. */
#ifndef CUTT_GPU_KERNELS_COMBINE_ARGS_H
#define CUTT_GPU_KERNELS_COMBINE_ARGS_H

#include "combine.h"
#include "divisor.h"

enum {
  CUTT_COMBINE_THREADS = 256, /* most of a block, and most positions of a walk */
  CUTT_COMBINE_OPERANDS = 3,
  CUTT_COMBINE_APART = 64, /* threads between those that list the rows of one walk and of the next */
  CUTT_COMBINE_MODES = 52,
  CUTT_COMBINE_TILE_MODES = 12, /* most modes of which a tile has more than 1 */
  CUTT_COMBINE_DIGITS = CUTT_COMBINE_TILE_MODES + 1,
  /* In shared memory there are words of 4 bytes: a limit for each of the tile's modes, and tables with a word for each row. All threads
   * of a warp want the same one, which a bank hands out at once; wider words would take more. */
  CUTT_COMBINE_WORD_BYTES = 4,
  CUTT_COMBINE_REACH = INT32_MAX, /* of a tile, in a tensor */
  CUTT_COMBINE_WHOLE = 255        /* of a walk: no mode is split */
};

/* The tables of the first walk, and of the others: offsets, in what is turned too; how much is left of the mode that is split. */
typedef enum cutt_combine_table {
  CUTT_COMBINE_ROW_D,
  CUTT_COMBINE_ROW_A,
  CUTT_COMBINE_ROW_B,
  CUTT_COMBINE_ROW_C,
  CUTT_COMBINE_PLACE_A,
  CUTT_COMBINE_PLACE_B,
  CUTT_COMBINE_PLACE_C,
  CUTT_COMBINE_LEFT,
  CUTT_COMBINE_TABLES,
  CUTT_COMBINE_TURN_ROW = 0,
  CUTT_COMBINE_TURN_PLACE,
  CUTT_COMBINE_TURN_LEFT,
  CUTT_COMBINE_TURN_TABLES
} cutt_combine_table;

/* Rows of a thread that are computed at once: so many loads of each operand are in flight. */
#define CUTT_COMBINE_ROWS_OF(element_bytes) ((element_bytes) > 4 ? 4u : 8u)

typedef enum cutt_combine_use {
  CUTT_COMBINE_ZERO,   /* it is not read, and counts as 0 */
  CUTT_COMBINE_DIRECT, /* it is read in D's order */
  CUTT_COMBINE_TURNED,
  CUTT_COMBINE_SINGLE, /* wide kernels: one element for all of an access */
  CUTT_COMBINE_STAGED  /* it is read in D's order, too, and on its way together with those that are turned */
} cutt_combine_use;

typedef struct cutt_combine_digit {
  cutt_divisor extent;
  uint16_t mode, along; /* so far in the mode from one to the next */
} cutt_combine_digit;

typedef struct cutt_combine_walk {
  uint32_t x, rows, x_end, y_end; /* positions; rows; the ends of their digits */
  uint32_t split;                 /* the mode of which x has a part, and y the rest */
  uint32_t even;                  /* are all rows of a whole tile there */
  uint32_t table_at;              /* in shared memory: the first table, behind which the others are */
  cutt_combine_digit digit[CUTT_COMBINE_DIGITS];
} cutt_combine_walk;

/* Those of which a tile has more than 1 come first. Tiles are counted in the order of the modes. */
typedef struct cutt_combine_mode {
  cutt_divisor chunks;
  uint32_t chunk;
  int64_t step[1 + CUTT_COMBINE_OPERANDS]; /* of D, A, B, C */
} cutt_combine_mode;

typedef struct cutt_combine_scalar {
  double number[2];
  int64_t whole;
  uint32_t mixed; /* it has an imaginary part */
} cutt_combine_scalar;

typedef struct cutt_combine_args {
  uint32_t modes, tile_modes;
  uint8_t use[CUTT_COMBINE_OPERANDS], scaled[CUTT_COMBINE_OPERANDS], op[2]; /* op: each a cutt_combine */
  uint32_t three;                                                           /* is there a third operand */
  uint32_t flip[CUTT_COMBINE_OPERANDS]; /* sign bits of the imaginary parts that are to be changed */
  uint32_t turned_at
      [CUTT_COMBINE_OPERANDS]; /* what is turned or staged in shared memory, where the limits of the tile's modes are the first */
  cutt_combine_scalar scale[CUTT_COMBINE_OPERANDS];
  int64_t extent[CUTT_COMBINE_TILE_MODES];
  uint32_t place[CUTT_COMBINE_OPERANDS][CUTT_COMBINE_TILE_MODES]; /* steps in what is turned, in elements */
  cutt_combine_walk walk[1 + CUTT_COMBINE_OPERANDS];
  cutt_combine_mode mode[CUTT_COMBINE_MODES];
} cutt_combine_args;

#endif
