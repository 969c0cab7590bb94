/* Speed that shows without a clock: what the plans chosen for sets 1, 2 and 3 of the paper ask of memory, counted.
 *
 * The problems have their full size, and so have the plans; it is the grid that is cut short, to some of its blocks, drawn
 * at random. (Smaller outer extents would do as well, but then tiles at the edges would be more frequent than they are.)
 * Buffers of gigabytes are only addresses: pages that no block touches take no memory.
 *
 *   moved      bytes of the 32-byte sectors that tiles touch, each tile by itself, so that a sector shared by two tiles is
 *              counted at both; divided by the bytes that must move. Tiles are run one in a block for it.
 *   banks      wavefronts of shared memory divided by what they would be without bank conflicts
 *   flight     bytes of loads that are under way on an SM at once: of a block in the mean, times the blocks that an SM
 *              holds
 *
 * CUTT_TEST_SCALE thins out the cases. Usage: test_counts [CASE], which prints the counts of one case for each type. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/bench/cases.h"
#include "gpu/cost.h"
#include "simt/engine.h"
#include "support/check.h"

enum { SETS = 3, TYPES = 4, TILES = 8, BLOCKS = 6, MOST_CASES = 256, WORST = 8, FEW_CASES = 6 };

/* The bars of each set: 1 to 3 per cent above the largest means and the worst case of today's plans. Bank conflicts of tiles in windows
 * cost nothing that could be measured (docs/log.md), so that theirs are high; those of aligned columns of which two lines, or all,
 * are stored at once less than that gains. Of few cases, one may
 * be all that a mean is made of: then the bar of moved's is halfway to that of a single case, and the banks' is wider. */
static const struct {
  cuttType_t type;
  const char *name;
  double share; /* of the cases, of which those of narrow elements take longest */
  double moved_mean, moved, banks_mean, banks_mean_of_few;
} types[TYPES] = {{CUTT_BYTES_4, "4", 1.0, 1.05, 1.19, 1.60, 1.65},
                  {CUTT_BYTES_8, "8", 1.0, 1.03, 1.13, 1.42, 1.55},
                  {CUTT_BYTES_2, "2", 0.3, 1.07, 1.20, 1.55, 1.75},
                  {CUTT_BYTES_1, "1", 0.3, 1.07, 1.20, 1.45, 1.50}};
static const double least_flight_h200 = 48 * 1024, least_flight_a100 = 44 * 1024;
static const double most_banks = 1.5; /* no bar: where cases are sorted by how bad they are */

typedef struct measured {
  const cutt_bench_case *c;
  char plan[96];
  double moved, read, written, banks, flight, flight_a100;
  double most_moved; /* the bar */
  bool fills;        /* enough blocks for all that the SMs of either device hold */
} measured;

static cutt_bench_cases sets[SETS];
static const char *only_case;
static char under_way[160]; /* the case, for messages */

/* ------------------------------------------------------------------------------------------------------ one case */

/* Addresses for a tensor; what a block reads there is zero. */
static unsigned char *map(size_t bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  unsigned char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Runs some blocks of a candidate; how many different ones. */
static uint32_t run_blocks(const cutt_device *device, const cutt_canonical *canonical, const cutt_candidate *candidate,
                           uint32_t most, const unsigned char *in, unsigned char *out, cutt_gpu_launch *launch,
                           int64_t *written, simt_counts *counts) {
  const char *why = "";
  char error[768];
  uint32_t only[TILES], count = 0;
  memset(counts, 0, sizeof *counts);
  if (!cutt_gpu_lay_out(device, canonical, candidate, 16, 16, launch, &why))
    fail_msg("%s: the candidate is not accepted: %s", under_way, why);
  test_rng rng = {launch->blocks};
  for (uint32_t i = 0; i < most; ++i) {
    const uint32_t block = (uint32_t)test_random_in(&rng, 0, launch->blocks - 1);
    bool again = false;
    for (uint32_t j = 0; j < count; ++j) again = again || only[j] == block;
    if (!again) only[count++] = block;
  }
  simt_launch asked = simt_launch_of(launch, canonical, in, out, device->major >= 8);
  asked.only = only;
  asked.only_count = count;
  if (!simt_run(&asked, written, counts, error, sizeof error)) fail_msg("%s: %s", under_way, error);
  return count;
}

static bool is_copy(const cutt_gpu_launch *launch) {
  return launch->kernel >= CUTT_KERNEL_copy_1 && launch->kernel <= CUTT_KERNEL_copy_16;
}

static double flight(const cutt_device *device, const cutt_gpu_launch *launch, const simt_counts *counts,
                     uint32_t blocks) {
  const int resident = cutt_gpu_occupancy(device, is_copy(launch), (int)launch->threads, launch->shared_bytes);
  return (double)counts->flight_bytes / blocks * resident;
}

static bool fills(const cutt_device *device, const cutt_gpu_launch *launch) {
  const int resident = cutt_gpu_occupancy(device, is_copy(launch), (int)launch->threads, launch->shared_bytes);
  return (int64_t)launch->blocks >= (int64_t)resident * device->sms;
}

static void plan_for(const cutt_device *device, const cutt_canonical *canonical, cutt_candidate *candidate) {
  cutt_candidate list[CUTT_MAX_CANDIDATES];
  assert_true(cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, canonical, list, CUTT_MAX_CANDIDATES) >= 1);
  *candidate = list[0];
}

