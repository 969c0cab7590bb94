/* Between find.c, which keeps the lists of libraries, and the files that know one kind of library each. */
#ifndef CUTT_BLAS_FIND_H
#define CUTT_BLAS_FIND_H

#include "blas/gemm.h"

enum { CUTT_WHY_SIZE = 1024 };

/* Why a library was not taken. */
typedef struct cutt_refusal {
  /* There is no such file. Of one that was only looked for, people need not be told. */
  bool missing;
  /* It was not loaded, since there is no room for it in the process's address space. */
  bool no_room;
  /* "/usr/lib/libm.so.6 has no cblas_dgemm: ..." */
  char why[CUTT_WHY_SIZE];
} cutt_refusal;

/* Loads a CBLAS, which lives as long as the process; a library that has been loaded before gives the same one. It is not
 * measured. file: a path, or a name that the loader searches. resident: only if the process has it already. NULL: see the
 * refusal. Called by one thread at a time. */
cutt_blas *cutt_cblas_load(const char *file, bool resident, cutt_refusal *refusal);

/* Looks whether the process's memory is limited, and if so lets a CBLAS have only as many calls at once as there is room for. */
void cutt_cblas_note_limits(const cutt_blas *blas);

/* The same for cuBLAS. file NULL: the one that CUTT_CUBLAS names, or else the best that is found. */
cutt_blas *cutt_cublas_load(const char *file, cutt_refusal *refusal);

/* Floating-point operations per second that are expected of the GPU of the calling thread's current context, or else of the
 * first GPU; 0: not known. */
double cutt_cublas_flops(cuttType_t type);

/* The same, measured: once for each GPU, in some milliseconds. False: that failed. */
bool cutt_cublas_measure(const cutt_blas *blas, double *f64, double *f32);

/* All libraries that were found for a backend, the default one first, ended by NULL. *missing: in words, what was looked for
 * and not found, and what was refused and why; or "". */
const cutt_blas *const *cutt_blas_libraries(cuttBackend_t backend, const char **missing);

#endif
