/* Every launch is held to more than its result: each byte of the output's elements is written once and nothing else is
 * written at all (a gap of a strided output that is written back as it was would not show in the result), and kernels
 * have the threads that they were compiled for. */
#include "simt/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/flat.h"
#include "gpu/kernels/combine_list.h"
#include "gpu/kernels/core_list.h"
#include "gpu/kernels/join_list.h"
#include "gpu/kernels/multiply_list.h"
#include "gpu/kernels/panel_list.h"
#include "gpu/kernels/pass_list.h"
#include "gpu/kernels/small_list.h"
#include "gpu/kernels/staged_list.h"
#include "gpu/kernels/stretch_list.h"
#include "gpu/kernels/strip_list.h"
#include "gpu/kernels/sum_list.h"
#include "gpu/tile.h"

const cutt_device simt_h200 = {.base.name = "NVIDIA H200",
                               .major = 9,
                               .minor = 0,
                               .sms = 132,
                               .sm_threads = 2048,
                               .sm_blocks = 32,
                               .sm_shared = 233472,
                               .block_shared = 232448,
                               .reserved_shared = 1024,
                               .l2_bytes = 62914560,
                               .memory_bytes = INT64_C(150754820096),
                               .clock_hz = 1.98e9,
                               .memory_bandwidth = 4.8e12};
const cutt_device simt_a100 = {.base.name = "NVIDIA A100-SXM4-80GB",
                               .major = 8,
                               .minor = 0,
                               .sms = 108,
                               .sm_threads = 2048,
                               .sm_blocks = 32,
                               .sm_shared = 167936,
                               .block_shared = 166912,
                               .reserved_shared = 1024,
                               .l2_bytes = 41943040,
                               .memory_bytes = INT64_C(85899345920),
                               .clock_hz = 1.41e9,
                               .memory_bandwidth = 2.039e12};
const cutt_device simt_t4 = {.base.name = "Tesla T4",
                             .major = 7,
                             .minor = 5,
                             .sms = 40,
                             .sm_threads = 1024,
                             .sm_blocks = 16,
                             .sm_shared = 65536,
                             .block_shared = 65536,
                             .reserved_shared = 0,
                             .l2_bytes = 4194304,
                             .memory_bytes = INT64_C(15843721216),
                             .clock_hz = 1.59e9,
                             .memory_bandwidth = 3.2e11};

static const cutt_device *device = &simt_h200;

/* ------------------------------------------------------------------------------------------------------- kernels */

#define DECLARE(name)                                                                                                  \
  extern simt_kernel cutt_##name;                                                                                      \
  extern simt_batched_kernel cutt_##name##_batched;                                                                    \
  extern const uint32_t cutt_##name##_most_threads;
CUTT_TABLE_KERNELS(DECLARE)
#define DECLARE_FLAT(name)                                                                                             \
  extern simt_flat_kernel cutt_##name;                                                                                 \
  extern const uint32_t cutt_##name##_most_threads;
CUTT_FLAT_KERNELS(DECLARE_FLAT)
#define DECLARE_WINDOWS(name)                                                                                          \
  extern simt_window_kernel cutt_##name;                                                                               \
  extern const uint32_t cutt_##name##_most_threads;
CUTT_FLAT_WINDOW_KERNELS(DECLARE_WINDOWS)

#define DECLARE_PASS(name) extern simt_pass_kernel cutt_##name;
CUTT_PASS_KERNELS(DECLARE_PASS)
#define DECLARE_MULTIPLY(name) extern simt_multiply_kernel cutt_##name;
CUTT_MULTIPLY_KERNELS(DECLARE_MULTIPLY)
#define DECLARE_PANEL(name) extern simt_panel_kernel cutt_##name;
CUTT_PANEL_KERNELS(DECLARE_PANEL)
#define DECLARE_CORE(name) extern simt_core_kernel cutt_##name;
CUTT_CORE_KERNELS(DECLARE_CORE)
#define DECLARE_SUM(name) extern simt_sum_kernel cutt_##name;
CUTT_SUM_KERNELS(DECLARE_SUM)
#define DECLARE_JOIN(name) extern simt_join_kernel cutt_##name;
CUTT_JOIN_KERNELS(DECLARE_JOIN)
#define DECLARE_SMALL(name) extern simt_small_kernel cutt_##name;
CUTT_SMALL_KERNELS(DECLARE_SMALL)
#define DECLARE_STAGED(name) extern simt_staged_kernel cutt_##name;
CUTT_STAGED_KERNELS(DECLARE_STAGED)
#define DECLARE_STRETCH(name) extern simt_stretch_kernel cutt_##name;
CUTT_STRETCH_KERNELS(DECLARE_STRETCH)
#define DECLARE_STRIP(name) extern simt_strip_kernel cutt_##name;
CUTT_STRIP_KERNELS(DECLARE_STRIP)

