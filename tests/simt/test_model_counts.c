/* The closed forms of gpu/count.h, held to what the emulator counts: random problems, the first few candidates of each, with
 * tables and without,
 * and of problems with short runs those that go on over gaps; all blocks run. For each quantity, predicted over exact counts must be nearly 1 in the mean, and none may be far off.
 *
 * CUTT_TEST_SCALE thins out the problems, CUTT_TEST_SEED draws others. Usage: test_model_counts [PROBLEM], which prints
 * the counts of one problem's candidates by number. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/count.h"
#include "simt/engine.h"
#include "support/check.h"

enum { PROBLEMS = 220, GAPS = 120, CANDIDATES = 2, QUANTITIES = 10, MOST_SAMPLES = 16384, FEW_SAMPLES = 150 };
enum { TABLES, FLAT, OVER_GAPS, KINDS }; /* of candidates */

/* The bars: of the mean (geometric, so that half and double weigh the same), of how far off a prediction is in the mean, and of
 * all but one in twenty and one in a hundred at either end. The very worst have no bar: the more problems, the further off the
 * worst of them is. The bars are those of the default list; of another draw, more or fewer problems or another seed, twice the
 * standard deviation of its mean, and of how many are outermost, is chance. Where a kernel stores 4 bytes at a time and
 * the model takes it to store 16, there are four times as many requests; and as many loads, where it adds to the output. */
static const double most_mean = 0.02, most_mean_of_few = 0.12;
static const struct {
  const char *name;
  double most_off, least_1, least_5, most_95, most_99;
} quantities[KINDS * QUANTITIES] = {{"load requests", 0.013, 0.74, 0.97, 1.01, 1.03},
                                    {"load sectors", 0.007, 0.975, 0.985, 1.03, 1.14},
                                    {"store requests", 0.05, 0.45, 0.95, 1.2, 2.0},
                                    {"store sectors", 0.015, 0.87, 0.965, 1.06, 1.17},
                                    {"sectors of a tile's loads", 0.004, 0.98, 0.99, 1.02, 1.1},
                                    {"sectors of a tile's stores", 0.004, 0.98, 0.99, 1.02, 1.1},
                                    {"whole sectors of a tile's stores", 0.003, 0.95, 0.98, 1.005, 1.01},
                                    {"whole sectors of stores", 0.02, 0.88, 0.93, 1.01, 1.05},
                                    {"reads and writes of shared memory", 0.015, 0.91, 0.965, 1.08, 1.2},
                                    {"wavefronts of shared memory", 0.1, 0.57, 0.72, 1.3, 1.65},
                                    /* Without tables. */
                                    {"load requests", 0.002, 0.99, 0.995, 1.005, 1.01},
                                    {"load sectors", 0.03, 0.9, 0.94, 1.14, 1.26},
                                    {"store requests", 0.002, 0.99, 0.995, 1.005, 1.01},
                                    {"store sectors", 0.04, 0.87, 0.91, 1.13, 1.3},
                                    {"sectors of a tile's loads", 0.01, 0.98, 0.99, 1.06, 1.12},
                                    {"sectors of a tile's stores", 0.012, 0.98, 0.99, 1.05, 1.3},
                                    {"whole sectors of a tile's stores", 0.008, 0.85, 0.98, 1.005, 1.01},
                                    {"whole sectors of stores", 0.025, 0.8, 0.91, 1.05, 1.15},
                                    {"reads and writes of shared memory", 0.002, 0.99, 0.995, 1.005, 1.01},
                                    {NULL, 0, 0, 0, 0, 0}, /* their bank conflicts are not predicted */
                                    /* Over gaps. */
                                    {"load requests", 0.013, 0.74, 0.97, 1.01, 1.03},
                                    {"load sectors", 0.013, 0.975, 0.985, 1.06, 1.2},
                                    {"store requests", 0.05, 0.45, 0.95, 1.2, 2.0},
                                    {"store sectors", 0.022, 0.87, 0.965, 1.1, 1.22},
                                    {"sectors of a tile's loads", 0.004, 0.98, 0.99, 1.02, 1.1},
                                    {"sectors of a tile's stores", 0.004, 0.98, 0.99, 1.02, 1.1},
                                    {"whole sectors of a tile's stores", 0.003, 0.95, 0.98, 1.005, 1.01},
                                    {"whole sectors of stores", 0.02, 0.88, 0.93, 1.01, 1.05},
                                    {"reads and writes of shared memory", 0.015, 0.91, 0.965, 1.08, 1.2},
                                    {"wavefronts of shared memory", 0.1, 0.57, 0.72, 1.3, 1.65}};

