/* A GPU as a target of planning: what a device file holds of it, its key, and what a calibration measures. */
#ifndef CUTT_RUNTIME_CUDA_TARGET_H
#define CUTT_RUNTIME_CUDA_TARGET_H

#include "model/device.h"
#include "plan/backend.h"

extern const cutt_schema cutt_cuda_schema;

/* The device's model and what of it is switched on: what the timings of a choice hang on, and not the driver. */
void cutt_cuda_device_key(const cutt_device *device, char *buffer, size_t size);

/* Fills in what a driver does not tell of a device: from what is known of its kind, or from a calibration. */
void cutt_cuda_device_complete(cutt_device *device);

/* See cutt_backend.runtime->measure_target and .explain. */
cuttResult cutt_cuda_measure_target(cutt_target *target, double seconds, bool (*progress)(void *data, double done),
                                    void *data);
void cutt_cuda_explain(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                       cutt_explanation *explanation);

#endif
