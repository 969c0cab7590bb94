/* The candidates of a problem: choices of M_m and M_k with splits, for each of the methods, cheapest first.
 *
 * Longer output runs have fewer partial lines and kernel calls, and longer input runs waste fewer lines; but a tile,
 * which has both, must stay in cache. So only a few lengths are tried on each side: for each number of modes, the last
 * one whole, and the last one cut so that the run has about so many bytes (out_targets and in_targets below). */
#include <string.h>

#include "base/number.h"
#include "cpu/cost.h"
#include "cpu/enumerate.h"
#include "cpu/kernels/kernels.h"
#include "cpu/windows.h"

enum {
  MAX_RUN_BYTES = 16 * 1024,   /* of one side, where there is a choice */
  MAX_WHOLE_BYTES = 32 * 1024, /* of modes that are whole, which in chunks would be read in short pieces */
  MAX_ROW_BYTES = 64 * 1024,   /* of the input's side, for walks along it */
  MAX_TILE_BYTES = 512 * 1024,
  FEW_PARTS = 8,     /* of a mode in chunks, where one more that is short counts */
  UNASKED_TIMES = 4, /* so many times what L2 has may be left to hardware prefetchers */
  NARROW = 2, /* elements of so many bytes: their transposes take longer than memory does, so that more choices pay */
  MAX_SIDES = 30
};

typedef struct side {
  int modes;
  int64_t split; /* 0: the last mode is whole */
  bool rows;     /* of the input, so long that only walks along them are worth it */
} side;

/* The choices for one side, whose modes have these extents: each number of modes, with the last one whole, or cut into
 * equal chunks so that the run has about each of the targets (bytes), but at most `most` elements. A chunk of the first
 * mode is a multiple of `multiple` elements. apart: those of the first mode have nothing to do with each other, so that where there are
 * few of them, one more that is short counts: all of its runs are. */
static int sides_of(const int64_t *extent, int modes, int64_t w, const int64_t *targets, int n_targets,
                    int64_t multiple, bool apart, int64_t most_bytes, int64_t most, side *list) {
  int count = 0;
  int64_t prefix = 1;
  for (int i = 0; i < modes && prefix * w < most_bytes && count + n_targets + 1 <= MAX_SIDES; ++i) {
    const bool fits = extent[i] <= most_bytes / w / prefix;
    const bool whole = extent[i] <= larger(most_bytes, MAX_WHOLE_BYTES) / w / prefix;
    int64_t previous = 0;
    if (whole) list[count++] = (side){i + 1, 0, false};
    for (int j = 0; j < n_targets; ++j) {
      const int64_t aim = smaller(targets[j] / w, most) / prefix;
      if (aim < 1) continue;
      const int64_t parts = (extent[i] + aim / 2) / aim;
      if (parts < 2) break;
      int64_t chunk = (extent[i] + parts - 1) / parts;
      if (chunk * prefix > most) chunk = (extent[i] + parts) / (parts + 1);
      if (prefix == 1) {
        chunk = chunk < multiple ? multiple : (chunk + multiple / 2) / multiple * multiple;
        const int64_t rest = extent[i] % chunk, longer = chunk + multiple, then = extent[i] % longer;
        const bool better = rest > 0 && rest < multiple && (then == 0 || then >= multiple);
        if (apart && better && parts <= FEW_PARTS && longer <= most) chunk = longer;
      }
      if (chunk < 2 || chunk == previous || chunk >= extent[i]) continue;
      previous = chunk;
      list[count++] = (side){i + 1, chunk, false};
    }
    if (!fits) break;
    prefix *= extent[i];
  }
  return count;
}

/* Drops the choices with runs shorter than `bytes`, unless all are. keep_whole: those with whole modes are kept, since
 * the longer ones may not fit together with an M_k that has their last mode. */
static int drop_short(const int64_t *extent, int64_t bytes, int64_t w, bool keep_whole, side *list, int count) {
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    int64_t run = w;
    for (int j = 0; j < list[i].modes; ++j) {
      run *= j == list[i].modes - 1 && list[i].split != 0 ? list[i].split : extent[j];
    }
    if (run >= bytes || (keep_whole && list[i].split == 0)) list[kept++] = list[i];
  }
  return kept > 0 ? kept : count;
}