typedef struct sample {
  double ratio;
  int problem, candidate;
} sample;

static sample samples[KINDS * QUANTITIES][MOST_SAMPLES];
static int sample_count[KINDS * QUANTITIES];
static int only_problem = -1;

/* Addresses for a tensor; what is read there is zero. */
static unsigned char *map(size_t bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  unsigned char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Sub-tensors of tensors that are up to 8 larger in some modes. */
static void add_gaps(test_rng *rng, test_problem *p) {
  int64_t in = 1, out = 1;
  p->in_strided = p->out_strided = true;
  for (int i = 0; i < p->rank; ++i) {
    p->in_strides[i] = in;
    p->out_strides[i] = out;
    in *= p->extents[i] + (test_chance(rng, 30) ? test_random_in(rng, 1, 8) : 0);
    out *= p->extents[p->perm[i]] + (test_chance(rng, 30) ? test_random_in(rng, 1, 8) : 0);
  }
}

/* The same with numbers, and beta: the output is read too. */
static void add_to_output(test_problem *p) {
  const size_t bytes = test_type_bytes(p->type);
  p->type = bytes <= 2 ? CUTT_F16 : bytes == 4 ? CUTT_F32 : bytes == 8 ? CUTT_F64 : CUTT_C64;
  p->has_beta = true;
  if (bytes <= 4) {
    p->beta.f32[0] = 1;
  } else {
    p->beta.f64[0] = 1;
  }
}

static test_problem draw(int number) {
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_4,
                                     CUTT_BYTES_8, CUTT_BYTES_8, CUTT_BYTES_16};
  const char *seed = getenv("CUTT_TEST_SEED");
  const uint64_t others = seed ? (uint64_t)strtoull(seed, NULL, 0) : 0;
  test_rng rng = {test_mix((uint64_t)number + (others << 32))};
  int64_t extent[CUTT_MAX_RANK];
  int perm[CUTT_MAX_RANK];
  double share[CUTT_MAX_RANK], sum = 0;
  const bool gaps = number >= PROBLEMS;
  const int rank = (int)test_random_in(&rng, 2, gaps ? 4 : 8);
  const cuttType_t type = types[test_random_in(&rng, 0, (int64_t)(sizeof types / sizeof *types) - 1)];
  const double volume = 20000 * pow(8, (double)test_random_in(&rng, 0, 1000) / 1000);
  for (int i = 0; i < rank; ++i) sum += share[i] = (double)test_random_in(&rng, 20, 100);
  for (int i = 0; i < rank; ++i) {
    extent[i] = lround(pow(volume, share[i] / sum));
    if (extent[i] < 2) extent[i] = 2;
    perm[i] = i;
  }
  test_shuffle(&rng, perm, rank);
  test_problem p = test_packed(type, rank, extent, perm);
  if (number % 3 == 1 && type != CUTT_BYTES_1) add_to_output(&p);
  if (gaps) {
    test_add_small_gaps(&rng, &p, 35, 50);
  } else if (test_chance(&rng, 20)) {
    add_gaps(&rng, &p);
  }
  return p;
}

static void add_sample(int quantity, double predicted, double exact, int problem, int candidate) {
  if (exact == 0 && predicted < 1) return; /* copies do not go through shared memory */
  assert_true(sample_count[quantity] < MOST_SAMPLES);
  if (exact == 0) exact = 1;
  samples[quantity][sample_count[quantity]++] = (sample){predicted / exact, problem, candidate};
}

static void print_problem(int number, int which) {
  char line[800];
  const test_problem p = draw(number);
  test_problem_print(&p, line, sizeof line);
  printf("    problem %d, candidate %d: %s\n", number, which, line);
}

static bool same_geometry(const cutt_candidate *a, const cutt_candidate *b) {
  return a->m == b->m && a->k == b->k && a->split_m == b->split_m && a->split_k == b->split_k &&
         a->param[CUTT_GPU_PARAM_DIRECT] == b->param[CUTT_GPU_PARAM_DIRECT] &&
         a->param[CUTT_GPU_PARAM_BATCH] == b->param[CUTT_GPU_PARAM_BATCH] &&
         a->param[CUTT_GPU_PARAM_FLAT] == b->param[CUTT_GPU_PARAM_FLAT];
}

static int kind_of(const cutt_canonical *canonical, const cutt_candidate *candidate) {
  cutt_gpu_tile tile;
  const char *why;
  if (candidate->param[CUTT_GPU_PARAM_FLAT]) return FLAT;
  return cutt_gpu_tile_derive(canonical, candidate, &tile, &why) && cutt_gpu_has_gaps(&tile) ? OVER_GAPS : TABLES;
}

