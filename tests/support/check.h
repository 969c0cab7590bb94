/* What the cmocka programs share: one problem held to the plain definition, and the results of calls. */
#ifndef CUTT_TESTS_CHECK_H
#define CUTT_TESTS_CHECK_H

/* cmocka's header wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/problem.h"
#include "support/try.h"

/* test_try, whose fault ends the cmocka test. */
void test_check(const test_problem *problem, unsigned what);

/* CUTT_CPU_ISA names an instruction set that this machine lacks: the program has nothing to test (exit status 77). */
bool test_isa_missing(void);

/* Fails unless result is wanted and, for a failure, cuttLastError() has each of the words (NULL: none asked for). */
#define assert_result(wanted, result, ...)                                                                             \
  test_assert_result(wanted, result, #result, __FILE__, __LINE__, (const char *const[]){__VA_ARGS__, NULL})
void test_assert_result(cuttResult wanted, cuttResult got, const char *call, const char *file, int line,
                        const char *const *words);
#define assert_success(result) assert_result(CUTT_SUCCESS, result, NULL)

/* Fails unless got is wanted but for rounding: within 1e-9 of it, relatively. */
#define assert_near(wanted, got) test_assert_near(wanted, got, __LINE__)
void test_assert_near(double wanted, double got, int line);

#endif
