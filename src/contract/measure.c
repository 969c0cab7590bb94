/* The choice by wisdom or by measuring (measure.h).
 *
 * A plan is made for each of the model's best ways, and these plans race (plan/race.h) on memory of the library's own, since
 * products overwrite their result. Where the library of the products lists algorithms for them, the fastest ways that multiply
 * then race again, beside themselves with each of those. What is left of the time limit goes to the permutations of the winner: its
 * plan is made again with permutations that are measured too, and the two race again. */
#include "contract/measure.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "contract/numbers.h"
#include "contract/prepare.h"
#include "contract/ways.h"
#include "plan/services.h"

/* As many executions should be left of the time limit for the permutations to be measured. */
static const double least_runs = 8;

/* Where the library has algorithms to be chosen from: the share of the time limit that is left for those and the permutations;
 * and algorithms are tried of ways that take up to so many times as long as the fastest. */
static const double later_share = 0.5, near = 1.25;

/* Contenders with those algorithms; and how many algorithms are tried of a way that is not the fastest. */
enum { AGAIN = 20, FEW = 3, CONTENDERS = CUTT_MOST_WAYS + AGAIN + 1, LAST = CONTENDERS - 1 };

typedef struct contender {
  struct race *race;
  cutt_way way;
  /* A copy of the plan that has been started, with this way; what the copies share is not theirs to free. NULL: not made. */
  struct cuttContractionStruct *plan;
} contender;

typedef struct race {
  const struct cuttContractionStruct *started;
  const cutt_runtime *runtime;
  int64_t limit;
  cudaStream_t stream;
  void *memory[CUTT_TENSORS], *workspace;
  size_t workspace_bytes;
  cutt_operands operands;
  /* The ways as the model lists them; then, in a race of their own, the fastest of those again and with algorithms of the library;
   * last the winner, with permutations that are measured. */
  int count, again;
  contender contender[CONTENDERS];
  cutt_racer racer[CUTT_MOST_WAYS + AGAIN];
  cutt_way list[CUTT_MOST_WAYS];
} race;

/* ---------------------------------------------------------------------------------------------------------------- memory */

static void close_race(race *r) {
  for (int i = 0; i < CONTENDERS; ++i) {
    if (!r->contender[i].plan) continue;
    cutt_contraction_untake(r->contender[i].plan);
    free(r->contender[i].plan);
  }
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (r->memory[t]) r->runtime->scratch_release(r->memory[t]);
  if (r->workspace) r->runtime->scratch_release(r->workspace);
  if (r->stream) r->runtime->stream_release(r->stream);
  free(r);
}

static cuttResult open_race(race *r) {
  const cutt_contraction *c = &r->started->asked;
  cuttResult result = CUTT_SUCCESS;
  r->operands.workspace = (unsigned char *)r; /* until there is some: offsets of 0 may be added to it */
  for (int t = 0; t < CUTT_TENSORS && !result; ++t) {
    const int64_t bytes = c->high[t] - c->low[t];
    if (t == CUTT_RIGHT && c->right_is_one) continue;
    result = r->runtime->scratch_create((size_t)bytes, r->started->threads, &r->memory[t]);
    if (!result) result = cutt_numbers_fill(r->runtime, c->type->type, r->memory[t], bytes);
    if (result) break;
    unsigned char *first = (unsigned char *)r->memory[t] - c->low[t];
    if (t == CUTT_RESULT)
      r->operands.result = first;
    else
      r->operands.operand[t] = first;
  }
  if (!result && r->runtime->has_streams) result = r->runtime->stream_create(&r->stream);
  return result;
}

/* Workspace that is large enough for a plan too; earlier plans get it as well. */
static cuttResult take_workspace(race *r, size_t bytes) {
  if (bytes <= r->workspace_bytes) return CUTT_SUCCESS;
  if (r->workspace) r->runtime->scratch_release(r->workspace);
  r->workspace = NULL;
  r->workspace_bytes = 0;
  const cuttResult result = r->runtime->scratch_create(bytes, r->started->threads, &r->workspace);
  if (result) return result;
  r->operands.workspace = r->workspace;
  r->workspace_bytes = bytes;
  return CUTT_SUCCESS;
}

/* --------------------------------------------------------------------------------------------------------------- the race */