static void hold(const cutt_device *device, const cutt_canonical *canonical, const cutt_candidate *candidate,
                 const unsigned char *in, unsigned char *out, int problem, int number) {
  const char *why = "";
  char error[768];
  cutt_gpu_launch launch;
  cutt_gpu_tile tile;
  simt_counts e;
  int64_t written;
  cutt_gpu_requests n;
  memset(&e, 0, sizeof e);
  if (!cutt_gpu_tile_derive(canonical, candidate, &tile, &why) ||
      !cutt_gpu_lay_out(device, canonical, candidate, 16, 16, &launch, &why))
    fail_msg("problem %d: the candidate is not accepted: %s", problem, why);
  const simt_launch asked = simt_launch_of(&launch, canonical, in, out, device->major >= 8);
  if (!simt_run(&asked, &written, &e, error, sizeof error)) fail_msg("problem %d: %s", problem, error);
  cutt_gpu_count_requests(device, canonical, &tile, candidate, &n);
  const double predicted[QUANTITIES] = {
      n.load_requests, n.load_sectors, n.store_requests, n.store_sectors, n.tile_load_sectors, n.tile_store_sectors,
      /* whole ones beside all, since there may be none */
      n.tile_store_sectors_whole + (double)e.tile_store_sectors, n.store_sectors_whole + (double)e.store_sectors,
      n.shared_stores + n.shared_loads, n.shared_store_wavefronts + n.shared_load_wavefronts};
  const simt_shared_counts *s = &e.shared[1];
  const int64_t exact[QUANTITIES] = {e.load_requests,
                                     e.load_sectors,
                                     e.store_requests,
                                     e.store_sectors,
                                     e.tile_load_sectors,
                                     e.tile_store_sectors,
                                     e.tile_store_sectors_whole + e.tile_store_sectors,
                                     e.store_sectors_whole + e.store_sectors,
                                     s->requests,
                                     s->wavefronts};
  if (only_problem >= 0) {
    printf("%s, %s %d,%d/%" PRId64 ",%" PRId64 ", %s: predicted, exact\n", device->base.name,
           cutt_method_name[candidate->method], candidate->m, candidate->k, candidate->split_m, candidate->split_k,
           cutt_gpu_kernel_name[launch.kernel]);
    for (int i = 0; i < QUANTITIES; ++i)
      printf("  %-34s %12.1f %10" PRId64 "\n", quantities[i].name, predicted[i], exact[i]);
  }
  const int first = kind_of(canonical, candidate) * QUANTITIES;
  for (int i = 0; i < QUANTITIES; ++i) add_sample(first + i, predicted[i], (double)exact[i], problem, number);
}

static void hold_problem(const cutt_device *device, int number) {
  const test_problem problem = draw(number);
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_canonical canonical;
  cutt_candidate list[CUTT_MAX_CANDIDATES];
  if (only_problem >= 0) print_problem(number, 0);
  assert_success(cutt_canonicalize(&view, &canonical));
  const int count = cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, &canonical, list, CUTT_MAX_CANDIDATES);
  unsigned char *in = map((size_t)canonical.in_high), *out = map((size_t)canonical.out_high);
  assert_non_null(in);
  assert_non_null(out);
  for (int i = 0, done[KINDS] = {0}; i < count; ++i) {
    const int kind = kind_of(&canonical, &list[i]);
    bool again = done[kind] == CANDIDATES || (number >= PROBLEMS && kind != OVER_GAPS);
    for (int j = 0; j < i; ++j) again = again || same_geometry(&list[i], &list[j]);
    if (again) continue;
    ++done[kind];
    hold(device, &canonical, &list[i], in, out, number, i);
  }
  munmap(in, (size_t)canonical.in_high);
  munmap(out, (size_t)canonical.out_high);
}

static int compare_samples(const void *a, const void *b) {
  const double x = ((const sample *)a)->ratio, y = ((const sample *)b)->ratio;
  return (x > y) - (x < y);
}

static bool is_another_draw(void) { return getenv("CUTT_TEST_SEED") || test_scaled(PROBLEMS) != PROBLEMS; }

/* How many samples are outermost where a share of them is to be: those of one problem come together. */
static int outermost(int count, double share) {
  const double problems = (double)count / CANDIDATES * share;
  if (!is_another_draw()) return (int)(count * share);
  const int most = (int)(CANDIDATES * (problems + 2 * sqrt(problems)));
  return most < count / 2 ? most : count / 2;
}

