/* A process whose address space is limited: loading a BLAS and contracting end, with the right result or with an error that
 * names the limit, whatever the limit; also on several threads, each of whose calls wants buffers of its own.
 *
 * Usage: test_address_space FOLDER, that of the stand-ins. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "contract/fake_cblas.h"
#include "cutt_contract.h"
#include "host/blas.h"
#include "host/child.h"
#include "support/check.h"

static const char *folder;

enum { SIDE = 200, THREADS = 4, ROUNDS = 4 };

/* What the process has mapped now, in MB. */
static long mapped(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) >> 10) >> 10;
}

/* Limits the process to what it has and so many MB more. */
static bool limit(long megabytes) {
  const rlim_t bytes = (rlim_t)(mapped() + megabytes) << 20;
  return setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes}) == 0;
}

/* What a library needs for its calls is mapped when it is loaded, if there is a limit then; this one is never reached. */
static bool limit_loosely(void) { return limit(1L << 24); }

static double left[SIDE * SIDE], right[SIDE * SIDE], results[THREADS][SIDE * SIDE];
static cuttContractionPlan_t plan;
static pthread_barrier_t together;
static atomic_int wrong;

static cuttResult make_plan(const char *library) {
  static const int64_t extents[2] = {SIDE, SIDE};
  cuttContraction_t c;
  cuttContractionOptions_t options;
  host_describe_product(extents, library, &c, &options);
  return cuttContractionPlanCreate(&plan, &c, &options);
}

/* Executes the plan with the others. The first wait is for it to be made. */
static void *execute(void *result) {
  double *d = result;
  pthread_barrier_wait(&together);
  pthread_barrier_wait(&together);
  for (int round = 0; plan && round < ROUNDS; round++) {
    d[0] = 0;
    if (cuttContractionExecute(plan, left, right, d, NULL, 0, NULL)) {
      fprintf(stderr, "execution: %s\n", cuttLastError());
      atomic_store(&wrong, 1);
    }
    for (int i = 0; i < SIDE * SIDE; i++)
      if (d[i] != 2.0 * SIDE) atomic_store(&wrong, 1);
  }
  return NULL;
}

/* Threads are made while there is room for them, and wait. */
static bool start(pthread_t *thread) {
  for (int i = 0; i < SIDE * SIDE; i++) left[i] = 1, right[i] = 2;
  if (pthread_barrier_init(&together, NULL, THREADS + 1)) return false;
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&thread[i], NULL, execute, results[i])) return false;
  pthread_barrier_wait(&together);
  return true;
}

static bool finish(pthread_t *thread) {
  pthread_barrier_wait(&together);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  return !atomic_load(&wrong);
}

/* ------------------------------------------------------------------------------------------------------ real libraries */

typedef struct trial {
  const char *library; /* NULL: what is found */
  long megabytes;
  bool after; /* the limit is lowered when the library has been loaded */
  int *planned;
} trial;

static bool run(void *data) {
  const trial *t = data;
  pthread_t thread[THREADS];
  setenv("OPENBLAS_NUM_THREADS", "2", 1); /* the same on every machine */
  if (!start(thread)) return false;
  if (t->after ? !limit_loosely() : !limit(t->megabytes)) return false;
  const cuttResult result = make_plan(t->library);
  if (t->after && !result) {
    cuttContractionPlanDestroy(plan);
    if (!limit(t->megabytes) || make_plan(t->library)) return false; /* it is loaded, and that will do */
  }
  const bool named = result && strstr(cuttLastError(), "RLIMIT_AS");
  if (result && !named) fprintf(stderr, "%ld MB: %s\n", t->megabytes, cuttLastError());
  if (!result) ++*t->planned;
  return finish(thread) && (!result || named);
}