#define DECLARE_COMBINE(name) extern simt_combine_kernel cutt_##name;
CUTT_COMBINE_KERNELS(DECLARE_COMBINE)
CUTT_COMBINE_WIDE_KERNELS(DECLARE_COMBINE)
CUTT_COMBINE_LINE_KERNELS(DECLARE_COMBINE)

#define LIST(name) {cutt_##name, cutt_##name##_batched, NULL, NULL, &cutt_##name##_most_threads},
#define LIST_FLAT(name) {NULL, NULL, cutt_##name, NULL, &cutt_##name##_most_threads},
#define LIST_WINDOWS(name) {NULL, NULL, NULL, cutt_##name, &cutt_##name##_most_threads},
static const struct {
  simt_kernel *kernel;
  simt_batched_kernel *batched;
  simt_flat_kernel *flat;
  simt_window_kernel *windows;
  const uint32_t *most_threads;
} kernels[CUTT_KERNEL_COUNT] = {CUTT_TABLE_KERNELS(LIST) CUTT_FLAT_KERNELS(LIST_FLAT)
                                    CUTT_FLAT_WINDOW_KERNELS(LIST_WINDOWS)};

simt_launch simt_launch_of(const cutt_gpu_launch *launch, const cutt_canonical *canonical, const unsigned char *in,
                           unsigned char *out, bool async) {
  return (simt_launch){
      .kernel = kernels[launch->kernel].kernel,
      .batched = kernels[launch->kernel].batched,
      .in = in + launch->in_start,
      .out = out + launch->out_start,
      .args = &launch->args,
      .flat_kernel = kernels[launch->kernel].flat,
      .flat = kernels[launch->kernel].flat ? &launch->flat : NULL,
      .window_kernel = kernels[launch->kernel].windows,
      .windows = kernels[launch->kernel].windows ? &launch->windows : NULL,
      .blocks = launch->blocks,
      .threads = launch->threads,
      .shared_bytes = launch->shared_bytes,
      .async = async,
      .early = true,
      .read = {in + canonical->in_low, (size_t)(canonical->in_high - canonical->in_low)},
      .write = {out + canonical->out_low, (size_t)(canonical->out_high - canonical->out_low)},
      .reads_out = canonical->scale.active && canonical->scale.reads_out,
      .shared_split = launch->without_tables ? 0 : launch->args.stage_at,
  };
}