/* Twice the standard deviation of the mean of the ratios' logarithms, or of how far off they are, whose mean is given; 0 for
 * the list that the bars are of. */
static double chance_of_mean(const sample *list, int count, bool logarithms, double mean) {
  double squares = 0;
  if (!is_another_draw()) return 0;
  for (int i = 0; i < count; ++i) {
    const double value = logarithms ? log(fmax(list[i].ratio, 1e-3)) : fabs(list[i].ratio - 1);
    squares += (value - mean) * (value - mean) / count;
  }
  return 2 * sqrt(squares / ((double)count / CANDIDATES));
}

/* Prints a quantity's line; false when a bar is missed. */
static bool sum_up(int quantity) {
  sample *const list = samples[quantity];
  const int count = quantities[quantity].name ? sample_count[quantity] : 0;
  double logs = 0, off = 0;
  if (count == 0) return true;
  qsort(list, (size_t)count, sizeof *list, compare_samples);
  for (int i = 0; i < count; ++i) {
    logs += log(fmax(list[i].ratio, 1e-3)) / count;
    off += fabs(list[i].ratio - 1) / count;
  }
  const double mean = exp(logs), chance = chance_of_mean(list, count, false, off);
  const bool few = count < FEW_SAMPLES;
  /* Of few samples a hundredth is none. The places behind which the outermost hundredths and twentieths are. */
  const int twentieth = outermost(count, 0.05), hundredth = few ? twentieth : outermost(count, 0.01);
  const double least_1 = list[hundredth].ratio, least_5 = list[twentieth].ratio;
  const double most_95 = list[count - 1 - twentieth].ratio, most_99 = list[count - 1 - hundredth].ratio;
  printf("%-34s %5d  %6.3f %6.3f  %6.3f %6.3f %6.3f %6.3f %6.3f %6.3f %6.3f\n", quantities[quantity].name, count, mean,
         off, list[0].ratio, least_1, least_5, list[count / 2].ratio, most_95, most_99, list[count - 1].ratio);
  if (fabs(logs) <= log1p(few ? most_mean_of_few : most_mean) + chance_of_mean(list, count, true, logs) &&
      (few || off <= quantities[quantity].most_off + chance) &&
      least_1 >= quantities[quantity].least_1 * (few ? 0.8 : 1) &&
      most_99 <= quantities[quantity].most_99 * (few ? 1.25 : 1) &&
      (few || (least_5 >= quantities[quantity].least_5 && most_95 <= quantities[quantity].most_95)))
    return true;
  printf(
      "  a bar is missed (mean 1 -+ %.2f, off by %.3f, 1%% %.3f, 5%% %.3f, 95%% %.3f, 99%% %.3f); the lowest and "
      "highest:\n",
      few ? most_mean_of_few : most_mean, quantities[quantity].most_off, quantities[quantity].least_1,
      quantities[quantity].least_5, quantities[quantity].most_95, quantities[quantity].most_99);
  print_problem(list[hundredth].problem, list[hundredth].candidate);
  print_problem(list[count - 1 - hundredth].problem, list[count - 1 - hundredth].candidate);
  return false;
}

static void counts_agree(void **unused) {
  (void)unused;
  const int problems = test_scaled(PROBLEMS);
  bool good = true;
  if (only_problem >= 0) {
    hold_problem(only_problem % 4 == 3 ? &simt_t4 : &simt_h200, only_problem);
    return;
  }
  for (int i = 0; i < problems; ++i) hold_problem(i % 4 == 3 ? &simt_t4 : &simt_h200, i);
  for (int i = 0; i < test_scaled(GAPS); ++i) hold_problem(i % 4 == 3 ? &simt_t4 : &simt_h200, PROBLEMS + i);
  printf(
      "predicted over exact               count    mean    off  lowest     1%%     5%%    50%%    95%%    99%% "
      "highest\n");
  for (int i = 0; i < KINDS * QUANTITIES; ++i) {
    if (i % QUANTITIES == 0 && i > 0) printf("%s:\n", i == FLAT * QUANTITIES ? "without tables" : "over gaps");
    good = sum_up(i) && good;
  }
  if (!good) fail_msg("the closed forms are not what the emulator counts");
}

static int cleanup(void **unused) {
  (void)unused;
  simt_cleanup();
  return 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts_agree)};
  if (argc > 2) {
    fprintf(stderr, "usage: test_model_counts [PROBLEM]\n");
    return 2;
  }
  if (argc > 1) only_problem = atoi(argv[1]);
  return cmocka_run_group_tests_name("model counts", tests, NULL, cleanup);
}
