/* Running a kernel on the host, thread by thread, with everything that a GPU leaves undefined made an error.
 *
 * Found: accesses outside of the launch's buffers or not aligned, or too early, bytes of the output written twice, threads that don't
 * meet at the same barrier, shared memory read before it was written or while a copy to it is under way, and two threads
 * that use a byte of shared memory, one of them writing, with no barrier in between. The first fault ends the launch.
 *
 * Blocks run one after another and are undisturbed by each other, so a fault between blocks shows only as a byte written
 * twice. One launch at a time, from one thread of the program. */
#ifndef CUTT_TESTS_SIMT_LAUNCH_H
#define CUTT_TESTS_SIMT_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/kernels/args.h"
#include "gpu/kernels/combine_args.h"
#include "gpu/kernels/core_args.h"
#include "gpu/kernels/flat_args.h"
#include "gpu/kernels/join_args.h"
#include "gpu/kernels/multiply_args.h"
#include "gpu/kernels/panel_args.h"
#include "gpu/kernels/pass_args.h"
#include "gpu/kernels/small_args.h"
#include "gpu/kernels/staged_args.h"
#include "gpu/kernels/stretch_args.h"
#include "gpu/kernels/strip_args.h"
#include "gpu/kernels/sum_args.h"

enum { SIMT_MOST_THREADS = 1024, SIMT_WARP = 32, SIMT_SECTOR = 32 };

typedef void simt_kernel(const unsigned char *in, unsigned char *out, cutt_kernel_args args);
typedef void simt_batched_kernel(const unsigned char *in, unsigned char *out, cutt_kernel_args args, cutt_pairs pairs);
typedef void simt_flat_kernel(const unsigned char *in, unsigned char *out, cutt_flat_args args);
typedef void simt_window_kernel(const unsigned char *in, unsigned char *out, cutt_flat_window_args args);
typedef void simt_pass_kernel(const unsigned char *left, unsigned char *result, cutt_pass_args args,
                              const unsigned char *right);
typedef void simt_multiply_kernel(const unsigned char *left, unsigned char *result, cutt_multiply_args args,
                                  const unsigned char *right);
typedef void simt_panel_kernel(const unsigned char *left, unsigned char *result, cutt_panel_args args,
                               const unsigned char *right);

typedef void simt_core_kernel(const unsigned char *left, unsigned char *result, cutt_core_args args,
                              const unsigned char *right);

typedef void simt_sum_kernel(const unsigned char *left, unsigned char *result, cutt_sum_args args);

typedef void simt_join_kernel(const unsigned char *parts, unsigned char *result, cutt_join_args args);

typedef void simt_small_kernel(const unsigned char *left, unsigned char *result, cutt_small_args args,
                               const unsigned char *right);

typedef void simt_staged_kernel(const unsigned char *left, unsigned char *result, cutt_staged_args args);

typedef void simt_stretch_kernel(const unsigned char *left, unsigned char *result, cutt_stretch_args args);

typedef void simt_strip_kernel(const unsigned char *left, unsigned char *result, cutt_strip_args args,
                               const unsigned char *right);

typedef void simt_combine_kernel(const unsigned char *a, unsigned char *result, cutt_combine_args args,
                                 const unsigned char *b, const unsigned char *c);

/* Global memory that a kernel may touch. */
typedef struct simt_span {
  const unsigned char *low;
  size_t bytes;
} simt_span;

typedef struct simt_launch {
  simt_kernel *kernel;
  simt_batched_kernel *batched; /* runs instead if there are pairs */
  const cutt_pairs *pairs;
  simt_flat_kernel *flat_kernel; /* runs instead if there are parameters for it */
  const cutt_flat_args *flat;
  simt_window_kernel *window_kernel; /* the same */
  const cutt_flat_window_args *windows;
  simt_pass_kernel *pass_kernel;
  const cutt_pass_args *pass;
  simt_multiply_kernel *multiply_kernel;
  const cutt_multiply_args *multiply;
  simt_panel_kernel *panel_kernel;
  const cutt_panel_args *panel;
  simt_core_kernel *core_kernel;
  const cutt_core_args *core;
  simt_sum_kernel *sum_kernel;
  const cutt_sum_args *sum;
  simt_join_kernel *join_kernel;
  const cutt_join_args *join;
  simt_small_kernel *small_kernel;
  const cutt_small_args *small;
  simt_staged_kernel *staged_kernel;
  const cutt_staged_args *staged;
  simt_stretch_kernel *stretch_kernel;
  const cutt_stretch_args *stretch;
  simt_strip_kernel *strip_kernel;
  const cutt_strip_args *strip;
  simt_combine_kernel *combine_kernel;
  const cutt_combine_args *combine;
  const unsigned char *right, *third; /* its second operand and its third, and the spans of these */
  simt_span read_right, read_third;
  const unsigned char *in; /* the kernel's parameters */
  unsigned char *out;
  const cutt_kernel_args *args;
  uint32_t blocks, threads, shared_bytes;
  bool async, bulk;      /* has_async(), has_bulk() */
  bool early;            /* no thread may touch global memory before it waits for what is earlier in the stream */
  simt_span read, write; /* spans of input and output */
  bool reads_out;        /* the output may be read too */
  uint32_t shared_split; /* shared accesses below and from this byte on are counted apart */
  const uint32_t *only;  /* the blocks to run, only_count of them; NULL: all */
  uint32_t only_count;
} simt_launch;

/* Requests of warps to shared memory, and the wavefronts that they take: 32 banks of 4 bytes each, lanes that read the
 * same word served as one, 8-byte accesses by half warps and 16-byte ones by quarter warps. */
typedef struct simt_shared_counts {
  int64_t requests, wavefronts;
  int64_t ideal; /* wavefronts if no two words of a request met in a bank */
} simt_shared_counts;

/* A request is what the lanes of a warp ask for at one site, each for the k-th time since the last barrier. */
typedef struct simt_counts {
  int64_t load_requests, load_bytes; /* global memory; bytes that lanes asked for */
  int64_t store_requests, store_bytes;
  int64_t load_sectors, store_sectors; /* sectors of each request, added up */
  int64_t store_sectors_whole;         /* ... of which all 32 bytes were written by the request */
  /* Sectors that a block touches between two barriers, each once: what a tile costs when L1 (or L2) brings its requests
   * together, and no neighbour is at hand to share the sectors at its edges. */
  int64_t tile_load_sectors, tile_store_sectors, tile_store_sectors_whole;
  simt_shared_counts shared[2]; /* below shared_split; from there on */
  /* Added up over blocks: bytes of loads that all threads of the block have under way at once, a load ending with the
   * next store of its thread, and a copy that does not wait with its wait. */
  int64_t flight_bytes;
} simt_counts;

/* Runs a launch to its end. *written: bytes of the output that were written. counts is added to; NULL: nothing is
 * counted, which is faster. On false, error says what the first fault was, in which function, block and thread. */
bool simt_run(const simt_launch *launch, int64_t *written, simt_counts *counts, char *error, size_t size);

/* Frees the memory that is kept from launch to launch. */
void simt_cleanup(void);

#endif