/* Choices of M_k that end with the input's first mode, cut so that each chunk is some whole lines of the input. Of narrow elements, of which a line
 * has many columns, runs are as long as the stage has room for. */
static int sides_through_first(const cutt_canonical *c, int modes, side *list, int max) {
  const int64_t most = c->elem_bytes <= NARROW ? MAX_WHOLE_BYTES : MAX_RUN_BYTES;
  int64_t prefix = c->elem_bytes;
  int i = 0, count = 0;
  for (; i < modes && c->out_order[i] != 0; ++i) {
    if (prefix > most) return 0;
    prefix *= c->mode[c->out_order[i]].extent;
  }
  if (i == 0 || i == modes) return 0;
  for (int64_t chunk = CUTT_CPU_LINE / c->elem_bytes; chunk < c->mode[0].extent && count < max; chunk *= 2) {
    if (chunk * prefix > most) break;
    list[count++] = (side){i + 1, chunk, false};
  }
  return count;
}

/* Longer rows of the input than the other kernels take. What columns carry has a quarter of L2, beside what is prefetched into
 * it. */
static int long_rows(const cutt_canonical *c, const cutt_cpu_machine *machine, const int64_t *extent, int modes,
                     side *list, int max) {
  enum { TARGETS = 2 };
  static const int64_t targets[TARGETS] = {12288, 32768};
  const int64_t w = c->elem_bytes, most = smaller(CUTT_CPU_CARRIES_ALONG, machine->l2_bytes / 4 / CUTT_CPU_LINE);
  side all[MAX_SIDES];
  int kept = 0;
  const int count = sides_of(extent, modes, w, targets, TARGETS, CUTT_CPU_LINE / w, false, MAX_ROW_BYTES, most, all);
  for (int i = 0; i < count && kept < max; ++i) {
    int64_t elements = 1;
    for (int j = 0; j < all[i].modes; ++j)
      elements *= j == all[i].modes - 1 && all[i].split != 0 ? all[i].split : extent[j];
    all[i].rows = true;
    if (elements > (all[i].split != 0 ? CUTT_CPU_CARRIES : MAX_RUN_BYTES / w) && elements <= most)
      list[kept++] = all[i];
  }
  return kept;
}

/* A choice for one side that has long runs, or many of them, which are copied as they lie, through the caches: a call for each of a few
 * would take some time, and the C library's copy has use for long ones. Of what is prefetched tile by tile not many of them: a tile that is
 * longer than L1 is asked for too early. */
static int long_side(const int64_t *extent, int modes, int64_t w, bool unasked, side *list, int max) {
  enum { LEAST_RUN = 256, LEAST_COPY = 32 * 1024 };
  int64_t prefix = w;
  if (modes == 0 || max == 0 || extent[0] * w < LEAST_RUN) return 0;
  for (int i = 0; i < (unasked ? modes : 1); prefix *= extent[i++]) {
    if (extent[i] <= (i == 0 ? LEAST_COPY : MAX_RUN_BYTES) / prefix) continue;
    const int64_t most = CUTT_CPU_LONG_RUN / prefix, parts = (extent[i] + most - 1) / most;
    int64_t chunk = (extent[i] + parts - 1) / parts;
    if (i == 0) chunk = (chunk + CUTT_CPU_LINE / w - 1) / (CUTT_CPU_LINE / w) * (CUTT_CPU_LINE / w);
    list[0] = (side){i + 1, chunk < extent[i] ? chunk : 0, false};
    return 1;
  }
  return 0;
}

/* Choices for the input's side of several runs that follow one another there, where the first mode is copied as it lies past the caches: at
 * the end of a run prefetchers go on into what is read later, so the longer the stretch the better. Of so many bytes, which with what is
 * prefetched stay in L2. */
