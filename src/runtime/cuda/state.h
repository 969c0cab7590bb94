/* What the runtime knows of the process's GPUs and contexts.
 *
 * A GPU is its description: asked of the driver once, without a context, since planning needs numbers only.
 *
 * The library works in the calling thread's current context. A thread that has none works in the context of the stream at hand,
 * if there is one, or else in the primary context of the CUDA run time's current device, or of device 0 if the program has no
 * such run time; it is made current for the time of a call and then put back. */
#ifndef CUTT_RUNTIME_CUDA_STATE_H
#define CUTT_RUNTIME_CUDA_STATE_H

#include "model/device.h"
#include "runtime/cuda/driver.h"

typedef struct cutt_cuda_gpu {
  cutt_cu_device handle;
  cutt_device properties;
  char isa[16];          /* "sm_90" */
  bool reads_host_pages; /* kernels reach all memory of the process, as the processor does */
  bool usable;           /* the library has kernels for it */
  char why[256];         /* if not */
} cutt_cuda_gpu;

/* All GPUs of the process; at least one. Safe from any thread; they live as long as the library. */
const cutt_cuda_gpu *cutt_cuda_gpus(const cutt_cu *cu, int *count);

/* That of the calling thread's current context, or the one that it would work on without. NULL, with the error worded, when the driver fails. */
const cutt_cuda_gpu *cutt_cuda_gpu_current(const cutt_cu *cu);

/* Identifies the device by its name, its compute capability and its SMs: what timings depend on; the driver is left out. */
enum { CUTT_CUDA_KEY_BYTES = 160 };
void cutt_cuda_device_key(const cutt_device *device, char *buffer, size_t size);

/* Adds to a description the runtime's table, and what a driver does not tell and the methods for the device want to know.
 * Defined where runtime and methods are put together (src/backends.c), so that the runtime need not know them. key: the
 * device's, in wisdom and in device files. */
void cutt_cuda_complete(const char *key, cutt_device *device);

/* Work in the calling thread's context, other than an execution. While it lasts, the thread may make calls that would
 * otherwise break a capture under way in another stream. */
typedef struct cutt_cuda_scope {
  const cutt_cu *cu;
  cutt_cu_context context; /* current, never NULL */
  bool pushed;
  int capture_mode; /* of the thread, to be put back; -1: it was not changed */
} cutt_cuda_scope;

/* Errors: CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR; then there is nothing to leave. */
cuttResult cutt_cuda_enter(cutt_cuda_scope *scope);
cuttResult cutt_cuda_enter_stream(cudaStream_t stream, cutt_cuda_scope *scope);
cuttResult cutt_cuda_enter_context(cutt_cu_context context, cutt_cuda_scope *scope);
void cutt_cuda_leave(const cutt_cuda_scope *scope);

/* The id of a context; 0 where the driver has no such thing. It fails for a context that has been destroyed. */
cutt_cu_result cutt_cuda_context_id(const cutt_cu *cu, cutt_cu_context context, unsigned long long *id);

#endif
