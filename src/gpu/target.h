/* A GPU as a target of planning: what a device file holds of it, and a candidate there, explained. */
#ifndef CUTT_GPU_TARGET_H
#define CUTT_GPU_TARGET_H

#include "model/device.h"
#include "model/method.h"

extern const cutt_schema cutt_gpu_schema;

/* Fills in what a driver does not tell of a device, from what is known of its kind. */
void cutt_gpu_complete(cutt_device *device);

/* See cutt_methods.explain. */
void cutt_gpu_explain(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                      cutt_explanation *explanation);

#endif
