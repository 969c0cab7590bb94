/* Candidates of the CUDA backend in the terms of the paper's model: counts against those of every element, tiles and
 * bank conflicts by hand, and that plans by the model follow it. */
#include <math.h>
#include <string.h>

#include "gpu/launch.h"
#include "gpu/paper.h"
#include "gpu/tile.h"
#include "model/canonical.h"
#include "model/device.h"
#include "model/mwp.h"
#include "plan/plan.h"
#include "support/check.h"

static const cutt_device *known(const char *key) {
  const cutt_device *device = cutt_device_find(key);
  assert_non_null(device);
  return device;
}

/* ------------------------------------------------------------------------------------------------------- candidates */

static void make_canonical(cuttType_t type, int rank, const int64_t *extents, const int *perm, cutt_canonical *c) {
  cuttProblem_t p = CUTT_PROBLEM_INIT;
  p.rank = rank;
  p.type = type;
  p.extents = extents;
  p.perm = perm;
  assert_success(cutt_canonicalize(&p, c));
}

static cutt_candidate make_candidate(const cutt_canonical *c, int m, int64_t split_m, int k, int64_t split_k,
                                     bool direct, cutt_gpu_tile *tile) {
  cutt_candidate candidate = {.m = m, .k = k, .split_m = split_m, .split_k = split_k, .threads = 256};
  candidate.param[CUTT_GPU_PARAM_STAGES] = candidate.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
  candidate.param[CUTT_GPU_PARAM_DIRECT] = direct;
  candidate.method = cutt_gpu_method(c, &candidate);
  const char *why = "";
  if (!cutt_gpu_tile_derive(c, &candidate, tile, &why)) fail_msg("%s", why);
  return candidate;
}

/* What a warp accesses, one element at a time. */
typedef struct warp {
  uint64_t line[64], sector[64];
  int sector_bytes[64];
  int lines, sectors;
} warp;

static void touch(warp *w, uint64_t address, int bytes) {
  for (int i = 0; i < bytes; i++, address++) {
    int l = 0, s = 0;
    while (l < w->lines && w->line[l] != address / 128) l++;
    if (l == w->lines) w->line[w->lines++] = address / 128;
    while (s < w->sectors && w->sector[s] != address / 32) s++;
    if (s == w->sectors) {
      w->sector[w->sectors++] = address / 32;
      w->sector_bytes[s] = 0;
    }
    w->sector_bytes[s]++;
  }
}

static void end_warp(warp *w, bool store, cutt_mwp_counts *n) {
  *(store ? &n->st_req : &n->ld_req) += 1;
  *(store ? &n->st_tran : &n->ld_tran) += w->lines;
  for (int s = 0; s < w->sectors && store; s++) *(w->sector_bytes[s] == 32 ? &n->cl_full : &n->cl_part) += 1;
  w->lines = w->sectors = 0;
}

/* One side of all tiles, element by element; warps end where M_m (M_k) does, unless they are those of Packed. */
static void count_all(const cutt_canonical *c, const cutt_gpu_tile *tile, bool packed, bool store, cutt_mwp_counts *n) {
  for (int64_t number = 0; number < tile->tiles; number++) {
    int64_t extent[CUTT_MAX_RANK], first[CUTT_MAX_RANK], rest = number, volume = 1, run = 1;
    for (int j = 0; j < c->rank; j++) {
      const int64_t chunks = cutt_gpu_chunks(c->mode[j].extent, tile->extent[j]);
      first[j] = rest % chunks * tile->extent[j];
      rest /= chunks;
      extent[j] = c->mode[j].extent - first[j] < tile->extent[j] ? c->mode[j].extent - first[j] : tile->extent[j];
      volume *= extent[j];
      if ((store ? tile->in_k : tile->in_m) >> j & 1) run *= extent[j];
    }
    warp w = {.lines = 0};
    if (packed) run = volume;
    for (int64_t e = 0; e < volume; e++) {
      int64_t left = e, at = INT64_C(1) << 40;
      for (int i = 0; i < c->rank; i++) {
        const int j = store ? c->out_order[i] : i;
        at += (first[j] + left % extent[j]) * (store ? c->mode[j].out_stride : c->mode[j].in_stride) * c->elem_bytes;
        left /= extent[j];
      }
      touch(&w, (uint64_t)at, c->elem_bytes);
      if (e % run % 32 == 31 || (e + 1) % run == 0) end_warp(&w, store, n);
    }
  }
}

