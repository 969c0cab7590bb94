/* tile.cu for many executions by one launch: Tiled, Packed and PackedSplit. */
#define CUTT_BATCHED
#include "tile.cu"
