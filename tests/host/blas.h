/* The BLAS libraries that a test can be done with: all that are found here, each by its path, and the stand-ins. */
#ifndef CUTT_TESTS_HOST_BLAS_H
#define CUTT_TESTS_HOST_BLAS_H

#include <stdbool.h>

enum { HOST_MOST_LIBRARIES = 32, HOST_PATH = 512 };

typedef struct host_libraries {
  int count;
  char path[HOST_MOST_LIBRARIES][HOST_PATH];
} host_libraries;

/* Debian's and Ubuntu's folders, where several are side by side; and those that CUTT_TEST_BLAS names, with ':' between them. */
void host_find_libraries(host_libraries *list);

/* The stand-ins of these names (tests/contract/fake_cblas.c) in a folder; ended by NULL. */
void host_add_stand_ins(host_libraries *list, const char *folder, const char *const *names);

#endif
