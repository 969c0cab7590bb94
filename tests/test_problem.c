/* What the descriptor interface accepts and refuses: arguments, options, structs, buffers. Outputs that overlap
 * themselves are in test_canonical.c. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/buffers.h"
#include "support/check.h"

static const int64_t extents3[3] = {5, 6, 7};
static const int reversed3[3] = {2, 1, 0};

static cuttProblem_t valid(void) {
  cuttProblem_t p = CUTT_PROBLEM_INIT;
  p.rank = 3;
  p.type = CUTT_F32;
  p.extents = extents3;
  p.perm = reversed3;
  return p;
}

static cuttResult create(const cuttProblem_t *p, const cuttOptions_t *options) {
  cuttPlan_t plan = (cuttPlan_t)(uintptr_t)1; /* must be set to NULL by a failure */
  cuttResult result = cuttPlanCreate(&plan, p, options);
  if (result == CUTT_SUCCESS) {
    assert_non_null(plan);
    assert_int_equal(cuttPlanDestroy(plan), CUTT_SUCCESS);
  } else {
    assert_null(plan);
  }
  return result;
}

/* ------------------------------------------------------------------------------------------------ refusals */

static void refuses_bad_rank_and_type(void **unused) {
  (void)unused;
  cuttProblem_t p = valid();
  cuttPlan_t plan;
  assert_success(create(&p, NULL));
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanCreate(NULL, &p, NULL), "plan", "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanCreate(&plan, NULL, NULL), "problem", "NULL");
  p.rank = -1;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "rank", "-1", "64");
  p.rank = 65;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "rank", "65", "64");
  p.rank = INT_MAX;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "rank");
  static const int types[] = {0, 3, 5, 7, 12, 17, 31, 40, 41, 1000, -1, -32, INT_MAX, INT_MIN};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    char value[16];
    snprintf(value, sizeof value, "%d", types[i]);
    p = valid();
    memcpy(&p.type, &types[i], sizeof p.type);
    assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "type");
  }
  p = valid();
  p.extents = NULL;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "extents", "NULL");
  p = valid();
  p.perm = NULL;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "perm", "NULL");
}

static void refuses_bad_extents_and_perm(void **unused) {
  (void)unused;
  cuttProblem_t p = valid();
  int64_t extents[3] = {5, -6, 7};
  int perm[3] = {0, 3, 1};
  p.extents = extents;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "extents[1]", "-6", "0");
  extents[1] = INT64_MIN;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "extents[1]");
  extents[0] = 0; /* an empty tensor does not excuse the rest */
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "extents[1]");
  p = valid();
  p.perm = perm;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "perm[1]", "3", "0", "2");
  perm[1] = -1;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "perm[1]", "-1");
  perm[1] = 1;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "perm[2]", "1");
  perm[1] = INT_MIN;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "perm[1]");
}

static void refuses_what_overflows(void **unused) {
  (void)unused;
  cuttProblem_t p = valid();
  int64_t extents[3] = {INT64_C(1) << 31, INT64_C(1) << 31, 4};
  int64_t strides[3] = {1, 7, INT64_MAX / 2};
  p.extents = extents;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "extents");
  extents[2] = 1; /* 2^62 elements, but 2^64 bytes */
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), NULL);
  extents[0] = INT64_MAX;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), NULL);
  for (int side = 0; side < 2; side++) {
    const char *name = side ? "out_strides" : "in_strides";
    p = valid();
    if (side)
      p.out_strides = strides;
    else
      p.in_strides = strides;
    strides[2] = INT64_MAX / 2;
    assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), name);
    strides[2] = INT64_MIN;
    assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), name);
    strides[2] = INT64_MIN / 8;
    assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), name);
    strides[2] = INT64_MAX / 16;
    assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), name);
    strides[2] = INT64_MAX / 32; /* 6 steps of it, 4 bytes each, are within the range */
    assert_success(create(&p, NULL));
    strides[2] = -INT64_MAX / 32;
    assert_success(create(&p, NULL));
  }
}

static void accepts_any_stride_of_extent_1(void **unused) {
  (void)unused;
  static const int64_t ones[3] = {1, 6, 1};
  static const int64_t strides[3] = {INT64_MIN, 1, INT64_MAX};
  cuttProblem_t p = valid();
  float in[6], out[6] = {0};
  test_fill_numbers(in, sizeof in, CUTT_F32, 1);
  p.extents = ones;
  p.in_strides = p.out_strides = strides;
  assert_success(cuttPermute(&p, NULL, in, out, NULL));
  assert_memory_equal(in, out, sizeof in);
}

