/* Sums of one operand by stretches (device_stretch.h): their shape, what it is predicted to take, and the kernel's parameters. */
#include "contract/device_stretch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "contract/device_join.h"
#include "gpu/divisor.h"

enum {
  WARP = 32,
  RESERVED = 1024,    /* bytes of shared memory that the system takes of each block's */
  MOST_BYTES = 32768, /* of a stretch */
  LEAST_BYTES = 8192,
  MOST_RESULTS = 1024, /* of a stretch, of several modes */
  MOST_OF_ONE = 4096,  /* the same of one mode, which may have no descriptions */
  MOST_SUMS = 2048,    /* of threads in shared memory */
  MOST_OUTER = 1024,   /* terms that have descriptions */
  MOST_BITS = 8,       /* of lanes, as a logarithm: all threads of a block */
  MOST_BLOCK_TILES = 64
};

/* Seconds of a launch; of a step of a block that waits for memory alone; issue slots of an SM, and accesses of its shared memory, per second
 * that are reached; the speed of memory over that of a copy as predicted; and what a block takes to begin and to end, in
 * steps. These and the slots below were fitted to 892 sums of three types on an H200, whose copies in bulk take none. */
static const double launch_seconds = 4.8e-6, wait_seconds = 0.87e-6, slots_per_second = 5.4e9,
                    accesses_per_second = 1.78e9, share_of_copy = 1.285, steps_to_begin = 0.22;

/* Blocks on an SM, for as many as there are registers. */
static int64_t most_blocks(const cutt_contraction *c) { return c->type->bytes > 8 ? 2 : 4; }

/* ------------------------------------------------------------------------------------------------------------ the stretch */

/* As many of L's first modes as there is room for, if they follow each other in memory, and a part of the next one. */
static bool choose_stretch(const cutt_contraction *c, int64_t room, cutt_stretch_shape *s) {
  int mode[CUTT_MOST_MODES], count = 0, kept = 0, summed = 0;
  s->elements = s->results = 1;
  s->modes = 0;
  s->last_mode = s->inner_mode = -1;
  for (int i = 0; i < c->modes; ++i) {
    s->part[i] = 1;
    if (c->mode[i].stride[CUTT_LEFT] > 0) mode[count++] = i;
  }
  cutt_sort_modes(c, CUTT_LEFT, mode, count);
  for (int i = 0; i < count; ++i) {
    const int m = mode[i];
    const bool sums = cutt_is_summed(c, m);
    const int64_t extent = c->mode[m].extent, fits = room / c->type->bytes / s->elements;
    const int64_t results = kept ? MOST_RESULTS : MOST_OF_ONE, most = sums ? fits : smaller(fits, results / s->results);
    if (c->mode[m].stride[CUTT_LEFT] != s->elements || most < 2) break;
    if (++*(sums ? &summed : &kept) > CUTT_STRETCH_DIGITS) break;
    const int64_t part = extent <= most ? extent : cutt_sum_chunk(extent, most);
    s->part[m] = (int16_t)part; /* at most MOST_BYTES */
    s->elements *= part;
    s->last_mode = m;
    ++s->modes;
    if (!sums) s->results *= part;
    if (sums && (s->inner_mode < 0 || part > s->part[s->inner_mode])) s->inner_mode = m;
    if (part < extent) break;
  }
  return s->modes > 0;
}

static int64_t inner_terms(const cutt_stretch_shape *s) { return s->inner_mode < 0 ? 1 : s->part[s->inner_mode]; }

/* Do all inner terms that follow each other begin at multiples of so many bytes, if the first ones do? */
static bool begin_at(const cutt_contraction *c, const cutt_stretch_shape *s, int64_t bytes) {
  return cutt_sum_begins_at(c, s->inner_mode, bytes);
}

static bool is_aligned(const cutt_contraction *c, const cutt_stretch_shape *s) {
  return begin_at(c, s, CUTT_STRETCH_WINDOW);
}

/* Are terms of half types loaded in pairs, where a thread has several results? */
static bool are_pairs(const cutt_contraction *c, const cutt_stretch_shape *s) {
  return c->type->bytes == 2 && s->several && s->inner_mode >= 0 && c->mode[s->inner_mode].stride[CUTT_LEFT] == 1 &&
         s->part[s->inner_mode] % 2 == 0 && begin_at(c, s, 4);
}

