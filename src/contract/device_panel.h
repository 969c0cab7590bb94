/* Panels for a pass on a GPU (device_pass.h), for contractions of few terms whose result is large in both operands' modes:
 * D = alpha * L R + beta * D by gpu/kernels/panel.cu, without permuting and without workspace.
 *
 * The operand that has the modes in which D has its neighbours has the rows, the other one the columns. A block keeps its rows' part
 * of the one in shared memory, and goes along columns of the other. */
#ifndef CUTT_CONTRACT_DEVICE_PANEL_H
#define CUTT_CONTRACT_DEVICE_PANEL_H

#include "contract/cost.h"
#include "gpu/kernels/panel_args.h"

/* How a contraction is cut into panels. A pure function of the contraction and the rates. */
typedef struct cutt_panel_shape {
  cutt_tensor by_rows;                    /* the operand that has the rows */
  int64_t rows, columns, terms, matrices; /* of the contraction */
  int64_t panels, tiles;                  /* of rows; of columns */
  int64_t strips, strip_tiles;            /* that the columns are cut into; tiles of one */
  int64_t depth;                          /* terms of columns at once */
  double seconds;
} cutt_panel_shape;

/* The shape in which this operand has the rows. The seconds are INFINITY where there is none. */
void cutt_panel_choose(const cutt_contraction *contraction, const cutt_rates *rates, cutt_tensor by_rows,
                       cutt_panel_shape *shape);

/* What the kernel is given, of shared memory too. */
void cutt_panel_fill(const cutt_contraction *contraction, const cutt_panel_shape *shape, cutt_panel_args *args,
                     uint32_t *shared_bytes);

#endif
