/* All patterns with operands up to a rank, each up to the names of its labels: every way to say which modes of L and R are
 * the same, and every sequence of labels for the result. */
#ifndef CUTT_TESTS_CONTRACT_CLASSES_H
#define CUTT_TESTS_CONTRACT_CLASSES_H

#include <stdbool.h>

typedef struct test_class {
  int left, right, result; /* ranks */
  long number;             /* in the sequence of all */
  const char *text;        /* "abc,cd->abd" */
} test_class;

/* Calls visit for each, until it says no (false). Returns how many there were. */
long test_classes(int max_rank, bool (*visit)(const test_class *class, void *context), void *context);

#endif