static cuttResult make_plan(contender *c, const cutt_permuting *permuting) {
  const struct cuttContractionStruct *started = c->race->started;
  c->plan = malloc(sizeof *c->plan);
  if (!c->plan) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *c->plan);
  *c->plan = *started;
  c->plan->permuting = *permuting;
  cuttResult result = cutt_way_take(c->plan, &c->way, c->race->limit);
  if (!result) result = take_workspace(c->race, c->plan->workspace_bytes);
  if (!result) return CUTT_SUCCESS;
  cutt_contraction_untake(c->plan);
  free(c->plan);
  c->plan = NULL;
  return result;
}

static cuttResult prepare(void *data, int i) {
  contender *c = (contender *)data + i;
  return c->plan ? CUTT_SUCCESS : make_plan(c, &c->race->started->permuting);
}

static cuttResult prepare_none(void *data, int i) {
  (void)data;
  (void)i;
  return CUTT_SUCCESS;
}

static cuttResult run(const void *what, cudaStream_t stream) {
  const contender *c = what;
  /* A plan that was made when another one needed less workspace, which could not be had again. */
  if (c->plan->workspace_bytes > c->race->workspace_bytes) {
    const cuttResult result = take_workspace(c->race, c->plan->workspace_bytes);
    if (result) return result;
  }
  return cutt_contraction_run(c->plan, &c->race->operands, stream, NULL);
}

static double seconds_of(const cutt_racer *racer) { return racer->fastest >= 0 ? racer->fastest : racer->first; }

static cutt_racer racer_of(const contender *c) {
  return (cutt_racer){.work = {run, c}, .name = c->way.one_pass ? "one-pass" : "ttgt", .expected = c->way.seconds};
}

/* The fastest of `count` contenders from one on; NULL: none could be run, and *result says why. */
static contender *race_ways(race *r, int from, int count, double deadline, double *seconds, cuttResult *result) {
  const cutt_race the_race = {r->runtime, r->stream, deadline, prepare, &r->contender[from]};
  for (int i = from; i < from + count; ++i) r->racer[i] = racer_of(&r->contender[i]);
  const int best = cutt_race_run(&the_race, &r->racer[from], count, NULL, result);
  if (best < 0) return NULL;
  *seconds = seconds_of(&r->racer[from + best]);
  return &r->contender[from + best];
}

/* The way number `rank` by measured time, from 0 on, of those that were timed; -1: there are not so many. */
static int ranked(const race *r, int rank) {
  for (int i = 0; i < r->count; ++i) {
    int before = 0;
    if (r->racer[i].first < 0) continue;
    for (int j = 0; j < r->count; ++j) {
      const double one = seconds_of(&r->racer[i]), other = seconds_of(&r->racer[j]);
      before += r->racer[j].first >= 0 && (other < one || (other == one && j < i));
    }
    if (before == rank) return i;
  }
  return -1;
}

/* A way again, and the library's algorithm number `number` for its products, or 0. */
static void add_again(race *r, const cutt_way *way, int number, const cutt_gemm_algorithm *algorithm) {
  contender *c = &r->contender[r->count + r->again++];
  c->race = r;
  c->way = *way;
  c->way.number = number;
  if (number) c->way.algorithm = *algorithm;
}

/* Lists the fastest ways as they are, which is with the first of the library's algorithms for their products, and those that multiply
 * with the others too. None where it has none. */
static cuttResult list_algorithms(race *r, double fastest) {
  const cutt_blas *blas = r->started->blas;
  int listed = 0;
  for (int rank = 0, i = 0; r->again < AGAIN && (i = ranked(r, rank)) >= 0; ++rank) {
    const contender *c = &r->contender[i];
    cutt_gemm_algorithm list[CUTT_GEMM_ALGORITHMS];
    cutt_gemm_case of;
    int count = 0;
    if (seconds_of(&r->racer[i]) > near * fastest) break;
    add_again(r, &c->way, 0, NULL);
    if (c->way.one_pass) continue;
    cutt_contraction_products_of(c->plan, r->limit, &of);
    const cuttResult result = blas->algorithms(blas, &of, list, &count);
    if (result) return result;
    const int most = rank == 0 ? CUTT_GEMM_ALGORITHMS : FEW;
    for (int number = 2; number <= count && number <= most && r->again < AGAIN; ++number, ++listed)
      add_again(r, &c->way, number, &list[number - 1]);
  }
  if (listed == 0) r->again = 0;
  return CUTT_SUCCESS;
}

