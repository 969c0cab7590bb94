/* cuttPermute keeps plans: a call gets its own problem's and no other's, however much they look alike, from however many
 * threads, and while they are given up. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/buffers.h"
#include "support/check.h"
#include "support/reference.h"

enum { THREADS = 6, MOST_BYTES = 1 << 17 };

/* Two buffers with a problem's elements in the middle of each. */
typedef struct memory {
  unsigned char in[MOST_BYTES], out[MOST_BYTES], expected[MOST_BYTES];
} memory;

/* "" or what went wrong. */
static const char *try_problem(const test_problem *p, memory *m) {
  int64_t in_low, in_high, out_low, out_high;
  const size_t bytes = test_type_bytes(p->type);
  test_in_span(p, &in_low, &in_high);
  test_out_span(p, &out_low, &out_high);
  if ((size_t)(in_high - in_low) * bytes > MOST_BYTES || (size_t)(out_high - out_low) * bytes > MOST_BYTES) return "";
  const size_t size = (size_t)(out_high - out_low) * bytes;
  test_fill_numbers(m->in, (size_t)(in_high - in_low) * bytes, p->type, p->seed);
  test_fill_numbers(m->out, size, p->type, p->seed + 1);
  memcpy(m->expected, m->out, size);
  const ptrdiff_t in_at = -(ptrdiff_t)in_low * (ptrdiff_t)bytes, out_at = -(ptrdiff_t)out_low * (ptrdiff_t)bytes;
  test_reference(p, m->in + in_at, m->expected + out_at);
  const cuttProblem_t view = test_problem_view(p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = p->threads;
  if (cuttPermute(&view, &options, m->in + in_at, m->out + out_at, NULL) != CUTT_SUCCESS) return cuttLastError();
  test_same_nans(p, m->expected + out_at, m->out + out_at);
  return memcmp(m->out, m->expected, size) ? "a wrong result" : "";
}

static void try_or_fail(const test_problem *p, memory *m) {
  const char *wrong = try_problem(p, m);
  char line[4096];
  test_problem_print(p, line, sizeof line);
  if (*wrong) fail_msg("%s\n%s", wrong, line);
}

/* Another type of the same size that the same bytes may be of. */
static cuttType_t other_type(cuttType_t type) {
  return type == CUTT_F32 ? CUTT_I32 : type == CUTT_F64 ? CUTT_I64 : type == CUTT_C32 ? CUTT_F64 : CUTT_F32;
}

/* The same problem with one thing changed. */
static test_problem changed(test_rng *rng, const test_problem *base, int what) {
  test_problem p = *base;
  if (what == 0) {
    p.has_alpha = !p.has_alpha;
    p.alpha = test_random_scalar(rng, p.type);
  } else if (what == 1) {
    p.has_beta = !p.has_beta;
    p.beta = test_random_scalar(rng, p.type);
  } else if (what == 2) {
    p.alpha = test_random_scalar(rng, p.type);
    p.beta = test_random_scalar(rng, p.type);
  } else if (what == 3 && test_type_complex(p.type)) {
    p.conjugate = !p.conjugate;
  } else if (what == 4) {
    p.type = other_type(p.type);
    p.has_alpha = p.has_beta = false;
    p.conjugate = 0;
  } else if (what == 5 && p.rank) {
    ++p.extents[test_random_in(rng, 0, p.rank - 1)];
    p.in_strided = p.out_strided = false;
  } else if (what == 6) {
    test_shuffle(rng, p.perm, p.rank);
    p.in_strided = p.out_strided = false;
  } else if (what == 7) {
    p.threads = 1 + p.threads % 3;
  }
  test_problem_finish(&p);
  return p;
}

static void alike_and_not_the_same(void **unused) {
  (void)unused;
  enum { CHANGES = 8, ROUNDS = 3 };
  static const cuttType_t types[] = {CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64, CUTT_I32, CUTT_BYTES_4, CUTT_BYTES_2};
  memory *m = malloc(sizeof *m);
  assert_non_null(m);
  test_rng rng = {14};
  for (int n = 0; n < test_scaled(400); ++n) {
    const test_limits limits = {0, 5, 600, types[n % 7], 40, test_type_computes(types[n % 7]) ? 60 : 0, 2};
    const test_problem base = test_random_problem(&rng, &limits);
    test_problem list[1 + CHANGES] = {base};
    for (int i = 0; i < CHANGES; ++i)
      list[1 + i] = test_type_computes(base.type) || i > 3 ? changed(&rng, &base, i) : base;
    for (int round = 0; round < ROUNDS; ++round)
      for (int i = 0; i < 1 + CHANGES; ++i) try_or_fail(&list[test_random_in(&rng, 0, CHANGES)], m);
  }
  free(m);
}

static void more_than_are_kept(void **unused) {
  (void)unused;
  memory *m = malloc(sizeof *m);
  assert_non_null(m);
  for (int round = 0; round < 3; ++round) {
    for (int n = 1; n < 300; ++n) {
      const int64_t extents[2] = {n, 1 + n % 7};
      const test_problem p = test_packed(CUTT_BYTES_4, 2, extents, (const int[]){1, 0});
      try_or_fail(&p, m);
    }
  }
  free(m);
}

/* What is wrong stays wrong, whatever is kept. */
static void refused(void **unused) {
  (void)unused;
  int64_t extents[2] = {8, 9};
  int perm[2] = {1, 0};
  float in[72] = {0}, out[72], alpha = 2;
  cuttProblem_t p = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  p.rank = 2;
  p.type = CUTT_F32;
  p.extents = extents;
  p.perm = perm;
  for (int i = 0; i < 3; ++i) {
    assert_success(cuttPermute(&p, &options, in, out, NULL));
    assert_result(CUTT_INVALID_PARAMETER, cuttPermute(&p, &options, in, in + 1, NULL), "overlap");
    assert_result(CUTT_INVALID_PARAMETER, cuttPermute(&p, &options, NULL, out, NULL), "in is NULL");
    assert_result(CUTT_INVALID_PARAMETER, cuttPermute(&p, &options, in, out, (cudaStream_t)(uintptr_t)8), "stream");
    assert_result(CUTT_INVALID_PARAMETER, cuttPermute(NULL, &options, in, out, NULL), "problem");
    perm[0] = 0;
    assert_result(CUTT_INVALID_PARAMETER, cuttPermute(&p, &options, in, out, NULL), "perm");
    perm[0] = 1;
    options.threads = -1;
    assert_result(CUTT_INVALID_PARAMETER, cuttPermute(&p, &options, in, out, NULL), "threads");
    options.threads = 0;
    p.type = CUTT_BYTES_4;
    p.alpha = &alpha;
    assert_result(CUTT_INVALID_PARAMETER, cuttPermute(&p, &options, in, out, NULL), "alpha");
    p.type = CUTT_F32;
    p.alpha = NULL;
  }
  cuttFinalize();
  assert_success(cuttPermute(&p, &options, in, out, NULL));
}

typedef struct job {
  uint64_t seed;
  const char *wrong;
} job;

static void *permute_many(void *argument) {
  job *j = argument;
  memory *m = malloc(sizeof *m);
  test_rng rng = {j->seed};
  j->wrong = m ? "" : "no memory";
  for (int i = 0; i < test_scaled(3000) && !*j->wrong; ++i) {
    /* The same hundred for all, which is more than are kept. */
    test_rng number = {(uint64_t)test_random_in(&rng, 1, 100)};
    const test_limits limits = {1, 4, 300, CUTT_F32, 30, 40, 2};
    const test_problem p = test_random_problem(&number, &limits);
    j->wrong = try_problem(&p, m);
    if (test_random_in(&rng, 0, 200) == 0) cuttFinalize();
  }
  free(m);
  return NULL;
}

static void many_threads(void **unused) {
  (void)unused;
  pthread_t thread[THREADS];
  job jobs[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    jobs[i] = (job){.seed = 100 + (uint64_t)i};
    assert_int_equal(pthread_create(&thread[i], NULL, permute_many, &jobs[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) pthread_join(thread[i], NULL);
  for (int i = 0; i < THREADS; ++i)
    if (*jobs[i].wrong) fail_msg("thread %d: %s", i, jobs[i].wrong);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(alike_and_not_the_same),
      cmocka_unit_test(more_than_are_kept),
      cmocka_unit_test(refused),
      cmocka_unit_test(many_threads),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  cuttFinalize(); /* for tools that look for memory that is not given back */
  return failed;
}
