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

#include "plan/plan.h"
#include "support/engine.h"
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
  unsigned char *before, *expected; /* images of the output's zone */
  size_t image_bytes;
  long problems, executions;
  char line[8192]; /* the problem under way, for a crash */
  char what[512];  /* what is being done to it */
  const test_engine *engine;
} state = {.engine = &test_engine_cpu};

void test_use_engine(const test_engine *engine) { state.engine = engine; }

const test_engine *test_engine_in_use(void) { return state.engine; }

void test_try_report(void) {
  printf("%s: %ld problems, %ld executions compared\n", state.engine->name, state.problems, state.executions);
}

void test_try_cleanup(void) {
  test_region_free(&state.in);
  test_region_free(&state.out);
  free(state.before);
  free(state.expected);
  state.before = state.expected = NULL;
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
  say("' ");
  say(state.engine->program);
  say("\n");
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
  test_memory memory;
  ptrdiff_t out_offset; /* of memory.out in the zone: out == zone + out_offset */
} setting;

static bool images_reserve(size_t bytes) {
  if (state.image_bytes >= bytes) return true;
  free(state.before);
  free(state.expected);
  state.image_bytes = bytes;
  state.before = malloc(bytes);
  state.expected = malloc(bytes);
  return state.before && state.expected;
}

/* Where a buffer lies, for an engine that can't compute with numbers that lie anywhere: 4 bytes do for those of 8. */
static int aligned(const test_problem *p, int at) {
  const int unit = p->type == CUTT_F16 || p->type == CUTT_BF16 ? 2 : p->type == CUTT_C64 ? 8 : 4;
  return at >= 0 && state.engine->aligned_scalars && test_problem_computes(p) ? at / unit * unit : at;
}

static bool setting_make(const test_problem *p, setting *s) {
  const int64_t bytes = (int64_t)test_type_bytes(p->type);
  int64_t in_low, in_high, out_low, out_high;
  test_in_span(p, &in_low, &in_high);
  test_out_span(p, &out_low, &out_high);
  s->p = s->memory.problem = p;
  if (state.in.base) test_region_protect(&state.in, false);
  if (!test_buffer_place(&state.in, (size_t)((in_high - in_low) * bytes), aligned(p, p->in_at), &s->memory.in_buffer) ||
      !test_buffer_place(&state.out, (size_t)((out_high - out_low) * bytes), aligned(p, p->out_at),
                         &s->memory.out_buffer) ||
      !images_reserve(s->memory.out_buffer.zone_bytes))
    return fault("the test has no memory for this problem");
  const bool computes = test_problem_computes(p);
  if (computes)
    test_fill_values(s->memory.in_buffer.data, s->memory.in_buffer.bytes, p->type, p->seed);
  else
    test_fill_bits(s->memory.in_buffer.data, s->memory.in_buffer.bytes, (size_t)bytes, p->seed);
  test_region_protect(&state.in, true);
  s->memory.in = s->memory.in_buffer.data - in_low * bytes;
  s->memory.out = s->memory.out_buffer.data - out_low * bytes;
  s->out_offset = s->memory.out - s->memory.out_buffer.zone;
  /* The poison: any bits around; inside, numbers where they count, and NaNs where they must not. */
  test_fill_bits(state.before, s->memory.out_buffer.zone_bytes, 1, p->seed ^ 0x5bd1e995);
  unsigned char *inside = state.before + (s->memory.out_buffer.data - s->memory.out_buffer.zone);
  if (!test_beta_is_zero(p))
    test_fill_values(inside, s->memory.out_buffer.bytes, p->type, p->seed ^ 0x1234567);
  else if (computes)
    memset(inside, 0xff, s->memory.out_buffer.bytes);
  memcpy(state.expected, state.before, s->memory.out_buffer.zone_bytes);
  test_reference(p, s->memory.in, state.expected + s->out_offset);
  return true;
}

static void setting_poison(const setting *s) {
  memcpy(s->memory.out_buffer.zone, state.before, s->memory.out_buffer.zone_bytes);
}