#define LIST_PASS(kernel) {.name = "cutt_" #kernel, .pass = cutt_##kernel},
#define LIST_MULTIPLY(kernel) {.name = "cutt_" #kernel, .multiply = cutt_##kernel},
#define LIST_PANEL(kernel) {.name = "cutt_" #kernel, .panel = cutt_##kernel},
#define LIST_CORE(kernel) {.name = "cutt_" #kernel, .core = cutt_##kernel},
#define LIST_COMBINE(kernel) {.name = "cutt_" #kernel, .combine = cutt_##kernel},
#define LIST_SUM(kernel) {.name = "cutt_" #kernel, .sum = cutt_##kernel},
#define LIST_JOIN(kernel) {.name = "cutt_" #kernel, .join = cutt_##kernel},
#define LIST_SMALL(kernel) {.name = "cutt_" #kernel, .small = cutt_##kernel},
#define LIST_STAGED(kernel) {.name = "cutt_" #kernel, .staged = cutt_##kernel},
#define LIST_STRETCH(kernel) {.name = "cutt_" #kernel, .stretch = cutt_##kernel},
#define LIST_STRIP(kernel) {.name = "cutt_" #kernel, .strip = cutt_##kernel},
bool simt_pass_named(const char *name, const void *args, simt_launch *launch) {
  static const struct {
    const char *name;
    simt_pass_kernel *pass;
    simt_multiply_kernel *multiply;
    simt_panel_kernel *panel;
    simt_core_kernel *core;
    simt_combine_kernel *combine;
    simt_sum_kernel *sum;
    simt_join_kernel *join;
    simt_small_kernel *small;
    simt_staged_kernel *staged;
    simt_stretch_kernel *stretch;
    simt_strip_kernel *strip;
  } list[] = {CUTT_PASS_KERNELS(LIST_PASS) CUTT_MULTIPLY_KERNELS(LIST_MULTIPLY) CUTT_PANEL_KERNELS(LIST_PANEL)
                  CUTT_CORE_KERNELS(LIST_CORE) CUTT_COMBINE_KERNELS(LIST_COMBINE)
                      CUTT_COMBINE_WIDE_KERNELS(LIST_COMBINE) CUTT_COMBINE_LINE_KERNELS(LIST_COMBINE)
                          CUTT_SUM_KERNELS(LIST_SUM) CUTT_JOIN_KERNELS(LIST_JOIN) CUTT_SMALL_KERNELS(LIST_SMALL)
                              CUTT_STAGED_KERNELS(LIST_STAGED) CUTT_STRETCH_KERNELS(LIST_STRETCH)
                                  CUTT_STRIP_KERNELS(LIST_STRIP)};
  for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
    if (strcmp(list[i].name, name) != 0) continue;
    launch->pass_kernel = list[i].pass;
    launch->multiply_kernel = list[i].multiply;
    launch->panel_kernel = list[i].panel;
    launch->core_kernel = list[i].core;
    launch->combine_kernel = list[i].combine;
    launch->sum_kernel = list[i].sum;
    launch->join_kernel = list[i].join;
    launch->small_kernel = list[i].small;
    launch->staged_kernel = list[i].staged;
    launch->stretch_kernel = list[i].stretch;
    launch->strip_kernel = list[i].strip;
    if (list[i].pass) launch->pass = args;
    if (list[i].multiply) launch->multiply = args;
    if (list[i].panel) launch->panel = args;
    if (list[i].core) launch->core = args;
    if (list[i].combine) launch->combine = args;
    if (list[i].sum) launch->sum = args;
    if (list[i].join) {
      launch->join = args;
      launch->early = true;
    }
    if (list[i].small) launch->small = args;
    if (list[i].staged) launch->staged = args;
    if (list[i].stretch) launch->stretch = args;
    if (list[i].strip) launch->strip = args;
    return true;
  }
  return false;
}

simt_launch simt_launch_named(const char *name, const void *args, const cutt_pairs *pairs) {
  simt_launch launch = {0};
  for (int i = 0; i < CUTT_KERNEL_COUNT; ++i) {
    const bool tables = i < CUTT_TABLE_KERNEL_COUNT;
    if ((pairs && !tables) || strcmp(name, pairs ? cutt_gpu_batched_name[i] : cutt_gpu_kernel_name[i]) != 0) continue;
    launch.kernel = kernels[i].kernel;
    launch.batched = kernels[i].batched;
    launch.flat_kernel = kernels[i].flat;
    launch.pairs = pairs;
    launch.early = true;
    if (tables) launch.args = args;
    if (tables) launch.shared_split = launch.args->stage_at;
    launch.window_kernel = kernels[i].windows;
    if (launch.flat_kernel) launch.flat = args;
    if (launch.window_kernel) launch.windows = args;
  }
  if (!launch.kernel && !launch.batched && !launch.flat_kernel && !launch.window_kernel)
    simt_pass_named(name, args, &launch);
  return launch;
}

/* -------------------------------------------------------------------------------------------------------- engine */

static const char *param_name(int number) { return cutt_gpu_param_name[number]; }

static int enumerate(const cutt_canonical *canonical, int threads, cutt_candidate *list, int max) {
  (void)threads;
  return cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, canonical, list, max);
}

static bool accept(const cutt_canonical *canonical, const cutt_candidate *candidate, const char **why) {
  return cutt_gpu_accept(device, canonical, candidate, why);
}

