/* Contractions of floats in strips, in one pass (strip_args.h): each element of D is written once, from operands that are read as they
 * lie. Sums are in registers, by fused operations, in the order of the terms. */
#include "async.h" /* the runtime's: src/runtime/cuda/kernels */
#include "pass_numbers.h"
#include "place.h"
#include "strip_args.h"

enum { STEP = CUTT_STRIP_STEP, NUMBER = 4, EACH_UNIT = CUTT_STRIP_UNIT / NUMBER, MOST_OWN = 8, MOST_KEPT = 12 };

/* ------------------------------------------------------------------------------------------------------------ descriptions */

DEVICE uint32_t strip_table(const cutt_strip_args *args, uint32_t number) {
  return args->tables_at + ((number & (args->tables - 1)) << args->tile_log2) * CUTT_STRIP_ENTRY;
}

/* Describes a position: where it is in its operand, and in D. What there is not is loaded from where another one is. */
DEVICE void strip_describe(const cutt_strip_args *args, uint32_t first, uint32_t end, uint32_t number, bool there,
                           bool left, uint32_t at) {
  place p = {0, 0, 0};
  place_go(args->digit, first, end, there ? number : 0, &p);
  pass_store(at, left ? p.left : p.right, there ? p.result : PLACE_NOWHERE);
}

DEVICE void strip_describe_tile(const cutt_strip_args *args, bool rows, uint32_t tile, uint32_t number) {
  const uint32_t table = strip_table(args, number), first = tile << args->tile_log2;
  for (uint32_t i = thread_index(); i < 1u << args->tile_log2; i += thread_count())
    strip_describe(args, args->kept_end, args->tile_end, first + i, first + i < args->streamed, rows,
                   table + i * CUTT_STRIP_ENTRY);
}

/* What a block keeps, from number `begin` on, the first tiles of its strip, and the terms: in the operand that comes in tiles, and in the
 * other one. */
DEVICE void strip_describe_first(const cutt_strip_args *args, bool rows, uint32_t begin, uint32_t strip,
                                 uint32_t tiles) {
  const uint32_t side = (1u << args->tile_log2) - 1;
  for (uint32_t i = thread_index(); i < args->panel + (tiles << args->tile_log2); i += thread_count()) {
    const bool kept = i < args->panel;
    const uint32_t more = i - args->panel, tile = strip + (more >> args->tile_log2) * args->strips.by;
    const uint32_t number = kept ? begin + i : (tile << args->tile_log2) + (more & side);
    strip_describe(args, kept ? 0 : args->kept_end, kept ? args->kept_end : args->tile_end, number,
                   number < (kept ? args->kept : args->streamed), kept != rows,
                   kept ? i * CUTT_STRIP_ENTRY : args->tables_at + more * CUTT_STRIP_ENTRY);
  }
  for (uint32_t i = thread_index(); i < args->terms; i += thread_count()) {
    place p = {0, 0, 0};
    place_go(args->digit, args->tile_end, args->term_end, i, &p);
    pass_store(args->terms_at + i * CUTT_STRIP_ENTRY, rows ? p.left : p.right, rows ? p.right : p.left);
  }
}

/* ------------------------------------------------------------------------------------------------------------------ copies */

/* Exchanges the lowest two bits of a number with so many above them; and back. */
DEVICE uint32_t strip_spread(uint32_t i, uint32_t bits) {
  return (i >> 2 & ((1u << bits) - 1)) | (i & 3) << bits | (i >> (bits + 2) << (bits + 2));
}
DEVICE uint32_t strip_gather(uint32_t i, uint32_t bits) {
  return (i & ((1u << bits) - 1)) << 2 | (i >> bits & 3) | (i >> (bits + 2) << (bits + 2));
}

/* Threads have positions quad by quad, in the order of their numbers or spread: which is which in that order, and back. */
DEVICE uint32_t strip_position(const cutt_strip_args *args, uint32_t order) {
  return strip_spread(order, args->spread);
}
DEVICE uint32_t strip_order(const cutt_strip_args *args, uint32_t position) {
  return strip_gather(position, args->spread);
}

/* Where it lies in shared memory: of tiles that are turned beside the operand's neighbours, as they come from memory, since else
 * copies take a sector for every 16 bytes. Quads are exchanged, so that threads that have D's neighbours meet in no bank. */
