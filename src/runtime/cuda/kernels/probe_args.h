/* What the host and the kernels that measure a device (probe.cu) agree on.
 *
 * A buffer to chase pointers in consists of windows, each with a chain of addresses for every lane. The cache lines of a
 * window are visited in random order and each once, so that no cache has them; but all lanes stay in the window, so that
 * the latency of memory is measured and not that of translating addresses. */
#ifndef CUTT_RUNTIME_CUDA_KERNELS_PROBE_ARGS_H
#define CUTT_RUNTIME_CUDA_KERNELS_PROBE_ARGS_H

#include <stdint.h>

/* X(name): cutt_<name> is a kernel that takes (const unsigned char *in, unsigned char *out, cutt_probe_args args). */
#define CUTT_PROBE_KERNELS(X) X(probe_chain) X(probe_chase) X(probe_shared) X(probe_read) X(probe_write) X(probe_empty)

enum {
  CUTT_PROBE_LINE = 128, /* bytes of a cache line */
  CUTT_PROBE_LANES = 32, /* of a warp */
  CUTT_PROBE_WINDOW_LINES = 1 << 15,
  /* Most accesses of a lane that probe_chase times: with the one behind them, half of a lane's chain. */
  CUTT_PROBE_ACCESSES = 511,
  /* Where probe_chase's cycles begin in the output, behind 8 bytes for each lane. */
  CUTT_PROBE_CYCLES_AT = 256,
  /* Words of a lane's chain in shared memory. */
  CUTT_PROBE_SHARED_WORDS = 32,
  /* Where probe_shared's cycles are in the output, behind 4 bytes for each lane. */
  CUTT_PROBE_SHARED_AT = 128,
  /* Threads of a block that makes chains, reads or writes. */
  CUTT_PROBE_THREADS = 256,
  /* Vectors of 16 bytes that a thread reads or writes. */
  CUTT_PROBE_VECTORS = 8,
  CUTT_PROBE_BLOCK_BYTES = CUTT_PROBE_THREADS * CUTT_PROBE_VECTORS * 16
};

/* As long as the parameters of a permutation (tests/simt/test_probe.c holds it to that), so that the launch of an empty
 * kernel takes as long as one of a plan's. */
enum { CUTT_PROBE_ARGS_BYTES = 2840 };

typedef struct cutt_probe_args {
  /* probe_chase, probe_shared: how many are timed. */
  uint32_t accesses;
  /* probe_chase: the place in the chains of the first lane's first cache line, a multiple of 32. */
  uint32_t place;
  /* probe_read: a sum of all words that is worth writing down; probe_write: what every word becomes. */
  uint32_t word;
  uint32_t unused[CUTT_PROBE_ARGS_BYTES / 4 - 3];
} cutt_probe_args;

#endif