static measured measure(const cutt_bench_case *c, cuttType_t type) {
  measured m = {.c = c};
  cutt_canonical canonical;
  cutt_candidate candidate;
  cutt_gpu_launch launch;
  simt_counts counts;
  int64_t written;
  const test_problem problem = test_packed(type, c->rank, c->extent, c->perm);
  const cuttProblem_t view = test_problem_view(&problem);
  assert_success(cutt_canonicalize(&view, &canonical));
  const size_t bytes = (size_t)(canonical.volume * canonical.elem_bytes);
  unsigned char *in = map(bytes), *out = map(bytes);
  assert_non_null(in);
  assert_non_null(out);

  snprintf(under_way, sizeof under_way, "%s of %zu bytes", c->id, test_type_bytes(type));
  plan_for(&simt_h200, &canonical, &candidate);
  snprintf(m.plan, sizeof m.plan, "%s %d,%d/%" PRId64 ",%" PRId64 " x%" PRId64 " t%d",
           cutt_method_name[candidate.method], candidate.m, candidate.k, candidate.split_m, candidate.split_k,
           candidate.param[CUTT_GPU_PARAM_STAGES], candidate.threads);
  uint32_t blocks = run_blocks(&simt_h200, &canonical, &candidate, BLOCKS, in, out, &launch, &written, &counts);
  const simt_shared_counts *shared = counts.shared;
  const int64_t ideal = (int64_t)(shared[0].ideal + shared[1].ideal);
  m.banks = ideal ? (double)(shared[0].wavefronts + shared[1].wavefronts) / (double)ideal : 1; /* kernels without */
  m.flight = flight(&simt_h200, &launch, &counts, blocks);
  m.fills = fills(&simt_h200, &launch);

  cutt_candidate alone = candidate;
  alone.param[CUTT_GPU_PARAM_BLOCK_TILES] = alone.param[CUTT_GPU_PARAM_STAGES] = 1;
  run_blocks(&simt_h200, &canonical, &alone, TILES, in, out, &launch, &written, &counts);
  m.read = (double)(counts.tile_load_sectors * SIMT_SECTOR) / (double)written;
  m.written = (double)(counts.tile_store_sectors * SIMT_SECTOR) / (double)written;
  m.moved = (m.read + m.written) / 2;

  plan_for(&simt_a100, &canonical, &candidate);
  blocks = run_blocks(&simt_a100, &canonical, &candidate, BLOCKS, in, out, &launch, &written, &counts);
  m.flight_a100 = flight(&simt_a100, &launch, &counts, blocks);
  m.fills = m.fills && fills(&simt_a100, &launch);
  munmap(in, bytes);
  munmap(out, bytes);
  return m;
}

/* ------------------------------------------------------------------------------------------------------- tables */

static measured list[MOST_CASES];
static double value[MOST_CASES];