static int run_groups(const int64_t *extent, int modes, int64_t w, side *list, int max) {
  enum { TARGETS = 2, LEAST_RUN = 512 };
  static const int64_t targets[TARGETS] = {24 * 1024, 96 * 1024};
  int count = 0;
  int64_t prefix = w;
  for (int i = 0; i < modes && prefix * 2 <= targets[TARGETS - 1]; prefix *= extent[i++]) {
    if (i == 0 || prefix < LEAST_RUN) continue;
    for (int j = 0; j < TARGETS && count < max; ++j) {
      const int64_t aim = targets[j] / prefix, parts = aim > 0 ? (extent[i] + aim / 2) / aim : 0;
      const int64_t chunk = parts > 1 ? (extent[i] + parts - 1) / parts : extent[i];
      if (aim < 2 || chunk * prefix <= MAX_RUN_BYTES / 2 || chunk * prefix > MAX_TILE_BYTES) continue;
      const side one = {i + 1, chunk < extent[i] ? chunk : 0, false};
      if (count > 0 && list[count - 1].modes == one.modes && list[count - 1].split == one.split) continue;
      list[count++] = one;
    }
  }
  return count;
}

/* A first mode of the output that is one element again and again, in long pieces. */
static int long_broadcast(const cutt_canonical *c, side *list) {
  const cutt_mode *mode = &c->mode[c->out_order[0]];
  const int64_t most = smaller(CUTT_CPU_MAX_TABLE, MAX_WHOLE_BYTES / c->elem_bytes);
  if (mode->in_stride != 0 || mode->out_stride != 1 || mode->extent <= most) return 0;
  const int64_t parts = (mode->extent + most - 1) / most, line = CUTT_CPU_LINE / c->elem_bytes;
  list[0] = (side){1, smaller(most, ((mode->extent + parts - 1) / parts + line - 1) / line * line), false};
  return 1;
}

static cutt_method method_of(const cutt_canonical *c, const cutt_candidate *q, const cutt_cpu_tile *t) {
  if (t->kernel == CUTT_CPU_COPY) return CUTT_METHOD_COPY;
  const bool shared = c->out_order[0] == 0;
  if (shared && q->m <= 1 && q->k <= 1) return CUTT_METHOD_TILED_COPY;
  if (!shared && q->m <= 1 && q->k <= 1) return CUTT_METHOD_TILED;
  return q->split_m != 0 || q->split_k != 0 ? CUTT_METHOD_PACKED_SPLIT : CUTT_METHOD_PACKED;
}

/* Keeps the list sorted by predicted time, with at most max entries; returns their number. */
static int insert(cutt_candidate *list, int count, int max, const cutt_candidate *q) {
  int at = count < max ? count : max - 1;
  if (count == max && list[max - 1].seconds <= q->seconds) return count;
  while (at > 0 && list[at - 1].seconds > q->seconds) {
    list[at] = list[at - 1];
    --at;
  }
  list[at] = *q;
  return count < max ? count + 1 : max;
}

typedef struct search {
  const cutt_canonical *c;
  const cutt_cpu_machine *machine;
  cutt_candidate *list;
  int count, max;
  bool windows; /* the instruction set has a window kernel for these elements */
} search;

/* A walk along the rows leaves behind what it has read, but rows have to be long, and what is prefetched, of the next tile or
 * for the next pass, has to stay in L2 until then, beside what columns carry. */
static bool ahead_stays(const search *s, int64_t cols) {
  enum { PASS_BYTES = 2 * CUTT_CPU_LINE };
  return cols * PASS_BYTES <= s->machine->l2_bytes / 8;
}
/* Without prefetches short rows have to be no more, or lie in no more pages, than hardware prefetchers follow: a pass over bytes
 * has 64 of them. */
static bool worth_following(const search *s, int64_t cols) {
  enum { STREAMS = 32, PAGE = 4096 };
  const int64_t w = s->c->elem_bytes, rows = CUTT_CPU_LINE / w;
  return rows <= STREAMS || cols * w >= PAGE ||
         cutt_cpu_distance(&s->c->mode[s->c->out_order[0]]) * w <= PAGE * STREAMS / rows;
}
static bool worth_along(const search *s, const cutt_cpu_tile *t, int64_t tile_bytes) {
  enum { LEAST_BYTES = 4 * CUTT_CPU_LINE, LEAST_ROW = 16 };
  if (t->cols * s->c->elem_bytes < LEAST_ROW || cutt_cpu_together(s->c, t) * s->c->elem_bytes < LEAST_BYTES)
    return false;
  if (t->prefetch == CUTT_CPU_TO_NONE) return worth_following(s, t->cols);
  if (t->prefetch != CUTT_CPU_TO_L2 || cutt_cpu_ahead_in_l2(s->c, t)) return true;
  return t->tiles_ahead ? tile_bytes <= s->machine->l2_bytes / 16 : ahead_stays(s, t->cols);
}

