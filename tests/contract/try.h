/* One contraction through the public calls, in memory that does not forgive, held to the plain definition. */
#ifndef CUTT_TESTS_CONTRACT_TRY_H
#define CUTT_TESTS_CONTRACT_TRY_H

#include "reference.h"

/* What the library is given. It points into *fields and into *c. */
typedef struct test_fields {
  int64_t extents[TEST_TENSORS][CUTT_MAX_RANK];
  cuttContraction_t contraction;
  cuttContractionOptions_t options;
} test_fields;
void test_contraction_view(const test_contraction *c, test_fields *fields);

/* The contents of the three tensors: numbers that all differ where the contraction looks at elements, bits that are NaNs
 * everywhere else (in gaps, off the diagonals, in a result that is only written, in operands when alpha is 0), so that
 * whatever is read and should not be spoils the result. data is the first byte spanned. */
void test_contraction_fill(const test_contraction *c, int tensor, unsigned char *data, size_t bytes);

/* Holds a result to the definition, in which no byte but those of elements may have changed. The pointers are to element
 * (0, ..., 0); what says where it is wrong. */
bool test_contraction_right(const test_contraction *c, const void *left, const void *right, const void *before,
                            const void *got, char *what, size_t size);

typedef enum test_verdict { TEST_RIGHT_RESULT, TEST_WRONG, TEST_NOT_OFFERED } test_verdict;

/* Plans, executes and compares; also what the plan says of its workspace, the operands, which have to be as they were, and
 * all bytes around the result and the workspace. A fault is printed with the line that repeats it. TEST_NOT_OFFERED: the
 * BLAS library does not take the type. workspace: if not NULL, receives what the plan asks for. */
test_verdict test_contraction_try(const test_contraction *c, size_t *workspace);

/* From now on: where plans are for, CUTT_BACKEND_CPU until then. Operands are copied to a device's memory, and results back. */
void test_contraction_use(cuttBackend_t which);

/* Prints how many contractions have been compared; scripts/check.sh adds it up. */
void test_contraction_report(void);

/* Frees the memory that test_contraction_try keeps from one to the next. */
void test_contraction_done(void);

#endif
