/* From a candidate (method, m, k, splits) to the role of each mode. See tile.h for the roles. */
#include "cpu/tile.h"

#include <string.h>

#include "base/number.h"
#include "cpu/few.h"
#include "cpu/kernels/kernels.h"

int64_t cutt_cpu_stage_stride(int64_t run_bytes) {
  const int64_t lines = (run_bytes + CUTT_CPU_LINE - 1) / CUTT_CPU_LINE + 2;
  return (lines | 1) * CUTT_CPU_LINE;
}

int64_t cutt_cpu_cache_holds(int64_t cache_bytes, int64_t ways, int64_t distance) {
  const int64_t period = ways > 0 ? cache_bytes / ways : cache_bytes;
  const int64_t step = distance < CUTT_CPU_LINE ? CUTT_CPU_LINE : distance, sets = step >= period ? 1 : period / step;
  return (ways * sets + 1) / 2;
}

int64_t cutt_cpu_l1_holds(const cutt_cpu_machine *machine, int64_t distance) {
  enum { SETS_BYTES = 4096 }; /* of one way: virtual addresses find a set within a page */
  return cutt_cpu_cache_holds(machine->l1_bytes, machine->l1_bytes / SETS_BYTES, distance);
}

int64_t cutt_cpu_touched(const cutt_canonical *c) {
  const int64_t apart = smaller(c->volume, INT64_MAX / CUTT_CPU_LINE) * CUTT_CPU_LINE;
  const int64_t read = smaller(c->in_high - c->in_low, apart), written = smaller(c->out_high - c->out_low, apart);
  return larger(cutt_canonical_whole(c), read / 2 + written / 2);
}

bool cutt_cpu_fits_l2(const cutt_cpu_machine *machine, const cutt_canonical *c) {
  return cutt_cpu_touched(c) <= machine->l2_bytes / 2;
}

static bool refuse(const char **why, const char *text) {
  *why = text;
  return false;
}

/* A register transpose needs a whole vector of rows. With this many, a further mode of M_k becomes a column or inner
 * mode if it is in M_m too, since as a row it would cut the input's leading run short. In a mixed walk of 1 or 2 bytes a narrow vector is
 * enough: the more columns follow one another, the fewer of what 16 bytes hold are thrown away. */
enum { ENOUGH_ROW_BYTES = 256, ENOUGH_MIXED_BYTES = 32 };

/* Row modes: M_k in output order, up to the input's first mode. */
static void take_rows(const cutt_canonical *c, const cutt_candidate *candidate, cutt_cpu_tile *t) {
  const bool mixed = candidate->param[CUTT_CPU_PARAM_WALK] == CUTT_CPU_MIXED;
  const int64_t enough = mixed && c->elem_bytes <= 2 ? ENOUGH_MIXED_BYTES : ENOUGH_ROW_BYTES;
  t->rows = 1;
  for (int i = 0; i < candidate->k; ++i) {
    const int mode = c->out_order[i];
    if (mode == 0) break;
    if (t->rows * c->elem_bytes >= enough && mode < candidate->m) break;
    t->role[mode] = CUTT_CPU_ROW;
    t->rows *= t->extent[mode];
  }
}

/* Has the stage room for so many runs side by side? */
static bool fit_stage(int64_t run_bytes, int64_t runs) {
  return cutt_cpu_stage_stride(run_bytes) <= CUTT_CPU_STAGE_BYTES / runs;
}

/* May a mixed walk have so many columns, of so many output runs? */
static bool may_mix(int64_t cols, int64_t apart) { return cols <= CUTT_CPU_MAX_MIXED && apart <= CUTT_CPU_MAX_STEP; }

/* Would it have room for those of one mode more? */
static bool may_mix_more(const cutt_canonical *c, const cutt_cpu_tile *t, const bool *in_k, int64_t extent) {
  int64_t bytes = c->elem_bytes; /* of a run */
  for (int i = 0; i < c->rank && bytes <= CUTT_CPU_STAGE_BYTES; ++i)
    if (in_k[i]) bytes *= smaller(t->extent[i], CUTT_CPU_STAGE_BYTES);
  return may_mix(t->cols * extent, t->apart * extent) && fit_stage(bytes, t->apart * extent);
}

/* Column modes: M_m in input order, contiguous, not rows, all inside of M_k or all outside. A mixed walk takes both, of what is cut in M_m
 * only as much as there is room for: otherwise its positions are segments. */