/* What is dealt out to lanes: inner terms, or the windows that they lie in, at most. */
static int64_t inner_shares(const cutt_contraction *c, const cutt_stretch_shape *s) {
  const int64_t bytes = inner_terms(s) * c->type->bytes, before = CUTT_STRETCH_WINDOW - c->type->bytes;
  return s->wide ? cutt_ceil_of(bytes + (is_aligned(c, s) ? 0 : before), CUTT_STRETCH_WINDOW) : inner_terms(s);
}

static int64_t outer_terms(const cutt_stretch_shape *s) { return s->elements / s->results / inner_terms(s); }

/* Modes of a stretch that are summed over, but for the inner one, by their steps in L; or that are D's, by those in D. */
static int modes_of(const cutt_contraction *c, const cutt_stretch_shape *s, bool summed, int *mode) {
  int count = 0;
  for (int i = 0; i < c->modes; ++i)
    if (s->part[i] > 1 && cutt_is_summed(c, i) == summed && !(summed && i == s->inner_mode)) mode[count++] = i;
  cutt_sort_modes(c, summed ? CUTT_LEFT : CUTT_RESULT, mode, count);
  return count;
}

/* --------------------------------------------------------------------------------------------------------------- the lanes */

/* Where a result's first term of a lane is in a stretch, in elements. */
typedef struct places {
  const cutt_contraction *c;
  const cutt_stretch_shape *s;
  int result[CUTT_MOST_MODES], results, outer[CUTT_MOST_MODES], outers;
} places;

static int64_t number_at(const places *p, const int *mode, int count, int64_t number) {
  int64_t at = 0;
  for (int i = 0; i < count; ++i) {
    at += number % p->s->part[mode[i]] * p->c->mode[mode[i]].stride[CUTT_LEFT];
    number /= p->s->part[mode[i]];
  }
  return at;
}

static int64_t place_of(const places *p, int64_t result, int64_t inner, int64_t outer) {
  const int64_t step = p->s->inner_mode < 0 ? 0 : p->c->mode[p->s->inner_mode].stride[CUTT_LEFT];
  return number_at(p, p->result, p->results, result) + number_at(p, p->outer, p->outers, outer) + inner * step;
}

/* Accesses of shared memory that the first warp's request for terms, or windows, takes: of 4 bytes of each of 32 banks, by half warps of 8
 * bytes and quarter warps of 16. */
static int64_t accesses_of(const places *p) {
  const cutt_stretch_shape *s = p->s;
  const int64_t element = p->c->type->bytes, asked = s->wide ? CUTT_STRETCH_WINDOW : larger(element, (int64_t)4),
                together = WARP * 4 / asked, each = CUTT_STRETCH_THREADS >> s->lane_bits;
  int64_t sum = 0;
  for (int64_t first = 0; first < WARP; first += together) {
    int64_t word[WARP], most = 1;
    int words = 0, in_bank[WARP] = {0};
    for (int64_t i = first; i < first + together; ++i) {
      const int64_t own = s->results_first ? i % each : i >> s->lane_bits,
                    lane = s->results_first ? i / each : i % (1 << s->lane_bits);
      if (own >= s->results) continue;
      const int64_t inner = lane % (1 << s->inner_bits), outer = lane >> s->inner_bits;
      const int64_t at = s->wide ? place_of(p, own, 0, outer) * element / asked + inner
                                 : place_of(p, own, inner, outer) * element / 4 * 4 / asked;
      int k = 0;
      while (k < words && word[k] != at) ++k;
      if (k < words) continue;
      word[words++] = at; /* of 8 bytes and more, banks are asked for as many words each */
      most = larger(most, (int64_t)++in_bank[at % together]);
    }
    sum += most;
  }
  return sum;
}

/* Issue slots of a warp for a stretch, and accesses of shared memory, besides those for a tile's end. */
typedef struct work {
  double slots, accesses;
} work;

/* Issue slots to add a number: in windows, several results' at once, or one by one, which is then loaded too. Maxima of 8 bytes look at
 * both numbers twice. */
