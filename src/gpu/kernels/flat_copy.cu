/* Copies of runs without tables: the accesses of all runs are numbered, a thread has a batch of them in flight, and works out
 * from the number of each in which run it is and where that begins on both sides. Threads and blocks take neighbours, so no
 * run is too short for a warp, and nothing waits for a barrier. Of long runs a warp has a piece. */
#include "flat_tile.h"

#define DEFINE_FLAT_COPY(bytes, type, most)                                                                            \
  KERNEL(cutt_flat_copy_##bytes, CUTT_FLAT_THREADS, FLAT_BLOCKS)                                                       \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const uint32_t step = thread_count(), first = flat_number(&args) * (args.each * step) + thread_index();            \
    type value[most];                                                                                                  \
    int64_t to[most];                                                                                                  \
    wait_for_earlier(args.next_early);                                                                                 \
    if (args.run > 0) {                                                                                                \
      const flat_piece p = flat_piece_of(&args, bytes, bytes);                                                                \
      UNROLL(most)                                                                                                     \
      for (uint32_t i = 0; i < most; ++i) {                                                                            \
        if (i * CUTT_FLAT_LANES < p.left) value[i] = global_load##bytes(in + p.at.in + i * CUTT_FLAT_LANES * bytes);   \
      }                                                                                                                \
      UNROLL(most)                                                                                                     \
      for (uint32_t i = 0; i < most; ++i) {                                                                            \
        if (i * CUTT_FLAT_LANES < p.left) global_store##bytes(out + p.at.out + i * CUTT_FLAT_LANES * bytes, value[i]); \
      }                                                                                                                \
      return;                                                                                                          \
    }                                                                                                                  \
    UNROLL(most)                                                                                                       \
    for (uint32_t i = 0; i < most; ++i) {                                                                              \
      if (i >= args.each || first + i * step >= args.rows) break;                                                      \
      const flat_places p = flat_places_of(&args, first + i * step, bytes, bytes);                                            \
      value[i] = global_load##bytes(in + p.in);                                                                        \
      to[i] = p.out;                                                                                                   \
    }                                                                                                                  \
    UNROLL(most)                                                                                                       \
    for (uint32_t i = 0; i < most; ++i) {                                                                              \
      if (i < args.each && first + i * step < args.rows) global_store##bytes(out + to[i], value[i]);                   \
    }                                                                                                                  \
  }
DEFINE_FLAT_COPY(1, uint8_t, CUTT_FLAT_NARROW)
DEFINE_FLAT_COPY(2, uint16_t, CUTT_FLAT_NARROW)
DEFINE_FLAT_COPY(4, uint32_t, CUTT_FLAT_NARROW)
DEFINE_FLAT_COPY(8, word2, CUTT_FLAT_COPIES)
DEFINE_FLAT_COPY(16, word4, CUTT_FLAT_COPIES)