static void kernel_of(const char *device, const cutt_canonical *c, const cutt_gpu_tile *tile,
                      const cutt_candidate *candidate, cutt_mwp_kernel *kernel) {
  cutt_gpu_paper_kernel(known(device), c, tile, candidate, kernel);
}

/* Ten tiles or fewer, of six warps or fewer (one: of sixty), are counted whole. */
static void counts_are_those_of_every_element(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int rank;
    int64_t extents[4];
    int perm[4];
    int m, k, split_m, split_k;
    bool direct;
  } rows[] = {
      {CUTT_BYTES_4, 2, {30, 60}, {1, 0}, 1, 1, 0, 0, false},       /* Tiled: 60 rows, and 30 columns of two warps */
      {CUTT_BYTES_4, 2, {29, 30}, {1, 0}, 1, 1, 0, 0, false},       /* rows that begin anywhere */
      {CUTT_BYTES_8, 2, {11, 23}, {1, 0}, 1, 1, 6, 6, false},       /* chunks, and shorter ones at the edges */
      {CUTT_BYTES_4, 3, {5, 7, 50}, {2, 1, 0}, 2, 1, 0, 0, false},  /* Packed, one tile */
      {CUTT_BYTES_8, 3, {5, 7, 50}, {2, 1, 0}, 2, 1, 0, 5, false},  /* PackedSplit */
      {CUTT_BYTES_16, 3, {3, 5, 31}, {2, 1, 0}, 1, 2, 0, 2, false}, /* ... on the other side */
      {CUTT_BYTES_1, 4, {3, 5, 7, 8}, {3, 1, 2, 0}, 2, 1, 0, 0, false},  /* Packed, a mode outside */
      {CUTT_BYTES_2, 4, {9, 10, 3, 3}, {1, 0, 3, 2}, 2, 2, 0, 0, false}, /* M_m = M_k */
      {CUTT_BYTES_4, 3, {150, 2, 5}, {0, 2, 1}, 1, 1, 0, 0, true},       /* TiledCopy */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    cutt_canonical c;
    cutt_gpu_tile tile;
    make_canonical(rows[i].type, rows[i].rank, rows[i].extents, rows[i].perm, &c);
    const cutt_candidate candidate =
        make_candidate(&c, rows[i].m, rows[i].split_m, rows[i].k, rows[i].split_k, rows[i].direct, &tile);
    const bool packed = candidate.method == CUTT_METHOD_PACKED || candidate.method == CUTT_METHOD_PACKED_SPLIT;
    cutt_mwp_kernel kernel;
    cutt_mwp_counts n = {.ld_req = 0};
    kernel_of("p100", &c, &tile, &candidate, &kernel);
    count_all(&c, &tile, packed, false, &n);
    count_all(&c, &tile, packed, true, &n);
    if (n.ld_req != kernel.counts.ld_req || n.ld_tran != kernel.counts.ld_tran || n.st_req != kernel.counts.st_req ||
        n.st_tran != kernel.counts.st_tran || n.cl_full != kernel.counts.cl_full ||
        n.cl_part != kernel.counts.cl_part) {
      fail_msg("row %d: %g/%g loads, %g/%g stores, %g full, %g part, where %g/%g, %g/%g, %g, %g are right", (int)i,
               kernel.counts.ld_tran, kernel.counts.ld_req, kernel.counts.st_tran, kernel.counts.st_req,
               kernel.counts.cl_full, kernel.counts.cl_part, n.ld_tran, n.ld_req, n.st_tran, n.st_req, n.cl_full,
               n.cl_part);
    }
  }
}