DEVICE uint32_t strip_place(const cutt_strip_args *args, uint32_t order) {
  const uint32_t quad = order >> 2, of_result = quad & ((1u << args->spread) - 1), of_operand = quad >> args->spread;
  const uint32_t exchanged = of_operand ^ (of_result >> args->exchange_shift & args->exchange);
  return args->turned ? (of_result << args->beside_log2 | exchanged) << 2 | (order & 3) : order;
}

/* Where terms lie next to each other, threads side by side have rows side by side: so many, as a power of 2. */
DEVICE uint32_t strip_lanes_log2(uint32_t own) { return own == 4 ? 4 : 3; }

/* Starts to copy what is kept, by threads side by side what lies next to each other; and zeros for terms that fill up the last four. */
DEVICE void strip_copy_kept(const cutt_strip_args *args, const unsigned char *from) {
  const uint32_t all = args->panel * args->terms, end = (args->terms + STEP - 1) / STEP * STEP * args->panel;
  UNROLL(4)
  for (uint32_t i = thread_index(); i < all; i += thread_count()) {
    const cutt_divisor by = args->kept_by_terms ? args->term : args->room;
    const uint32_t far = divide(i, by), near = i - far * by.by;
    const uint32_t term = args->kept_by_terms ? near : far, position = args->kept_by_terms ? far : near;
    const int64_t offset =
        pass_load_first(position * CUTT_STRIP_ENTRY) + pass_load_first(args->terms_at + term * CUTT_STRIP_ENTRY + 8);
    async_copy4(args->kept_at + (term * args->panel + position) * NUMBER, from + offset, false);
  }
  for (uint32_t i = all + thread_index(); i < end; i += thread_count()) shared_store4(args->kept_at + i * NUMBER, 0);
}

/* What is copied of a lot. */
typedef struct strip_lot {
  const unsigned char *from;
  uint32_t table, terms_at, count, to;
} strip_lot;

/* Starts to copy positions side by side. */
DEVICE void strip_copy_positions(const cutt_strip_args *args, const strip_lot *lot) {
  const uint32_t side = (1u << args->tile_log2) - 1, all = lot->count << args->tile_log2;
  UNROLL(4)
  for (uint32_t i = thread_index(); i < all; i += thread_count()) {
    const uint32_t position = i & side, term = i >> args->tile_log2;
    const unsigned char *const from = lot->from + (pass_load_first(lot->table + position * CUTT_STRIP_ENTRY) +
                                                   pass_load_first(lot->terms_at + term * CUTT_STRIP_ENTRY));
    async_copy4(lot->to + strip_place(args, strip_order(args, position)) * NUMBER + term * args->pitch, from, false);
  }
}

/* The same of units of four positions. Of tiles that are turned, threads side by side have the operand's neighbours. */
DEVICE void strip_copy_units(const cutt_strip_args *args, const strip_lot *lot) {
  enum { TOGETHER = 4 };
  const uint32_t units = args->tile_log2 - 2, unit = thread_index() & ((1u << units) - 1), beside = args->beside_log2;
  const uint32_t order =
      (args->turned ? (unit & ((1u << beside) - 1)) << args->spread | unit >> beside : unit) * EACH_UNIT;
  const unsigned char *const from =
      lot->from + pass_load_first(lot->table + strip_position(args, order) * CUTT_STRIP_ENTRY);
  const uint32_t to = lot->to + strip_place(args, order) * NUMBER, step = thread_count() >> units;
  for (uint32_t begin = thread_index() >> units; begin < lot->count; begin += TOGETHER * step) {
    int64_t offset[TOGETHER];
    UNROLL(TOGETHER)
    for (uint32_t i = 0; i < TOGETHER; ++i) {
      const uint32_t term = begin + i * step;
      offset[i] = pass_load_first(lot->terms_at + (term < lot->count ? term : begin) * CUTT_STRIP_ENTRY);
    }
    UNROLL(TOGETHER)
    for (uint32_t i = 0; i < TOGETHER; ++i) {
      const uint32_t term = begin + i * step;
      async_copy16_if(term < lot->count, to + term * args->pitch, from + offset[i]);
    }
  }
}

