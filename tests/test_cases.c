/* Every row of data/cutt-test-cases.csv (id, extents joined by x, permutation) at 4 and 8 bytes, with the plan that the
 * library chooses. The rows are many and some are large, so this file has a checker of its own: elements hold their own
 * index, scrambled by a bijection, and the output is walked once in order.
 *
 * Usage: test_cases FILE.csv. CUTT_TEST_SCALE below 1 does each row with one of the two sizes, and a small one, as
 * under sanitizers, takes a sample of the rows. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"

enum { MAX_RANK = 16, POISON = 0xee };

typedef struct row {
  char id[32];
  int rank;
  int64_t extents[MAX_RANK];
  int perm[MAX_RANK];
  int64_t volume;
} row;

static const char *file_name;
static row *rows;
static int row_count;
static int64_t largest_volume;

static bool parse(char *line, row *r) {
  char *dims = strchr(line, ','), *perm = dims ? strchr(dims + 1, ',') : NULL;
  if (!perm || dims - line >= (ptrdiff_t)sizeof r->id) return false;
  memset(r, 0, sizeof *r);
  memcpy(r->id, line, (size_t)(dims - line));
  r->volume = 1;
  for (char *at = dims + 1, *end; at < perm; at = end + 1) {
    if (r->rank == MAX_RANK) return false;
    r->extents[r->rank] = strtoll(at, &end, 10);
    if (end == at || r->extents[r->rank] < 1) return false;
    r->volume *= r->extents[r->rank++];
  }
  char *at = perm + 1, *end;
  for (int i = 0; i < r->rank; i++, at = end) {
    r->perm[i] = (int)strtol(at, &end, 10);
    if (end == at) return false;
  }
  return true;
}

static int read_rows(void **unused) {
  (void)unused;
  char line[512];
  FILE *file = fopen(file_name, "r");
  if (!file) {
    print_error("%s can't be opened\n", file_name);
    return 1;
  }
  int room = 0;
  while (fgets(line, sizeof line, file)) {
    if (!strncmp(line, "id,", 3)) continue;
    if (row_count == room) {
      room = room ? room * 2 : 1024;
      row *more = realloc(rows, (size_t)room * sizeof *rows);
      if (!more) break;
      rows = more;
    }
    if (!parse(line, &rows[row_count])) {
      print_error("%s: a row can't be read: %s", file_name, line);
      fclose(file);
      return 1;
    }
    if (rows[row_count].volume > largest_volume) largest_volume = rows[row_count].volume;
    row_count++;
  }
  fclose(file);
  return row_count == 0;
}

/* Odd factors, so that no two elements are equal. */
static uint32_t scramble32(uint32_t i) { return i * 2654435761u + 12345u; }
static uint64_t scramble64(uint64_t i) { return i * 0x9e3779b97f4a7c15u + 12345u; }

/* Strides of the output's modes in the input. */
static void strides_of(const row *r, int64_t *extent, int64_t *stride) {
  int64_t in_stride[MAX_RANK], s = 1;
  for (int i = 0; i < r->rank; i++) {
    in_stride[i] = s;
    s *= r->extents[i];
  }
  for (int i = 0; i < r->rank; i++) {
    extent[i] = r->extents[r->perm[i]];
    stride[i] = in_stride[r->perm[i]];
  }
}

/* The first output element that is not what it should be, or -1. */
static int64_t first_wrong(const row *r, const void *out, size_t bytes) {
  int64_t extent[MAX_RANK], stride[MAX_RANK], index[MAX_RANK] = {0}, from = 0;
  strides_of(r, extent, stride);
  for (int64_t at = 0; at < r->volume;) {
    if (bytes == 4) {
      const uint32_t *run = (const uint32_t *)out + at;
      for (int64_t i = 0; i < extent[0]; i++)
        if (run[i] != scramble32((uint32_t)(from + i * stride[0]))) return at + i;
    } else {
      const uint64_t *run = (const uint64_t *)out + at;
      for (int64_t i = 0; i < extent[0]; i++)
        if (run[i] != scramble64((uint64_t)(from + i * stride[0]))) return at + i;
    }
    at += extent[0];
    for (int i = 1; i < r->rank; i++) {
      from += stride[i];
      if (++index[i] < extent[i]) break;
      from -= extent[i] * stride[i];
      index[i] = 0;
    }
  }
  return -1;
}

static bool memory_for(int64_t bytes) {
  const double free_bytes = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  return (double)bytes < 0.8 * free_bytes;
}

static void all_rows(size_t bytes) {
  enum { GUARD = 4096 };
  int step = test_scale() < 0.3 ? (int)(1.0 / test_scale()) : 1, done = 0, left_out = 0;
  int64_t largest = largest_volume;
  if (!memory_for(2 * largest * (int64_t)bytes) || step > 1) largest = 5000000;
  unsigned char *in = malloc((size_t)largest * bytes);
  unsigned char *whole = malloc((size_t)largest * bytes + 2 * GUARD), *out = whole + GUARD;
  assert_non_null(in);
  assert_non_null(whole);
  for (int64_t i = 0; i < largest; i++) {
    if (bytes == 4)
      ((uint32_t *)(void *)in)[i] = scramble32((uint32_t)i);
    else
      ((uint64_t *)(void *)in)[i] = scramble64((uint64_t)i);
  }
  memset(whole, POISON, GUARD);
  for (int n = 0; n < row_count; n++) {
    const row *r = &rows[n];
    const size_t size = (size_t)r->volume * bytes;
    if (r->volume > largest) left_out++;
    if (r->volume > largest || n % step != 0) continue;
    if (test_scale() < 1 && step == 1 && n % 2 == (bytes == 4)) continue; /* every row with one of the two sizes */
    memset(out, POISON, size + GUARD);
    cuttProblem_t problem = CUTT_PROBLEM_INIT;
    problem.rank = r->rank;
    problem.type = bytes == 4 ? CUTT_BYTES_4 : CUTT_BYTES_8;
    problem.extents = r->extents;
    problem.perm = r->perm;
    if (cuttPermute(&problem, NULL, in, out, NULL) != CUTT_SUCCESS) fail_msg("%s: %s", r->id, cuttLastError());
    const int64_t wrong = first_wrong(r, out, bytes);
    if (wrong >= 0) fail_msg("%s at %d bytes: output element %" PRId64 " is wrong", r->id, (int)bytes, wrong);
    for (int i = 0; i < GUARD; i++)
      if (whole[i] != POISON || out[size + (size_t)i] != POISON) fail_msg("%s writes outside of its output", r->id);
    done++;
  }
  printf("%d rows of %d at %d bytes; %d are too large for this machine or run\n", done, row_count, (int)bytes,
         left_out);
  assert_true(done > 0);
  free(in);
  free(whole);
}

static void rows_of_4_bytes(void **unused) {
  (void)unused;
  all_rows(4);
}

static void rows_of_8_bytes(void **unused) {
  (void)unused;
  all_rows(8);
}

static int forget_rows(void **unused) {
  (void)unused;
  free(rows);
  return 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_4_bytes), cmocka_unit_test(rows_of_8_bytes)};
  if (argc != 2) {
    fprintf(stderr, "usage: test_cases FILE.csv\n");
    return 2;
  }
  file_name = argv[1];
  return cmocka_run_group_tests_name("cases", tests, read_rows, forget_rows);
}
