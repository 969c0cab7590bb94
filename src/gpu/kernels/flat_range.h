/* Tiles of which one side is one range of memory (flat_joined.cu): the range, and the gathers and scatters of the other side. */
#ifndef CUTT_GPU_KERNELS_FLAT_RANGE_H
#define CUTT_GPU_KERNELS_FLAT_RANGE_H

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
    const uint32_t tail = accesses * bytes + thread_index(); /* of a tile at the edge */                               \
    if (tail < length) shared_store1(tail, global_load1(from + tail));                                                 \
  }                                                                                                                    \
  DEVICE void flat_store_range##bytes(const cutt_flat_args *args, unsigned char *to, uint32_t length) {                \
    const uint32_t accesses = length / bytes;                                                                          \
    const flat_share s = flat_share_of(&args->stores);                                                                 \
    UNROLL(FLAT_BATCH_JOINED)                                                                                          \
    for (uint32_t access = s.along; access < accesses; access += args->stores.along_step) {                            \
      global_store##bytes(to + access * bytes, shared_load##bytes(access * bytes));                                    \
    }                                                                                                                  \
    const uint32_t tail = accesses * bytes + thread_index();                                                           \
    if (tail < length) global_store1(to + tail, shared_load1(tail));                                                   \
  }
DEFINE_FLAT_RANGE(4, uint32_t)
DEFINE_FLAT_RANGE(16, word4)

/* Elements that lie `pitch` bytes apart in shared memory: one, or as many as a word has. */
#define flat_get1(at, pitch) shared_load1(at)
#define flat_get2(at, pitch) shared_load2(at)
#define flat_get4(at, pitch) shared_load4(at)
#define flat_get8(at, pitch) shared_load8(at)
DEVICE uint32_t flat_get1of4(uint32_t at, uint32_t pitch) {
  return (uint32_t)shared_load1(at) | (uint32_t)shared_load1(at + pitch) << 8 |
         (uint32_t)shared_load1(at + 2 * pitch) << 16 | (uint32_t)shared_load1(at + 3 * pitch) << 24;
}
DEVICE uint32_t flat_get2of4(uint32_t at, uint32_t pitch) {
  return (uint32_t)shared_load2(at) | (uint32_t)shared_load2(at + pitch) << 16;
}
DEVICE word4 flat_get2of16(uint32_t at, uint32_t pitch) {
  const word4 v = {flat_get2of4(at, pitch), flat_get2of4(at + 2 * pitch, pitch), flat_get2of4(at + 4 * pitch, pitch),
                   flat_get2of4(at + 6 * pitch, pitch)};
  return v;
}
DEFINE_FLAT_STORE(1of1, 1, 1, uint8_t, FLAT_BATCH_JOINED, flat_get1)
DEFINE_FLAT_STORE(1of4, 1, 4, uint32_t, FLAT_BATCH_JOINED, flat_get1of4)
DEFINE_FLAT_STORE(2of2, 2, 2, uint16_t, FLAT_BATCH_JOINED, flat_get2)
DEFINE_FLAT_STORE(2of4, 2, 4, uint32_t, FLAT_BATCH_JOINED, flat_get2of4)
DEFINE_FLAT_STORE(2of16, 2, 16, word4, FLAT_BATCH_JOINED, flat_get2of16)
DEFINE_FLAT_STORE(4of4, 4, 4, uint32_t, FLAT_BATCH_JOINED, flat_get4)
DEFINE_FLAT_STORE(4of16, 4, 16, word4, FLAT_BATCH_JOINED, flat_get4w)
DEFINE_FLAT_STORE(8of8, 8, 8, word2, FLAT_BATCH_JOINED, flat_get8)
DEFINE_FLAT_STORE(8of16, 8, 16, word4, FLAT_BATCH_JOINED, flat_get8w)

/* And what a load brings to such places. */
#define flat_put1of1(v, at, pitch) shared_store1(at, v)
#define flat_put2of2(v, at, pitch) shared_store2(at, v)
#define flat_put4of4(v, at, pitch) shared_store4(at, v)
#define flat_put8of8(v, at, pitch) shared_store8(at, v)
DEVICE void flat_put1of4(uint32_t v, uint32_t at, uint32_t pitch) {
  shared_store1(at, (uint8_t)v);
  shared_store1(at + pitch, (uint8_t)(v >> 8));
  shared_store1(at + 2 * pitch, (uint8_t)(v >> 16));
  shared_store1(at + 3 * pitch, (uint8_t)(v >> 24));
}
DEVICE void flat_put1of8(word2 v, uint32_t at, uint32_t pitch) {
  flat_put1of4(v.x, at, pitch);
  flat_put1of4(v.y, at + 4 * pitch, pitch);
}
DEVICE void flat_put2of4(uint32_t v, uint32_t at, uint32_t pitch) {
  shared_store2(at, (uint16_t)v);
  shared_store2(at + pitch, (uint16_t)(v >> 16));
}
DEVICE void flat_put2of8(word2 v, uint32_t at, uint32_t pitch) {
  flat_put2of4(v.x, at, pitch);
  flat_put2of4(v.y, at + 2 * pitch, pitch);
}
DEVICE void flat_put4of16(word4 v, uint32_t at, uint32_t pitch) {
  shared_store4(at, v.x);
  shared_store4(at + pitch, v.y);
  shared_store4(at + 2 * pitch, v.z);
  shared_store4(at + 3 * pitch, v.w);
}
DEVICE void flat_put8of16(word4 v, uint32_t at, uint32_t pitch) {
  const word2 low = {v.x, v.y}, high = {v.z, v.w};
  shared_store8(at, low);
  shared_store8(at + pitch, high);
}

#define flat_put16of16(v, at, pitch) shared_store16(at, v)

#define DEFINE_FLAT_SCATTER(width, bytes, type, batch)                                                                 \
  DEVICE void flat_load_##width##of##bytes(const cutt_flat_args *args, const unsigned char *in, const flat_tile *t,    \
                                           bool single) {                                                              \
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
        if (at[i] != FLAT_NOWHERE) flat_put##width##of##bytes(value[i], at[i], args->pitch);                           \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_FLAT_SCATTER(1, 1, uint8_t, FLAT_BATCH)
DEFINE_FLAT_SCATTER(1, 4, uint32_t, FLAT_BATCH)
DEFINE_FLAT_SCATTER(1, 8, word2, FLAT_BATCH)
DEFINE_FLAT_SCATTER(2, 2, uint16_t, FLAT_BATCH)
DEFINE_FLAT_SCATTER(2, 4, uint32_t, FLAT_BATCH)
DEFINE_FLAT_SCATTER(2, 8, word2, FLAT_BATCH)
DEFINE_FLAT_SCATTER(4, 4, uint32_t, FLAT_BATCH)
DEFINE_FLAT_SCATTER(4, 16, word4, FLAT_BATCH_16)
DEFINE_FLAT_SCATTER(8, 8, word2, FLAT_BATCH_16)
DEFINE_FLAT_SCATTER(8, 16, word4, FLAT_BATCH_16)
DEFINE_FLAT_SCATTER(16, 16, word4, FLAT_BATCH_16)

#endif
