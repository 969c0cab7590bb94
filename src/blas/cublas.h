/* Between cublas.c and cublas_speed.c. */
#ifndef CUTT_BLAS_CUBLAS_H
#define CUTT_BLAS_CUBLAS_H

#include "blas/find.h"
#include "plan/backend.h"

/* The runtime of CUDA devices, whose streams, events and memory cuBLAS works with. */
const cutt_runtime *cutt_cublas_runtime(void);

#endif
