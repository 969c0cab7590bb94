/* The parameters of the kernels of pass.cu: one struct, passed by value. Offsets and steps are in bytes.
 *
 * D = alpha * sum of L R + beta * D, or with a product, maximum or minimum in place of the sum, which is then what "sum" means. A
 * block does a tile: positions x, one for each thread of a group of threads side by side, and rows y, of which each group has some;
 * and it adds up terms z. Positions, rows, terms and tiles are numbers, whose digits are modes of the contraction, or chunks of
 * modes:
 *   plain      x and y are positions of D; a thread has sums of its own
 *   across x   x is summed over, and y are positions of D: the threads of a group add up their sums
 *   across y   x are positions of D, and y is summed over: groups add up their sums
 *   all        both are summed over: a block has one position of D
 * Sums that are too few for all SMs are cut into parts, whose results go to workspace and are added by a second launch. */
#ifndef CUTT_GPU_KERNELS_PASS_ARGS_H
#define CUTT_GPU_KERNELS_PASS_ARGS_H

#include "combine.h"
#include "divisor.h"

enum {
  CUTT_PASS_THREADS = 256,
  CUTT_PASS_GROUPS = 64, /* most groups of threads: a row's description takes room */
  CUTT_PASS_DIGITS = 72, /* most entries of digit[] */
  CUTT_PASS_BOUNDS = 3,  /* most modes that are cut with a shorter last chunk */
  CUTT_PASS_TABLE = 64,  /* terms that are in a block's table at once */
  /* Sums that are left of up to 256 after the first step of adding them up, and after the second. */
  CUTT_PASS_LANES = 32,
  CUTT_PASS_LAST_LANES = 4,
  /* Bytes in shared memory: of a row's description, a term's, and a position's. */
  CUTT_PASS_ROW_ENTRY = 48,
  CUTT_PASS_TERM_ENTRY = 48,
  CUTT_PASS_POSITION_ENTRY = 32
};

/* Rows of a thread that are computed at once: so many loads of each operand are in flight. */
#define CUTT_PASS_ROWS_OF(element_bytes) ((element_bytes) > 4 ? 4u : 8u)

typedef enum cutt_pass_way { CUTT_PASS_PLAIN, CUTT_PASS_ACROSS_X, CUTT_PASS_ACROSS_Y, CUTT_PASS_ALL } cutt_pass_way;

/* A digit of a number: its steps in each tensor (L, R, D), and in the mode that it is a part of. */
typedef struct cutt_pass_digit {
  cutt_divisor extent;
  uint32_t bound; /* the number of that mode's bound; CUTT_PASS_BOUNDS: it needs none */
  int64_t step[3];
  int64_t along;
} cutt_pass_digit;

/* An operand that is turned in shared memory, since its elements next to each other are rows of the tile: `run` of these lie
 * side by side, `apart` rows from one to the next. run.by 0: it is read as it lies. */
typedef struct cutt_pass_turn {
  cutt_divisor run, apart;
  uint32_t at; /* in shared memory */
} cutt_pass_turn;

/* What becomes of a sum: is beta not 0; is alpha 1; has alpha, or beta, an imaginary part; and the scalars. */
typedef struct cutt_sum_scalars {
  uint8_t reads, alone, alpha_mixed, beta_mixed;
  double alpha[2], beta[2];
  int64_t alpha_integer, beta_integer;
} cutt_sum_scalars;

typedef struct cutt_pass_args {
  uint32_t way;
  /* Ends of the lists of digits in digit[]: of x, y, z, and of the tiles. */
  uint32_t x_end, y_end, z_end, tile_end;
  cutt_divisor x; /* positions */
  /* Blocks are numbered by tiles and parts: those that follow each other in memory are next to each other. inner: of these, the number of
   * parts of a sum, or else of tiles. */
  cutt_divisor inner;
  uint32_t parts_first;
  uint32_t groups; /* of x.by threads */
  uint32_t rows,
      terms; /* rows: those that there are, and beyond them up to a multiple of what a block computes at once */
  uint32_t rows_there;
  uint32_t part_terms;
  uint32_t terms_at, positions_at, sums_at; /* in shared memory, behind the rows */
  uint32_t pitch;                           /* of turned rows, in elements */
  cutt_pass_turn turn[2];
  int64_t part_bytes; /* from the results of one part to those of the next, in workspace */
  /* Of the modes with bounds: their extents, and how far a tile reaches beyond its beginning. */
  int64_t extent[CUTT_PASS_BOUNDS], reach[CUTT_PASS_BOUNDS];
  uint32_t result_bounds; /* bits: those that are of D's modes */
  /* Sign bits of the imaginary parts that are to be changed; has the contraction a second operand; are results sums of a part,
   * as wide as they are; what takes the place of the sum, a cutt_combine. */
  uint32_t flip[2];
  uint8_t has_right, stores_sums, op;
  cutt_sum_scalars scalars;
  cutt_pass_digit digit[CUTT_PASS_DIGITS];
} cutt_pass_args;

#endif
