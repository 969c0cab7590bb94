/* The GPU as an engine of the tests (support/engine.h). gpu_open must have succeeded. */
#ifndef CUTT_TESTS_GPU_ENGINE_H
#define CUTT_TESTS_GPU_ENGINE_H

#include "support/engine.h"

extern const test_engine test_engine_gpu;

/* Frees the device memory that is kept from one execution to the next. */
void test_engine_gpu_cleanup(void);

#endif
