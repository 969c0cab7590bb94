/* Writing a tile: its columns, from shared to global memory; and what all kernels do that have tiles in shared memory. */
#ifndef CUTT_GPU_KERNELS_COLUMNS_H
#define CUTT_GPU_KERNELS_COLUMNS_H

#include "rows.h"

typedef struct column_entry {
  int64_t global;
  uint32_t shared, phase;
} column_entry;

DEVICE column_entry read_column(uint32_t entry_at) {
  const word4 entry = shared_load16(entry_at);
  column_entry c;
  c.global = join_words(entry.x, entry.y);
  c.shared = entry.z;
  c.phase = entry.w;
  return c;
}

DEVICE uint32_t read_run(const cutt_kernel_args *args, uint32_t number) {
  return shared_load4(args->run_at + number * CUTT_RUN_ENTRY);
}

/* Stores a thread's accesses of all columns: `begin` is done once for each access, then `get` gives what to store for each
 * column c, for up to BATCH of them before `put` stores these. */
#define DEFINE_STORE_COLUMNS(name, bytes, type, accesses, begin, get, put)                                             \
  DEVICE void store_columns_##name(const cutt_kernel_args *args, unsigned char *out, const tile_now *now,              \
                                   const unsigned char *in, uint32_t stage_at, share s) {                              \
    (void)in;                                                                                                          \
    const uint32_t columns = now->columns, step = s.across_step;                                                       \
    for (uint32_t access = s.along; access < (accesses); access += s.along_step) {                                     \
      unsigned char *const base = out + (now->out + access * bytes);                                                   \
      begin;                                                                                                           \
      uint32_t column = s.across, entry = now->columns_at + column * CUTT_COLUMN_ENTRY;                                \
      for (; column + (BATCH - 1) * step < columns; column += BATCH * step) {                                          \
        unsigned char *to[BATCH];                                                                                      \
        type value[BATCH];                                                                                             \
        UNROLL(BATCH)                                                                                                  \
        for (int i = 0; i < BATCH; ++i) {                                                                              \
          const column_entry c = read_column(entry);                                                                   \
          entry += step * CUTT_COLUMN_ENTRY;                                                                           \
          to[i] = base + c.global;                                                                                     \
          value[i] = get;                                                                                              \
        }                                                                                                              \
        UNROLL(BATCH)                                                                                                  \
        for (int i = 0; i < BATCH; ++i) put(to[i], value[i]);                                                          \
      }                                                                                                                \
      for (; column < columns; column += step) {                                                                       \
        const column_entry c = read_column(entry);                                                                     \
        entry += step * CUTT_COLUMN_ENTRY;                                                                             \
        put(base + c.global, get);                                                                                     \
      }                                                                                                                \
    }                                                                                                                  \
  }

/* Several loads from shared memory that are stored as one access: of one or two bytes to a word, of 4 or 8 bytes to 16. In
 * the usual tile, neighbouring lanes' accesses come from rows that are several apart, and would hit the same banks: so
 * groups of lanes begin with different ones of their loads, and each rotates its result at the end. */
typedef struct gather {
  uint32_t at[4];    /* where in shared memory, without the column's part of the address */
  uint32_t rotation; /* which load comes first */
} gather;

DEVICE uint32_t gather1(const gather *g, uint32_t shared) {
  const uint32_t word = (uint32_t)shared_load1(g->at[0] + shared) | (uint32_t)shared_load1(g->at[1] + shared) << 8 |
                        (uint32_t)shared_load1(g->at[2] + shared) << 16 |
                        (uint32_t)shared_load1(g->at[3] + shared) << 24;
  return rotate_left(word, 8 * g->rotation);
}
DEVICE uint32_t gather2(const gather *g, uint32_t shared) {
  const uint32_t word = (uint32_t)shared_load2(g->at[0] + shared) | (uint32_t)shared_load2(g->at[1] + shared) << 16;
  return rotate_left(word, 16 * g->rotation);
}

/* The `count` loads of an access; columns and rows are aligned to words. */
DEVICE gather gather_of(const cutt_kernel_args *args, uint32_t stage_at, uint32_t access, uint32_t count) {
  gather g;
  g.rotation = access / (32 / count) & (count - 1);
  UNROLL(4)
  for (uint32_t i = 0; i < 4; ++i) {
    g.at[i] = i < count ? stage_at + read_run(args, access * count + ((i + g.rotation) & (count - 1))) : 0;
  }
  return g;
}

