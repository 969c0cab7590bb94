/* The searches among candidates (gpu/enumerate.c, cpu/enumerate.c), held to searches that leave nothing out. On a GPU, branch
 * and bound must find what pricing all of its candidates finds. And on both kinds of processor the best of the list is held to
 * the best of everything that the method can do: every M_m and M_k, whole and cut in every way, by every kernel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cost.h"
#include "cpu/cpu.h"
#include "cpu/enumerate.h"
#include "cpu/forward.h"
#include "cpu/kernels/kernels.h"
#include "gpu/bounds.h"
#include "gpu/launch.h"
#include "plan/plan.h"
#include "support/check.h"
#include "support/problem.h"

static void make_problem(test_rng *rng, int most_rank, cutt_canonical *canonical) {
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
  int64_t extents[16];
  int perm[16];
  const int rank = (int)test_random_in(rng, 1, most_rank);
  const int64_t largest = rank < 4 ? 4000 : rank < 7 ? 60 : 12;
  for (int j = 0; j < rank; j++) {
    perm[j] = j;
    extents[j] = test_random_in(rng, 1, test_chance(rng, 40) ? 8 : largest);
  }
  test_shuffle(rng, perm, rank);
  test_problem problem = test_packed(types[test_random_in(rng, 0, 4)], rank, extents, perm);
  if (test_chance(rng, 30)) test_add_small_gaps(rng, &problem, 40, 40);
  const cuttProblem_t view = test_problem_view(&problem);
  assert_success(cutt_canonicalize(&view, canonical));
  canonical->far = test_chance(rng, 30);
}

/* A list as long as it may be, and each of its candidates as the price says, in order; and the first by itself. */
static void the_first_is_the_same(void **unused) {
  (void)unused;
  static const char *const keys[] = {"h200", "a100", "v100", "p100", "k20x"};
  test_rng rng = {.state = 20261120};
  for (int i = 0; i < test_scaled(2000); i++) {
    cutt_canonical canonical;
    cutt_candidate list[CUTT_MAX_CANDIDATES], first;
    make_problem(&rng, 12, &canonical);
    const cutt_device *device = cutt_device_find(keys[i % 5]);
    assert_non_null(device);
    const int count = cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, &canonical, list, CUTT_MAX_CANDIDATES);
    assert_int_equal(cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, &canonical, &first, 1), 1);
    assert_true(count >= 1 && count <= CUTT_MAX_CANDIDATES);
    assert_true(first.seconds == list[0].seconds);
    for (int j = 1; j < count; j++) assert_true(list[j].seconds >= list[j - 1].seconds);
    for (int j = 1; j < count; j++) {
      for (int k = 0; k < j; k++) assert_false(cutt_candidate_equal(&list[j], &list[k]));
    }
  }
}

/* The same on processors, with the parameters that are built in, and with others, as a calibration might find them. */
static void the_first_is_the_same_on_cpus(void **unused) {
  (void)unused;
  cutt_cpu_machine machines[] = {
      {.vector_bytes = 64, .byte_permutes = 1, .l1_bytes = 48 << 10, .l2_bytes = 1 << 20, .stream_bytes = 16 << 20},
      {.vector_bytes = 32, .l1_bytes = 32 << 10, .l2_bytes = 512 << 10, .stream_bytes = 1 << 20},
      {.vector_bytes = 16, .l1_bytes = 32 << 10, .l2_bytes = 256 << 10, .stream_bytes = 1 << 10}};
  test_rng rng = {.state = 20261123};
  for (int i = 0; i < test_scaled(3000); i++) {
    cutt_canonical drawn, other;
    cutt_candidate list[CUTT_MAX_CANDIDATES], first;
    double value[CUTT_CPU_LEVELS * CUTT_CPU_COUNTS];
    cutt_cpu_machine *machine = &machines[i % 3];
    const double *built_in = cutt_cpu_values_of((cutt_cpu_core)test_random_in(&rng, 0, CUTT_CPU_CORES - 1));
    const bool as_it_is = test_chance(&rng, 50);
    for (int j = 0; j < CUTT_CPU_LEVELS * CUTT_CPU_COUNTS; j++)
      value[j] = as_it_is ? built_in[j] : built_in[j] * exp2((double)test_random_in(&rng, -300, 300) / 100);
    machine->base.value = value;
    make_problem(&rng, 12, &drawn);
    const cutt_canonical *canonical = cutt_cpu_forward(&drawn, &other);
    const int count = cutt_cpu_enumerate(&machine->base, CUTT_MODEL_IS_OWN, canonical, 1, list, CUTT_MAX_CANDIDATES);
    assert_int_equal(cutt_cpu_enumerate(&machine->base, CUTT_MODEL_IS_OWN, canonical, 1, &first, 1), 1);
    assert_true(count >= 1 && count <= CUTT_MAX_CANDIDATES);
    assert_true(first.seconds == list[0].seconds);
    for (int j = 1; j < count; j++) assert_true(list[j].seconds >= list[j - 1].seconds);
  }
}

