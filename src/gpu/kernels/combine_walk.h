/* Where the threads of a block are in a tile (combine_args.h): what kernels of all types have in common. */
#ifndef CUTT_GPU_KERNELS_COMBINE_WALK_H
#define CUTT_GPU_KERNELS_COMBINE_WALK_H

#include "combine_args.h"
#include "divide.h"
#include "pass_numbers.h"

#define COMBINE_PASTE(a, b) a##b
#define COMBINE_NAME(a, b) COMBINE_PASTE(a, b)
#define COMBINE_OF(what) COMBINE_NAME(what, COMBINE_TYPE)
#define COMBINE_NUMBER_OF(what) COMBINE_NAME(what, COMBINE_NUMBER)
#define COMBINE_REAL COMBINE_NAME(pass_, COMBINE_NUMBER)
#define COMBINE_ACCESS(what) COMBINE_NAME(what, COMBINE_BYTES)
#define COMBINE_KERNEL(name, blocks) KERNEL(name, CUTT_COMBINE_THREADS, blocks) /* whose name is put together first */

/* Numbers x = x op y; the operator is looked at once for all of them. */
#define COMBINE_JOIN(op, x, y, count)                                                                                  \
  if ((op) == CUTT_COMBINE_ADD) {                                                                                      \
    UNROLL(count)                                                                                                      \
    for (uint32_t i = 0; i < (count); ++i) (x)[i] = COMBINE_NUMBER_OF(add_)((x)[i], (y)[i]);                           \
  } else if ((op) == CUTT_COMBINE_MULTIPLY) {                                                                          \
    UNROLL(count)                                                                                                      \
    for (uint32_t i = 0; i < (count); ++i) (x)[i] = COMBINE_NUMBER_OF(multiply_)((x)[i], (y)[i]);                      \
  } else {                                                                                                             \
    UNROLL(count)                                                                                                      \
    for (uint32_t i = 0; i < (count); ++i) (x)[i] = COMBINE_NUMBER_OF(combine_)((op), (x)[i], (y)[i]);                 \
  }

#define COMBINE_FAR 0xffffu /* beyond any place in a mode */

DEVICE float scaled_float(const cutt_combine_scalar *by, float v) { return (float)by->number[0] * v; }
DEVICE double scaled_double(const cutt_combine_scalar *by, double v) { return by->number[0] * v; }
DEVICE uint32_t scaled_u32(const cutt_combine_scalar *by, uint32_t v) { return (uint32_t)by->whole * v; }
DEVICE uint64_t scaled_u64(const cutt_combine_scalar *by, uint64_t v) { return (uint64_t)by->whole * v; }
DEVICE pass_complex_float scaled_complex_float(const cutt_combine_scalar *by, pass_complex_float v) {
  return times_complex_float(by->number, by->mixed, v);
}
DEVICE pass_complex_double scaled_complex_double(const cutt_combine_scalar *by, pass_complex_double v) {
  return times_complex_double(by->number, by->mixed, v);
}

enum { COMBINE_WARP = 32 };
enum { COMBINE_FEW = 3 }; /* digits, and modes of a tile's number, that are looked at without a loop */

/* Of the digits of a number, the first few as constants, as most walks have no more: an index that changes takes far longer. number: what
 * is left of it; each(digit, value): digit: its index. */
#define COMBINE_DIGITS(walk, count, index, number, each)                                                               \
  {                                                                                                                    \
    uint32_t combine_rest = (number);                                                                                  \
    UNROLL(COMBINE_FEW)                                                                                                \
    for (uint32_t i = 0; i < COMBINE_FEW; ++i) {                                                                       \
      if (i >= (count)) break;                                                                                         \
      const uint32_t next = multiply_high(combine_rest, (walk)->digit[index(i)].inverse);                              \
      const uint32_t value = combine_rest - next * (walk)->digit[index(i)].extent;                                     \
      combine_rest = next;                                                                                             \
      each(index(i), value)                                                                                            \
    }                                                                                                                  \
    UNROLL(1)                                                                                                          \
    for (uint32_t i = COMBINE_FEW; i < (count); ++i) {                                                                 \
      const uint32_t next = multiply_high(combine_rest, (walk)->digit[index(i)].inverse);                              \
      const uint32_t value = combine_rest - next * (walk)->digit[index(i)].extent;                                     \
      combine_rest = next;                                                                                             \
      each(index(i), value)                                                                                            \
    }                                                                                                                  \
  }