static double slots_of_number(const cutt_contraction *c, const cutt_stretch_shape *s) {
  const int64_t bytes = c->type->bytes;
  const double plain = bytes == 2 ? 3 : bytes == 4 ? 2 : c->type->complex ? 4.5 : 3.7;
  return (s->wide ? 2 : s->several ? (bytes == 4 ? 1 : 2) : plain) + (c->reduce && bytes == 8 ? 4 : 0);
}

/* Issue slots for so many terms one after the other, which are loaded by fours, and one by one at the end. */
static double slots_of(const cutt_contraction *c, const cutt_stretch_shape *s, int64_t terms) {
  enum { BATCH = 4, FOR_BATCH = 2, FOR_SINGLE = 2 };
  const double number = slots_of_number(c, s);
  const int64_t batches = terms / BATCH;
  return (double)batches * (FOR_BATCH + BATCH * number) + (double)(terms % BATCH) * (FOR_SINGLE + number);
}

/* The same of so many terms of each of several results at once. */
static double slots_of_several(const cutt_contraction *c, const cutt_stretch_shape *s, int64_t terms) {
  enum { BATCH = 4, FOR_BATCH = 2 };
  const double results = CUTT_STRETCH_AT_ONCE(c->type->bytes), load = are_pairs(c, s) ? 0.5 : 1,
               term = results * (load + slots_of_number(c, s)), more = results + FOR_BATCH;
  if (s->inner_mode >= 0 && c->mode[s->inner_mode].stride[CUTT_LEFT] != 1) return (double)terms * (term + more);
  const int64_t batches = terms / BATCH + terms % BATCH / 2 + terms % 2;
  return (double)terms * term + (double)batches * more;
}

/* The same of a run in windows, which may begin within one; what the first and the last have of other elements is looked at. */
static double slots_of_windows(const cutt_contraction *c, const cutt_stretch_shape *s, int64_t windows) {
  enum { FOR_RUN = 19, FOR_ONE = 7 };
  static const double for_end = 1.5;
  const double each = CUTT_STRETCH_WINDOW / (double)c->type->bytes;
  return FOR_RUN + (double)windows * (FOR_ONE + each * slots_of_number(c, s)) +
         (double)(is_aligned(c, s) ? 0 : smaller(windows, INT64_C(2))) * for_end * each;
}

static work work_of(const places *p, int64_t terms) {
  enum {
    FOR_STEP = 51,
    FOR_RESULT = 61,
    FOR_SEVERAL = 56,
    FOR_ONE = 27,
    FOR_OUTER = 19,
    FOR_ROUND = 44,
    FOR_JOIN = 73,
    FOR_END = 18
  };
  const cutt_contraction *c = p->c;
  const cutt_stretch_shape *s = p->s;
  const int64_t lanes = INT64_C(1) << s->lane_bits,
                inner = cutt_ceil_of(inner_shares(c, s), INT64_C(1) << s->inner_bits);
  const int64_t at_once = s->several ? CUTT_STRETCH_AT_ONCE(c->type->bytes) : 1;
  const double rounds = (double)cutt_ceil_of(s->results, at_once * CUTT_STRETCH_THREADS / lanes),
               outer = (double)cutt_ceil_of(outer_terms(s), INT64_C(1) << (s->lane_bits - s->inner_bits)),
               windows = (double)(s->elements * c->type->bytes) / CUTT_STRETCH_WINDOW / CUTT_STRETCH_THREADS;
  const double run = s->several ? slots_of_several(c, s, inner)
                     : s->wide  ? slots_of_windows(c, s, inner)
                                : slots_of(c, s, inner),
               result = s->several ? FOR_SEVERAL + FOR_ONE * (double)at_once : FOR_RESULT;
  work w = {FOR_STEP + rounds * (result + outer * (FOR_OUTER + run)),
            4 * windows + rounds * (double)at_once *
                              (5 + outer * (1 + (double)(inner * accesses_of(p)) / (are_pairs(c, s) ? 2 : 1)))};
  work ends = {FOR_END * (double)cutt_ceil_of(s->results, CUTT_STRETCH_THREADS), 0};
  for (int left = s->lane_bits; left > 0;) {
    const int bits = left > 3 ? left - 3 : 0;
    const double turns = (double)cutt_ceil_of(s->results << bits, CUTT_STRETCH_THREADS);
    ends.slots += FOR_ROUND + turns * FOR_JOIN;
    ends.accesses += turns * (4 + (1 << (left - bits)));
    left = bits;
  }
  w.slots += ends.slots / (double)terms;
  w.accesses += ends.accesses / (double)terms;
  return w;
}

