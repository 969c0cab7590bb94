/* scale.cu for many executions by one launch: the kernels with alpha and op. */
#define CUTT_BATCHED
#include "scale.cu"