#define COMBINE_X(i) (i)
#define COMBINE_Y(i) (CUTT_COMBINE_DIGITS - 1 - (i))

/* Where something is: in D and in each operand, of what is turned in bytes of shared memory; the same of another operand's walk. */
typedef struct combine_spot {
  int32_t d, a, b, c;
} combine_spot;
typedef struct combine_own {
  int32_t from, place;
} combine_own;

/* A thread's position in the first walk, and a row of it. */
#define COMBINE_ADD_SPOT(k, value)                                                                                     \
  spot.d += (int32_t)(value)*args->first_step[k][0];                                                                   \
  spot.a += (int32_t)(value)*args->first_step[k][1];                                                                   \
  spot.b += (int32_t)(value)*args->first_step[k][2];                                                                   \
  spot.c += (int32_t)(value)*args->first_step[k][3];
DEVICE combine_spot combine_position(const cutt_combine_args *args) {
  combine_spot spot = {0, 0, 0, 0};
  COMBINE_DIGITS(&args->walk[0], args->walk[0].x_digits, COMBINE_X, thread_index(), COMBINE_ADD_SPOT)
  return spot;
}
DEVICE combine_spot combine_row_spot(const cutt_combine_args *args, uint32_t y) {
  combine_spot spot = {0, 0, 0, 0};
  COMBINE_DIGITS(&args->walk[0], args->walk[0].y_digits, COMBINE_Y, y, COMBINE_ADD_SPOT)
  return spot;
}
#undef COMBINE_ADD_SPOT

/* The same of another operand's walk. */
#define COMBINE_ADD_OWN(k, value)                                                                                      \
  own.from += (int32_t)(value)*args->own_step[operand][k][0];                                                          \
  own.place += (int32_t)(value)*args->own_step[operand][k][1];
DEVICE combine_own combine_own_position(const cutt_combine_args *args, uint32_t operand) {
  combine_own own = {0, 0};
  COMBINE_DIGITS(&args->walk[1 + operand], args->walk[1 + operand].x_digits, COMBINE_X, thread_index(), COMBINE_ADD_OWN)
  return own;
}
DEVICE combine_own combine_own_row(const cutt_combine_args *args, uint32_t operand, uint32_t y) {
  combine_own own = {0, 0};
  COMBINE_DIGITS(&args->walk[1 + operand], args->walk[1 + operand].y_digits, COMBINE_Y, y, COMBINE_ADD_OWN)
  return own;
}
#undef COMBINE_ADD_OWN

/* Where a tile begins, in elements of each tensor, and whether it is whole. */
typedef struct combine_tile {
  int64_t d, a, b, c;
  bool whole;
  uint32_t number;
} combine_tile;
DEVICE void combine_add_mode(const cutt_combine_args *args, uint32_t i, uint32_t *number, combine_tile *tile) {
  const uint32_t rest = divide(*number, args->mode[i].chunks);
  const int32_t chunk = (int32_t)(*number - rest * args->mode[i].chunks.by);
  *number = rest;
  tile->d += (int64_t)chunk * args->mode[i].step[0];
  tile->a += (int64_t)chunk * args->mode[i].step[1];
  tile->b += (int64_t)chunk * args->mode[i].step[2];
  tile->c += (int64_t)chunk * args->mode[i].step[3];
  if (i < args->tile_modes && (uint32_t)chunk + 1 == args->mode[i].chunks.by)
    tile->whole = tile->whole &&
                  args->last[i < CUTT_COMBINE_TILE_MODES ? i : 0] == args->chunk[i < CUTT_COMBINE_TILE_MODES ? i : 0];
}
DEVICE combine_tile combine_tile_of(const cutt_combine_args *args, uint32_t number) {
  combine_tile tile = {0, 0, 0, 0, true, number};
  UNROLL(COMBINE_FEW)
  for (uint32_t i = 0; i < COMBINE_FEW; ++i) {
    if (i >= args->modes) break;
    combine_add_mode(args, i, &number, &tile);
  }
  UNROLL(1)
  for (uint32_t i = COMBINE_FEW; i < args->modes; ++i) combine_add_mode(args, i, &number, &tile);
  return tile;
}

