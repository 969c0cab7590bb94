/* Runs one problem and holds the result to the plain definition: through the public interface, and through every
 * candidate that the engine in use (support/engine.h) knows for it. Without cmocka, so that the fuzzer can use it too. */
#ifndef CUTT_TESTS_TRY_H
#define CUTT_TESTS_TRY_H

#include "plan/backend.h"
#include "support/problem.h"

enum {
  TEST_CHOSEN = 1,     /* cuttPlanCreate, cuttPlanExecute, where the engine has them */
  TEST_CANDIDATES = 2, /* every candidate, in all the ways that the engine can vary it */
  TEST_SHAPES = 4,     /* candidates of random shape that the backend accepts, whether the model lists them or not */
  TEST_MUTANTS = 8,    /* candidates with fields changed at random, as edited wisdom may hold them: refused or right */
  TEST_ALL = TEST_CHOSEN | TEST_CANDIDATES | TEST_SHAPES
};

/* False after a fault; the reason and the line that repeats the problem are then on stderr. A crash prints that too. */
bool test_try(const test_problem *problem, unsigned what);

/* Runs one candidate, which may be of another problem, if the engine accepts it for this one: *ran says so. False after a
 * fault, as above. */
bool test_try_candidate(const test_problem *problem, const cutt_candidate *candidate, bool *ran);

/* Prints how many problems have been tried and how many executions compared: one sees that work was done, and
 * scripts/check.sh adds it up. */
void test_try_report(void);

/* Frees the buffers that are kept from one problem to the next. */
void test_try_cleanup(void);

#endif
