/* The kernels without tables where one side has a few elements only, such as the colours of pixels, which lie one behind the
 * other: rows in the input (flat_in_*), or columns in the output (flat_out_*). That side of a tile is one range of memory,
 * moved 16 bytes at a time, and lies in shared memory as it does outside; the other side has a few long runs, accessed by
 * words, whose elements are gathered from their places in the range, or scattered to them. */
#include "flat_tile.h"

enum { FLAT_BATCH_JOINED = 4 };

/* The range, from one side to the other: between global memory and the same bytes of shared memory. */
#define DEFINE_FLAT_RANGE(bytes, type)                                                                                 \
  DEVICE void flat_load_range##bytes(const cutt_flat_args *args, const unsigned char *from, uint32_t length) {         \
    const uint32_t accesses = length / bytes, step = args->loads.along_step;                                           \
    const flat_share s = flat_share_of(&args->loads);                                                                  \
    for (uint32_t access = s.along; access < accesses; access += FLAT_BATCH_JOINED * step) {                           \
      type value[FLAT_BATCH_JOINED];                                                                                   \
      UNROLL(FLAT_BATCH_JOINED)                                                                                        \
      for (uint32_t i = 0; i < FLAT_BATCH_JOINED; ++i) {                                                               \
        if (access + i * step < accesses) value[i] = global_load##bytes(from + (access + i * step) * bytes);           \
      }                                                                                                                \
      UNROLL(FLAT_BATCH_JOINED)                                                                                        \
      for (uint32_t i = 0; i < FLAT_BATCH_JOINED; ++i) {                                                               \
        if (access + i * step < accesses) shared_store##bytes((access + i * step) * bytes, value[i]);                  \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  DEVICE void flat_store_range##bytes(const cutt_flat_args *args, unsigned char *to, uint32_t length) {                \
    const uint32_t accesses = length / bytes;                                                                          \
    const flat_share s = flat_share_of(&args->stores);                                                                 \
    UNROLL(FLAT_BATCH_JOINED)                                                                                          \
    for (uint32_t access = s.along; access < accesses; access += args->stores.along_step) {                            \
      global_store##bytes(to + access * bytes, shared_load##bytes(access * bytes));                                    \
    }                                                                                                                  \
  }
DEFINE_FLAT_RANGE(4, uint32_t)
DEFINE_FLAT_RANGE(16, word4)

/* Elements that lie `pitch` bytes apart in shared memory, as a word. */
DEVICE uint32_t flat_get1e(uint32_t at, uint32_t pitch) {
  return (uint32_t)shared_load1(at) | (uint32_t)shared_load1(at + pitch) << 8 |
         (uint32_t)shared_load1(at + 2 * pitch) << 16 | (uint32_t)shared_load1(at + 3 * pitch) << 24;
}
DEVICE uint32_t flat_get2e(uint32_t at, uint32_t pitch) {
  return (uint32_t)shared_load2(at) | (uint32_t)shared_load2(at + pitch) << 16;
}
#define flat_get4e(at, pitch) shared_load4(at)
#define flat_get8e(at, pitch) shared_load8(at)
DEFINE_FLAT_STORE(1e, 1, 4, uint32_t, FLAT_BATCH_JOINED, flat_get1e)
DEFINE_FLAT_STORE(2e, 2, 4, uint32_t, FLAT_BATCH_JOINED, flat_get2e)
DEFINE_FLAT_STORE(4e, 4, 4, uint32_t, FLAT_BATCH_JOINED, flat_get4e)
DEFINE_FLAT_STORE(8e, 8, 8, word2, FLAT_BATCH_JOINED, flat_get8e)

/* And a word's elements to such places. */
DEVICE void flat_put1e(uint32_t v, uint32_t at, uint32_t pitch) {
  shared_store1(at, (uint8_t)v);
  shared_store1(at + pitch, (uint8_t)(v >> 8));
  shared_store1(at + 2 * pitch, (uint8_t)(v >> 16));
  shared_store1(at + 3 * pitch, (uint8_t)(v >> 24));
}
DEVICE void flat_put2e(uint32_t v, uint32_t at, uint32_t pitch) {
  shared_store2(at, (uint16_t)v);
  shared_store2(at + pitch, (uint16_t)(v >> 16));
}
#define flat_put4e(v, at, pitch) shared_store4(at, v)
#define flat_put8e(v, at, pitch) shared_store8(at, v)

#define DEFINE_FLAT_SCATTER(name, width, bytes, type, batch)                                                           \
  DEVICE void flat_load_##name(const cutt_flat_args *args, const unsigned char *in, const flat_tile *t, bool single) { \
    const uint32_t accesses = t->row_bytes / bytes;                                                                    \
    const flat_share s = flat_share_of(&args->loads);                                                                  \
    const unsigned char *const from = in + t->in;                                                                      \
    uint32_t access = s.along, run = s.across;                                                                         \
    if (run >= t->rows) return;                                                                                        \
    while (access < accesses) {                                                                                        \
      type value[batch];                                                                                               \
      uint32_t at[batch];                                                                                              \
      FLAT_WALK(batch, t->rows, &args->loads,                                                                          \
                value[i] = global_load##bytes(from + (flat_offset(&args->row, run, single) + access * bytes));         \
                at[i] = access * (bytes / width) * args->pitch + run * width)                                          \
      UNROLL(batch)                                                                                                    \
      for (uint32_t i = 0; i < batch; ++i) {                                                                           \
        if (at[i] != FLAT_NOWHERE) flat_put##name(value[i], at[i], args->pitch);                                       \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_FLAT_SCATTER(1e, 1, 4, uint32_t, FLAT_BATCH)
DEFINE_FLAT_SCATTER(2e, 2, 4, uint32_t, FLAT_BATCH)
DEFINE_FLAT_SCATTER(4e, 4, 4, uint32_t, FLAT_BATCH)
DEFINE_FLAT_SCATTER(8e, 8, 8, word2, FLAT_BATCH)

#define FLAT_JOINED(width)                                                                                             \
  KERNEL(cutt_flat_in_##width, CUTT_FLAT_THREADS, FLAT_BLOCKS)                                                         \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const flat_tile t = flat_tile_of(&args, block_index());                                                            \
    if (args.range_log2 == 4) {                                                                                        \
      flat_load_range16(&args, in + t.in, t.rows * t.row_bytes);                                                       \
    } else {                                                                                                           \
      flat_load_range4(&args, in + t.in, t.rows * t.row_bytes);                                                        \
    }                                                                                                                  \
    barrier();                                                                                                         \
    if (args.column.modes == 1) {                                                                                      \
      flat_store_##width##e(&args, out, &t, true);                                                                     \
    } else {                                                                                                           \
      flat_store_##width##e(&args, out, &t, false);                                                                    \
    }                                                                                                                  \
  }                                                                                                                    \
  KERNEL(cutt_flat_out_##width, CUTT_FLAT_THREADS, FLAT_BLOCKS)                                                        \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_flat_args) args) {                                       \
    const flat_tile t = flat_tile_of(&args, block_index());                                                            \
    if (args.row.modes == 1) {                                                                                         \
      flat_load_##width##e(&args, in, &t, true);                                                                       \
    } else {                                                                                                           \
      flat_load_##width##e(&args, in, &t, false);                                                                      \
    }                                                                                                                  \
    barrier();                                                                                                         \
    if (args.range_log2 == 4) {                                                                                        \
      flat_store_range16(&args, out + t.out, t.rows * t.row_bytes);                                                    \
    } else {                                                                                                           \
      flat_store_range4(&args, out + t.out, t.rows * t.row_bytes);                                                     \
    }                                                                                                                  \
  }
FLAT_JOINED(1)
FLAT_JOINED(2)
FLAT_JOINED(4)
FLAT_JOINED(8)
