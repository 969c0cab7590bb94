/* Tiled, Packed and PackedSplit: a tile goes from global to shared memory row by row and from there to global memory
 * column by column (section 2.1 and 2.2 of the paper), so that both sides see long runs.
 *
 * One engine serves the three, since a mode is only a digit of its tables (tables.h). Against the original: tiles of a
 * block overlap, being fetched by asynchronous copies `stages` - 1 tiles ahead of the one that is written; a thread keeps
 * its place in the rows, and then its place in the columns, so that little is computed per access; the pitch of rows is
 * the host's choice, so that a warp's reads of a column fall into different banks; elements below four bytes are read and
 * written as words.
 *
 * Rows that are not aligned to words (odd extents of narrow elements, sub-tensors) are read in the words that they touch;
 * so a row lies in shared memory as far behind a word's beginning as it does in global memory: its phase. */
#include "columns.h"

/* Stored as they are loaded from shared memory. */
#define DEFINE_STORE_COLUMNS_WHOLE(bytes, type)                                                                        \
  DEFINE_STORE_COLUMNS(bytes, bytes, type, now->run, const uint32_t at = stage_at + read_run(args, access),            \
                       shared_load##bytes(at + c.shared), global_store##bytes)
DEFINE_STORE_COLUMNS_WHOLE(4, uint32_t)
DEFINE_STORE_COLUMNS_WHOLE(8, word2)
DEFINE_STORE_COLUMNS_WHOLE(16, word4)

/* The same over a link, where a request makes a packet of each line that it touches: lanes begin with a line, wherever the column
 * begins in it, so that no line makes two packets. */
enum { LINE = 128 };
#define DEFINE_STORE_COLUMNS_LINES(bytes)                                                                              \
  DEVICE void store_columns_##bytes##l(const cutt_kernel_args *args, unsigned char *out, const tile_now *now,          \
                                       const unsigned char *in, uint32_t stage_at, share s) {                          \
    (void)in;                                                                                                          \
    unsigned char *const base = out + now->out;                                                                        \
    for (uint32_t column = s.across; column < now->columns; column += s.across_step) {                                 \
      const column_entry c = read_column(now->columns_at + column * CUTT_COLUMN_ENTRY);                                \
      unsigned char *const begin = base + c.global;                                                                    \
      const uint32_t before = (uint32_t)((uintptr_t)begin % LINE) / bytes;                                             \
      for (uint32_t access = s.along; access < before + now->run; access += s.along_step) {                            \
        if (access < before) continue;                                                                                 \
        const uint32_t at = access - before;                                                                           \
        global_store##bytes(begin + at * bytes, shared_load##bytes(stage_at + read_run(args, at) + c.shared));         \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_STORE_COLUMNS_LINES(4)
DEFINE_STORE_COLUMNS_LINES(8)
DEFINE_STORE_COLUMNS_LINES(16)

#define DEFINE_STORE_COLUMNS_NARROW(bytes)                                                                             \
  DEFINE_STORE_COLUMNS(bytes, 4, uint32_t, now->run *bytes / 4,                                                        \
                       const gather g = gather_of(args, stage_at, access, 4 / bytes), gather##bytes(&g, c.shared),     \
                       global_store4)
DEFINE_STORE_COLUMNS_NARROW(1)
DEFINE_STORE_COLUMNS_NARROW(2)

/* The same from place `first` of the run on, where rows begin at any byte. phase: of the tile's first row, plus the
 * column's. */
DEVICE gather gather_of_unaligned(const cutt_kernel_args *args, uint32_t stage_at, uint32_t access, uint32_t first,
                                  uint32_t count, uint32_t phase) {
  gather g;
  g.rotation = access / (32 / count) & (count - 1);
  UNROLL(4)
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t entry = i < count ? read_run(args, first + ((i + g.rotation) & (count - 1))) : 0;
    g.at[i] = stage_at + (entry >> 2) + ((entry + phase) & 3);
  }
  return g;
}

/* Columns and rows that begin at any byte. `first`, of an access: the beginning of its word, in bytes from the column's.
 *
 * store_part: a word of which a column has only a part, load by load.
 * store_alike: an access of all columns of the thread, which begin at the same byte of a word and have all of this one; false,
 * with nothing done, if they do not.
 * store_each: the same, column by column. */
#define DEFINE_STORE_COLUMNS_UNALIGNED(bytes)                                                                          \
  DEVICE void store_part##bytes(const cutt_kernel_args *args, unsigned char *begin, int32_t first, int32_t run_bytes,  \
                                uint32_t shared_at, uint32_t phase) {                                                  \
    for (int32_t from = first; from < first + 4; from += bytes) {                                                      \
      if (from < 0 || from >= run_bytes) continue;                                                                     \
      const uint32_t entry = read_run(args, (uint32_t)from / bytes);                                                   \
      global_store##bytes(begin + from, shared_load##bytes(shared_at + (entry >> 2) + ((entry + phase) & 3)));         \
    }                                                                                                                  \
  }                                                                                                                    \
  DEVICE bool store_alike##bytes(const cutt_kernel_args *args, unsigned char *base, const tile_now *now, uint32_t access, \
                                 int32_t run_bytes, uint32_t stage_at, uint32_t phase, const share *s) {               \
    uint32_t column = s->across, entry = now->columns_at + column * CUTT_COLUMN_ENTRY;                                 \
    const int32_t before = (int32_t)((uintptr_t)(base + read_column(entry).global) & 3);                               \
    const int32_t first = (int32_t)(access * 4) - before;                                                              \
    if (first < 0 || first + 4 > run_bytes) return false;                                                              \
    const gather g = gather_of_unaligned(args, stage_at, access, (uint32_t)first / bytes, 4 / bytes, phase);           \
    UNROLL(BATCH)                                                                                                      \
    for (; column < now->columns; column += s->across_step) {                                                          \
      const column_entry c = read_column(entry);                                                                       \
      global_store4(base + (c.global + first), gather##bytes(&g, c.shared));                                           \
      entry += s->across_step * CUTT_COLUMN_ENTRY;                                                                     \
    }                                                                                                                  \
    return true;                                                                                                       \
  }                                                                                                                    \
  DEVICE void store_each##bytes(const cutt_kernel_args *args, unsigned char *base, const tile_now *now, uint32_t access, \
                                int32_t run_bytes, uint32_t stage_at, uint32_t phase, const share *s) {                \
    uint32_t entry = now->columns_at + s->across * CUTT_COLUMN_ENTRY;                                                  \
    for (uint32_t column = s->across; column < now->columns; column += s->across_step) {                               \
      const column_entry c = read_column(entry);                                                                       \
      unsigned char *const begin = base + c.global;                                                                    \
      const int32_t first = (int32_t)(access * 4) - (int32_t)((uintptr_t)begin & 3);                                   \
      entry += s->across_step * CUTT_COLUMN_ENTRY;                                                                     \
      if (first >= run_bytes) continue;                                                                                \
      if (first >= 0 && first + 4 <= run_bytes) {                                                                      \
        const gather g =                                                                                               \
            gather_of_unaligned(args, stage_at, access, (uint32_t)first / bytes, 4 / bytes, phase + c.phase);          \
        global_store4(begin + first, gather##bytes(&g, c.shared));                                                     \
      } else {                                                                                                         \
        store_part##bytes(args, begin, first, run_bytes, stage_at + c.shared, phase + c.phase);                        \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  DEVICE void store_columns_##bytes##u(const cutt_kernel_args *args, unsigned char *out, const tile_now *now,          \
                                       const unsigned char *in, uint32_t stage_at, share s) {                          \
    const int32_t run_bytes = (int32_t)(now->run * bytes);                                                             \
    const uint32_t phase = (uint32_t)(uintptr_t)(in + now->in), accesses = (uint32_t)(run_bytes + 6) / 4;              \
    unsigned char *const base = out + now->out;                                                                        \
    for (uint32_t access = s.along; access < accesses; access += s.along_step) {                                       \
      if (args->store_alike && s.across < now->columns &&                                                              \
          store_alike##bytes(args, base, now, access, run_bytes, stage_at, phase, &s)) {                               \
        continue;                                                                                                      \
      }                                                                                                                \
      store_each##bytes(args, base, now, access, run_bytes, stage_at, phase, &s);                                      \
    }                                                                                                                  \
  }
DEFINE_STORE_COLUMNS_UNALIGNED(1)
DEFINE_STORE_COLUMNS_UNALIGNED(2)

DEFINE_STORE_COLUMNS(4w, 16, word4, now->run / 4, const gather g = gather_of(args, stage_at, access, 4),
                     gather4w(&g, c.shared), global_store16)
DEFINE_STORE_COLUMNS(8w, 16, word4, now->run / 2, const gather g = gather_of_8w(args, stage_at, access),
                     gather8w(&g, c.shared), global_store16)

/* --------------------------------------------------------------------------------------------------------- kernels */

#define TILE_KERNEL(name, unaligned, tails)                                                                            \
  DEFINE_KERNEL(tile_##name, unaligned, tails, , store_columns_##name(&args, out, &now, in, stage_at, stores))

TILE_KERNEL(1, false, true)
TILE_KERNEL(1u, true, true)
TILE_KERNEL(2, false, true)
TILE_KERNEL(2u, true, true)
TILE_KERNEL(4, false, true)
TILE_KERNEL(4l, false, true)
TILE_KERNEL(4w, false, true)
TILE_KERNEL(8, false, true)
TILE_KERNEL(8l, false, true)
TILE_KERNEL(8w, false, true)
TILE_KERNEL(16, false, false)
TILE_KERNEL(16l, false, false)
