/* Copies of runs without tables (flat_copy.cu, flat_step.cu, flat_add.cu): the accesses of all runs are numbered, a thread has a batch of
 * them in flight, and works out from the number of each in which run it is and where that begins on both sides. Threads and blocks take
 * neighbours, so no run is too short for a warp, and nothing waits for a barrier. Of long runs a warp has a piece. */
#ifndef CUTT_GPU_KERNELS_FLAT_RUNS_H
#define CUTT_GPU_KERNELS_FLAT_RUNS_H

#include "flat_tile.h"

/* The kernel flat_<name>. For each access i of a thread, of which it has `most`, it loads `get` bytes into value[i] and stores `made`, an
 * expression of `bytes` bytes with value[i], to[i] bytes into the output. With each load it does `fetch`, a statement that may load more
 * into what `more` declares; both may be empty. From one access of a run to the next are run_in and run_out bytes. Of a piece of a run
 * to[i] is for `fetch` alone: the store works the place out again, so that no register keeps it. */
#define DEFINE_FLAT_RUNS(name, get, type, bytes, most, more, fetch, made, run_in, run_out)                             \
  KERNEL(cutt_flat_##name, CUTT_FLAT_THREADS, FLAT_BLOCKS)                                                             \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const uint32_t step = thread_count(), first = flat_number(&args) * (args.each * step) + thread_index();            \
    type value[most];                                                                                                  \
    int64_t to[most];                                                                                                  \
    more;                                                                                                              \
    wait_for_earlier(args.next_early);                                                                                 \
    if (args.run > 0) {                                                                                                \
      const flat_piece p = flat_piece_of(&args, run_in, run_out);                                                      \
      UNROLL(most)                                                                                                     \
      for (uint32_t i = 0; i < most; ++i) {                                                                            \
        if (i * CUTT_FLAT_LANES < p.left) {                                                                            \
          to[i] = p.at.out + (int64_t)(i * CUTT_FLAT_LANES) * run_out;                                                 \
          value[i] = global_load##get(in + (p.at.in + (int64_t)(i * CUTT_FLAT_LANES) * run_in));                       \
          fetch;                                                                                                       \
        }                                                                                                              \
      }                                                                                                                \
      UNROLL(most)                                                                                                     \
      for (uint32_t i = 0; i < most; ++i) {                                                                            \
        if (i * CUTT_FLAT_LANES < p.left)                                                                              \
          global_store##bytes(out + (p.at.out + (int64_t)(i * CUTT_FLAT_LANES) * run_out), made);                      \
      }                                                                                                                \
      return;                                                                                                          \
    }                                                                                                                  \
    UNROLL(most)                                                                                                       \
    for (uint32_t i = 0; i < most; ++i) {                                                                              \
      if (i >= args.each || first + i * step >= args.rows) break;                                                      \
      const flat_places p = flat_places_of(&args, first + i * step, run_in, run_out);                                  \
      to[i] = p.out;                                                                                                   \
      value[i] = global_load##get(in + p.in);                                                                          \
      fetch;                                                                                                           \
    }                                                                                                                  \
    UNROLL(most)                                                                                                       \
    for (uint32_t i = 0; i < most; ++i) {                                                                              \
      if (i < args.each && first + i * step < args.rows) global_store##bytes(out + to[i], made);                       \
    }                                                                                                                  \
  }

#endif
