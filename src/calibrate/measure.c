/* The times of a random problem's candidates.
 *
 * Which of them are timed is what the fit can learn from: those that a model thinks fast, because errors there cost; and
 * some of the others, or the fit would never hear of a candidate that is faster than the model thinks. They run in rotation,
 * so that a slow moment of the machine hits all of them alike, and the fastest run counts: noise only ever adds. */
#include <stdlib.h>

#include "base/error.h"
#include "calibrate/calibrate.h"
#include "plan/plan.h"

enum { CONTENDERS = 16, LEAST_CONTENDERS = 3, ROUNDS = 7, LEAST_ROUNDS = 2, LARGEST_REPEATS = 10000 };
static const double sample_seconds = 50e-6;

bool cutt_calibrate_progress(cutt_calibration *c, double done, const char *what) {
  if (c->stopped || !c->ask.progress) return !c->stopped;
  if (done < 0) {
    const double spent = (cutt_clock() - c->began) / c->limit;
    done = (spent < 1 ? spent : 1) * CUTT_MEASURED_PERCENT * 0.01;
  }
  c->stopped = c->ask.progress(c->ask.data, done, what) != 0;
  return !c->stopped;
}

typedef struct contender {
  cutt_candidate candidate;
  void *prepared;
  double warm;    /* seconds of the first run */
  double fastest; /* of those after it; 0: none yet */
} contender;

/* The problem's contenders, as they are found. */
typedef struct field {
  contender list[CONTENDERS];
  int count;
} field;

/* What the three models say of a problem. */
typedef struct listings {
  cutt_candidate now[CUTT_MAX_CANDIDATES], before[CUTT_MAX_CANDIDATES], paper[CUTT_MAX_CANDIDATES];
  int now_count, before_count, paper_count;
} listings;

/* What measuring a problem takes: more than a small stack has. */
typedef struct measurement {
  listings listings;
  field field;
} measurement;

static void enter(field *f, const cutt_candidate *list, int count, int place) {
  if (place >= count || f->count == CONTENDERS) return;
  for (int i = 0; i < f->count; ++i) {
    if (cutt_candidate_equal(&f->list[i].candidate, &list[place])) return;
  }
  f->list[f->count++] = (contender){.candidate = list[place]};
}

/* In the order in which they are worth being timed, because time may run out. Every third is one of the rest, taken in
 * steps that are different for every problem. */
static void choose_contenders(const cutt_calibration *c, const listings *l, field *f) {
  f->count = 0;
  enter(f, l->now, l->now_count, 0);
  enter(f, l->before, l->before_count, 0);
  enter(f, l->paper, l->paper_count, 0);
  const int front = CONTENDERS / 2;
  int far = front + c->trial_count % 5;
  for (int i = 1; i < l->now_count; ++i) {
    enter(f, l->now, l->now_count, i);
    if (i % 2 == 0) {
      enter(f, l->now, l->now_count, far);
      far += 1 + c->trial_count % 7;
    }
    if (i == 2) enter(f, l->paper, l->paper_count, 1);
  }
}

typedef struct executions {
  const cutt_calibration *c;
  const void *prepared;
  int repeats;
} executions;

static cuttResult run_executions(const void *what, cudaStream_t stream) {
  const executions *e = what;
  for (int i = 0; i < e->repeats; ++i) {
    const cuttResult result = cutt_execute_one(e->c->backend->methods, e->prepared, false, e->c->in, e->c->out, stream);
    if (result) return result;
  }
  return CUTT_SUCCESS;
}

/* Seconds of one execution, averaged over repeats. */
static cuttResult run(const cutt_calibration *c, const contender *one, int repeats, double *seconds) {
  const executions what = {c, one->prepared, repeats};
  const cuttResult result = c->backend->runtime->time(&(cutt_work){run_executions, &what}, c->stream, 1, seconds);
  *seconds /= repeats;
  return result;
}

static int repeats_for(double seconds) {
  if (seconds * LARGEST_REPEATS <= sample_seconds) return LARGEST_REPEATS;
  return seconds >= sample_seconds ? 1 : (int)(sample_seconds / seconds) + 1;
}

static void drop(const cutt_calibration *c, field *f, int i) {
  cutt_log(CUTT_LOG_WARN, "calibrating: a candidate (%s) failed and is left out: %s",
           cutt_method_name[f->list[i].candidate.method], cuttLastError());
  if (f->list[i].prepared) c->backend->methods->release(f->list[i].prepared);
  f->list[i] = f->list[--f->count];
}

/* Prepares them and runs each once; those that there is no time for go. */
static void warm_up(cutt_calibration *c, const cutt_canonical *canonical, double deadline, field *f) {
  for (int i = 0; i < f->count;) {
    contender *one = &f->list[i];
    if (i >= LEAST_CONTENDERS && cutt_clock() >= deadline) {
      f->count = i;
      return;
    }
    if (c->backend->methods->prepare(c->target, canonical, &one->candidate, &one->prepared)) {
      one->prepared = NULL;
      drop(c, f, i);
    } else if (run(c, one, 1, &one->warm)) {
      drop(c, f, i);
    } else {
      ++i;
    }
  }
}