/* Samples of tensors that are too large to count: within some percent of all. */
static void samples_are_near_all(void **unused) {
  (void)unused;
  static const int64_t extents[] = {53, 7, 59, 6};
  static const int perm[] = {2, 1, 3, 0};
  for (int split = 0; split <= 20; split += 20) {
    cutt_canonical c;
    cutt_gpu_tile tile;
    cutt_mwp_kernel kernel;
    cutt_mwp_counts n = {.ld_req = 0};
    make_canonical(CUTT_BYTES_8, 4, extents, perm, &c);
    const cutt_candidate candidate = make_candidate(&c, 1, split, split ? 1 : 2, split, false, &tile);
    const bool packed = split == 0;
    kernel_of("p100", &c, &tile, &candidate, &kernel);
    count_all(&c, &tile, packed, false, &n);
    count_all(&c, &tile, packed, true, &n);
    const double wanted = cutt_mwp_tpr_mem(&n), got = cutt_mwp_tpr_mem(&kernel.counts);
    if (fabs(got - wanted) > 0.1 * wanted) fail_msg("split %d: %g, where %g is right", split, got, wanted);
  }
}

static void tiles_of_candidates(void **unused) {
  (void)unused;
  cutt_canonical c;
  cutt_gpu_tile tile;
  cutt_mwp_kernel kernel;
  /* 128 x 96, whole: 4 x 3 tiles of 32 x 32. A block of 8 warps on each of 12 of the 56 SMs. */
  make_canonical(CUTT_BYTES_4, 2, (const int64_t[]){128, 96}, (const int[]){1, 0}, &c);
  cutt_candidate candidate = make_candidate(&c, 1, 0, 1, 0, false, &tile);
  kernel_of("p100", &c, &tile, &candidate, &kernel);
  assert_int_equal(candidate.method, CUTT_METHOD_TILED);
  assert_near(4, kernel.mlp);
  assert_near(1, kernel.tpr_shmem);
  assert_near(8, kernel.warps);
  assert_near(1, kernel.iterations);
  assert_near(8, kernel.warps_per_sm);
  /* 69 x 49, whole: 2 full, 1 cut to a width of 5, 2 to a height of 17, and a corner:
   * (4 (2 * 2 + 1) + ceil(17/8) (2 + 1) + ceil(5/8) (1 + 1)) / (2 * 6) = (20 + 9 + 2) / 12. */
  make_canonical(CUTT_BYTES_4, 2, (const int64_t[]){69, 49}, (const int[]){1, 0}, &c);
  candidate = make_candidate(&c, 1, 0, 1, 0, false, &tile);
  kernel_of("p100", &c, &tile, &candidate, &kernel);
  assert_near(31.0 / 12, kernel.mlp);
  /* The same in chunks of 64 x 48 is chunks of 64 and 5, and of 48 and 1:
   * 64 x 48: 2 full, 2 of height 16; 5 x 48: 1 of width 5, 1 corner; 64 x 1: 2 of height 1; 5 x 1: 1 corner.
   * Of each, 2 T MLP: 16 + 2 * 2 = 20; 4 + 1 + 2 + 1 = 8; 2; 1 + 1 = 2. 32 over 2 * 9. */
  candidate = make_candidate(&c, 1, 64, 1, 48, false, &tile);
  kernel_of("p100", &c, &tile, &candidate, &kernel);
  assert_near(32.0 / 18, kernel.mlp);
  /* TiledCopy: rows of 100 are 4 lines; 40 of them in a tile are 160 lines, 5 full tiles; 70 of ours. */
  make_canonical(CUTT_BYTES_16, 3, (const int64_t[]){100, 70, 40}, (const int[]){0, 2, 1}, &c);
  candidate = make_candidate(&c, 1, 0, 1, 0, true, &tile);
  candidate.param[CUTT_GPU_PARAM_BATCH] = 40;
  const char *why = "";
  assert_true(cutt_gpu_tile_derive(&c, &candidate, &tile, &why));
  kernel_of("p100", &c, &tile, &candidate, &kernel);
  assert_int_equal(candidate.method, CUTT_METHOD_TILED_COPY);
  assert_near(4, kernel.mlp);
  assert_near(0, kernel.tpr_shmem);
  assert_near(7, kernel.iterations); /* ceil(5 * 70 / 56) */
  /* Packed: nReg. 3 modes of 5 x 7 x 50 = 1750 elements. */
  make_canonical(CUTT_BYTES_4, 4, (const int64_t[]){5, 7, 50, 560}, (const int[]){2, 1, 3, 0}, &c);
  candidate = make_candidate(&c, 2, 0, 1, 0, false, &tile);
  kernel_of("p100", &c, &tile, &candidate, &kernel);
  assert_int_equal(candidate.method, CUTT_METHOD_PACKED);
  assert_near(7, kernel.mlp);         /* ceil(1750 / 256) */
  assert_near(10, kernel.iterations); /* 560 / 56 */
}

