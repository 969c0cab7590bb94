/* A stand-in for a BLAS: it multiplies by plain loops, remembers what it was asked for, and how many threads it was told to
 * use. FAKE_SLEEP, of the environment, has each large product wait so many milliseconds, as where others have the processor.
 * An operand that does not lie at a multiple of its numbers' size ends the program, as it may in a real one. Built
 * several times (FAKE_KIND), as the libraries that the search knows are. */
#ifndef CUTT_TESTS_CONTRACT_FAKE_CBLAS_H
#define CUTT_TESTS_CONTRACT_FAKE_CBLAS_H

#include <stdatomic.h>
#include <stdbool.h>

#define FAKE_OPENBLAS 1 /* on pthreads, with kernels for a processor of long ago */
#define FAKE_ILP64 2    /* an OpenBLAS with integers of 64 bits */
#define FAKE_SERIAL 3   /* an OpenBLAS without threads */
#define FAKE_BLIS 4     /* with a number of threads for each thread, and kernels for Haswell */
#define FAKE_PLAIN 5    /* without a name, and without complex types */
#define FAKE_NOTHING 6  /* no BLAS */
/* Releases that read past their operands, at every product as the worst of them does (src/blas/cblas_defects.c). */
#define FAKE_OPENBLAS_0_3_21 7
#define FAKE_BLIS_0_9 8
#define FAKE_BLIS_0_8 9

enum { FAKE_CALLS = 64 };

typedef struct fake_call {
  bool matrix; /* gemm, not gemv: then n is the columns, k 0, b the vector with its increment in ldb, c's in ldc */
  int op_a, op_b, m, n, k, lda, ldb, ldc;
  const void *a, *b;
  void *c;
  double beta;
} fake_call;

typedef struct fake_cblas_t {
  int threads;         /* what it has been set to; of a thread where the library has it so: see threads_of_thread */
  int most_in_call;    /* the most that a call has found it set to */
  bool only_remember;  /* calls touch no memory */
  atomic_int inside;   /* calls under way */
  atomic_int together; /* the most at once */
  atomic_int calls;    /* also those that are not in the list */
  fake_call call[FAKE_CALLS];
  int (*threads_of_thread)(void);
  void (*forget)(void);
} fake_cblas_t;

typedef fake_cblas_t *fake_cblas_function(void);

#endif