static void try_limits(const char *library) {
  static const long megabytes[] = {20,  60,  100, 140, 180, 220, 260, 300,  340,
                                   380, 420, 420, 480, 540, 620, 700, 1000, 3000};
  int *planned = mmap(NULL, sizeof *planned, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(planned != MAP_FAILED);
  for (size_t i = 0; i < sizeof megabytes / sizeof *megabytes; i++) {
    for (int after = 0; after < 2; after++) {
      trial t = {library, megabytes[i], after == 1, planned};
      char name[HOST_PATH + 64];
      if (after && megabytes[i] > 700) continue;
      snprintf(name, sizeof name, "%s, %ld MB%s", library ? library : "the default library", megabytes[i],
               after ? " once it was loaded" : "");
      test_in_child(run, &t, 60, name);
    }
  }
  assert_true(*planned > 0);
  munmap(planned, sizeof *planned);
}

static bool can_be_limited(void) {
  if (test_sanitized()) print_message("a sanitizer maps terabytes: the address space can't be limited\n");
  return !test_sanitized();
}

static void libraries_that_are_here(void **unused) {
  (void)unused;
  host_libraries list = {0};
  if (!can_be_limited()) skip();
  host_need_libraries(&list);
  try_limits(NULL);
  for (int i = 0; i < list.count; i++) try_limits(list.path[i]);
}

/* --------------------------------------------------------------------------------------------------------- stand-ins */

static fake_cblas_t *stand_in(const char *library) {
  void *handle = dlopen(library, RTLD_NOW);
  fake_cblas_function *function = NULL;
  void *symbol = handle ? dlsym(handle, "fake_cblas") : NULL;
  if (!symbol) return NULL;
  memcpy(&function, &symbol, sizeof function);
  return function();
}

static bool see_turns(void *data) {
  const trial *t = data;
  pthread_t thread[THREADS];
  if (!start(thread) || make_plan(t->library)) return false;
  if (t->megabytes) { /* which is looked at when a plan is made */
    cuttContractionPlanDestroy(plan);
    if (!limit(t->megabytes) || make_plan(t->library)) return false;
  }
  fake_cblas_t *fake = stand_in(t->library);
  if (!fake) return false;
  fake->forget();
  if (!finish(thread)) return false;
  const int most = atomic_load(&fake->together);
  if (t->megabytes && most > 1) fprintf(stderr, "%d calls at once\n", most);
  return !t->megabytes || most == 1;
}

/* Where there is no room for the buffers of another call, calls take turns. */
static void calls_take_turns(void **unused) {
  (void)unused;
  static const char *const names[] = {"openblas", "plain", NULL};
  host_libraries list = {0};
  if (!can_be_limited()) skip();
  host_need_stand_ins(&list, folder, names);
  for (int i = 0; i < list.count; i++) {
    trial none = {list.path[i], 0, true, NULL}, tight = {list.path[i], 60, true, NULL};
    test_in_child(see_turns, &none, 60, "without a limit");
    test_in_child(see_turns, &tight, 60, "with 60 MB");
  }
}

/* OpenBLAS multiplies without a buffer up to 100^3, and by fewer threads where the part of each were below 64^3. */
static bool see_first_product(void *data) {
  const trial *t = data;
  if (!limit_loosely() || make_plan(t->library)) return false;
  const fake_cblas_t *fake = stand_in(t->library);
  if (!fake) return false;
  const fake_call *first = &fake->call[0];
  const int own_threads = strstr(t->library, "serial") ? 1 : 4;
  if (first->matrix && fake->most_in_call == 4 && first->m / own_threads > 100 && first->n > 100 && first->k > 100)
    return true;
  fprintf(stderr, "first: %d x %d x %d, on %d threads\n", first->m, first->n, first->k, fake->most_in_call);
  return false;
}

/* While there is room, all threads of OpenBLAS get the buffers that they keep, and a call gets one. */
static void buffers_are_mapped_early(void **unused) {
  (void)unused;
  static const char *const names[] = {"openblas", "serial", NULL};
  host_libraries list = {0};
  if (!can_be_limited()) skip();
  host_need_stand_ins(&list, folder, names);
  for (int i = 0; i < list.count; i++) {
    trial t = {list.path[i], 0, false, NULL};
    test_in_child(see_first_product, &t, 60, list.path[i]);
  }
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_take_turns),
      cmocka_unit_test(buffers_are_mapped_early),
      cmocka_unit_test(libraries_that_are_here),
  };
  return cmocka_run_group_tests_name("address_space", tests, NULL, NULL);
}
