/* From a candidate to what the driver is asked to run: a pure function, which allocates nothing. */
#ifndef CUTT_GPU_LAUNCH_H
#define CUTT_GPU_LAUNCH_H

#include "gpu/access.h"
#include "gpu/kernels/args.h"
#include "gpu/kernels/flat_args.h"
#include "gpu/kernels/list.h"
#include "gpu/tile.h"
#include "model/device.h"
#include "model/method.h"

extern const char *const cutt_gpu_kernel_name[CUTT_KERNEL_COUNT];   /* "cutt_tile_1", ... as in the module */
extern const char *const cutt_gpu_kernel_source[CUTT_KERNEL_COUNT]; /* "tile", "scale", ...: the file that has it */
/* Those for many executions: "cutt_tile_1_batched", "tile_batched", ... */
extern const char *const cutt_gpu_batched_name[CUTT_TABLE_KERNEL_COUNT];
extern const char *const cutt_gpu_batched_source[CUTT_TABLE_KERNEL_COUNT];

typedef struct cutt_gpu_launch {
  cutt_kernel kernel;
  uint32_t blocks, threads, shared_bytes; /* dynamic shared memory */
  uint32_t tiles;                         /* of all executions */
  int64_t in_start, out_start;            /* bytes from the user's pointers to the kernel's in and out */
  bool without_tables;                    /* the kernel takes flat, or windows; else args */
  cutt_kernel_args args;
  union {
    cutt_flat_args flat;
    cutt_flat_window_args windows; /* if the kernel is one of these; its own .flat is the one above */
  };
} cutt_gpu_launch;

/* Candidates with predicted seconds, fastest first; at most max, and at least 1 for problems of up to 2^40 bytes. No
 * allocation. */
int cutt_gpu_enumerate(const cutt_device *device, cutt_model model, const cutt_canonical *canonical,
                       cutt_candidate *list, int max);

/* The candidate of the problem that is best where it is executed many times by one launch; own, the plan's, if the model knows
 * none. No allocation. */
void cutt_gpu_choose_many(const cutt_device *device, const cutt_canonical *canonical, const cutt_candidate *own,
                          cutt_candidate *choice);

/* Would cutt_gpu_lay_out take it? *why says why not. */
bool cutt_gpu_accept(const cutt_device *device, const cutt_canonical *canonical, const cutt_candidate *candidate,
                     const char **why);

/* The launch for buffers whose tensors' lowest bytes are at multiples of in_align and out_align bytes (powers of two up to
 * CUTT_GPU_ALIGNED). False, with *why, for a candidate that is not accepted, and for scaling
 * kernels when a buffer is not aligned to the element's scalars. Takes a microsecond or so. */
bool cutt_gpu_lay_out(const cutt_device *device, const cutt_canonical *canonical, const cutt_candidate *candidate,
                      uint32_t in_align, uint32_t out_align, cutt_gpu_launch *launch, const char **why);

/* The same for `problems` executions by one launch of the batched kernel: as many times the tiles, of which a block works
 * through several where that leaves enough blocks for the device. problems: 1 to cutt_gpu_most_problems. */
bool cutt_gpu_lay_out_many(const cutt_device *device, const cutt_canonical *canonical, const cutt_candidate *candidate,
                           uint32_t in_align, uint32_t out_align, uint32_t problems, cutt_gpu_launch *launch,
                           const char **why);

/* The most executions that one launch can do: tiles are numbered by 31 bits, and their list is a parameter. tiles: of one
 * execution. parameter_bytes: as the runtime has it. */
static inline int64_t cutt_gpu_most_problems(int64_t tiles, int parameter_bytes) {
  const int64_t most = INT32_MAX / (tiles > 0 ? tiles : 1);
  const int64_t room =
      (CUTT_PAIRS * (int64_t)sizeof(cutt_pair) + parameter_bytes - CUTT_PARAMETER_BYTES) / (int64_t)sizeof(cutt_pair);
  return room < 0 ? 0 : most < room ? most : room;
}

/* The most bytes of shared memory that a launch of the tile with one stage takes, however its buffers are aligned: so a
 * candidate that is accepted can be laid out for any buffers. direct: as in CUTT_GPU_PARAM_DIRECT. */
double cutt_gpu_most_shared(const cutt_canonical *canonical, const cutt_gpu_tile *tile, bool direct);

/* The largest power of two, up to CUTT_GPU_ALIGNED, that divides an address. */
uint32_t cutt_gpu_alignment(const void *pointer);

#endif