static void take_columns(const cutt_canonical *c, const cutt_candidate *candidate, const bool *in_k, cutt_cpu_tile *t) {
  /* With fewer rows than a vector has, garbage is written behind each column, over what follows it in the output run,
   * which must then be written later. Only the columns of the first mode are sure to be in that order. */
  const bool one = in_k[0] && t->rows * c->elem_bytes < candidate->param[CUTT_CPU_PARAM_VECTOR];
  const bool mixed = candidate->param[CUTT_CPU_PARAM_WALK] == CUTT_CPU_MIXED;
  t->cols = 1;
  t->cols_inside = in_k[0] || mixed;
  for (int mode = 0; mode < candidate->m; ++mode) {
    if (t->role[mode] == CUTT_CPU_ROW || c->mode[mode].in_stride != t->cols) break;
    if (!mixed && in_k[mode] != t->cols_inside) break;
    if (mixed && mode == t->split_m && !may_mix_more(c, t, in_k, t->extent[mode])) break;
    /* A split mode is the last one: a chunk is not contiguous with the next mode, and a short chunk must leave a
     * table's beginning. */
    t->role[mode] = CUTT_CPU_COLUMN;
    t->cols *= t->extent[mode];
    if (mixed && !in_k[mode]) t->apart *= t->extent[mode];
    if ((one && !mixed) || mode == t->split_k || mode == t->split_m) break;
  }
}

/* The first mode whose positions are so far apart that a page between them may have no element, and so need not be
 * mapped; rank if there is none. The modes before it together span `span` elements without such a gap, so that the mode
 * makes one only where its stride exceeds that by a page. */
static int first_apart(const cutt_canonical *c) {
  enum { SMALLEST_PAGE = 4096 };
  int64_t span = 1;
  for (int i = 0; i < c->rank; ++i) {
    const int64_t stride = cutt_cpu_distance(&c->mode[i]);
    if ((stride - span) * c->elem_bytes >= SMALLEST_PAGE) return i;
    span += (c->mode[i].extent - 1) * stride;
  }
  return c->rank;
}

/* Tile modes and their extents. M_k has to be dense in the output, but for the smallest stride, which may be any. */
static bool take_tile_modes(const cutt_canonical *c, const cutt_candidate *candidate, bool *in_k, cutt_cpu_tile *t,
                            const char **why) {
  const int m = candidate->m, k = candidate->k, rank = c->rank;
  for (int i = 0; i < rank; ++i) {
    in_k[i] = false;
    t->role[i] = CUTT_CPU_OUTER;
    t->extent[i] = 1;
  }
  t->run_stride = c->mode[c->out_order[0]].out_stride;
  int64_t dense = t->run_stride;
  for (int i = 0; i < k; ++i) {
    const int mode = c->out_order[i];
    if (c->mode[mode].out_stride != dense) return refuse(why, "M_k is not contiguous in the output");
    dense = cutt_cpu_next_stride(dense, c->mode[mode].extent);
    in_k[mode] = true;
    t->extent[mode] = c->mode[mode].extent;
    t->role[mode] = CUTT_CPU_INNER;
    t->last_k = mode;
  }
  if (candidate->split_k != 0) {
    if (t->last_k < 0 || candidate->split_k < 1 || candidate->split_k >= c->mode[t->last_k].extent) {
      return refuse(why, "split_k is not a part of the last mode of M_k");
    }
    t->split_k = t->last_k;
    t->extent[t->last_k] = candidate->split_k;
  }
  for (int mode = 0; mode < m; ++mode) {
    if (in_k[mode]) continue;
    t->extent[mode] = c->mode[mode].extent;
    t->role[mode] = CUTT_CPU_SEGMENT;
  }
  if (candidate->split_m != 0) {
    if (m == 0 || in_k[m - 1] || candidate->split_m < 1 || candidate->split_m >= c->mode[m - 1].extent) {
      return refuse(why, "split_m is not a part of the last mode of M_m");
    }
    t->split_m = m - 1;
    t->extent[m - 1] = candidate->split_m;
  }
  return true;
}

/* The row, column and shared modes, which the kernel works on. */
static bool take_kernel_modes(const cutt_cpu_machine *machine, const cutt_canonical *c, const cutt_candidate *candidate,
                              const bool *in_k, cutt_cpu_tile *t, const char **why) {
  const int m = candidate->m, k = candidate->k;
  if (t->kernel == CUTT_CPU_TRANSPOSE) {
    if (m == 0 || k == 0 || c->out_order[0] == 0 || c->mode[0].in_stride != 1) {
      return refuse(why, "a transpose needs different first modes and a contiguous input");
    }
    take_rows(c, candidate, t);
    take_columns(c, candidate, in_k, t);
    const int64_t v = candidate->param[CUTT_CPU_PARAM_VECTOR];
    if (v != 16 && v != 32 && v != 64) return refuse(why, "a vector has 16, 32 or 64 bytes");
    if (v > machine->vector_bytes) return refuse(why, "the instruction set in use has no vectors that wide");
    t->block_rows = v / c->elem_bytes;
    if (candidate->param[CUTT_CPU_PARAM_WALK] == CUTT_CPU_MIXED) {
      if (t->apart == 1 || t->apart == t->cols)
        return refuse(why, "a mixed walk needs columns inside of M_k and outside");
      if (t->rows < t->block_rows || c->scale.active) /* garbage behind a column may be in what is written before */
        return refuse(why, "a mixed walk needs as many rows as a vector has, and no scale");
    }
  } else {
    for (int i = 0; i < k; ++i) t->role[c->out_order[i]] = CUTT_CPU_ROW;
    if (t->kernel == CUTT_CPU_GATHER && k > 0 && c->out_order[0] == 0 && c->mode[0].in_stride == 1) {
      t->role[0] = CUTT_CPU_SHARED;
      t->shared_run = t->extent[0];
    }
    for (int i = 0; i < k; ++i) {
      if (t->role[c->out_order[i]] == CUTT_CPU_ROW) t->rows *= t->extent[c->out_order[i]];
    }
  }
  return true;
}

