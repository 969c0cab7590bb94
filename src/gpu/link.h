/* What a link to another device takes, where a kernel writes to that one's memory. */
#ifndef CUTT_GPU_LINK_H
#define CUTT_GPU_LINK_H

#include "gpu/cost.h"

/* What a link takes at least, all lines being written whole. */
double cutt_gpu_least_link_seconds(const cutt_device *device, const cutt_canonical *canonical);

double cutt_gpu_link_seconds(const cutt_device *device, const cutt_canonical *canonical, const cutt_gpu_tile *tile,
                             const cutt_gpu_counts *n, const cutt_candidate *candidate);

#endif
