/* Elementwise operations on a GPU, by gpu/kernels/combine.cu: D is cut into tiles, of which a block does some (device_elementwise_tile.c).
 * Where an operand's elements are not in D's order, operands go through shared memory (device_elementwise.c), so that every tensor is
 * moved in whole sectors. Where none is turned, and all that lies next to each other begins at a multiple of 16 bytes, a wide kernel
 * accesses 16 bytes at a time.
 *
 * Most sums and products of two operands, of which one is laid out as D, are permutations of the other one with a second operand, by
 * plans of libcutt (device_permuted.c); some large ones of which none is are two permutations. */
#ifndef CUTT_CONTRACT_DEVICE_ELEMENTWISE_H
#define CUTT_CONTRACT_DEVICE_ELEMENTWISE_H

#include "contract/elementwise.h"
#include "gpu/kernels/combine_args.h"

/* A launch: a pure function of the operation and the device. */
typedef struct cutt_combine_launch {
  int kernel;       /* of the list of all: those of types, then the wide ones, then those that number D's elements */
  int64_t numbered; /* elements of D that a block has, one after the other, where these are numbered; or 0 */
  cutt_grid grid;
  cutt_combine_args args;
} cutt_combine_launch;

/* A pass: D = its scalar * perm(moved), and with a second operand, which is laid out as D or is D, their sum or product. */
enum { CUTT_NO_SECOND = -1 };
typedef struct cutt_device_permuted {
  cuttPlan_t plan; /* NULL: there is none */
  int moved;       /* the operand's number */
  int second;      /* a cutt_tensor */
} cutt_device_permuted;

/* Prepared. Immutable. */
typedef struct cutt_device_elementwise {
  const cutt_kernels *kernels;
  cutt_device_permuted pass[2]; /* one, or two that follow each other, in place of what follows; or none */
  bool has_wide;
  cutt_combine_launch narrow, wide; /* wide: for addresses at multiples of 16 bytes, of either kernel */
} cutt_device_elementwise;

/* What it depends on of the device. */
typedef struct cutt_combine_device {
  int64_t multiprocessors, sm_shared,
      block_shared; /* bytes of shared memory, of a multiprocessor and at most of a block */
} cutt_combine_device;

/* Lays out a launch, for any addresses or for aligned ones: multiples of 16 bytes. False: there is none, since these gain nothing, or
 * for any since tiles are too many. */
bool cutt_device_elementwise_lay_out(const struct cuttElementwiseStruct *plan, const cutt_combine_device *device,
                                     bool aligned, cutt_combine_launch *launch);

/* Plans for the current context what cutt_device_elementwise_release frees, also after a failure. Errors: CUTT_INVALID_PARAMETER,
 * CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR. */
cuttResult cutt_device_elementwise_prepare(struct cuttElementwiseStruct *plan);
void cutt_device_elementwise_release(struct cuttElementwiseStruct *plan);

/* Plans such passes; pass[0].plan stays NULL where they are not what the operation is done by. Errors: those of cuttPlanCreate. */
cuttResult cutt_device_permuted_prepare(const struct cuttElementwiseStruct *plan, cutt_device_permuted pass[2]);
/* Starts them. at: the addresses of the first element by the order of the walk. */
cuttResult cutt_device_permuted_start(const struct cuttElementwiseStruct *plan,
                                      const unsigned char *const at[CUTT_MOST_TENSORS], cudaStream_t stream);

/* The same without a backend. */
cuttResult cutt_device_elementwise_make(struct cuttElementwiseStruct *plan, const cutt_combine_device *on,
                                        const cutt_runtime *runtime);
cuttResult cutt_device_elementwise_start(const struct cuttElementwiseStruct *plan, const cutt_runtime *runtime,
                                         void *const tensor[CUTT_MOST_TENSORS], cudaStream_t stream);

/* Starts it. tensor: addresses of element (0, ..., 0), by cutt_tensor, as the caller has them; those that are not read are NULL. */
cuttResult cutt_device_elementwise_run(const struct cuttElementwiseStruct *plan, void *const tensor[CUTT_MOST_TENSORS],
                                       cudaStream_t stream);

#endif
