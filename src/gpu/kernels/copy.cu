/* Copy and TiledCopy: runs that are contiguous on both sides go straight from global to global memory. A tile is a number
 * of such runs, or a chunk of one; its tables hold where they begin on both sides (Eq. 2 and 3).
 * Several independent loads per thread keep memory busy; after the tables, nothing waits for a barrier. */
#include "tables.h"

/* What is left of runs whose length is no multiple of an access, byte by byte. */
DEVICE void copy_tails(const cutt_kernel_args *args, const unsigned char *in, unsigned char *out, const tile_now *now,
                       uint32_t tail) {
  for (uint32_t i = thread_index(); i < now->rows * tail; i += thread_count()) {
    const uint32_t row = i / tail, at = now->row_bytes - tail + i % tail;
    const word2 from = shared_load8(args->rows_at + row * CUTT_ROW_ENTRY);
    const word2 to = shared_load8(args->columns_at + row * CUTT_COLUMN_ENTRY);
    global_store1(out + join_words(to.x, to.y) + at, global_load1(in + join_words(from.x, from.y) + at));
  }
}

#define DEFINE_COPY(bytes, type, batch)                                                                                \
  /* One long run: the batch goes along it. */                                                                         \
  DEVICE void copy_run_##bytes(const unsigned char *in, unsigned char *out, uint32_t accesses) {                       \
    const uint32_t step = thread_count();                                                                              \
    for (uint32_t access = thread_index(); access < accesses; access += batch * step) {                                \
      const unsigned char *const from = in + (size_t)access * bytes;                                                   \
      unsigned char *const to = out + (size_t)access * bytes;                                                          \
      type value[batch];                                                                                               \
      UNROLL(batch)                                                                                                    \
      for (uint32_t i = 0; i < batch; ++i) {                                                                           \
        if (access + i * step < accesses) value[i] = global_load##bytes(from + (size_t)(i * step) * bytes);            \
      }                                                                                                                \
      UNROLL(batch)                                                                                                    \
      for (uint32_t i = 0; i < batch; ++i) {                                                                           \
        if (access + i * step < accesses) global_store##bytes(to + (size_t)(i * step) * bytes, value[i]);              \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  /* Many runs: the batch goes from run to run. */                                                                     \
  DEVICE void copy_rows_##bytes(const cutt_kernel_args *args, const unsigned char *in, unsigned char *out,             \
                                const tile_now *now, share s) {                                                        \
    const uint32_t accesses = now->row_bytes / bytes, rows = now->rows, step = s.across_step;                          \
    for (uint32_t access = s.along; access < accesses; access += s.along_step) {                                       \
      const unsigned char *const from = in + access * bytes;                                                           \
      unsigned char *const to = out + access * bytes;                                                                  \
      for (uint32_t row = s.across; row < rows; row += batch * step) {                                                 \
        const uint32_t from_at = args->rows_at + row * CUTT_ROW_ENTRY;                                                 \
        const uint32_t to_at = args->columns_at + row * CUTT_COLUMN_ENTRY;                                             \
        type value[batch];                                                                                             \
        UNROLL(batch)                                                                                                  \
        for (uint32_t i = 0; i < batch; ++i) {                                                                         \
          if (row + i * step >= rows) continue;                                                                        \
          const word2 offset = shared_load8(from_at + i * step * CUTT_ROW_ENTRY);                                      \
          value[i] = global_load##bytes(from + join_words(offset.x, offset.y));                                        \
        }                                                                                                              \
        UNROLL(batch)                                                                                                  \
        for (uint32_t i = 0; i < batch; ++i) {                                                                         \
          if (row + i * step >= rows) continue;                                                                        \
          const word2 offset = shared_load8(to_at + i * step * CUTT_COLUMN_ENTRY);                                     \
          global_store##bytes(to + join_words(offset.x, offset.y), value[i]);                                          \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  NAMED_KERNEL(KERNEL_NAME(copy_##bytes), CUTT_COPY_THREADS, CUTT_COPY_BLOCKS)                                         \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_kernel_args) args PAIRS_PARAMETER) {                     \
    const uint32_t tiles = fill_tables(&args, PAIRS, false);                                                           \
    wait_for_earlier(args.next_early);                                                                                 \
    if (tiles == 0) return;                                                                                            \
    const share s = share_of(args.load_along, args.load_rows);                                                         \
    barrier();                                                                                                         \
    for (uint32_t tile = 0; tile < tiles; ++tile) {                                                                    \
      const tile_now now = read_tile(tile * CUTT_TILE_ENTRY);                                                          \
      const uint32_t tail = now.row_bytes % bytes;                                                                     \
      if (now.rows == 1) {                                                                                             \
        copy_run_##bytes(in + now.in, out + now.out, now.row_bytes / bytes);                                           \
      } else {                                                                                                         \
        copy_rows_##bytes(&args, in + now.in, out + now.out, &now, s);                                                 \
      }                                                                                                                \
      if (tail > 0) copy_tails(&args, in + now.in, out + now.out, &now, tail);                                         \
    }                                                                                                                  \
  }
DEFINE_COPY(1, uint8_t, CUTT_COPY_LOADS)
DEFINE_COPY(2, uint16_t, CUTT_COPY_LOADS)
DEFINE_COPY(4, uint32_t, CUTT_COPY_LOADS)
DEFINE_COPY(8, word2, CUTT_COPY_LOADS)
DEFINE_COPY(16, word4, CUTT_COPY_LOADS_16)
