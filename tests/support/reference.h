/* The plain definition of a permutation, element by element, to which everything else is held. */
#ifndef CUTT_TESTS_REFERENCE_H
#define CUTT_TESTS_REFERENCE_H

#include "support/problem.h"

/* out = alpha * perm(in) + beta * out; in and out point to element (0, ..., 0). Moves and conjugations keep every bit.
 * Else products and sums are rounded one by one to float (16-bit types, f32, c32) or double, and the 16-bit types once
 * more. Real factors scale the parts of complex numbers by themselves; a factor of 1 leaves them as they are. */
void test_reference(const test_problem *problem, const void *in, void *out);

/* Arithmetic may make any NaN where there is one: copies expected's NaN to got wherever got has one too, and returns how
 * many there were. Bits of elements that are only moved or conjugated stay as they are. Both point to element (0, ..., 0). */
int64_t test_same_nans(const test_problem *problem, const void *expected, void *got);

/* One element's value as text, for messages. */
void test_element_print(cuttType_t type, const void *element, char *text, size_t size);

/* IEEE half and bfloat16, as 16 bits. */
double test_half_to_double(uint16_t bits);
double test_bfloat_to_double(uint16_t bits);
uint16_t test_half_from(long double value);
uint16_t test_bfloat_from(long double value);

#endif
