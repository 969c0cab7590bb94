/* Contractions of doubles on tensor cores in one pass (core_args.h): each element of D is written once, from operands that are read as
 * they lie. Sums are in registers, in the order of the terms, each product added with one rounding. */
#include "async.h"  /* the runtime's: src/runtime/cuda/kernels */
#include "core_args.h"
#include "matrix.h" /* and this */
#include "pass_numbers.h"
#include "place.h"

/* Blocks that fit on an SM. */
#if __CUDA_ARCH__ >= 800
#define CORE_BLOCKS 2
#else
#define CORE_BLOCKS 1
#endif
#define CORE_WIDTH CUTT_CORE_COLUMN_GROUPS

/* ------------------------------------------------------------------------------------------------------------ descriptions */

/* Where the descriptions of a tile's positions are: one more tile has them than is in shared memory. */
DEVICE uint32_t core_table(const cutt_core_args *args, uint32_t number) {
  return args->tables_at + number % (args->slots + 1) * (CUTT_CORE_TILE * CUTT_CORE_ENTRY);
}

/* Describes a position: where it is in its operand, and in D. What there is not is loaded from where another one is. */
DEVICE void core_describe(const cutt_core_args *args, uint32_t first, uint32_t end, uint32_t number, bool there, bool left,
                          uint32_t at) {
  place p = {0, 0, 0};
  place_go(args->digit, first, end, there ? number : 0, &p);
  pass_store(at, left ? p.left : p.right, there ? p.result : PLACE_NOWHERE);
}

DEVICE void core_describe_tile(const cutt_core_args *args, bool left, uint32_t tile, uint32_t number, uint32_t i) {
  const uint32_t position = tile * CUTT_CORE_TILE + i;
  core_describe(args, args->kept_end, args->tile_end, position, position < args->streamed, left,
                core_table(args, number) + i * CUTT_CORE_ENTRY);
}

/* What a block keeps, and the terms: in L and in R. */
DEVICE void core_describe_kept(const cutt_core_args *args, bool left, uint32_t begin) {
  for (uint32_t i = thread_index(); i < args->panel_room; i += thread_count())
    core_describe(args, 0, args->kept_end, begin + i, i < args->panel && begin + i < args->kept, left, i * CUTT_CORE_ENTRY);
  for (uint32_t i = thread_index(); i < args->terms; i += thread_count()) {
    place p = {0, 0, 0};
    place_go(args->digit, args->tile_end, args->term_end, i, &p);
    pass_store(args->terms_at + i * CUTT_CORE_ENTRY, p.left, p.right);
  }
}

/* ------------------------------------------------------------------------------------------------------------------ copies */

/* Where a position of a tile is among those next to each other. Of a tile that is turned they are in the operand's order, pairs of its
 * eight neighbours exchanged for every other eight, so that lanes which have pairs eight apart meet in no bank. */
DEVICE uint32_t core_place(const cutt_core_args *args, uint32_t position) {
  const uint32_t far = position & 7;
  return args->turned ? far << 3 | (position >> 3 ^ (far & 1) << 1) : position;
}

/* Zeros for the terms that fill up the last four of so many. */
DEVICE void core_fill(const cutt_core_layout *layout, uint32_t at, uint32_t positions, uint32_t terms) {
  const uint32_t more = (CUTT_CORE_STEP - terms % CUTT_CORE_STEP) % CUTT_CORE_STEP;
  const word2 zero = {0, 0};
  for (uint32_t i = thread_index(); i < more * positions; i += thread_count())
    shared_store8(at + i % positions * layout->position + (terms + i / positions) * layout->term, zero);
}

/* What of an operand is copied: from there, by so many positions that this table describes. */
typedef struct core_source {
  const cutt_core_layout *layout;
  const unsigned char *from;
  uint32_t table, positions, term_at, terms; /* term_at: where terms are described for this operand, so many */
} core_source;

/* Starts to copy positions of which the terms, or else the positions, lie next to each other in memory: those by threads side by side, two
 * at a time if they lie so that 16 bytes may be copied at once. by: how many there are to copy in a row; of terms some may not be there. */
