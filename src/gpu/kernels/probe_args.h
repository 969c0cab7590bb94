/* What the host and the kernels that measure a device (probe.cu) agree on. They take the parameters of all kernels, so
 * that the emulator runs them as it does the others and an empty launch weighs as much as a plan's; two fields of
 * cutt_kernel_args mean something to them:
 *
 *   kernel        tiles                              block_tiles
 *   probe_chase   accesses that are timed            place of the first lane's first line, a multiple of 32
 *   probe_shared  accesses
 *   probe_read    a sum that is worth writing down
 *   probe_write   what every word becomes
 *
 * A buffer to chase in consists of windows, each with a chain for every lane. Lines of a window are visited in random
 * order and each once, so that no cache has them, but all lanes stay in the window, so that it is memory's latency that
 * is measured and not that of translating addresses. */
#ifndef CUTT_GPU_KERNELS_PROBE_ARGS_H
#define CUTT_GPU_KERNELS_PROBE_ARGS_H

enum {
  CUTT_PROBE_LINE = 128,
  CUTT_PROBE_LANES = 32,
  CUTT_PROBE_WINDOW_LINES = 1 << 15,
  CUTT_PROBE_ACCESSES = 511,    /* most of a lane that probe_chase times: with the one behind, half of a lane's chain */
  CUTT_PROBE_CYCLES_AT = 256,   /* where probe_chase's cycles begin in the output, behind 8 bytes for each lane */
  CUTT_PROBE_SHARED_WORDS = 32, /* of a lane's chain in shared memory */
  CUTT_PROBE_SHARED_AT = 128,   /* where probe_shared's cycles are, behind 4 bytes for each lane */
  CUTT_PROBE_THREADS = 256,     /* of a block that chains, reads or writes */
  CUTT_PROBE_UNITS = 8,         /* of 16 bytes that a thread reads or writes */
  CUTT_PROBE_BLOCK_BYTES = CUTT_PROBE_THREADS * CUTT_PROBE_UNITS * 16
};

#endif
