/* Random problems on a GPU, a million in a few minutes, each element held to the plain definition (naive.h) on the GPU, and all
 * memory around the output with it: see usage() below.
 *
 * The device is not waited for after each problem but after a batch of them: what is found goes to a place of its own for each
 * execution. A problem follows from the seed and its number, so one that fails is made again, and looked at on the host. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/driver.h"
#include "gpu/naive.h"
#include "support/reference.h"

enum { BATCH = 256, TRIALS = 4, GUARD = 1024, MOST_TOLD = 10, BLOCK = 256, MOST_BLOCKS = 2048 };

/* What tests/gpu/CMakeLists.txt has the assembler put into the program; NULL where there is no nvcc. */
extern const unsigned char *const fuzz_image;

static struct {
  uint64_t seed, first, problems;
  double seconds; /* 0: no limit */
  bool cpu, plant;
  const char *commit;
} options = {1, 0, 1000000, 0, false, false, "unknown"};

static int usage(const char *why) {
  FILE *to = why ? stderr : stdout;
  if (why) fprintf(to, "fuzz_gpu: %s\n", why);
  fputs(
      "usage: fuzz_gpu [OPTION]...\n"
      "Random permutations on a GPU (all types, strides and their signs, gaps, alignments, alpha, beta, infinities and "
      "the\n"
      "like; the chosen plan, and others of its list), against a naive kernel, with all memory around the output.\n"
      "  --problems N  how many (1000000)\n"
      "  --seconds S   end after so many seconds\n"
      "  --seed N      of the problems (1)\n"
      "  --first N     the number of the first problem (0); a failure tells it\n"
      "  --commit C    what to call the sources in the last line\n"
      "  --cpu         on the CPU instead, which checks the checks\n"
      "  --plant       spoil a byte of each output, and fail if that is not noticed\n"
      "Exit status: 0 when all was right, 1 when not, 2 for wrong usage, 77 when there is no GPU.\n",
      to);
  return why ? 2 : 0;
}

