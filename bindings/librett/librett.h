/* librett.h: the interface of LibreTT, the original cuTT's successor, by cuTT's four calls (cutt.h), for C++ programs that are
 * written for it and for CUDA. They link libcutt; it is no part of LibreTT. Results and handles are cuTT's own. */
#ifndef LIBRETT_H
#define LIBRETT_H

#if !defined(__cplusplus)
#error "librett.h is for C++, as LibreTT's own is; in C there is cutt.h"
#elif defined(LIBRETT_USES_HIP) || defined(LIBRETT_USES_SYCL)
#error "cuTT is for CUDA: it has no HIP and no SYCL"
#endif

#include "cutt.h"

using librett_gpuStream_t = cudaStream_t;
typedef cuttHandle librettHandle;

typedef enum librettResult_t {
  LIBRETT_SUCCESS = CUTT_SUCCESS,
  LIBRETT_INVALID_PLAN = CUTT_INVALID_PLAN,
  LIBRETT_INVALID_PARAMETER = CUTT_INVALID_PARAMETER,
  LIBRETT_INVALID_DEVICE = CUTT_INVALID_DEVICE,
  LIBRETT_INTERNAL_ERROR = CUTT_INTERNAL_ERROR,
  LIBRETT_UNDEFINED_ERROR = CUTT_UNDEFINED_ERROR
} librettResult;

inline void librettInitialize() { cuttInitialize(); }
inline void librettFinalize() { cuttFinalize(); }

inline librettResult librettPlan(librettHandle *handle, int rank, const int *dim, const int *permutation,
                                 size_t sizeofType, const librett_gpuStream_t &stream) {
  return static_cast<librettResult>(cuttPlan(handle, rank, dim, permutation, sizeofType, stream));
}
inline librettResult librettPlanMeasure(librettHandle *handle, int rank, const int *dim, const int *permutation,
                                        size_t sizeofType, const librett_gpuStream_t &stream, const void *idata,
                                        void *odata) {
  return static_cast<librettResult>(cuttPlanMeasure(handle, rank, dim, permutation, sizeofType, stream, idata, odata));
}
inline librettResult librettExecute(librettHandle handle, const void *idata, void *odata) {
  return static_cast<librettResult>(cuttExecute(handle, idata, odata));
}
inline librettResult librettDestroy(librettHandle handle) { return static_cast<librettResult>(cuttDestroy(handle)); }

#endif
