/* The long tier: tensors of more than 2^31 elements, where a 32-bit index anywhere would show, of the library's or in what
 * it hands to the BLAS. Elements are small whole numbers that follow from a hash of their index, so that sums are exact and
 * nothing but the tensors needs memory. Left out (exit status 77) where there is not enough of it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cutt_contract.h"
#include "support/check.h"

static int done, left_out;

/* -3 to 4, from the high bits of a multiple of the index. */
static int value(int64_t index) { return (int)(((uint64_t)index + 1) * 0x9e3779b97f4a7c15u >> 61) - 3; }

static float *take(int64_t volume) {
  void *memory = mmap(NULL, (size_t)volume * sizeof(float), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  assert_ptr_not_equal(memory, MAP_FAILED);
  return memory;
}

static bool fits(int64_t elements) {
  const double available = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  const double wanted = (double)elements * sizeof(float);
  if (wanted <= 0.9 * available) {
    ++done;
    return true;
  }
  printf("left out: it takes %.1f GB, and %.1f are free\n", 1e-9 * wanted, 1e-9 * available);
  ++left_out;
  return false;
}

/* "ab,b->a" or "ba,b->a" with a large operand, as the left or the right one. */
static void large_operand(const char *pattern, int64_t a, int64_t b, bool transposed, bool right, size_t limit) {
  const int64_t volume = a * b, matrix_extents[2] = {transposed ? b : a, transposed ? a : b}, vector_extents[1] = {b};
  assert_true(volume > INT64_C(1) << 31);
  if (!fits(volume + (limit == CUTT_NO_LIMIT ? 0 : (int64_t)limit / 4))) skip();
  float *matrix = take(volume), *vector = take(b), *result = take(a);
  for (int64_t i = 0; i < volume; ++i) matrix[i] = (float)value(i);
  for (int64_t i = 0; i < b; ++i) vector[i] = (float)value(i + 12345);
  memset(result, 0xff, (size_t)a * sizeof *result);
  cuttContraction_t c = CUTT_CONTRACTION_INIT;
  c.pattern = pattern;
  c.type = CUTT_F32;
  c.left_rank = right ? 1 : 2;
  c.right_rank = right ? 2 : 1;
  c.result_rank = 1;
  c.left_extents = right ? vector_extents : matrix_extents;
  c.right_extents = right ? matrix_extents : vector_extents;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.workspace_limit = limit;
  assert_success(cuttContract(&c, &options, right ? vector : matrix, right ? matrix : vector, result, NULL));
  for (int64_t i = 0; i < a; ++i) {
    int64_t sum = 0; /* every partial sum is a whole number below 2^24 */
    for (int64_t j = 0; j < b; ++j) sum += value(transposed ? j + b * i : i + a * j) * value(j + 12345);
    if ((double)result[i] != (double)sum)
      fail_msg("element %" PRId64 " is %g, not %" PRId64, i, (double)result[i], sum);
  }
  munmap(matrix, (size_t)volume * sizeof *matrix);
  munmap(vector, (size_t)b * sizeof *vector);
  munmap(result, (size_t)a * sizeof *result);
}

static void many_rows(void **unused) {
  (void)unused;
  large_operand("ab,b->a", (INT64_C(1) << 21) + 3, 1025, false, false, 0);
}

static void long_columns(void **unused) {
  (void)unused;
  large_operand("ba,b->a", 1031, (INT64_C(1) << 21) + 1, true, false, 0);
}

static void large_on_the_right(void **unused) {
  (void)unused;
  large_operand("b,ab->a", (INT64_C(1) << 21) + 3, 1025, false, true, (size_t)1 << 28);
}

/* An outer product: the result is large, and its extents too. */
static void large_result(void **unused) {
  (void)unused;
  const int64_t a = 70001, b = 30703, left_extents[1] = {a}, right_extents[1] = {b};
  assert_true(a * b > INT64_C(1) << 31);
  if (!fits(a * b)) skip();
  float *left = take(a), *right = take(b), *result = take(a * b);
  for (int64_t i = 0; i < a; ++i) left[i] = (float)value(i);
  for (int64_t i = 0; i < b; ++i) right[i] = (float)value(i + 999);
  cuttContraction_t c = CUTT_CONTRACTION_INIT;
  c.pattern = "a,b->ba";
  c.type = CUTT_F32;
  c.left_rank = c.right_rank = 1;
  c.result_rank = 2;
  c.left_extents = left_extents;
  c.right_extents = right_extents;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.workspace_limit = (size_t)1 << 28;
  assert_success(cuttContract(&c, &options, left, right, result, NULL));
  for (int64_t i = 0; i < a; ++i) {
    for (int64_t j = 0; j < b; ++j) {
      if (result[j + b * i] == (float)(value(i) * value(j + 999))) continue;
      fail_msg("element (%" PRId64 ", %" PRId64 ") is %g", j, i, (double)result[j + b * i]);
    }
  }
  munmap(left, (size_t)a * sizeof *left);
  munmap(right, (size_t)b * sizeof *right);
  munmap(result, (size_t)(a * b) * sizeof *result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_rows),
      cmocka_unit_test(long_columns),
      cmocka_unit_test(large_on_the_right),
      cmocka_unit_test(large_result),
  };
  const int failed = cmocka_run_group_tests_name("contract_large", tests, NULL, NULL);
  return !failed && !done && left_out ? 77 : failed;
}
