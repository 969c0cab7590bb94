/* libcutt_contract loaded, used and given back again and again, as plugins are: nothing is allocated anew each time.
 *
 * Usage: test_reload LIBRARY UNLOADED FOLDER: libcutt_contract.so, the same without what keeps it in the process, and where the
 * stand-ins of BLAS libraries are. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cutt_contract.h"
#include "host/blas.h"
#include "host/child.h"
#include "support/check.h"

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
#include <malloc.h>
#define CAN_COUNT 1
#endif
#endif

static const char *libraries[2], *folder;

typedef cuttResult contract_function(const cuttContraction_t *contraction, const cuttContractionOptions_t *options,
                                     const void *left, const void *right, void *result, cudaStream_t stream);

static void load_use_and_unload(const char *library, const char *provider) {
  static const int64_t extents[2] = {9, 9};
  static double left[81], right[81], result[81];
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail_msg("%s", dlerror());
  void *symbol = dlsym(handle, "cuttContract");
  contract_function *contract = NULL;
  assert_non_null(symbol);
  memcpy(&contract, &symbol, sizeof contract);
  for (int i = 0; i < 81; i++) left[i] = 1, right[i] = 2, result[i] = 0;
  cuttContraction_t c;
  cuttContractionOptions_t options;
  host_describe_product(extents, provider, &c, &options);
  assert_int_equal(contract(&c, &options, left, right, result, NULL), CUTT_SUCCESS);
  for (int i = 0; i < 81; i++) assert_true(result[i] == 18);
  assert_int_equal(dlclose(handle), 0);
}

/* Bytes that malloc has given and not got back. */
static size_t allocated(void) {
#if CAN_COUNT
  return mallinfo2().uordblks;
#else
  return 0;
#endif
}

static bool can_count(void) {
#if CAN_COUNT
  return !test_sanitized();
#else
  return false;
#endif
}

/* The first rounds are the loader's and malloc's own. Where a library is really unloaded, the loader keeps some 40 bytes. */
static void allocates_nothing_anew(const char *library, const char *provider) {
  enum { FIRST = 10, ROUNDS = 40, MOST = 64 };
  for (int i = 0; i < FIRST; i++) load_use_and_unload(library, provider);
  const size_t before = allocated();
  for (int i = 0; i < ROUNDS; i++) load_use_and_unload(library, provider);
  const double each = ((double)allocated() - (double)before) / ROUNDS;
  if (!can_count()) print_message("what is allocated can't be counted here\n");
  if (can_count() && each > MOST) fail_msg("%s: %g bytes more each time", library, each);
}

static void by_a_stand_in(void **unused) {
  (void)unused;
  char path[HOST_PATH];
  snprintf(path, sizeof path, "%s/fake_openblas.so", folder);
  for (int i = 0; i < 2; i++) allocates_nothing_anew(libraries[i], path);
}

static void by_what_is_here(void **unused) {
  (void)unused;
  host_libraries list = {0};
  host_need_libraries(&list);
  for (int i = 0; i < 2; i++) allocates_nothing_anew(libraries[i], list.path[0]);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  libraries[0] = argv[1];
  libraries[1] = argv[2];
  folder = argv[3];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_a_stand_in),
      cmocka_unit_test(by_what_is_here),
  };
  return cmocka_run_group_tests_name("reload", tests, NULL, NULL);
}