/* Bytes that a tile of an operand which is loaded by windows lies behind a multiple of 16. */
DEVICE uint32_t combine_shift(const cutt_combine_args *args, uint32_t operand, const unsigned char *tile) {
  return (uint32_t)(uintptr_t)tile & args->walk[1 + operand].window;
}

/* Where a thread's elements of an operand that is turned are in shared memory. tile: where the tile begins in the operand. */
DEVICE uint32_t combine_at(const cutt_combine_args *args, uint32_t operand, const unsigned char *tile, int32_t mine) {
  return args->turned_at[operand] + combine_shift(args, operand, tile) + (uint32_t)mine;
}

/* To work out where a tile begins takes long: one warp does it for all, while the block waits for the tile before. */
DEVICE uint32_t combine_tile_at(uint32_t turn) { return CUTT_COMBINE_TILES_AT + turn % 2 * CUTT_COMBINE_TILE_BYTES; }
DEVICE word4 combine_two_words(int64_t x, int64_t y) {
  const word4 v = {(uint32_t)x, (uint32_t)((uint64_t)x >> 32), (uint32_t)y, (uint32_t)((uint64_t)y >> 32)};
  return v;
}
DEVICE void combine_list_tile(const cutt_combine_args *args, uint32_t number, uint32_t turn) {
  if (thread_index() / COMBINE_WARP + 1 != thread_count() / COMBINE_WARP) return;
  const combine_tile tile = combine_tile_of(args, number);
  const uint32_t at = combine_tile_at(turn);
  if (thread_index() % COMBINE_WARP > 0) return;
  shared_store16(at, combine_two_words(tile.d, tile.a));
  shared_store16(at + 16, combine_two_words(tile.b, tile.c));
  const word2 rest = {tile.whole, tile.number};
  shared_store8(at + 32, rest);
}
DEVICE int64_t combine_long(uint32_t low, uint32_t high) { return (int64_t)((uint64_t)high << 32 | low); }
DEVICE combine_tile combine_listed_tile(uint32_t turn) {
  const uint32_t at = combine_tile_at(turn);
  const word4 x = shared_load16(at), y = shared_load16(at + 16);
  const word2 rest = shared_load8(at + 32);
  const combine_tile tile = {combine_long(x.x, x.y),
                             combine_long(x.z, x.w),
                             combine_long(y.x, y.y),
                             combine_long(y.z, y.w),
                             rest.x != 0,
                             rest.y};
  return tile;
}

/* ------------------------------------------------------------------------------------------------------- what is left */

/* Lists how much of each mode a tile has. */
DEVICE uint32_t combine_limit_at(uint32_t set, uint32_t mode) {
  return (set * CUTT_COMBINE_TILE_MODES + mode) * CUTT_COMBINE_WORD_BYTES;
}
DEVICE void combine_list_limits(const cutt_combine_args *args, uint32_t number, uint32_t set) {
  UNROLL(1)
  for (uint32_t i = 0; i < args->tile_modes; ++i) {
    const uint32_t rest = divide(number, args->mode[i].chunks);
    const bool last =
        set == CUTT_COMBINE_PART && number - rest * args->mode[i].chunks.by + 1 == args->mode[i].chunks.by;
    number = rest;
    if (i == thread_index()) shared_store4(combine_limit_at(set, i), last ? args->last[i] : args->chunk[i]);
  }
}

