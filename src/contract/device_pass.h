/* The algorithm "one pass" on a GPU: D = alpha * sum of L R + beta * D by a kernel of our own (gpu/kernels/pass.cu), without a
 * matrix product. Every element of D is written once, from operands that are read as they lie.
 *
 * The modes are dealt out to the kernel's numbers: positions x, which threads next to each other have; rows y; terms z; and
 * tiles. Positions are modes in which D has neighbours, or, where an operand has its neighbours in summed modes, those. An
 * operand that has its neighbours elsewhere is turned in shared memory. Sums that are too few for the GPU are cut into parts, which a
 * second launch adds up from workspace. Sums of one operand are also done by tiles (device_sum.h) and by stretches (device_stretch.h). */
#ifndef CUTT_CONTRACT_DEVICE_PASS_H
#define CUTT_CONTRACT_DEVICE_PASS_H

#include "contract/device_combine.h"
#include "contract/device_core.h"
#include "contract/device_join.h"
#include "contract/device_moved.h"
#include "contract/device_multiply.h"
#include "contract/device_panel.h"
#include "contract/device_small.h"
#include "contract/device_staged.h"
#include "contract/device_stretch.h"
#include "contract/device_strip.h"
#include "contract/device_sum.h"
#include "gpu/kernels/pass_args.h"
#include "plan/backend.h"

/* What computes it. */
typedef enum cutt_device_kind {
  CUTT_DEVICE_SUMS,        /* threads along x, with rows of y */
  CUTT_DEVICE_PRODUCTS,    /* tiles of products */
  CUTT_DEVICE_PANELS,      /* products by panels */
  CUTT_DEVICE_CORES,       /* tensor cores */
  CUTT_DEVICE_COMBINATION, /* an elementwise operation */
  CUTT_DEVICE_TILES,       /* sums by tiles */
  CUTT_DEVICE_SMALL,       /* small products */
  CUTT_DEVICE_STRETCHES,   /* sums by stretches */
  CUTT_DEVICE_STRIPS,      /* products in strips */
  CUTT_DEVICE_STAGED,      /* sums by staged tiles */
  CUTT_DEVICE_KINDS
} cutt_device_kind;

/* How a contraction is dealt out. A pure function of the contraction and the rates. */
typedef struct cutt_device_shape {
  int number; /* among all, from 1 on: cutt_device_pass_numbered */
  double seconds;
  /* Tensors that are permuted beside the pass, which all else is of then, bit by bit (1 << CUTT_LEFT); and the seconds of that, which
   * the others include. */
  unsigned moved;
  double moving[CUTT_TENSORS];
  cutt_device_kind kind;
  /* All that follows is of CUTT_DEVICE_SUMS, but for what is named there. */
  cutt_pass_way way;
  /* Of each mode: its part in x, and in y, 1 where it has none there. */
  int16_t x[CUTT_MOST_MODES], y[CUTT_MOST_MODES];
  /* Modes of x, and of y, the fastest first. */
  int x_modes, y_modes;
  int8_t x_mode[CUTT_MOST_MODES], y_mode[CUTT_MOST_MODES];
  int64_t positions, rows; /* their products */
  bool by_left; /* D's modes are ordered by their steps in L, not in D: D, which is small, is written here and there */
  /* Of each operand: the mode of y whose neighbours are loaded side by side; -1: it is read as it lies. */
  int turned[2];
  int64_t turned_rows; /* most at once, where one is; of two, that is all rows */
  int64_t parts;
  union { /* of the kinds that have a shape of their own */
    cutt_multiply_shape products;
    cutt_panel_shape panel;
    cutt_core_shape core;
    cutt_sum_shape sum;
    cutt_small_shape small;
    cutt_stretch_shape stretch;
    cutt_strip_shape strip;
    cutt_staged_shape staged;
  };
} cutt_device_shape;

/* The operand whose positions are rows; L, where no shape says. */
static inline cutt_tensor cutt_device_pass_by_rows(const cutt_device_shape *s) {
  return s->kind == CUTT_DEVICE_PRODUCTS ? s->products.by_rows
         : s->kind == CUTT_DEVICE_PANELS ? s->panel.by_rows
         : s->kind == CUTT_DEVICE_CORES  ? s->core.by_rows
         : s->kind == CUTT_DEVICE_STRIPS ? s->strip.by_rows
                                         : CUTT_LEFT;
}

/* What adds up the parts of a sum. */
typedef struct cutt_device_join {
  const cutt_kernels *kernels;
  int kernel;
  cutt_grid grid;
  cutt_join_args args;
} cutt_device_join;