DEVICE void core_copy_any(const core_source *s, cutt_divisor by, bool wide, uint32_t to) {
  const uint32_t all = by.by * (s->layout->by_terms ? s->positions : s->terms), threads = thread_count();
  const uint32_t more_rest = divide(threads, by), more = threads - more_rest * by.by;
  uint32_t rest = divide(thread_index(), by), digit = thread_index() - rest * by.by;
  UNROLL(4)
  for (uint32_t i = thread_index(); i < all; i += threads) {
    const uint32_t along = digit << wide, position = s->layout->by_terms ? rest : along,
                   term = s->layout->by_terms ? along : rest;
    const unsigned char *const from = s->from + (pass_load_first(s->table + position * CUTT_CORE_ENTRY) +
                                                 pass_load_first(s->term_at + term * CUTT_CORE_ENTRY));
    const uint32_t at = to + position * s->layout->position + term * s->layout->term;
    if (wide)
      async_copy16(at, from, false);
    else
      async_copy8(at, from, false);
    digit += more;
    rest += more_rest + (digit >= by.by);
    digit -= digit >= by.by ? by.by : 0;
  }
}

/* The same of a tile whose positions lie next to each other, or eight of them of each eight: each thread has one or two positions. */
DEVICE void core_copy_positions(const cutt_core_args *args, const core_source *s, bool wide, uint32_t to) {
  const uint32_t side = CUTT_CORE_TILE >> wide, own = thread_index() % side << wide, apart = thread_count() / side;
  const uint32_t position = args->turned ? (own & 7) << 3 | own >> 3 : own;
  const unsigned char *const from = s->from + pass_load_first(s->table + position * CUTT_CORE_ENTRY);
  uint32_t term = thread_index() / side, at = to + core_place(args, position) * s->layout->position + term * s->layout->term;
  UNROLL(4)
  for (; term < s->terms; term += apart) {
    const int64_t offset = pass_load_first(s->term_at + term * CUTT_CORE_ENTRY);
    if (wide)
      async_copy16(at, from + offset, false);
    else
      async_copy8(at, from + offset, false);
    at += apart * s->layout->term;
  }
}

/* The same of a lot whose terms lie next to each other: each thread has one or two terms of several positions. */
DEVICE void core_copy_terms(const core_source *s, cutt_divisor run, bool wide, uint32_t to) {
  const uint32_t first = divide(thread_index(), run), apart = divide(thread_count(), run);
  const uint32_t term = (thread_index() - first * run.by) << wide;
  if (first >= apart || term >= s->terms) return;
  const unsigned char *const from = s->from + pass_load_first(s->term_at + term * CUTT_CORE_ENTRY);
  uint32_t at = to + first * s->layout->position + term * s->layout->term;
  UNROLL(4)
  for (uint32_t position = first; position < CUTT_CORE_TILE; position += apart) {
    const unsigned char *const p = from + pass_load_first(s->table + position * CUTT_CORE_ENTRY);
    if (wide)
      async_copy16(at, p, false);
    else
      async_copy8(at, p, false);
    at += apart * s->layout->position;
  }
}

/* Starts to copy a tile, or a lot of it. */
DEVICE void core_copy_tile(const cutt_core_args *args, const core_source *s, bool wide, bool lots, uint32_t to) {
  if (lots && args->streams.by_terms && wide)
    core_copy_terms(s, args->run_pairs, true, to);
  else if (lots && args->streams.by_terms)
    core_copy_terms(s, args->run, false, to);
  else if (args->streams.by_terms && wide)
    core_copy_any(s, args->run_pairs, true, to);
  else if (args->streams.by_terms)
    core_copy_any(s, args->run, false, to);
  else if (wide)
    core_copy_positions(args, s, true, to);
  else
    core_copy_positions(args, s, false, to);
}

/* ---------------------------------------------------------------------------------------------------------------- products */

/* A thread's part of what is multiplied: two positions of the tile, and one of each group of what is kept. */
typedef struct core_share {
  uint32_t streamed[2], kept;
} core_share;

DEVICE double core_number(uint32_t at) { return bits_to_double(shared_load8(at)); }

/* What a lane has of four terms. */
typedef struct core_terms {
  double own[2], other[CORE_WIDTH];
} core_terms;

