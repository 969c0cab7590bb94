/* The kernels as the library carries them: made by nvcc, for several architectures at once, and taken by the driver as
 * they are. A build without nvcc carries none, and says so. */
#ifndef CUTT_RUNTIME_CUDA_EMBED_H
#define CUTT_RUNTIME_CUDA_EMBED_H

enum { CUTT_CUDA_MOST_IMAGES = 32, CUTT_CUDA_MOST_ARCHS = 24 };

typedef struct cutt_cuda_embedded {
  const void *image[CUTT_CUDA_MOST_IMAGES];  /* one for each source file of kernels; ended by NULL */
  const char *source[CUTT_CUDA_MOST_IMAGES]; /* "tile" for tile.cu; NULL: the image has all kernels */
  const void *probe;                         /* the image of probe.cu, which no plan needs */
  int arch[CUTT_CUDA_MOST_ARCHS];            /* that there is code for: 90 is sm_90; ended by 0 */
  int ptx;                                   /* the architecture that there is PTX for; 0: none */
  int toolkit;                               /* version of the compiler, as drivers number it: 13000 */
  int parameter_bytes;                       /* the most that a kernel's parameters have */
  const char *none;                          /* why there are no images; NULL: there are */
} cutt_cuda_embedded;

extern const cutt_cuda_embedded cutt_cuda_kernels;

#endif
