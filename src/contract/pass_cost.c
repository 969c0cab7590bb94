/* What a pass of a shape is predicted to take (pass_cost.h). */
#include "contract/pass_cost.h"

#include <math.h>
#include <stdlib.h>

enum {
  LINE = CUTT_PASS_LINE,
  FEW_BYTES = 32, /* of one that is shorter numbers are added up one after the other */
  PAGE_BYTES = CUTT_PASS_PAGE,
  PARTS_BYTES = 128, /* of one up to which it has no loop */
  STREAMS = 16,      /* of lines one after the other that a processor fetches ahead at once */
  WRITTEN = 4,       /* runs of D that are waited for at once, if they are cache lines */
  BLOCK = 8,         /* rows that are computed together */
};

/* Seconds, as measured on one core of an Intel Xeon of 2023 (packing, but to blocks, and dot products of an AMD EPYC): of a call; of
 * a tile; of 64 bytes of products in a row, and in a dot product, which reads two numbers for each; of a dot product of one term
 * that is at most PARTS_BYTES long; of a single product; of a number that is packed alone; of finishing 64 bytes. Of blocks: of a
 * load; of a byte that is copied; of 64 bytes of sums; of a block; of a run of memory that is far from the last one. And what a number that is
 * packed in a run takes longer from memory, on Zen 4. */
static const double call_seconds = 200e-9, tile_seconds = 60e-9, line_seconds = 0.55e-9, summed_seconds = 1e-9,
                    short_seconds = 0.45e-9, number_seconds = 0.6e-9, alone_seconds = 0.55e-9, finish_seconds = 0.8e-9,
                    load_seconds = 0.13e-9, copy_seconds = 0.02e-9, store_seconds = 0.5e-9, block_seconds = 5e-9,
                    far_seconds = 35e-9, memory_seconds = 0.13e-9;

/* Of a row; of a term of a row; of a number that is packed in a run; of a cache line in a page alone. Tiles of blocks are larger,
 * and packed to a cache that is further away. */
typedef struct tile_rates {
  double row, term, run, page;
} tile_rates;
static const tile_rates row_tiles = {1.3e-9, 0.55e-9, 0.1e-9, 2.6e-9}, block_tiles = {3e-9, 1.2e-9, 0.35e-9, 3e-9};

/* Numbers of a tile that follow each other in memory, without the mode along. */
static double run_of(const cutt_contraction *c, const cutt_pass_shape *s, cutt_tensor t) {
  int mode[CUTT_MOST_MODES], contiguous = 0;
  double run = 1;
  cutt_pass_run_modes(c, s, t, mode, &contiguous);
  for (int i = 0; i < contiguous; ++i) run *= (double)s->chunk[mode[i]];
  return run;
}

double cutt_pass_row_run(const cutt_contraction *c, const cutt_pass_shape *s, cutt_tensor t) {
  int64_t run = 1;
  for (bool grew = true; grew;) {
    grew = false;
    for (int i = 0; i < c->modes && !grew; ++i) {
      if (llabs(c->mode[i].stride[t]) != run || s->chunk[i] == 1) continue;
      run *= s->chunk[i];
      grew = s->chunk[i] == c->mode[i].extent;
      if (!grew) return (double)(run * c->type->bytes);
    }
  }
  return (double)(run * c->type->bytes);
}

/* Bytes that a tensor moves to or from memory when all of it is read or written once. Of a run that is shorter than a cache line the
 * rest of the line comes along. */
static double moved_once(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s, cutt_tensor t) {
  const double bytes = (double)c->volume[t] * c->type->bytes;
  if (t == CUTT_RIGHT && c->right_is_one) return 0;
  if (bytes <= (double)r->cache_bytes) return bytes;
  double run = run_of(c, s, t) * c->type->bytes;
  if (cutt_pass_step_along(c, s->along, t) == 1) run = larger(run, (double)(cutt_pass_chunk_along(s) * c->type->bytes));
  return bytes * (run < LINE ? LINE / run : 1 + LINE / run / 4);
}

