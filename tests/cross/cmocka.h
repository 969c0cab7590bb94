/* As much of cmocka as the property tests use, for machines that it is not installed for (tests/cross/CMakeLists.txt): the first
 * failed check ends the program. */
#ifndef CUTT_TESTS_CROSS_CMOCKA_H
#define CUTT_TESTS_CROSS_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>

struct CMUnitTest {
  const char *name;
  void (*run)(void **state);
};
#define cmocka_unit_test(function)                                                                                     \
  { #function, function }

#define print_message(...) fprintf(stdout, __VA_ARGS__)
#define print_error(...) fprintf(stderr, __VA_ARGS__)

_Noreturn static inline void cross_fail(const char *file, int line) {
  fprintf(stderr, "%s:%d: FAILED\n", file, line);
  exit(1);
}
#define _fail(file, line) cross_fail(file, line)
#define fail() cross_fail(__FILE__, __LINE__)
#define fail_msg(...) (fprintf(stderr, __VA_ARGS__), cross_fail(__FILE__, __LINE__))
#define assert_true(holds) ((holds) ? (void)0 : (fprintf(stderr, "%s: ", #holds), cross_fail(__FILE__, __LINE__)))
#define assert_false(holds) assert_true(!(holds))
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#define assert_int_equal(a, b) assert_true((a) == (b))

#define cmocka_set_skip_filter(pattern) (void)(pattern)
#define cmocka_run_group_tests_name(group, tests, setup, cleanup)                                                      \
  cross_run(group, tests, sizeof(tests) / sizeof *(tests), cleanup)
static inline int cross_run(const char *group, const struct CMUnitTest *tests, size_t count, int (*cleanup)(void **)) {
  void *state = NULL;
  for (size_t i = 0; i < count; i++) {
    tests[i].run(&state);
    printf("[       OK ] %s\n", tests[i].name);
    fflush(stdout);
  }
  if (cleanup && cleanup(&state) != 0) return 1;
  printf("[  PASSED  ] %zu test(s). (%s)\n", count, group);
  return 0;
}

#endif