static void consider_tile(search *s, cutt_candidate *q, const cutt_cpu_tile *t) {
  const int64_t tile = cutt_cpu_elements(t) * s->c->elem_bytes;
  if (t->along ? !worth_along(s, t, tile) : tile > MAX_TILE_BYTES) return;
  /* A window that gives fewer than two elements is no better than a gather. */
  const int vector_bytes = s->machine->vector_bytes;
  if (t->kernel == CUTT_CPU_WINDOW &&
      2.0 * cutt_cpu_windows_estimate(s->c, t, vector_bytes) * s->c->elem_bytes > cutt_cpu_window_vector(vector_bytes))
    return;
  q->method = method_of(s->c, q, t);
  q->seconds = cutt_cpu_seconds(s->c, q, t, s->machine);
  s->count = insert(s->list, s->count, s->max, q);
}

static void consider(search *s, cutt_candidate *q) {
  cutt_cpu_tile t;
  const char *why;
  if (cutt_cpu_tile_derive(s->machine, s->c, q, &t, &why)) consider_tile(s, q, &t);
}

/* May what lies in the last-level cache be left to hardware prefetchers? Not where asking takes no time by the model, and not so much of
 * it that waits for it are long. */
static bool may_be_unasked(const search *s) {
  const int64_t bytes = cutt_canonical_whole(s->c), most = UNASKED_TIMES * s->machine->l2_bytes;
  const double *value = s->machine->base.value + (ptrdiff_t)CUTT_CPU_IN_L3 * CUTT_CPU_COUNTS;
  return value[CUTT_CPU_COUNT_TO_L1] > 0 && !cutt_cpu_fits_l2(s->machine, s->c) &&
         bytes <= smaller(s->machine->stream_bytes, most);
}

/* Do so many columns go to lines that share so few sets of L1 that it does not hold one of each? */
static bool columns_share_sets(const cutt_canonical *c, const cutt_cpu_machine *machine, int64_t columns) {
  const int64_t distance = magnitude(c->mode[0].out_stride) * c->elem_bytes;
  return cutt_cpu_l1_holds(machine, distance & -distance) < columns;
}

/* Candidates that prefetch into one cache and into the other; where only the best counts, by the model's own parameters,
 * if they tell. Of those that store through the caches, some that do not prefetch, which have no more of any
 * event. Where columns share sets of L1 they go to few lines at a time then; a vector of bytes has so many rows and columns
 * that L1 would lose their lines all the same. */