static void refuses_scalars_that_do_not_fit(void **unused) {
  (void)unused;
  static const cuttType_t moved[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
  const double one[2] = {1.0, 0.0};
  for (int i = 0; i < 5; i++) {
    cuttProblem_t p = valid();
    p.type = moved[i];
    p.alpha = one;
    assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "alpha");
    p.alpha = NULL;
    p.beta = one;
    assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "beta");
    p.beta = NULL;
    p.conjugate = 1;
    assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "conjugate");
  }
  cuttProblem_t p = valid();
  p.conjugate = 1;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "conjugate", "f32");
  p.type = CUTT_I64;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, NULL), "conjugate");
  p.type = CUTT_C64;
  assert_success(create(&p, NULL));
}

static void refuses_bad_options(void **unused) {
  (void)unused;
  static float buffer[2 * 5 * 6 * 7];
  const cuttProblem_t p = valid();
  const cuttOptions_t fresh = CUTT_OPTIONS_INIT;
  cuttOptions_t o = fresh;
  assert_success(create(&p, &o));
  o.threads = -1;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, &o), "threads", "-1");
  o = fresh;
  o.backend = (cuttBackend_t)77;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, &o), "backend", "77");
  o = fresh;
  o.choice = (cuttChoice_t)9;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, &o), "choice", "9");
  static const double seconds[] = {-1.0, -0.5, (double)NAN, (double)INFINITY, -(double)INFINITY};
  for (int i = 0; i < 5; i++) {
    o = fresh;
    o.measure_seconds = seconds[i];
    assert_result(CUTT_INVALID_PARAMETER, create(&p, &o), "measure_seconds");
  }
  o = fresh;
  o.choice = CUTT_MEASURE;
  o.measure_in = buffer;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, &o), "measure_in", "measure_out");
  o.measure_in = NULL;
  o.measure_out = buffer;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, &o), "measure_in", "measure_out");
  o.measure_in = buffer + 1;
  assert_result(CUTT_INVALID_PARAMETER, create(&p, &o), "measure_in", "overlap");
  o.measure_in = buffer + 5 * 6 * 7;
  assert_success(create(&p, &o));
}

/* ------------------------------------------------------------------------------------------------ structs that grow */

static void structs_may_grow(void **unused) {
  (void)unused;
  struct {
    cuttProblem_t known;
    unsigned char beyond[64];
  } p;
  memset(&p, 0, sizeof p);
  p.known = valid();
  /* The last ones end inside a field that they do not have whole. */
  static const size_t wrong[] = {0, 1, 8, SIZE_MAX, SIZE_MAX / 2, sizeof p.known + 1, sizeof p.known + 4};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    p.known.struct_size = wrong[i];
    assert_result(CUTT_INVALID_PARAMETER, create(&p.known, NULL), "struct_size");
  }
  p.known.struct_size = sizeof p; /* a newer caller, who uses nothing new */
  assert_success(create(&p.known, NULL));
  p.beyond[63] = 1; /* and one who does */
  assert_result(CUTT_INVALID_PARAMETER, create(&p.known, NULL), "struct_size");
  p.known.struct_size = sizeof p.known;
  assert_success(create(&p.known, NULL));

  struct {
    cuttOptions_t known;
    unsigned char beyond[64];
  } o;
  memset(&o, 0, sizeof o);
  o.known = (cuttOptions_t)CUTT_OPTIONS_INIT;
  static const size_t wrong_options[] = {0, 1, 8, SIZE_MAX, sizeof o.known - 1, sizeof o.known - 4, sizeof o.known + 4};
  for (size_t i = 0; i < sizeof wrong_options / sizeof *wrong_options; i++) {
    o.known.struct_size = wrong_options[i];
    assert_result(CUTT_INVALID_PARAMETER, create(&p.known, &o.known), "struct_size");
  }
  o.known.struct_size = sizeof o;
  assert_success(create(&p.known, &o.known));
  o.beyond[0] = 1;
  assert_result(CUTT_INVALID_PARAMETER, create(&p.known, &o.known), "struct_size");
}

