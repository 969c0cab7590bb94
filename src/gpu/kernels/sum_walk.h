/* The next of a block's tiles and terms (sum_walk_args.h). */
#ifndef CUTT_GPU_KERNELS_SUM_WALK_H
#define CUTT_GPU_KERNELS_SUM_WALK_H

#include "divide.h"
#include "sum_walk_args.h"

/* What a block does next: a tile, one of its terms, where both are in L and D, and in the modes of columns and rows, and how many of these
 * there are. */
typedef struct sum_step {
  uint32_t tile, term;
  uint32_t digit; /* of the term, the first */
  int64_t left, result, column, row;
} sum_step;

DEVICE uint32_t sum_least(int64_t left, uint32_t most) { return left < (int64_t)most ? (uint32_t)left : most; }

/* Where a tile's term is. */
DEVICE sum_step sum_find(const cutt_sum_walk *walk, uint32_t tile, uint32_t term) {
  sum_step s = {tile, term, 0, 0, 0, 0, 0};
  uint32_t number = term;
  for (uint32_t i = 0; i < walk->tile_end; ++i) {
    const cutt_sum_digit *d = &walk->digit[i];
    if (i == walk->term_end) number = tile;
    const uint32_t rest = divide(number, d->extent), digit = number - rest * d->extent.by;
    if (i == 0) s.digit = digit;
    s.left += (int64_t)digit * d->step[0];
    s.result += (int64_t)digit * d->step[1];
    s.column += d->of_rows ? 0 : (int64_t)digit * d->along;
    s.row += d->of_rows ? (int64_t)digit * d->along : 0;
    number = rest;
  }
  return s;
}

/* What comes next: mostly the term's first digit goes on. */
DEVICE sum_step sum_next(const cutt_sum_walk *walk, const sum_step *s, uint32_t begin, uint32_t end) {
  const cutt_sum_digit *d = &walk->digit[0];
  const bool ends = s->term + 1 == end;
  if (ends || s->digit + 1 == d->extent.by)
    return sum_find(walk, ends ? s->tile + 1 : s->tile, ends ? begin : s->term + 1);
  sum_step next = *s;
  ++next.term;
  ++next.digit;
  next.left += d->step[0];
  next.column += d->of_rows ? 0 : d->along;
  next.row += d->of_rows ? d->along : 0;
  return next;
}

/* A block's tiles, from first to before last, and of each the terms of part number `part`, from begin to before end. */
typedef struct sum_share {
  uint32_t first, last, begin, end, part;
} sum_share;

DEVICE sum_share sum_share_of(const cutt_sum_walk *walk) {
  const uint32_t outer = divide(block_index(), walk->inner), rest = block_index() - outer * walk->inner.by;
  const uint32_t group = walk->parts_first ? outer : rest, part = walk->parts_first ? rest : outer;
  const uint32_t begin = part * walk->part_terms, first = group * walk->block_tiles;
  const uint32_t end = walk->terms - begin < walk->part_terms ? walk->terms : begin + walk->part_terms;
  const uint32_t last = walk->tiles - first < walk->block_tiles ? walk->tiles : first + walk->block_tiles;
  const sum_share share = {first, last, begin, end, part};
  return share;
}

/* An element of a window. */
DEVICE uint32_t sum_word(word4 v, uint32_t i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }
DEVICE uint16_t sum_part2(word4 v, uint32_t i) { return (uint16_t)(sum_word(v, i / 2) >> i % 2 * 16); }
DEVICE uint32_t sum_part4(word4 v, uint32_t i) { return sum_word(v, i); }
DEVICE word2 sum_part8(word4 v, uint32_t i) {
  const word2 part = {i ? v.z : v.x, i ? v.w : v.y};
  return part;
}
DEVICE word4 sum_part16(word4 v, uint32_t i) { return (void)i, v; }

#endif
