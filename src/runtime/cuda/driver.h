/* The CUDA driver, found at run time: one binary serves machines with and without a GPU, and links nothing of CUDA.
 *
 * The few types and functions of the driver API that the library uses are declared here, from its public documentation,
 * so that building needs no CUDA header either. A name is that of the symbol in libcuda.so.1, with the suffix that the
 * driver's binary interface has given it. */
#ifndef CUTT_RUNTIME_CUDA_DRIVER_H
#define CUTT_RUNTIME_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cutt.h"

typedef int cutt_cu_result; /* 0: success */
typedef int cutt_cu_device; /* ordinals, as the driver hands them out */
typedef struct CUctx_st *cutt_cu_context;
typedef struct CUmod_st *cutt_cu_module;
typedef struct CUfunc_st *cutt_cu_function;
typedef struct CUevent_st *cutt_cu_event;
typedef unsigned long long cutt_cu_address; /* CUdeviceptr, on systems of 64 bits */
typedef struct cutt_cu_ipc_handle {         /* CUipcMemHandle, CUipcEventHandle */
  char reserved[64];
} cutt_cu_ipc_handle;

enum { /* cutt_cu_result */
       CUTT_CU_SUCCESS = 0,
       CUTT_CU_INVALID_VALUE = 1,
       CUTT_CU_NOT_INITIALIZED = 3,
       CUTT_CU_DEINITIALIZED = 4,
       CUTT_CU_NO_DEVICE = 100,
       CUTT_CU_INVALID_DEVICE = 101,
       CUTT_CU_INVALID_IMAGE = 200,
       CUTT_CU_INVALID_CONTEXT = 201,
       CUTT_CU_NO_BINARY_FOR_GPU = 209,
       CUTT_CU_INVALID_PTX = 218,
       CUTT_CU_UNSUPPORTED_PTX_VERSION = 222,
       CUTT_CU_JIT_COMPILATION_DISABLED = 223,
       CUTT_CU_INVALID_HANDLE = 400,
       CUTT_CU_NOT_FOUND = 500,
       CUTT_CU_NOT_READY = 600,
       CUTT_CU_PEER_ACCESS_ALREADY_ENABLED = 704,
       CUTT_CU_CONTEXT_IS_DESTROYED = 709
};

enum {                                 /* CUdevice_attribute */
       CUTT_CU_DEVICE_CLOCK_RATE = 13, /* kHz */
       CUTT_CU_DEVICE_MULTIPROCESSOR_COUNT = 16,
       CUTT_CU_DEVICE_MEMORY_CLOCK_RATE = 36,       /* kHz */
       CUTT_CU_DEVICE_GLOBAL_MEMORY_BUS_WIDTH = 37, /* bits */
       CUTT_CU_DEVICE_L2_CACHE_SIZE = 38,
       CUTT_CU_DEVICE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
       CUTT_CU_DEVICE_COMPUTE_CAPABILITY_MAJOR = 75,
       CUTT_CU_DEVICE_COMPUTE_CAPABILITY_MINOR = 76,
       CUTT_CU_DEVICE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
       CUTT_CU_DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
       CUTT_CU_DEVICE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100,
       CUTT_CU_DEVICE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
       CUTT_CU_DEVICE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111
};

enum { /* CUfunction_attribute */
       CUTT_CU_FUNCTION_SHARED_SIZE_BYTES = 1,
       CUTT_CU_FUNCTION_PTX_VERSION = 5, /* 10 * major + minor of the virtual architecture that it was compiled for */
       CUTT_CU_FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
       CUTT_CU_FUNCTION_PREFERRED_SHARED_MEMORY_CARVEOUT = 9 /* per cent */
};

enum {                                     /* CUpointer_attribute */
       CUTT_CU_POINTER_MEMORY_TYPE = 2,    /* unsigned: CUmemorytype */
       CUTT_CU_POINTER_DEVICE_POINTER = 3, /* where kernels of the current context find it */
       CUTT_CU_POINTER_BUFFER_ID = 7,      /* unsigned long long: never given twice in a process */
       CUTT_CU_POINTER_IS_MANAGED = 8,     /* int */
       CUTT_CU_POINTER_DEVICE_ORDINAL = 9  /* int */
};

