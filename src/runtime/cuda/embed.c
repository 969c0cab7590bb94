/* The compiled kernels, put into the library by the assembler (.incbin): that costs the compiler nothing, and GCC and Clang
 * both have it on every processor.
 *
 * The build says what there is, in a header that it makes:
 *   CUTT_CUDA_IMAGES     X(tile) X(copy) ...: <name>.fatbin in the folder CUTT_CUDA_IMAGE_DIR, and probe.fatbin. Not
 *                        defined: no kernels,
 *   CUTT_CUDA_NONE       and why
 *   CUTT_CUDA_ARCH_LIST  75, 80, ...
 *   CUTT_CUDA_PTX, CUTT_CUDA_TOOLKIT, CUTT_CUDA_PARAMETER_BYTES */
#include "runtime/cuda/embed.h"

#include <stddef.h>

#include "cutt_cuda_kernels.h"

#ifdef CUTT_CUDA_IMAGES

/* Aligned as the driver's own tools do it, and hidden: no symbol of the shared library. */
#define X(name)                                                                                                        \
  __asm__(                                                                                                             \
      ".pushsection .rodata\n"                                                                                         \
      ".balign 64\n"                                                                                                   \
      ".globl cutt_cuda_image_" #name                                                                                  \
      "\n"                                                                                                             \
      ".hidden cutt_cuda_image_" #name                                                                                 \
      "\n"                                                                                                             \
      ".type cutt_cuda_image_" #name                                                                                   \
      ", %object\n"                                                                                                    \
      "cutt_cuda_image_" #name                                                                                         \
      ":\n"                                                                                                            \
      ".incbin \"" CUTT_CUDA_IMAGE_DIR "/" #name                                                                       \
      ".fatbin\"\n"                                                                                                    \
      ".size cutt_cuda_image_" #name ", . - cutt_cuda_image_" #name                                                    \
      "\n"                                                                                                             \
      ".byte 0\n"                                                                                                      \
      ".popsection\n");                                                                                                \
  extern const unsigned char cutt_cuda_image_##name[] __attribute__((visibility("hidden")));
CUTT_CUDA_IMAGES
X(probe)
#undef X

#define X(name) CUTT_CUDA_IMAGE_##name,
enum { CUTT_CUDA_IMAGES CUTT_CUDA_IMAGE_COUNT };
#undef X
_Static_assert((int)CUTT_CUDA_IMAGE_COUNT < (int)CUTT_CUDA_MOST_IMAGES, "an image that there is no room for");

#define X(name) .image[CUTT_CUDA_IMAGE_##name] = cutt_cuda_image_##name, .source[CUTT_CUDA_IMAGE_##name] = #name,
const cutt_cuda_embedded cutt_cuda_kernels = {
    CUTT_CUDA_IMAGES.arch = {CUTT_CUDA_ARCH_LIST, 0},
    .probe = cutt_cuda_image_probe,
    .ptx = CUTT_CUDA_PTX,
    .toolkit = CUTT_CUDA_TOOLKIT,
    .parameter_bytes = CUTT_CUDA_PARAMETER_BYTES,
};
#undef X

#else

const cutt_cuda_embedded cutt_cuda_kernels = {.none = CUTT_CUDA_NONE};

#endif