/* Says what is wrong at the first byte that is. */
static bool difference(const setting *s) {
  const test_problem *p = s->p;
  const size_t bytes = test_type_bytes(p->type);
  size_t wrong = 0, first = 0;
  for (size_t i = s->memory.out_buffer.zone_bytes; i-- > 0;) {
    if (s->memory.out_buffer.zone[i] == state.expected[i]) continue;
    wrong++;
    first = i;
  }
  const size_t data = (size_t)(s->memory.out_buffer.data - s->memory.out_buffer.zone);
  if (first < data) return fault("%zu bytes wrong; a write %zu bytes before the output", wrong, data - first);
  first -= data;
  if (first >= s->memory.out_buffer.bytes)
    return fault("%zu bytes wrong; a write %zu bytes behind the output", wrong, first - s->memory.out_buffer.bytes + 1);
  first -= first % bytes;
  char got[100], expected[100], before[100];
  test_element_print(p->type, s->memory.out_buffer.data + first, got, sizeof got);
  test_element_print(p->type, state.expected + data + first, expected, sizeof expected);
  test_element_print(p->type, state.before + data + first, before, sizeof before);
  return fault("%zu bytes wrong; first at output element %zu of the span: %s, should be %s; it was %s before", wrong,
               first / bytes, got, expected, before);
}

static bool setting_compare(const setting *s) {
  const size_t bytes = s->memory.out_buffer.zone_bytes;
  state.executions++;
  if (!memcmp(s->memory.out_buffer.zone, state.expected, bytes)) return true;
  if (test_same_nans(s->p, state.expected + s->out_offset, s->memory.out) > 0 &&
      !memcmp(s->memory.out_buffer.zone, state.expected, bytes))
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
  const bool threads_good =
      info.threads >= 1 && (info.threads <= p->threads || state.engine->backend != CUTT_BACKEND_CPU);
  if (!info.method || !info.isa || !threads_good || info.fused_rank > p->rank ||
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
  options.backend = state.engine->backend;
  options.threads = s->p->threads;
  cuttPlan_t plan = NULL;
  snprintf(state.what, sizeof state.what, "the chosen plan");
  if (cuttPlanCreate(&plan, &view, &options) != CUTT_SUCCESS || !plan)
    return fault("cuttPlanCreate: %s", cuttLastError());
  bool good = info_is_sane(s->p, plan);
  for (int again = 0; good && again < 2; again++) { /* twice: a plan must not change by being executed */
    char error[512];
    setting_poison(s);
    if (!state.engine->execute(plan, &s->memory, error, sizeof error))
      good = fault("%s", error);
    else
      good = setting_compare(s);
  }
  if (cuttPlanDestroy(plan) != CUTT_SUCCESS) good = fault("cuttPlanDestroy: %s", cuttLastError());
  return good;
}

/* ------------------------------------------------------------------------------------------------ every candidate */

static void name_candidate(const char *kind, int number, const cutt_candidate *c, unsigned mode) {
  bool named = c->method >= 0 && c->method < CUTT_METHODS;
  size_t n = (size_t)snprintf(state.what, sizeof state.what,
                              "%s %d: %s (%d) m=%d k=%d split_m=%" PRId64 " split_k=%" PRId64 " threads=%d", kind,
                              number, named ? cutt_method_name[c->method] : "?", (int)c->method, c->m, c->k, c->split_m,
                              c->split_k, c->threads);
  for (int i = 0; i < CUTT_PARAMS && n < sizeof state.what; i++) {
    const char *name = state.engine->param_name(i);
    n += (size_t)snprintf(state.what + n, sizeof state.what - n, " %s=%" PRId64, name ? name : "-", c->param[i]);
  }
  if (n < sizeof state.what) snprintf(state.what + n, sizeof state.what - n, " mode=%u", mode);
}

static bool try_candidate(const setting *s, const cutt_canonical *canonical, const cutt_candidate *candidate,
                          unsigned mode) {
  char error[1024];
  setting_poison(s);
  if (!state.engine->run(canonical, candidate, mode, &s->memory, error, sizeof error)) return fault("%s", error);
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
    name_candidate("mutant", i, &mutant, 0);
    const char *why = NULL;
    if (!state.engine->accept(canonical, &mutant, &why)) {
      if (!why || !*why) return fault("accept refuses it and does not say why");
    } else if (!try_candidate(s, canonical, &mutant, 0)) {
      return false;
    }
  }
  return true;
}