static void consider_prefetches(search *s, cutt_candidate *q) {
  q->param[CUTT_CPU_PARAM_PREFETCH] = CUTT_CPU_TO_L1;
  if (q->param[CUTT_CPU_PARAM_NON_TEMPORAL] == 0) {
    const int64_t step = q->param[CUTT_CPU_PARAM_STEP];
    const bool share =
        q->param[CUTT_CPU_PARAM_KERNEL] == CUTT_CPU_TRANSPOSE && columns_share_sets(s->c, s->machine, step);
    const bool unasked = may_be_unasked(s) && !(share && s->c->elem_bytes == 1);
    if (s->max > 1 || !unasked) consider(s, q);
    if (!unasked) return;
    q->param[CUTT_CPU_PARAM_PREFETCH] = CUTT_CPU_TO_NONE;
    if (share) q->param[CUTT_CPU_PARAM_STEP] = CUTT_CPU_LINE / s->c->elem_bytes;
    consider(s, q);
    q->param[CUTT_CPU_PARAM_STEP] = step;
    q->param[CUTT_CPU_PARAM_PREFETCH] = CUTT_CPU_TO_L1;
    return;
  }
  cutt_cpu_tile t;
  const char *why;
  if (!cutt_cpu_tile_derive(s->machine, s->c, q, &t, &why)) return;
  const double *value = s->machine->base.value + (ptrdiff_t)CUTT_CPU_IN_MEMORY * CUTT_CPU_COUNTS;
  const bool far = value[CUTT_CPU_COUNT_TO_L2] < value[CUTT_CPU_COUNT_TO_L1];
  /* Joined runs have other terms, and what a transpose stages may leave L1 where lines are prefetched into it. */
  const bool staged = t.kernel == CUTT_CPU_TRANSPOSE && !t.direct;
  const bool both =
      s->max > 1 || t.joins || cutt_cpu_asks_into_l1(s->c, &t, s->machine) ||
      (staged && !far && value[CUTT_CPU_COUNT_TO_L1] + value[CUTT_CPU_COUNT_RELOADS_L2] > value[CUTT_CPU_COUNT_TO_L2]);
  for (int to = CUTT_CPU_TO_L1; to <= CUTT_CPU_TO_L2; ++to) {
    if (!both && far != (to == CUTT_CPU_TO_L2)) continue;
    q->param[CUTT_CPU_PARAM_PREFETCH] = t.prefetch = to;
    consider_tile(s, q, &t);
  }
  q->param[CUTT_CPU_PARAM_PREFETCH] = CUTT_CPU_TO_L1;
}

/* Which prefetch of a walk along the rows is the best one by the model, of those whose counts are the same. */
static int best_prefetch(const search *s, const cutt_cpu_tile *t) {
  const bool far = cutt_cpu_ahead_in_l2(s->c, t);
  const double *value = s->machine->base.value + (ptrdiff_t)CUTT_CPU_IN_MEMORY * CUTT_CPU_COUNTS;
  const double lines = (double)(s->c->volume * s->c->elem_bytes) / CUTT_CPU_LINE;
  const double stretches = cutt_cpu_stretches(s->c, t);
  double least = 0;
  int best = -1;
  for (int to = 0; to < CUTT_CPU_PREFETCHES; ++to) {
    const cutt_cpu_along_term term = cutt_cpu_along_term_of(s->c, t, to);
    const double *own = value + term.lines, time = term.times * (own[0] * lines + own[1] * stretches);
    if (to == CUTT_CPU_TO_L2 && !far && (cutt_cpu_tiles_ahead(s->c, t) || !ahead_stays(s, t->cols))) continue;
    if (to == CUTT_CPU_TO_NONE && !worth_following(s, t->cols)) continue;
    if (best >= 0 && time >= least) continue;
    best = to;
    least = time;
  }
  return best;
}

/* A transpose along the rows, of which each gives some lines. */
static void consider_along(search *s, cutt_candidate *q) {
  cutt_cpu_tile t;
  const char *why;
  if (q->param[CUTT_CPU_PARAM_NON_TEMPORAL] == 0 || s->c->scale.active) return;
  q->param[CUTT_CPU_PARAM_WALK] = CUTT_CPU_ALONG;
  q->param[CUTT_CPU_PARAM_PREFETCH] = CUTT_CPU_TO_L1;
  if (cutt_cpu_tile_derive(s->machine, s->c, q, &t, &why)) {
    const int best = s->max == 1 ? best_prefetch(s, &t) : -1;
    for (int to = 0; to < CUTT_CPU_PREFETCHES; ++to) {
      t.tiles_ahead = to == CUTT_CPU_TO_L2 && cutt_cpu_tiles_ahead(s->c, &t);
      if (best >= 0 && to != best && !t.tiles_ahead) continue;
      q->param[CUTT_CPU_PARAM_PREFETCH] = t.prefetch = to;
      consider_tile(s, q, &t);
    }
  }
  q->param[CUTT_CPU_PARAM_WALK] = CUTT_CPU_DOWN;
  q->param[CUTT_CPU_PARAM_PREFETCH] = CUTT_CPU_TO_L1;
}

