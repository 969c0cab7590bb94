/* The backends that this build has, best first. The one file that knows them all. */
#include "cpu/cpu.h"
#include "plan/backend.h"
#include "runtime/cuda/cuda.h"

const cutt_backend *const cutt_backends[] = {&cutt_cuda_backend, &cutt_cpu_backend, NULL};
