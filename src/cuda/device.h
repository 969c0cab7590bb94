/* A CUDA device as numbers: all that planning needs, so that a plan for any device can be made on any machine. */
#ifndef CUTT_CUDA_DEVICE_H
#define CUTT_CUDA_DEVICE_H

#include <stdint.h>

typedef struct cutt_cuda_device {
  char name[96];
  int major, minor;          /* compute capability */
  int sms;                   /* streaming multiprocessors */
  int sm_threads, sm_blocks; /* most resident on an SM */
  int sm_shared;             /* bytes of shared memory of an SM */
  int block_shared;          /* most that a block may have, opted in to */
  int reserved_shared;       /* what the system takes of each block's (1 KB from sm_80 on) */
  int64_t l2_bytes, memory_bytes;
  double clock_hz;         /* of the SMs */
  double memory_bandwidth; /* bytes per second, from clock and width of the bus; 0: unknown */
} cutt_cuda_device;

#endif