/* What beta multiplies is a copy of the output, which is not read. Returns the copy, to be freed. */
static unsigned char *set_apart(const cutt_canonical *canonical, const test_memory *memory, cutt_gpu_launch *launch,
                                simt_launch *asked) {
  const size_t bytes = (size_t)(canonical->out_high - canonical->out_low), shift = (uintptr_t)asked->write.low % 64;
  unsigned char *const room = aligned_alloc(64, (bytes + shift + 63) / 64 * 64), *const second = room + shift;
  if (!room) abort();
  memcpy(second, memory->out + canonical->out_low, bytes);
  launch->args.second = launch->flat.second = (int64_t)((uintptr_t)second - (uintptr_t)asked->write.low);
  asked->reads_out = false;
  asked->read_third = (simt_span){second, bytes};
  return room;
}

static bool run(const cutt_canonical *canonical, const cutt_candidate *candidate, unsigned mode,
                const test_memory *memory, char *error, size_t size) {
  cutt_gpu_launch launch;
  const char *why = "";
  if (!cutt_gpu_lay_out(device, canonical, candidate, cutt_gpu_alignment(memory->in + canonical->in_low),
                        cutt_gpu_alignment(memory->out + canonical->out_low), &launch, &why)) {
    snprintf(error, size, "cutt_gpu_lay_out refuses it: %s", why);
    return false;
  }
  const bool async = device->major >= 8 && !(mode & SIMT_WITHOUT_ASYNC);
  simt_launch asked = simt_launch_of(&launch, canonical, memory->in, memory->out, async);
  if (launch.threads > *kernels[launch.kernel].most_threads) {
    snprintf(error, size, "%s with %u threads; it is compiled for %u", cutt_gpu_kernel_name[launch.kernel],
             launch.threads, *kernels[launch.kernel].most_threads);
    return false;
  }
  if (launch.shared_bytes > (uint32_t)device->block_shared) {
    snprintf(error, size, "%u bytes of shared memory; the device has %d", launch.shared_bytes, device->block_shared);
    return false;
  }
  char fault[768];
  int64_t written;
  unsigned char *const apart = mode & SIMT_SECOND_APART ? set_apart(canonical, memory, &launch, &asked) : NULL;
  const bool ran = simt_run(&asked, &written, NULL, fault, sizeof fault);
  free(apart);
  if (!ran) {
    snprintf(error, size, "%s: %s", cutt_gpu_kernel_name[launch.kernel], fault);
    return false;
  }
  if (written == canonical->volume * canonical->elem_bytes) return true;
  snprintf(error, size, "%s writes %" PRId64 " bytes; %" PRId64 " are the output's",
           cutt_gpu_kernel_name[launch.kernel], written, canonical->volume * canonical->elem_bytes);
  return false;
}

cutt_candidate simt_candidate(const cutt_canonical *canonical, int64_t split_m, int64_t split_k, int threads, bool flat,
                              bool direct) {
  cutt_candidate c;
  memset(&c, 0, sizeof c);
  c.m = c.k = 1;
  c.split_m = split_m;
  c.split_k = split_k;
  c.threads = threads;
  c.param[CUTT_GPU_PARAM_STAGES] = c.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
  c.param[CUTT_GPU_PARAM_FLAT] = flat;
  c.param[CUTT_GPU_PARAM_DIRECT] = direct;
  c.method = cutt_gpu_method(canonical, &c);
  return c;
}

/* Without tables, where the tile is one for that. */
static void make_flat(const cutt_canonical *canonical, cutt_candidate *c) {
  cutt_gpu_tile tile;
  const char *why;
  cutt_candidate flat = *c;
  flat.param[CUTT_GPU_PARAM_FLAT] = flat.param[CUTT_GPU_PARAM_STAGES] = flat.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
  flat.threads = c->threads < CUTT_FLAT_THREADS ? c->threads : CUTT_FLAT_THREADS;
  if (cutt_gpu_tile_derive(canonical, &flat, &tile, &why) &&
      cutt_gpu_flat_takes(canonical, &tile, c->param[CUTT_GPU_PARAM_DIRECT] != 0, &why))
    *c = flat;
}