static void info_has_a_size(void **unused) {
  (void)unused;
  const cuttProblem_t p = valid();
  cuttPlan_t plan;
  cuttPlanInfo_t info;
  assert_success(cuttPlanCreate(&plan, &p, NULL));
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanGetInfo(plan, NULL), "info", "NULL");
  memset(&info, 0, sizeof info);
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanGetInfo(plan, &info), "struct_size", "0");
  info.struct_size = sizeof info + 4;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanGetInfo(plan, &info), "struct_size");
  info.struct_size = sizeof info;
  assert_success(cuttPlanGetInfo(plan, &info));
  assert_int_equal(info.backend, CUTT_BACKEND_CPU);
  assert_int_equal(info.struct_size, sizeof info);
  assert_int_equal(info.fused_rank, 3);
  assert_int_equal(info.fused_elem_bytes, 4);
  assert_int_equal(info.bytes_moved, 2 * 4 * 5 * 6 * 7);
  assert_true(info.measured_seconds == 0.0);
  assert_success(cuttPlanDestroy(plan));
  assert_result(CUTT_INVALID_PLAN, cuttPlanGetInfo(NULL, &info), "plan");
  assert_result(CUTT_INVALID_PLAN, cuttPlanExecute(NULL, &p, &info, NULL), "plan");
  assert_success(cuttPlanDestroy(NULL));
}

/* ------------------------------------------------------------------------------------------------ degenerate ranks */

static void no_elements(void **unused) {
  (void)unused;
  static const int64_t with_zero[][3] = {{0, 6, 7}, {5, 0, 7}, {5, 6, 0}, {0, 0, 0}, {0, INT64_MAX, INT64_MAX}};
  for (int i = 0; i < 4; i++) {
    cuttProblem_t p = valid();
    cuttPlan_t plan;
    float untouched = 42.0f;
    p.extents = with_zero[i];
    assert_success(cuttPlanCreate(&plan, &p, NULL));
    assert_success(cuttPlanExecute(plan, NULL, NULL, NULL)); /* nothing to read or write: no pointer is needed */
    assert_success(cuttPlanExecute(plan, &untouched, &untouched, NULL));
    assert_true(untouched == 42.0f);
    cuttPlanInfo_t info = {.struct_size = sizeof info};
    assert_success(cuttPlanGetInfo(plan, &info));
    assert_int_equal(info.bytes_moved, 0);
    size_t needed = 0;
    assert_success(cuttPlanDescribe(plan, CUTT_JSON, NULL, 0, &needed));
    assert_true(needed > 1);
    assert_success(cuttPlanDestroy(plan));
    cuttOptions_t measure = CUTT_OPTIONS_INIT;
    measure.choice = CUTT_MEASURE;
    assert_success(create(&p, &measure));
  }
}

static void rank_0_is_one_element(void **unused) {
  (void)unused;
  cuttProblem_t p = CUTT_PROBLEM_INIT;
  const double in = 3.0, alpha = 2.0, beta = 10.0;
  double out = 1.0;
  p.type = CUTT_F64;
  assert_success(cuttPermute(&p, NULL, &in, &out, NULL));
  assert_true(out == 3.0);
  p.alpha = &alpha;
  p.beta = &beta;
  assert_success(cuttPermute(&p, NULL, &in, &out, NULL));
  assert_true(out == 36.0);
  for (int i = 0; i < 5; i++) {
    test_problem one = test_packed((cuttType_t)(1 << i), 0, NULL, NULL);
    one.in_at = one.out_at = TEST_AT_END;
    test_check(&one, TEST_ALL);
  }
}

static void all_extents_1(void **unused) {
  (void)unused;
  static const int ranks[] = {1, 2, 32, 64};
  for (size_t i = 0; i < 4; i++) {
    int64_t extents[64];
    int perm[64];
    for (int j = 0; j < ranks[i]; j++) extents[j] = 1, perm[j] = ranks[i] - 1 - j;
    for (int t = 0; t < 5; t++) {
      test_problem p = test_packed((cuttType_t)(1 << t), ranks[i], extents, perm);
      test_check(&p, TEST_ALL);
    }
  }
}

static void high_ranks(void **unused) {
  (void)unused;
  static const int ranks[] = {32, 64};
  for (size_t i = 0; i < 2; i++) {
    int64_t extents[64];
    int perm[64];
    const int rank = ranks[i];
    for (int j = 0; j < rank; j++) {
      extents[j] = j % (rank / 16) == 0 ? 2 : 1; /* 16 modes that count */
      perm[j] = rank - 1 - j;
    }
    test_problem p = test_packed(CUTT_BYTES_4, rank, extents, perm);
    test_check(&p, TEST_ALL);
    /* Strides in both tensors that let nothing fuse. */
    p.in_strided = p.out_strided = true;
    int64_t in_stride = 1, out_stride = 1;
    for (int j = 0; j < rank; j++) {
      p.in_strides[j] = in_stride;
      p.out_strides[j] = out_stride;
      if (extents[j] == 2) in_stride = in_stride * 2 + (j < rank / 2);
      if (extents[perm[j]] == 2) out_stride = out_stride * 2 + (j > rank / 2);
    }
    test_check(&p, TEST_ALL);
  }
}

