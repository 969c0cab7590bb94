/* Copies of runs without tables (flat_copy.cu, flat_step.cu): the accesses of all runs are numbered, a thread has a batch of them in flight,
 * and works out from the number of each in which run it is and where that begins on both sides. Threads and blocks take neighbours, so
 * no run is too short for a warp, and nothing waits for a barrier. Of long runs a warp has a piece. */
#ifndef CUTT_GPU_KERNELS_FLAT_RUNS_H
#define CUTT_GPU_KERNELS_FLAT_RUNS_H

#include "flat_tile.h"

/* The kernel flat_<name>: `get` bytes are loaded for each access, and made(value), of so many bytes, is stored. From one access of a
 * run to the next are run_in and run_out bytes. most: accesses of a thread. */
#define DEFINE_FLAT_RUNS(name, get, type, bytes, most, made, run_in, run_out)                                          \
  KERNEL(cutt_flat_##name, CUTT_FLAT_THREADS, FLAT_BLOCKS)                                                             \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const uint32_t step = thread_count(), first = flat_number(&args) * (args.each * step) + thread_index();            \
    type value[most];                                                                                                  \
    int64_t to[most];                                                                                                  \
    wait_for_earlier(args.next_early);                                                                                 \
    if (args.run > 0) {                                                                                                \
      const flat_piece p = flat_piece_of(&args, run_in, run_out);                                                      \
      UNROLL(most)                                                                                                     \
      for (uint32_t i = 0; i < most; ++i) {                                                                            \
        if (i * CUTT_FLAT_LANES < p.left)                                                                              \
          value[i] = global_load##get(in + (p.at.in + (int64_t)(i * CUTT_FLAT_LANES) * run_in));                       \
      }                                                                                                                \
      UNROLL(most)                                                                                                     \
      for (uint32_t i = 0; i < most; ++i) {                                                                            \
        if (i * CUTT_FLAT_LANES < p.left)                                                                              \
          global_store##bytes(out + (p.at.out + (int64_t)(i * CUTT_FLAT_LANES) * run_out), made(value[i]));            \
      }                                                                                                                \
      return;                                                                                                          \
    }                                                                                                                  \
    UNROLL(most)                                                                                                       \
    for (uint32_t i = 0; i < most; ++i) {                                                                              \
      if (i >= args.each || first + i * step >= args.rows) break;                                                      \
      const flat_places p = flat_places_of(&args, first + i * step, run_in, run_out);                                  \
      value[i] = global_load##get(in + p.in);                                                                          \
      to[i] = p.out;                                                                                                   \
    }                                                                                                                  \
    UNROLL(most)                                                                                                       \
    for (uint32_t i = 0; i < most; ++i) {                                                                              \
      if (i < args.each && first + i * step < args.rows) global_store##bytes(out + to[i], made(value[i]));             \
    }                                                                                                                  \
  }

#define AS_IT_IS(value) value

#endif
