/* The plain definition of a permutation, element by element, to which everything else is held. */
#ifndef CUTT_TESTS_REFERENCE_H
#define CUTT_TESTS_REFERENCE_H

#include "support/problem.h"

/* out = alpha * perm(in) + beta * out; in and out point to element (0, ..., 0). Floating types are computed in long
 * double and rounded once, to nearest, ties to even. */
void test_reference(const test_problem *problem, const void *in, void *out);

/* Where got and expected (made by test_reference from in and before) differ by no more than the roundings that the
 * library may take, copies expected to got; returns how many such elements there were. What is then still different is
 * wrong. All point to element (0, ..., 0). */
int64_t test_forgive(const test_problem *problem, const void *in, const void *before, const void *expected, void *got);

/* One element's value as text, for messages. */
void test_element_print(cuttType_t type, const void *element, char *text, size_t size);

/* IEEE half and bfloat16, as 16 bits. */
double test_half_to_double(uint16_t bits);
double test_bfloat_to_double(uint16_t bits);
uint16_t test_half_from(long double value);
uint16_t test_bfloat_from(long double value);

#endif
