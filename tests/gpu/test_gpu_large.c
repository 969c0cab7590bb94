/* Tensors of more than 2^31 and 2^32 elements and bytes in a GPU's memory, where a 32-bit index anywhere would show.
 *
 * The input is made on the device: a block of distinct elements whose length is a prime, copied behind itself until the
 * tensor is full. So an element follows from its index modulo that prime, and an index that is off by a power of two, or
 * by anything but the prime, gives another element. Of the output 1 MB blocks are fetched and compared, element by
 * element: those around each power of two from 2^31 on, in elements and in bytes, the first, the last, and 100 others.
 * The output held poison before, which no input element is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/driver.h"
#include "support/buffers.h"

enum { PERIOD = 1048573, POISON = 0xa5, GUARD = 4096, PIECE_BYTES = 1 << 20, RANDOM_PIECES = 100 };

typedef struct large {
  test_problem problem;
  size_t elem_bytes, bytes;
  int64_t volume;
  unsigned char *block; /* PERIOD elements */
  gpu_address in, out;  /* out has GUARD bytes before and behind it */
} large;

/* False when the device lacks the memory. */
static bool large_open(large *l, const test_problem *p) {
  size_t unused_bytes = 0, all = 0;
  memset(l, 0, sizeof *l);
  l->problem = *p;
  l->elem_bytes = test_type_bytes(p->type);
  l->volume = test_volume(p);
  l->bytes = gpu_bytes(p);
  gpu_check(gpu.memory_info(&unused_bytes, &all));
  const double needed = 2.0 * (double)l->bytes + 2 * GUARD;
  if (needed > 0.95 * (double)unused_bytes) {
    printf("left out: it takes %.1f GB of the device's memory, and %.1f are free\n", 1e-9 * needed,
           1e-9 * (double)unused_bytes);
    return false;
  }
  l->block = malloc(PERIOD * l->elem_bytes);
  assert_non_null(l->block);
  test_fill_bits(l->block, PERIOD * l->elem_bytes, l->elem_bytes, 1);
  for (size_t i = 0; i < PERIOD * l->elem_bytes; i += l->elem_bytes)
    if (l->block[i] == POISON) l->block[i] = (unsigned char)(POISON + 1);
  l->in = gpu_allocate(l->bytes);
  l->out = gpu_allocate(l->bytes + 2 * GUARD) + GUARD;
  size_t done = PERIOD * l->elem_bytes < l->bytes ? PERIOD * l->elem_bytes : l->bytes;
  gpu_check(gpu.to_device(l->in, l->block, done));
  while (done < l->bytes) { /* what is there is a whole number of periods */
    const size_t more = done < l->bytes - done ? done : l->bytes - done;
    gpu_check(gpu.within(l->in + done, l->in, more));
    done += more;
  }
  gpu_check(gpu.set_bytes(l->out - GUARD, POISON, l->bytes + 2 * GUARD));
  gpu_check(gpu.synchronize());
  return true;
}

static void large_close(large *l) {
  gpu_release(l->in);
  gpu_release(l->out - GUARD);
  free(l->block);
}

/* Is this what the element of the output should be? factor: of 4-byte integers, else 1. */
static bool element_right(const large *l, const unsigned char *got, int64_t from, uint32_t factor) {
  const unsigned char *in = l->block + (size_t)(from % PERIOD) * l->elem_bytes;
  if (factor == 1) return !memcmp(got, in, l->elem_bytes);
  uint32_t before, after;
  memcpy(&before, in, 4);
  memcpy(&after, got, 4);
  return after == before * factor;
}

/* Compares so many elements of the output from `begin` on. */
static void check_piece(const large *l, unsigned char *staging, int64_t begin, int64_t count, uint32_t factor) {
  const test_problem *p = &l->problem;
  int64_t index[CUTT_MAX_RANK], from = 0, left = begin;
  for (int i = 0; i < p->rank; ++i) {
    index[i] = left % p->extents[p->perm[i]];
    left /= p->extents[p->perm[i]];
    from += index[i] * p->in_strides[p->perm[i]];
  }
  gpu_check(gpu.to_host(staging, l->out + (gpu_address)begin * l->elem_bytes, (size_t)count * l->elem_bytes));
  for (int64_t at = 0; at < count; ++at) {
    if (!element_right(l, staging + (size_t)at * l->elem_bytes, from, factor))
      fail_msg("output element %" PRId64 " is not input element %" PRId64, begin + at, from);
    for (int i = 0; i < p->rank; ++i) {
      from += p->in_strides[p->perm[i]];
      if (++index[i] < p->extents[p->perm[i]]) break;
      from -= p->extents[p->perm[i]] * p->in_strides[p->perm[i]];
      index[i] = 0;
    }
  }
}