/* Loads of 4 and 8 bytes, stored as 16: the rotation exchanges registers. */
DEVICE word4 gather4w(const gather *g, uint32_t shared) {
  const uint32_t a = shared_load4(g->at[0] + shared), b = shared_load4(g->at[1] + shared);
  const uint32_t c = shared_load4(g->at[2] + shared), d = shared_load4(g->at[3] + shared);
  const bool odd = g->rotation & 1, two = g->rotation & 2;
  const word4 once = {odd ? d : a, odd ? a : b, odd ? b : c, odd ? c : d};
  const word4 value = {two ? once.z : once.x, two ? once.w : once.y, two ? once.x : once.z, two ? once.y : once.w};
  return value;
}
DEVICE word4 gather8w(const gather *g, uint32_t shared) {
  const word2 a = shared_load8(g->at[0] + shared), b = shared_load8(g->at[1] + shared);
  const bool odd = g->rotation & 1;
  const word4 value = {odd ? b.x : a.x, odd ? b.y : a.y, odd ? a.x : b.x, odd ? a.y : b.y};
  return value;
}
DEVICE gather gather_of_8w(const cutt_kernel_args *args, uint32_t stage_at, uint32_t access) {
  gather g;
  g.rotation = access / 8 & 1; /* the banks serve 8-byte loads by half warps */
  g.at[0] = stage_at + read_run(args, access * 2 + g.rotation);
  g.at[1] = stage_at + read_run(args, access * 2 + (g.rotation ^ 1));
  g.at[2] = g.at[3] = 0;
  return g;
}

/* --------------------------------------------------------------------------------------------------------- kernels */

/* The block's tiles, in a ring of `stages` slots in shared memory. A slot is written again only after the barrier that
 * follows its being read. A group of copies is committed for each tile, even past the last one, so that to wait for all but
 * the newest stages - 1 groups is to wait for the tile at hand. `begin`: what else each turn begins with. tails: rows may
 * end with less than a load, as those of elements of 16 bytes never do. */
#define DEFINE_KERNEL(name, unaligned, tails, begin, store)                                                            \
  NAMED_KERNEL(KERNEL_NAME(name), CUTT_BLOCK_THREADS, CUTT_BLOCKS)                                                     \
  (const unsigned char *in, unsigned char *out, CONSTANT(cutt_kernel_args) args PAIRS_PARAMETER) {                     \
    const uint32_t ahead = args.stages - 1;                                                                            \
    const uint32_t tiles = fill_tables(&args, PAIRS, unaligned);                                                       \
    if (tiles == 0) return;                                                                                            \
    barrier();                                                                                                         \
    const share loads = share_of(args.load_along, args.load_rows);                                                     \
    const share stores = share_of(args.store_along, args.store_columns);                                               \
    wait_for_earlier(args.next_early);                                                                                 \
    uint32_t load_stage = 0, store_stage = 0;                                                                          \
    for (uint32_t i = 0; i < tiles + ahead; ++i) {                                                                     \
      begin;                                                                                                           \
      if (i < tiles) {                                                                                                 \
        const tile_now now = read_tile(i * CUTT_TILE_ENTRY);                                                           \
        load_rows(&args, in, &now, args.stage_at + load_stage * args.stage_bytes, loads, unaligned, tails);            \
        load_stage = load_stage + 1 == args.stages ? 0 : load_stage + 1;                                               \
      }                                                                                                                \
      async_commit();                                                                                                  \
      if (i < ahead) continue;                                                                                         \
      async_wait(ahead);                                                                                               \
      barrier();                                                                                                       \
      const tile_now now = read_tile((i - ahead) * CUTT_TILE_ENTRY);                                                   \
      const uint32_t stage_at = args.stage_at + store_stage * args.stage_bytes;                                        \
      store_stage = store_stage + 1 == args.stages ? 0 : store_stage + 1;                                              \
      store;                                                                                                           \
      barrier();                                                                                                       \
    }                                                                                                                  \
  }

#endif
