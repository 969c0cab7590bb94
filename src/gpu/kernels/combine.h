/* Operators of kernels that put numbers together two by two. */
#ifndef CUTT_GPU_KERNELS_COMBINE_H
#define CUTT_GPU_KERNELS_COMBINE_H

/* As cuttOperator_t numbers them. A maximum or minimum is a NaN where either number is. */
typedef enum cutt_combine { CUTT_COMBINE_ADD, CUTT_COMBINE_MULTIPLY, CUTT_COMBINE_MAX, CUTT_COMBINE_MIN } cutt_combine;

#endif
