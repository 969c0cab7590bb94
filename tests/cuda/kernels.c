/* Kernels for the fake driver, which never runs them, in the place of those that the build may or may not have: the tests
 * below say the same with nvcc and without. Taken before the library's own, since it is linked first. */
#include "runtime/cuda/embed.h"

#include <stddef.h>

static const unsigned char image[] = "no code";

const cutt_cuda_embedded cutt_cuda_kernels = {
    .image = {image, NULL}, .probe = image, .arch = {80, 90, 0}, .ptx = 0, .toolkit = 12000};
