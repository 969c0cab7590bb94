/* The parameters of the kernels of combine.cu: one struct, passed by value, of less than the 4 KB that CUDA before 12.1 allows. Offsets and steps
 * are in elements.
 *
 * D = (alpha A op_ab beta B) op_abc gamma C, element by element. A block does tiles of D, a chunk of each of its modes, one after the
 * other, while the next one is on its way. A walk is an order in which the block's threads go over a tile: side by side they have
 * positions x, and one after the other they do rows y, both of which are numbers whose digits are the tile's modes, or parts of
 * them. The first walk is in D's order, and D is computed by it. If an operand has its elements in another order, operands are turned:
 * each is loaded by a walk in its own order, and put into shared memory as it lies, where the first walk finds it.
 *
 * Where its runs begin anywhere, an operand is loaded by windows: the 16 bytes at multiples of 16 that a run touches. Steps from run to run in
 * shared memory have the same remainders by 16 bytes as in the operand, so that a window is one there, too, and where an element is still is
 * the sum of one term of its position and one of its row.
 *
 * Where no operand is turned, D's elements are numbered instead, those of a part after the other: a part has so many of them that in every
 * tensor it spans less than 2^31 bytes, and a thread works out from numbers where its elements are (combine_line.h). Modes are those of a part, then those that count parts, of which the first may be the rest of a part's last one. */
#ifndef CUTT_GPU_KERNELS_COMBINE_ARGS_H
#define CUTT_GPU_KERNELS_COMBINE_ARGS_H

#include "combine.h"
#include "divisor.h"

enum {
  CUTT_COMBINE_THREADS = 256, /* most of a block, and most positions of a walk */
  CUTT_COMBINE_OPERANDS = 3,
  CUTT_COMBINE_WINDOW = 16, /* bytes */
  CUTT_COMBINE_APART = 64,  /* threads between those that list the rows of one walk and of the next */
  CUTT_COMBINE_MODES = 52,
  CUTT_COMBINE_TILE_MODES = 10, /* most modes of which a tile has more than 1 */
  CUTT_COMBINE_SPLITS = 2,      /* most modes of which x has a part, and y the rest */
  CUTT_COMBINE_DIGITS = CUTT_COMBINE_TILE_MODES + CUTT_COMBINE_SPLITS,
  CUTT_COMBINE_MOST_PLACES = 1 << 14, /* positions, or rows: beyond, a digit's quotient might be wrong */
  /* In shared memory there are words of 4 bytes: a limit for each of the tile's modes, and tables with a word for each row, or some. All
   * threads of a warp want the same one, which a bank hands out at once. What depends on how much of each mode a tile has is there for
   * tiles that are whole, and for one that is not. */
  CUTT_COMBINE_WORD_BYTES = 4,
  CUTT_COMBINE_PART = 0,
  CUTT_COMBINE_WHOLE_TILE,
  CUTT_COMBINE_SETS,
  CUTT_COMBINE_TILES_AT = 16 * (CUTT_COMBINE_TILE_MODES * CUTT_COMBINE_WORD_BYTES * CUTT_COMBINE_SETS / 16),
  CUTT_COMBINE_TILE_BYTES = 48, /* where a tile begins; of two tiles, the one that is done and the next one */
  CUTT_COMBINE_FIRST_TABLE = CUTT_COMBINE_TILES_AT + 2 * CUTT_COMBINE_TILE_BYTES,
  CUTT_COMBINE_REACH = INT32_MAX, /* of a tile, in a tensor */
  CUTT_COMBINE_WHOLE = 255        /* of a walk: no mode is split */
};

/* The tables of the first walk, and of the others: offsets of a row in each tensor, of what is turned in bytes of shared memory; how much
 * is left of the modes that are split, 16 bits each, for each set. Words of the same row are one behind the other, but those for sets. */
typedef enum cutt_combine_table {
  CUTT_COMBINE_ROW_D,
  CUTT_COMBINE_ROW_A,
  CUTT_COMBINE_ROW_B,
  CUTT_COMBINE_ROW_C,
  CUTT_COMBINE_LEFT,
  CUTT_COMBINE_TABLES = CUTT_COMBINE_LEFT + CUTT_COMBINE_SETS,
  CUTT_COMBINE_TURN_ROW = 0, /* in the tensor, and in shared memory */
  CUTT_COMBINE_TURN_PLACE,
  CUTT_COMBINE_TURN_LEFT,
  CUTT_COMBINE_TURN_TABLES = CUTT_COMBINE_TURN_LEFT + CUTT_COMBINE_SETS,
  CUTT_COMBINE_WINDOW_TABLES =
      CUTT_COMBINE_TURN_LEFT /* and a byte for each row: is it there in a tile that is not whole */
} cutt_combine_table;

/* Accesses of 16 bytes of a thread, where D's are numbered. */
enum { CUTT_COMBINE_ACCESSES = 4 };

/* Rows of a thread, or elements where D's are numbered, that are computed at once: so many loads of each operand are in flight. */
#define CUTT_COMBINE_ROWS_OF(element_bytes) ((element_bytes) > 4 ? 4u : 8u)

