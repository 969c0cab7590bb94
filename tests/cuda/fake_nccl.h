/* The stand-in for NCCL (fake_nccl.c), as the tests see it. */
#ifndef CUTT_TESTS_CUDA_FAKE_NCCL_H
#define CUTT_TESTS_CUDA_FAKE_NCCL_H

#include <stdatomic.h>
#include <stddef.h>

struct CUstream_st;
struct fake_nccl_comm;

typedef struct fake_nccl_control {
  atomic_long calls,
      fail_at; /* the group or gathering that fails, by its number from when calls was set to 0; 0: none */
  atomic_long between_known; /* messages between memory that it knows */
  void (*open)(int size, struct fake_nccl_comm **comms);
  void (*close)(struct fake_nccl_comm **comms);
  /* Gives a stream something to do, as that of the stand-in for the driver, where streams are late; NULL: they are not. */
  void (*later)(struct CUstream_st *stream, void (*work)(void *data), const void *data, size_t bytes);
} fake_nccl_control;

typedef fake_nccl_control *fake_nccl_function(void);

#endif
