/* The kernels without tables that compute alpha * op(x) + beta * y, each by name under the emulator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/flat.h"
#include "simt/engine.h"
#include "support/buffers.h"
#include "support/check.h"
#include "support/reference.h"

static const cutt_device *device = &simt_h200;

/* Each kernel with alpha and beta: name ending, extents, and what makes it that kernel. Extents are of bytes in the first mode
 * where it is one that both sides have. */
typedef struct sum_case {
  const char *kernel; /* with %s for the type */
  int rank, perm[4];
  int64_t extents[4];
  int64_t split_m, split_k;
  bool of_bytes;             /* the first extent is in bytes */
  int direct, in_at, out_at; /* -1: aligned to elements alone */
  uint32_t joined;
  int64_t widest; /* bytes of an element that it is for; negative: of the narrowest; 0: all */
} sum_case;
static const sum_case sum_cases[] = {
    {"add_%s", 3, {2, 1, 0}, {7, 9, 11}, 3, 4, false, 0, 0, 0, 0, 0},
    {"add_%s", 2, {1, 0}, {64, 96}, 48, 0, false, 0, 0, -1, 0, 0},
    {"add_%sw", 2, {1, 0}, {64, 96}, 48, 32, false, 0, 0, 0, 0, -4},
    {"add_%sw", 3, {1, 2, 0}, {16, 48, 8}, 0, 16, false, 0, 0, 0, 0, -4},
    {"add_%sw", 2, {1, 0}, {64, 96}, 48, 32, false, 0, 0, 4, 0, 2},
    {"add_%sv", 2, {1, 0}, {64, 96}, 48, 32, false, 0, 0, 0, 0, 2},
    {"add_%sv", 3, {1, 2, 0}, {16, 480, 8}, 0, 160, false, 0, 0, 0, 0, 2},
    {"add_%sv", 2, {1, 0}, {1600, 16}, 400, 0, false, 0, 0, 0, 0, 2},
    {"add_%sq", 3, {0, 2, 1}, {16, 24, 20}, 16, 0, true, 0, 0, 0, 0, 0},
    {"add_%sq", 3, {0, 2, 1}, {16, 3, 333}, 0, 64, true, 0, 0, 0, CUTT_FLAT_ROWS, 0},
    {"add_%sq", 3, {0, 2, 1}, {16, 333, 3}, 64, 0, true, 0, 0, 0, CUTT_FLAT_COLUMNS, 0},
    {"add_%sq", 4, {0, 2, 1, 3}, {16, 3, 20, 5}, 0, 0, true, 0, 0, 0, CUTT_FLAT_ROWS, 0},
    /* One side is one range: columns that 16 bytes, or words, divide, tiles and ranges that end in a part of one, several modes,
     * and buffers that are aligned to elements alone. */
    {"in_add_%s", 2, {1, 0}, {3, 256}, 0, 64, false, 0, 0, 0, CUTT_FLAT_ROWS, 0},
    {"in_add_%s", 3, {1, 0, 2}, {3, 48, 5}, 0, 0, false, 0, 0, 0, CUTT_FLAT_ROWS, 0},
    {"in_add_%s", 2, {1, 0}, {5, 3000}, 0, 1000, false, 0, 8, 0, CUTT_FLAT_ROWS, 0},
    {"in_add_%s", 2, {1, 0}, {6, 96}, 0, 64, false, 0, 0, 0, CUTT_FLAT_ROWS, 2},
    {"in_add_%s", 2, {1, 0}, {2, 96}, 0, 64, false, 0, 0, 0, CUTT_FLAT_ROWS, 4},
    {"in_add_%sw", 2, {1, 0}, {3, 250}, 0, 64, false, 0, 4, 4, CUTT_FLAT_ROWS, 2},
    {"add_%s", 2, {1, 0}, {3, 333}, 0, 64, false, 0, 0, 0, CUTT_FLAT_ROWS, 0},
    {"add_%s", 2, {1, 0}, {3, 200}, 0, 0, false, 0, 0, -1, CUTT_FLAT_ROWS, 0},
    {"out_add_%s", 2, {1, 0}, {256, 3}, 64, 0, false, 0, 0, 0, CUTT_FLAT_COLUMNS, 0},
    {"out_add_%s", 2, {1, 0}, {333, 3}, 64, 0, false, 0, 0, 0, CUTT_FLAT_COLUMNS, 0},
    {"out_add_%s", 2, {1, 0}, {2000, 5}, 0, 0, false, 0, 4, 0, CUTT_FLAT_COLUMNS, 4},
    {"add_%s", 2, {1, 0}, {2000, 5}, 400, 0, false, 0, 0, 8, CUTT_FLAT_COLUMNS, 0},
    {"add_%s", 3, {1, 0, 2}, {200, 3, 5}, 0, 0, false, 0, -1, -1, CUTT_FLAT_COLUMNS, 0},
    {"sum_%s", 3, {0, 2, 1}, {24, 20, 7}, 0, 0, true, 1, 0, 0, 0, 0},
    {"sum_%s", 3, {0, 2, 1}, {2104, 20, 7}, 0, 0, true, 1, 8, 0, 0, 8},
    {"sum_%s", 3, {0, 2, 1}, {1032, 20, 7}, 0, 0, true, 1, 4, 8, 0, 4},
    {"sum_%ss", 3, {0, 2, 1}, {514, 20, 7}, 0, 0, true, 1, 2, 0, 0, 2},
    {"sum_%ss", 4, {0, 2, 3, 1}, {10, 20, 7, 3}, 0, 0, true, 1, 0, 2, 0, 2},
    {"sum_%sv", 3, {0, 2, 1}, {48, 20, 8}, 0, 0, true, 1, 0, 0, 0, 0},
    {"sum_%sv", 1, {0}, {4096}, 256, 256, false, 1, 0, 0, 0, 0}};