/* Are some modes of M_m in M_k, and some not? If these are no columns, there is no such tile. */
static bool mixes(const cutt_canonical *c, const cutt_candidate *q) {
  bool inside[CUTT_MAX_RANK] = {false};
  bool some[2] = {false, false};
  for (int i = 0; i < q->k; ++i) inside[c->out_order[i]] = true;
  for (int mode = 0; mode < q->m; ++mode) some[inside[mode]] = true;
  return some[false] && some[true];
}

/* A transpose of columns in M_k and others, with vectors that do not have more rows than there are. */
static void consider_mixed(search *s, cutt_candidate *q, int widest) {
  enum { LEAST = 16 };
  cutt_cpu_tile t;
  const char *why;
  if (s->c->scale.active || !mixes(s->c, q)) return;
  q->param[CUTT_CPU_PARAM_VECTOR] = LEAST;
  q->param[CUTT_CPU_PARAM_WALK] = CUTT_CPU_MIXED;
  if (cutt_cpu_tile_derive(s->machine, s->c, q, &t, &why)) {
    int64_t vector = LEAST;
    while (vector < widest && 2 * vector <= t.rows * s->c->elem_bytes) vector *= 2;
    q->param[CUTT_CPU_PARAM_VECTOR] = vector;
    consider_prefetches(s, q);
  }
  q->param[CUTT_CPU_PARAM_WALK] = CUTT_CPU_DOWN;
}

/* The columns of a step: all of them when they are few, else enough for some whole lines of each row. */
static int64_t step_for(const cutt_canonical *c) {
  enum { STEP_BYTES = 256 };
  const int64_t columns = STEP_BYTES / c->elem_bytes;
  return c->mode[0].extent <= CUTT_CPU_MAX_STEP || columns > CUTT_CPU_MAX_STEP ? CUTT_CPU_MAX_STEP : columns;
}

static void consider_kernels(search *s, cutt_candidate *q, int widest, bool rows_only) {
  const cutt_canonical *c = s->c;
  const bool shared = c->out_order[0] == 0 && c->mode[0].in_stride == 1 && c->mode[0].out_stride == 1;
  q->param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_GATHER;
  q->param[CUTT_CPU_PARAM_VECTOR] = q->param[CUTT_CPU_PARAM_STEP] = 0;
  if (!rows_only) consider_prefetches(s, q);
  if (s->windows && !rows_only) {
    q->param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_WINDOW;
    consider_prefetches(s, q);
  }
  if (shared || q->m == 0 || q->k == 0) return;
  /* The widest vector, or a narrower one that holds all rows. */
  int64_t rows = c->elem_bytes, vector = widest;
  for (int i = 0; i < q->k && c->out_order[i] != 0 && rows < widest; ++i) {
    const bool cut = i == q->k - 1 && q->split_k != 0;
    rows *= cut ? q->split_k : c->mode[c->out_order[i]].extent;
  }
  while (vector > 16 && vector / 2 >= rows) vector /= 2;
  q->param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_TRANSPOSE;
  q->param[CUTT_CPU_PARAM_VECTOR] = vector;
  q->param[CUTT_CPU_PARAM_STEP] = step_for(c);
  if (!rows_only) consider_prefetches(s, q);
  consider_along(s, q);
  if (!rows_only) consider_mixed(s, q, widest);
}

/* Each choice of M_k with an empty M_m and with each choice of M_m. */
static void consider_sides(search *s, cutt_candidate *q, bool non_temporal, int widest, const side *out_side, int outs,
                           const side *in_side, int ins) {
  q->param[CUTT_CPU_PARAM_NON_TEMPORAL] = non_temporal;
  for (int o = 0; o < outs; ++o) {
    q->k = out_side[o].modes;
    q->split_k = out_side[o].split;
    for (int i = -1; i < ins; ++i) {
      q->m = i < 0 ? 0 : in_side[i].modes;
      q->split_m = i < 0 ? 0 : in_side[i].split;
      consider_kernels(s, q, widest, i >= 0 && in_side[i].rows);
    }
  }
}

