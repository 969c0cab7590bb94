/* What the tests with the fake driver share. */
#ifndef CUTT_TESTS_CUDA_FIXTURE_H
#define CUTT_TESTS_CUDA_FIXTURE_H

#include "cuda/fake_driver.h"
#include "model/device.h"
#include "support/check.h"

extern fake_control_t *fake;

extern const cutt_device fixture_h200; /* what the library reads of the stand-in's device 0 */

/* A group's set-up: finds the fake driver, which must be the one that the library will find. */
int fixture_open(void **unused);
/* A test's set-up and tear-down: no context, nothing counted; and all that was made is gone again. */
int fixture_start(void **unused);
int fixture_end(void **unused);
void fixture_end_but_events(void); /* for libraries that keep theirs */

/* 40 x 30 x 20 elements of 4 bytes, reversed: a problem with several candidates. */
enum { FIXTURE_BYTES = 40 * 30 * 20 * 4 };
cuttProblem_t fixture_problem(void);
cuttPlan_t fixture_plan(void); /* for the GPU, by the model */

/* Device memory of the fake driver. */
void *fixture_device_memory(size_t bytes);
void fixture_free(void *memory);

long fixture_calls(int function);
long fixture_all_calls(void);
/* Calls of a kind that neither planning nor execution may make: of memory, that wait, of events and streams. */
long fixture_heavy_calls(void);

#endif
