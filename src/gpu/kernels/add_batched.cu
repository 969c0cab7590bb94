/* add.cu for many executions by one launch: the kernels with beta. */
#define CUTT_BATCHED
#include "add.cu"
