/* What the callers of tests/callers share with the program that runs them (test_callers.c): tensors to work on, standing
 * in for the memory that a caller of the original library takes with cudaMalloc, and the check of a result.
 *
 * A caller returns NULL when all went well, or the text of what did not. */
#ifndef CUTT_TESTS_CALLER_H
#define CUTT_TESTS_CALLER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor of distinct elements and room for a result, in the memory that plans work on here: the GPU's where there is
 * one, else the host's. */
typedef struct caller_data {
  void *in, *out;
  size_t bytes; /* of each */
} caller_data;

/* NULL, or what is wrong. caller_close must follow either way. */
const char *caller_open(caller_data *data, int rank, const int *dim, size_t elem_bytes);
void caller_close(caller_data *data);

/* As cudaMemcpy would between two places in that memory: NULL, or what is wrong. */
const char *caller_copy(void *to, const void *from, size_t bytes);

/* NULL when `result` is what caller_open put into data->in with its modes permuted: mode i is mode perm[i]. */
const char *caller_verify(const void *result, int rank, const int *dim, const int *perm, size_t elem_bytes);

#ifdef __cplusplus
}
#endif

#endif
