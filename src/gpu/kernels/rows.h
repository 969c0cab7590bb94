/* Reading a tile: its rows, from global to shared memory. */
#ifndef CUTT_GPU_KERNELS_ROWS_H
#define CUTT_GPU_KERNELS_ROWS_H

#include "async.h" /* the runtime's: src/runtime/cuda/kernels */
#include "tables.h"

enum { BATCH = 4 }; /* independent accesses of a thread that are under way at once */

#define DEFINE_LOAD_ROWS(bytes, type)                                                                                  \
  DEVICE void load_rows##bytes(const cutt_kernel_args *args, const unsigned char *in, const tile_now *now,             \
                               uint32_t stage_at, share s) {                                                           \
    const uint32_t accesses = now->row_bytes / bytes, rows = now->rows, step = s.across_step;                          \
    for (uint32_t access = s.along; access < accesses; access += s.along_step) {                                       \
      const unsigned char *const base = in + (now->in + access * bytes);                                               \
      uint32_t row = s.across, to = stage_at + row * args->pitch + access * bytes;                                     \
      uint32_t entry = args->rows_at + row * CUTT_ROW_ENTRY;                                                           \
      for (; row + (BATCH - 1) * step < rows; row += BATCH * step) {                                                   \
        const unsigned char *from[BATCH];                                                                              \
        UNROLL(BATCH)                                                                                                  \
        for (int i = 0; i < BATCH; ++i) {                                                                              \
          const word2 offset = shared_load8(entry);                                                                    \
          from[i] = base + join_words(offset.x, offset.y);                                                             \
          entry += step * CUTT_ROW_ENTRY;                                                                              \
        }                                                                                                              \
        if (has_async()) {                                                                                             \
          UNROLL(BATCH)                                                                                                \
          for (int i = 0; i < BATCH; ++i) {                                                                            \
            async_copy##bytes(to, from[i], args->near);                                                                \
            to += step * args->pitch;                                                                                  \
          }                                                                                                            \
        } else {                                                                                                       \
          type value[BATCH];                                                                                           \
          UNROLL(BATCH)                                                                                                \
          for (int i = 0; i < BATCH; ++i) value[i] = global_load##bytes(from[i]);                                      \
          UNROLL(BATCH)                                                                                                \
          for (int i = 0; i < BATCH; ++i) {                                                                            \
            shared_store##bytes(to, value[i]);                                                                         \
            to += step * args->pitch;                                                                                  \
          }                                                                                                            \
        }                                                                                                              \
      }                                                                                                                \
      for (; row < rows; row += step) {                                                                                \
        const word2 offset = shared_load8(entry);                                                                      \
        const unsigned char *const from = base + join_words(offset.x, offset.y);                                       \
        if (has_async()) {                                                                                             \
          async_copy##bytes(to, from, args->near);                                                                     \
        } else {                                                                                                       \
          shared_store##bytes(to, global_load##bytes(from));                                                           \
        }                                                                                                              \
        entry += step * CUTT_ROW_ENTRY;                                                                                \
        to += step * args->pitch;                                                                                      \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_LOAD_ROWS(4, uint32_t)
DEFINE_LOAD_ROWS(8, word2)
DEFINE_LOAD_ROWS(16, word4)

/* Rows that begin at any byte, word by word. A word that reaches past the input's bytes is read byte by byte; of many inputs,
 * one that reaches past the row, since what is next to it may be nobody's. later: bytes that rows begin behind whole ones. */
DEVICE void load_rows_unaligned(const cutt_kernel_args *args, const unsigned char *in, const tile_now *now,
                                uint32_t stage_at, uint32_t later, share s) {
  const uint32_t words = (now->row_bytes + 6) / 4;
  at_turn(0);
  for (uint32_t word = s.along; word < words; word += s.along_step) {
    UNROLL(4)
    for (uint32_t row = s.across; row < now->rows; row += s.across_step) {
      at_turn(1 + (word - s.along) / s.along_step * now->rows + (row - s.across) / s.across_step);
      const word2 offset = shared_load8(args->rows_at + row * CUTT_ROW_ENTRY);
      const unsigned char *const begin = in + (now->in + join_words(offset.x, offset.y) + later);
      const uint32_t phase = (uint32_t)(uintptr_t)begin & 3, whole_phase = (phase - later) & 3;
      if (word * 4 >= phase + now->row_bytes) continue;
      const unsigned char *const from = begin - phase + word * 4;
      const unsigned char *const low = PAIRED ? begin : in + args->in_low;
      const unsigned char *const high = PAIRED ? begin + now->row_bytes : in + args->in_high;
      const uint32_t to = stage_at + row * args->pitch + ((whole_phase + later) & ~3u) + word * 4;
      if (from >= low && from + 4 <= high) {
        if (has_async()) {
          async_copy4(to, from, args->near);
        } else {
          shared_store4(to, global_load4(from));
        }
      } else {
        for (uint32_t i = 0; i < 4; ++i) {
          if (from + i >= begin && from + i < begin + now->row_bytes) shared_store1(to + i, global_load1(from + i));
        }
      }
    }
  }
  at_turn(0);
}

/* What rows with gaps have behind their last whole load of `bytes` bytes, as they end with an element: nothing behind it is read. */
DEVICE void load_tails(const cutt_kernel_args *args, const unsigned char *in, const tile_now *now, uint32_t stage_at,
                       uint32_t bytes) {
  const uint32_t tail = now->row_bytes & (bytes - 1), from = now->row_bytes - tail;
  UNROLL(1)
  for (uint32_t row = thread_index(); row < now->rows && tail > 0; row += thread_count()) {
    const word2 offset = shared_load8(args->rows_at + row * CUTT_ROW_ENTRY);
    const unsigned char *p = in + (now->in + join_words(offset.x, offset.y) + from);
    uint32_t to = stage_at + row * args->pitch + from;
    if (tail & 8) {
      async_copy8(to, p, false);
      to += 8;
      p += 8;
    }
    if (tail & 4) {
      async_copy4(to, p, false);
      to += 4;
      p += 4;
    }
    if (tail & 3) async_copy4_part(to, p, tail & 3);
  }
}

DEVICE void load_rows(const cutt_kernel_args *args, const unsigned char *in, const tile_now *now, uint32_t stage_at,
                      share s, bool unaligned, bool tails) {
  const uint32_t later = args->whole_row > 0 ? args->whole_row - now->row_bytes : 0;
  if (unaligned && args->load_log2 == CUTT_LOAD_UNALIGNED) {
    load_rows_unaligned(args, in, now, stage_at, later, s);
  } else if (args->load_log2 == 4) {
    load_rows16(args, in + later, now, stage_at + later, s);
  } else if (args->load_log2 == 3) {
    load_rows8(args, in + later, now, stage_at + later, s);
  } else {
    load_rows4(args, in + later, now, stage_at + later, s);
  }
  if (tails && args->row_tails) load_tails(args, in + later, now, stage_at + later, 1u << args->load_log2);
}

#endif