static cutt_candidate draw_shape(test_rng *rng, const cutt_canonical *canonical) {
  cutt_candidate c;
  memset(&c, 0, sizeof c);
  const int most = canonical->rank < 5 ? canonical->rank : 5;
  c.m = (int)test_random_in(rng, 0, most);
  c.k = (int)test_random_in(rng, 0, most);
  if (test_chance(rng, 25)) { /* runs that both sides have */
    c.k = c.m;
    c.param[CUTT_GPU_PARAM_DIRECT] = test_random_in(rng, 0, 1);
  }
  if (c.m > 0 && test_chance(rng, 60)) c.split_m = test_random_in(rng, 1, canonical->mode[c.m - 1].extent - 1);
  if (c.k > 0 && test_chance(rng, 60))
    c.split_k = test_random_in(rng, 1, canonical->mode[canonical->out_order[c.k - 1]].extent - 1);
  if (c.m > 0 && c.k > 0 && canonical->out_order[c.k - 1] == c.m - 1 && test_chance(rng, 80)) c.split_k = c.split_m;
  if (c.split_m == 0 && c.split_k == 0 && test_chance(rng, 60))
    c.param[CUTT_GPU_PARAM_BATCH] = test_random_in(rng, 0, 100);
  c.threads = (int)(32 * test_random_in(rng, 1, CUTT_BLOCK_THREADS / 32));
  c.param[CUTT_GPU_PARAM_STAGES] = test_random_in(rng, 1, CUTT_STAGES);
  c.param[CUTT_GPU_PARAM_BLOCK_TILES] = test_random_in(rng, 1, test_chance(rng, 50) ? 4 : CUTT_BLOCK_TILES);
  c.method = cutt_gpu_method(canonical, &c);
  if (test_chance(rng, 50)) make_flat(canonical, &c);
  return c;
}

/* Small tiles are many, and each takes all of its block's threads through two barriers. */
static bool slow(const cutt_canonical *canonical, const cutt_candidate *candidate) {
  enum { MOST_WORK = 10000 }; /* tiles times threads */
  cutt_gpu_tile tile;
  const char *why;
  return cutt_gpu_tile_derive(canonical, candidate, &tile, &why) && tile.tiles * candidate->threads > MOST_WORK;
}

/* Tiles of any shape: what the model would not choose must be right too, since wisdom may hold it. */
static cutt_candidate shape(test_rng *rng, const cutt_canonical *canonical, int threads) {
  (void)threads;
  cutt_candidate c = draw_shape(rng, canonical);
  for (int tries = 0; tries < 20 && slow(canonical, &c); ++tries) c = draw_shape(rng, canonical);
  return c;
}

/* Without copies that don't wait; some of them with other stages, tiles of a block and threads. */
static bool vary(const test_problem *problem, int number, int count, int way, cutt_candidate *candidate,
                 unsigned *mode) {
  (void)count;
  test_rng rng = {problem->seed + (uint64_t)number};
  if (way == 1 && device->major >= 8) *mode = SIMT_WITHOUT_ASYNC;
  if (way == 2 && (problem->seed + (uint64_t)number) % 4 == 0) {
    if (candidate->param[CUTT_GPU_PARAM_FLAT]) {
      candidate->threads = (int)(32 * test_random_in(&rng, 1, CUTT_FLAT_THREADS / 32));
      return true;
    }
    candidate->threads = (int)(32 * test_random_in(&rng, 1, CUTT_BLOCK_THREADS / 32));
    candidate->param[CUTT_GPU_PARAM_STAGES] = test_random_in(&rng, 1, CUTT_STAGES);
    candidate->param[CUTT_GPU_PARAM_BLOCK_TILES] = test_random_in(&rng, 1, 6);
  }
  if (way == 3 && (problem->seed + (uint64_t)number) % 4 == 1 && !test_beta_is_zero(problem)) *mode = SIMT_SECOND_APART;
  return way <= 3;
}

const test_engine *simt_engine(const cutt_device *for_device, const char *program) {
  static test_engine engine = {.most_volume = 2500,
                               .aligned_scalars = true,
                               .param_name = param_name,
                               .enumerate = enumerate,
                               .accept = accept,
                               .run = run,
                               .slow = slow,
                               .shape = shape,
                               .vary = vary};
  device = for_device;
  engine.name = for_device->base.name;
  engine.program = program;
  return &engine;
}
