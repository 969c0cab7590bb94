/* Timing several ways by turns (race.h).
 *
 * They run in rotation, round after round, so that a slow moment of the machine hits all of them alike, and in each round in another
 * order: what a run leaves in the caches helps the next one or slows it, so nobody should always come after the same one. What
 * counts is the fastest run of each: noise only ever adds. Racers that have fallen behind leave the race, which spends the rest of
 * the time limit where it can still decide something. Short executions are repeated within a sample, so that the clock's own
 * step doesn't count.
 */
#include "plan/race.h"

#include "base/clock.h"
#include "base/error.h"

enum { ROUNDS = 24, LARGEST_REPEATS = 10000 };
static const double sample_seconds = 50e-6;

/* A racer's executions as one thing to be timed. */
typedef struct executions {
  const cutt_work *work;
  int repeats;
} executions;

static cuttResult run_executions(const void *what, cudaStream_t stream) {
  const executions *e = what;
  for (int i = 0; i < e->repeats; ++i) {
    const cuttResult result = e->work->run(e->work->what, stream);
    if (result) return result;
  }
  return CUTT_SUCCESS;
}

/* Seconds of one run, averaged over repeats. */
static cuttResult run(const cutt_race *race, const cutt_racer *racer, int repeats, double *seconds) {
  const executions what = {&racer->work, repeats};
  const cuttResult result = race->runtime->time(&(cutt_work){run_executions, &what}, race->stream, 1, seconds);
  *seconds /= repeats;
  return result;
}

static int repeats_of(const cutt_racer *racer) {
  const double typical = racer->fastest > 0 && racer->fastest < racer->first ? racer->fastest : racer->first;
  if (typical * LARGEST_REPEATS <= sample_seconds) return LARGEST_REPEATS;
  return typical >= sample_seconds ? 1 : (int)(sample_seconds / typical) + 1;
}

/* A racer's first run. One that takes far longer than predicted may have loaded kernels, some for a tenth of a second, and says nothing
 * of the next ones: it is done again then, if there is time. */
static cuttResult run_first(const cutt_race *race, cutt_racer *racer) {
  static const double far = 4;
  double again = 0;
  const cuttResult result = run(race, racer, 1, &racer->first);
  const bool known = racer->expected > 0;
  if (result || !known || racer->first <= far * racer->expected || cutt_clock() >= race->deadline) return result;
  const cuttResult failed = run(race, racer, 1, &again);
  if (!failed && again < racer->first) racer->first = again;
  return failed;
}

/* Prepares the racers and runs each once. The first one runs whatever the limit; one that fails is left out, for as long as
 * there is another. Returns how many race; with 0, *result says why. */
static int warm_up(const cutt_race *race, cutt_racer *list, int count, cuttResult *result) {
  int racing = 0;
  double slower = 1; /* than expected, as the first one was */
  for (int i = 0; i < count; ++i) {
    cutt_racer *racer = &list[i];
    if (racing > 0 && cutt_clock() + racer->expected * slower >= race->deadline) continue;
    cuttResult failed = race->prepare(race->data, i);
    if (!failed) failed = run_first(race, racer);
    if (failed) {
      *result = failed;
      racer->first = -1;
      cutt_log(CUTT_LOG_WARN, "measuring: candidate %d (%s) failed and is left out: %s", i, racer->name,
               cuttLastError());
      continue;
    }
    if (racing == 0 && racer->expected > 0) slower = racer->first / racer->expected;
    racer->racing = true;
    ++racing;
  }
  return racing;
}

/* Has a racer fallen behind? In the first rounds only by far, and by its warm-up too: on a busy machine a run may take several
 * times as long as the next one. */
static bool is_behind(const cutt_racer *racer, double fastest, int rounds) {
  enum { FIRST_ROUNDS = 4 };
  const bool early = rounds < FIRST_ROUNDS;
  const double tolerance = early ? 3 : rounds < 6 ? 1.5 : rounds < 10 ? 1.2 : 1.07;
  const double own = early && racer->first < racer->fastest ? racer->first : racer->fastest;
  return own > fastest * tolerance;
}

static bool have_common_factor(int a, int b) {
  while (b) {
    const int rest = a % b;
    a = b;
    b = rest;
  }
  return a > 1;
}

/* From one racer to the next in a round: each of the numbers of 1 to count that go round all of them, in turn. */
static int step_of(int round, int count) {
  int step = 1;
  for (int left = round; left > 0 || have_common_factor(step, count); step = step % count + 1)
    left -= !have_common_factor(step, count);
  return step;
}

static void run_rounds(const cutt_race *race, cutt_racer *list, int count, int racing) {
  double fastest = -1;
  for (int round = 0; round < ROUNDS && (racing > 1 || round < 2); ++round) {
    const int step = step_of(round, count);
    for (int turn = 0; turn < count; ++turn) {
      cutt_racer *racer = &list[turn * step % count];
      if (!racer->racing) continue;
      const int repeats = repeats_of(racer);
      const double expected = (racer->fastest > 0 ? racer->fastest : racer->first) * repeats;
      if (cutt_clock() + expected > race->deadline) return;
      double seconds = 0;
      if (run(race, racer, repeats, &seconds)) {
        racer->racing = false;
        racer->first = racer->fastest = -1;
        --racing;
        continue;
      }
      if (racer->fastest < 0 || seconds < racer->fastest) racer->fastest = seconds;
      if (fastest < 0 || seconds < fastest) fastest = seconds;
    }
    for (int i = 0; i < count; ++i) {
      if (!list[i].racing || !is_behind(&list[i], fastest, round + 1)) continue;
      list[i].racing = false;
      --racing;
    }
  }
}

int cutt_race_run(const cutt_race *race, cutt_racer *list, int count, int *raced, cuttResult *result) {
  *result = CUTT_SUCCESS;
  for (int i = 0; i < count; ++i) {
    list[i].first = list[i].fastest = -1;
    list[i].racing = false;
  }
  const int racing = warm_up(race, list, count, result);
  if (raced) *raced = racing;
  if (racing > 0) run_rounds(race, list, count, racing);
  /* The fastest that was timed warm; when the limit left no time for that, the first that ran at all. */
  int best = -1;
  for (int i = 0; i < count; ++i) {
    const cutt_racer *racer = &list[i];
    if (racer->first < 0) continue;
    if (best < 0 || (racer->fastest >= 0 && (list[best].fastest < 0 || racer->fastest < list[best].fastest))) best = i;
  }
  if (best >= 0)
    *result = CUTT_SUCCESS;
  else if (!*result)
    *result = cutt_error(CUTT_INTERNAL_ERROR, "no candidate could be measured");
  return best;
}