static bool try_shapes(const setting *s, const cutt_canonical *canonical) {
  test_rng rng = {s->p->seed ^ 0xabcdef};
  for (int i = 0, taken = 0; i < 60 && taken < 6; i++) {
    const cutt_candidate shape = state.engine->shape(&rng, canonical, s->p->threads);
    const char *why = "";
    name_candidate("shape", i, &shape, 0);
    if (!state.engine->accept(canonical, &shape, &why)) continue;
    if (!try_candidate(s, canonical, &shape, 0)) return false;
    taken++;
  }
  return true;
}

/* A candidate as it is, and in every other way that the engine has for it. */
static bool try_variants(const setting *s, const cutt_canonical *canonical, int number, int count,
                         const cutt_candidate *candidate) {
  for (int way = 0;; way++) {
    cutt_candidate variant = *candidate;
    const char *why = "";
    unsigned mode = 0;
    if (way > 0 && !state.engine->vary(s->p, number, count, way, &variant, &mode)) return true;
    if (way > 0 && mode == 0 && cutt_candidate_equal(&variant, candidate)) continue;
    name_candidate(way ? "variant of candidate" : "candidate", number, &variant, mode);
    if (!state.engine->accept(canonical, &variant, &why)) {
      if (way == 0) return fault("accept refuses it: %s", why);
      continue;
    }
    if (!try_candidate(s, canonical, &variant, mode)) return false;
  }
}

static bool try_candidates(const setting *s, unsigned what) {
  const cuttProblem_t view = test_problem_view(s->p);
  cutt_canonical canonical;
  cutt_candidate list[CUTT_MAX_CANDIDATES];
  snprintf(state.what, sizeof state.what, "the candidates");
  if (cutt_canonicalize(&view, &canonical) != CUTT_SUCCESS) return fault("cutt_canonicalize: %s", cuttLastError());
  if (canonical.volume == 0) return true;
  int count = state.engine->enumerate(&canonical, s->p->threads, list, CUTT_MAX_CANDIDATES);
  if (count < 1 || count > CUTT_MAX_CANDIDATES) return fault("enumerate gives %d candidates", count);
  for (int i = 0; i < count && (what & TEST_CANDIDATES); i++) {
    name_candidate("candidate", i, &list[i], 0);
    if (!(list[i].seconds >= 0.0) || !isfinite(list[i].seconds)) return fault("predicts %g seconds", list[i].seconds);
    if (i > 0 && list[i].seconds < list[i - 1].seconds) return fault("is out of order: the one before is slower");
    if (i > 0 && state.engine->slow && state.engine->slow(&canonical, &list[i])) continue;
    if (!try_variants(s, &canonical, i, count, &list[i])) return false;
  }
  if ((what & TEST_SHAPES) && !try_shapes(s, &canonical)) return false;
  return !(what & TEST_MUTANTS) || try_mutants(s, &canonical, list, count);
}

bool test_try(const test_problem *p, unsigned what) {
  setting s;
  state.problems++;
  test_problem_print(p, state.line, sizeof state.line);
  snprintf(state.what, sizeof state.what, "setting up");
  watch_signals();
  bool good = setting_make(p, &s) && (!(what & TEST_CHOSEN) || !state.engine->execute || try_chosen(&s)) &&
              (!(what & ~(unsigned)TEST_CHOSEN) || try_candidates(&s, what));
  unwatch_signals();
  return good;
}

bool test_try_candidate(const test_problem *p, const cutt_candidate *candidate, bool *ran) {
  setting s;
  const cuttProblem_t view = test_problem_view(p);
  cutt_canonical canonical;
  const char *why = "";
  *ran = false;
  test_problem_print(p, state.line, sizeof state.line);
  name_candidate("candidate", 0, candidate, 0);
  if (cutt_canonicalize(&view, &canonical) != CUTT_SUCCESS) return fault("cutt_canonicalize: %s", cuttLastError());
  if (!state.engine->accept(&canonical, candidate, &why)) return true;
  *ran = true;
  watch_signals();
  const bool good = setting_make(p, &s) && try_candidate(&s, &canonical, candidate, 0);
  unwatch_signals();
  return good;
}