/* The fastest with the library's algorithms among the ways; the one that has won without, where there are none. */
static contender *race_algorithms(race *r, contender *winner, double deadline, double *seconds) {
  cuttResult result = list_algorithms(r, *seconds);
  if (result) {
    cutt_log(CUTT_LOG_WARN, "measuring: the library's algorithms are not tried: %s", cuttLastError());
    r->again = 0;
  }
  if (r->again == 0) return winner;
  contender *best = race_ways(r, r->count, r->again, deadline, seconds, &result);
  return best ? best : winner;
}

/* Has the winner's permutations measured too, in half of the time that is left. Returns the faster one of both. */
static contender *race_permutations(race *r, contender *winner, double deadline, double *seconds) {
  const double left = deadline - cutt_clock();
  int permutations = 0;
  for (int kind = 0; kind < CUTT_MOST_KINDS; ++kind)
    for (int t = 0; t < CUTT_TENSORS; ++t)
      permutations += winner->plan->kind[kind] && winner->plan->kind[kind]->permute[t];
  for (int t = 0; t < CUTT_TENSORS; ++t) permutations += winner->plan->move[t] != NULL;
  if (permutations == 0 || left < least_runs * *seconds) return winner;
  contender *again = &r->contender[LAST];
  const cutt_permuting permuting = {CUTT_MEASURE, left / 2 / permutations, r->started->permuting.wisdom};
  again->race = r;
  again->way = winner->way;
  if (make_plan(again, &permuting)) return winner;
  const cutt_race the_race = {r->runtime, r->stream, deadline, prepare_none, r};
  cutt_racer both[2] = {racer_of(winner), racer_of(again)};
  cuttResult result = CUTT_SUCCESS;
  const int best = cutt_race_run(&the_race, both, 2, NULL, &result);
  if (best < 0) return winner;
  *seconds = seconds_of(&both[best]);
  return best ? again : winner;
}

/* What was timed, for the description; without memory for it there is none. */
static void note_times(struct cuttContractionStruct *plan, const race *r) {
  const int count = r->count + r->again;
  plan->timed = calloc((size_t)count, sizeof *plan->timed);
  plan->timed_count = plan->timed ? count : 0;
  for (int i = 0; i < plan->timed_count; ++i) {
    cutt_timed_way *timed = &plan->timed[i];
    cutt_text name = cutt_text_start(timed->name, sizeof timed->name);
    cutt_way_name(cutt_plan_whole(plan), &r->contender[i].way, &name);
    timed->predicted = r->contender[i].way.seconds;
    timed->seconds = seconds_of(&r->racer[i]);
  }
}

static cuttResult measure_in(race *r, struct cuttContractionStruct *plan, double limit, cutt_way *way) {
  cuttResult result = cutt_ways_list(plan, r->limit - (int64_t)plan->workspace_bytes, r->list, &r->count);
  if (!result) result = open_race(r);
  if (result) return result;
  const bool has_algorithms = plan->family != CUTT_FAMILY_PASS && plan->blas && plan->blas->algorithms;
  const double deadline = cutt_clock() + limit;
  for (int i = 0; i < r->count; ++i) {
    r->contender[i].race = r;
    r->contender[i].way = r->list[i];
  }
  double seconds = 0;
  contender *winner =
      race_ways(r, 0, r->count, deadline - (has_algorithms ? later_share * limit : 0), &seconds, &result);
  if (!winner) return result;
  if (has_algorithms) winner = race_algorithms(r, winner, deadline, &seconds);
  note_times(plan, r);
  winner = race_permutations(r, winner, deadline, &seconds);
  *way = winner->way;
  winner->plan->timed = plan->timed;
  winner->plan->timed_count = plan->timed_count;
  winner->plan->permuting = plan->permuting;
  *plan = *winner->plan; /* and so all that was made for it is this plan's to free */
  free(winner->plan);
  winner->plan = NULL;
  plan->by = CUTT_BY_MEASURING;
  plan->measured_seconds = seconds;
  cutt_log(CUTT_LOG_INFO, "measured a contraction in %.3g s: %.4g us (predicted %.4g us)",
           limit - (deadline - cutt_clock()), seconds * 1e6, cutt_plan_seconds(plan) * 1e6);
  return CUTT_SUCCESS;
}

