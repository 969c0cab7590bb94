/* Elements of any type as values that nothing has rounded, and the operators on them by their plain definition. */
#ifndef CUTT_TESTS_CONTRACT_VALUE_H
#define CUTT_TESTS_CONTRACT_VALUE_H

#include <stdbool.h>

#include "cutt_contract.h"

/* In whole for integers, else in re and im. */
typedef struct test_value {
  long double re, im;
  int64_t whole;
} test_value;

bool test_type_whole(cuttType_t type);

test_value test_value_load(cuttType_t type, const unsigned char *at);

/* Integers wrap around; a maximum or minimum with a NaN is one. */
test_value test_value_apply(cuttType_t type, cuttOperator_t op, test_value a, test_value b);

#endif