/* The bounds that cut candidates off are no more than any of them takes. */
static void bounds_hold(void **unused) {
  (void)unused;
  const cutt_device *device = cutt_device_find("h200");
  test_rng rng = {.state = 4};
  for (int i = 0; i < test_scaled(2000); i++) {
    cutt_canonical canonical;
    cutt_candidate list[CUTT_MAX_CANDIDATES];
    make_problem(&rng, 10, &canonical);
    const cutt_gpu_bounds bounds = cutt_gpu_bounds_of(device, &canonical);
    const int count = cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, &canonical, list, CUTT_MAX_CANDIDATES);
    for (int j = 0; j < count; j++) {
      cutt_gpu_tile tile;
      cutt_gpu_counts counts;
      cutt_gpu_side rows, columns;
      const char *why;
      const bool direct = list[j].param[CUTT_GPU_PARAM_DIRECT] != 0, flat = list[j].param[CUTT_GPU_PARAM_FLAT] != 0;
      const double most = list[j].seconds * (1 + 1e-12);
      if (direct) continue;
      assert_true(cutt_gpu_tile_derive(&canonical, &list[j], &tile, &why));
      cutt_gpu_count(device, &canonical, &tile, direct, &counts);
      if (flat) {
        assert_true(cutt_gpu_least_of_flat(&bounds, &tile, &counts) <= most);
      } else {
        cutt_gpu_assume_threads(&canonical, &tile, list[j].threads, &counts);
        const double assumed = cutt_gpu_least_of_tile(&bounds, &tile, &counts);
        cutt_gpu_count_threads(&canonical, &tile, list[j].threads, false, &counts);
        const double counted = cutt_gpu_least_of_tile(&bounds, &tile, &counts);
        assert_true(assumed <= counted * (1 + 1e-12) && counted <= most);
      }
      if (list[j].param[CUTT_GPU_PARAM_BATCH] != 0) continue; /* which is not made of two sides */
      cutt_gpu_side_count(device, &canonical, NULL, list[j].m, list[j].split_m, true, &rows);
      cutt_gpu_side_count(device, &canonical, canonical.out_order, list[j].k, list[j].split_k, false, &columns);
      rows.sectors = rows.lines = columns.sectors = columns.lines = 0; /* as where they go on in one another */
      const cutt_gpu_box box = cutt_gpu_box_of(&canonical, list[j].m, list[j].split_m, list[j].k, list[j].split_k);
      assert_true((flat ? cutt_gpu_least_without(&bounds, &rows, &columns, &box)
                        : cutt_gpu_least_with_tables(&bounds, &rows, &columns, box.elements)) <= most);
    }
  }
}

/* ------------------------------------------------------------------------------------------- without branch and bound */

enum { ALL = 4096 };

/* The own model's price of a candidate of the list, with everything counted; or some price above the limit, if it is above that
 * without conflicts between banks, which take longest to count and only add to it. */
