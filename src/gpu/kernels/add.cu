/* The kernels of tile.cu with alpha, op and beta (scale.h): the output is read before it is written.
 *
 * That is a third stream of memory, which has to be in flight too. Stores may alias loads, so that no load moves ahead of one
 * by itself: a thread loads a batch of what the output holds before it stores any of it, and the first batch of a tile before
 * it asks for the rows of a later tile and waits for this one's. Other blocks of the SM fill the time between two batches. */
#include "scale_types.h"

#define DEFINE_ADD(name, unaligned, lengthy, bytes, word, accesses, begin, get, sum, load, put, batch)                 \
  typedef struct batch_##name {                                                                                        \
    word before[batch];                                                                                                \
  } batch_##name;                                                                                                      \
  /* What the output holds at an access of the columns `column`, `column` + step and so on. */                         \
  DEVICE void fetch_##name(const cutt_kernel_args *args, const tile_now *now, const unsigned char *base,               \
                           uint32_t column, uint32_t step, batch_##name *b) {                                          \
    const uint32_t entry = now->columns_at + column * CUTT_COLUMN_ENTRY;                                               \
    if (args->near_out) {                                                                                              \
      UNROLL(batch)                                                                                                    \
      for (uint32_t i = 0; i < batch; ++i) {                                                                           \
        if (column + i * step >= now->columns) continue;                                                               \
        const word2 offset = shared_load8(entry + i * step * CUTT_COLUMN_ENTRY);                                       \
        b->before[i] = load##_line##bytes(base + join_words(offset.x, offset.y));                                      \
      }                                                                                                                \
    } else {                                                                                                           \
      UNROLL(batch)                                                                                                    \
      for (uint32_t i = 0; i < batch; ++i) {                                                                           \
        if (column + i * step >= now->columns) continue;                                                               \
        const word2 offset = shared_load8(entry + i * step * CUTT_COLUMN_ENTRY);                                       \
        b->before[i] = load##bytes(base + join_words(offset.x, offset.y));                                             \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  /* The same at the accesses `access`, `access` + step and so on of one column. */                                    \
  DEVICE void fetch_along_##name(const unsigned char *column, uint32_t access, uint32_t count, uint32_t step,          \
                                 batch_##name *b) {                                                                    \
    UNROLL(batch)                                                                                                      \
    for (uint32_t i = 0; i < batch; ++i) {                                                                             \
      if (access + i * step < count) b->before[i] = load##bytes(column + (access + i * step) * bytes);                 \
    }                                                                                                                  \
  }                                                                                                                    \
  DEVICE void fetch_first_##name(const cutt_kernel_args *args, const unsigned char *out, uint32_t tile, share s,       \
                                 batch_##name *b) {                                                                    \
    const tile_now of_tile = read_tile(tile * CUTT_TILE_ENTRY), *const now = &of_tile;                                 \
    if (s.along >= (accesses)) return;                                                                                 \
    if (lengthy && now->columns <= s.across_step) {                                                                    \
      if (s.across >= now->columns) return;                                                                            \
      const word2 offset = shared_load8(now->columns_at + s.across * CUTT_COLUMN_ENTRY);                               \
      fetch_along_##name(out + (args->second + now->out + join_words(offset.x, offset.y)), s.along, accesses, s.along_step, b);       \
    } else {                                                                                                           \
      fetch_##name(args, now, out + (args->second + now->out + s.along * bytes), s.across, s.across_step, b);          \
    }                                                                                                                  \
  }                                                                                                                    \
  /* A single column of the thread's. */                                                                               \
  DEVICE void add_along_##name(const cutt_kernel_args *args, unsigned char *out, const tile_now *now,                  \
                               const unsigned char *in, uint32_t stage_at, share s, batch_##name *b) {                 \
    (void)in;                                                                                                          \
    if (s.across >= now->columns) return;                                                                              \
    const column_entry c = read_column(now->columns_at + s.across * CUTT_COLUMN_ENTRY);                                \
    unsigned char *const column = out + (now->out + c.global);                                                         \
    const uint32_t count = accesses, step = s.along_step;                                                              \
    for (uint32_t first = s.along; first < count; first += batch * step) {                                             \
      if (first != s.along) fetch_along_##name(column + args->second, first, count, step, b);                                         \
      UNROLL(batch)                                                                                                    \
      for (uint32_t i = 0; i < batch; ++i) {                                                                           \
        const uint32_t access = first + i * step;                                                                      \
        if (access >= count) continue;                                                                                 \
        begin;                                                                                                         \
        b->before[i] = sum(&args->scale, get, b->before[i], true);                                                             \
      }                                                                                                                \
      UNROLL(batch)                                                                                                    \
      for (uint32_t i = 0; i < batch; ++i) {                                                                           \
        if (first + i * step < count) put##bytes(column + (first + i * step) * bytes, b->before[i]);                   \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  DEVICE void add_columns_##name(const cutt_kernel_args *args, unsigned char *out, const tile_now *now,                \
                                 const unsigned char *in, uint32_t stage_at, share s, batch_##name *b) {               \
    (void)in;                                                                                                          \
    const uint32_t columns = now->columns, step = s.across_step;                                                       \
    for (uint32_t access = s.along; access < (accesses); access += s.along_step) {                                     \
      unsigned char *const base = out + (now->out + access * bytes);                                                   \
      begin;                                                                                                           \
      for (uint32_t column = s.across; column < columns; column += batch * step) {                                     \
        const uint32_t entry = now->columns_at + column * CUTT_COLUMN_ENTRY;                                           \
        if (access != s.along || column != s.across) fetch_##name(args, now, base + args->second, column, step, b);    \
        unsigned char *to[batch];                                                                                      \
        UNROLL(batch)                                                                                                  \
        for (uint32_t i = 0; i < batch; ++i) {                                                                         \
          if (column + i * step >= columns) continue;                                                                  \
          const column_entry c = read_column(entry + i * step * CUTT_COLUMN_ENTRY);                                    \
          to[i] = base + c.global;                                                                                     \
          b->before[i] = sum(&args->scale, get, b->before[i], true);                                                           \
        }                                                                                                              \
        UNROLL(batch)                                                                                                  \
        for (uint32_t i = 0; i < batch; ++i) {                                                                         \
          if (column + i * step < columns) put##bytes(to[i], b->before[i]);                                            \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  DEVICE void add_##name(const cutt_kernel_args *args, unsigned char *out, const tile_now *now,                        \
                         const unsigned char *in, uint32_t stage_at, share s, batch_##name *b) {                       \
    if (lengthy && now->columns <= s.across_step) {                                                                    \
      add_along_##name(args, out, now, in, stage_at, s, b);                                                            \
    } else {                                                                                                           \
      add_columns_##name(args, out, now, in, stage_at, s, b);                                                          \
    }                                                                                                                  \
  }                                                                                                                    \
  DEFINE_KERNEL(add_##name, unaligned, !lengthy, batch_##name b;                                                       \
                if (i >= ahead) fetch_first_##name(&args, out, i - ahead, stores, &b),                                 \
                add_##name(&args, out, &now, in, stage_at, stores, &b))
SCALE_ALL(DEFINE_ADD)