/* Past the caches there are two walks. Returns the number of candidates; 0: the tensor is not contiguous. */
static int enumerate_copy(const cutt_canonical *c, const cutt_cpu_machine *machine, int threads, bool non_temporal,
                          cutt_candidate *list, int max) {
  cutt_candidate q;
  int count = 0;
  memset(&q, 0, sizeof q);
  q.method = CUTT_METHOD_COPY;
  q.m = q.k = c->rank;
  q.threads = threads;
  q.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_COPY;
  q.param[CUTT_CPU_PARAM_NON_TEMPORAL] = non_temporal;
  const bool skips = c->rank == 1 && c->mode[0].in_stride != 1; /* which is done line after line */
  const int walks = non_temporal && !c->scale.active ? CUTT_CPU_ALONG : CUTT_CPU_DOWN;
  for (int walk = skips ? walks : CUTT_CPU_DOWN; walk <= walks; ++walk) {
    cutt_cpu_tile t;
    const char *why;
    q.param[CUTT_CPU_PARAM_WALK] = walk;
    if (!cutt_cpu_tile_derive(machine, c, &q, &t, &why)) return 0;
    q.seconds = cutt_cpu_seconds(c, &q, &t, machine);
    count = insert(list, count, max, &q);
  }
  return count;
}

/* Are both sides gone through from one end to the other, in stretches that L1 holds, as a copy does, or in runs of a page and more? */
static bool goes_along(const cutt_canonical *c) {
  enum { STRETCH = 16 * 1024, LONG_RUN = 4096 };
  if (c->rank <= 1) return true;
  if (c->out_order[0] == 0 && c->mode[0].in_stride == 1 && c->mode[0].extent >= LONG_RUN / c->elem_bytes) return true;
  const int64_t distance = cutt_cpu_distance(&c->mode[c->rank - 1]);
  return c->out_order[c->rank - 1] == c->rank - 1 && distance > 0 && distance <= STRETCH / c->elem_bytes;
}

/* Is an output so long that it is stored past the caches? What is copied, or nearly so, goes through them without a wait, twice as long,
 * within bounds. */
static bool beyond_caches(const cutt_canonical *c, const cutt_cpu_machine *machine) {
  enum { LONG_COPY = 16 * 1024 * 1024 };
  const int64_t most = cutt_cpu_most_cached(c, machine), copied = larger(most, smaller(2 * most, LONG_COPY));
  return cutt_canonical_whole(c) > (goes_along(c) ? copied : most);
}

int cutt_cpu_threads_for(int64_t bytes, int most) {
  enum { BYTES_PER_THREAD = 256 * 1024 };
  const int64_t worth = bytes / BYTES_PER_THREAD;
  return worth < 2 ? 1 : (int)smaller(worth, most);
}