static double now(void) {
  struct timespec t = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------------------------------------------------------------ memory */

/* Device memory, or with --cpu the host's. */
static struct {
  size_t bytes; /* of each zone at most */
  unsigned char *in, *out;
  gpu_address in_address, out_address, found_address;
  uint64_t found[TRIALS * BATCH];
  void *fill, *check, *untouched; /* the kernels */
} m;

static void launch(void *kernel, int64_t work, const naive_problem *p, int place) {
  gpu_address found = m.found_address + (gpu_address)place * sizeof *m.found;
  void *parameters[] = {(void *)(uintptr_t)p, &found};
  const int64_t blocks = (work + BLOCK - 1) / BLOCK;
  gpu_check(gpu.launch(kernel, (unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 1, 1, BLOCK, 1, 1, 0, NULL,
                       parameters, NULL));
}

static int64_t longer(const naive_problem *p) { return p->in.bytes > p->out.bytes ? p->in.bytes : p->out.bytes; }

static void fill(const naive_problem *p) {
  if (!options.cpu) {
    launch(m.fill, longer(p) / 16, p, 0);
    return;
  }
  for (int64_t at = 0; at < p->in.bytes; at += 16) naive_fill16(p, &p->in, at);
  for (int64_t at = 0; at < p->out.bytes; at += 16) naive_fill16(p, &p->out, at);
}

static void check(const naive_problem *p, int place) {
  if (!options.cpu) {
    launch(m.check, p->volume, p, place);
    launch(m.untouched, longer(p) / 16, p, place);
    return;
  }
  uint64_t *const found = &m.found[place];
  for (uint32_t i = p->volume; i-- > 0;)
    if (!naive_check(p, i)) *found = i;
  for (int64_t at = 0; at < p->out.bytes && *found == NAIVE_NOTHING; at += 16)
    if (!naive_untouched16(p, &p->out, at)) *found = NAIVE_ELSEWHERE + (uint64_t)at;
  for (int64_t at = 0; at < p->in.bytes && *found == NAIVE_NOTHING; at += 16)
    if (!naive_untouched16(p, &p->in, at)) *found = NAIVE_IN_INPUT + (uint64_t)at;
}

static void begin_batch(void) {
  memset(m.found, 0xff, sizeof m.found);
  if (!options.cpu) gpu_check(gpu.to_device(m.found_address, m.found, sizeof m.found));
}

static void end_batch(void) {
  if (!options.cpu) gpu_check(gpu.to_host(m.found, m.found_address, sizeof m.found));
}

static bool open_memory(void) {
  m.bytes = (size_t)(options.cpu ? 64 : 256) << 20;
  if (options.cpu) {
    m.in = aligned_alloc(64, m.bytes);
    m.out = aligned_alloc(64, m.bytes);
    return m.in && m.out;
  }
  void *module = NULL;
  gpu_check(gpu.module_load(&module, fuzz_image));
  gpu_check(gpu.module_function(&m.fill, module, "naive_fill_both"));
  gpu_check(gpu.module_function(&m.check, module, "naive_check_all"));
  gpu_check(gpu.module_function(&m.untouched, module, "naive_untouched_both"));
  m.in_address = gpu_allocate(m.bytes);
  m.out_address = gpu_allocate(m.bytes);
  m.found_address = gpu_allocate(sizeof m.found);
  m.in = gpu_pointer(m.in_address);
  m.out = gpu_pointer(m.out_address);
  return true;
}

static void close_memory(void) {
  if (options.cpu) {
    free(m.in);
    free(m.out);
  } else {
    gpu_release(m.in_address);
    gpu_release(m.out_address);
    gpu_release(m.found_address);
  }
}

/* ---------------------------------------------------------------------------------------------------------- problems */

/* One execution: of the chosen plan, or of another of the list. */
typedef struct trial {
  test_problem problem;
  naive_problem naive;
  int candidate; /* as in cuttOptions_t */
} trial;

/* A side's zone: a guard, all that the tensor spans, a guard. False when it does not fit. */
static bool place_zone(test_rng *rng, unsigned char *memory, int64_t low, int64_t high, const naive_problem *p,
                       naive_zone *zone, int64_t *at) {
  const int64_t bytes = p->element_bytes, shift = test_chance(rng, 40) ? 0 : test_random_in(rng, 0, 63);
  int64_t all = 0;
  if (__builtin_mul_overflow(high - low, bytes, &all) || all > (int64_t)m.bytes - 2 * GUARD - 128) return false;
  *zone = (naive_zone){memory, (all + 2 * GUARD + 64 + 15) / 16 * 16, test_random(rng)};
  *at = GUARD + shift / p->number_bytes * p->number_bytes - low * bytes;
  return true;
}

static void read_scalars(const test_problem *p, naive_problem *n) {
  const bool is_double = n->kind == NAIVE_DOUBLE;
  n->alpha[0] = 1;
  n->integer_alpha = 1;
  for (int i = 0; i < (test_type_complex(p->type) ? 2 : 1); ++i) {
    if (p->has_alpha) n->alpha[i] = is_double ? p->alpha.f64[i] : (double)p->alpha.f32[i];
    if (p->has_beta) n->beta[i] = is_double ? p->beta.f64[i] : (double)p->beta.f32[i];
  }
  if (p->has_alpha) n->integer_alpha = p->type == CUTT_I32 ? p->alpha.i32 : p->alpha.i64;
  if (p->has_beta) n->integer_beta = p->type == CUTT_I32 ? p->beta.i32 : p->beta.i64;
}

static bool make_naive(test_rng *rng, const test_problem *p, naive_problem *n) {
  int64_t low, high;
  memset(n, 0, sizeof *n);
  n->element_bytes = (uint32_t)test_type_bytes(p->type);
  n->number_bytes = 1;
  n->kind = NAIVE_BYTES;
  if (test_problem_computes(p)) { /* else only moved, and aligned to nothing */
    n->number_bytes = n->element_bytes / (test_type_complex(p->type) ? 2 : 1);
    n->kind = p->type == CUTT_F16                          ? NAIVE_HALF
              : p->type == CUTT_BF16                       ? NAIVE_BFLOAT
              : p->type == CUTT_I32 || p->type == CUTT_I64 ? NAIVE_INTEGER
              : n->number_bytes == 8                       ? NAIVE_DOUBLE
                                                           : NAIVE_FLOAT;
    n->specials = test_chance(rng, 70);
    n->conjugate = p->conjugate != 0;
    read_scalars(p, n);
  }
  n->volume = (uint32_t)test_volume(p);
  int64_t out_stride[CUTT_MAX_RANK];
  for (int i = 0; i < p->rank; ++i) out_stride[p->perm[i]] = p->out_strides[i];
  for (int i = 0; i < p->rank; ++i) {
    if (p->extents[i] == 1) continue;
    n->extent[n->rank] = (uint32_t)p->extents[i];
    n->in_stride[n->rank] = p->in_strides[i] * n->element_bytes;
    n->out_stride[n->rank++] = out_stride[i] * n->element_bytes;
  }
  test_in_span(p, &low, &high);
  if (!place_zone(rng, m.in, low, high, n, &n->in, &n->in_at)) return false;
  test_out_span(p, &low, &high);
  return place_zone(rng, m.out, low, high, n, &n->out, &n->out_at);
}

/* Problem `number` of the seed, in so many trials, at most TRIALS. */
static int make_trials(uint64_t number, trial *trials) {
  test_rng rng = {.state = test_mix(options.seed) ^ test_mix(number)};
  for (;;) {
    test_limits limits = {1, 6, 0, 0, 50, 60, 1};
    if (test_chance(&rng, 15)) limits.max_rank = 12;
    if (test_chance(&rng, 3)) limits.min_rank = 13, limits.max_rank = CUTT_MAX_RANK;
    if (test_chance(&rng, 1)) limits.min_rank = 0;
    limits.max_volume = INT64_C(1) << test_random_in(&rng, 3,
                                                     test_chance(&rng, 85)   ? 14
                                                     : test_chance(&rng, 90) ? 19
                                                                             : 22);
    if (options.cpu && limits.max_volume > 1 << 16) limits.max_volume = 1 << 16;
    trials[0].problem = test_random_problem(&rng, &limits);
    trials[0].candidate = 0;
    if (trials[0].problem.rank >= 2 && test_chance(&rng, 5)) test_interleave(&rng, &trials[0].problem);
    if (!make_naive(&rng, &trials[0].problem, &trials[0].naive)) continue;
    /* Again between other addresses, by other candidates. */
    int count = 1;
    for (const int64_t wanted = test_random_in(&rng, 1, TRIALS); count < wanted; ++count) {
      trials[count] = trials[0];
      trials[count].candidate = (int)test_random_in(&rng, 1, 24);
      if (!make_naive(&rng, &trials[count].problem, &trials[count].naive)) break;
    }
    return count;
  }
}

static cuttResult make_plan(const trial *t, cuttPlan_t *plan) {
  const cuttProblem_t view = test_problem_view(&t->problem);
  cuttOptions_t own = CUTT_OPTIONS_INIT;
  own.backend = options.cpu ? CUTT_BACKEND_CPU : CUTT_BACKEND_CUDA;
  own.threads = options.cpu ? 1 : 0;
  own.candidate = t->candidate;
  cuttResult result = cuttPlanCreate(plan, &view, &own);
  while (result == CUTT_INVALID_PARAMETER && own.candidate > 1) { /* the list may be shorter */
    own.candidate /= 2;
    result = cuttPlanCreate(plan, &view, &own);
  }
  return result;
}

/* Fills and executes; false, with the text of the error, when that fails. */
static bool execute(const trial *t, char *method, size_t size) {
  cuttPlan_t plan = NULL;
  const naive_problem *n = &t->naive;
  fill(n);
  cuttResult result = make_plan(t, &plan);
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  if (!result) result = cuttPlanGetInfo(plan, &info);
  if (!result) result = cuttPlanExecute(plan, n->in.memory + n->in_at, n->out.memory + n->out_at, NULL);
  if (result) {
    snprintf(method, size, "%s: %s", cuttResultName(result), cuttLastError());
  } else {
    snprintf(method, size, "%s", info.method);
  }
  cuttPlanDestroy(plan);
  return !result;
}

/* ---------------------------------------------------------------------------------------------------------- failures */

/* What is wrong, by executing it again and looking at it on the host. */
static void explain(const trial *t, uint64_t found) {
  const naive_problem *n = &t->naive;
  char text[256];
  if (found >= NAIVE_IN_INPUT) {
    printf("  the input has changed, at byte %" PRId64 " of its zone\n", (int64_t)(found - NAIVE_IN_INPUT));
    return;
  }
  if (found >= NAIVE_ELSEWHERE) {
    printf("  written outside of the output's elements: among the 16 bytes from byte %" PRId64
           " on, where element "
           "(0, ..., 0) is at %" PRId64 " and the zone has %" PRId64 "\n",
           (int64_t)(found - NAIVE_ELSEWHERE), n->out_at, n->out.bytes);
    return;
  }
  if (!execute(t, text, sizeof text)) return;
  unsigned char from[16], before[16], wanted[16], got[16];
  char texts[4][100];
  int64_t in, out;
  naive_places(n, (uint32_t)found, &in, &out);
  naive_before(n, &n->in, in, n->element_bytes, from);
  naive_before(n, &n->out, out, n->element_bytes, before);
  memcpy(wanted, before, sizeof wanted);
  naive_element(n, from, wanted);
  if (options.cpu) {
    memcpy(got, n->out.memory + out, n->element_bytes);
  } else {
    gpu_check(gpu.to_host(got, m.out_address + (gpu_address)out, n->element_bytes));
  }
  test_element_print(t->problem.type, from, texts[0], sizeof texts[0]);
  test_element_print(t->problem.type, before, texts[1], sizeof texts[1]);
  test_element_print(t->problem.type, got, texts[2], sizeof texts[2]);
  test_element_print(t->problem.type, wanted, texts[3], sizeof texts[3]);
  printf("  element %" PRIu64 " from %s, over %s, is %s; should be %s%s\n", found, texts[0], texts[1], texts[2],
         texts[3], naive_same(n, got, wanted) ? " (and is, this time)" : "");
}

static uint64_t failures;

static void tell(uint64_t number, const trial *t, const char *what) {
  char line[8192];
  if (failures++ >= MOST_TOLD) return;
  test_problem_print(&t->problem, line, sizeof line);
  printf("FAILED: --seed %" PRIu64 " --first %" PRIu64 " --problems 1, candidate %d: %s\n  in at %" PRId64
         ", out at %" PRId64 " modulo 64; %s\n",
         options.seed, number, t->candidate, what, t->naive.in_at & 63, t->naive.out_at & 63, line);
}

/* ---------------------------------------------------------------------------------------------------------- the runs */

/* Spoils a byte that has to be right, whatever the numbers are. False when the problem makes numbers. */
static bool plant(const trial *t, uint64_t number) {
  test_rng rng = {.state = number};
  if (naive_computes(&t->naive)) return false;
  const int64_t at = test_random_in(&rng, 0, t->naive.out.bytes - 1);
  unsigned char byte = 0;
  if (options.cpu) {
    t->naive.out.memory[at] ^= 0x55;
    return true;
  }
  gpu_check(gpu.to_host(&byte, m.out_address + (gpu_address)at, 1));
  byte ^= 0x55;
  gpu_check(gpu.to_device(m.out_address + (gpu_address)at, &byte, 1));
  return true;
}

/* So many problems from `first` on. Returns the executions. */
static uint64_t run_batch(uint64_t first, int count) {
  static trial trials[TRIALS];
  static bool planted[TRIALS * BATCH];
  uint64_t executions = 0;
  char text[1200];
  begin_batch();
  for (int i = 0; i < count; ++i) {
    const int tries = make_trials(first + (uint64_t)i, trials);
    for (int j = 0; j < tries; ++j, ++executions) {
      if (!execute(&trials[j], text, sizeof text)) {
        tell(first + (uint64_t)i, &trials[j], text);
        continue;
      }
      planted[TRIALS * i + j] = options.plant && plant(&trials[j], first + (uint64_t)i);
      check(&trials[j].naive, TRIALS * i + j);
    }
  }
  end_batch();
  for (int i = 0; i < TRIALS * count; ++i) {
    const bool bad = m.found[i] != NAIVE_NOTHING;
    if (bad == planted[i]) {
      planted[i] = false;
      continue;
    }
    const uint64_t number = first + (uint64_t)i / TRIALS;
    make_trials(number, trials);
    tell(number, &trials[i % TRIALS], bad ? "the result is wrong" : "a spoiled byte was not noticed");
    if (bad && failures <= MOST_TOLD) explain(&trials[i % TRIALS], m.found[i]);
    planted[i] = false;
  }
  return executions;
}

/* Of the batch under way, for when the device or the process does not survive it. */
static struct {
  uint64_t first;
  int count;
} under_way;

static void tell_end(void) {
  if (under_way.count == 0) return;
  printf("fuzz: ended among problems %" PRIu64 " to %" PRIu64 " of seed %" PRIu64 "\n", under_way.first,
         under_way.first + (uint64_t)under_way.count - 1, options.seed);
}

static int run(void) {
  uint64_t done = 0, executions = 0, told = 0;
  const double start = now();
  char card[128] = "the CPU";
  if (!options.cpu) gpu_check(gpu.device_name(card, (int)sizeof card, gpu.device));
  while (done < options.problems && (options.seconds <= 0 || now() - start < options.seconds)) {
    const int count = options.problems - done < BATCH ? (int)(options.problems - done) : BATCH;
    under_way.first = options.first + done;
    under_way.count = count;
    executions += run_batch(under_way.first, count);
    under_way.count = 0;
    done += (uint64_t)count;
    if (done / 100000 > told) {
      told = done / 100000;
      printf("%" PRIu64 " problems after %.0f s\n", done, now() - start);
      fflush(stdout);
    }
  }
  printf("fuzz: %" PRIu64 " problems, %" PRIu64 " executions, %" PRIu64 " failures, %.1f s; seed %" PRIu64
         ", first %" PRIu64 "; %s; commit %s\n",
         done, executions, failures, now() - start, options.seed, options.first, card, options.commit);
  return failures > 0;
}

static bool read_number(const char *text, double least, double *number) {
  char *end = NULL;
  *number = strtod(text, &end);
  return end != text && !*end && *number >= least && *number < 1e18;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    const char *name = argv[i];
    double number = 0;
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) return usage(NULL);
    if (!strcmp(name, "--cpu")) {
      options.cpu = true;
    } else if (!strcmp(name, "--plant")) {
      options.plant = true;
    } else if (i + 1 == argc) {
      return usage("an option is unknown, or lacks its value (--help)");
    } else if (!strcmp(name, "--commit")) {
      options.commit = argv[++i];
    } else if (!read_number(argv[++i], 0, &number)) {
      return usage("a value is not a number, or negative");
    } else if (!strcmp(name, "--problems")) {
      options.problems = (uint64_t)number;
    } else if (!strcmp(name, "--seconds")) {
      options.seconds = number;
    } else if (!strcmp(name, "--seed")) {
      options.seed = (uint64_t)number;
    } else if (!strcmp(name, "--first")) {
      options.first = (uint64_t)number;
    } else {
      return usage("an option is unknown (--help)");
    }
  }
  if (!options.cpu && !fuzz_image) {
    printf("skipped: this build has no kernels that check (no nvcc)\n");
    return 77;
  }
  if (!options.cpu && !gpu_open()) return 77;
  if (!open_memory()) {
    fprintf(stderr, "fuzz_gpu: out of memory\n");
    return 1;
  }
  atexit(tell_end);
  const int status = run();
  close_memory();
  return status;
}
