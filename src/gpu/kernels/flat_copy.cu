/* Copies of runs without tables (flat_runs.h) that both sides have without gaps, as wide as they are aligned. */
#include "flat_runs.h"

#define DEFINE_FLAT_COPY(bytes, type, most) DEFINE_FLAT_RUNS(copy_##bytes, bytes, type, bytes, most, , , value[i], bytes, bytes)
DEFINE_FLAT_COPY(1, uint8_t, CUTT_FLAT_NARROW)
DEFINE_FLAT_COPY(2, uint16_t, CUTT_FLAT_NARROW)
DEFINE_FLAT_COPY(4, uint32_t, CUTT_FLAT_NARROW)
DEFINE_FLAT_COPY(8, word2, CUTT_FLAT_COPIES)
DEFINE_FLAT_COPY(16, word4, CUTT_FLAT_COPIES)
