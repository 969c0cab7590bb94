/* cutt.h as the variant at hand includes it (CMakeLists.txt has them all). Callers of the original library include
 * CUDA's headers before it or after it, or leave that to it; with this library there may also be none. CALLER(name) is the name
 * of a caller in this variant. */
#define CALLER_CUDA_NONE 0
#define CALLER_CUDA_BEFORE 1
#define CALLER_CUDA_AFTER 2
#define CALLER_CUDA_DRIVER 3
#define CALLER_CUDA_ALONE 4

#if CALLER_CUDA == CALLER_CUDA_BEFORE
#include <cuda_runtime.h>
#elif CALLER_CUDA == CALLER_CUDA_DRIVER
#include <cuda.h>
#elif CALLER_CUDA == CALLER_CUDA_NONE
#define CUTT_NO_CUDA_RUNTIME_H
#endif

#include "cutt.h"

#if CALLER_CUDA == CALLER_CUDA_ALONE && !defined(__DRIVER_TYPES_H__)
#error "cutt.h has not included cuda_runtime.h"
#endif

#if CALLER_CUDA == CALLER_CUDA_AFTER
#include <cuda_runtime.h>
#endif

#include "caller.h"

#define CALLER_PASTE(name, variant) caller_##name##_##variant
#define CALLER_EXPAND(name, variant) CALLER_PASTE(name, variant)
#define CALLER(name) CALLER_EXPAND(name, CALLER_VARIANT)
