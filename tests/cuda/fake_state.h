/* What the files of the stand-in for the CUDA driver share: its state, and how each function begins. fake_state.c has contexts, below
 * fake_streams.c, fake_memory.c, and fake_driver.c on top. */
#ifndef CUTT_TESTS_CUDA_FAKE_STATE_H
#define CUTT_TESTS_CUDA_FAKE_STATE_H

#include <pthread.h>

#include "cuda/fake_driver.h"

#define FAKE_PUBLIC __attribute__((visibility("default")))

extern fake_control_t fake_driver;
extern pthread_mutex_t fake_lock;
extern int fake_load_error; /* what loading a module always gives, if not 0 */
extern const int fake_block_shared[FAKE_DEVICES];

/* Counts a call, and tells whether it is to fail. */
cutt_cu_result fake_begin(int function);
#define FAKE_BEGIN(function)                                                                                           \
  do {                                                                                                                 \
    const cutt_cu_result refused = fake_begin(FAKE_##function);                                                        \
    if (refused) return refused;                                                                                       \
  } while (0)

struct CUctx_st *fake_current(void); /* of this thread, or NULL */
#define FAKE_NEEDS_CONTEXT                                                                                             \
  do {                                                                                                                 \
    if (!fake_current()) return CUTT_CU_INVALID_CONTEXT;                                                               \
    if (!fake_current()->alive) return CUTT_CU_CONTEXT_IS_DESTROYED;                                                   \
  } while (0)

/* A call that may wait breaks the captures of its process, unless the thread has a relaxed capture mode. */
void fake_unsafe(void);

struct CUctx_st *fake_context_create(int device);
void fake_context_destroy(struct CUctx_st *context);
void fake_context_set(struct CUctx_st *context);
void fake_reset(int device);

struct CUstream_st *fake_stream_of(cudaStream_t stream); /* the default stream's state for NULL */
void fake_streams_sweep(void);
void fake_capture_begin(struct CUstream_st *stream);
bool fake_capture_end(struct CUstream_st *stream);

void fake_memory_enter(void *memory, size_t bytes, enum fake_memory kind, int device);
void fake_memory_sweep(void);

#endif
