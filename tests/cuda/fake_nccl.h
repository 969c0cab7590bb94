/* The stand-in for NCCL (fake_nccl.c), as the tests see it. */
#ifndef CUTT_TESTS_CUDA_FAKE_NCCL_H
#define CUTT_TESTS_CUDA_FAKE_NCCL_H

#include <stdatomic.h>

struct fake_nccl_comm;

typedef struct fake_nccl_control {
  atomic_long calls,
      fail_at; /* the group or gathering that fails, by its number from when calls was set to 0; 0: none */
  void (*open)(int size, struct fake_nccl_comm **comms);
  void (*close)(struct fake_nccl_comm **comms);
} fake_nccl_control;

typedef fake_nccl_control *fake_nccl_function(void);

#endif