/* The same of terms side by side, units of four if wide: a thread has the same terms of several positions. */
DEVICE void strip_copy_terms(const cutt_strip_args *args, const strip_lot *lot, bool wide, uint32_t own) {
  const cutt_divisor run = wide ? args->unit_run : args->run;
  const uint32_t group = divide(thread_index(), run), groups = divide(thread_count(), run),
                 side = 1u << args->tile_log2;
  const uint32_t term = (thread_index() - group * run.by) * (wide ? EACH_UNIT : 1);
  if (group >= groups || term >= lot->count) return;
  const unsigned char *const from = lot->from + pass_load_first(lot->terms_at + term * CUTT_STRIP_ENTRY);
  const uint32_t to = lot->to + term * NUMBER;
  UNROLL(4)
  for (uint32_t row = group; row < side; row += groups) {
    const uint32_t position = strip_position(args, strip_gather(row, strip_lanes_log2(own)));
    const unsigned char *const p = from + pass_load_first(lot->table + position * CUTT_STRIP_ENTRY);
    if (wide)
      async_copy16(to + row * args->pitch, p, false);
    else
      async_copy4(to + row * args->pitch, p, false);
  }
}

/* Zeros for the terms that fill up the last four. */
DEVICE void strip_fill(const cutt_strip_args *args, const strip_lot *lot) {
  const uint32_t more = (STEP - lot->count % STEP) % STEP;
  for (uint32_t i = thread_index(); i < more << args->tile_log2; i += thread_count()) {
    const uint32_t position = i & ((1u << args->tile_log2) - 1), term = lot->count + (i >> args->tile_log2);
    shared_store4(
        lot->to + (args->by_terms ? position * args->pitch + term * NUMBER : term * args->pitch + position * NUMBER),
        0);
  }
}

/* Starts to copy lot number `lot` of a tile. */
DEVICE void strip_copy(const cutt_strip_args *args, const unsigned char *from, bool wide, uint32_t table, uint32_t lot,
                       uint32_t slot, uint32_t own) {
  const uint32_t first = lot * args->depth, left = args->terms - first;
  const strip_lot l = {from, table, args->terms_at + first * CUTT_STRIP_ENTRY, left < args->depth ? left : args->depth,
                       args->slots_at + slot * args->slot_bytes};
  if (args->by_terms && wide)
    strip_copy_terms(args, &l, true, own);
  else if (args->by_terms)
    strip_copy_terms(args, &l, false, own);
  else if (wide)
    strip_copy_units(args, &l);
  else
    strip_copy_positions(args, &l);
  if (l.count % STEP) strip_fill(args, &l);
}

/* ---------------------------------------------------------------------------------------------------------------- products */

DEVICE void strip_load4(uint32_t at, float *to) {
  const word4 v = shared_load16(at);
  to[0] = bits_to_float(v.x), to[1] = bits_to_float(v.y), to[2] = bits_to_float(v.z), to[3] = bits_to_float(v.w);
}

/* Number j of a thread's kept positions, from its warp's first on: quads side by side, but for what is left of six. beside: its number
 * among the threads that have the same positions of a tile. */
DEVICE uint32_t strip_kept(uint32_t own, uint32_t each, uint32_t beside, uint32_t j) {
  const uint32_t threads = own / 2, quad = j / 4;
  return each == 6 && quad ? 4 * threads + beside * 2 + j - 4 : (quad * threads + beside) * 4 + j % 4;
}

/* A thread's kept positions of a term. at: where the first one is; more: from there to what is left of six. */
DEVICE void strip_load_kept(uint32_t at, uint32_t more, uint32_t own, uint32_t each, float *to) {
  UNROLL(MOST_KEPT)
  for (uint32_t j = 0; j + 4 <= each; j += 4) strip_load4(at + j * (own / 2) * NUMBER, to + j);
  if (each == 6) {
    const word2 v = shared_load8(at + more);
    to[4] = bits_to_float(v.x), to[5] = bits_to_float(v.y);
  }
}

/* Where a thread's positions are in shared memory: the quads of a tile, or rows of terms, and what is kept. */
typedef struct strip_share {
  uint32_t own[2], kept, more;
} strip_share;

typedef float strip_sum[MOST_KEPT];

