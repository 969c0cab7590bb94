/* Measuring what the models need to know of a GPU and its driver does not tell. */
#ifndef CUTT_RUNTIME_CUDA_PROBE_H
#define CUTT_RUNTIME_CUDA_PROBE_H

#include <stdbool.h>

#include "cutt.h"
#include "model/target.h"

enum { CUTT_CUDA_PROBE_LANES = 32 };

typedef struct cutt_cuda_probe {
  double copy_bandwidth;                  /* bytes per second, read and written ones: the driver's own copy */
  double read_bandwidth, write_bandwidth; /* bytes per second: a kernel that only reads, or writes */
  double launch_seconds;                  /* of an empty kernel with a plan's parameters, from event to event */
  double memory_latency;                  /* SM cycles of a load that no cache has, by one lane of a warp */
  double departure_delay;                 /* further cycles for each further lane, in a cache line of its own */
  double shared_latency;                  /* SM cycles of a load from shared memory */
  double chase[CUTT_CUDA_PROBE_LANES];    /* cycles per access by 1 to 32 lanes, as measured (Fig. 4) */
  double fit_error; /* of latency and delay: root mean square of their error in chase, over its mean */
} cutt_cuda_probe;

/* Measures the GPU of the calling thread's current context (else the first) in that context. Takes about two seconds and
 * two buffers in device memory, which are gone afterwards with all else. Bandwidths are those of large transfers with
 * their launches. progress, unless NULL, is called now and then with the part that is done, up to 1; when it returns
 * false, measuring ends.
 * Errors: CUTT_INVALID_DEVICE: no GPU that the library has kernels for; CUTT_INTERNAL_ERROR: the driver fails (too little
 * memory, say), or progress has returned false. Then *probe is all zeros. */
cuttResult cutt_cuda_probe_measure(cutt_cuda_probe *probe, bool (*progress)(void *data, double done), void *data);

/* The runtime's measure_target. */
cuttResult cutt_cuda_measure_target(cutt_target *target, double seconds, bool (*progress)(void *data, double done),
                                    void *data);

#endif
