/* Contractions in one pass on a GPU, whose launches the emulator runs. */
#ifndef CUTT_TESTS_CONTRACT_EMULATED_H
#define CUTT_TESTS_CONTRACT_EMULATED_H

#include "cases.h"
#include "contract/device_pass.h"
#include "placed.h"
#include "simt/engine.h"

/* An H200's, unless a test says otherwise. */
extern cutt_rates test_rates;

/* Runs a shape on tensors whose canonical elements (0, ..., 0) are at these places of these spans, and counts what it does unless counts is
 * NULL. Returns NULL, or what a kernel did wrong. */
const char *emulated_run(const cutt_contraction *contraction, const cutt_device_shape *shape,
                         const simt_span spans[TEST_TENSORS], unsigned char *const at[TEST_TENSORS],
                         simt_counts *counts);

/* Tensors of a contraction, each where a device's memory would begin, or an element behind that. */
const test_placed *emulated_place(const test_contraction *contraction, bool behind);

/* Runs a shape on these, as often as one likes, and holds the result to the plain definition. */
void emulated_hold(const test_contraction *is, const cutt_contraction *contraction, const cutt_device_shape *shape,
                   simt_counts *counts);

/* A contraction of labels of these extents, in their order, as it is without variety. */
void emulated_case(const char *pattern, cuttType_t type, const int64_t *extent, test_contraction *is,
                   cutt_contraction *contraction);

/* Frees all of it. */
int emulated_cleanup(void **unused);

#endif