/* own: where it is of the tile's two positions, of which those that are turned lie next to each other. */
DEVICE void core_load(const cutt_core_args *args, const uint32_t *own, uint32_t kept, uint32_t width, core_terms *terms) {
  if (args->turned) {
    const word4 v = shared_load16(own[0]);
    const word2 first = {v.x, v.y}, second = {v.z, v.w};
    terms->own[0] = bits_to_double(first);
    terms->own[1] = bits_to_double(second);
  } else {
    terms->own[0] = core_number(own[0]);
    terms->own[1] = core_number(own[1]);
  }
  UNROLL(CORE_WIDTH)
  for (uint32_t i = 0; i < width; ++i) terms->other[i] = core_number(kept + i * 8 * args->keeps.position);
}

DEVICE void core_add(const core_terms *terms, uint32_t width, bool rows, double (*sum)[4]) {
  UNROLL(CORE_WIDTH)
  for (uint32_t i = 0; i < width; ++i) {
    if (rows)
      multiply_add_matrix(sum[i], terms->own, terms->other[i]);
    else
      multiply_add_matrix(sum[i], terms->other + i / 2 * 2, terms->own[i % 2]);
  }
}

DEVICE void core_clear(uint32_t width, double (*sum)[4]) {
  UNROLL(CORE_WIDTH)
  for (uint32_t i = 0; i < width; ++i) {
    UNROLL(4)
    for (uint32_t j = 0; j < 4; ++j) sum[i][j] = 0;
  }
}

/* Adds all products of `width` groups of kept positions, so many times four terms. Tiles of 16 x 8 are those of rows that are streamed times kept columns, or of
 * kept rows times columns that are streamed. Terms are loaded while those before are multiplied. */
DEVICE void core_multiply(const cutt_core_args *args, const core_share *share, uint32_t kept, uint32_t slot, uint32_t steps,
                          uint32_t width, bool rows, double (*sum)[4]) {
  const uint32_t kept_step = CUTT_CORE_STEP * args->keeps.term, own_step = CUTT_CORE_STEP * args->streams.term;
  uint32_t own[2] = {slot + share->streamed[0], slot + share->streamed[1]};
  core_terms terms, next;
  core_load(args, own, kept, width, &terms);
  UNROLL(2)
  for (uint32_t step = 1; step < steps; ++step) {
    own[0] += own_step, own[1] += own_step, kept += kept_step;
    core_load(args, own, kept, width, &next);
    core_add(&terms, width, rows, sum);
    terms = next;
  }
  core_add(&terms, width, rows, sum);
}

/* ------------------------------------------------------------------------------------------------------------------ results */

/* Writes four sums: of two positions of the one kind times two of the other, whose places in D these are. */
DEVICE void core_write(const cutt_core_args *args, unsigned char *result, bool whole, int64_t row0, int64_t row1,
                       int64_t column0, int64_t column1, const double *sum) {
  if (whole) {
    global_store8(result + (row0 + column0), double_to_bits(sum[0]));
    global_store8(result + (row0 + column1), double_to_bits(sum[1]));
    global_store8(result + (row1 + column0), double_to_bits(sum[2]));
    global_store8(result + (row1 + column1), double_to_bits(sum[3]));
    return;
  }
  UNROLL(4)
  for (uint32_t i = 0; i < 4; ++i) {
    const int64_t row = i / 2 ? row1 : row0, column = i % 2 ? column1 : column0;
    if (row == PLACE_NOWHERE || column == PLACE_NOWHERE) continue;
    unsigned char *const to = result + (row + column);
    double v = args->alone ? sum[i] : args->alpha * sum[i];
    if (args->reads) v = v + args->beta * bits_to_double(global_load8(to));
    global_store8(to, double_to_bits(v));
  }
}

DEVICE int64_t core_result_at(uint32_t table, uint32_t position) {
  return pass_load_first(table + position * CUTT_CORE_ENTRY + 8);
}

/* Writes the sums of `width` groups from number `group` on. own: the first position of the warp's part of the tile. */
DEVICE void core_finish(const cutt_core_args *args, unsigned char *result, uint32_t table, uint32_t own, uint32_t group,
                        uint32_t width, bool rows, bool whole, double (*sum)[4]) {
  const uint32_t lane = thread_index() % 32, g = lane / 4, q = lane % 4 * 2;
  if (rows) {
    const int64_t row0 = core_result_at(table, own + g), row1 = core_result_at(table, own + 8 + g);
    UNROLL(CORE_WIDTH)
    for (uint32_t i = 0; i < width; ++i) {
      const uint32_t column = (group + i) * 8 + q;
      core_write(args, result, whole, row0, row1, core_result_at(0, column), core_result_at(0, column + 1), sum[i]);
    }
    return;
  }
  UNROLL(CORE_WIDTH)
  for (uint32_t i = 0; i < width; ++i) {
    const uint32_t row = (group + i / 2 * 2) * 8 + g, column = own + i % 2 * 8 + q;
    core_write(args, result, whole, core_result_at(0, row), core_result_at(0, row + 8), core_result_at(table, column),
               core_result_at(table, column + 1), sum[i]);
  }
}

