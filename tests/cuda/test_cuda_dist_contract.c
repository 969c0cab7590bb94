/* Contractions of tensors over ranks whose memory is that of devices, without a GPU (dist_setting.h); products by the stand-in for
 * cuBLAS. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/fake_cublas.h"
#include "cuda/dist_setting.h"
#include "products.h"

static fake_cublas_t *blas;

/* ---------------------------------------------------------------------------------------------------------- random cases */

typedef struct job {
  setting *s;
  product_case c;
  bool ran[DIST_MOST];
  char failure[DIST_MOST][FAILURE_BYTES];
} job;

static void try_rank(void *what, int rank) {
  job *j = what;
  fake->context_set(dist_context[rank]);
  j->ran[rank] = product_case_try_rank(&j->c, j->s->comms[rank], rank, j->failure[rank]);
  fake->context_set(NULL);
}

/* What the stand-in for cuBLAS multiplies, with two operands; and it takes its time. */
static bool draw(job *j, uint64_t seed, int size, bool direct) {
  product_case *c = &j->c;
  product_case_make(c, seed, size);
  cuttDistContractionOptions_t *o = &c->options;
  c->on_device = true;
  if (test_type_complex(c->type) || c->type == CUTT_F64 || c->type == CUTT_F32)
    o->backend = CUTT_BACKEND_CUDA;
  else
    return false;
  if (!direct && o->direct == CUTT_DIST_DIRECT_ALWAYS) o->direct = CUTT_DIST_DIRECT_BY_COST;
  return !c->one;
}

static int done[5], tried[5];

static void random_cases(kind k, bool direct, int count) {
  job *j = calloc(1, sizeof *j);
  assert_non_null(j);
  for (int size = 1; size <= DIST_MOST; size++) {
    setting s;
    open_setting(&s, k, size);
    j->s = &s;
    for (int i = 0, seed = 0; i < test_scaled(count); seed++) {
      if (!draw(j, (uint64_t)(10000 * (int)k + 1000 * size + seed), size, direct)) continue;
      i++;
      j->c.options.trust_arguments = i % 2;
      ranks_run(size, try_rank, j);
      if (dist_fault[0]) fail_msg("seed %llu: %s", (unsigned long long)j->c.seed, dist_fault);
      for (int rank = 0; rank < size; rank++)
        if (j->failure[rank][0]) fail_msg("%s", j->failure[rank]);
      tried[j->c.options.algorithm]++;
      done[j->c.options.algorithm] += j->ran[0];
    }
    close_setting(&s);
  }
  free(j);
}

static void between_threads(void **unused) {
  (void)unused;
  memset(done, 0, sizeof done);
  memset(tried, 0, sizeof tried);
  random_cases(THREADS, true, 24);
  for (int i = 0; i < 5; i++) print_message("algorithm %d: %d of %d done\n", i, done[i], tried[i]);
  /* A case that is refused says nothing: enough of each have to be done. */
  for (int i = 0; i < 5 && test_scale() >= 1; i++) assert_true(done[i] * 5 > tried[i]);
}

static void by_nccl(void **unused) {
  (void)unused;
  random_cases(NCCL_BY_THREADS, true, 12);
  random_cases(NCCL_ALONE, true, 12);
}

static void through_the_host(void **unused) {
  (void)unused;
  atomic_store(&fake->opens, 0);
  random_cases(THROUGH_HOST, false, 12);
}

/* The same ranks, where memory and events can be opened. */
static void between_processes(void **unused) {
  (void)unused;
  random_cases(THROUGH_HOST, true, 12);
}

/* ---------------------------------------------------------------------------------------------------------- set-up, main */

static int open_all(void **state) {
  if (dist_open(state)) return -1;
  const char *path = getenv("CUTT_CUBLAS");
  void *library = path ? dlopen(path, RTLD_NOW) : NULL;
  fake_cublas_function *function = NULL;
  void *symbol = library ? dlsym(library, "fake_cublas") : NULL;
  memcpy(&function, &symbol, sizeof function);
  if (!function) {
    print_error("CUTT_CUBLAS does not name the stand-in for cuBLAS\n");
    return -1;
  }
  blas = function();
  return 0;
}

/* cuBLAS's handles are kept, each with an event. */
static int end(void **state) {
  (void)state;
  for (int i = 0; i < DIST_MOST; i++) fake->context_destroy(dist_context[i]);
  atomic_store(&fake->fail, -1);
  fake->context_set(NULL);
  assert_int_equal(atomic_load(&fake->alive_memory), 0);
  assert_int_equal(atomic_load(&fake->alive_streams), 0);
  assert_int_equal(atomic_load(&fake->alive_pinned), 0);
  assert_int_equal(atomic_load(&fake->alive_opened), 0);
  assert_int_equal(atomic_load(&fake->depth), 0);
  assert_int_equal(atomic_load(&fake->forbidden), 0);
  assert_int_equal(atomic_load(&blas->faults), 0);
  assert_int_equal(atomic_load(&fake->alive_events), atomic_load(&blas->alive));
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(between_threads, dist_start, end),
      cmocka_unit_test_setup_teardown(by_nccl, dist_start, end),
      cmocka_unit_test_setup_teardown(through_the_host, dist_start, end),
      cmocka_unit_test_setup_teardown(between_processes, dist_start, end),
  };
  return cmocka_run_group_tests_name("cuda_dist_contract", tests, open_all, NULL);
}
