/* A stand-in for the CUDA driver: a libcuda.so.1 for machines without a GPU, which the tests put first in LD_LIBRARY_PATH.
 *
 * It keeps state as a driver does (contexts, which of them is current in which thread, modules, memory, streams, events, and
 * a clock that launches advance), counts every call, fails any of them on request, and runs nothing. What a test wants, and
 * what has been called, goes through one struct, which fake_control() of the library hands out. Memory of a "device" is the
 * process's own, so that copies do copy. */
#ifndef CUTT_TESTS_CUDA_FAKE_DRIVER_H
#define CUTT_TESTS_CUDA_FAKE_DRIVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "cuda/fake_late.h"
#include "runtime/cuda/driver.h"

/* FAKE_init, FAKE_launch_kernel, ...: the members of cutt_cu. */
#define FAKE_NUMBER(member, symbol, parameters) FAKE_##member,
enum { CUTT_CU_FUNCTIONS(FAKE_NUMBER) CUTT_CU_NEWER_FUNCTIONS(FAKE_NUMBER) FAKE_FUNCTIONS };
#undef FAKE_NUMBER

enum { FAKE_DEVICES = 3 }; /* 0: sm_90, 1: sm_80, 2: sm_60 */
enum { FAKE_NO_PEERS = 217 };
enum { FAKE_ERROR = 999 }; /* what a call fails with on request; its text is "a failure on request" */

enum fake_memory { FAKE_FREE, FAKE_DEVICE, FAKE_MANAGED, FAKE_PINNED };

struct CUctx_st {
  unsigned long long id;
  int device;
  bool alive;
  atomic_int modules; /* loaded into it */
};

struct CUstream_st {
  struct CUctx_st *context;
  atomic_bool capturing;
  struct CUstream_st *origin; /* whose capture it has joined by an event; NULL: its own */
  long work, joined;          /* what it was given while captured, and how much of that another stream comes after */
  double clock;               /* seconds of work that it has been given */
  atomic_bool used;           /* by cuStreamCreate */
  struct fake_queue *queue;   /* of what it does later; NULL: nothing yet */
};

/* The last launch. */
typedef struct fake_launch {
  struct CUctx_st *context;
  char kernel[64];
  unsigned blocks, threads, shared_bytes;
  cudaStream_t stream;
  bool early; /* it need not wait for the one before it in the stream */
  unsigned long long in, out;
  const void *args;                /* valid during the launch */
  const void *pairs;               /* the same; NULL but for batched kernels */
  unsigned long long right, third; /* second operand of a contraction in one pass; both of an elementwise operation */
  unsigned char args_bytes[4096];  /* args_size of them, copied */
} fake_launch;

typedef struct fake_control {
  atomic_long calls[FAKE_FUNCTIONS];
  /* The call number fail_at (from 1, since fake_forget) of function fail fails; -1: none. */
  atomic_int fail;
  atomic_long fail_at, failed;
  /* Calls that a capture under way forbids, made all the same. */
  atomic_long forbidden;
  atomic_int capture_is_on; /* anywhere in the process */
  atomic_int alive_memory, alive_streams, alive_events;
  atomic_int alive_pinned, alive_opened; /* pinned memory; memory of other processes */
  atomic_int opens;                      /* memory of other processes can be opened; it is the process's own */
  atomic_int enabled;                    /* how often access to another context's memory has been asked for */
  atomic_int depth;                      /* contexts on all stacks */
  atomic_int peers;                      /* devices reach each other's memory */
  atomic_int access;                     /* what other devices may do with it by cuMemGetAccess */
  int compiled_for;                      /* the architecture that kernels were compiled for, as 90 */
  size_t args_size;                      /* to be copied at a launch */
  double launch_seconds;                 /* what a launch takes */
  double (*seconds_of)(const fake_launch *launch); /* or else this, if set */
  /* Runs a kernel, whose args and pairs are valid meanwhile; NULL: nothing is run. Called by the thread that launches, or by the
   * stream's where that is late: then bytes_of says how long args and pairs are, which are copied. */
  void (*run)(const fake_launch *launch);
  void (*bytes_of)(const fake_launch *launch, size_t *args, size_t *pairs);
  double copy_seconds;
  bool copies_nothing; /* copies within device memory only take their time */
  size_t free_bytes;   /* of a device's memory */
  int l2_bytes;        /* of all devices, as the library will describe them; 0: what they have */
  fake_launch last;

  void (*capture_begin)(struct CUstream_st *stream);
  bool (*capture_end)(
      struct CUstream_st *stream); /* false: work of a stream that has joined is not followed by the first one's */
  struct CUctx_st *(*context_create)(int device); /* not current in any thread */
  void (*context_destroy)(struct CUctx_st *context);
  void (*context_set)(struct CUctx_st *context); /* makes it the only one of the calling thread; NULL: none */
  void (*reset)(int device);                     /* the primary context goes, whoever holds it */
  /* Enters memory of the caller's into the driver's map, or takes it out again. */
  void (*memory_enter)(void *memory, size_t bytes, enum fake_memory kind, int device);
  /* Frees memory of devices that is still there, and takes streams and events for freed: where freeing was made to fail. */
  void (*sweep)(void);
  void (*forget)(void); /* counts and requests to fail */
  /* Streams that do their work later (fake_late.h). */
  void (*late)(bool on);
  void (*later)(struct CUstream_st *stream, void (*work)(void *data), const void *data, size_t bytes);
  void (*finish)(struct CUstream_st *stream);
} fake_control_t;

typedef fake_control_t *fake_control_function(void);

#endif