enum { /* CUmemorytype */
       CUTT_CU_MEMORY_HOST = 1,
       CUTT_CU_MEMORY_DEVICE = 2
};

/* CUmemLocation, and what cuMemGetAccess says of one. */
typedef struct cutt_cu_location {
  int type, id;
} cutt_cu_location;
enum { CUTT_CU_LOCATION_DEVICE = 1, CUTT_CU_ACCESS_READ_AND_WRITE = 3 };

enum { CUTT_CU_STREAM_PER_THREAD = 2 }; /* the last of the default streams' numbers: 0, cudaStreamLegacy, this */
enum { CUTT_CU_STREAM_DEFAULT = 0, CUTT_CU_STREAM_NON_BLOCKING = 1 };
enum { CUTT_CU_EVENT_DEFAULT = 0, CUTT_CU_EVENT_DISABLE_TIMING = 2, CUTT_CU_EVENT_INTERPROCESS = 4 };
enum { CUTT_CU_IPC_ENABLE_PEER_ACCESS = 1, CUTT_CU_HOST_PORTABLE = 1 };
enum { CUTT_CU_CAPTURE_NONE = 0 };         /* CUstreamCaptureStatus */
enum { CUTT_CU_CAPTURE_MODE_RELAXED = 2 }; /* CUstreamCaptureMode */

/* CUlaunchAttribute and CUlaunchConfig. */
enum { CUTT_CU_LAUNCH_PROGRAMMATIC_SERIALIZATION = 6 };
typedef struct cutt_cu_launch_attribute {
  int id, unused; /* values begin at multiples of 8 bytes */
  union {
    char reserved[64];
    int allowed;
  } value;
} cutt_cu_launch_attribute;
typedef struct cutt_cu_launch_config {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  cudaStream_t stream;
  cutt_cu_launch_attribute *attributes;
  unsigned attribute_count;
} cutt_cu_launch_config;