bool cutt_pass_is_from_memory(const cutt_contraction *c, const cutt_rates *r, cutt_tensor t) {
  return r->stream_bytes > 0 && c->volume[t] * c->type->bytes >= r->stream_bytes;
}

/* The same of all tiles. */
static double moved(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s, cutt_tensor t) {
  double repeats = 1;
  if (s->blocked && !s->deep && t != CUTT_RESULT && (t == s->first) != s->keeps_second) return moved_once(c, r, s, t);
  for (int i = 0; i < c->modes && (double)c->volume[t] * c->type->bytes > (double)r->cache_bytes; ++i)
    if (!c->mode[i].stride[t]) repeats *= ceil((double)c->mode[i].extent / (double)s->chunk[i]);
  return repeats * moved_once(c, r, s, t);
}

bool cutt_pass_shares(const cutt_contraction *c, const cutt_pass_shape *s, int mode) {
  return mode != s->along && !cutt_is_summed(c, mode) && !c->mode[mode].stride[s->first];
}

/* Tiles, one after the other, that have the same part of an operand, if loops over the other one's free modes are the innermost. */
static double tiles_beside(const cutt_contraction *c, const cutt_pass_shape *s, cutt_tensor t) {
  double tiles = 1;
  for (int i = 0; i < c->modes; ++i)
    if (!cutt_is_summed(c, i) && !c->mode[i].stride[t]) tiles *= ceil((double)c->mode[i].extent / (double)s->chunk[i]);
  return tiles;
}

/* Which of the operands' parts stays from tile to tile: the one with which the fewest bytes come from beyond a core's own cache, or are
 * packed again. */
bool cutt_pass_second_stays(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s) {
  double once[2], again[2];
  for (int k = 0; k < 2; ++k) {
    const cutt_tensor t = k == 0 ? s->first : cutt_other_operand(s->first);
    once[k] = (double)c->volume[t] * c->type->bytes;
    again[k] = s->packed[t] || once[k] > (double)r->cache_bytes ? once[k] * tiles_beside(c, s, t) : once[k];
  }
  return once[1] + again[0] < once[0] + again[1];
}

/* Rows of a tile that share the first operand's numbers. */
static double sharing_rows(const cutt_contraction *c, const cutt_pass_shape *s) {
  double rows = 1;
  for (int i = 0; i < c->modes; ++i)
    if (cutt_pass_shares(c, s, i)) rows *= (double)s->chunk[i];
  return rows;
}

/* Of the products of a tile in blocks: of operations on vectors, or of loads where blocks are small; of blocks and of what they store. */
static double blocks_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s,
                             const cutt_pass_volumes *v) {
  const double lines = ceil((double)(cutt_pass_chunk_along(s) * cutt_pass_number_bytes(c)) / LINE),
               each = c->type->complex ? 2 : 1;
  const double group = sharing_rows(c, s), high = ceil(group / BLOCK), wide = ceil(lines / 3),
               blocks = v->rows / group * high * wide;
  const double term = larger(group / high * (lines / wide) * each * r->block_line,
                             (group / high * each + lines / wide + BLOCK / 2.0) * load_seconds);
  return v->rows * lines * store_seconds + blocks * (block_seconds + v->terms * term);
}

/* Of a number that is packed, or D's that is transposed, in runs of so many: as many bytes as a vector has take the same time, but of
 * short runs of lines of which the rest is left. */
static double packed_seconds(const cutt_contraction *c, const cutt_pass_shape *s, cutt_tensor t, double run) {
  const double number = (double)cutt_pass_number_bytes(c), bytes = run * number;
  const double step = (double)llabs(cutt_pass_step_along(c, s->along, t)) * c->type->bytes;
  const bool dense = bytes >= 2 * LINE || 2 * bytes >= step;
  return (s->blocked ? block_tiles.run : row_tiles.run) * (number > 8 ? 2 : number < 8 && dense ? 0.5 : 1);
}