static double price_on_gpu(const cutt_device *device, const cutt_canonical *canonical, const cutt_candidate *of,
                           double limit) {
  cutt_gpu_tile tile;
  cutt_gpu_counts counts;
  cutt_breakdown price;
  cutt_candidate candidate = *of;
  const char *why;
  const bool direct = of->param[CUTT_GPU_PARAM_DIRECT] != 0, flat = of->param[CUTT_GPU_PARAM_FLAT] != 0;
  const int stages = (int)of->param[CUTT_GPU_PARAM_STAGES];
  assert_true(cutt_gpu_tile_derive(canonical, of, &tile, &why));
  cutt_gpu_count(device, canonical, &tile, direct, &counts);
  if (flat)
    assert_true(cutt_gpu_count_flat(device, canonical, &tile, of->threads, &counts));
  else
    cutt_gpu_count_threads(canonical, &tile, of->threads, false, &counts);
  assert_true(cutt_gpu_predict(device, canonical, &tile, &counts, stages, &candidate, &price));
  if (flat || direct || candidate.seconds > limit) return candidate.seconds;
  cutt_gpu_count_threads(canonical, &tile, of->threads, true, &counts);
  assert_true(cutt_gpu_predict(device, canonical, &tile, &counts, stages, &candidate, &price));
  assert_true(cutt_candidate_equal(&candidate, of));
  return candidate.seconds;
}

static int by_seconds(const void *a, const void *b) {
  const double x = ((const cutt_candidate *)a)->seconds, y = ((const cutt_candidate *)b)->seconds;
  return (x > y) - (x < y);
}

/* Another model's prices have no bounds, so its list has every candidate; priced by the own model, and sorted, it must begin with
 * the own model's list. */
static void bounds_leave_out_nothing(void **unused) {
  (void)unused;
  static const char *const keys[] = {"h200", "a100", "v100", "p100", "k20x"};
  static cutt_candidate all[ALL];
  cutt_candidate list[CUTT_MAX_CANDIDATES];
  test_rng rng = {.state = 13};
  int most = 0;
  for (int i = 0; i < test_scaled(6000); i++) {
    cutt_canonical canonical;
    make_problem(&rng, 10, &canonical);
    const cutt_device *device = cutt_device_find(keys[i % 5]);
    const int count = cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, &canonical, list, CUTT_MAX_CANDIDATES);
    const int of = cutt_gpu_enumerate(device, CUTT_MODEL_IS_PAPER, &canonical, all, ALL);
    assert_true(of >= count && of < ALL);
    for (int j = 0; j < of; j++) all[j].seconds = price_on_gpu(device, &canonical, &all[j], list[count - 1].seconds);
    qsort(all, (size_t)of, sizeof *all, by_seconds);
    for (int j = 0; j < count; j++) assert_true(all[j].seconds == list[j].seconds);
    most = of > most ? of : most;
  }
  assert_true(most > CUTT_MAX_CANDIDATES); /* there was something to leave out */
}

/* -------------------------------------------------------------------------------------------------------- brute force */

/* The best of a list over the best that there is: how far off in the worst case, and in the (geometric) mean. */
typedef struct shortfall {
  double worst, logs;
  int problems;
} shortfall;

static void add_shortfall(shortfall *s, double listed, double best) {
  assert_true(best <= listed * (1 + 1e-12)); /* else brute force has left something out */
  s->worst = fmax(s->worst, listed / best);
  s->logs += log(listed / best);
  s->problems++;
}

/* The lists hold few of all chunks, so that planning takes microseconds: what that costs must stay this little. The worst are
 * elements of a byte or two in modes of a few, which take microseconds themselves. */
static void hold_shortfall(const char *name, const shortfall *s, double most_worst, double most_mean) {
  const double mean = exp(s->logs / s->problems);
  print_message("%s: %d problems, the list's best over the best of all: mean %.4f, worst %.3f\n", name, s->problems,
                mean, s->worst);
  assert_true(s->worst <= most_worst);
  assert_true(mean <= most_mean);
}

/* Modes that are few and short enough for every chunk of each to be tried, of a volume that takes some time. */
static void make_small_problem(test_rng *rng, cutt_canonical *canonical) {
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
  int64_t extents[8];
  int perm[8];
  const int rank = (int)test_random_in(rng, 2, 7);
  for (int j = 0; j < rank; j++) {
    perm[j] = j;
    extents[j] = test_random_in(rng, 2, test_chance(rng, 20) ? 20 : 8);
  }
  /* Much of it in one mode, often: a chunk of that is a row of its own. */
  if (test_chance(rng, 40)) extents[test_random_in(rng, 0, rank - 1)] = test_random_in(rng, 1, 5) * 8;
  test_shuffle(rng, perm, rank);
  const test_problem problem = test_packed(types[test_random_in(rng, 0, 4)], rank, extents, perm);
  const cuttProblem_t view = test_problem_view(&problem);
  assert_success(cutt_canonicalize(&view, canonical));
}

