/* The long tier: tensors of more than 2^31 and 2^32 elements, where a 32-bit index anywhere would show. Elements hold a
 * hash of their own index, so nothing but the two tensors needs memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/check.h"

static uint64_t scramble(int64_t index) { return ((uint64_t)index + 1) * 0x9e3779b97f4a7c15u; }

/* The low bytes of the product differ too little between neighbours: take high ones. */
static void element_of(int64_t index, size_t bytes, unsigned char *to) {
  const uint64_t value = scramble(index) >> (bytes < 8 ? 64 - 8 * bytes : 0);
  memcpy(to, &value, bytes); /* little-endian machines only; others take other bytes, and the same everywhere */
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
  for (int64_t i = 0; i < volume; i++) element_of(i, bytes, in + (size_t)i * bytes);

  const cuttProblem_t view = test_problem_view(&p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.threads = threads;
  cuttPlan_t plan;
  assert_success(cuttPlanCreate(&plan, &view, &options));
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  assert_success(cuttPlanDestroy(plan));
  munmap(in, size);

  int64_t index[CUTT_MAX_RANK] = {0}, from = 0;
  for (int64_t at = 0; at < volume; at++) {
    unsigned char expected[8];
    element_of(from, bytes, expected);
    if (memcmp(out + (size_t)at * bytes, expected, bytes)) fail_msg("output element %" PRId64 " is wrong", at);
    for (int i = 0; i < rank; i++) {
      const int64_t extent = extents[perm[i]], stride = p.in_strides[perm[i]];
      from += stride;
      if (++index[i] < extent) break;
      from -= extent * stride;
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