/* Adds the products of some of a thread's positions of a tile. */
DEVICE void strip_fuse(const float *l, uint32_t step, uint32_t count, const float *k, uint32_t each, strip_sum *sum) {
  UNROLL(MOST_OWN)
  for (uint32_t i = 0; i < count; ++i) {
    UNROLL(MOST_KEPT)
    for (uint32_t j = 0; j < each; ++j) sum[i][j] = multiply_add_float(l[i * step], k[j], sum[i][j]);
  }
}

/* Adds the products of a lot whose terms are apart in shared memory. */
DEVICE void strip_add(const cutt_strip_args *args, const strip_share *share, uint32_t slot, uint32_t kept,
                      uint32_t count, uint32_t own, uint32_t each, strip_sum *sum) {
  const uint32_t kept_step = args->panel * NUMBER;
  uint32_t first = slot + share->own[0], second = slot + share->own[1];
  kept += share->kept;
  UNROLL(1)
  for (uint32_t begin = 0; begin < count; begin += STEP) {
    UNROLL(STEP)
    for (uint32_t t = 0; t < STEP; ++t) {
      float l[MOST_OWN], k[MOST_KEPT];
      strip_load4(first, l);
      if (own > 4) strip_load4(second, l + 4);
      strip_load_kept(kept, share->more, own, each, k);
      first += args->pitch, second += args->pitch, kept += kept_step;
      strip_fuse(l, 1, own, k, each, sum);
    }
  }
}

/* The same of a lot whose terms follow each other: four at once of a quad of positions, for which there are registers. */
DEVICE void strip_add_terms(const cutt_strip_args *args, const strip_share *share, uint32_t slot, uint32_t kept,
                            uint32_t count, uint32_t own, uint32_t each, strip_sum *sum) {
  const uint32_t kept_step = args->panel * NUMBER;
  uint32_t from = slot;
  kept += share->kept;
  UNROLL(1)
  for (uint32_t begin = 0; begin < count; begin += STEP) {
    UNROLL(2)
    for (uint32_t quad = 0; quad < own / 4; ++quad) {
      float l[4][STEP];
      UNROLL(4)
      for (uint32_t i = 0; i < 4; ++i)
        strip_load4(from + share->own[quad] + (i << strip_lanes_log2(own)) * args->pitch, l[i]);
      UNROLL(STEP)
      for (uint32_t t = 0; t < STEP; ++t) {
        float k[MOST_KEPT];
        strip_load_kept(kept + t * kept_step, share->more, own, each, k);
        strip_fuse(&l[0][t], STEP, 4, k, each, sum + quad * 4);
      }
    }
    from += STEP * NUMBER, kept += STEP * kept_step;
  }
}

/* ------------------------------------------------------------------------------------------------------------------ results */

DEVICE int64_t strip_result_at(uint32_t table, uint32_t position) {
  return pass_load_first(table + position * CUTT_STRIP_ENTRY + 8);
}

DEVICE void strip_store4(unsigned char *to, float a, float b, float c, float d) {
  const word4 v = {float_to_bits(a), float_to_bits(b), float_to_bits(c), float_to_bits(d)};
  global_store16(to, v);
}

/* Where a thread's sums go: the tile's table, its first position in their order, its warp's first that is kept, and which thread it is of
 * those that have the same of a tile. */
typedef struct strip_target {
  unsigned char *result;
  uint32_t table, order, kept, beside;
} strip_target;

/* Writes all of a thread's sums to a D that is not read, positions of a tile four by four. */
DEVICE void strip_write_tiles(const strip_target *to, uint32_t own, uint32_t each, strip_sum *sum) {
  UNROLL(2)
  for (uint32_t quad = 0; quad < own / 4; ++quad) {
    unsigned char *const at = to->result + strip_result_at(to->table, to->order + quad * 32);
    strip_sum *const s = sum + quad * 4;
    UNROLL(MOST_KEPT)
    for (uint32_t j = 0; j < each; ++j)
      strip_store4(at + strip_result_at(0, to->kept + strip_kept(own, each, to->beside, j)), s[0][j], s[1][j], s[2][j],
                   s[3][j]);
  }
}

/* The number of a thread's position. */
DEVICE uint32_t strip_own(const cutt_strip_args *args, const strip_target *to, uint32_t i) {
  return strip_position(args, to->order + i / 4 * 32 + i % 4);
}

