/* The backends that this build has, best first. The one file that knows them all: here a runtime and the methods for its devices
 * become one. */
#include "cpu/cpu.h"
#include "cpu/target.h"
#include "gpu/gpu.h"
#include "gpu/target.h"
#include "model/backend.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/state.h"
#include "runtime/host/host.h"
#include "runtime/host/machine.h"
#include "store/device_file.h"

const cutt_backend cutt_cuda_backend = {.name = "cuda",
                                        .id = CUTT_BACKEND_CUDA,
                                        .id_name = "CUTT_BACKEND_CUDA",
                                        .schema = &cutt_gpu_schema,
                                        .runtime = &cutt_cuda_runtime,
                                        .methods = &cutt_gpu_methods};

void cutt_cuda_complete(const char *key, cutt_device *device) {
  device->base.runtime = &cutt_cuda_runtime;
  cutt_gpu_complete(device);
  cutt_device_file_overlay(&cutt_gpu_schema, key, &device->base);
}

const cutt_backend cutt_cpu_backend = {.name = "cpu",
                                       .id = CUTT_BACKEND_CPU,
                                       .id_name = "CUTT_BACKEND_CPU",
                                       .schema = &cutt_cpu_schema,
                                       .runtime = &cutt_host_runtime,
                                       .methods = &cutt_cpu_methods};

void cutt_host_complete(const char *key, cutt_cpu_machine *machine) {
  machine->base.runtime = &cutt_host_runtime;
  cutt_cpu_complete(machine);
  cutt_device_file_overlay(&cutt_cpu_schema, key, &machine->base);
}

const cutt_backend *const cutt_backends[] = {&cutt_cuda_backend, &cutt_cpu_backend, NULL};