/* Sizes of the tables, and gaps between the elements that they lead to. */
static bool count_tile(const cutt_cpu_machine *machine, const cutt_canonical *c, cutt_cpu_tile *t, const char **why) {
  const int rank = c->rank;
  const int apart = first_apart(c);
  t->gaps = apart < rank;
  for (int mode = apart; mode < rank; ++mode) {
    if (t->role[mode] == CUTT_CPU_ROW && c->mode[mode].in_stride != 0) t->rows_apart = true;
  }
  for (int mode = 0; mode < rank; ++mode) {
    if (t->role[mode] == CUTT_CPU_INNER) t->inners *= t->extent[mode];
    if (t->role[mode] == CUTT_CPU_SEGMENT) t->segments *= t->extent[mode];
  }
  if (t->rows > CUTT_CPU_MAX_TABLE || t->cols > CUTT_CPU_MAX_TABLE || t->inners > CUTT_CPU_MAX_TABLE ||
      t->segments > CUTT_CPU_MAX_TABLE) {
    return refuse(why, "a table would be too long");
  }
  if (t->kernel == CUTT_CPU_WINDOW) {
    if (!cutt_cpu_has_window(machine->vector_bytes, machine->byte_permutes, c->elem_bytes))
      return refuse(why, "the instruction set in use has no windows for such elements");
    if (t->rows > CUTT_CPU_MAX_WINDOWED) return refuse(why, "a table would have too many windows");
    if (t->rows_apart) return refuse(why, "windows would reach into gaps of a page");
  }
  return true;
}

/* The length of the output run, which must fit the stage; and the columns of a step, if each is a run. */
static bool size_runs(const cutt_canonical *c, const cutt_candidate *candidate, cutt_cpu_tile *t, const char **why) {
  const bool non_temporal = candidate->param[CUTT_CPU_PARAM_NON_TEMPORAL] != 0;
  t->run = t->shared_run * t->rows * t->inners * (t->cols_inside ? t->cols / t->apart : 1);
  const bool copies = t->shared_run > 1 && !non_temporal && !c->scale.active && t->run_stride == 1;
  if (copies && t->run > 2 * CUTT_CPU_LONG_RUN / c->elem_bytes) return refuse(why, "an output run is too long");
  if (!copies && !fit_stage(t->run * c->elem_bytes, t->apart))
    return refuse(why, "an output run does not fit the staging buffer");
  if (t->apart > 1 && !may_mix(t->cols, t->apart)) return refuse(why, "too many columns for a mixed walk");
  if (non_temporal) {
    if (t->run_stride != 1) return refuse(why, "stores past the caches need a contiguous output");
    const int most =
        candidate->param[CUTT_CPU_PARAM_WALK] == CUTT_CPU_ALONG ? CUTT_CPU_CARRIES_ALONG : CUTT_CPU_CARRIES;
    if (cutt_cpu_runs(t) > most) return refuse(why, "too many output runs");
  }
  if (t->kernel == CUTT_CPU_TRANSPOSE && !t->cols_inside) {
    const int64_t step = candidate->param[CUTT_CPU_PARAM_STEP];
    if (step < 1 || step > CUTT_CPU_MAX_STEP) return refuse(why, "a step has 1 to 64 columns");
    const int64_t fit = CUTT_CPU_STAGE_BYTES / cutt_cpu_stage_stride(t->run * c->elem_bytes),
                  whole = 16 / c->elem_bytes;
    t->steps_cols = (int)step;
    t->staged_cols = (int)(fit >= step ? step : fit > whole ? fit - fit % whole : fit);
  } else {
    t->steps_cols = t->staged_cols = (int)t->cols;
  }
  return true;
}

