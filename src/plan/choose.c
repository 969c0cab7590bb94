/* The choice among candidates: by wisdom, by the model, or by measuring, which takes the model's best CONTENDERS and has them
 * race (race.h). */
#include "plan/choose.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "plan/arguments.h"
#include "plan/race.h"
#include "store/wisdom.h"

int cutt_candidates(const cutt_task *task, cutt_candidate *list, int max) {
  if (task->canonical->volume == 0) return 0;
  return task->backend->methods->enumerate(task->target, task->model, task->canonical, task->threads, list, max);
}

enum { CONTENDERS = 12 };

struct buffers;

typedef struct contender {
  const cutt_task *task;
  cutt_candidate candidate;
  const struct buffers *b;
  void *prepared;
} contender;

/* What a choice among several takes: more than a small stack has. */
typedef struct shortlist {
  cutt_candidate list[CUTT_MAX_CANDIDATES];
  contender contenders[CONTENDERS];
  cutt_racer racers[CONTENDERS];
  char key[CUTT_WISDOM_KEY_BYTES];
} shortlist;

typedef struct buffers {
  const void *in;
  void *out;
  cudaStream_t stream;
  void *own_in, *own_out; /* scratch, when the user gave none */
  cudaStream_t own_stream;
} buffers;

static void close_buffers(const cutt_backend *backend, const buffers *b) {
  if (b->own_in) backend->runtime->scratch_release(b->own_in);
  if (b->own_out) backend->runtime->scratch_release(b->own_out);
  if (b->own_stream) backend->runtime->stream_release(b->own_stream);
}

static cuttResult check_buffers(const cutt_backend *backend, const cutt_canonical *canonical, const buffers *b) {
  static const char in_name[] = "options->measure_in", out_name[] = "options->measure_out";
  cuttResult result = cutt_buffers_check(canonical, b->in, b->out, in_name, out_name);
  if (!result) result = cutt_memory_check(backend, b->in, in_name);
  if (!result) result = cutt_memory_check(backend, b->out, out_name);
  return result;
}

static cuttResult open_scratch(const cutt_backend *backend, const cutt_canonical *canonical, int threads, buffers *b) {
  cuttResult result =
      backend->runtime->scratch_create((size_t)(canonical->in_high - canonical->in_low), threads, &b->own_in);
  if (result) return result;
  result = backend->runtime->scratch_create((size_t)(canonical->out_high - canonical->out_low), threads, &b->own_out);
  if (result) return result;
  b->in = (char *)b->own_in - canonical->in_low;
  b->out = (char *)b->own_out - canonical->out_low;
  return CUTT_SUCCESS;
}

static cuttResult open_buffers(const cutt_backend *backend, const cutt_canonical *canonical,
                               const cuttOptions_t *options, int threads, buffers *b) {
  *b = (buffers){options->measure_in, options->measure_out, options->measure_stream, NULL, NULL, NULL};
  cuttResult result = b->in ? check_buffers(backend, canonical, b) : open_scratch(backend, canonical, threads, b);
  if (!result && !b->stream && backend->runtime->has_streams) {
    result = backend->runtime->stream_create(&b->own_stream);
    b->stream = b->own_stream;
  }
  if (result) close_buffers(backend, b);
  return result;
}

static cuttResult run_contender(const void *what, cudaStream_t stream) {
  const contender *c = what;
  return cutt_execute_one(c->task->backend->methods, c->prepared, false, c->b->in, c->b->out, stream);
}

static cuttResult prepare_contender(void *data, int i) {
  contender *c = (contender *)data + i;
  const cuttResult failed =
      c->task->backend->methods->prepare(c->task->target, c->task->canonical, &c->candidate, &c->prepared);
  if (failed) c->prepared = NULL;
  return failed;
}

static cuttResult measure(const cutt_task *task, const cuttOptions_t *options, shortlist *s, int count,
                          cutt_choice *choice) {
  const cutt_backend *backend = task->backend;
  const cutt_canonical *canonical = task->canonical;
  buffers b;
  cuttResult result = open_buffers(backend, canonical, options, s->list[0].threads, &b);
  if (result) return result;
  const double limit = options->measure_seconds > 0 ? options->measure_seconds : CUTT_MEASURE_SECONDS;
  const double start = cutt_clock();
  contender *list = s->contenders;
  if (count > CONTENDERS) count = CONTENDERS;
  for (int i = 0; i < count; ++i) {
    list[i] = (contender){task, s->list[i], &b, NULL};
    s->racers[i] = (cutt_racer){.work = {run_contender, &list[i]}, .name = cutt_method_name[list[i].candidate.method]};
  }
  const cutt_race race = {backend->runtime, b.stream, start + limit, prepare_contender, list};
  int racing = 0;
  const int best = cutt_race_run(&race, s->racers, count, &racing, &result);
  if (best >= 0) {
    const cutt_racer *winner = &s->racers[best];
    *choice = (cutt_choice){list[best].candidate, list[best].prepared, CUTT_BY_MEASURING,
                            winner->fastest >= 0 ? winner->fastest : winner->first};
    list[best].prepared = NULL;
    cutt_log(CUTT_LOG_INFO, "measured %d of %d candidates in %.3g s: %s, %.4g us (predicted %.4g us)", racing, count,
             cutt_clock() - start, winner->name, choice->measured_seconds * 1e6, choice->candidate.seconds * 1e6);
  }
  for (int i = 0; i < count; ++i) {
    if (list[i].prepared) backend->methods->release(list[i].prepared);
  }
  close_buffers(backend, &b);
  return result;
}