static void bank_conflicts(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t extents[3];
    double wanted;
  } rows[] = {
      {CUTT_BYTES_4, {8, 4, 32}, 32},  /* steps of 32 words: one bank */
      {CUTT_BYTES_4, {11, 3, 32}, 1},  /* of 33: a bank each */
      {CUTT_BYTES_4, {17, 2, 32}, 2},  /* of 34: every other one */
      {CUTT_BYTES_8, {8, 4, 32}, 16},  /* a warp goes in two turns, of 16 banks of 8 bytes */
      {CUTT_BYTES_8, {17, 3, 32}, 1},  /* of 51 */
      {CUTT_BYTES_2, {8, 4, 32}, 16},  /* of 16 words: two banks */
      {CUTT_BYTES_2, {11, 6, 32}, 1},  /* of 33 words */
      {CUTT_BYTES_1, {13, 10, 32}, 2}, /* of 32.5 words: 0, 32, 65, 97, 130 ... */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    cutt_canonical c;
    cutt_gpu_tile tile;
    cutt_mwp_kernel kernel;
    make_canonical(rows[i].type, 3, rows[i].extents, (const int[]){2, 1, 0}, &c);
    const cutt_candidate candidate = make_candidate(&c, 2, 0, 1, 0, false, &tile);
    kernel_of("k20x", &c, &tile, &candidate, &kernel);
    if (kernel.tpr_shmem != rows[i].wanted) fail_msg("row %d: %g", (int)i, kernel.tpr_shmem);
  }
}

/* A large, well-aligned transpose is bound by the bandwidth, or nearly so. */
static void seconds_are_those_of_the_bytes(void **unused) {
  (void)unused;
  cutt_canonical c;
  cutt_gpu_tile tile;
  make_canonical(CUTT_BYTES_4, 2, (const int64_t[]){8192, 8192}, (const int[]){1, 0}, &c);
  const cutt_candidate candidate = make_candidate(&c, 1, 32, 1, 32, false, &tile);
  static const char *const keys[] = {"k20x", "k40", "m40", "p100"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const double seconds = cutt_gpu_paper_seconds(known(keys[i]), &c, &tile, &candidate);
    const double least = 2.0 * 8192 * 8192 * 4 / known(keys[i])->memory_bandwidth;
    if (seconds < least || seconds > 3 * least) fail_msg("%s: %g s, at %g s for the bytes", keys[i], seconds, least);
  }
  /* P100, by hand: 65536 tiles over 56 SMs are 1171 iterations of 970 + 8 + 260 cycles (cycles_of_kernels), with the
   * 4 blocks of 256 threads that the kernel's registers allow. */
  assert_near(1171 * 1238 / 1.48e9, cutt_gpu_paper_seconds(known("p100"), &c, &tile, &candidate));
}

/* A device of which only what a driver tells is known gets the rest from one like it. */
static void unknown_parameters_are_lent(void **unused) {
  (void)unused;
  cutt_canonical c;
  cutt_gpu_tile tile;
  make_canonical(CUTT_BYTES_4, 3, (const int64_t[]){50, 60, 70}, (const int[]){2, 1, 0}, &c);
  const cutt_candidate candidate = make_candidate(&c, 1, 0, 1, 0, false, &tile);
  for (const cutt_known_device *k = cutt_known_devices; k->key; k++) {
    cutt_device device = k->device;
    device.memory_latency = device.departure_delay = device.shared_latency = device.arithmetic = 0;
    assert_near(cutt_gpu_paper_seconds(&k->device, &c, &tile, &candidate),
                cutt_gpu_paper_seconds(&device, &c, &tile, &candidate));
  }
  const cutt_device nothing = {.sm_threads = 1024};
  const double seconds = cutt_gpu_paper_seconds(&nothing, &c, &tile, &candidate);
  assert_true(isfinite(seconds) && seconds > 0);
}

