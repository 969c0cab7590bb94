/* From an elementwise operation on a GPU to its tiles (device_elementwise_tile.c), and from these to a launch (device_elementwise.c). */
#ifndef CUTT_CONTRACT_DEVICE_ELEMENTWISE_TILE_H
#define CUTT_CONTRACT_DEVICE_ELEMENTWISE_TILE_H

#include "contract/device_elementwise.h"

enum {
  CUTT_COMBINE_TENSORS = 1 + CUTT_COMBINE_OPERANDS, /* D, A, B, C, as kernels number them */
  CUTT_COMBINE_WIDE = 16,                           /* bytes of an access */
  CUTT_COMBINE_LINE = 128 /* that a warp writes at once, and shared memory hands out at once */
};

/* Kernels have those modes first of which a tile has more than 1. */
typedef struct cutt_combine_layout {
  const struct cuttElementwiseStruct *p;
  cutt_combine_args *args;
  int64_t unit; /* elements of an access, where nothing is turned */
  int64_t
      vector; /* those of D that a thread has at once, where all is turned; if more than 1, they are a mode by themselves */
  int modes;
  struct {
    int64_t extent, stride[CUTT_COMBINE_TENSORS];
  } mode[CUTT_COMBINE_MODES];
  bool aligned; /* addresses are multiples of 16 bytes */
  bool turns;   /* an operand has its elements in another order than D */
  bool turned
      [CUTT_COMBINE_OPERANDS]; /* it goes through shared memory: all do where one has its elements in another order than D */
  int64_t chunk[CUTT_COMBINE_MODES];
  int number[CUTT_COMBINE_MODES];                                 /* of each of the kernel's modes */
  int width[CUTT_COMBINE_OPERANDS];                               /* bytes of an access of what is turned */
  int run_modes[CUTT_COMBINE_OPERANDS];                           /* of a run that is loaded by windows; or 0 */
  int64_t elements[CUTT_COMBINE_OPERANDS];                        /* of what is turned in shared memory */
  uint32_t place[CUTT_COMBINE_OPERANDS][CUTT_COMBINE_TILE_MODES]; /* elements from one to the next in what is turned */
  /* The tile's modes by their steps, as kernels number them. */
  int own[CUTT_COMBINE_OPERANDS][CUTT_COMBINE_TILE_MODES], own_count[CUTT_COMBINE_OPERANDS];
} cutt_combine_layout;

static inline int64_t cutt_combine_stride(const cutt_combine_layout *l, int tensor, int mode) {
  return l->mode[mode].stride[tensor];
}
static inline bool cutt_combine_reads(const cutt_combine_layout *l, int operand) {
  return operand < l->p->operands && l->p->use[operand] != CUTT_USE_ZERO;
}

/* Sets the modes, what is turned, and the elements of an access. False: aligned addresses gain nothing, or there are so many modes that
 * there are too many tiles. */
bool cutt_combine_begin(const struct cuttElementwiseStruct *plan, bool aligned, cutt_combine_layout *layout);

/* The tensor's modes by their steps, the shortest first, without those that it lacks. Returns how many. */
int cutt_combine_order(const cutt_combine_layout *l, int tensor, int *order);

/* The same of those of which a tile has more than 1, as kernels number them, when they are numbered. */
int cutt_combine_tile_order(const cutt_combine_layout *l, int tensor, int *order);

/* Sets the chunks. bytes: most, of all that is turned. */
void cutt_combine_cut(cutt_combine_layout *l, int64_t multiprocessors, int64_t bytes);

/* Lays out a launch of this kernel that numbers D's elements, where nothing is turned. False: there are too many blocks. */
bool cutt_combine_line(cutt_combine_layout *l, int kernel, cutt_combine_launch *launch);

/* Can a tensor be accessed by so many elements of a mode, if its address is a multiple of that? */
bool cutt_combine_allows(const cutt_combine_layout *l, int tensor, int mode, int64_t unit);

#endif
