/* Kernels for the fake driver, which never runs them: they replace those of the library, since they are linked first, so that
 * the tests are the same with nvcc and without. */
#include "runtime/cuda/embed.h"

#include <stddef.h>

#ifdef CUTT_PARAMETER_BYTES /* those of the emulator, which runs them then */
enum { PARAMETER_BYTES = CUTT_PARAMETER_BYTES };
#else
enum { PARAMETER_BYTES = 32764 };
#endif

static const unsigned char image[] = "no code";

const cutt_cuda_embedded cutt_cuda_kernels = {.image = {image, NULL},
                                              .probe = image,
                                              .arch = {80, 90, 0},
                                              .ptx = 0,
                                              .toolkit = 12000,
                                              .parameter_bytes = PARAMETER_BYTES};
