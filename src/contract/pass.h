/* The algorithm "one pass", on the CPU: D = alpha * sum of L R + beta * D by kernels of our own, without a matrix product and
 * without workspace. Every element of the operands is read from where it lies, and every element of D is written once.
 *
 * It is for contractions that contract nothing or little, whose time is that of moving the tensors: products of elements,
 * broadcasts, outer products, batches of tiny products, and sums over one operand.
 *
 * One mode is what the kernels run along: a free mode, of which D has many elements next to each other, or a summed one, for
 * dot products. The modes are cut into tiles. Within a tile an operand that has the elements along that mode next to each other
 * is used in place, or has one for all; any other is packed so in a thread's scratch, by transposing. D likewise, afterwards.
 * Where nothing is summed and the tensors are in memory it is an elementwise operation instead (combine.h), whose kernels load and store past the
 * caches side by side.
 *
 * Which thread does a tile makes no difference to the result, nor does their number: a sum is cut into parts by its length. */
#ifndef CUTT_CONTRACT_PASS_H
#define CUTT_CONTRACT_PASS_H

#include "contract/combine.h"
#include "contract/cost.h"
#include "contract/kernels/kernels.h"

/* How a contraction is cut, and what is packed. A pure function of the contraction, the mode and the rates. */
typedef struct cutt_pass_shape {
  /* The mode that the kernels run along; -1: there are no modes, or it is an elementwise operation, of which only the seconds follow. */
  int along;
  bool combined; /* it is */
  bool summed;   /* it is */
  /* Of a tile, in each mode. */
  int64_t chunk[CUTT_MOST_MODES];
  /* Which operand is the kernels' first, and what the second one is to them. */
  cutt_tensor first;
  cutt_pass_kind kind;
  bool packed[CUTT_TENSORS];
  /* Numbers of a row and term in the scratch: n, or 1 of a second operand that has one for all. */
  bool single[2];
  /* Rows that share their numbers of the first operand are computed in blocks; and the cache lines of a row that were asked
   * for, or 0. */
  bool blocked;
  int64_t lines;
  bool deep; /* sums of blocks are longer than a tile's */
  /* Of tiles that are not in blocks: the operand in whose order in memory they go through it; CUTT_TENSORS: none. And is the other one
   * to be read in runs, too, since it is not much smaller, or packed from beyond a core's own cache? */
  cutt_tensor by;
  bool both;
  bool far[CUTT_RESULT]; /* an operand comes from memory */
  /* Of blocks: what the next tile reads of the second operand, in place, is asked for. And the innermost loops over tiles are those along
   * which the second operand's part stays the same, not the first's. */
  bool asks, keeps_second;
  /* Sums go to D as they are, since there is nothing else to be done to them. */
  bool direct;
  /* D is written past the caches; and its rows, of which nothing is packed or summed, have as much of the scratch as is computed at
   * a time. */
  bool streams, pieces;
  bool in_order;    /* of the kernels' tiles: the first operand comes from memory */
  bool terms_apart; /* of dot products: terms that lie further apart than rows are added to some rows at a time */
  double seconds;
} cutt_pass_shape;

enum {
  CUTT_PASS_RAGGED = 3, /* most modes, besides the one along, whose last chunk is shorter */
  CUTT_PASS_TILES = 1 << CUTT_PASS_RAGGED,
  CUTT_PASS_ROWS = 512,
  CUTT_PASS_TERMS = 512,
  CUTT_PASS_PIECE = 1024 /* bytes that are computed, and then written past the caches, at a time */
};

/* A mode that is cut. */
typedef struct cutt_pass_loop {
  int64_t chunks;
  int64_t step[CUTT_TENSORS]; /* from one chunk to the next, in bytes */
  unsigned ragged;            /* its bit in the number of a kind of tile, if its last chunk is shorter; else 0 */
  int64_t last;               /* of the mode along: extent of its last chunk; else 0 */
} cutt_pass_loop;

/* Runs of a tensor's tile that follow each other in memory: where each begins there, and where in the scratch, in bytes. */
typedef struct cutt_pass_runs {
  int64_t length, count;
  int64_t *from, *to;
} cutt_pass_runs;

/* Tiles of one kind: those whose modes are at their last, shorter chunk, or not, alike. */
typedef struct cutt_pass_tiles {
  int64_t rows, terms;
  int64_t each;  /* terms that are added up before it is the next row's turn */
  int64_t group; /* rows, one after the other, that are at one place of the first operand; of a blocked shape */
  /* Of dot products: so many rows, and so many terms of each, lie in the first operand before the next terms of any of them do. */
  int64_t inside, inner;
  int64_t *row[CUTT_TENSORS], *term[2];
  int64_t *sum_row; /* in the scratch */
  cutt_pass_runs runs[CUTT_TENSORS];
  int64_t *memory; /* that all these are in */
} cutt_pass_tiles;