static cuttResult measure(struct cuttContractionStruct *plan, int64_t limit, double seconds, cutt_way *way) {
  race *r = calloc(1, sizeof *r);
  if (!r) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to measure a contraction", sizeof *r);
  struct cuttContractionStruct *started = malloc(sizeof *started);
  cuttResult result = CUTT_SUCCESS;
  if (!started) result = cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *started);
  if (!result) {
    *started = *plan;
    r->started = started;
    r->runtime = plan->backend->runtime;
    r->limit = limit;
    result = measure_in(r, plan, seconds > 0 ? seconds : CUTT_MEASURE_SECONDS, way);
  }
  close_race(r);
  free(started);
  return result;
}

/* ------------------------------------------------------------------------------------------------------------------ wisdom */

typedef struct wisdom_words {
  char problem[CUTT_WISDOM_PROBLEM_BYTES - 512], key[CUTT_WISDOM_PROBLEM_BYTES];
  char words[CUTT_WISDOM_WORDS_BYTES];
  cutt_way way;
} wisdom_words;

/* False where the problem is longer than a key may be. */
static bool make_key(const struct cuttContractionStruct *plan, int64_t limit, wisdom_words *w) {
  cutt_text text = cutt_text_start(w->problem, sizeof w->problem);
  cutt_way_problem(plan, limit, &text);
  return text.length < sizeof w->problem &&
         cutt_wisdom_words_key(plan->backend, "contraction", w->problem, w->key, sizeof w->key);
}

/* Takes the way from wisdom. False where it has none that can be taken, with the plan as it was. */
static bool recall(struct cuttContractionStruct *plan, int64_t limit, cuttWisdom_t wisdom, wisdom_words *w) {
  double seconds = 0;
  if (!cutt_wisdom_find_words(wisdom, w->key, w->words, sizeof w->words, &seconds)) return false;
  const size_t workspace = plan->workspace_bytes;
  const char *why = cutt_way_read(plan, w->words, limit - (int64_t)workspace, &w->way);
  if (!why && cutt_way_take(plan, &w->way, limit)) {
    cutt_contraction_untake(plan);
    plan->workspace_bytes = workspace;
    why = cuttLastError();
  }
  if (why) {
    cutt_log(CUTT_LOG_WARN, "wisdom has a choice for this contraction that is not taken: %s", why);
    return false;
  }
  plan->by = CUTT_BY_WISDOM;
  plan->measured_seconds = seconds;
  return true;
}

static void remember(const struct cuttContractionStruct *plan, cuttWisdom_t wisdom, wisdom_words *w) {
  cutt_text text = cutt_text_start(w->words, sizeof w->words);
  cutt_way_words(cutt_plan_whole(plan), &w->way, &text);
  /* A plan that is good is not given up because it could not be remembered. */
  if (text.length >= sizeof w->words)
    cutt_log(CUTT_LOG_WARN, "the measured choice was not added to wisdom: it is longer than an entry may be");
  else if (cutt_wisdom_add_words(wisdom, w->key, w->words, plan->measured_seconds))
    cutt_log(CUTT_LOG_WARN, "the measured choice was not added to wisdom: %s", cuttLastError());
}

static cuttResult choose(struct cuttContractionStruct *plan, int64_t limit, const cutt_measuring *how,
                         wisdom_words *w) {
  const bool keyed = how->wisdom && make_key(plan, limit, w);
  plan->permuting.wisdom = how->wisdom;
  if (keyed && recall(plan, limit, how->wisdom, w)) return CUTT_SUCCESS;
  if (how->choice != CUTT_MEASURE) return cutt_contraction_decide(plan, limit);
  const cuttResult result = measure(plan, limit, how->seconds, &w->way);
  if (!result && keyed) remember(plan, how->wisdom, w);
  return result;
}

cuttResult cutt_contraction_prepare_measured(struct cuttContractionStruct *plan, const cutt_backend *backend,
                                             const cutt_blas *blas, int threads, int64_t limit,
                                             const cutt_measuring *how) {
  bool done = false;
  cuttResult result = cutt_contraction_start(plan, backend, blas, threads, limit, &done);
  if (result || done) return result;
  wisdom_words *w = malloc(sizeof *w);
  if (!w) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to choose a way", sizeof *w);
  result = choose(plan, limit, how, w);
  plan->permuting = (cutt_permuting){CUTT_PREDICT, 0, NULL};
  free(w);
  return result;
}