/* Prepared. Immutable. */
typedef struct cutt_device_pass {
  cutt_device_shape shape;
  int64_t tiles;
  size_t workspace;                          /* bytes: of the sums of parts */
  cutt_device_join *join;                    /* or NULL: the sum is not in parts */
  struct cuttElementwiseStruct *combination; /* and nothing of what follows; or NULL */
  const cutt_kernels *kernels;
  int kernel;
  cutt_grid grid;
  union {
    cutt_pass_args args;
    cutt_multiply_args multiply;
    cutt_panel_args panel;
    cutt_core_args core;
    cutt_sum_args sum;
    cutt_small_args small[2]; /* for tensors anywhere, and at multiples of 16 bytes */
    cutt_stretch_args stretch;
    cutt_strip_args strip;
    cutt_staged_args staged;
  };
} cutt_device_pass;

/* The best shape by predicted seconds, with at most limit bytes of workspace. The seconds are INFINITY where there is none: of
 * more than 2^31 tiles, say. */
void cutt_device_pass_choose(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                             cutt_device_shape *shape);

/* The same of tensors of which some are permuted, if it takes less than `least` seconds; else INFINITY. */
void cutt_device_pass_choose_moved(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                                   double least, cutt_device_shape *shape);

/* What the positions of a shape are modes of: D, in its order or in that of L, or the sum. */
typedef enum cutt_device_side { CUTT_SIDE_RESULT, CUTT_SIDE_SUM, CUTT_SIDE_LEFT } cutt_device_side;

/* Shapes of all kinds have numbers from 1 on, that of a kind the same for every contraction; then come those of tensors that are permuted, in
 * the same order for each choice of these. The seconds are INFINITY where there is none. */
enum { CUTT_DEVICE_PASSES = 37, CUTT_DEVICE_PASS_NUMBERS = CUTT_DEVICE_PASSES * CUTT_DEVICE_MOVES };
void cutt_device_pass_numbered(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit, int number,
                               cutt_device_shape *shape);

/* The best shapes of each kind, the fastest first; returns how many there are, at most so many. */
int cutt_device_pass_list(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                          cutt_device_shape *list, int most);

/* The shape with so many positions at most; and with rows of summed modes rather than of D's (shares), which also holds where D has
 * few. */
void cutt_device_pass_shape(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                            cutt_device_side side, bool shares, int64_t most, cutt_device_shape *shape);

/* Summed modes, or those of D, into mode[], by their steps in the larger operand, or in D or L (by_left), the shortest first. Returns how
 * many. */
int cutt_device_pass_modes(const cutt_contraction *contraction, bool summed, bool by_left, int *mode);

/* The shape of tiles of products in which this operand has the rows. */
void cutt_device_pass_products(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                               cutt_tensor by_rows, cutt_device_shape *shape);

/* The shape of panels of this operand. */
void cutt_device_pass_panels(const cutt_contraction *contraction, const cutt_rates *rates, cutt_tensor by_rows,
                             cutt_device_shape *shape);

/* The shape on tensor cores, in which rows come in tiles, or columns. */
void cutt_device_pass_cores(const cutt_contraction *contraction, const cutt_rates *rates, bool streams_rows,
                            cutt_device_shape *shape);

/* The shape in strips, in which rows come in tiles, or columns. */
void cutt_device_pass_strips(const cutt_contraction *contraction, const cutt_rates *rates, bool streams_rows,
                             cutt_device_shape *shape);

/* Sums of one operand by tiles. */
void cutt_device_pass_tiles(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                            cutt_device_shape *shape);

/* Sums of one operand by stretches. */
void cutt_device_pass_stretches(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                                cutt_device_shape *shape);

/* Sums of one operand by staged tiles. */
void cutt_device_pass_staged(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                             cutt_device_shape *shape);

/* Small products. */
void cutt_device_pass_small(const cutt_contraction *contraction, const cutt_rates *rates, cutt_device_shape *shape);

/* As an elementwise operation. */
void cutt_device_pass_combination(const cutt_contraction *contraction, const cutt_rates *rates,
                                  cutt_device_shape *shape);

/* Prepares what cutt_device_pass_release frees, for the current context. Errors: CUTT_INTERNAL_ERROR, CUTT_INVALID_DEVICE. */
cuttResult cutt_device_pass_prepare(const cutt_contraction *contraction, const cutt_rates *rates,
                                    const cutt_device_shape *shape, const cutt_runtime *runtime,
                                    cutt_device_pass **pass);
void cutt_device_pass_release(cutt_device_pass *pass);

/* Starts it. right may be NULL where its elements are all 1. */
cuttResult cutt_device_pass_run(const cutt_device_pass *pass, const cutt_runtime *runtime, const unsigned char *left,
                                const unsigned char *right, unsigned char *result, unsigned char *workspace,
                                cudaStream_t stream);

#endif