static bool race(cutt_calibration *c, double deadline, field *f, const char *what) {
  for (int round = 0; round < ROUNDS; ++round) {
    if (round >= LEAST_ROUNDS && cutt_clock() >= deadline) return true;
    for (int i = 0; i < f->count;) {
      contender *one = &f->list[i];
      if (!cutt_calibrate_progress(c, -1, what)) return false;
      const double typical = one->fastest > 0 && one->fastest < one->warm ? one->fastest : one->warm;
      double seconds = 0;
      if (run(c, one, repeats_for(typical), &seconds)) {
        drop(c, f, i);
        continue;
      }
      if (!(one->fastest > 0) || seconds < one->fastest) one->fastest = seconds;
      ++i;
    }
  }
  return true;
}

/* Makes room for one more trial with all its samples. */
static cuttResult grow(cutt_calibration *c) {
  if (c->sample_count + CONTENDERS > c->sample_room) {
    const int room = 2 * c->sample_room + 64 * CONTENDERS;
    cutt_sample *samples = realloc(c->samples, (size_t)room * sizeof *samples);
    if (!samples) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d measured candidates", room);
    c->samples = samples;
    c->sample_room = room;
  }
  if (c->trial_count == c->trial_room) {
    const int room = 2 * c->trial_room + 64;
    cutt_trial *trials = realloc(c->trials, (size_t)room * sizeof *trials);
    if (!trials) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d measured problems", room);
    c->trials = trials;
    c->trial_room = room;
  }
  return CUTT_SUCCESS;
}

static void keep(cutt_calibration *c, const cutt_canonical *canonical, const field *f, bool held_back) {
  cutt_trial *trial = &c->trials[c->trial_count++];
  *trial = (cutt_trial){c->sample_count, 0, held_back};
  for (int i = 0; i < f->count; ++i) {
    const contender *one = &f->list[i];
    cutt_sample *s = &c->samples[c->sample_count];
    if (!(one->fastest > 0)) continue; /* a clock that stood still */
    cutt_explanation explanation, before;
    c->backend->methods->explain(c->target, canonical, &one->candidate, &explanation);
    c->backend->methods->explain(c->before, canonical, &one->candidate, &before);
    if (explanation.breakdown.count == 0 || before.breakdown.count == 0)
      continue; /* one that a model knows nothing of */
    const double paper = c->backend->methods->paper_seconds
                             ? c->backend->methods->paper_seconds(c->target, canonical, &one->candidate)
                             : 0;
    *s = (cutt_sample){explanation.breakdown, before.breakdown, paper > 0 ? paper : -1, one->fastest};
    ++c->sample_count;
    ++trial->count;
  }
  if (trial->count == 0) --c->trial_count;
}

static cuttResult measure(cutt_calibration *c, const cutt_canonical *canonical, bool held_back, double budget,
                          listings *l, field *f) {
  const cutt_backend *backend = c->backend;
  const int threads = c->ask.threads;
  l->now_count =
      backend->methods->enumerate(c->target, CUTT_MODEL_IS_OWN, canonical, threads, l->now, CUTT_MAX_CANDIDATES);
  l->before_count =
      backend->methods->enumerate(c->before, CUTT_MODEL_IS_OWN, canonical, threads, l->before, CUTT_MAX_CANDIDATES);
  l->paper_count = 0;
  if (backend->methods->paper_seconds) {
    l->paper_count =
        backend->methods->enumerate(c->target, CUTT_MODEL_IS_PAPER, canonical, threads, l->paper, CUTT_MAX_CANDIDATES);
  }
  choose_contenders(c, l, f);

  char what[64];
  cutt_text text = cutt_text_start(what, sizeof what);
  cutt_text_add(&text, "problem %d", c->trial_count + 1);
  const double start = cutt_clock();
  cuttResult result = CUTT_SUCCESS;
  warm_up(c, canonical, start + budget / 2, f);
  if (f->count == 0) {
    result = cutt_error(CUTT_INTERNAL_ERROR, "no candidate of a random problem could be measured; the last one: %s",
                        cuttLastError());
  } else if (race(c, start + budget, f, what)) {
    keep(c, canonical, f, held_back);
  } else {
    result = CUTT_INTERNAL_ERROR; /* the caller of this words it */
  }
  for (int i = 0; i < f->count; ++i) backend->methods->release(f->list[i].prepared);
  return result;
}

cuttResult cutt_calibrate_measure(cutt_calibration *c, const cutt_canonical *canonical, bool held_back, double budget) {
  cuttResult result = grow(c);
  if (result) return result;
  measurement *m = malloc(sizeof *m);
  if (!m) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to measure a problem", sizeof *m);
  result = measure(c, canonical, held_back, budget, &m->listings, &m->field);
  free(m);
  return result;
}