/* What a warp's work takes of an SM's time, when other warps have as much. */
static double time_of(work w) {
  const double time[] = {1e6 * w.slots / slots_per_second, 1e6 * w.accesses / accesses_per_second};
  return cutt_together(time, 2);
}

/* With the inner mode that there is. */
static void choose_lanes(const cutt_contraction *c, cutt_stretch_shape *s, int64_t terms, cutt_stretch_shape *best,
                         work *least) {
  places p = {.c = c, .s = s};
  p.results = modes_of(c, s, false, p.result);
  p.outers = modes_of(c, s, true, p.outer);
  if (outer_terms(s) > MOST_OUTER) return;
  const bool follow = s->inner_mode >= 0 && c->mode[s->inner_mode].stride[CUTT_LEFT] == 1;
  const int64_t each = CUTT_STRETCH_WINDOW / c->type->bytes; /* elements of a window */
  for (int wide = 0; wide <= (follow && each > 1 && inner_terms(s) > each); ++wide)
    for (int inner = 0; inner <= MOST_BITS; ++inner)
      for (int outer = 0; inner + outer <= MOST_BITS && outer_terms(s) >> outer; ++outer)
        for (int first = 0; first < 2; ++first) {
          /* Where a thread has all terms of its results, there are no threads for lanes to be beside. */
          s->several = first && !wide && !inner && !outer;
          s->wide = wide == 1;
          s->inner_bits = inner;
          s->lane_bits = inner + outer;
          s->results_first = first && !s->several;
          if (!(inner_shares(c, s) >> inner) || (first && !s->lane_bits && !s->several)) continue;
          if (s->lane_bits && s->results << s->lane_bits > MOST_SUMS) continue;
          if (s->results > MOST_RESULTS && !s->several) continue;
          const work w = work_of(&p, terms);
          if (!(time_of(w) < time_of(*least) * (1 - 1e-9))) continue;
          *least = w;
          *best = *s;
        }
}

/* The lanes, and the inner mode: the longest, or the one whose terms follow each other. The work is INFINITY where there are too many outer
 * terms. */
static work choose_inner(const cutt_contraction *c, cutt_stretch_shape *s, int64_t terms) {
  cutt_stretch_shape best = *s, tried = *s;
  work least = {INFINITY, INFINITY};
  choose_lanes(c, &tried, terms, &best, &least);
  for (int i = 0; i < c->modes; ++i) {
    if (s->part[i] < 2 || i == s->inner_mode || !cutt_is_summed(c, i) || c->mode[i].stride[CUTT_LEFT] != 1) continue;
    tried.inner_mode = i;
    choose_lanes(c, &tried, terms, &best, &least);
  }
  *s = best;
  return least;
}

/* ------------------------------------------------------------------------------------------------------- shared memory, seconds */

/* Have the results descriptions? Those of one mode need none where a thread has several of them at once. */
static bool are_described(const cutt_contraction *c, const cutt_stretch_shape *s) {
  int mode[CUTT_MOST_MODES];
  return !s->several || modes_of(c, s, false, mode) > 1;
}

/* What is in shared memory, and where. */
typedef struct layout {
  int64_t stage, results_at, terms_at, sums_at, sums, counters_at, all, result_apart, lane_apart;
} layout;