/* Of a thread's position in a tile, or of a row's: is it within the limits of all modes but those that are split; where it is in
 * these, 16 bits each, and in the first mode. */
typedef struct combine_part {
  uint32_t split, first;
  bool there;
} combine_part;

/* Is a position left in a row? */
DEVICE bool combine_within(uint32_t split, uint32_t left) {
  return (split & COMBINE_FAR) < (left & COMBINE_FAR) && split >> 16 < left >> 16;
}

#define COMBINE_ADD_PART(k, value)                                                                                     \
  const uint32_t mode = walk->digit[k].mode, along = (value)*walk->digit[k].along;                                     \
  if (mode == 0) part.first = along;                                                                                   \
  if (mode == walk->split[0]) {                                                                                        \
    part.split += along;                                                                                               \
  } else if (mode == walk->split[1]) {                                                                                 \
    part.split += along << 16;                                                                                         \
  } else {                                                                                                             \
    part.there = part.there && along < shared_load4(combine_limit_at(set, mode));                                      \
  }
/* A thread's, and whether a tile has it. */
DEVICE combine_part combine_mine(const cutt_combine_walk *walk, uint32_t set) {
  combine_part part = {0, 0, thread_index() < walk->x};
  COMBINE_DIGITS(walk, walk->x_digits, COMBINE_X, thread_index(), COMBINE_ADD_PART)
  return part;
}
/* How much of the modes that are split is left from a row on: nothing where the row is not there. */
DEVICE uint32_t combine_left(const cutt_combine_walk *walk, uint32_t y, uint32_t set) {
  combine_part part = {0, 0, true};
  uint32_t left = 0;
  COMBINE_DIGITS(walk, walk->y_digits, COMBINE_Y, y, COMBINE_ADD_PART)
  UNROLL(2)
  for (uint32_t i = 0; i < CUTT_COMBINE_SPLITS; ++i) {
    const uint32_t at = part.split >> 16 * i & COMBINE_FAR;
    uint32_t more = COMBINE_FAR;
    if (walk->split[i] != CUTT_COMBINE_WHOLE) {
      const uint32_t limit = shared_load4(combine_limit_at(set, walk->split[i]));
      more = at < limit ? limit - at : 0;
    }
    left |= more << 16 * i;
  }
  return part.there ? left : 0;
}
#undef COMBINE_ADD_PART

/* -------------------------------------------------------------------------------------------------------------- tables */

/* Rows beyond the last one have the entry of row `first`. */
DEVICE uint32_t combine_left_of(const cutt_combine_walk *walk, uint32_t table, uint32_t y, uint32_t first) {
  return shared_load4(walk->table_at + (table * walk->rows + (y < walk->rows ? y : first)) * CUTT_COMBINE_WORD_BYTES);
}

/* A row's offsets in all tensors, and in one of them, of the first walk; those of another operand's. */
DEVICE uint32_t combine_row_at(const cutt_combine_walk *walk, uint32_t y) {
  return walk->table_at + y * (4 * CUTT_COMBINE_WORD_BYTES);
}
DEVICE uint32_t combine_row_of(const cutt_combine_walk *walk, uint32_t table, uint32_t y, uint32_t first) {
  return shared_load4(combine_row_at(walk, y < walk->rows ? y : first) + table * CUTT_COMBINE_WORD_BYTES);
}
DEVICE uint32_t combine_own_at(const cutt_combine_walk *walk, uint32_t y) {
  return walk->table_at + y * (2 * CUTT_COMBINE_WORD_BYTES);
}

/* Of a walk by windows: is a run there in a tile that is not whole. */
DEVICE uint32_t combine_run_at(const cutt_combine_walk *walk, uint32_t y) {
  return walk->table_at + CUTT_COMBINE_WINDOW_TABLES * CUTT_COMBINE_WORD_BYTES * walk->rows + y;
}

