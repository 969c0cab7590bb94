/* The property tests, for every engine. */
#ifndef CUTT_TESTS_PROPERTY_H
#define CUTT_TESTS_PROPERTY_H

#include "support/engine.h"

/* Runs all of them through an engine as a cmocka group, and returns what main should. The environment: CUTT_TEST_SEED
 * makes other random problems, CUTT_TEST_SCALE more or fewer of them, CUTT_TEST_REPEAT does one problem again (then
 * nothing else runs). finish, unless NULL, is called at the end. */
int test_properties(const test_engine *engine, void (*finish)(void));

#endif