static void check_all(const large *l, uint32_t factor) {
  unsigned char *staging = malloc(PIECE_BYTES);
  assert_non_null(staging);
  const int64_t bytes = (int64_t)l->elem_bytes, most = PIECE_BYTES / bytes, count = most < l->volume ? most : l->volume;
  const int64_t last = l->volume - count;
  check_piece(l, staging, 0, count, factor);
  check_piece(l, staging, last, count, factor);
  for (int power = 31; power <= 34; ++power) {
    for (int in_bytes = 0; in_bytes < 2; ++in_bytes) {
      const int64_t begin = ((int64_t)1 << power) / (in_bytes ? bytes : 1) - count / 2;
      if (begin < last) check_piece(l, staging, begin, count, factor);
    }
  }
  test_rng rng = {7};
  for (int i = 0; i < RANDOM_PIECES; ++i) check_piece(l, staging, test_random_in(&rng, 0, last), count, factor);
  const gpu_address guards[2] = {l->out - GUARD, l->out + l->bytes};
  for (int i = 0; i < 2; ++i) {
    gpu_check(gpu.to_host(staging, guards[i], GUARD));
    for (int j = 0; j < GUARD; ++j)
      if (staging[j] != POISON) fail_msg("a byte %s the output was overwritten", i ? "behind" : "before");
  }
  free(staging);
}

static void permute_large(cuttType_t type, int rank, const int64_t *extents, const int *perm) {
  large l;
  const test_problem p = test_packed(type, rank, extents, perm);
  if (!large_open(&l, &p)) skip();
  cuttPlan_t plan = gpu_plan(&p);
  assert_success(cuttPlanExecute(plan, gpu_pointer(l.in), gpu_pointer(l.out), NULL));
  gpu_check(gpu.synchronize());
  check_all(&l, 1);
  assert_success(cuttPlanDestroy(plan));
  large_close(&l);
}

static void matrix_beyond_2_to_32(void **unused) {
  (void)unused;
  permute_large(CUTT_BYTES_1, 2, (const int64_t[]){65539, 65543}, (const int[]){1, 0});
}

static void small_leading_extents_beyond_2_to_32(void **unused) {
  (void)unused;
  permute_large(CUTT_BYTES_1, 4, (const int64_t[]){3, 37, 5, 7740001}, (const int[]){2, 0, 3, 1});
}

static void one_long_mode_beyond_2_to_32(void **unused) {
  (void)unused;
  permute_large(CUTT_BYTES_1, 2, (const int64_t[]){3, 1431655777}, (const int[]){1, 0});
  permute_large(CUTT_BYTES_1, 2, (const int64_t[]){1431655777, 3}, (const int[]){1, 0});
}

static void copies_beyond_2_to_32(void **unused) {
  (void)unused;
  permute_large(CUTT_BYTES_1, 1, (const int64_t[]){5000000019}, (const int[]){0});
  permute_large(CUTT_BYTES_1, 3, (const int64_t[]){65539, 257, 257}, (const int[]){0, 2, 1});
}

static void two_byte_elements_beyond_2_to_31(void **unused) {
  (void)unused;
  permute_large(CUTT_BYTES_2, 3, (const int64_t[]){1291, 1290, 1291}, (const int[]){2, 1, 0});
}

static void wider_elements_beyond_2_to_32_bytes(void **unused) {
  (void)unused;
  permute_large(CUTT_BYTES_4, 3, (const int64_t[]){1031, 1033, 1049}, (const int[]){1, 2, 0});
  permute_large(CUTT_BYTES_8, 5, (const int64_t[]){5, 130, 33, 47, 601}, (const int[]){3, 0, 4, 1, 2});
  permute_large(CUTT_BYTES_16, 2, (const int64_t[]){16411, 16417}, (const int[]){1, 0});
}