/* The modes outside of the tile: those that continue the output run, then the rest. */
static void take_outside(const cutt_canonical *c, const cutt_candidate *candidate, cutt_cpu_tile *t) {
  const int k = candidate->k, rank = c->rank;
  int64_t next = t->last_k < 0 ? 0 : cutt_cpu_next_stride(c->mode[t->last_k].out_stride, c->mode[t->last_k].extent);
  for (int i = k; i < rank && next > 0; ++i) {
    const int mode = c->out_order[i];
    if (t->role[mode] != CUTT_CPU_OUTER || c->mode[mode].out_stride != next) break;
    t->role[mode] = CUTT_CPU_SEQUENCE;
    t->sequence[t->sequences++] = mode;
    next = cutt_cpu_next_stride(next, c->mode[mode].extent);
  }
  for (int mode = 0; mode < rank; ++mode) {
    if (t->role[mode] == CUTT_CPU_OUTER) t->outer[t->outers++] = mode;
  }
  t->whole_run = next;
}

/* Where each column's whole run is followed by the next column's, a walk along rows writes the line that they share. All tiles
 * of a run must be its own then: none may have fewer rows than a line takes. */
static void find_chain(const cutt_canonical *c, cutt_cpu_tile *t) {
  int64_t least = t->rows;
  if (!t->along || t->role[0] != CUTT_CPU_COLUMN || c->mode[0].out_stride != t->whole_run) return;
  if (2 * t->segments * t->cols > CUTT_CPU_CARRIES_ALONG) return;
  if (t->split_k >= 0 && c->mode[t->split_k].extent % t->extent[t->split_k] != 0)
    least = t->rows / t->extent[t->split_k] * (c->mode[t->split_k].extent % t->extent[t->split_k]);
  if (least * c->elem_bytes >= CUTT_CPU_LINE) t->chain = t->whole_run;
}

int64_t cutt_cpu_together(const cutt_canonical *c, const cutt_cpu_tile *t) {
  int64_t run = t->cols;
  for (int i = 0; i < c->rank; ++i) {
    if (t->role[i] == CUTT_CPU_COLUMN || t->extent[i] == 1 || c->mode[i].in_stride != run) continue;
    run *= t->extent[i];
  }
  return run;
}

bool cutt_cpu_tiles_ahead(const cutt_canonical *c, const cutt_cpu_tile *t) {
  enum { LONG_ROW = 4096 };
  if (!t->along || t->cols * c->elem_bytes >= LONG_ROW) return false;
  return c->mode[c->out_order[0]].in_stride == t->cols || cutt_cpu_together(c, t) * c->elem_bytes >= LONG_ROW;
}

bool cutt_cpu_ahead_in_l2(const cutt_canonical *c, const cutt_cpu_tile *t) {
  return t->along && c->elem_bytes == 1 && !cutt_cpu_tiles_ahead(c, t);
}

/* Broadcast elements, which are read once each; not for less than 16 bytes of the same one, unless all rows are. */
static void find_repeats(const cutt_canonical *c, cutt_cpu_tile *t) {
  enum { FEW_BYTES = 16 };
  int64_t same = 1;
  t->repeats = 1;
  if (t->kernel == CUTT_CPU_TRANSPOSE || t->shared_run > 1) return;
  for (int i = 0; i < c->rank; ++i) {
    const int mode = c->out_order[i];
    if (t->role[mode] != CUTT_CPU_ROW) continue;
    if (c->mode[mode].in_stride != 0) break;
    same *= t->extent[mode];
  }
  if (same == t->rows || same * c->elem_bytes >= FEW_BYTES) t->repeats = same;
}

/* Short runs that lie side by side in the input, and go to segments of their own. */
static void find_turned(const cutt_cpu_machine *machine, const cutt_canonical *c, cutt_cpu_tile *t) {
  const int64_t bytes = t->shared_run * c->elem_bytes;
  int mode = 0;
  if (t->kernel != CUTT_CPU_GATHER || t->shared_run < 2 || t->run_stride != 1 || t->extent[0] < c->mode[0].extent ||
      !cutt_cpu_has_turn(machine->vector_bytes, machine->byte_permutes, bytes))
    return;
  while (mode < c->rank && t->role[mode] != CUTT_CPU_SEGMENT) ++mode;
  const int64_t some = cutt_cpu_turned(bytes);
  if (mode == c->rank || t->extent[mode] < some || t->rows < 4 * some) return;
  if (c->mode[mode].in_stride != t->shared_run && c->mode[mode].in_stride != -t->shared_run) return;
  if (!t->direct && some * cutt_cpu_stage_stride(t->run * c->elem_bytes) > CUTT_CPU_STAGE_BYTES) return;
  t->turned = some;
  t->turned_mode = mode;
}

/* Few runs for each segment: a call for each segment would take longer than short ones. Of several lines, where rows are not what a kernel of
 * their own copies, and stores by turns to many lines do not wait for each; of elements that go to an output with gaps some. */