static const struct {
  const char *name;
  cuttType_t type;
} sum_types[] = {{"f16", CUTT_F16}, {"bf16", CUTT_BF16}, {"f32", CUTT_F32}, {"i32", CUTT_I32},
                 {"f64", CUTT_F64}, {"c32", CUTT_C32},   {"i64", CUTT_I64}, {"c64", CUTT_C64}};
static const sum_case async_sums[] = {{"add_%sa", 2, {1, 0}, {128, 96}, 32, 32, false, 0, 0, 0, 0, 0},
                                      {"add_%sa", 2, {1, 0}, {200, 136}, 96, 72, false, 0, 0, 0, 0, 8},
                                      {"add_%sa", 2, {1, 0}, {50, 34}, 24, 10, false, 0, 0, 0, 0, -16},
                                      {"add_%sa", 3, {1, 0, 2}, {48, 72, 3}, 0, 0, false, 0, 0, 0, 0, 0},
                                      {"add_%sa", 2, {1, 0}, {288, 40}, 32, 8, false, 0, 0, 0, 0, 0},
                                      {"add_%sa", 2, {1, 0}, {16, 96}, 0, 32, false, 0, 0, 0, 0, 4},
                                      {"add_%sa", 2, {1, 0}, {8, 96}, 0, 32, false, 0, 0, 0, 0, -8},
                                      {"add_%sw", 2, {1, 0}, {40, 96}, 20, 32, false, 0, 0, 0, 0, 8},
                                      {"add_%sqa", 3, {0, 2, 1}, {16, 96, 40}, 24, 0, true, 0, 0, 0, 0, 0}};
enum { ASYNC_SUMS = sizeof async_sums / sizeof *async_sums };
enum { SUM_CASES = sizeof sum_cases / sizeof *sum_cases, SUM_TYPES = sizeof sum_types / sizeof *sum_types };

static test_scalar number_of(cuttType_t type, int n) {
  test_scalar s = {.raw = {0}};
  if (type == CUTT_I32) {
    s.i32 = n;
  } else if (type == CUTT_I64) {
    s.i64 = n;
  } else if (type == CUTT_F64 || type == CUTT_C64) {
    s.f64[0] = n + 0.25;
    s.f64[1] = n - 0.5; /* of complex numbers */
  } else {
    s.f32[0] = (float)n + 0.25F;
    s.f32[1] = (float)n - 0.5F;
  }
  return s;
}

static bool of_kernel(const cutt_gpu_launch *launch, const sum_case *f, const char *type) {
  char name[64];
  size_t at = (size_t)snprintf(name, sizeof name, "cutt_flat_");
  for (const char *k = f->kernel; *k; ++k) {
    if (k[0] == '%') {
      at += (size_t)snprintf(name + at, sizeof name - at, "%s", type);
      ++k;
    } else {
      name[at++] = *k;
      name[at] = 0;
    }
  }
  return strcmp(cutt_gpu_kernel_name[launch->kernel], name) == 0;
}

/* alpha and beta, alpha alone, conjugated, and beta times what is not the output, which is not read then; true: by the kernel of the
 * case. */
