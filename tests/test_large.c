/* The long tier: tensors of more than 2^31 and 2^32 elements, where a 32-bit index anywhere would show. Elements hold a
 * hash of their own index, so nothing but the two tensors needs memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/check.h"

static const uint64_t factor = 0x9e3779b97f4a7c15u;

/* An element's value: the high bits of a multiple of its index, since the low ones differ too little between neighbours.
 * hash is (index + 1) * factor. */
static uint8_t value1(uint64_t hash) { return (uint8_t)(hash >> 56); }
static uint16_t value2(uint64_t hash) { return (uint16_t)(hash >> 48); }

static void fill(void *in, size_t bytes, int64_t volume) {
  uint64_t hash = factor;
  for (int64_t i = 0; i < volume; i++, hash += factor) {
    if (bytes == 1)
      ((uint8_t *)in)[i] = value1(hash);
    else
      ((uint16_t *)in)[i] = value2(hash);
  }
}

/* A run of the output whose first element is input element `from` and whose next ones lie `stride` apart. Returns the
 * first that is wrong, or -1. */
static int64_t wrong_in_run(const void *out, size_t bytes, int64_t at, int64_t count, int64_t from, int64_t stride) {
  uint64_t hash = ((uint64_t)from + 1) * factor;
  const uint64_t step = (uint64_t)stride * factor;
  for (int64_t i = at; i < at + count; i++, hash += step) {
    if (bytes == 1 ? ((const uint8_t *)out)[i] != value1(hash) : ((const uint16_t *)out)[i] != value2(hash)) return i;
  }
  return -1;
}

static void permute_large(cuttType_t type, int rank, const int64_t *extents, const int *perm, int threads) {
  const size_t bytes = test_type_bytes(type);
  const test_problem p = test_packed(type, rank, extents, perm);
  const int64_t volume = test_volume(&p);
  const size_t size = (size_t)volume * bytes;
  const double available = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (2.0 * (double)size > 0.9 * available) {
    printf("left out: it takes %.1f GB, and %.1f are free\n", 2e-9 * (double)size, 1e-9 * available);
    skip();
  }
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  unsigned char *in = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  unsigned char *out = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  assert_ptr_not_equal(in, MAP_FAILED);
  assert_ptr_not_equal(out, MAP_FAILED);
  fill(in, bytes, volume);

  const cuttProblem_t view = test_problem_view(&p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.threads = threads;
  cuttPlan_t plan;
  assert_success(cuttPlanCreate(&plan, &view, &options));
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  assert_success(cuttPlanDestroy(plan));
  munmap(in, size);

  int64_t index[CUTT_MAX_RANK] = {0}, from = 0;
  const int64_t run = extents[perm[0]], stride = p.in_strides[perm[0]];
  for (int64_t at = 0; at < volume; at += run) {
    const int64_t wrong = wrong_in_run(out, bytes, at, run, from, stride);
    if (wrong >= 0) fail_msg("output element %" PRId64 " is wrong", wrong);
    for (int i = 1; i < rank; i++) {
      from += p.in_strides[perm[i]];
      if (++index[i] < extents[perm[i]]) break;
      from -= extents[perm[i]] * p.in_strides[perm[i]];
      index[i] = 0;
    }
  }
  munmap(out, size);
}

static void matrix_beyond_2_to_32(void **unused) {
  (void)unused;
  permute_large(CUTT_BYTES_1, 2, (const int64_t[]){65539, 65543}, (const int[]){1, 0}, 0);
}

static void small_leading_extents_beyond_2_to_32(void **unused) {
  (void)unused;
  permute_large(CUTT_BYTES_1, 4, (const int64_t[]){3, 37, 5, 7740001}, (const int[]){2, 0, 3, 1}, 0);
}

static void one_long_mode_beyond_2_to_31(void **unused) {
  (void)unused;
  permute_large(CUTT_BYTES_1, 2, (const int64_t[]){3, 715827901}, (const int[]){1, 0}, 0);
  permute_large(CUTT_BYTES_1, 2, (const int64_t[]){715827901, 3}, (const int[]){1, 0}, 1);
}

static void copy_beyond_2_to_32(void **unused) {
  (void)unused;
  permute_large(CUTT_BYTES_1, 3, (const int64_t[]){65539, 257, 257}, (const int[]){0, 2, 1}, 0);
}

static void wider_elements_beyond_2_to_31(void **unused) {
  (void)unused;
  permute_large(CUTT_BYTES_2, 3, (const int64_t[]){1291, 1290, 1291}, (const int[]){2, 1, 0}, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrix_beyond_2_to_32),         cmocka_unit_test(small_leading_extents_beyond_2_to_32),
      cmocka_unit_test(one_long_mode_beyond_2_to_31),  cmocka_unit_test(copy_beyond_2_to_32),
      cmocka_unit_test(wider_elements_beyond_2_to_31),
  };
  return cmocka_run_group_tests_name("large", tests, NULL, NULL);
}