/* Is an operand's part of a tile packed by copying runs, without transposing? */
static bool is_copied(const cutt_contraction *c, const cutt_pass_shape *s, cutt_tensor t) {
  return t != CUTT_RESULT && s->packed[t] && !cutt_pass_is_half(c) &&
         (s->single[t] || cutt_pass_step_along(c, s->along, t) == 1);
}

/* Of a tile of blocks: each run of a tensor in memory begins with a wait, where the next one is far away. Not so where runs are copied,
 * since the next one is asked for; and what comes again waits only where the tensor is too large for any cache. Runs of the second operand
 * in place are those of a block's rows, which are read side by side and so waited for at once, but where the next tile's are asked for.
 * Stores wait the less, but where a cache line is written in part, and comes again for each of its parts. */
static double runs_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s) {
  double seconds = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    const double bytes = (cutt_pass_is_from_memory(c, r, (cutt_tensor)t) ? moved : moved_once)(c, r, s, (cutt_tensor)t);
    const bool asked = s->asks && t == (int)cutt_other_operand(s->first);
    const bool waits = !is_copied(c, s, (cutt_tensor)t) && !(s->deep && s->packed[t]) && !asked;
    const double run = cutt_pass_row_run(c, s, (cutt_tensor)t);
    double at_once = 1;
    if (t == CUTT_RESULT) at_once = run < LINE ? 1 : WRITTEN;
    if (t != CUTT_RESULT && s->single[t]) at_once = smaller((double)BLOCK, sharing_rows(c, s));
    if ((double)c->volume[t] * c->type->bytes > (double)r->cache_bytes && waits)
      seconds += bytes / (t == CUTT_RESULT ? run : larger(run, (double)LINE)) * far_seconds / at_once;
  }
  return seconds;
}

/* Cache lines of a tile's part of an operand in place that comes from memory, of rows that add up more terms than a processor follows at
 * once, each in another page. */
static double far_lines(const cutt_contraction *c, const cutt_pass_shape *s, const cutt_pass_volumes *v,
                        cutt_tensor t) {
  if (s->summed || s->blocked || s->packed[t] || !s->far[t] || cutt_pass_terms_each(c, s, s->chunk) <= STREAMS)
    return 0;
  const double near = larger((double)PAGE_BYTES, cutt_pass_row_run(c, s, t));
  for (int i = 0; i < c->modes; ++i) {
    const double step = (double)llabs(c->mode[i].stride[t]) * c->type->bytes;
    if (i != s->along && cutt_is_summed(c, i) && s->chunk[i] > 1 && step > 0 && step < near) return 0;
  }
  return v->positions[t] * cutt_pass_row_bytes(c, s) / LINE;
}