static int compare_numbers(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct summary {
  double best, median, mean, worst;
} summary;

/* Of one quantity, at this offset in measured; `worst` is the largest. */
static summary sum_up(int count, size_t offset) {
  summary s = {0, 0, 0, 0};
  for (int i = 0; i < count; ++i) {
    memcpy(&value[i], (const char *)&list[i] + offset, sizeof(double));
    s.mean += value[i] / count;
  }
  qsort(value, (size_t)count, sizeof *value, compare_numbers);
  s.best = value[0];
  s.median = value[count / 2];
  s.worst = value[count - 1];
  return s;
}

/* The worst ones first: how far a case is past its bars, or on the way there. */
static double badness(const measured *m) {
  const double flight = fmin(m->flight / least_flight_h200, m->flight_a100 / least_flight_a100);
  const double apart = fmax((m->moved - 1) / (m->most_moved - 1), (m->banks - 1) / (most_banks - 1));
  return m->fills ? fmax(apart, 1 / fmax(flight, 1e-3)) : apart;
}

static int compare_cases(const void *a, const void *b) {
  const double x = badness(a), y = badness(b);
  return (x < y) - (x > y);
}

static void print_case(const char *type, const measured *m) {
  char dims[400], perm[200];
  printf(
      "  %s bytes, %s: %s perm %s: moved %.3f (read %.3f, written %.3f) banks %.3f flight %.0f KB (A100 %.0f KB%s)  "
      "%s\n",
      type, m->c->id, cutt_bench_dims_text(m->c, dims, sizeof dims), cutt_bench_perm_text(m->c, perm, sizeof perm),
      m->moved, m->read, m->written, m->banks, m->flight / 1024, m->flight_a100 / 1024,
      m->fills ? "" : "; the problem is small", m->plan);
}

/* share: of the flight's bars. */
static bool flies_low(const measured *m, double share) {
  return m->fills && (m->flight < share * least_flight_h200 || m->flight_a100 < share * least_flight_a100);
}

static bool past_a_bar(const measured *m) { return m->moved > m->most_moved || flies_low(m, 1.0); }

/* Counts a set's cases and prints its line of the table; false, with the cases by name, when a bar is missed. */
static bool hold_set(int number, int type) {
  static bool headed;
  const cutt_bench_cases *cases = &sets[number - 1];
  int count = 0, past = 0;
  for (size_t i = 0; i < cases->count && count < MOST_CASES; ++i) {
    if (only_case && strcmp(only_case, cases->item[i].id) != 0) continue;
    const double share = types[type].share, thinned = fmin(share, 2.5 * share * test_scale());
    if (!only_case && (double)(test_mix(i + 1) % 1000) >= 1000 * thinned) continue;
    list[count] = measure(&cases->item[i], types[type].type);
    list[count++].most_moved = types[type].moved;
  }
  if (only_case) {
    for (int i = 0; i < count; ++i) print_case(types[type].name, &list[i]);
    return true;
  }
  if (count == 0) return true;
  if (!headed)
    printf(
        "set  bytes  cases   moved: best median   mean  worst   banks: median   mean  worst   flight, KB: least median "
        "  A100: least\n");
  headed = true;
  const summary moved = sum_up(count, offsetof(measured, moved)), banks = sum_up(count, offsetof(measured, banks));
  qsort(list, (size_t)count, sizeof *list, compare_cases);
  int filling = 0; /* the flight of problems that fill the device */
  double least = INFINITY, least_a100 = INFINITY;
  for (int i = 0; i < count; ++i) {
    if (!list[i].fills) continue;
    value[filling++] = list[i].flight;
    least = fmin(least, list[i].flight);
    least_a100 = fmin(least_a100, list[i].flight_a100);
  }
  qsort(value, (size_t)filling, sizeof *value, compare_numbers);
  printf("%3d  %5s  %5d  %12.3f %6.3f %6.3f %6.3f  %14.3f %6.3f %6.3f  %18.0f %6.0f  %12.0f\n", number,
         types[type].name, count, moved.best, moved.median, moved.mean, moved.worst, banks.median, banks.mean,
         banks.worst, least / 1024, filling ? value[filling / 2] / 1024 : 0, least_a100 / 1024);
  const bool few = count < FEW_CASES;
  const double most_moved_mean = few ? (types[type].moved_mean + types[type].moved) / 2 : types[type].moved_mean;
  const double most_banks_mean = few ? types[type].banks_mean_of_few : types[type].banks_mean;
  /* Runs that are a little longer than a block has threads leave many of these idle: one case in 20, and one more, may fly
   * lower, down to two fifths of the bar. */
  int low = 0;
  bool missed = moved.mean > most_moved_mean || banks.mean > most_banks_mean;
  for (int i = 0; i < count; ++i) {
    past += past_a_bar(&list[i]);
    low += flies_low(&list[i], 1.0);
    missed = missed || list[i].moved > list[i].most_moved || flies_low(&list[i], 0.4);
  }
  if (!missed && low <= 2 + count / 20) return true;
  printf(
      "%d past a bar (moved: mean %.3f, worst %.3f; banks: mean %.3f; flight: %.0f KB, A100 %.0f KB), the worst "
      "cases:\n",
      past, most_moved_mean, types[type].moved, most_banks_mean, least_flight_h200 / 1024, least_flight_a100 / 1024);
  for (int i = 0; i < count && i < WORST; ++i) print_case(types[type].name, &list[i]);
  return false;
}

static void hold_sets(int type) {
  bool good = true;
  for (int set = 1; set <= SETS; ++set) good = hold_set(set, type) && good;
  if (!good) fail_msg("the bars of %s-byte elements are missed", types[type].name);
}

static void elements_of_4_bytes(void **unused) {
  (void)unused;
  hold_sets(0);
}

static void elements_of_8_bytes(void **unused) {
  (void)unused;
  hold_sets(1);
}

static void narrow_elements(void **unused) {
  (void)unused;
  hold_sets(2);
  hold_sets(3);
}

static int draw(void **unused) {
  (void)unused;
  return cutt_bench_set1(&sets[0], 3, 200000000, 1) && cutt_bench_set2(&sets[1], 12, 0, 1) &&
                 cutt_bench_set3(&sets[2], 0)
             ? 0
             : 1;
}

static int cleanup(void **unused) {
  (void)unused;
  for (int i = 0; i < SETS; ++i) cutt_bench_cases_free(&sets[i]);
  simt_cleanup();
  return 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(elements_of_4_bytes), cmocka_unit_test(elements_of_8_bytes),
                                     cmocka_unit_test(narrow_elements)};
  if (argc > 2) {
    fprintf(stderr, "usage: test_counts [CASE]\n");
    return 2;
  }
  if (argc > 1) only_case = argv[1];
  return cmocka_run_group_tests_name("counts", tests, draw, cleanup);
}
