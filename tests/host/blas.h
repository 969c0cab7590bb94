/* The BLAS libraries that a test can be done with: all that are found here, each by its path, and the stand-ins. */
#ifndef CUTT_TESTS_HOST_BLAS_H
#define CUTT_TESTS_HOST_BLAS_H

#include <stdbool.h>
#include <stdint.h>

#include "cutt_contract.h"

enum { HOST_MOST_LIBRARIES = 32, HOST_PATH = 512 };

typedef struct host_libraries {
  int count;
  char path[HOST_MOST_LIBRARIES][HOST_PATH];
} host_libraries;

/* Debian's and Ubuntu's folders, where several are side by side; and those that CUTT_TEST_BLAS names, with ':' between them. */
void host_find_libraries(host_libraries *list);

/* The stand-ins of these names (tests/contract/fake_cblas.c) in a folder; ended by NULL. */
void host_add_stand_ins(host_libraries *list, const char *folder, const char *const *names);

/* "ij,jk->ik" of square matrices of doubles, on one thread. extents: of two modes, as long-lived as the contraction; library: by
 * which, NULL for what is found. */
void host_describe_product(const int64_t *extents, const char *library, cuttContraction_t *contraction,
                           cuttContractionOptions_t *options);

/* The same as host_find_libraries, for a test that is skipped where there is none. */
void host_need_libraries(host_libraries *list);

/* Adds the stand-ins, all of which must be there. */
void host_need_stand_ins(host_libraries *list, const char *folder, const char *const *names);

#endif