/* ------------------------------------------------------------------------------------------------ overlapping buffers */

static void overlapping_buffers_are_refused(void **unused) {
  (void)unused;
  enum { VOLUME = 5 * 6 * 7 };
  static float buffer[3 * VOLUME + 4];
  const cuttProblem_t p = valid();
  cuttPlan_t plan;
  assert_success(cuttPlanCreate(&plan, &p, NULL));
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, NULL, buffer, NULL), "in", "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, buffer, NULL, NULL), "out", "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, buffer, buffer, NULL), "overlap");
  float *middle = buffer + VOLUME + 2;
  for (int shift = -VOLUME; shift <= VOLUME; shift++) {
    cuttResult wanted = shift > -VOLUME && shift < VOLUME ? CUTT_INVALID_PARAMETER : CUTT_SUCCESS;
    assert_int_equal(cuttPlanExecute(plan, middle, middle + shift, NULL), wanted);
    assert_int_equal(cuttPlanExecute(plan, middle + shift, middle, NULL), wanted);
  }
  const char *bytes = (const char *)middle; /* a single byte is too much */
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, bytes - 4 * VOLUME + 1, middle, NULL), "overlap");
  assert_success(cuttPlanExecute(plan, bytes - 4 * VOLUME - 1, middle, NULL));
  assert_success(cuttPlanDestroy(plan));
}

/* Spans count from element (0, ..., 0) in both directions. */
static void overlap_knows_negative_strides(void **unused) {
  (void)unused;
  static const int64_t ten[1] = {10}, back[1] = {-1};
  static const int perm[1] = {0};
  static double buffer[40];
  cuttProblem_t p = CUTT_PROBLEM_INIT;
  cuttPlan_t plan;
  p.rank = 1;
  p.type = CUTT_F64;
  p.extents = ten;
  p.perm = perm;
  p.in_strides = back; /* elements 11 .. 20 of buffer when it points to 20 */
  assert_success(cuttPlanCreate(&plan, &p, NULL));
  for (int at = 0; at <= 30; at++) {
    bool overlap = at + 9 >= 11 && at <= 20;
    for (int i = 0; i < 40; i++) buffer[i] = i;
    assert_int_equal(cuttPlanExecute(plan, buffer + 20, buffer + at, NULL),
                     overlap ? CUTT_INVALID_PARAMETER : CUTT_SUCCESS);
    for (int i = 0; i < 10 && !overlap; i++) assert_true(buffer[at + i] == 20 - i);
  }
  assert_success(cuttPlanDestroy(plan));
}

static void identity_in_place(void **unused) {
  (void)unused;
  enum { VOLUME = 5 * 6 * 7 };
  static const int identity[3] = {0, 1, 2};
  static const int64_t gaps[3] = {2, 11, 70};
  const float two = 2.0f, three = 3.0f;
  for (int strided = 0; strided < 2; strided++) {
    static float data[500], before[500];
    cuttProblem_t p = valid();
    p.perm = identity;
    if (strided) p.in_strides = p.out_strides = gaps;
    test_fill_numbers(before, sizeof before, CUTT_F32, 7);
    memcpy(data, before, sizeof data);
    assert_success(cuttPermute(&p, NULL, data, data, NULL));
    assert_memory_equal(data, before, sizeof data);
    assert_result(CUTT_INVALID_PARAMETER, cuttPermute(&p, NULL, data, data + 1, NULL), "overlap");
    p.alpha = &two;
    p.beta = &three;
    assert_success(cuttPermute(&p, NULL, data, data, NULL));
    int changed = 0;
    for (int i = 0; i < 500; i++) {
      if (data[i] == 5.0f * before[i] || fabsf(data[i] - 5.0f * before[i]) <= 2e-6f * fabsf(before[i]))
        changed++;
      else
        assert_true(data[i] == before[i]);
    }
    assert_int_equal(changed, VOLUME);
  }
  /* Identity permutation but other strides is no identity. */
  static float data[500];
  cuttProblem_t p = valid();
  p.perm = identity;
  p.in_strides = gaps;
  assert_result(CUTT_INVALID_PARAMETER, cuttPermute(&p, NULL, data, data, NULL), "overlap");
  /* Strides that undo the permutation make it one. */
  static const int64_t undone[3] = {30, 5, 1};
  p = valid();
  p.out_strides = undone;
  assert_success(cuttPermute(&p, NULL, data, data, NULL));
}