/* What all groups of a tile have in common for a warp. */
typedef struct core_part {
  const cutt_core_args *args;
  unsigned char *result;
  core_share share;
  uint32_t table, slot, own, there; /* there: kept positions that there are */
  bool rows, whole;
} core_part;

DEVICE void core_groups(const core_part *part, uint32_t group, uint32_t width) {
  double sum[CORE_WIDTH][4];
  const bool whole = part->whole && (group + width) * 8 <= part->there;
  core_clear(width, sum);
  core_multiply(part->args, &part->share, part->share.kept + group * 8 * part->args->keeps.position, part->slot,
                part->args->steps, width, part->rows, sum);
  core_finish(part->args, part->result, part->table, part->own, group, width, part->rows, whole, sum);
}

/* The groups of what is kept that a warp has, from one to the other: of two warps that have the same part of the tile each takes half. */
DEVICE void core_own_groups(const cutt_core_args *args, uint32_t least, uint32_t *begin, uint32_t *end) {
  const uint32_t groups = args->panel_room / 8, half = (groups / least + 1) / 2 * least;
  const bool shared = thread_count() > CUTT_CORE_THREADS / 2, second = thread_index() >= CUTT_CORE_THREADS / 2;
  *begin = shared && second ? half : 0;
  *end = shared && !second ? half : groups;
}

/* A tile times all that is kept. */
DEVICE void core_tile(const cutt_core_args *args, unsigned char *result, const core_share *share, uint32_t table,
                      uint32_t slot, uint32_t there, bool rows, bool whole) {
  const uint32_t own = thread_index() / 32 % 4 * 16, least = rows ? 1 : 2;
  uint32_t group, end;
  core_own_groups(args, least, &group, &end);
  core_part part = {args, result, *share, table, slot, own, there, rows, whole};
  const uint32_t most = rows ? CORE_WIDTH : CUTT_CORE_ROW_GROUPS;
  uint32_t turns = (end - group + most - 1) / most;
  UNROLL(1)
  for (; turns > 0; --turns) {
    const uint32_t width = ((end - group) / least + turns - 1) / turns * least;
    switch (width) {
      case 1:
        if (rows) core_groups(&part, group, 1);
        break;
      case 2:
        core_groups(&part, group, 2);
        break;
      case 3:
        if (rows) core_groups(&part, group, 3);
        break;
      case 4:
        core_groups(&part, group, 4);
        break;
      default:
        if (rows) core_groups(&part, group, 5);
        break;
    }
    group += width;
  }
}

/* ------------------------------------------------------------------------------------------------------------------- blocks */

/* Where a block is: which matrix, what it keeps of it, and which tiles it goes along. */
typedef struct core_block {
  uint32_t begin, there; /* the first position that it keeps, and how many there are */
  uint32_t strip, count; /* its first tile, and how many it has */
  unsigned char *result;
  const unsigned char *streamed, *kept;
  core_share share;
} core_block;

/* rows: the operand that comes in tiles is the one that has the rows. */
DEVICE core_block core_begin(const cutt_core_args *args, const unsigned char *left, unsigned char *result,
                             const unsigned char *right, bool rows) {
  const uint32_t above = divide(block_index(), args->panels), matrix = divide(above, args->strips);
  const uint32_t lane = thread_index() % 32, own = thread_index() / 32 % 4 * 16 + lane / 4, apart = args->strips.by;
  core_block b;
  b.begin = (block_index() - above * args->panels.by) * args->panel;
  b.there = args->kept - b.begin < args->panel ? args->kept - b.begin : args->panel;
  b.strip = above - matrix * apart;
  b.count = b.strip < args->tiles ? (args->tiles - b.strip + apart - 1) / apart : 0;
  place p = {0, 0, 0};
  place_go(args->digit, args->term_end, args->batch_end, matrix, &p);
  b.result = result + p.result;
  b.streamed = rows ? left + p.left : right + p.right;
  b.kept = rows ? right + p.right : left + p.left;
  b.share.streamed[0] = core_place(args, own) * args->streams.position + lane % 4 * args->streams.term;
  b.share.streamed[1] = core_place(args, own + 8) * args->streams.position + lane % 4 * args->streams.term;
  b.share.kept = args->keeps.at + lane / 4 * args->keeps.position + lane % 4 * args->keeps.term;
  core_describe_kept(args, !rows, b.begin);
  for (uint32_t i = thread_index(); i < args->slots * CUTT_CORE_TILE; i += thread_count()) {
    const uint32_t number = i / CUTT_CORE_TILE;
    if (number < b.count) core_describe_tile(args, rows, b.strip + number * apart, number, i % CUTT_CORE_TILE);
  }
  core_fill(&args->keeps, args->keeps.at, args->panel_room, args->terms);
  return b;
}