/* ------------------------------------------------------------------------------------------------------------ plans */

static double paper_seconds(const cutt_device *device, const cutt_canonical *c, const cutt_candidate *candidate) {
  cutt_gpu_tile tile;
  const char *why = "";
  if (!cutt_gpu_tile_derive(c, candidate, &tile, &why)) fail_msg("%s", why);
  return cutt_gpu_paper_seconds(device, c, &tile, candidate);
}

/* The candidates of the paper's model are priced by it and in its order; of ours, none is cheaper by it than its first;
 * and that is what a plan for the device has. */
static void check_plan(const char *key, const cuttProblem_t *problem) {
  static const char *const names[CUTT_METHODS] = {"Copy", "TiledCopy", "Tiled", "Packed", "PackedSplit"};
  const cutt_device *device = known(key);
  cutt_canonical c;
  cutt_candidate list[CUTT_MAX_CANDIDATES];
  assert_success(cutt_canonicalize(problem, &c));
  int count = cutt_gpu_enumerate(device, CUTT_MODEL_IS_PAPER, &c, list, CUTT_MAX_CANDIDATES);
  assert_in_range(count, 1, CUTT_MAX_CANDIDATES);
  for (int i = 0; i < count; i++) {
    assert_true(isfinite(list[i].seconds) && list[i].seconds > 0);
    assert_near(paper_seconds(device, &c, &list[i]), list[i].seconds);
    assert_true(i == 0 || list[i].seconds >= list[i - 1].seconds);
  }
  const cutt_candidate best = list[0];
  count = cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, &c, list, CUTT_MAX_CANDIDATES);
  for (int i = 0; i < count; i++) assert_true(paper_seconds(device, &c, &list[i]) >= best.seconds);

  cuttOptions_t options = CUTT_OPTIONS_INIT;
  cuttPlan_t plan = NULL;
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  options.device = key;
  options.model = CUTT_MODEL_PAPER;
  assert_success(cuttPlanCreate(&plan, problem, &options));
  assert_success(cuttPlanGetInfo(plan, &info));
  assert_string_equal(names[best.method], info.method);
  assert_int_equal(best.threads, info.threads);
  assert_near(best.seconds, info.predicted_seconds);
  assert_true(cutt_candidate_equal(&best, &plan->choice.candidate));
  assert_success(cuttPlanDestroy(plan));
}

static void plans_follow_the_model(void **unused) {
  (void)unused;
  static const char *const keys[] = {"k20x", "m40", "p100"};
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
  test_rng rng = {.state = 20170508};
  for (int i = 0; i < test_scaled(60); i++) {
    int64_t extents[8], volume = 1;
    int perm[8];
    const int rank = (int)test_random_in(&rng, 1, 8);
    for (int j = 0; j < rank; j++) {
      perm[j] = j;
      extents[j] = test_random_in(&rng, 1, test_chance(&rng, 50) ? 8 : rank < 4 ? 3000 : 70);
      volume *= extents[j];
    }
    test_shuffle(&rng, perm, rank);
    if (volume > INT64_C(1) << 36) continue;
    const test_problem problem = test_packed(types[i % 5], rank, extents, perm);
    const cuttProblem_t view = test_problem_view(&problem);
    check_plan(keys[i % 3], &view);
  }
  /* The tensors of the paper's set 2. */
  static const int64_t rank8[] = {5, 3, 2, 4, 35, 33, 37, 40};
  static const int reverse[] = {7, 6, 5, 4, 3, 2, 1, 0};
  const test_problem problem = test_packed(CUTT_BYTES_8, 8, rank8, reverse);
  const cuttProblem_t view = test_problem_view(&problem);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) check_plan(keys[i], &view);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_are_those_of_every_element),
      cmocka_unit_test(samples_are_near_all),
      cmocka_unit_test(tiles_of_candidates),
      cmocka_unit_test(bank_conflicts),
      cmocka_unit_test(seconds_are_those_of_the_bytes),
      cmocka_unit_test(unknown_parameters_are_lent),
      cmocka_unit_test(plans_follow_the_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
