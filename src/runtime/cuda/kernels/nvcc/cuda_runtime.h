/* What nvcc puts ahead of every source, where this folder comes first on its include path (cmake/CuttCuda.cmake tries whether that
 * works): of CUDA's own header of this name that which kernels use, in its order. That one declares the whole run time as well, and
 * C++'s mathematical functions with all that they include: 36 000 lines, which take longer to read than a small source to compile. */
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__ /* as CUDA's has it, which this stands for */

/* Is the host's compiler one that nvcc knows? */
#include <crt/host_config.h>

#include <builtin_types.h>
#include <string.h>
#include <vector_functions.h>

/* Functions of CUDA's that no kernel calls want these. */
#define CUTT_LESSER_AND_LARGER(type)                                                                                   \
  static __device__ __forceinline__ type min(type a, type b) { return a < b ? a : b; }                                 \
  static __device__ __forceinline__ type max(type a, type b) { return a > b ? a : b; }
CUTT_LESSER_AND_LARGER(int)
CUTT_LESSER_AND_LARGER(unsigned)
#undef CUTT_LESSER_AND_LARGER

#include <crt/device_functions.h>
#include <device_launch_parameters.h>