/* Starts to copy what the block keeps. */
DEVICE void core_copy_kept(const cutt_core_args *args, const core_block *b, bool rows) {
  const core_source keeps = {&args->keeps, b->kept, 0, args->panel_room, args->terms_at + (rows ? 8 : 0), args->terms};
  core_copy_any(&keeps, args->keeps.by_terms ? args->term : args->room, false, args->keeps.at);
}

/* Describes the tile `slots` tiles on, by threads that are others each time. */
DEVICE void core_describe_next(const cutt_core_args *args, const core_block *b, uint32_t number, bool rows) {
  const uint32_t after = number + args->slots;
  if (after < b->count && thread_index() / CUTT_CORE_TILE == number % (thread_count() / CUTT_CORE_TILE))
    core_describe_tile(args, rows, b->strip + after * args->strips.by, after, thread_index() % CUTT_CORE_TILE);
}

/* Are all its results there, and written as they are? */
DEVICE bool core_is_whole(const cutt_core_args *args, uint32_t tile) {
  return args->alone && !args->reads && (tile + 1) * CUTT_CORE_TILE <= args->streamed;
}

DEVICE void core_run(const cutt_core_args *args, const unsigned char *left, unsigned char *result,
                     const unsigned char *right, bool rows) {
  const core_block b = core_begin(args, left, result, right, rows);
  const uint32_t apart = args->strips.by, slots = args->slots;
  for (uint32_t i = 0; i < slots; ++i)
    core_fill(&args->streams, args->streams.at + i * args->slot_bytes, CUTT_CORE_TILE, args->terms);
  barrier();
  core_source streams = {&args->streams, b.streamed, 0, CUTT_CORE_TILE, args->terms_at + (rows ? 0 : 8), args->terms};
  const bool wide = args->wide && !((uintptr_t)b.streamed & 15);
  core_copy_kept(args, &b, rows);
  for (uint32_t i = 0; i + 1 < slots; ++i) {
    streams.table = core_table(args, i);
    if (i < b.count) core_copy_tile(args, &streams, wide, false, args->streams.at + i * args->slot_bytes);
    async_commit();
  }
  uint32_t slot = 0; /* of the tile */
  UNROLL(1)
  for (uint32_t number = 0; number < b.count; ++number) {
    const uint32_t next = number + slots - 1;
    async_wait(slots - 2);
    barrier();
    streams.table = core_table(args, next);
    if (next < b.count)
      core_copy_tile(args, &streams, wide, false, args->streams.at + (slot ? slot - 1 : slots - 1) * args->slot_bytes);
    async_commit();
    core_describe_next(args, &b, number, rows);
    core_tile(args, b.result, &b.share, core_table(args, number), args->streams.at + slot * args->slot_bytes, b.there,
              rows, core_is_whole(args, b.strip + number * apart));
    slot = slot + 1 == slots ? 0 : slot + 1;
  }
  async_wait(0);
}

/* Which lot of which tile is copied next, and to which slot. */
typedef struct core_next {
  uint32_t number, lot, slot;
} core_next;