static void find_segments(const cutt_cpu_machine *machine, const cutt_canonical *c, cutt_cpu_tile *t) {
  enum { LONG_RUN = 8192, LEAST = 4, MANY_LINES = 4, FEW_ELEMENTS = 10 };
  const bool many_lines = t->in_step == 0 && !t->skips && !machine->waits_for_lines;
  const int64_t most = t->rows == 1 ? LONG_RUN : (many_lines ? MANY_LINES : 1) * CUTT_CPU_LINE;
  const bool short_run =
      t->run_stride == 1 ? t->run * c->elem_bytes <= most : t->shared_run == 1 && t->run <= FEW_ELEMENTS;
  t->by_segments = t->kernel == CUTT_CPU_GATHER && t->direct && !t->non_temporal && short_run && t->turned == 0 &&
                   t->repeats == 1 && t->segments >= LEAST;
}

/* Rows at a small distance from each other, which need no table. What is skipped of them must not be what another segment of the tile
 * wants, if stores go past the caches: then lines in which runs meet are put together, so that runs must not be short. */
static void find_step(const cutt_cpu_machine *machine, const cutt_canonical *c, cutt_cpu_tile *t) {
  enum { FAR = 2 * CUTT_CPU_LINE, LONG = 256 };
  int64_t step = 0;
  if (t->kernel != CUTT_CPU_GATHER || t->shared_run > 1 || t->repeats > 1) return;
  for (int i = 0; i < c->rank; ++i) {
    if (t->role[i] != CUTT_CPU_ROW || t->extent[i] == 1) continue;
    if (step != 0) return;
    step = c->mode[i].in_stride;
  }
  t->skips = t->rows * c->elem_bytes >= (t->non_temporal ? LONG : CUTT_CPU_LINE) &&
             (t->segments == 1 || !t->non_temporal) &&
             cutt_cpu_has_skip(machine->vector_bytes, machine->byte_permutes, c->elem_bytes, step);
  if (!t->skips && (c->elem_bytes < 8 || (step == -1 && c->elem_bytes == 8))) return; /* for windows */
  if (magnitude(step) * c->elem_bytes <= FAR) t->in_step = step;
}

/* The largest power of two that divides the distances between a tile's rows, of those of a line and more, or between as many of them as
 * have `most` lines; *lines: those that one column of these rows touches. */
static int64_t distance_of_rows(const cutt_canonical *c, const cutt_cpu_tile *t, int64_t most, int64_t *lines) {
  int64_t distances = 0;
  *lines = 1;
  for (int i = 0; i < c->rank && *lines < most; ++i) {
    const int mode = c->out_order[i];
    if (t->role[mode] != CUTT_CPU_ROW || c->mode[mode].in_stride == 0) continue;
    const int64_t distance = cutt_cpu_distance(&c->mode[mode]) * c->elem_bytes;
    *lines *= cutt_cpu_pieces(&c->mode[mode], t->extent[mode], c->elem_bytes, CUTT_CPU_LINE);
    if (distance >= CUTT_CPU_LINE) distances |= distance;
  }
  return distances & -distances;
}

/* Have L1 and L2 too few sets for a line of each row of a pass of two lines of a walk along them? As for L2, of floats: of doubles, which are
 * read in whole lines, half as many rows at a time would be slower all the same. */
static void find_collisions(const cutt_cpu_machine *machine, const cutt_canonical *c, cutt_cpu_tile *t) {
  const int64_t pass = 2 * CUTT_CPU_LINE / c->elem_bytes;
  int64_t lines;
  if (t->kernel != CUTT_CPU_TRANSPOSE) return;
  const int64_t distance = distance_of_rows(c, t, pass, &lines);
  if (lines > pass) lines = pass;
  t->pass = (cutt_cpu_row_lines){lines, cutt_cpu_l1_holds(machine, distance)};
  t->rows_collide = t->pass.holds < t->pass.lines;
  t->one_line = t->along && c->elem_bytes == 4 && distance > 0 &&
                cutt_cpu_cache_holds(machine->l2_bytes, CUTT_CPU_L2_WAYS, distance) < lines;
}

/* Does each column begin in the output where the one before it ends, and what comes after the last one likewise? */
static bool columns_follow(const cutt_canonical *c, const cutt_cpu_tile *t) {
  int64_t next = t->rows * t->run_stride;
  for (int i = 0; i < c->rank; ++i) {
    if (t->role[i] != CUTT_CPU_COLUMN) continue;
    if (c->mode[i].out_stride != next) return false;
    next *= t->extent[i];
  }
  for (int i = 0; i < c->rank; ++i)
    if (t->role[i] == CUTT_CPU_INNER && t->extent[i] > 1 && c->mode[i].out_stride < next) return false;
  return true;
}