typedef enum cutt_combine_use {
  CUTT_COMBINE_ZERO,   /* it is not read, and counts as 0 */
  CUTT_COMBINE_DIRECT, /* it is read in D's order */
  CUTT_COMBINE_TURNED,
  CUTT_COMBINE_SINGLE /* wide kernels: one element for all of an access */
} cutt_combine_use;

/* Of a number up to CUTT_COMBINE_MOST_PLACES: number / extent is the upper half of number * inverse. */
typedef struct cutt_combine_digit {
  uint32_t inverse;
  uint16_t extent, mode, along, spare; /* along: so far in the mode from one to the next */
} cutt_combine_digit;

/* digit[0], digit[1], ... are those of x; digit[DIGITS - 1], digit[DIGITS - 2], ... those of y. */
typedef struct cutt_combine_walk {
  uint32_t x, rows;
  uint16_t x_digits, y_digits;
  uint16_t split[CUTT_COMBINE_SPLITS]; /* modes of which x has a part, and y the rest */
  uint32_t table_at;                   /* in shared memory: the first table, behind which the others are */
  uint16_t even;                       /* are all rows of a whole tile there */
  uint16_t width; /* bytes of an access: of D where all is plain, and of an operand that is turned */
  /* 15: an operand is loaded by windows, else 0. Then digit[0] counts those of a run, which has `inner` elements for each of its mode;
   * rows are all runs, of which threads side by side have `runs`, and nothing is split. */
  uint16_t window, runs;
  uint32_t inner;
  cutt_combine_digit digit[CUTT_COMBINE_DIGITS];
} cutt_combine_walk;

/* Those of which a tile has more than 1 come first. Tiles are counted in the order of the modes. */
typedef struct cutt_combine_mode {
  cutt_divisor chunks; /* of a part's: its extent */
  int64_t step
      [1 +
       CUTT_COMBINE_OPERANDS]; /* of D, A, B, C: from a chunk to the next one; where D's elements are numbered in bytes */
} cutt_combine_mode;

typedef struct cutt_combine_scalar {
  double number[2];
  int64_t whole;
  uint32_t mixed; /* it has an imaginary part */
} cutt_combine_scalar;

/* blocks: that do a part; elements of a part, and of one that is last in a mode that parts cut. beside: a bit for each of D, A, B, C that has
 * a part's elements one after the other, as they are numbered; one: of D, A and B the only one that has not, if it is A or B, or A
 * if all have; else 0. Of accesses of 16 bytes: tail: elements of the last one of the first mode, if that is not whole, else 0; and
 * which one that is; cut: it is there in parts that are last alone. */
typedef struct cutt_combine_parts {
  cutt_divisor blocks;
  uint32_t elements, last, beside, one, tail, tail_at, cut;
} cutt_combine_parts;

/* Bytes, from an operand's first element on: what it spans; and from a tile's, what windows may touch. */
typedef struct cutt_combine_span {
  int64_t low, high, reach[2];
} cutt_combine_span;

typedef struct cutt_combine_args {
  uint32_t modes, tile_modes;                                                /* tile_modes: of a tile, or of a part */
  uint32_t tiles, step;                                                      /* from a block's tile to its next one */
  uint32_t use[CUTT_COMBINE_OPERANDS], scaled[CUTT_COMBINE_OPERANDS], op[2]; /* op: each a cutt_combine */
  uint32_t three;                                                            /* is there a third operand */
  uint32_t plain;                            /* all operands are turned, none is 0, scaled or conjugated */
  uint32_t even;                             /* all walks */
  uint32_t flip[CUTT_COMBINE_OPERANDS];      /* sign bits of the imaginary parts that are to be changed */
  uint32_t turned_at[CUTT_COMBINE_OPERANDS]; /* what is turned in shared memory */
  uint32_t beside[CUTT_COMBINE_OPERANDS];    /* bytes there from an element to the next one in D's first mode */
  cutt_combine_scalar scale[CUTT_COMBINE_OPERANDS];
  uint32_t chunk[CUTT_COMBINE_TILE_MODES], last[CUTT_COMBINE_TILE_MODES]; /* last: of the last chunk of a mode */
  union {
    cutt_combine_walk walk[1 + CUTT_COMBINE_OPERANDS];
    cutt_combine_parts parts; /* where D's elements are numbered */
  };
  cutt_combine_span span[CUTT_COMBINE_OPERANDS]; /* of those that are loaded by windows */
  /* From a digit of the first walk to its next one: in D and in each operand, of what is turned in bytes of shared memory; and from a
   * digit of another operand's walk: in the operand, and there. */
  int32_t first_step[CUTT_COMBINE_DIGITS][1 + CUTT_COMBINE_OPERANDS];
  int32_t own_step[CUTT_COMBINE_OPERANDS][CUTT_COMBINE_DIGITS][2];
  cutt_combine_mode mode[CUTT_COMBINE_MODES];
} cutt_combine_args;

#endif