/* Prepared. Immutable. */
typedef struct cutt_pass {
  cutt_pass_shape shape;
  struct cuttElementwiseStruct
      *combination; /* of a combined shape, where of what follows only `items` is set; else NULL */
  const cutt_pass_kernels *kernels;
  const cutt_pass_type *type;
  cutt_pass_rows_fn *add_up, *join; /* a tile's rows; the parts of a sum */
  cutt_pass_scalars scalars;
  bool conjugate[2];
  bool asks_in_order; /* as the device has it */
  int bytes;          /* of an element in memory */
  int number;         /* of one that is computed with */
  /* Along the mode: extent of a chunk, and the steps in bytes. */
  int64_t n, step[CUTT_TENSORS];
  /* From one row to the next in the scratch; of the result, of the sums. */
  int64_t pitch[CUTT_TENSORS];
  int64_t piece_rows; /* that are computed at a time where D is written past the caches */
  /* Where in a thread's scratch: each packed operand, and the sums. */
  int64_t place[CUTT_TENSORS], sums_bytes;
  /* Loops over tiles of D, the innermost last; and over the parts of the sum of each. */
  int loops, sums;
  cutt_pass_loop loop[CUTT_MOST_MODES];
  int64_t items, additions;
  /* A sum is cut into so many parts, which are added in order. */
  int64_t parts;
  int threads;
  cutt_pass_tiles tiles[CUTT_PASS_TILES];
} cutt_pass;

/* The best shape by predicted seconds. */
void cutt_pass_choose(const cutt_contraction *contraction, const cutt_rates *rates, cutt_pass_shape *best);

/* The shapes with the shortest predicted times, the fastest first, `most` at most; returns how many. */
int cutt_pass_list(const cutt_contraction *contraction, const cutt_rates *rates, cutt_pass_shape *list, int most);

/* The shape along one mode (-1 where there are none). */
void cutt_pass_shape_of(const cutt_contraction *contraction, const cutt_rates *rates, int along,
                        cutt_pass_shape *shape);

/* The same with rows in blocks, and so many cache lines of a row in a tile, at most. False: there are no rows that share anything, numbers are
 * whole, or it is no sum. */
bool cutt_pass_shape_blocked(const cutt_contraction *contraction, const cutt_rates *rates, int along, int64_t lines,
                             cutt_pass_shape *shape);

/* Is it a free mode in which only the second operand and D have steps? Rows along it share the first operand's numbers. */
bool cutt_pass_shares(const cutt_contraction *contraction, const cutt_pass_shape *shape, int mode);

/* The one of which more of memory is read. */
cutt_tensor cutt_pass_larger_operand(const cutt_contraction *contraction);

/* Along a free mode: terms of a row that are added up before it is the next row's turn, if a tile has so much of each mode. Where it goes through
 * the first operand in order those are terms whose steps are shorter than the rows', or else a few. */
int64_t cutt_pass_terms_each(const cutt_contraction *contraction, const cutt_pass_shape *shape, const int64_t *extent);

/* Are a tile's rows in another order than D's? */
static inline bool cutt_pass_lists_rows(const cutt_pass_shape *shape) {
  return shape->blocked || shape->summed || shape->by != CUTT_TENSORS;
}

/* Tile modes of one tensor that follow each other in memory, the innermost first, into mode[]; returns how many. Those after
 * *contiguous are not contiguous. */
int cutt_pass_run_modes(const cutt_contraction *contraction, const cutt_pass_shape *shape, cutt_tensor t, int *mode,
                        int *contiguous);

/* The shape of an elementwise operation. False: it is none. */
bool cutt_pass_shape_combined(const cutt_contraction *contraction, const cutt_rates *rates, cutt_pass_shape *shape);

/* Prepares what cutt_pass_release frees. Errors: CUTT_INTERNAL_ERROR (memory; no kernels). */
cuttResult cutt_pass_prepare(const cutt_contraction *contraction, const cutt_pass_shape *shape,
                             const cutt_backend *backend, int threads, cutt_pass **pass);
void cutt_pass_release(cutt_pass *pass);

/* tensor: addresses of element (0, ..., 0); right may be NULL where its elements are all 1 (right_is_one). */
cuttResult cutt_pass_run(const cutt_pass *pass, const unsigned char *left, const unsigned char *right,
                         unsigned char *result);

#endif