/* The same of those that are kept. */
DEVICE void strip_write_kept(const cutt_strip_args *args, const strip_target *to, uint32_t own, uint32_t each,
                             strip_sum *sum) {
  const int64_t near = strip_result_at(0, to->kept + strip_kept(own, each, to->beside, 0)),
                more = strip_result_at(0, to->kept + strip_kept(own, each, to->beside, each == 6 ? 4 : 0));
  UNROLL(MOST_OWN)
  for (uint32_t i = 0; i < own; ++i) {
    unsigned char *const at = to->result + strip_result_at(to->table, strip_own(args, to, i));
    const float *const s = sum[i];
    strip_store4(at + near, s[0], s[1], s[2], s[3]);
    if (each != 6) continue;
    const word2 v = {float_to_bits(s[4]), float_to_bits(s[5])};
    global_store8(at + more, v);
  }
}

/* The same one by one. */
DEVICE void strip_write_whole(const cutt_strip_args *args, const strip_target *to, uint32_t own, uint32_t each,
                              strip_sum *sum) {
  unsigned char *at[MOST_OWN];
  UNROLL(MOST_OWN)
  for (uint32_t i = 0; i < own; ++i) at[i] = to->result + strip_result_at(to->table, strip_own(args, to, i));
  UNROLL(MOST_KEPT)
  for (uint32_t j = 0; j < each; ++j) {
    const int64_t kept = strip_result_at(0, to->kept + strip_kept(own, each, to->beside, j));
    UNROLL(MOST_OWN)
    for (uint32_t i = 0; i < own; ++i) global_store4(at[i] + kept, float_to_bits(sum[i][j]));
  }
}

/* Those that there are, one by one, to any D. */
DEVICE void strip_write(const cutt_strip_args *args, const strip_target *to, uint32_t own, uint32_t each,
                        strip_sum *sum) {
  UNROLL(MOST_OWN)
  for (uint32_t i = 0; i < own; ++i) {
    const int64_t row = strip_result_at(to->table, strip_own(args, to, i));
    UNROLL(MOST_KEPT)
    for (uint32_t j = 0; j < each; ++j) {
      const int64_t column = strip_result_at(0, to->kept + strip_kept(own, each, to->beside, j));
      if (row == PLACE_NOWHERE || column == PLACE_NOWHERE) continue;
      unsigned char *const at = to->result + (row + column);
      float v = sum[i][j];
      if (args->reads) v = v + args->beta * bits_to_float(global_load4(at));
      global_store4(at, float_to_bits(v));
    }
  }
}

DEVICE void strip_finish(const cutt_strip_args *args, const strip_target *to, bool whole, uint32_t own, uint32_t each,
                         strip_sum *sum) {
  const bool wide = args->writes_wide && (uintptr_t)to->result % CUTT_STRIP_UNIT == 0;
  if (!args->alone) {
    UNROLL(MOST_OWN)
    for (uint32_t i = 0; i < own; ++i) {
      UNROLL(MOST_KEPT)
      for (uint32_t j = 0; j < each; ++j) sum[i][j] = args->alpha * sum[i][j];
    }
  }
  if (whole && !args->reads && wide && own == CUTT_STRIP_ROWS_OWN)
    strip_write_tiles(to, own, each, sum);
  else if (whole && !args->reads && wide)
    strip_write_kept(args, to, own, each, sum);
  else if (whole && !args->reads && own == CUTT_STRIP_ROWS_OWN)
    strip_write_whole(args, to, own, each, sum);
  else
    strip_write(args, to, own, each, sum);
}

/* -------------------------------------------------------------------------------------------------------------- the kernels */