/* Is the output written by the kernel itself, or from the staging buffer? */
static void find_writer(const cutt_cpu_machine *machine, const cutt_canonical *c, const cutt_candidate *candidate,
                        cutt_cpu_tile *t) {
  enum { LEAST_BLOCK = 48 }; /* bytes of a block of few rows: stores of 64 bytes overlap */
  /* With fewer rows than a vector has, garbage is written behind each column, which only the stage has room for. */
  const bool garbage = t->rows < t->block_rows;
  const bool whole_lines = t->non_temporal && t->kernel == CUTT_CPU_TRANSPOSE && !garbage;
  const int64_t vector = candidate->param[CUTT_CPU_PARAM_VECTOR];
  t->shifts = whole_lines && !t->cols_inside && t->inners == 1 &&
              cutt_cpu_has_shift(vector, machine->byte_permutes, c->elem_bytes);
  t->follows = whole_lines && t->cols_inside && t->apart == 1 && !c->scale.active && !t->rows_collide &&
               cutt_cpu_has_follow(vector, c->elem_bytes) && columns_follow(c, t);
  t->scales = c->scale.active && t->kernel == CUTT_CPU_TRANSPOSE && !t->non_temporal &&
              cutt_cpu_arithmetic_of(&c->scale) != CUTT_CPU_ARITHMETICS;
  const bool one_by_one = c->elem_bytes >= CUTT_CPU_SPREAD_BYTES && t->repeats == 1 && !t->skips;
  const bool scatters = t->kernel == CUTT_CPU_GATHER && (t->shared_run > 1 || one_by_one) && !c->scale.active;
  t->joins = t->non_temporal && t->kernel == CUTT_CPU_GATHER && !c->scale.active &&
             larger(t->shared_run, t->repeats) * c->elem_bytes >= CUTT_CPU_LINE;
  t->direct = !garbage && (!c->scale.active || t->scales) && (t->run_stride == 1 || scatters) &&
              (!t->non_temporal || t->shifts || t->follows || t->along || t->joins || t->skips);
  t->few = t->kernel == CUTT_CPU_TRANSPOSE && !t->direct && t->cols_inside && t->apart == 1 &&
           cutt_cpu_has_few(machine->vector_bytes, machine->byte_permutes, c->elem_bytes) &&
           cutt_cpu_few_registers(t->rows, c->elem_bytes) > 0 &&
           t->rows * smaller(t->cols * c->elem_bytes, 16) >= LEAST_BLOCK && columns_follow(c, t);
}

cutt_cpu_row_lines cutt_cpu_lines_of_columns(const cutt_cpu_machine *machine, const cutt_canonical *c,
                                             const cutt_cpu_tile *t) {
  int64_t lines;
  const int64_t distance = distance_of_rows(c, t, INT64_MAX, &lines);
  return (cutt_cpu_row_lines){lines, cutt_cpu_l1_holds(machine, distance)};
}

/* Where whole lines of rows are worth reading, if the machine does that quickly: where L1 would lose them before they are read again,
 * and in L2; elements of 8 bytes gain a little wherever rows are, but for walks that ask for the next ones into L2, along long rows or tiles that
 * follow one another, if most passes are of rows at equal distances that are not far (kernels/lines.h). */
static bool reads_lines(const cutt_cpu_machine *machine, const cutt_canonical *c, const cutt_cpu_tile *t) {
  enum { LONG_ROW = 2048, MANY_ROWS = 128, FAR = 128 * 1024 };
  const int first = c->out_order[0];
  if (t->kernel != CUTT_CPU_TRANSPOSE || !machine->whole_lines || c->elem_bytes < 4) return false;
  const bool turned = t->prefetch == CUTT_CPU_TO_L2 && (t->tiles_ahead || t->cols * c->elem_bytes >= LONG_ROW) &&
                      t->extent[first] >= smaller(t->rows, MANY_ROWS) &&
                      cutt_cpu_distance(&c->mode[first]) * c->elem_bytes < FAR;
  if (t->along) return t->rows_collide || (c->elem_bytes == 8 && !turned);
  return !t->non_temporal && t->block_rows * c->elem_bytes == CUTT_CPU_LINE &&
         (c->elem_bytes == 8 || t->rows_collide || cutt_cpu_fits_l2(machine, c));
}

/* Rows of a strip. In L2, and where nothing is prefetched, all of them if L1 keeps a line of each until the next columns are read
 * from it, and else a few that it does keep, if it keeps as many as a vector has; rows whose distances are multiples of a large power of two
 * share few of its sets. Else strips of one vector are read as runs, which pays unless L1 loses what has been prefetched. */
