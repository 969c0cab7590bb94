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

#define COMBINE_FAR 0x7fffffff /* beyond any place in a mode */

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

/* Where something is: in each tensor, and in what is turned of each operand. */
typedef struct combine_spot {
  int64_t d, a, b, c;
  uint32_t place_a, place_b, place_c;
  uint32_t split, first; /* in the mode that is split, and in the first one */
  bool there;            /* within the limits of all others; of a tile: it is whole */
} combine_spot;

DEVICE uint32_t combine_limit(uint32_t mode) { return shared_load4(mode * CUTT_COMBINE_WORD_BYTES); }

/* Where the tile begins, and whether it is whole. Lists how much of each mode it has. */
DEVICE combine_spot combine_begin(const cutt_combine_args *args) {
  combine_spot tile = {0, 0, 0, 0, 0, 0, 0, 0, 0, true};
  uint32_t number = block_index();
  for (uint32_t i = 0; i < args->modes; ++i) {
    const cutt_combine_mode *mode = &args->mode[i];
    const uint32_t rest = divide(number, mode->chunks);
    const int64_t along = (int64_t)(number - rest * mode->chunks.by) * mode->chunk;
    tile.d += along * mode->step[0];
    tile.a += along * mode->step[1];
    tile.b += along * mode->step[2];
    tile.c += along * mode->step[3];
    number = rest;
    if (i >= args->tile_modes) continue;
    const int64_t left = args->extent[i] - along;
    tile.there = tile.there && left >= mode->chunk;
    if (i != thread_index()) continue;
    shared_store4(i * CUTT_COMBINE_WORD_BYTES, left < mode->chunk ? (uint32_t)left : mode->chunk);
  }
  return tile;
}

/* Goes on by a number of which digit[first] to digit[end - 1] of the walk are the digits. */
DEVICE void combine_go(const cutt_combine_args *args, const cutt_combine_walk *walk, uint32_t first, uint32_t end,
                       uint32_t number, combine_spot *spot) {
  for (uint32_t i = first; i < end; ++i) {
    const cutt_combine_digit *digit = &walk->digit[i];
    const uint32_t rest = divide(number, digit->extent), mode = digit->mode;
    const uint32_t along = (number - rest * digit->extent.by) * digit->along;
    spot->d += (int64_t)along * args->mode[mode].step[0];
    spot->a += (int64_t)along * args->mode[mode].step[1];
    spot->b += (int64_t)along * args->mode[mode].step[2];
    spot->c += (int64_t)along * args->mode[mode].step[3];
    spot->place_a += along * args->place[0][mode];
    spot->place_b += along * args->place[1][mode];
    spot->place_c += along * args->place[2][mode];
    if (mode == 0) spot->first = along;
    if (mode == walk->split) {
      spot->split = along;
    } else {
      spot->there = spot->there && along < combine_limit(mode);
    }
    number = rest;
  }
}

/* A thread's position in a walk. */
DEVICE combine_spot combine_position(const cutt_combine_args *args, const cutt_combine_walk *walk) {
  combine_spot me = {0, 0, 0, 0, 0, 0, 0, 0, 0, true};
  me.there = thread_index() < walk->x;
  combine_go(args, walk, 0, walk->x_end, thread_index(), &me);
  return me;
}

/* How much of the mode that is split is left from a row on: nothing where the row is not there. */
DEVICE uint32_t combine_left(const cutt_combine_walk *walk, const combine_spot *row) {
  if (!row->there) return 0;
  if (walk->split == CUTT_COMBINE_WHOLE) return COMBINE_FAR;
  const uint32_t limit = combine_limit(walk->split);
  return row->split < limit ? limit - row->split : 0;
}

/* A row's entry of a walk's table; rows beyond the last one have that of row `first`. */
DEVICE uint32_t combine_entry(const cutt_combine_walk *walk, uint32_t table, uint32_t y) {
  return walk->table_at + (table * walk->rows + y) * CUTT_COMBINE_WORD_BYTES;
}
DEVICE uint32_t combine_row(const cutt_combine_walk *walk, uint32_t table, uint32_t y, uint32_t first) {
  return shared_load4(combine_entry(walk, table, y < walk->rows ? y : first));
}
DEVICE int64_t combine_offset(const cutt_combine_walk *walk, uint32_t table, uint32_t y, uint32_t first) {
  return (int32_t)combine_row(walk, table, y, first);
}

/* A thread's first row of a walk: those of several walks are other threads' work. */
DEVICE uint32_t combine_first_row(uint32_t walk) {
  return (thread_index() + walk * CUTT_COMBINE_APART) % thread_count();
}

/* The rows of all walks. */
DEVICE void combine_list_rows(const cutt_combine_args *args) {
  const cutt_combine_walk *walk = &args->walk[0];
  for (uint32_t y = thread_index(); y < walk->rows; y += thread_count()) {
    combine_spot row = {0, 0, 0, 0, 0, 0, 0, 0, 0, true};
    combine_go(args, walk, walk->x_end, walk->y_end, y, &row);
    shared_store4(combine_entry(walk, CUTT_COMBINE_ROW_D, y), (uint32_t)row.d);
    shared_store4(combine_entry(walk, CUTT_COMBINE_ROW_A, y), (uint32_t)row.a);
    shared_store4(combine_entry(walk, CUTT_COMBINE_ROW_B, y), (uint32_t)row.b);
    shared_store4(combine_entry(walk, CUTT_COMBINE_ROW_C, y), (uint32_t)row.c);
    shared_store4(combine_entry(walk, CUTT_COMBINE_PLACE_A, y), row.place_a);
    shared_store4(combine_entry(walk, CUTT_COMBINE_PLACE_B, y), row.place_b);
    shared_store4(combine_entry(walk, CUTT_COMBINE_PLACE_C, y), row.place_c);
    shared_store4(combine_entry(walk, CUTT_COMBINE_LEFT, y), combine_left(walk, &row));
  }
  for (uint32_t k = 0; k < CUTT_COMBINE_OPERANDS; ++k) {
    if (args->use[k] != CUTT_COMBINE_TURNED) continue;
    walk = &args->walk[1 + k];
    for (uint32_t y = combine_first_row(1 + k); y < walk->rows; y += thread_count()) {
      combine_spot row = {0, 0, 0, 0, 0, 0, 0, 0, 0, true};
      combine_go(args, walk, walk->x_end, walk->y_end, y, &row);
      shared_store4(combine_entry(walk, CUTT_COMBINE_TURN_ROW, y), (uint32_t)(k == 0 ? row.a : k == 1 ? row.b : row.c));
      shared_store4(combine_entry(walk, CUTT_COMBINE_TURN_PLACE, y), k == 0   ? row.place_a
                                                                     : k == 1 ? row.place_b
                                                                              : row.place_c);
      shared_store4(combine_entry(walk, CUTT_COMBINE_TURN_LEFT, y), combine_left(walk, &row));
    }
  }
}

#endif