DEVICE void core_copy_lot(const cutt_core_args *args, const core_block *b, bool wide, bool rows, core_next *next) {
  const uint32_t first = next->lot * args->depth, left = args->terms - first;
  const uint32_t to = args->streams.at + next->slot * args->slot_bytes;
  const core_source streams = {&args->streams, b->streamed, core_table(args, next->number), CUTT_CORE_TILE,
                               args->terms_at + first * CUTT_CORE_ENTRY + (rows ? 0 : 8),
                               left < args->depth ? left : args->depth};
  if (next->number < b->count) {
    core_copy_tile(args, &streams, wide, true, to);
    core_fill(&args->streams, to, CUTT_CORE_TILE, streams.terms);
  }
  async_commit();
  next->slot = next->slot + 1 == args->slots ? 0 : next->slot + 1;
  next->lot = next->lot + 1 == args->lots ? 0 : next->lot + 1;
  next->number += next->lot == 0;
}

/* Adds the products of a lot, of so many groups. */
DEVICE void core_add_lot(const cutt_core_args *args, const core_share *share, uint32_t kept, uint32_t slot,
                         uint32_t steps, uint32_t width, bool rows, double (*sum)[4]) {
  switch (width) {
    case 0:
      break;
    case 1:
      if (rows) core_multiply(args, share, kept, slot, steps, 1, rows, sum);
      break;
    case 2:
      core_multiply(args, share, kept, slot, steps, 2, rows, sum);
      break;
    case 3:
      if (rows) core_multiply(args, share, kept, slot, steps, 3, rows, sum);
      break;
    case 4:
      core_multiply(args, share, kept, slot, steps, 4, rows, sum);
      break;
    default:
      if (rows) core_multiply(args, share, kept, slot, steps, 5, rows, sum);
      break;
  }
}

/* The same as core_run, with terms in lots: a warp has the sums of all its groups at once. */
DEVICE void core_run_lots(const cutt_core_args *args, const unsigned char *left, unsigned char *result,
                          const unsigned char *right, bool rows) {
  const core_block b = core_begin(args, left, result, right, rows);
  const bool wide = args->wide && !((uintptr_t)b.streamed & 15);
  const uint32_t own = thread_index() / 32 % 4 * 16, most = rows ? CORE_WIDTH : CUTT_CORE_ROW_GROUPS;
  core_next next = {0, 0, 0};
  double sum[CORE_WIDTH][4];
  uint32_t group, end, slot = 0;
  core_own_groups(args, rows ? 1 : 2, &group, &end);
  const uint32_t width = end - group, share = b.share.kept + group * 8 * args->keeps.position;
  barrier();
  core_copy_kept(args, &b, rows);
  for (uint32_t i = 0; i + 1 < args->slots; ++i) core_copy_lot(args, &b, wide, rows, &next);
  UNROLL(1)
  for (uint32_t number = 0; number < b.count; ++number) {
    core_clear(most, sum);
    UNROLL(1)
    for (uint32_t done = 0; done < args->terms; done += args->depth) {
      const uint32_t terms = args->terms - done < args->depth ? args->terms - done : args->depth;
      async_wait(args->slots - 2);
      barrier();
      core_copy_lot(args, &b, wide, rows, &next);
      if (done == 0) core_describe_next(args, &b, number, rows);
      core_add_lot(args, &b.share, share + done * args->keeps.term, args->streams.at + slot * args->slot_bytes,
                   (terms + CUTT_CORE_STEP - 1) / CUTT_CORE_STEP, width, rows, sum);
      slot = slot + 1 == args->slots ? 0 : slot + 1;
    }
    const bool whole = core_is_whole(args, b.strip + number * args->strips.by);
    UNROLL(CORE_WIDTH)
    for (uint32_t i = 0; i < most; i += rows ? 1 : 2) {
      if (i < width)
        core_finish(args, b.result, core_table(args, number), own, group + i, rows ? 1 : 2, rows,
                    whole && (group + i + (rows ? 1 : 2)) * 8 <= b.there, sum + i);
    }
  }
  async_wait(0);
}

/* -------------------------------------------------------------------------------------------------------------- the kernels */

#define CORE_KERNEL(name, run, rows)                                                                                   \
  KERNEL(cutt_core_##name##_f64, CUTT_CORE_THREADS, CORE_BLOCKS)                                                       \
  (const unsigned char *left, unsigned char *result, CONSTANT(cutt_core_args) args, const unsigned char *right) {      \
    run(&args, left, result, right, rows);                                                                             \
  }
CORE_KERNEL(rows, core_run, true)
CORE_KERNEL(columns, core_run, false)
CORE_KERNEL(rows_lots, core_run_lots, true)
CORE_KERNEL(columns_lots, core_run_lots, false)
