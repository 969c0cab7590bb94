/* How sums of one operand are dealt out to blocks (device_walk.h). */
#include "contract/device_walk.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "gpu/divisor.h"

enum {
  MANY_TURNS = 8, /* of blocks, from which on it matters little how the last one ends */
  FEW_ROWS = 8    /* of a mode, for which another one is looked at */
};

int64_t cutt_sum_bytes(const cutt_contraction *c) { return c->type->bytes == 2 ? 4 : c->type->bytes; }

int64_t cutt_sum_chunk(int64_t extent, int64_t most) {
  enum { MANY = 16 };
  const int64_t chunks = cutt_ceil_of(extent, most);
  return chunks >= MANY ? most : cutt_ceil_of(extent, chunks);
}

int cutt_sum_row_mode(const cutt_contraction *c, bool summed, int but) {
  int closest = -1, longest = -1;
  for (int i = 0; i < c->modes; ++i) {
    if (cutt_is_summed(c, i) != summed || i == but) continue;
    if (closest < 0 || llabs(c->mode[i].stride[CUTT_LEFT]) < llabs(c->mode[closest].stride[CUTT_LEFT])) closest = i;
    if (longest < 0 || c->mode[i].extent > c->mode[longest].extent) longest = i;
  }
  return closest >= 0 && c->mode[closest].extent < FEW_ROWS ? longest : closest;
}

int64_t cutt_sum_written_unit(const cutt_contraction *c) {
  enum { SECTOR = 32, LINE = 128 };
  return c->volume[CUTT_LEFT] * c->type->bytes < c->volume[CUTT_RESULT] * LINE ? LINE : SECTOR;
}

double cutt_sum_written(const cutt_contraction *c, int mode) {
  const int64_t element = c->type->bytes,
                step = mode < 0 ? element : llabs(c->mode[mode].stride[CUTT_RESULT]) * element;
  return (double)smaller(step, cutt_sum_written_unit(c));
}

bool cutt_sum_begins_at(const cutt_contraction *c, int mode, int64_t bytes) {
  for (int i = 0; i < c->modes; ++i)
    if (i != mode && c->mode[i].stride[CUTT_LEFT] * c->type->bytes % bytes != 0) return false;
  return true;
}

void cutt_sum_span(const cutt_contraction *c, int64_t *low, int64_t *high) {
  const int64_t element = c->type->bytes;
  *low = 0;
  *high = element;
  for (int i = 0; i < c->modes; ++i) {
    const int64_t span = (c->mode[i].extent - 1) * c->mode[i].stride[CUTT_LEFT] * element;
    *(span < 0 ? low : high) += span;
  }
}

bool cutt_sum_blocks_count(const cutt_contraction *c, const int64_t *part, cutt_sum_blocks *b) {
  b->tiles = b->terms = 1;
  for (int i = 0; i < c->modes; ++i) {
    int64_t *const count = cutt_is_summed(c, i) ? &b->terms : &b->tiles;
    if (__builtin_mul_overflow(*count, cutt_ceil_of(c->mode[i].extent, part[i]), count) || *count >= INT32_MAX)
      return false;
  }
  return true;
}

double cutt_sum_blocks_of(const cutt_sum_blocks *b) {
  return ceil((double)b->tiles / (double)b->block_tiles) * (double)b->parts;
}

double cutt_sum_steps_of(const cutt_sum_blocks *b, const cutt_sum_steps *s) {
  const double each = (double)b->block_tiles * ceil((double)b->terms / (double)b->parts);
  const double blocks = cutt_sum_blocks_of(b),
               turns = blocks > s->at_once * MANY_TURNS ? blocks / s->at_once : ceil(blocks / s->at_once);
  return turns * (each + s->to_begin) + (b->parts > 1 ? s->to_join + (double)b->parts * s->to_join_part : 0);
}

void cutt_sum_blocks_choose(const cutt_contraction *c, int64_t limit, const cutt_sum_steps *s, cutt_sum_blocks *b) {
  cutt_sum_blocks tried = *b;
  double least = INFINITY;
  const int64_t bytes = cutt_sum_bytes(c) * c->volume[CUTT_RESULT];
  const double blocks = ceil(MANY_TURNS * s->at_once / (double)b->tiles);
  const int64_t most = smaller(smaller((int64_t)blocks, b->terms), limit / bytes);
  tried.parts = 1;
  for (tried.block_tiles = 1; tried.block_tiles <= s->most_tiles; ++tried.block_tiles) {
    const double steps = cutt_sum_steps_of(&tried, s);
    if (!(steps < least * (1 - 1e-9))) continue;
    least = steps;
    *b = tried;
  }
  tried.block_tiles = 1;
  for (int64_t parts = 2; parts <= most; ++parts) {
    const int64_t each = cutt_ceil_of(b->terms, parts);
    tried.parts = cutt_ceil_of(b->terms, each);
    const double steps = cutt_sum_steps_of(&tried, s);
    if (!(steps < least * (1 - 1e-9))) continue;
    least = steps;
    *b = tried;
  }
}

/* All that a tile leaves of the modes that are, or are not, summed over, by their steps in L. Returns how many digits there are then. */
static uint32_t add_digits(const cutt_contraction *c, bool summed, const int64_t *part, int column_mode, int row_mode,
                           const int64_t *result_stride, int64_t result_bytes, uint32_t count, cutt_sum_walk *walk) {
  int mode[CUTT_MOST_MODES], modes = 0;
  for (int i = 0; i < c->modes; ++i)
    if (cutt_is_summed(c, i) == summed) mode[modes++] = i;
  cutt_sort_modes(c, CUTT_LEFT, mode, modes);
  for (int i = 0; i < modes; ++i) {
    const cutt_contract_mode *m = &c->mode[mode[i]];
    const bool columns = mode[i] == column_mode, rows = mode[i] == row_mode;
    const int64_t along = part[mode[i]], extent = cutt_ceil_of(m->extent, along);
    if (extent == 1) continue;
    walk->digit[count++] = (cutt_sum_digit){.extent = cutt_divide_by(extent),
                                            .of_rows = rows,
                                            .step = {m->stride[CUTT_LEFT] * along * c->type->bytes,
                                                     summed ? 0 : result_stride[mode[i]] * along * result_bytes},
                                            .along = columns || rows ? along : 0};
  }
  return count;
}

void cutt_sum_walk_fill(const cutt_contraction *c, const cutt_sum_blocks *b, const int64_t *part, int column_mode,
                        int row_mode, const int64_t *result_stride, int64_t result_bytes, cutt_sum_walk *walk) {
  walk->terms = (uint32_t)b->terms;
  walk->part_terms = (uint32_t)cutt_ceil_of(b->terms, b->parts);
  walk->tiles = (uint32_t)b->tiles;
  walk->block_tiles = (uint32_t)b->block_tiles;
  walk->term_end = add_digits(c, true, part, column_mode, row_mode, result_stride, result_bytes, 0, walk);
  walk->tile_end = add_digits(c, false, part, column_mode, row_mode, result_stride, result_bytes, walk->term_end, walk);
  if (walk->tile_end == 0) walk->digit[0].extent = cutt_divide_by(1); /* which the kernel looks at */
  /* As far as one can say: the first digit of either goes the shortest step. */
  const cutt_sum_digit *tile = &walk->digit[walk->term_end];
  walk->parts_first =
      walk->term_end > 0 && (walk->term_end == walk->tile_end || llabs(walk->digit[0].step[0]) < llabs(tile->step[0]));
  walk->inner = cutt_divide_by(walk->parts_first ? b->parts : cutt_ceil_of(b->tiles, b->block_tiles));
}