static int64_t strip_of(const cutt_cpu_machine *machine, const cutt_canonical *c, const cutt_cpu_tile *t) {
  enum { FEW_ROWS = 32, FEW_BYTES = 2 * CUTT_CPU_LINE, ONE_STEP = 16 };
  const cutt_cpu_row_lines of = cutt_cpu_lines_of_columns(machine, c, t);
  const int64_t lines = of.lines, holds = of.holds;
  const bool near = cutt_cpu_fits_l2(machine, c) || (!t->non_temporal && t->prefetch == CUTT_CPU_TO_NONE);
  if (t->kernel != CUTT_CPU_TRANSPOSE || t->cols * c->elem_bytes <= ONE_STEP) return t->rows;
  if (!near) return lines <= holds ? t->block_rows : t->rows;
  if (lines <= holds) return t->rows;
  const int64_t rows = smaller(t->rows * holds / lines, larger(FEW_ROWS, FEW_BYTES / c->elem_bytes));
  return larger(t->block_rows, rows / t->block_rows * t->block_rows);
}

/* Where columns begin within lines, a store spans two of them. Down all rows of many, whole lines are put together instead, from
 * 16 bytes of a row at a time, so not where those collide; and strips of few columns of 8 bytes are of two vectors. Neither pays for
 * other rows, columns and elements. */
static void find_within(const cutt_canonical *c, cutt_cpu_tile *t) {
  enum { FEW_COLUMNS = 32, MANY_ROWS = 192, MANY_NARROW_ROWS = 256 };
  const int64_t w = c->elem_bytes;
  t->strip_within = t->strip;
  if (t->kernel != CUTT_CPU_TRANSPOSE || t->block_rows * w != CUTT_CPU_LINE || t->cols_inside || t->non_temporal)
    return;
  if (w == 8 && t->strip < t->rows && t->cols <= FEW_COLUMNS) t->strip_within = smaller(t->strip, 2 * t->block_rows);
  if (t->reads_lines && t->rows_collide) return;
  t->lines = w >= 2 && w <= 8 && t->strip >= t->rows && t->rows >= (w == 2 ? MANY_NARROW_ROWS : MANY_ROWS);
}

/* Rows of which half of L1 has what a step of columns has of them, in whole lines of the output. */
static int64_t rows_held(const cutt_cpu_machine *machine, const cutt_canonical *c, const cutt_cpu_tile *t) {
  const int64_t line = CUTT_CPU_LINE / c->elem_bytes;
  return machine->l1_bytes / 2 / cutt_cpu_step_bytes(t, c->elem_bytes) / line * line;
}

/* Past the caches 16 bytes of columns at a time go down so many rows that L1 still has their lines when the next 16 bytes are read, and not down
 * all of a tile, whose lines would come from L2 again each time. At least some lines of each column, since to begin with others takes as
 * long as one or two: with 8 or 16 columns of narrow elements longer than with fewer. */
static int64_t strip_past_of(const cutt_cpu_machine *machine, const cutt_canonical *c, const cutt_cpu_tile *t) {
  enum { FEW_ROWS = 128, FEW_NARROW_ROWS = 256 };
  return smaller(t->rows, larger(rows_held(machine, c, t), c->elem_bytes < 4 ? FEW_NARROW_ROWS : FEW_ROWS));
}

/* Rows that collide are copied, what a step has of them, and transposed from there: 16 bytes at a time they would come from L2 each time, or
 * from beyond. Not wider elements, of which a walk along the rows reads whole lines. */
static void collect(const cutt_cpu_machine *machine, const cutt_canonical *c, cutt_cpu_tile *t) {
  if (!t->shifts || t->along || !t->rows_collide || c->elem_bytes > 2) return;
  const int64_t strip = smaller(t->rows, larger(rows_held(machine, c, t), CUTT_CPU_LINE / c->elem_bytes)),
                most = smaller(t->rows, strip * 3 / 2); /* a strip with what is left behind it */
  if ((most + t->block_rows) * cutt_cpu_step_bytes(t, c->elem_bytes) + CUTT_CPU_LINE > CUTT_CPU_STAGE_BYTES) return;
  t->strip_past = strip;
  t->collected = most;
}

static int64_t chunks_of(const cutt_canonical *c, const cutt_cpu_tile *t, int mode) {
  return mode < 0 ? 1 : (c->mode[mode].extent + t->extent[mode] - 1) / t->extent[mode];
}

/* Each part as long as that allows; none starts with a short chunk, which might not fill a cache line. A part begins and ends
 * within lines, so that a sequence is cut less often than there are shares for each thread elsewhere. */
int64_t cutt_cpu_parts(const cutt_canonical *c, const cutt_cpu_tile *t, int threads, int64_t *positions,
                       int64_t *length) {
  enum { PARTS_PER_THREAD = 4, MIN_PART_BYTES = 64 * 1024 };
  const int64_t tile_bytes = cutt_cpu_elements(t) * c->elem_bytes;
  int64_t outer = chunks_of(c, t, t->split_m), tiles = chunks_of(c, t, t->split_k), parts = 1;
  for (int i = 0; i < t->outers; ++i) outer *= c->mode[t->outer[i]].extent;
  for (int i = 0; i < t->sequences; ++i) tiles *= c->mode[t->sequence[i]].extent;
  *positions = outer;
  *length = tiles;
  if (threads > 1) {
    parts = ((int64_t)threads * PARTS_PER_THREAD + outer - 1) / outer;
    parts = larger(1, smaller(parts, tiles * tile_bytes / MIN_PART_BYTES));
    parts = smaller(parts, tiles);
  }
  const int64_t each = (tiles + parts - 1) / parts;
  return (tiles + each - 1) / each;
}

