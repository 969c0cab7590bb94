/* One problem, held to the plain definition. The expected image of the whole zone around the output is made once; every
 * execution then starts from the same poisoned image and is compared as a whole, so that an element written wrongly, one
 * left out and one written outside are all the same memcmp. */
#include "support/try.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/plan.h"
#include "cpu/cpu.h"
#include "cpu/tile.h"
#include "support/buffers.h"
#include "support/reference.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer)
/* Asked for by the leak checker. LLVM's OpenMP run time keeps what a team of another size has left. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libomp"; }
#endif
#endif

static struct {
  test_region in, out;
  unsigned char *before, *expected, *forgiven; /* images of the output's zone */
  size_t image_bytes;
  long executions;
  char line[8192]; /* the problem under way, for a crash */
  char what[512];  /* what is being done to it */
} state;

long test_executions(void) { return state.executions; }

void test_try_cleanup(void) {
  test_region_free(&state.in);
  test_region_free(&state.out);
  free(state.before);
  free(state.expected);
  free(state.forgiven);
  state.before = state.expected = state.forgiven = NULL;
  state.image_bytes = 0;
}

/* ------------------------------------------------------------------------------------------------ messages */

static void say(const char *text) {
  ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
  (void)ignored;
}

static void say_problem(void) {
  say(state.what);
  say("\nrepeat with CUTT_TEST_REPEAT='");
  say(state.line);
  say("' test_property\n");
}

/* After a crash: name the problem, then let the handler that was there before (cmocka's or a sanitizer's) do its part,
 * which the faulting instruction reaches again on return. */
enum { SIGNALS = 4 };
static const int signals[SIGNALS] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
static struct sigaction old_action[SIGNALS];

static void crashed(int number) {
  say("\ncrashed: ");
  say_problem();
  for (int i = 0; i < SIGNALS; i++)
    if (signals[i] == number) sigaction(number, &old_action[i], NULL);
}

/* Of processor time, since a loaded machine may stand still for long: more than any problem takes, sanitizers included. */
enum { HANG_SECONDS = 120 };

static void hung(int number) {
  (void)number;
  say("\ndoes not end: ");
  say_problem();
  abort();
}

static void watch_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = crashed;
  action.sa_flags = SA_NODEFER;
  for (int i = 0; i < SIGNALS; i++) {
    struct sigaction old;
    sigaction(signals[i], &action, &old);
    if (old.sa_handler != crashed) old_action[i] = old;
  }
  action.sa_handler = hung;
  sigaction(SIGPROF, &action, NULL);
  setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {HANG_SECONDS, 0}}, NULL);
}

static void unwatch_signals(void) {
  setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {0, 0}}, NULL);
  for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &old_action[i], NULL);
}