static layout lay_out(const cutt_contraction *c, const cutt_stretch_shape *s) {
  layout l = {.stage = cutt_round_up(s->elements * c->type->bytes + CUTT_STRETCH_LINE - 1, CUTT_STRETCH_LINE)};
  const int64_t lanes = INT64_C(1) << s->lane_bits;
  l.results_at = l.stage * CUTT_STRETCH_STAGES;
  l.sums_at = l.results_at + (are_described(c, s) ? s->results * CUTT_STRETCH_ENTRY : 0);
  /* One more lane, so that neighbouring results' sums are not in the same bank. */
  l.result_apart = lanes == 1 || s->results_first ? 1 : lanes + 1;
  l.lane_apart = lanes == 1 || s->results_first ? s->results : 1;
  l.sums = cutt_round_up(cutt_sum_bytes(c) * s->results *
                             (lanes == 1         ? 1
                              : s->results_first ? lanes
                                                 : lanes + 1),
                         CUTT_STRETCH_WINDOW);
  if (s->blocks.terms == 1 && lanes == 1) l.sums = 0;
  l.terms_at = l.sums_at + (lanes > 8 ? 2 : 1) * l.sums;
  l.counters_at = cutt_round_up(l.terms_at + outer_terms(s) * CUTT_STRETCH_TERM, CUTT_STRETCH_COUNTER);
  l.all = l.counters_at + CUTT_STRETCH_STAGES * CUTT_STRETCH_COUNTER;
  return l;
}

/* Bytes of memory that a step moves. */
static double moved_by(const cutt_contraction *c, const cutt_stretch_shape *s) {
  const int64_t element = c->type->bytes;
  const double read = (double)(s->elements * element);
  int mode[CUTT_MOST_MODES];
  double run = (double)element; /* of results that follow each other in D */
  const int count = modes_of(c, s, false, mode);
  for (int i = 0; i < count && (double)(llabs(c->mode[mode[i]].stride[CUTT_RESULT]) * element) == run; ++i)
    run *= s->part[mode[i]];
  const double sectors = (double)s->results * (double)element / run * fmax(run, (double)cutt_sum_written_unit(c));
  return read + sectors * (c->beta_is_zero ? 1 : 2) / (double)s->blocks.terms;
}

/* Of what goes on at the same time, waiting included. */
static double together(double memory, double issue, double accesses) {
  const double time[] = {1e6 * memory, 1e6 * issue, 1e6 * accesses, 1e6 * wait_seconds};
  return cutt_together(time, 4) * 1e-6;
}

static void set_parts(const cutt_contraction *c, const cutt_stretch_shape *s, int64_t *part) {
  for (int i = 0; i < c->modes; ++i) part[i] = s->part[i];
}

/* Of a step, while so many blocks are at work. */
static double step_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_stretch_shape *s, work w,
                           double busy) {
  enum { BLOCK_WARPS = CUTT_STRETCH_THREADS / WARP };
  const double warps = BLOCK_WARPS * ceil(busy / (double)larger(r->multiprocessors, (int64_t)1));
  return together(busy * moved_by(c, s) / (share_of_copy * r->memory), warps * w.slots / slots_per_second,
                  warps * w.accesses / accesses_per_second);
}

/* Issue slots to copy a stretch 16 bytes at a time, by machine code. */
static double slots_to_copy(const cutt_contraction *c, const cutt_stretch_shape *s) {
  enum { FOR_STEP = 28, FOR_WINDOW = 16 };
  return FOR_STEP + FOR_WINDOW * (double)(s->elements * c->type->bytes) / (CUTT_STRETCH_WINDOW * CUTT_STRETCH_THREADS);
}

/* With so many bytes in a stretch, at most. */
static void choose(const cutt_contraction *c, const cutt_rates *r, int64_t limit, int64_t room, cutt_stretch_shape *s) {
  int64_t part[CUTT_MOST_MODES];
  *s = (cutt_stretch_shape){.blocks = {.parts = 1}, .seconds = INFINITY};
  if (!choose_stretch(c, room, s)) return;
  set_parts(c, s, part);
  if (!cutt_sum_blocks_count(c, part, &s->blocks)) return;
  work w = choose_inner(c, s, s->blocks.terms);
  if (!isfinite(w.slots)) return;
  if (!r->bulk_copies) w.slots += slots_to_copy(c, s);
  s->shared_bytes = lay_out(c, s).all;
  if (s->shared_bytes > r->block_shared - RESERVED) return;
  const double sms = (double)larger(r->multiprocessors, (int64_t)1),
               each = (double)larger(smaller(r->sm_shared / (s->shared_bytes + RESERVED), most_blocks(c)), INT64_C(1));
  double step = step_seconds(c, r, s, w, sms * each);
  const cutt_sum_steps steps = {sms * each, steps_to_begin, cutt_join_seconds() / step,
                                cutt_join_part_seconds(c, r) / step, MOST_BLOCK_TILES};
  cutt_sum_blocks_choose(c, limit, &steps, &s->blocks);
  if (cutt_sum_blocks_of(&s->blocks) >= INT32_MAX) return;
  step = step_seconds(c, r, s, w, fmin(cutt_sum_blocks_of(&s->blocks), steps.at_once));
  s->seconds = launch_seconds + cutt_sum_steps_of(&s->blocks, &steps) * step;
}

