/* The paper's performance model (model/mwp.h) for candidates of GPUs, to compare with our own. */
#ifndef CUTT_GPU_PAPER_H
#define CUTT_GPU_PAPER_H

#include "gpu/tile.h"
#include "model/device.h"
#include "model/method.h"
#include "model/mwp.h"

/* What a candidate is in the paper's terms. The tile is what cutt_gpu_tile_derive makes of the candidate. */
void cutt_gpu_paper_kernel(const cutt_device *device, const cutt_canonical *canonical, const cutt_gpu_tile *tile,
                           const cutt_candidate *candidate, cutt_mwp_kernel *kernel);

/* Predicted seconds, above 0 and finite: a pure function that takes some microseconds. */
double cutt_gpu_paper_seconds(const cutt_device *device, const cutt_canonical *canonical, const cutt_gpu_tile *tile,
                              const cutt_candidate *candidate);

#endif