__attribute__((format(printf, 1, 2))) static bool fault(const char *format, ...) {
  char text[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  say("\nfault: ");
  say(text);
  say("\nin: ");
  say_problem();
  return false;
}

/* ------------------------------------------------------------------------------------------------ one execution */

/* The problem in memory. */
typedef struct setting {
  const test_problem *p;
  test_buffer in_buffer, out_buffer;
  const unsigned char *in; /* element (0, ..., 0) */
  unsigned char *out;      /* likewise */
  ptrdiff_t out_offset;    /* of out in the zone: out == zone + out_offset */
} setting;

static bool images_reserve(size_t bytes) {
  if (state.image_bytes >= bytes) return true;
  free(state.before);
  free(state.expected);
  free(state.forgiven);
  state.image_bytes = bytes;
  state.before = malloc(bytes);
  state.expected = malloc(bytes);
  state.forgiven = malloc(bytes);
  return state.before && state.expected && state.forgiven;
}

static bool setting_make(const test_problem *p, setting *s) {
  const int64_t bytes = (int64_t)test_type_bytes(p->type);
  int64_t in_low, in_high, out_low, out_high;
  test_in_span(p, &in_low, &in_high);
  test_out_span(p, &out_low, &out_high);
  s->p = p;
  if (state.in.base) test_region_protect(&state.in, false);
  if (!test_buffer_place(&state.in, (size_t)((in_high - in_low) * bytes), p->in_at, &s->in_buffer) ||
      !test_buffer_place(&state.out, (size_t)((out_high - out_low) * bytes), p->out_at, &s->out_buffer) ||
      !images_reserve(s->out_buffer.zone_bytes))
    return fault("the test has no memory for this problem");
  const bool computes = test_problem_computes(p);
  if (computes)
    test_fill_numbers(s->in_buffer.data, s->in_buffer.bytes, p->type, p->seed);
  else
    test_fill_bits(s->in_buffer.data, s->in_buffer.bytes, (size_t)bytes, p->seed);
  test_region_protect(&state.in, true);
  s->in = s->in_buffer.data - in_low * bytes;
  s->out = s->out_buffer.data - out_low * bytes;
  s->out_offset = s->out - s->out_buffer.zone;
  /* The poison: any bits around; inside, numbers where they count, and NaNs where they must not. */
  test_fill_bits(state.before, s->out_buffer.zone_bytes, 1, p->seed ^ 0x5bd1e995);
  unsigned char *inside = state.before + (s->out_buffer.data - s->out_buffer.zone);
  if (!test_beta_is_zero(p))
    test_fill_numbers(inside, s->out_buffer.bytes, p->type, p->seed ^ 0x1234567);
  else if (computes)
    memset(inside, 0xff, s->out_buffer.bytes);
  memcpy(state.expected, state.before, s->out_buffer.zone_bytes);
  test_reference(p, s->in, state.expected + s->out_offset);
  return true;
}

static void setting_poison(const setting *s) { memcpy(s->out_buffer.zone, state.before, s->out_buffer.zone_bytes); }

/* Says what is wrong at the first byte that is. */
static bool difference(const setting *s) {
  const test_problem *p = s->p;
  const size_t bytes = test_type_bytes(p->type);
  size_t wrong = 0, first = 0;
  for (size_t i = s->out_buffer.zone_bytes; i-- > 0;) {
    if (s->out_buffer.zone[i] == state.expected[i]) continue;
    wrong++;
    first = i;
  }
  const size_t data = (size_t)(s->out_buffer.data - s->out_buffer.zone);
  if (first < data) return fault("%zu bytes wrong; a write %zu bytes before the output", wrong, data - first);
  first -= data;
  if (first >= s->out_buffer.bytes)
    return fault("%zu bytes wrong; a write %zu bytes behind the output", wrong, first - s->out_buffer.bytes + 1);
  first -= first % bytes;
  char got[100], expected[100], before[100];
  test_element_print(p->type, s->out_buffer.data + first, got, sizeof got);
  test_element_print(p->type, state.expected + data + first, expected, sizeof expected);
  test_element_print(p->type, state.before + data + first, before, sizeof before);
  return fault("%zu bytes wrong; first at output element %zu of the span: %s, should be %s; it was %s before", wrong,
               first / bytes, got, expected, before);
}

static bool setting_compare(const setting *s) {
  const size_t bytes = s->out_buffer.zone_bytes;
  state.executions++;
  if (!memcmp(s->out_buffer.zone, state.expected, bytes)) return true;
  memcpy(state.forgiven, s->out_buffer.zone, bytes);
  if (test_forgive(s->p, s->in, state.before + s->out_offset, state.expected + s->out_offset,
                   state.forgiven + s->out_offset) > 0 &&
      !memcmp(state.forgiven, state.expected, bytes))
    return true;
  return difference(s);
}

/* ------------------------------------------------------------------------------------------------ the public way */

static bool info_is_sane(const test_problem *p, cuttPlan_t plan) {
  cuttPlanInfo_t info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  if (cuttPlanGetInfo(plan, &info) != CUTT_SUCCESS) return fault("cuttPlanGetInfo: %s", cuttLastError());
  const int64_t once = test_volume(p) * (int64_t)test_type_bytes(p->type);
  const int64_t moved = once * (test_beta_is_zero(p) ? 2 : 3);
  if (info.bytes_moved != moved) return fault("bytes_moved is %" PRId64 ", not %" PRId64, info.bytes_moved, moved);
  if (!info.method || !info.isa || info.threads < 1 || info.threads > p->threads || info.fused_rank > p->rank ||
      info.fused_elem_bytes < (int)test_type_bytes(p->type) || !(info.predicted_seconds >= 0.0) ||
      !isfinite(info.predicted_seconds) || !(info.create_seconds >= 0.0))
    return fault("cuttPlanGetInfo gives nonsense: method %s isa %s threads %d rank %d bytes %d predicted %g create %g",
                 info.method ? info.method : "NULL", info.isa ? info.isa : "NULL", info.threads, info.fused_rank,
                 info.fused_elem_bytes, info.predicted_seconds, info.create_seconds);
  return true;
}

static bool try_chosen(const setting *s) {
  const cuttProblem_t view = test_problem_view(s->p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = s->p->threads;
  cuttPlan_t plan = NULL;
  snprintf(state.what, sizeof state.what, "the chosen plan");
  if (cuttPlanCreate(&plan, &view, &options) != CUTT_SUCCESS || !plan)
    return fault("cuttPlanCreate: %s", cuttLastError());
  bool good = info_is_sane(s->p, plan);
  for (int again = 0; good && again < 2; again++) { /* twice: a plan must not change by being executed */
    setting_poison(s);
    if (cuttPlanExecute(plan, s->in, s->out, NULL) != CUTT_SUCCESS)
      good = fault("cuttPlanExecute: %s", cuttLastError());
    else
      good = setting_compare(s);
  }
  if (cuttPlanDestroy(plan) != CUTT_SUCCESS) good = fault("cuttPlanDestroy: %s", cuttLastError());
  return good;
}

/* ------------------------------------------------------------------------------------------------ every candidate */

static void name_candidate(const char *kind, int number, const cutt_candidate *c) {
  bool named = c->method >= 0 && c->method < CUTT_METHODS;
  size_t n = (size_t)snprintf(state.what, sizeof state.what,
                              "%s %d: %s (%d) m=%d k=%d split_m=%" PRId64 " split_k=%" PRId64 " threads=%d", kind,
                              number, named ? cutt_method_name[c->method] : "?", (int)c->method, c->m, c->k, c->split_m,
                              c->split_k, c->threads);
  for (int i = 0; i < CUTT_PARAMS && n < sizeof state.what; i++) {
    const char *name = cutt_cpu_backend.param_name[i];
    n += (size_t)snprintf(state.what + n, sizeof state.what - n, " %s=%" PRId64, name ? name : "-", c->param[i]);
  }
}

static bool try_candidate(const setting *s, const cutt_canonical *canonical, const cutt_candidate *candidate) {
  void *prepared = NULL;
  if (cutt_cpu_backend.prepare(canonical, candidate, &prepared) != CUTT_SUCCESS)
    return fault("prepare refuses it: %s", cuttLastError());
  setting_poison(s);
  cuttResult result = cutt_cpu_backend.execute(prepared, s->in, s->out, NULL);
  cutt_cpu_backend.release(prepared);
  if (result != CUTT_SUCCESS) return fault("execute: %s: %s", cuttResultName(result), cuttLastError());
  return setting_compare(s);
}

static int64_t mutated(test_rng *rng, int64_t value) {
  static const int64_t odd[] = {0, 1, -1, 2, 3, 4, 7, 8, 16, 31, 64, 100, 1000000, INT64_MAX, INT64_MIN};
  switch (test_random_in(rng, 0, 4)) {
    case 0:
      return value < INT64_MAX ? value + 1 : value;
    case 1:
      return value > INT64_MIN ? value - 1 : value;
    case 2:
      return test_random_in(rng, 0, 40);
    case 3:
      return value / 2;
    default:
      return odd[test_random_in(rng, 0, (int64_t)(sizeof odd / sizeof *odd) - 1)];
  }
}

/* A few threads, or a number that must be refused: hundreds would be right and slow. */
static int mutated_threads(test_rng *rng) {
  static const int threads[] = {1, 2, 3, 5, 0, -1, INT_MIN, INT_MAX, 1 << 20};
  return threads[test_random_in(rng, 0, (int64_t)(sizeof threads / sizeof *threads) - 1)];
}

static void mutate(test_rng *rng, cutt_candidate *c) {
  for (int changes = (int)test_random_in(rng, 1, 3); changes > 0; changes--) {
    int64_t field = test_random_in(rng, 0, 5 + CUTT_PARAMS);
    switch (field) {
      case 0:
        c->method = (cutt_method)test_random_in(rng, 0, CUTT_METHODS);
        break;
      case 1:
        c->m = (int)mutated(rng, c->m);
        break;
      case 2:
        c->k = (int)mutated(rng, c->k);
        break;
      case 3:
        c->split_m = mutated(rng, c->split_m);
        break;
      case 4:
        c->split_k = mutated(rng, c->split_k);
        break;
      case 5:
        c->threads = mutated_threads(rng);
        break;
      default:
        c->param[field - 6] = mutated(rng, c->param[field - 6]);
    }
  }
}

static bool try_mutants(const setting *s, const cutt_canonical *canonical, const cutt_candidate *list, int count) {
  test_rng rng = {s->p->seed};
  for (int i = 0; i < 12; i++) {
    cutt_candidate mutant = list[test_random_in(&rng, 0, count - 1)];
    mutate(&rng, &mutant);
    name_candidate("mutant", i, &mutant);
    const char *why = NULL;
    if (!cutt_cpu_backend.accept(canonical, &mutant, &why)) {
      if (!why || !*why) return fault("accept refuses it and does not say why");
    } else if (!try_candidate(s, canonical, &mutant)) {
      return false;
    }
  }
  return true;
}

/* Any shape that the CPU backend has names for, sensible values more often than not. The model would choose few of them
 * for a problem this small: streaming stores and threads, say, are for large ones. */
static cutt_candidate shaped(test_rng *rng, const cutt_canonical *canonical, int threads) {
  cutt_candidate c;
  memset(&c, 0, sizeof c);
  c.method = (cutt_method)test_random_in(rng, 0, CUTT_METHODS - 1);
  c.m = (int)test_random_in(rng, 0, canonical->rank < 5 ? canonical->rank : 5);
  c.k = (int)test_random_in(rng, canonical->rank > 0, canonical->rank < 5 ? canonical->rank : 5);
  if (c.m > 0 && test_chance(rng, 40)) c.split_m = test_random_in(rng, 1, canonical->mode[c.m - 1].extent);
  if (c.k > 0 && test_chance(rng, 50))
    c.split_k = test_random_in(rng, 1, canonical->mode[canonical->out_order[c.k - 1]].extent);
  c.threads = test_chance(rng, 90) ? 1 : threads;
  c.param[CUTT_CPU_PARAM_STREAM] = test_random_in(rng, 0, 1);
  if (test_chance(rng, 30)) {
    c.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_GATHER;
  } else {
    c.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_TRANSPOSE;
    c.param[CUTT_CPU_PARAM_VECTOR] = (int64_t)16 << test_random_in(rng, 0, 2);
    c.param[CUTT_CPU_PARAM_STEP] = test_chance(rng, 50) ? 16 : test_random_in(rng, 1, CUTT_CPU_MAX_STEP);
  }
  return c;
}

static bool try_shapes(const setting *s, const cutt_canonical *canonical) {
  test_rng rng = {s->p->seed ^ 0xabcdef};
  for (int i = 0, taken = 0; i < 60 && taken < 6; i++) {
    const cutt_candidate shape = shaped(&rng, canonical, s->p->threads);
    const char *why = "";
    name_candidate("shape", i, &shape);
    if (!cutt_cpu_backend.accept(canonical, &shape, &why)) continue;
    if (!try_candidate(s, canonical, &shape)) return false;
    taken++;
  }
  return true;
}

/* A candidate as it is, and with stores past the caches and threads, if it can be had with them. Starting threads takes
 * far longer than these problems do: one candidate of each gets them. */
static bool try_variants(const setting *s, const cutt_canonical *canonical, int number, int count,
                         const cutt_candidate *candidate) {
  const bool threads = s->p->seed % (uint64_t)count == (uint64_t)number;
  for (int i = 0; i < (threads ? 4 : 2); i++) {
    cutt_candidate variant = *candidate;
    const char *why = "";
    if (i & 1) variant.param[CUTT_CPU_PARAM_STREAM] ^= 1;
    if (i & 2) variant.threads = candidate->threads > 1 ? 1 : s->p->threads;
    if (i > 0 && cutt_candidate_equal(&variant, candidate)) continue;
    name_candidate(i ? "variant of candidate" : "candidate", number, &variant);
    if (!cutt_cpu_backend.accept(canonical, &variant, &why)) {
      if (i == 0) return fault("accept refuses it: %s", why);
      continue;
    }
    if (!try_candidate(s, canonical, &variant)) return false;
  }
  return true;
}

static bool try_candidates(const setting *s, unsigned what) {
  const cuttProblem_t view = test_problem_view(s->p);
  cutt_canonical canonical;
  cutt_candidate list[CUTT_MAX_CANDIDATES];
  snprintf(state.what, sizeof state.what, "the candidates");
  if (cutt_canonicalize(&view, &canonical) != CUTT_SUCCESS) return fault("cutt_canonicalize: %s", cuttLastError());
  if (canonical.volume == 0) return true;
  int count = cutt_cpu_backend.enumerate(&canonical, s->p->threads, list, CUTT_MAX_CANDIDATES);
  if (count < 1 || count > CUTT_MAX_CANDIDATES) return fault("enumerate gives %d candidates", count);
  for (int i = 0; i < count && (what & TEST_CANDIDATES); i++) {
    name_candidate("candidate", i, &list[i]);
    if (!(list[i].seconds >= 0.0) || !isfinite(list[i].seconds)) return fault("predicts %g seconds", list[i].seconds);
    if (i > 0 && list[i].seconds < list[i - 1].seconds) return fault("is out of order: the one before is slower");
    if (!try_variants(s, &canonical, i, count, &list[i])) return false;
  }
  if ((what & TEST_SHAPES) && !try_shapes(s, &canonical)) return false;
  return !(what & TEST_MUTANTS) || try_mutants(s, &canonical, list, count);
}

bool test_try(const test_problem *p, unsigned what) {
  setting s;
  test_problem_print(p, state.line, sizeof state.line);
  snprintf(state.what, sizeof state.what, "setting up");
  watch_signals();
  bool good = setting_make(p, &s) && (!(what & TEST_CHOSEN) || try_chosen(&s)) &&
              (!(what & ~(unsigned)TEST_CHOSEN) || try_candidates(&s, what));
  unwatch_signals();
  return good;
}
