/* Copies of runs without tables: the accesses of all runs are numbered, a thread has a batch of them in flight, and works out
 * from the number of each in which run it is and where that begins on both sides. Threads and blocks take neighbours, so no
 * run is too short for a warp, and nothing waits for a barrier. */
#include "flat_tile.h"

typedef struct flat_places {
  int64_t in, out;
} flat_places;

/* Of access number n: the digits of its run's number are those of a tile's in the other kernels. */
DEVICE flat_places flat_places_of(const cutt_flat_args *args, uint32_t n, uint32_t bytes) {
  uint32_t number = flat_divide(n, args->loads.along);
  const int64_t inside = (int64_t)(n - number * args->loads.along.by) * bytes;
  flat_places p = {inside, inside};
  UNROLL(CUTT_FLAT_GRID)
  for (uint32_t i = 0; i < CUTT_FLAT_GRID; ++i) {
    if (i >= args->grid_modes) break;
    const uint32_t rest = flat_divide(number, args->grid[i].extent);
    const int32_t digit = (int32_t)(number - rest * args->grid[i].extent.by);
    p.in += (int64_t)digit * args->grid[i].in;
    p.out += (int64_t)digit * args->grid[i].out;
    number = rest;
  }
  return p;
}

#define DEFINE_FLAT_COPY(bytes, type)                                                                                  \
  KERNEL(cutt_flat_copy_##bytes, CUTT_FLAT_THREADS, FLAT_BLOCKS)                                                       \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const uint32_t step = thread_count(), first = block_index() * (CUTT_FLAT_COPIES * step) + thread_index();          \
    type value[CUTT_FLAT_COPIES];                                                                                      \
    int64_t to[CUTT_FLAT_COPIES];                                                                                      \
    UNROLL(CUTT_FLAT_COPIES)                                                                                           \
    for (uint32_t i = 0; i < CUTT_FLAT_COPIES; ++i) {                                                                  \
      if (first + i * step >= args.rows) continue;                                                                     \
      const flat_places p = flat_places_of(&args, first + i * step, bytes);                                            \
      value[i] = global_load##bytes(in + p.in);                                                                        \
      to[i] = p.out;                                                                                                   \
    }                                                                                                                  \
    UNROLL(CUTT_FLAT_COPIES)                                                                                           \
    for (uint32_t i = 0; i < CUTT_FLAT_COPIES; ++i) {                                                                  \
      if (first + i * step < args.rows) global_store##bytes(out + to[i], value[i]);                                    \
    }                                                                                                                  \
  }
DEFINE_FLAT_COPY(4, uint32_t)
DEFINE_FLAT_COPY(8, word2)
DEFINE_FLAT_COPY(16, word4)