void cutt_stretch_choose(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_stretch_shape *s) {
  *s = (cutt_stretch_shape){.blocks = {.parts = 1}, .seconds = INFINITY};
  if (!c->right_is_one || c->no_terms || c->empty) return;
  for (int64_t room = MOST_BYTES; room >= LEAST_BYTES; room /= 2) {
    cutt_stretch_shape tried;
    choose(c, r, limit, room, &tried);
    if (tried.seconds < s->seconds * (1 - 1e-9)) *s = tried;
  }
}

/* ---------------------------------------------------------------------------------------------------------- the parameters */

/* The outer terms, or the results, as numbers. Returns how many digits these have. */
static uint32_t fill_digits(const cutt_contraction *c, const cutt_stretch_shape *s, bool summed,
                            const int64_t *result_stride, int64_t result_bytes, cutt_stretch_digit *digit) {
  int mode[CUTT_MOST_MODES];
  const int count = modes_of(c, s, summed, mode);
  for (int i = 0; i < count; ++i) {
    const int m = mode[i];
    digit[i] = (cutt_stretch_digit){.extent = cutt_divide_by(s->part[m]),
                                    .step = (uint32_t)(c->mode[m].stride[CUTT_LEFT] * c->type->bytes),
                                    .result_step = summed ? 0 : result_stride[m] * result_bytes};
  }
  return (uint32_t)count;
}

void cutt_stretch_fill(const cutt_contraction *c, const cutt_stretch_shape *s, const int64_t *result_stride,
                       int64_t result_bytes, cutt_stretch_args *args) {
  const int64_t element = c->type->bytes;
  const cutt_contract_mode *last = &c->mode[s->last_mode];
  const layout l = lay_out(c, s);
  int64_t part[CUTT_MOST_MODES];
  set_parts(c, s, part);
  memset(args, 0, sizeof *args);
  cutt_sum_walk_fill(c, &s->blocks, part, s->last_mode, -1, result_stride, result_bytes, &args->walk);
  args->part = (uint32_t)s->part[s->last_mode];
  args->part_step = (uint32_t)(last->stride[CUTT_LEFT] * element);
  args->part_kept = !cutt_is_summed(c, s->last_mode);
  args->extent = last->extent;
  cutt_sum_span(c, &args->low, &args->high);
  args->stage_bytes = (uint32_t)l.stage;
  args->results = (uint32_t)s->results;
  args->inner = (uint32_t)inner_terms(s);
  args->inner_step = s->inner_mode < 0 ? 0 : (uint32_t)(c->mode[s->inner_mode].stride[CUTT_LEFT] * element);
  args->outer = (uint32_t)outer_terms(s);
  if (s->last_mode == s->inner_mode)
    args->inner_part = 1;
  else if (!args->part_kept)
    args->outer_part = args->outer / args->part;
  args->result_end = fill_digits(c, s, false, result_stride, result_bytes, args->result);
  args->term_end = fill_digits(c, s, true, result_stride, result_bytes, args->term);
  args->described = are_described(c, s);
  args->several = s->several;
  args->pairs = are_pairs(c, s);
  args->inner_bits = (uint32_t)s->inner_bits;
  args->lane_bits = (uint32_t)s->lane_bits;
  args->results_first = s->results_first;
  args->wide = s->wide;
  args->result_apart = (uint32_t)l.result_apart;
  args->lane_apart = (uint32_t)l.lane_apart;
  args->results_at = (uint32_t)l.results_at;
  args->terms_at = (uint32_t)l.terms_at;
  args->sums_at = (uint32_t)l.sums_at;
  args->sums_bytes = (uint32_t)l.sums;
  args->counters_at = (uint32_t)l.counters_at;
  args->flip = c->conjugate[0] ? UINT32_C(1) << 31 : 0;
  args->op = (uint8_t)c->reduce;
}
