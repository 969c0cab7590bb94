/* The CUDA driver for the tests on a GPU: found at run time, as the library does, so that the programs build and start
 * everywhere. The declarations are the tests' own; they share nothing with the library's loader, which is under test. */
#ifndef CUTT_TESTS_GPU_DRIVER_H
#define CUTT_TESTS_GPU_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/check.h"

typedef unsigned long long gpu_address; /* CUdeviceptr */
typedef void *gpu_context, *gpu_stream, *gpu_event, *gpu_graph, *gpu_graph_exec;
typedef int gpu_result; /* 0: success */

enum {
  GPU_STREAM_NON_BLOCKING = 1,
  GPU_ATTACH_GLOBAL = 1,
  GPU_ATTRIBUTE_MANAGED = 83,
  GPU_ATTRIBUTE_READS_HOST_PAGES = 100, /* all memory of the process is the GPU's too, as plain malloc gives it */
  GPU_CAPTURE_RELAXED = 2
};

/* X(name of the member, symbol, types of the parameters) */
#define GPU_FUNCTIONS(X)                                                                                               \
  X(init, cuInit, (unsigned))                                                                                          \
  X(error_string, cuGetErrorString, (gpu_result, const char **))                                                       \
  X(device_get, cuDeviceGet, (int *, int))                                                                             \
  X(device_name, cuDeviceGetName, (char *, int, int))                                                                  \
  X(device_attribute, cuDeviceGetAttribute, (int *, int, int))                                                         \
  X(primary_retain, cuDevicePrimaryCtxRetain, (gpu_context *, int))                                                    \
  X(primary_release, cuDevicePrimaryCtxRelease_v2, (int))                                                              \
  X(context_create, cuCtxCreate_v2, (gpu_context *, unsigned, int))                                                    \
  X(context_destroy, cuCtxDestroy_v2, (gpu_context))                                                                   \
  X(context_set, cuCtxSetCurrent, (gpu_context))                                                                       \
  X(context_get, cuCtxGetCurrent, (gpu_context *))                                                                     \
  X(synchronize, cuCtxSynchronize, (void))                                                                             \
  X(memory_info, cuMemGetInfo_v2, (size_t *, size_t *))                                                                \
  X(allocate, cuMemAlloc_v2, (gpu_address *, size_t))                                                                  \
  X(release, cuMemFree_v2, (gpu_address))                                                                              \
  X(allocate_pinned, cuMemHostAlloc, (void **, size_t, unsigned))                                                      \
  X(release_pinned, cuMemFreeHost, (void *))                                                                           \
  X(allocate_managed, cuMemAllocManaged, (gpu_address *, size_t, unsigned))                                            \
  X(to_device, cuMemcpyHtoD_v2, (gpu_address, const void *, size_t))                                                   \
  X(to_host, cuMemcpyDtoH_v2, (void *, gpu_address, size_t))                                                           \
  X(within, cuMemcpyDtoD_v2, (gpu_address, gpu_address, size_t))                                                       \
  X(set_bytes, cuMemsetD8_v2, (gpu_address, unsigned char, size_t))                                                    \
  X(set_bytes_async, cuMemsetD8Async, (gpu_address, unsigned char, size_t, gpu_stream))                                \
  X(module_load, cuModuleLoadData, (void **, const void *))                                                            \
  X(module_function, cuModuleGetFunction, (void **, void *, const char *))                                             \
  X(launch, cuLaunchKernel,                                                                                            \
    (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, gpu_stream, void **, void **))      \
  X(stream_create, cuStreamCreate, (gpu_stream *, unsigned))                                                           \
  X(stream_destroy, cuStreamDestroy_v2, (gpu_stream))                                                                  \
  X(stream_synchronize, cuStreamSynchronize, (gpu_stream))                                                             \
  X(stream_query, cuStreamQuery, (gpu_stream))                                                                         \
  X(capture_begin, cuStreamBeginCapture_v2, (gpu_stream, int))                                                         \
  X(capture_end, cuStreamEndCapture, (gpu_stream, gpu_graph *))                                                        \
  X(graph_nodes, cuGraphGetNodes, (gpu_graph, void **, size_t *))                                                      \
  X(graph_instantiate, cuGraphInstantiateWithFlags, (gpu_graph_exec *, gpu_graph, unsigned long long))                 \
  X(graph_launch, cuGraphLaunch, (gpu_graph_exec, gpu_stream))                                                         \
  X(graph_exec_destroy, cuGraphExecDestroy, (gpu_graph_exec))                                                          \
  X(graph_destroy, cuGraphDestroy, (gpu_graph))

#define GPU_MEMBER(member, symbol, parameters) gpu_result(*member) parameters;
typedef struct gpu_driver {
  GPU_FUNCTIONS(GPU_MEMBER)
  int device;          /* the first */
  gpu_context primary; /* its primary context */
} gpu_driver;
#undef GPU_MEMBER

extern gpu_driver gpu;

/* Loads the driver, makes the primary context of the first GPU current, and asks whether the library can use it. False,
 * after a line that says why, when there is nothing to test on: the program then returns 77, "skipped". */
bool gpu_open(void);

/* Fails the test unless a call of the driver has succeeded. */
#define gpu_check(call) gpu_check_at((call), #call, __FILE__, __LINE__)
void gpu_check_at(gpu_result result, const char *call, const char *file, int line);

gpu_address gpu_allocate(size_t bytes);
void gpu_release(gpu_address memory);

static inline void *gpu_pointer(gpu_address memory) { return (void *)(uintptr_t)memory; }

/* A plan for the GPU, with options left at their defaults. */
cuttPlan_t gpu_plan(const test_problem *problem);

/* The bytes of a packed problem's tensor. */
size_t gpu_bytes(const test_problem *problem);

#endif