bool cutt_cpu_tile_derive(const cutt_cpu_machine *machine, const cutt_canonical *c, const cutt_candidate *candidate,
                          cutt_cpu_tile *t, const char **why) {
  const int m = candidate->m, k = candidate->k, rank = c->rank;
  const int64_t kernel = candidate->param[CUTT_CPU_PARAM_KERNEL];
  *why = "";
  if (kernel < 0 || kernel >= CUTT_CPU_KERNELS) return refuse(why, "unknown kernel");
  const int64_t walk = candidate->param[CUTT_CPU_PARAM_WALK], prefetch = candidate->param[CUTT_CPU_PARAM_PREFETCH];
  if (walk < 0 || walk >= CUTT_CPU_WALKS) return refuse(why, "unknown walk");
  if (walk == CUTT_CPU_MIXED && kernel != CUTT_CPU_TRANSPOSE) return refuse(why, "a mixed walk is for transposes");
  if (prefetch < 0 || prefetch >= CUTT_CPU_PREFETCHES) return refuse(why, "unknown prefetch");
  if (m < 0 || m > rank || k < 0 || k > rank) return refuse(why, "m or k is beyond the rank");
  memset(t, 0, offsetof(cutt_cpu_tile, sequence));
  t->kernel = (cutt_cpu_kernel)kernel;
  t->prefetch = (int)prefetch;
  t->non_temporal = candidate->param[CUTT_CPU_PARAM_NON_TEMPORAL] != 0 && !c->scale.reads_out;
  t->along = walk == CUTT_CPU_ALONG && !c->scale.active;
  t->sequences = t->outers = 0;
  t->split_m = t->split_k = t->last_k = -1;
  t->shared_run = t->rows = t->cols = t->apart = t->inners = t->segments = t->run = t->run_stride = t->block_rows = 1;
  t->steps_cols = t->staged_cols = 1;
  if (t->kernel == CUTT_CPU_COPY) {
    const int64_t step = rank == 1 ? c->mode[0].in_stride : 1;
    const bool skips = rank == 1 && !c->scale.active &&
                       cutt_cpu_has_skip(machine->vector_bytes, machine->byte_permutes, c->elem_bytes, step);
    if (rank > 1 || (rank == 1 && c->mode[0].out_stride != 1) || (step != 1 && !skips))
      return refuse(why,
                    "Copy takes contiguous tensors, and those backwards and every second to fourth element where there "
                    "are kernels for that");
    t->in_step = step;
    t->skips = skips;
    return true;
  }
  if (rank == 0) return refuse(why, "a single element is a Copy");

  bool in_k[CUTT_MAX_RANK];
  if (!take_tile_modes(c, candidate, in_k, t, why) || !take_kernel_modes(machine, c, candidate, in_k, t, why) ||
      !count_tile(machine, c, t, why) || !size_runs(c, candidate, t, why)) {
    return false;
  }
  take_outside(c, candidate, t);
  if (candidate->param[CUTT_CPU_PARAM_WALK] == CUTT_CPU_ALONG &&
      (t->kernel != CUTT_CPU_TRANSPOSE || candidate->param[CUTT_CPU_PARAM_NON_TEMPORAL] == 0 || t->cols_inside ||
       t->inners > 1 || t->rows * c->elem_bytes < CUTT_CPU_LINE)) {
    return refuse(why, "a walk along rows is for whole lines past the caches, of columns that are runs");
  }
  if (candidate->param[CUTT_CPU_PARAM_NON_TEMPORAL] != 0 && t->run * c->elem_bytes < CUTT_CPU_LINE &&
      (t->split_k >= 0 || t->sequences > 0)) {
    return refuse(why, "stores past the caches need a line at least from each tile");
  }
  find_repeats(c, t);
  find_collisions(machine, c, t);
  find_step(machine, c, t);
  find_writer(machine, c, candidate, t);
  find_chain(c, t);
  t->tiles_ahead = t->prefetch == CUTT_CPU_TO_L2 && cutt_cpu_tiles_ahead(c, t);
  find_turned(machine, c, t);
  find_segments(machine, c, t);
  t->reads_lines = reads_lines(machine, c, t);
  t->strip = strip_of(machine, c, t);
  t->strip_past = strip_past_of(machine, c, t);
  collect(machine, c, t);
  find_within(c, t);
  return true;
}