/* Every M_m with every M_k, up to so many bytes of each. */
typedef struct brute {
  const cutt_canonical *canonical;
  const void *target;
  double best;
  void (*look)(struct brute *b, cutt_candidate *q);
  bool long_first; /* M_m may be a first mode of any length, of which M_k has a chunk */
} brute;

static void each_side(brute *b, cutt_candidate *q, bool input, int64_t most_bytes);

static void next_side(brute *b, cutt_candidate *q, bool input, int64_t most_bytes) {
  if (input)
    each_side(b, q, false, most_bytes);
  else
    b->look(b, q);
}

static void each_side(brute *b, cutt_candidate *q, bool input, int64_t most_bytes) {
  const cutt_canonical *c = b->canonical;
  int64_t bytes = c->elem_bytes;
  int *const modes = input ? &q->m : &q->k;
  int64_t *const split = input ? &q->split_m : &q->split_k;
  *split = 0;
  for (*modes = 0; *modes <= c->rank && bytes <= most_bytes; ++*modes) {
    if (*modes == 0) {
      next_side(b, q, input, most_bytes);
      continue;
    }
    const int64_t extent = c->mode[input ? *modes - 1 : c->out_order[*modes - 1]].extent;
    for (int64_t chunk = 2; chunk < extent && chunk * bytes <= most_bytes; chunk++) {
      *split = chunk;
      next_side(b, q, input, most_bytes);
    }
    *split = 0;
    bytes *= extent;
    if (bytes <= most_bytes || (b->long_first && input && *modes == 1)) next_side(b, q, input, most_bytes);
  }
}

static void price_geometry_on_gpu(brute *b, cutt_candidate *q) {
  const cutt_device *device = b->target;
  const cutt_canonical *c = b->canonical;
  static const int threads[] = {256, 512};
  cutt_gpu_tile tile;
  cutt_gpu_counts counts;
  cutt_breakdown price;
  const char *why;
  const bool direct = q->param[CUTT_GPU_PARAM_DIRECT] != 0;
  if (!cutt_gpu_tile_derive(c, q, &tile, &why) || cutt_gpu_most_shared(c, &tile, direct) > device->block_shared) return;
  cutt_gpu_count(device, c, &tile, direct, &counts);
  if (direct && !counts.widest.copies) return;
  for (int i = 0; i < (direct ? 1 : 2); i++) {
    bool banks = false;
    cutt_gpu_count_threads(c, &tile, threads[i], false, &counts);
    for (int stages = direct ? 1 : 3; stages > 0; stages--) {
      /* Conflicts between banks, which take longest to count, only add to a price. */
      if (!cutt_gpu_predict(device, c, &tile, &counts, stages, q, &price) || q->seconds >= b->best) continue;
      if (!banks && !direct) {
        cutt_gpu_count_threads(c, &tile, threads[i], banks = true, &counts);
        cutt_gpu_predict(device, c, &tile, &counts, stages, q, &price);
      }
      if (q->seconds < b->best) b->best = q->seconds;
    }
  }
}

/* A geometry as it is, and with every batch of other modes that a tile has room for. */
static void look_on_gpu(brute *b, cutt_candidate *q) {
  memset(q->param, 0, sizeof q->param);
  price_geometry_on_gpu(b, q);
  for (int direct = 0; direct < 2; direct++) {
    if (direct && (q->m != 1 || q->k != 1)) break;
    memset(q->param, 0, sizeof q->param);
    q->param[CUTT_GPU_PARAM_DIRECT] = direct;
    if (direct) price_geometry_on_gpu(b, q);
    if (q->split_m != 0 || q->split_k != 0) continue;
    for (int64_t batch = 1; batch <= 16384; batch += batch < 8 ? 1 : batch / 8) {
      q->param[CUTT_GPU_PARAM_BATCH] = batch;
      price_geometry_on_gpu(b, q);
    }
  }
}