/* A thread's first row of a walk: those of several walks are other threads' work. */
DEVICE uint32_t combine_first_row(uint32_t walk) {
  return (thread_index() + walk * CUTT_COMBINE_APART) % thread_count();
}

DEVICE void combine_list_rows(const cutt_combine_args *args) {
  UNROLL(1)
  for (uint32_t y = thread_index(); y < args->walk[0].rows; y += thread_count()) {
    const combine_spot row = combine_row_spot(args, y);
    const word4 entry = {(uint32_t)row.d, (uint32_t)row.a, (uint32_t)row.b, (uint32_t)row.c};
    shared_store16(combine_row_at(&args->walk[0], y), entry);
  }
  UNROLL(3)
  for (uint32_t k = 0; k < CUTT_COMBINE_OPERANDS; ++k) {
    const cutt_combine_walk *walk = &args->walk[1 + k];
    if (args->use[k] != CUTT_COMBINE_TURNED) continue;
    UNROLL(1)
    for (uint32_t y = combine_first_row(1 + k); y < walk->rows; y += thread_count()) {
      const combine_own row = combine_own_row(args, k, y);
      const word2 entry = {(uint32_t)row.from, (uint32_t)row.place};
      shared_store8(combine_own_at(walk, y), entry);
    }
  }
}

/* How much is left, of all rows of all walks, when the limits are listed. */
DEVICE void combine_list_left(const cutt_combine_args *args, uint32_t set) {
  UNROLL(1)
  for (uint32_t w = 0; w < 1 + CUTT_COMBINE_OPERANDS; ++w) {
    const cutt_combine_walk *walk = &args->walk[w];
    const uint32_t table = w == 0 ? CUTT_COMBINE_LEFT : CUTT_COMBINE_TURN_LEFT;
    if (w > 0 && args->use[w - 1] != CUTT_COMBINE_TURNED) continue;
    if (walk->window) {
      UNROLL(1)
      for (uint32_t y = combine_first_row(w); y < walk->rows && set == CUTT_COMBINE_PART; y += thread_count())
        shared_store1(combine_run_at(walk, y), combine_left(walk, y, set) ? 1 : 0);
      continue;
    }
    UNROLL(1)
    for (uint32_t y = combine_first_row(w); y < walk->rows; y += thread_count())
      shared_store4(walk->table_at + ((table + set) * walk->rows + y) * CUTT_COMBINE_WORD_BYTES,
                    combine_left(walk, y, set));
  }
}

/* The elements of an access, and an access of elements. */
DEVICE void combine_unpack2(word4 v, uint16_t *e) {
  e[0] = (uint16_t)v.x, e[1] = (uint16_t)(v.x >> 16), e[2] = (uint16_t)v.y, e[3] = (uint16_t)(v.y >> 16);
  e[4] = (uint16_t)v.z, e[5] = (uint16_t)(v.z >> 16), e[6] = (uint16_t)v.w, e[7] = (uint16_t)(v.w >> 16);
}
DEVICE word4 combine_pack2(const uint16_t *e) {
  const word4 v = {(uint32_t)e[1] << 16 | e[0], (uint32_t)e[3] << 16 | e[2], (uint32_t)e[5] << 16 | e[4],
                   (uint32_t)e[7] << 16 | e[6]};
  return v;
}
DEVICE void combine_unpack4(word4 v, uint32_t *e) { e[0] = v.x, e[1] = v.y, e[2] = v.z, e[3] = v.w; }
DEVICE word4 combine_pack4(const uint32_t *e) {
  const word4 v = {e[0], e[1], e[2], e[3]};
  return v;
}
DEVICE void combine_unpack8(word4 v, word2 *e) { e[0].x = v.x, e[0].y = v.y, e[1].x = v.z, e[1].y = v.w; }
DEVICE word4 combine_pack8(const word2 *e) {
  const word4 v = {e[0].x, e[0].y, e[1].x, e[1].y};
  return v;
}

#endif