int cutt_cpu_enumerate(const cutt_target *target, cutt_model model, const cutt_canonical *c, int threads,
                       cutt_candidate *list, int max) {
  (void)model; /* the paper's is for GPUs */
  const cutt_cpu_machine *machine = (const cutt_cpu_machine *)target;
  const int used = cutt_cpu_threads_for(c->volume * c->elem_bytes, threads > 0 ? threads : machine->threads);
  const int64_t w = c->elem_bytes;
  const bool contiguous = c->rank == 0 || c->mode[c->out_order[0]].out_stride == 1;
  const bool non_temporal = contiguous && !c->scale.reads_out && beyond_caches(c, machine);
  const int whole = c->rank <= 1 ? enumerate_copy(c, machine, used, non_temporal, list, max) : 0;
  if (whole > 0) return whole;

  const int widest = cutt_cpu_widest(machine->vector_bytes);
  static const int64_t out_targets[] = {128, 256, 512, 2048}, in_targets[] = {64, 512, 2048, 4096, 8192};
  static const int64_t narrow_targets[] = {64, 192, 512, 2048, 4096, 8192};
  static const int64_t shared_targets[] = {256, 512, 2048, 8192}; /* runs that are copied: long ones take fewer tiles */
  int64_t in_extent[CUTT_MAX_RANK], out_extent[CUTT_MAX_RANK];
  int in_modes = 0, out_modes = 0;
  in_extent[0] = out_extent[0] = 1; /* always set below, which not every compiler sees */
  side in_side[MAX_SIDES], out_side[MAX_SIDES];
  for (int64_t dense = 1; in_modes < c->rank; ++in_modes) { /* the leading modes, gaps allowed */
    if (c->mode[in_modes].in_stride == 0 || dense > MAX_ROW_BYTES) break;
    in_extent[in_modes] = c->mode[in_modes].extent;
    dense = dense > MAX_ROW_BYTES / in_extent[in_modes] ? MAX_ROW_BYTES + 1 : dense * in_extent[in_modes];
  }
  for (int64_t dense = c->mode[c->out_order[0]].out_stride; out_modes < c->rank; ++out_modes) {
    const cutt_mode *mode = &c->mode[c->out_order[out_modes]];
    if (mode->out_stride != dense) break;
    out_extent[out_modes] = mode->extent;
    dense = cutt_cpu_next_stride(dense, mode->extent);
  }
  const int64_t line = CUTT_CPU_LINE / w;
  int ins = sides_of(in_extent, in_modes, w, w <= NARROW ? narrow_targets : in_targets, w <= NARROW ? 6 : 5, line,
                     false, MAX_RUN_BYTES, CUTT_CPU_CARRIES, in_side);
  const int64_t stride = c->rank > 0 ? c->mode[c->out_order[0]].in_stride : 0;
  const bool apart = magnitude(stride) > MAX_ROW_BYTES / w;
  int outs = sides_of(out_extent, out_modes, w, c->out_order[0] == 0 ? shared_targets : out_targets, 4, line, apart,
                      MAX_RUN_BYTES, MAX_RUN_BYTES, out_side);
  ins = drop_short(in_extent, CUTT_CPU_LINE, w, true, in_side, ins);
  /* However long the first mode is, it may be columns where M_k has a chunk of it. */
  if (ins < MAX_SIDES && in_modes > 0 && in_extent[0] > MAX_RUN_BYTES / w) in_side[ins++] = (side){1, 0, false};
  outs = drop_short(out_extent, 2 * CUTT_CPU_LINE, w, false, out_side, outs);
  outs += sides_through_first(c, out_modes, out_side + outs, MAX_SIDES - outs);

  if (!non_temporal && outs < MAX_SIDES) outs += long_broadcast(c, out_side + outs);
  const bool copies = c->out_order[0] == 0 && c->mode[0].in_stride == 1 && c->mode[0].out_stride == 1;
  if (copies && !non_temporal && !c->scale.active && used == 1) {
    const bool unasked = cutt_canonical_whole(c) <= UNASKED_TIMES * machine->l2_bytes;
    outs += long_side(out_extent, out_modes, w, unasked, out_side + outs, MAX_SIDES - outs);
    ins += long_side(in_extent, in_modes, w, unasked, in_side + ins, MAX_SIDES - ins);
  }
  if (copies && non_temporal && !c->scale.active)
    ins += run_groups(in_extent, in_modes, w, in_side + ins, MAX_SIDES - ins);
  if (non_temporal && c->out_order[0] != 0)
    ins += long_rows(c, machine, in_extent, in_modes, in_side + ins, MAX_SIDES - ins);

  search s = {c, machine, list, 0, max, cutt_cpu_has_window(machine->vector_bytes, machine->byte_permutes, w)};
  cutt_candidate q;
  memset(&q, 0, sizeof q);
  q.threads = used;
  consider_sides(&s, &q, non_temporal, widest, out_side, outs, in_side, ins);
  /* Stores through the caches only where no candidate with non-temporal ones fits. */
  if (non_temporal && s.count == 0) consider_sides(&s, &q, false, widest, out_side, outs, in_side, ins);
  if (s.count == 0) { /* what always fits: element by element along the smallest output stride */
    q.m = 0, q.split_m = 0;
    q.k = 1;
    q.split_k = c->mode[c->out_order[0]].extent > 64 ? 64 : 0;
    q.param[CUTT_CPU_PARAM_NON_TEMPORAL] = 0;
    q.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_GATHER;
    q.param[CUTT_CPU_PARAM_VECTOR] = q.param[CUTT_CPU_PARAM_STEP] = 0;
    consider(&s, &q);
  }
  return s.count;
}