/* Takes the choice from wisdom, if it has one that the backend accepts. list: the candidates of the model, which know
 * what the model thinks of it. */
static bool recall(const cutt_task *task, cuttWisdom_t wisdom, int threads, const shortlist *s, int count,
                   cutt_choice *choice) {
  const cutt_methods *methods = task->backend->methods;
  cutt_candidate candidate;
  double seconds = 0;
  if (!cutt_wisdom_find(wisdom, s->key, &candidate, &seconds)) return false;
  const char *why = "it uses more threads than were asked for";
  if (candidate.threads > threads || !methods->accept(task->target, task->canonical, &candidate, &why)) {
    cutt_log(CUTT_LOG_WARN, "wisdom has a choice for this problem that is not taken: %s",
             why ? why : "no reason given");
    return false;
  }
  for (int i = 0; i < count; ++i) {
    if (cutt_candidate_equal(&s->list[i], &candidate)) candidate.seconds = s->list[i].seconds;
  }
  *choice = (cutt_choice){candidate, NULL, CUTT_BY_WISDOM, seconds};
  if (methods->prepare(task->target, task->canonical, &candidate, &choice->prepared)) {
    cutt_log(CUTT_LOG_WARN, "wisdom has a choice for this problem that could not be prepared: %s", cuttLastError());
    return false;
  }
  cutt_log(CUTT_LOG_INFO, "wisdom: %s, measured at %.4g us", cutt_method_name[candidate.method], seconds * 1e6);
  return true;
}

static cuttResult prepare(const cutt_task *task, cutt_choice *choice) {
  return task->described_only
             ? CUTT_SUCCESS
             : task->backend->methods->prepare(task->target, task->canonical, &choice->candidate, &choice->prepared);
}

static cuttResult no_candidate(const cutt_task *task) {
  return cutt_error(
      CUTT_INVALID_PARAMETER,
      "extents make %" PRId64
      " elements of %d bytes, which backend %s can't cut into tiles for %s; up to 2^40 bytes it surely can",
      task->canonical->volume, task->canonical->elem_bytes, task->backend->name, task->target->name);
}

static cuttResult choose_among(const cutt_task *task, const cuttOptions_t *options, shortlist *s, cutt_choice *choice) {
  const cutt_backend *backend = task->backend;
  const cutt_canonical *canonical = task->canonical;
  const int count = cutt_candidates(task, s->list, CUTT_MAX_CANDIDATES);
  if (count < 1) return no_candidate(task);

  if (options->candidate) {
    if (options->candidate > count) {
      return cutt_error(CUTT_INVALID_PARAMETER, "options->candidate is %d; this problem has %d candidates",
                        options->candidate, count);
    }
    *choice = (cutt_choice){s->list[options->candidate - 1], NULL, CUTT_BY_CALLER, 0};
    return prepare(task, choice);
  }

  /* Wisdom is kept by the threads that the problem can make use of, not by what was asked for: "the default" means
   * another number on another day, and a small problem runs on one thread whatever is asked. (On a GPU these are the
   * threads of the largest block, which depend on the problem and the device alone.) */
  if (options->wisdom) {
    int threads = 1;
    for (int i = 0; i < count; ++i) {
      if (s->list[i].threads > threads) threads = s->list[i].threads;
    }
    cutt_wisdom_key(backend, canonical, threads, s->key);
    if (recall(task, options->wisdom, threads, s, count, choice)) return CUTT_SUCCESS;
  }

  if (options->choice == CUTT_MEASURE) {
    const cuttResult result = measure(task, options, s, count, choice);
    if (result || !options->wisdom) return result;
    /* A plan that is good is not given up because it could not be remembered. */
    if (cutt_wisdom_add(options->wisdom, s->key, &choice->candidate, choice->measured_seconds)) {
      cutt_log(CUTT_LOG_WARN, "the measured choice was not added to wisdom: %s", cuttLastError());
    }
    return CUTT_SUCCESS;
  }
  *choice = (cutt_choice){s->list[0], NULL, CUTT_BY_MODEL, 0};
  return prepare(task, choice);
}

cuttResult cutt_choose(const cutt_task *task, const cuttOptions_t *options, cutt_choice *choice) {
  /* When only the first counts, it is found sooner, and needs no memory. */
  if (!options->candidate && !options->wisdom && options->choice == CUTT_PREDICT) {
    cutt_candidate first;
    if (cutt_candidates(task, &first, 1) < 1) return no_candidate(task);
    *choice = (cutt_choice){first, NULL, CUTT_BY_MODEL, 0};
    return prepare(task, choice);
  }
  shortlist *s = malloc(sizeof *s);
  if (!s) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to choose a candidate", sizeof *s);
  const cuttResult result = choose_among(task, options, s, choice);
  free(s);
  return result;
}