/* Every function that is used: X(name of the member, symbol, types of the parameters). */
#define CUTT_CU_FUNCTIONS(X)                                                                                           \
  X(init, cuInit, (unsigned flags))                                                                                    \
  X(driver_get_version, cuDriverGetVersion, (int *version))                                                            \
  X(get_error_name, cuGetErrorName, (cutt_cu_result error, const char **text))                                         \
  X(get_error_string, cuGetErrorString, (cutt_cu_result error, const char **text))                                     \
  X(device_get_count, cuDeviceGetCount, (int *count))                                                                  \
  X(device_get, cuDeviceGet, (cutt_cu_device * device, int ordinal))                                                   \
  X(device_get_name, cuDeviceGetName, (char *name, int size, cutt_cu_device device))                                   \
  X(device_total_mem, cuDeviceTotalMem_v2, (size_t * bytes, cutt_cu_device device))                                    \
  X(device_get_attribute, cuDeviceGetAttribute, (int *value, int attribute, cutt_cu_device device))                    \
  X(primary_ctx_retain, cuDevicePrimaryCtxRetain, (cutt_cu_context * context, cutt_cu_device device))                  \
  X(primary_ctx_get_state, cuDevicePrimaryCtxGetState, (cutt_cu_device device, unsigned *flags, int *active))          \
  X(ctx_get_current, cuCtxGetCurrent, (cutt_cu_context * context))                                                     \
  X(stream_get_ctx, cuStreamGetCtx, (cudaStream_t stream, cutt_cu_context * context))                                  \
  X(ctx_get_device, cuCtxGetDevice, (cutt_cu_device * device))                                                         \
  X(ctx_push_current, cuCtxPushCurrent_v2, (cutt_cu_context context))                                                  \
  X(ctx_pop_current, cuCtxPopCurrent_v2, (cutt_cu_context * context))                                                  \
  X(module_load_data, cuModuleLoadData, (cutt_cu_module * module, const void *image))                                  \
  X(module_unload, cuModuleUnload, (cutt_cu_module module))                                                            \
  X(module_get_function, cuModuleGetFunction, (cutt_cu_function * function, cutt_cu_module module, const char *name))  \
  X(func_get_attribute, cuFuncGetAttribute, (int *value, int attribute, cutt_cu_function function))                    \
  X(func_set_attribute, cuFuncSetAttribute, (cutt_cu_function function, int attribute, int value))                     \
  X(launch_kernel, cuLaunchKernel,                                                                                     \
    (cutt_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared_bytes, cudaStream_t stream, void **parameters, void **extra))                   \
  X(pointer_get_attribute, cuPointerGetAttribute, (void *value, int attribute, cutt_cu_address pointer))               \
  X(pointer_get_attributes, cuPointerGetAttributes,                                                                    \
    (unsigned count, int *attributes, void **values, cutt_cu_address pointer))                                         \
  X(mem_get_access, cuMemGetAccess,                                                                                    \
    (unsigned long long *flags, const cutt_cu_location *location, cutt_cu_address pointer))                            \
  X(mem_get_address_range, cuMemGetAddressRange_v2, (cutt_cu_address * base, size_t * bytes, cutt_cu_address pointer)) \
  X(mem_host_alloc, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                                     \
  X(mem_free_host, cuMemFreeHost, (void *memory))                                                                      \
  X(ctx_enable_peer_access, cuCtxEnablePeerAccess, (cutt_cu_context peer, unsigned flags))                             \
  X(ipc_get_mem_handle, cuIpcGetMemHandle, (cutt_cu_ipc_handle * handle, cutt_cu_address memory))                      \
  X(ipc_open_mem_handle, cuIpcOpenMemHandle_v2, (cutt_cu_address * memory, cutt_cu_ipc_handle handle, unsigned flags)) \
  X(ipc_close_mem_handle, cuIpcCloseMemHandle, (cutt_cu_address memory))                                               \
  X(ipc_get_event_handle, cuIpcGetEventHandle, (cutt_cu_ipc_handle * handle, cutt_cu_event event))                     \
  X(ipc_open_event_handle, cuIpcOpenEventHandle, (cutt_cu_event * event, cutt_cu_ipc_handle handle))                   \
  X(mem_get_info, cuMemGetInfo_v2, (size_t * unused, size_t * all))                                                    \
  X(mem_alloc, cuMemAlloc_v2, (cutt_cu_address * memory, size_t bytes))                                                \
  X(mem_free, cuMemFree_v2, (cutt_cu_address memory))                                                                  \
  X(memcpy, cuMemcpy, (cutt_cu_address to, cutt_cu_address from, size_t bytes))                                        \
  X(memcpy_async, cuMemcpyAsync, (cutt_cu_address to, cutt_cu_address from, size_t bytes, cudaStream_t stream))        \
  X(memcpy_dtod_async, cuMemcpyDtoDAsync_v2,                                                                           \
    (cutt_cu_address to, cutt_cu_address from, size_t bytes, cudaStream_t stream))                                     \
  X(memset_d8_async, cuMemsetD8Async,                                                                                  \
    (cutt_cu_address memory, unsigned char value, size_t bytes, cudaStream_t stream))                                  \
  X(memset_d2d32_async, cuMemsetD2D32Async,                                                                            \
    (cutt_cu_address memory, size_t pitch, unsigned value, size_t width, size_t height, cudaStream_t stream))          \
  X(stream_create, cuStreamCreate, (cudaStream_t * stream, unsigned flags))                                            \
  X(stream_create_with_priority, cuStreamCreateWithPriority, (cudaStream_t * stream, unsigned flags, int priority))    \
  X(ctx_get_stream_priority_range, cuCtxGetStreamPriorityRange, (int *least, int *greatest))                           \
  X(stream_destroy, cuStreamDestroy_v2, (cudaStream_t stream))                                                         \
  X(stream_synchronize, cuStreamSynchronize, (cudaStream_t stream))                                                    \
  X(stream_wait_event, cuStreamWaitEvent, (cudaStream_t stream, cutt_cu_event event, unsigned flags))                  \
  X(stream_is_capturing, cuStreamIsCapturing, (cudaStream_t stream, int *status))                                      \
  X(thread_exchange_stream_capture_mode, cuThreadExchangeStreamCaptureMode, (int *mode))                               \
  X(event_create, cuEventCreate, (cutt_cu_event * event, unsigned flags))                                              \
  X(event_destroy, cuEventDestroy_v2, (cutt_cu_event event))                                                           \
  X(event_record, cuEventRecord, (cutt_cu_event event, cudaStream_t stream))                                           \
  X(event_query, cuEventQuery, (cutt_cu_event event))                                                                  \
  X(event_synchronize, cuEventSynchronize, (cutt_cu_event event))                                                      \
  X(event_elapsed_time, cuEventElapsedTime, (float *milliseconds, cutt_cu_event start, cutt_cu_event end))

/* Those that only newer drivers have: NULL where not. */
#define CUTT_CU_NEWER_FUNCTIONS(X)                                                                                     \
  X(mem_alloc_async, cuMemAllocAsync, (cutt_cu_address * memory, size_t bytes, cudaStream_t stream)) /* 11.2 */        \
  X(mem_free_async, cuMemFreeAsync, (cutt_cu_address memory, cudaStream_t stream))                   /* 11.2 */        \
  X(ctx_get_id, cuCtxGetId, (cutt_cu_context context, unsigned long long *id))                       /* 12.0 */        \
  X(launch_kernel_ex, cuLaunchKernelEx,                                                              /* 11.8 */        \
    (const cutt_cu_launch_config *config, cutt_cu_function function, void **parameters, void **extra))                 \
  X(func_load, cuFuncLoad, (cutt_cu_function function)) /* 12.4 */

#define CUTT_CU_MEMBER(member, symbol, parameters) cutt_cu_result(*member) parameters;
typedef struct cutt_cu {
  CUTT_CU_FUNCTIONS(CUTT_CU_MEMBER)
  CUTT_CU_NEWER_FUNCTIONS(CUTT_CU_MEMBER)
  int version; /* 1000 * major + 10 * minor of the CUDA that the driver is for */
  int devices; /* at least 1 */
} cutt_cu;
#undef CUTT_CU_MEMBER

/* The driver, loaded and initialised at the first call in the process, whatever came of it; NULL with *why, a text for
 * people that lives as long as the library, when it is missing, too old, or finds no device. Safe from any thread. */
const cutt_cu *cutt_cuda_driver(const char **why);

/* The same without loading it: NULL unless the library has loaded it, and it works. An atomic load. */
const cutt_cu *cutt_cuda_driver_in_use(void);

/* CUTT_CUDA in the environment is 0 or off, or nothing that it may be: *why says so. */
bool cutt_cuda_forbidden(const char **why);

/* The calling thread's device by the CUDA run time, where the process has a shared one; else 0. The run time is never loaded.
 * Costs as cutt_cuda_driver_loaded below. */
int cutt_cuda_current_device(void);

/* Words a driver call's failure with the driver's own text, and returns what it is for a user: CUTT_INVALID_DEVICE for
 * what the device or context is not up to, else CUTT_INTERNAL_ERROR. doing: "cuMemAlloc of 4096 bytes". */
cuttResult cutt_cuda_failed(const cutt_cu *cu, cutt_cu_result error, const char *doing, ...)
    __attribute__((format(printf, 3, 4)));

/* The driver's function that tells what memory a pointer is to; NULL unless cutt_cuda_driver_loaded has found it. An atomic
 * load. */
typedef cutt_cu_result cutt_cu_pointer_query(void *value, int attribute, cutt_cu_address pointer);
cutt_cu_pointer_query *cutt_cuda_pointer_query(void);

/* The runtime's driver_loaded: has anyone brought the driver into the process? Loads nothing, and costs what the loader takes
 * to say that no library has been loaded since the last time. */
bool cutt_cuda_driver_loaded(void);

#endif