static void many_small_modes_beyond_2_to_32(void **unused) {
  (void)unused;
  int64_t extents[21];
  int perm[21];
  for (int i = 0; i < 21; ++i) { /* 3^20 * 2 elements, and nothing fuses */
    extents[i] = i == 7 ? 2 : 3;
    perm[i] = 20 - i;
  }
  permute_large(CUTT_BYTES_1, 21, extents, perm);
}

static void numbers_beyond_2_to_32_bytes(void **unused) {
  (void)unused;
  large l;
  const uint32_t factor = 3;
  const int32_t alpha = 3;
  const int64_t extents[3] = {333, 1111, 3001};
  const int perm[3] = {2, 0, 1};
  test_problem p = test_packed(CUTT_I32, 3, extents, perm);
  p.has_alpha = true;
  p.alpha.i32 = alpha;
  if (!large_open(&l, &p)) skip();
  cuttPlan_t plan = gpu_plan(&p);
  assert_success(cuttPlanExecute(plan, gpu_pointer(l.in), gpu_pointer(l.out), NULL));
  gpu_check(gpu.synchronize());
  check_all(&l, factor);
  assert_success(cuttPlanDestroy(plan));
  large_close(&l);
}

/* Little to move, and far apart: strides of 2^24 elements that come to more than 2^32, on either side. */
static void far_apart(void **unused) {
  (void)unused;
  enum { ROW = 1000, ROWS = 300, APART = 1 << 24 };
  const size_t span = (size_t)ROWS * APART, packed = (size_t)ROW * ROWS;
  const int64_t extents[2] = {ROW, ROWS}, apart[2] = {1, APART};
  const int perm[2] = {0, 1};
  size_t unused_bytes = 0, all = 0;
  gpu_check(gpu.memory_info(&unused_bytes, &all));
  if ((double)span > 0.9 * (double)unused_bytes) skip();
  unsigned char *in = malloc(packed), *got = malloc(packed);
  assert_true(in && got);
  test_fill_bits(in, packed, 1, 5);
  const gpu_address near = gpu_allocate(packed), far = gpu_allocate(span);
  for (int from_far = 0; from_far < 2; ++from_far) {
    cuttProblem_t view = CUTT_PROBLEM_INIT;
    cuttOptions_t options = CUTT_OPTIONS_INIT;
    cuttPlan_t plan = NULL;
    view.rank = 2;
    view.type = CUTT_BYTES_1;
    view.extents = extents;
    view.perm = perm;
    options.backend = CUTT_BACKEND_CUDA;
    if (from_far)
      view.in_strides = apart;
    else
      view.out_strides = apart;
    assert_success(cuttPlanCreate(&plan, &view, &options));
    if (!from_far) gpu_check(gpu.to_device(near, in, packed));
    if (from_far) gpu_check(gpu.set_bytes(near, POISON, packed));
    assert_success(cuttPlanExecute(plan, gpu_pointer(from_far ? far : near), gpu_pointer(from_far ? near : far), NULL));
    gpu_check(gpu.synchronize());
    for (int row = 0; row < ROWS && !from_far; ++row) {
      gpu_check(gpu.to_host(got, far + (gpu_address)row * APART, ROW));
      if (memcmp(got, in + (size_t)row * ROW, ROW) != 0) fail_msg("row %d is wrong", row);
    }
    assert_success(cuttPlanDestroy(plan));
  }
  gpu_check(gpu.to_host(got, near, packed)); /* there and back */
  assert_memory_equal(got, in, packed);
  gpu_release(near);
  gpu_release(far);
  free(in);
  free(got);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrix_beyond_2_to_32),
      cmocka_unit_test(small_leading_extents_beyond_2_to_32),
      cmocka_unit_test(one_long_mode_beyond_2_to_32),
      cmocka_unit_test(copies_beyond_2_to_32),
      cmocka_unit_test(two_byte_elements_beyond_2_to_31),
      cmocka_unit_test(wider_elements_beyond_2_to_32_bytes),
      cmocka_unit_test(many_small_modes_beyond_2_to_32),
      cmocka_unit_test(numbers_beyond_2_to_32_bytes),
      cmocka_unit_test(far_apart),
  };
  if (!gpu_open()) return 77;
  return cmocka_run_group_tests_name("gpu large", tests, NULL, NULL);
}