double cutt_pass_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s) {
  const tile_rates *own = s->blocked ? &block_tiles : &row_tiles;
  const double line_takes = !s->summed                      ? line_seconds
                            : s->kind == CUTT_PASS_MULTIPLY ? summed_seconds
                                                            : summed_seconds / 2;
  cutt_pass_volumes v;
  cutt_pass_measure(c, s, &v);
  double tiles = 1, sum_tiles = 1, all = 0;
  for (int i = 0; i < c->modes; ++i) {
    const double chunks = ceil((double)c->mode[i].extent / (double)s->chunk[i]);
    *(cutt_is_summed(c, i) ? &sum_tiles : &tiles) *= chunks;
  }
  const double number = (double)cutt_pass_number_bytes(c);
  const double width = !c->type->complex || s->kind == CUTT_PASS_ADD ? 1 : s->summed ? 1.5 : 2;
  const double n = (double)cutt_pass_chunk_along(s), row = n * number;
  /* What is left of a row is part of a vector, but where the row is a single term of what lies in memory, and of dot products that
   * have one factor for all, or few numbers. */
  const bool padded = s->summed ? s->kind != CUTT_PASS_SCALE && row >= FEW_BYTES
                                : (v.terms > 1 || (!s->direct && s->packed[s->first] &&
                                                   (s->kind != CUTT_PASS_MULTIPLY || s->packed[1 - s->first])));
  const double lines = padded ? ceil(row / LINE) : floor(row / LINE), rest = padded ? 0 : n - lines * LINE / number;
  const bool is_short = padded && s->summed && v.terms <= 1 && row <= PARTS_BYTES;
  const double times = s->summed ? 1 : ceil(v.terms / (double)cutt_pass_terms_each(c, s, s->chunk));
  const double of_row = is_short ? short_seconds : times * own->row + v.terms * own->term;
  double tile =
      tile_seconds + (s->blocked ? blocks_seconds(c, r, s, &v)
                                 : v.rows * (of_row + v.terms * width * (lines * line_takes + rest * number_seconds)));
  for (int t = 0; t < CUTT_RESULT; ++t) {
    if (!s->packed[t]) continue;
    const double run = run_of(c, s, (cutt_tensor)t);
    const bool stays_in = s->blocked && sum_tiles <= 1 && (t == (int)s->first) != s->keeps_second;
    const double stays = stays_in ? tiles_beside(c, s, (cutt_tensor)t) : 1;
    if (is_copied(c, s, (cutt_tensor)t)) {
      const double each = s->single[t] ? run : n, runs = v.positions[t] * (s->single[t] ? 1 : n) / each;
      tile += runs * (each * number * copy_seconds + own->row) / stays;
      continue;
    }
    const double each = run >= 2 ? packed_seconds(c, s, (cutt_tensor)t, run) + (s->far[t] ? memory_seconds : 0)
                                 : alone_seconds * (number > 8 ? 2 : 1);
    const double numbers = v.positions[t] * (s->single[t] ? 1 : n);
    tile += (numbers * each + v.positions[t] * own->row) / stays;
    /* Lines that a processor does not fetch ahead, since each is in another page. */
    const double bytes = (double)c->volume[t] * c->type->bytes;
    if (bytes * (LINE / number) / run > (double)r->cache_bytes &&
        llabs(cutt_pass_step_along(c, s->along, (cutt_tensor)t)) * c->type->bytes >= PAGE_BYTES)
      tile += numbers / run * own->page / stays;
  }
  for (int k = 0; k < (s->kind == CUTT_PASS_MULTIPLY ? 2 : 1); ++k)
    tile += far_lines(c, s, &v, k == 0 ? s->first : cutt_other_operand(s->first)) * own->page;
  double finish = 0;
  if (!s->direct) {
    const double sums = v.rows * (s->summed ? 1 : n);
    const double run = run_of(c, s, CUTT_RESULT);
    /* Whole rows that follow each other in D, too, are finished as one. */
    const bool dense = s->blocked && !s->packed[CUTT_RESULT] && cutt_pass_chunk_along(s) == c->mode[s->along].extent;
    const double together = s->summed ? run : dense ? cutt_pass_row_run(c, s, CUTT_RESULT) / (n * c->type->bytes) : 1;
    finish = sums * number / LINE * finish_seconds + v.rows / together * own->row;
    if (s->packed[CUTT_RESULT]) finish += sums * (packed_seconds(c, s, CUTT_RESULT, run) + own->row / run);
  }
  const double busy = tiles * (sum_tiles * tile + finish) + (s->blocked ? runs_seconds(c, r, s) : 0);
  for (int t = 0; t < CUTT_TENSORS; ++t) all += (double)c->volume[t] * c->type->bytes;
  const double read = moved(c, r, s, CUTT_LEFT) + moved(c, r, s, CUTT_RIGHT), written = moved(c, r, s, CUTT_RESULT);
  const bool near = all <= (double)r->cache_bytes;
  /* Cache lines are read before they are written, but those that are written past the caches. */
  const double memory =
      near ? (read + written) / r->cache / r->threads : (read + (s->streams ? 1 : 2) * written) / r->fetch;
  /* While blocks are multiplied what comes next is on its way. */
  const double both = s->blocked ? larger(busy / r->threads, memory) : busy / r->threads + memory;
  return call_seconds + both;
}