static void best_on_gpus(void **unused) {
  (void)unused;
  static const char *const keys[] = {"h200", "v100", "k20x"};
  test_rng rng = {.state = 99};
  shortfall s = {0};
  for (int i = 0; i < test_scaled(2000); i++) {
    cutt_canonical canonical;
    cutt_candidate first, q;
    make_small_problem(&rng, &canonical);
    const cutt_device *device = cutt_device_find(keys[i % 3]);
    assert_int_equal(cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, &canonical, &first, 1), 1);
    memset(&q, 0, sizeof q);
    brute b = {&canonical, device, INFINITY, look_on_gpu, false};
    each_side(&b, &q, true, 4096);
    /* Not every batch is tried, so that the list may have a better one. */
    add_shortfall(&s, first.seconds, fmin(b.best, first.seconds));
  }
  hold_shortfall("GPUs", &s, 2, 1.025);
}

enum { MOST_TILE_BYTES = 512 * 1024 };

/* With every prefetch. */
static void look_at(brute *b, cutt_candidate *q) {
  const cutt_cpu_machine *machine = b->target;
  const bool along = q->param[CUTT_CPU_PARAM_WALK] == CUTT_CPU_ALONG;
  cutt_cpu_tile tile;
  const char *why;
  for (int prefetch = 0; prefetch < CUTT_CPU_PREFETCHES; prefetch++) {
    q->param[CUTT_CPU_PARAM_PREFETCH] = prefetch;
    if (prefetch > 0 && !along) { /* nothing else of such a tile depends on it */
      q->param[CUTT_CPU_PARAM_PREFETCH] = tile.prefetch = prefetch;
    } else if (!cutt_cpu_tile_derive(machine, b->canonical, q, &tile, &why)) {
      return;
    }
    const int64_t elements = cutt_cpu_elements(&tile);
    const int64_t bytes = elements * b->canonical->elem_bytes, row = tile.cols * b->canonical->elem_bytes;
    /* Large tiles, walks along short rows and prefetching more than L2 holds are what the model is not for. */
    if (!tile.along && bytes > MOST_TILE_BYTES) return;
    if (tile.along && (row < 16 || cutt_cpu_together(b->canonical, &tile) * b->canonical->elem_bytes < 256)) continue;
    if (tile.tiles_ahead && bytes > machine->l2_bytes / 16) continue;
    if (tile.along && !tile.tiles_ahead && prefetch == CUTT_CPU_TO_L2 && tile.cols * 128 > machine->l2_bytes / 8)
      continue;
    b->best = fmin(b->best, cutt_cpu_seconds(b->canonical, q, &tile, machine));
  }
}

static void look_on_cpu(brute *b, cutt_candidate *q) {
  const cutt_cpu_machine *machine = b->target;
  const int64_t non_temporal = q->param[CUTT_CPU_PARAM_NON_TEMPORAL];
  for (int kernel = CUTT_CPU_GATHER; kernel < CUTT_CPU_KERNELS; kernel++) {
    const bool transpose = kernel == CUTT_CPU_TRANSPOSE;
    memset(q->param, 0, sizeof q->param);
    q->param[CUTT_CPU_PARAM_NON_TEMPORAL] = non_temporal;
    q->param[CUTT_CPU_PARAM_KERNEL] = kernel;
    for (int64_t vector = 16; vector <= (transpose ? machine->vector_bytes : 16); vector *= 2) {
      for (int64_t step = 16; step <= (transpose ? CUTT_CPU_MAX_STEP : 16); step *= 2) {
        for (int walk = CUTT_CPU_DOWN; walk < (transpose ? CUTT_CPU_WALKS : 1); walk++) {
          q->param[CUTT_CPU_PARAM_VECTOR] = transpose ? vector : 0;
          q->param[CUTT_CPU_PARAM_STEP] = transpose ? step : 0;
          q->param[CUTT_CPU_PARAM_WALK] = walk;
          look_at(b, q);
        }
      }
    }
  }
}

