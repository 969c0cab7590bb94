/* Between blas.c, which keeps the list of libraries, and the files that know one kind each. */
#ifndef CUTT_BLAS_LIBRARIES_H
#define CUTT_BLAS_LIBRARIES_H

#include "blas/gemm.h"

enum { CUTT_WHY_SIZE = 1024 };

/* Why a library was not taken. */
typedef struct cutt_refusal {
  bool missing;            /* there is no such file: nothing to tell people about one that was only looked for */
  bool no_room;            /* it was not tried, since the process can't map as much as it may take */
  char why[CUTT_WHY_SIZE]; /* "/usr/lib/libm.so.6 has no cblas_dgemm: ..." */
} cutt_refusal;

/* A CBLAS: file is a path or a name for the loader's search. resident: only if it is in the process already. The provider
 * is not measured yet, and lives as long as the process; the same library gives the same one. NULL: see the refusal. Called
 * by one thread at a time. */
cutt_blas *cutt_cblas_load(const char *file, bool resident, cutt_refusal *refusal);

/* Looks whether the process's memory is limited, so that a CBLAS has only as many calls at once as there is room for. */
void cutt_cblas_note_limits(const cutt_blas *blas);

/* cuBLAS, the same. file NULL: what there is, or what CUTT_CUBLAS names. */
cutt_blas *cutt_cublas_load(const char *file, cutt_refusal *refusal);

/* Flops per second on the GPU of the calling thread's current context, or the first; 0: not known. */
double cutt_cublas_flops(cuttType_t type);

/* The same, measured there, once for each GPU: some milliseconds. False: it could not be. */
bool cutt_cublas_measure(const cutt_blas *blas, double *f64, double *f32);

/* All that were found for a backend, the default one first; ended by NULL. *missing: what was looked for in vain, and what
 * was refused and why, for people; "": nothing. */
const cutt_blas *const *cutt_blas_libraries(cuttBackend_t backend, const char **missing);

#endif
