/* What the tests with the fake driver and the stand-ins for cuBLAS and cuBLASLt share. */
#ifndef CUTT_TESTS_CONTRACT_CUBLAS_FIXTURE_H
#define CUTT_TESTS_CONTRACT_CUBLAS_FIXTURE_H

#include "blas/find.h"
#include "contract/fake_cublas_lt.h"
#include "cuda/fixture.h"

extern fake_cublas_t *cublas_fake;
extern fake_cublas_lt_t *cublas_lt; /* NULL: the release is linked with none */
extern const cutt_blas *cublas;
extern bool cublas_old; /* a release without integers of 64 bits */

/* A group's set-up: finds both, which must be those that the library finds. */
int cublas_open(void **unused);
/* A test's set-up and tear-down: nothing counted, nothing fails; and nothing is left but the events of handles that are kept. */
int cublas_start(void **unused);
int cublas_finish(void **unused);

/* A stream of the fake driver, which waits for no other. */
cudaStream_t cublas_stream(void);
void cublas_end_stream(cudaStream_t stream);

#endif