static void best_on_cpus(void **unused) {
  (void)unused;
  /* One of today's servers, and one with small registers and caches. */
  cutt_cpu_machine machines[] = {{.vector_bytes = 64,
                                  .byte_permutes = 1,
                                  .threads = 1,
                                  .l1_bytes = 48 << 10,
                                  .l2_bytes = 2 << 20,
                                  .l3_bytes = 32 << 20,
                                  .stream_bytes = 8 << 20},
                                 {.vector_bytes = 16,
                                  .threads = 1,
                                  .l1_bytes = 32 << 10,
                                  .l2_bytes = 256 << 10,
                                  .l3_bytes = 4 << 20,
                                  .stream_bytes = 1 << 20}};
  test_rng rng = {.state = 100};
  shortfall s = {0};
  for (int i = 0; i < test_scaled(2000); i++) {
    cutt_canonical drawn, other;
    cutt_candidate list[CUTT_MAX_CANDIDATES], first, q;
    cutt_cpu_machine *machine = &machines[i % 2];
    machine->base.value = cutt_cpu_values;
    make_small_problem(&rng, &drawn);
    const cutt_canonical *canonical = cutt_cpu_forward(&drawn, &other);
    const int count = cutt_cpu_enumerate(&machine->base, CUTT_MODEL_IS_OWN, canonical, 1, list, CUTT_MAX_CANDIDATES);
    assert_int_equal(cutt_cpu_enumerate(&machine->base, CUTT_MODEL_IS_OWN, canonical, 1, &first, 1), 1);
    assert_true(count >= 1 && first.seconds == list[0].seconds);
    for (int j = 1; j < count; j++) assert_true(list[j].seconds >= list[j - 1].seconds);
    if (canonical->rank <= 1) continue; /* a plain copy: there is nothing to choose */
    memset(&q, 0, sizeof q);
    q.threads = first.threads;
    q.param[CUTT_CPU_PARAM_NON_TEMPORAL] = first.param[CUTT_CPU_PARAM_NON_TEMPORAL];
    brute b = {canonical, machine, INFINITY, look_on_cpu, true};
    each_side(&b, &q, true, 16384);
    add_shortfall(&s, first.seconds, fmin(b.best, first.seconds)); /* the list has longer rows, too */
  }
  hold_shortfall("processors", &s, 2.7, 1.025);
}

/* Rows of 600 doubles and a gap: what may be one row with tables is none to kernels that copy runs, nor where the gap may have a page
 * of its own. */
static void rows_over_gaps(void **unused) {
  (void)unused;
  static const int64_t extents[] = {600, 40, 4}, gaps[] = {1, 511, 512};
  static const int perm[] = {2, 1, 0};
  const cutt_device *device = cutt_device_find("h200");
  for (int i = 0; i < 3; i++) {
    const char *why = NULL;
    cutt_canonical canonical;
    test_problem problem = test_packed(CUTT_BYTES_8, 3, extents, perm);
    problem.in_strided = true;
    problem.in_strides[1] = 600 + gaps[i];
    problem.in_strides[2] = 40 * problem.in_strides[1];
    const cuttProblem_t view = test_problem_view(&problem);
    assert_success(cutt_canonicalize(&view, &canonical));
    cutt_candidate candidate = {.m = 2, .k = 1, .split_m = 2, .threads = 256};
    candidate.param[CUTT_GPU_PARAM_STAGES] = candidate.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
    candidate.method = cutt_gpu_method(&canonical, &candidate);
    assert_int_equal(cutt_gpu_accept(device, &canonical, &candidate, &why), gaps[i] * 8 < CUTT_GPU_PAGE);
    candidate.param[CUTT_GPU_PARAM_FLAT] = 1;
    assert_false(cutt_gpu_accept(device, &canonical, &candidate, &why));
    assert_non_null(why);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_is_the_same), cmocka_unit_test(the_first_is_the_same_on_cpus),
      cmocka_unit_test(bounds_hold),           cmocka_unit_test(bounds_leave_out_nothing),
      cmocka_unit_test(rows_over_gaps),        cmocka_unit_test(best_on_gpus),
      cmocka_unit_test(best_on_cpus),
  };
  return cmocka_run_group_tests_name("enumerate", tests, NULL, NULL);
}