static void stream_is_for_gpus(void **unused) {
  (void)unused;
  static float in[5 * 6 * 7], out[5 * 6 * 7];
  const cuttProblem_t p = valid();
  assert_result(CUTT_INVALID_PARAMETER, cuttPermute(&p, NULL, in, out, (cudaStream_t)(uintptr_t)8), "stream", "NULL");
}

/* What the problem points to may change once the plan is there. */
static void nothing_is_kept(void **unused) {
  (void)unused;
  int64_t extents[2] = {3, 4}, strides[2] = {1, 3};
  int perm[2] = {1, 0};
  float alpha = 2.0f, in[12], out[12];
  cuttProblem_t p = CUTT_PROBLEM_INIT;
  cuttPlan_t plan;
  p.rank = 2;
  p.type = CUTT_F32;
  p.extents = extents;
  p.perm = perm;
  p.in_strides = strides;
  p.alpha = &alpha;
  for (int i = 0; i < 12; i++) in[i] = (float)i;
  assert_success(cuttPlanCreate(&plan, &p, NULL));
  extents[0] = extents[1] = strides[0] = strides[1] = 1000;
  perm[0] = perm[1] = 9;
  alpha = 77.0f;
  memset(&p, 0xff, sizeof p);
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) assert_true(out[j + 4 * i] == 2.0f * in[i + 3 * j]);
  assert_success(cuttPlanDestroy(plan));
}

/* ------------------------------------------------------------------------------------------------ large spans */

/* Few elements, far apart: 2^33 bytes and more between them. The pages in between are never touched. */
static void spans_beyond_32_bits(void **unused) {
  (void)unused;
  const size_t span = (size_t)10 << 30;
  unsigned char *in = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  unsigned char *out = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (in == MAP_FAILED || out == MAP_FAILED) {
    puts("left out: the system has no 20 GB of addresses to give");
    if (in != MAP_FAILED) munmap(in, span);
    if (out != MAP_FAILED) munmap(out, span);
    return;
  }
  for (size_t bytes = 1; bytes <= 16; bytes *= 2) {
    const int64_t far = (INT64_C(1) << 32) / (int64_t)bytes;
    const int64_t extents[3] = {20, 3,
                                2}; /* 20 side by side, 3 rows of them 2^32 - and a bit - bytes apart, 2 planes */
    const int perm[3] = {1, 2, 0};
    test_problem p = test_packed((cuttType_t)bytes, 3, extents, perm);
    p.in_strided = p.out_strided = true;
    p.in_strides[1] = far + 33;
    p.in_strides[2] = 4099;
    p.out_strides[0] = 77777;
    p.out_strides[1] = far * 2 - 5;
    p.out_strides[2] = 1;
    for (int64_t i = 0; i < 6; i++) {
      const int64_t at = i % 3 * p.in_strides[1] + i / 3 * p.in_strides[2];
      test_fill_bits(in + at * (int64_t)bytes, 20 * bytes, bytes, (uint64_t)i + bytes);
    }
    const cuttProblem_t view = test_problem_view(&p);
    assert_success(cuttPermute(&view, NULL, in, out, NULL));
    for (int64_t a = 0; a < 20; a++)
      for (int64_t b = 0; b < 3; b++)
        for (int64_t c = 0; c < 2; c++)
          assert_memory_equal(in + (a + b * p.in_strides[1] + c * p.in_strides[2]) * (int64_t)bytes,
                              out + (b * p.out_strides[0] + c * p.out_strides[1] + a) * (int64_t)bytes, bytes);
  }
  munmap(in, span);
  munmap(out, span);
}

static int cleanup(void **unused) {
  (void)unused;
  test_try_cleanup();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_bad_rank_and_type),
      cmocka_unit_test(refuses_bad_extents_and_perm),
      cmocka_unit_test(refuses_what_overflows),
      cmocka_unit_test(accepts_any_stride_of_extent_1),
      cmocka_unit_test(refuses_scalars_that_do_not_fit),
      cmocka_unit_test(refuses_bad_options),
      cmocka_unit_test(structs_may_grow),
      cmocka_unit_test(info_has_a_size),
      cmocka_unit_test(no_elements),
      cmocka_unit_test(rank_0_is_one_element),
      cmocka_unit_test(all_extents_1),
      cmocka_unit_test(high_ranks),
      cmocka_unit_test(overlapping_buffers_are_refused),
      cmocka_unit_test(overlap_knows_negative_strides),
      cmocka_unit_test(identity_in_place),
      cmocka_unit_test(stream_is_for_gpus),
      cmocka_unit_test(nothing_is_kept),
      cmocka_unit_test(spans_beyond_32_bits),
  };
  return cmocka_run_group_tests_name("problem", tests, NULL, cleanup);
}
