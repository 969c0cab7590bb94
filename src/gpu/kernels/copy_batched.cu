/* copy.cu for many executions by one launch: Copy and TiledCopy. */
#define CUTT_BATCHED
#include "copy.cu"
