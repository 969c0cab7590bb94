/* From a candidate to what the driver is asked to run. Pure: no device, no allocation but that of cutt_cuda_plan. */
#ifndef CUTT_CUDA_LAUNCH_H
#define CUTT_CUDA_LAUNCH_H

#include "core/backend.h"
#include "cuda/kernels/args.h"
#include "cuda/kernels/list.h"
#include "cuda/tile.h"
#include "model/device.h"

/* Names of a candidate's parameters. candidate.threads is the threads of a block. */
typedef enum cutt_cuda_param {
  CUTT_CUDA_PARAM_STAGES,      /* tiles of a block in shared memory at once */
  CUTT_CUDA_PARAM_BLOCK_TILES, /* tiles that a block works through */
  CUTT_CUDA_PARAM_DIRECT,      /* 1: runs go from global to global memory (Copy, TiledCopy) */
  CUTT_CUDA_PARAM_BATCH,       /* TiledCopy: positions of other modes in a tile */
} cutt_cuda_param;
extern const char *const cutt_cuda_param_name[CUTT_PARAMS];

extern const char *const cutt_cuda_kernel_name[CUTT_KERNEL_COUNT];   /* "cutt_tile_1", ... as in the module */
extern const char *const cutt_cuda_kernel_source[CUTT_KERNEL_COUNT]; /* "tile", "copy": the file that has it */

typedef struct cutt_cuda_launch {
  cutt_kernel kernel;
  uint32_t blocks, threads, shared_bytes; /* dynamic shared memory */
  int64_t in_start, out_start;            /* bytes to add to the user's pointers: what the kernel takes as in and out */
  cutt_kernel_args args;
} cutt_cuda_launch;

/* Candidates with predicted seconds, fastest first; at most max, and at least 1 for problems of up to 2^40 bytes. No
 * allocation. */
int cutt_cuda_enumerate(const cutt_device *device, cutt_model model, const cutt_canonical *canonical,
                        cutt_candidate *list, int max);

/* Would cutt_cuda_lay_out take it? *why says why not. */
bool cutt_cuda_accept(const cutt_device *device, const cutt_canonical *canonical, const cutt_candidate *candidate,
                      const char **why);

/* Buffers that are aligned to so many bytes are as good as any. */
enum { CUTT_CUDA_ALIGNED = 16 };

/* The launch for buffers whose addresses are multiples of in_align and out_align bytes (powers of two up to
 * CUTT_CUDA_ALIGNED), counted at the user's pointers. False, with *why, for a candidate that is not accepted, and for scaling
 * kernels when a buffer is not aligned to the element's scalars. Takes a microsecond or so. */
bool cutt_cuda_lay_out(const cutt_device *device, const cutt_canonical *canonical, const cutt_candidate *candidate,
                       uint32_t in_align, uint32_t out_align, cutt_cuda_launch *launch, const char **why);

/* No launch of the tile with one stage takes more shared memory, however its buffers are aligned: in bytes. So what a device
 * has room for does not depend on buffers, and a candidate that is accepted can be laid out for any. direct: as in
 * CUTT_CUDA_PARAM_DIRECT. */
double cutt_cuda_most_shared(const cutt_canonical *canonical, const cutt_cuda_tile *tile, bool direct);

/* The largest power of two, up to CUTT_CUDA_ALIGNED, that divides an address. */
uint32_t cutt_cuda_alignment(const void *pointer);

#endif