DEVICE void strip_run(const cutt_strip_args *args, const unsigned char *left, unsigned char *result,
                      const unsigned char *right, uint32_t own, uint32_t each) {
  const bool rows = own == CUTT_STRIP_ROWS_OWN; /* come in tiles */
  const uint32_t above = divide(block_index(), args->panels), matrix = divide(above, args->strips);
  const uint32_t begin = (block_index() - above * args->panels.by) * args->panel;
  const uint32_t strip = above - matrix * args->strips.by, apart = args->strips.by, slots = args->slots;
  const uint32_t count = strip < args->tiles ? (args->tiles - strip + apart - 1) / apart : 0, lots = args->lots;
  const uint32_t warp = thread_index() / 32, lane = thread_index() % 32, side = args->tile_log2 - 6;
  const uint32_t lanes = CUTT_STRIP_TILE / own,
                 order = (warp & ((1u << side) - 1)) * CUTT_STRIP_TILE + lane % lanes * 4;
  const uint32_t warp_kept = each * (own / 2), kept = (warp >> side) * warp_kept, beside = lane / lanes;
  place p = {0, 0, 0};
  place_go(args->digit, args->term_end, args->batch_end, matrix, &p);
  result += p.result;
  const unsigned char *const streamed = rows ? left + p.left : right + p.right;
  const bool wide = args->wide && (uintptr_t)streamed % CUTT_STRIP_UNIT == 0;
  strip_share share;
  UNROLL(2)
  for (uint32_t quad = 0; quad < own / 4; ++quad) {
    const uint32_t first = order + quad * 32;
    share.own[quad] =
        args->by_terms ? strip_spread(first, strip_lanes_log2(own)) * args->pitch : strip_place(args, first) * NUMBER;
  }
  if (own == 4) share.own[1] = 0;
  share.kept = args->kept_at + (kept + strip_kept(own, each, beside, 0)) * NUMBER;
  share.more = (strip_kept(own, each, beside, 4) - strip_kept(own, each, beside, 0)) * NUMBER;
  strip_sum sum[MOST_OWN];
  strip_describe_first(args, rows, begin, strip, count < args->tables - 1 ? count : args->tables - 1);
  barrier();
  strip_copy_kept(args, rows ? right + p.right : left + p.left);
  /* The lot that is copied next: of which tile, and its slot. In the first turns there is nothing to multiply. */
  uint32_t next = 0, next_lot = 0, next_slot = 0, lot = 0, slot = 0, number = 0;
  UNROLL(1)
  for (uint32_t turn = 1; number < count; ++turn) {
    const uint32_t tile = strip + number * apart, done = lot * args->depth, after = number + args->tables - 1;
    if (turn >= slots) {
      async_wait(slots - 2);
      barrier();
    }
    if (next < count) strip_copy(args, streamed, wide, strip_table(args, next), next_lot, next_slot, own);
    async_commit();
    next_slot = next_slot + 1 == slots ? 0 : next_slot + 1;
    next_lot = next_lot + 1 == lots ? 0 : next_lot + 1;
    next += next_lot == 0;
    if (turn < slots) continue;
    if (lot == 0) {
      if (after < count) strip_describe_tile(args, rows, strip + after * apart, after);
      UNROLL(MOST_OWN)
      for (uint32_t i = 0; i < own; ++i) {
        UNROLL(MOST_KEPT)
        for (uint32_t j = 0; j < each; ++j) sum[i][j] = 0;
      }
    }
    const uint32_t terms = args->terms - done < args->depth ? args->terms - done : args->depth;
    const uint32_t from = args->slots_at + slot * args->slot_bytes, done_bytes = done * args->panel * NUMBER;
    if (args->by_terms)
      strip_add_terms(args, &share, from, done_bytes, terms, own, each, sum);
    else
      strip_add(args, &share, from, done_bytes, terms, own, each, sum);
    slot = slot + 1 == slots ? 0 : slot + 1;
    if (++lot < lots) continue;
    const bool whole = (tile + 1) << args->tile_log2 <= args->streamed && begin + kept + warp_kept <= args->kept;
    const strip_target to = {result, strip_table(args, number), order, kept, beside};
    strip_finish(args, &to, whole, own, each, sum);
    lot = 0;
    ++number;
  }
  async_wait(0);
}

#define STRIP_KERNEL(name, own, each)                                                                                  \
  KERNEL(cutt_strip_##name##_##each##_f32, CUTT_STRIP_THREADS, CUTT_STRIP_BLOCKS)                                      \
  (const unsigned char *left, unsigned char *result, CONSTANT(cutt_strip_args) args, const unsigned char *right) {     \
    strip_run(&args, left, result, right, own, each);                                                                  \
  }
STRIP_KERNEL(rows, CUTT_STRIP_ROWS_OWN, 8)
STRIP_KERNEL(rows, CUTT_STRIP_ROWS_OWN, 12)
STRIP_KERNEL(columns, CUTT_STRIP_COLUMNS_OWN, 4)
STRIP_KERNEL(columns, CUTT_STRIP_COLUMNS_OWN, 6)
