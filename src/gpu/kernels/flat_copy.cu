/* Copies of runs without tables: the accesses of all runs are numbered, a thread has a batch of them in flight, and works out
 * from the number of each in which run it is and where that begins on both sides. Threads and blocks take neighbours, so no
 * run is too short for a warp, and nothing waits for a barrier. */
#include "flat_tile.h"

#define DEFINE_FLAT_COPY(bytes, type)                                                                                  \
  KERNEL(cutt_flat_copy_##bytes, CUTT_FLAT_THREADS, FLAT_BLOCKS)                                                       \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const uint32_t step = thread_count(), first = flat_number(&args) * (args.each * step) + thread_index();                 \
    type value[CUTT_FLAT_COPIES];                                                                                      \
    int64_t to[CUTT_FLAT_COPIES];                                                                                      \
    wait_for_earlier(args.next_early);                                                                                 \
    UNROLL(CUTT_FLAT_COPIES)                                                                                           \
    for (uint32_t i = 0; i < CUTT_FLAT_COPIES; ++i) {                                                                  \
      if (i >= args.each || first + i * step >= args.rows) break;                                                      \
      const flat_places p = flat_places_of(&args, first + i * step, bytes);                                            \
      value[i] = global_load##bytes(in + p.in);                                                                        \
      to[i] = p.out;                                                                                                   \
    }                                                                                                                  \
    UNROLL(CUTT_FLAT_COPIES)                                                                                           \
    for (uint32_t i = 0; i < CUTT_FLAT_COPIES; ++i) {                                                                  \
      if (i < args.each && first + i * step < args.rows) global_store##bytes(out + to[i], value[i]);                   \
    }                                                                                                                  \
  }
DEFINE_FLAT_COPY(4, uint32_t)
DEFINE_FLAT_COPY(8, word2)
DEFINE_FLAT_COPY(16, word4)
