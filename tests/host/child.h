/* Hostile cases run in a child process, so that one that dies is a failed test and not the end of all. */
#ifndef CUTT_TESTS_HOST_CHILD_H
#define CUTT_TESTS_HOST_CHILD_H

#include <stdbool.h>
#include <stddef.h>

/* Runs body(context) in a forked child, which passes by returning true, within some seconds. Fails the test with how the child
 * ended otherwise: its exit, its signal, or that it hung. */
void test_in_child(bool (*body)(void *context), void *context, int seconds, const char *name);

/* The same for a child that need not pass: did it? If not, how says how it ended. */
bool test_child_passes(bool (*body)(void *context), void *context, int seconds, char *how, size_t size);

/* Is the program built with a sanitizer, which needs more address space, stack or threads than such a case leaves? */
bool test_sanitized(void);

#endif
