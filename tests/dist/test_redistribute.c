/* Redistributions between random layouts on 1 to 64 ranks, threads of this process: every element against a permutation of the whole
 * tensor, and every byte beside them. With an argument: the case of that seed, on so many ranks: test_redistribute SEED SIZE. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

static int only_size;
static uint64_t only_seed;

static void try_seed(uint64_t seed, int size, const cuttDistComm_t *comms) {
  dist_case c;
  char failure[FAILURE_BYTES];
  dist_case_make(&c, seed, size);
  dist_case_try(&c, comms, failure, NULL);
  if (failure[0]) fail_msg("%s (test_redistribute %llu %d)", failure, (unsigned long long)seed, size);
}

static void try_many(int size, int count) {
  cuttDistComm_t comms[MOST_RANKS];
  assert_success(cuttDistCommThreads(size, comms));
  for (int i = 0; i < count; i++) try_seed((uint64_t)(1000 * size + i), size, comms);
  for (int i = 0; i < size; i++) assert_success(cuttDistCommDestroy(comms[i]));
}

static void few_ranks(void **unused) {
  (void)unused;
  for (int size = 1; size <= 9; size++) try_many(size, test_scaled(120));
}

static void many_ranks(void **unused) {
  (void)unused;
  static const int sizes[] = {12, 16, 24, 31, 64};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) try_many(sizes[i], test_scaled(30));
}

/* ----------------------------------------------------------------------------------------------------------- long runs */

static atomic_long sends;
static int (*threads_send)(void *data, int peer, const void *bytes, int64_t count, cuttDistRequest_t *request);

static int count_and_send(void *data, int peer, const void *bytes, int64_t count, cuttDistRequest_t *request) {
  atomic_fetch_add(&sends, 1);
  return threads_send(data, peer, bytes, count, request);
}

/* Of a message's runs of 64 KiB or more each is sent by itself: 12 x 90 x 100 or 100 x 90 x 12 elements of 16 bytes, between two ranks. */
static void long_case(dist_case *c, uint64_t seed, bool rotated) {
  static const int64_t extents[2][3] = {{100, 90, 12}, {12, 90, 100}};
  static const int perms[2][3] = {{0, 1, 2}, {1, 2, 0}};
  memset(c, 0, sizeof *c);
  c->seed = seed;
  c->size = 2;
  c->modes = 3;
  c->type = CUTT_C64;
  c->options = (cuttDistOptions_t)CUTT_DIST_OPTIONS_INIT;
  c->options.threads = 1;
  c->options.direct = CUTT_DIST_DIRECT_NEVER;
  for (int i = 0; i < 3; i++) {
    c->perm[i] = perms[rotated][i];
    c->side[0].extents[i] = extents[rotated][i];
    c->side[1].extents[i] = extents[rotated][c->perm[i]];
    c->side[0].parts[i] = c->side[1].parts[i] = 1;
  }
  c->side[0].parts[2] = 2;
  c->side[1].parts[rotated ? 2 : 1] = 2;
  for (int side = 0; side < 2; side++) {
    c->side[side].copies = 1;
    for (int i = 0; i < 2; i++) c->side[side].ranks[i] = i;
  }
}

static void try_long(const dist_case *c, const cuttDistComm_t *comms) {
  char failure[FAILURE_BYTES];
  atomic_store(&sends, 0);
  dist_case_try(c, comms, failure, NULL);
  if (failure[0]) fail_msg("%s", failure);
}

static void long_runs(void **unused) {
  (void)unused;
  cuttDistComm_t threads[2], comms[2];
  dist_case c;
  assert_success(cuttDistCommThreads(2, threads));
  for (int i = 0; i < 2; i++) {
    cuttDistTransport_t t;
    assert_success(cuttDistCommTransport(threads[i], &t));
    threads_send = t.send;
    t.send = count_and_send;
    t.destroy = NULL;
    assert_success(cuttDistCommCreate(&comms[i], &t));
  }
  /* Two ranks, twice: to where they belong; from where they lie; one by one; not where all is scaled on the side of the runs. */
  for (int rotated = 0; rotated < 2; rotated++)
    for (int beta = 0; beta < 2; beta++) {
      long_case(&c, 1, rotated);
      c.has_beta = beta;
      c.beta = (test_scalar){.f64 = {2, 1}};
      try_long(&c, comms);
      assert_int_equal(atomic_load(&sends), 4 * (rotated && beta ? 1 : 6));
    }
  static const size_t pieces[] = {0, 150000, 100000, 50000}, limits[] = {0, 0, 400000, 1000};
  const uint64_t step =
      test_scale() < 0.2 ? 7 : 1; /* under sanitizers every value of each, and not each with all others */
  for (uint64_t seed = 0; seed < 64; seed += step) {
    long_case(&c, seed, seed % 2);
    c.options.piece_bytes = pieces[seed / 2 % 4];
    c.options.workspace_limit = limits[seed / 8 % 4];
    c.side[0].strided = seed / 32 % 2;
    c.side[1].strided = seed / 16 % 2;
    c.options.permute = seed % 5 == 3 ? CUTT_DIST_UNPACK : seed % 5 == 4 ? CUTT_DIST_PACK : CUTT_DIST_BY_COST;
    c.has_beta = seed % 7 == 6;
    c.beta = (test_scalar){.f64 = {2, 1}};
    try_long(&c, comms);
  }
  /* Written directly, in more than one turn. */
  for (uint64_t seed = 0; seed < 16; seed++) {
    long_case(&c, seed, seed % 2);
    c.options.direct = CUTT_DIST_DIRECT_ALWAYS;
    c.options.piece_bytes = seed / 2 % 2 ? 5000 : 0;
    c.options.threads = 1 + (int)(seed / 4 % 2);
    c.has_beta = seed / 8 % 2;
    c.beta = (test_scalar){.f64 = {2, 1}};
    try_long(&c, comms);
  }
  for (int i = 0; i < 2; i++) {
    assert_success(cuttDistCommDestroy(comms[i]));
    assert_success(cuttDistCommDestroy(threads[i]));
  }
}

static void only_one(void **unused) {
  (void)unused;
  cuttDistComm_t comms[MOST_RANKS];
  assert_success(cuttDistCommThreads(only_size, comms));
  try_seed(only_seed, only_size, comms);
  for (int i = 0; i < only_size; i++) assert_success(cuttDistCommDestroy(comms[i]));
}

int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(few_ranks), cmocka_unit_test(many_ranks),
                                     cmocka_unit_test(long_runs)};
  const struct CMUnitTest one[] = {cmocka_unit_test(only_one)};
  if (count < 3) return cmocka_run_group_tests_name("redistribute", tests, NULL, NULL);
  only_seed = strtoull(arguments[1], NULL, 10);
  only_size = atoi(arguments[2]);
  return cmocka_run_group_tests_name("redistribute", one, NULL, NULL);
}