enum { APART = 3 };
static bool run_sum(const sum_case *f, int t, int variant, bool *used) {
  const cuttType_t type = sum_types[t].type;
  const int64_t width = (int64_t)test_type_bytes(type);
  int64_t extents[4];
  memcpy(extents, f->extents, sizeof extents);
  if (f->of_bytes) extents[0] /= width;
  test_problem problem = test_packed(type, f->rank, extents, f->perm);
  problem.has_alpha = true;
  problem.alpha = number_of(type, 3);
  problem.has_beta = variant == 0 || variant == APART;
  problem.beta = number_of(type, -2);
  problem.conjugate = variant == 2;
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_canonical canonical;
  cutt_gpu_launch launch;
  const char *why = "";
  char error[768];
  assert_success(cutt_canonicalize(&view, &canonical));
  const cutt_candidate candidate = simt_candidate(&canonical, f->split_m, f->split_k, 64, true, f->direct != 0);
  const size_t bytes = (size_t)(canonical.volume * canonical.elem_bytes), room = (bytes + 32 + 15) / 16 * 16;
  unsigned char *from = aligned_alloc(16, room), *to = aligned_alloc(16, room), *expected = malloc(bytes);
  unsigned char *second = aligned_alloc(16, room);
  assert_true(from && to && expected && second);
  const size_t in_at = f->in_at < 0 ? (size_t)width % 16 : (size_t)f->in_at,
               out_at = f->out_at < 0 ? (size_t)width % 16 : (size_t)f->out_at;
  test_fill_numbers(from, room, type, 7);
  test_fill_numbers(to, room, type, 8);
  memcpy(expected, to + out_at, bytes);
  test_reference(&problem, from + in_at, expected);
  if (!cutt_gpu_lay_out(device, &canonical, &candidate, cutt_gpu_alignment(from + in_at),
                        cutt_gpu_alignment(to + out_at), &launch, &why))
    fail_msg("%s of %s: %s", f->kernel, sum_types[t].name, why);
  /* Elements of 16 bytes are as wide as any, whatever a case is there for. */
  if (width < 16) assert_int_equal(launch.flat.joined, f->joined);
  simt_launch asked = simt_launch_of(&launch, &canonical, from + in_at, to + out_at, true);
  if (variant == APART) {
    memcpy(second, to, room);
    memset(to, 0xff, room);
    launch.flat.second = launch.args.second = (int64_t)((uintptr_t)second - (uintptr_t)to);
    asked.reads_out = false;
    asked.read_third = (simt_span){second + out_at, bytes};
  }
  int64_t written;
  if (!simt_run(&asked, &written, NULL, error, sizeof error))
    fail_msg("%s of %s: %s", f->kernel, sum_types[t].name, error);
  assert_int_equal(written, bytes);
  assert_memory_equal(to + out_at, expected, bytes);
  free(from);
  free(to);
  free(expected);
  free(second);
  used[launch.kernel] = true;
  return of_kernel(&launch, f, sum_types[t].name);
}

static void alpha_and_beta(void **unused) {
  (void)unused;
  bool used[CUTT_KERNEL_COUNT] = {false};
  for (int t = 0; t < SUM_TYPES; ++t) {
    const cuttType_t type = sum_types[t].type;
    const bool is_complex = type == CUTT_C32 || type == CUTT_C64;
    for (int i = 0; i < SUM_CASES; ++i) {
      const int64_t width = (int64_t)test_type_bytes(type);
      if (sum_cases[i].of_bytes && sum_cases[i].extents[0] < 2 * width) continue;
      if (sum_cases[i].widest > 0 && sum_cases[i].widest < width) continue;
      if (sum_cases[i].widest < 0 && -sum_cases[i].widest > width) continue;
      for (int variant = 0; variant <= APART; ++variant) {
        if (variant == 2 && !is_complex) continue;
        /* Elements of 16 bytes are as wide as any, whatever a case is there for. */
        if (!run_sum(&sum_cases[i], t, variant, used) && type != CUTT_C64)
          fail_msg("%s of %s is done by another kernel", sum_cases[i].kernel, sum_types[t].name);
      }
    }
  }
  for (int k = CUTT_KERNEL_flat_add_f16; k < (int)CUTT_KERNEL_flat_2a; ++k) {
    if (!used[k]) fail_msg("%s is not tested", cutt_gpu_kernel_name[k]);
  }
}

/* Of tensors that L2 does not hold, rows by asynchronous copies. */
static void asynchronous_rows(void **unused) {
  (void)unused;
  cutt_device small = simt_h200;
  bool used[CUTT_KERNEL_COUNT] = {false};
  small.l2_bytes = 1;
  device = &small;
  for (int t = 0; t < SUM_TYPES; ++t) {
    const cuttType_t type = sum_types[t].type;
    const int64_t width = (int64_t)test_type_bytes(type);
    const bool is_complex = type == CUTT_C32 || type == CUTT_C64;
    for (int i = 0; i < ASYNC_SUMS; ++i) {
      if (async_sums[i].of_bytes ? width == 16 : width < 4) continue; /* 16 bytes together; elements alone */
      if (async_sums[i].widest > 0 && async_sums[i].widest < width) continue;
      if (async_sums[i].widest < 0 && -async_sums[i].widest > width) continue;
      for (int variant = 0; variant <= APART; ++variant) {
        if (variant == 2 && !is_complex) continue;
        if (!run_sum(&async_sums[i], t, variant, used))
          fail_msg("%s of %s is done by another kernel", async_sums[i].kernel, sum_types[t].name);
      }
    }
  }
  for (int k = CUTT_KERNEL_flat_2a; k < CUTT_KERNEL_COUNT; ++k) {
    if (!used[k] && strstr(cutt_gpu_kernel_name[k], "flat_add")) fail_msg("%s is not tested", cutt_gpu_kernel_name[k]);
  }
  device = &simt_h200;
}

static int cleanup(void **unused) {
  (void)unused;
  simt_cleanup();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(alpha_and_beta), cmocka_unit_test(asynchronous_rows)};
  return cmocka_run_group_tests_name("kernels without tables, with alpha and beta", tests, NULL, cleanup);
}
