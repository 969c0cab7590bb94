/* Calls, devices and contexts of the stand-in for the CUDA driver (fake_state.h). */
#include "cuda/fake_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- calls */

fake_control_t fake_driver = {.fail = -1};
pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
int fake_load_error;
static bool initialised;
static int device_count = FAKE_DEVICES, version = 12080;

cutt_cu_result fake_begin(int function) {
  const long number = atomic_fetch_add(&fake_driver.calls[function], 1) + 1;
  if (atomic_load(&fake_driver.fail) == function && atomic_load(&fake_driver.fail_at) == number) {
    atomic_fetch_add(&fake_driver.failed, 1);
    return FAKE_ERROR;
  }
  return initialised || function == FAKE_init ? CUTT_CU_SUCCESS : CUTT_CU_NOT_INITIALIZED;
}

static int number_from(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text ? (int)strtol(text, NULL, 10) : otherwise;
}

FAKE_PUBLIC cutt_cu_result cuInit(unsigned flags) {
  FAKE_BEGIN(init);
  const int error = flags ? CUTT_CU_INVALID_VALUE : number_from("FAKE_CUDA_INIT", 0);
  if (error) return error;
  version = number_from("FAKE_CUDA_VERSION", version);
  device_count = number_from("FAKE_CUDA_DEVICES", device_count);
  fake_load_error = number_from("FAKE_CUDA_LOAD", 0);
  initialised = true;
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuDriverGetVersion(int *value) {
  FAKE_BEGIN(driver_get_version);
  *value = version;
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuGetErrorName(cutt_cu_result error, const char **text) {
  *text = error == FAKE_ERROR ? "FAKE_ERROR" : error == CUTT_CU_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_OTHER";
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuGetErrorString(cutt_cu_result error, const char **text) {
  if (error == FAKE_NO_PEERS) {
    *text = "peer access is not supported";
    return CUTT_CU_SUCCESS;
  }
  *text = error == FAKE_ERROR ? "a failure on request" : error == CUTT_CU_NO_DEVICE ? "no device is there" : "other";
  return CUTT_CU_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------ devices */

FAKE_PUBLIC cutt_cu_result cuDeviceGetCount(int *count) {
  FAKE_BEGIN(device_get_count);
  *count = device_count;
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuDeviceGet(cutt_cu_device *device, int ordinal) {
  FAKE_BEGIN(device_get);
  if (ordinal < 0 || ordinal >= device_count) return CUTT_CU_INVALID_DEVICE;
  *device = ordinal;
  return CUTT_CU_SUCCESS;
}

static const char *const device_name[FAKE_DEVICES] = {"NVIDIA H200", "NVIDIA A100-SXM4-40GB", "Tesla P100-PCIE-16GB"};

FAKE_PUBLIC cutt_cu_result cuDeviceGetName(char *name, int size, cutt_cu_device device) {
  FAKE_BEGIN(device_get_name);
  snprintf(name, (size_t)size, "%s", device_name[device]);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuDeviceTotalMem_v2(size_t *bytes, cutt_cu_device device) {
  FAKE_BEGIN(device_total_mem);
  static const size_t gib[FAKE_DEVICES] = {139, 40, 16};
  *bytes = gib[device] << 30;
  return CUTT_CU_SUCCESS;
}

const int fake_block_shared[FAKE_DEVICES] = {232448, 166912, 49152};

FAKE_PUBLIC cutt_cu_result cuDeviceGetAttribute(int *value, int attribute, cutt_cu_device device) {
  FAKE_BEGIN(device_get_attribute);
  const struct {
    int attribute, value[FAKE_DEVICES];
  } attributes[] = {
      {CUTT_CU_DEVICE_CLOCK_RATE, {1980000, 1410000, 1328500}},
      {CUTT_CU_DEVICE_MULTIPROCESSOR_COUNT, {132, 108, 56}},
      {CUTT_CU_DEVICE_MEMORY_CLOCK_RATE, {3201000, 1215000, 715000}},
      {CUTT_CU_DEVICE_GLOBAL_MEMORY_BUS_WIDTH, {6144, 5120, 4096}},
      {CUTT_CU_DEVICE_L2_CACHE_SIZE, {62914560, 41943040, 4194304}},
      {CUTT_CU_DEVICE_MAX_THREADS_PER_MULTIPROCESSOR, {2048, 2048, 2048}},
      {CUTT_CU_DEVICE_COMPUTE_CAPABILITY_MAJOR, {9, 8, 6}},
      {CUTT_CU_DEVICE_COMPUTE_CAPABILITY_MINOR, {0, 0, 0}},
      {CUTT_CU_DEVICE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, {233472, 167936, 65536}},
      {CUTT_CU_DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
       {fake_block_shared[0], fake_block_shared[1], fake_block_shared[2]}},
      {CUTT_CU_DEVICE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, {0, 0, 0}},
      {CUTT_CU_DEVICE_MAX_BLOCKS_PER_MULTIPROCESSOR, {32, 32, 32}},
      {CUTT_CU_DEVICE_RESERVED_SHARED_MEMORY_PER_BLOCK, {1024, 1024, 0}},
  };
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i) {
    if (attributes[i].attribute != attribute) continue;
    *value = attributes[i].value[device];
    if (attribute == CUTT_CU_DEVICE_L2_CACHE_SIZE && fake_driver.l2_bytes) *value = fake_driver.l2_bytes;
    return CUTT_CU_SUCCESS;
  }
  return CUTT_CU_INVALID_VALUE;
}

/* ----------------------------------------------------------------------------------------------------------- contexts */

enum { MOST = 8 };
static struct CUctx_st primaries[FAKE_DEVICES];
static struct CUctx_st others[8]; /* few, so that addresses are used again */
static unsigned long long next_id = 1;
static _Thread_local struct CUctx_st *stack[MOST];
static _Thread_local int depth;
static _Thread_local int capture_mode; /* 0: global */

struct CUctx_st *fake_current(void) {
  return depth ? stack[depth - 1] : NULL;
}

void fake_unsafe(void) {
  if (atomic_load(&fake_driver.capture_is_on) && capture_mode != CUTT_CU_CAPTURE_MODE_RELAXED) {
    atomic_fetch_add(&fake_driver.forbidden, 1);
  }
}

static void start_context(struct CUctx_st *context, int device) {
  context->id = next_id++;
  context->device = device;
  context->alive = true;
  atomic_store(&context->modules, 0);
}

FAKE_PUBLIC cutt_cu_result cuDevicePrimaryCtxRetain(cutt_cu_context *context, cutt_cu_device device) {
  FAKE_BEGIN(primary_ctx_retain);
  pthread_mutex_lock(&fake_lock);
  if (!primaries[device].alive) start_context(&primaries[device], device);
  pthread_mutex_unlock(&fake_lock);
  *context = &primaries[device];
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuDevicePrimaryCtxGetState(cutt_cu_device device, unsigned *flags, int *active) {
  FAKE_BEGIN(primary_ctx_get_state);
  *flags = 0;
  *active = primaries[device].alive;
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuCtxGetCurrent(cutt_cu_context *context) {
  FAKE_BEGIN(ctx_get_current);
  *context = fake_current();
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuCtxGetDevice(cutt_cu_device *device) {
  FAKE_BEGIN(ctx_get_device);
  FAKE_NEEDS_CONTEXT;
  *device = fake_current()->device;
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuCtxGetId(cutt_cu_context context, unsigned long long *id) {
  FAKE_BEGIN(ctx_get_id);
  if (!context->alive) return CUTT_CU_CONTEXT_IS_DESTROYED;
  *id = context->id;
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuCtxPushCurrent_v2(cutt_cu_context context) {
  FAKE_BEGIN(ctx_push_current);
  if (!context->alive || depth == MOST) return CUTT_CU_INVALID_CONTEXT;
  stack[depth++] = context;
  atomic_fetch_add(&fake_driver.depth, 1);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuCtxPopCurrent_v2(cutt_cu_context *context) {
  FAKE_BEGIN(ctx_pop_current);
  if (!depth) return CUTT_CU_INVALID_CONTEXT;
  *context = stack[--depth];
  atomic_fetch_sub(&fake_driver.depth, 1);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuThreadExchangeStreamCaptureMode(int *mode) {
  FAKE_BEGIN(thread_exchange_stream_capture_mode);
  const int old = capture_mode;
  capture_mode = *mode;
  *mode = old;
  return CUTT_CU_SUCCESS;
}

struct CUctx_st *fake_context_create(int device) {
  struct CUctx_st *made = NULL;
  pthread_mutex_lock(&fake_lock);
  for (size_t i = 0; !made && i < sizeof others / sizeof *others; ++i) {
    if (!others[i].alive) made = &others[i];
  }
  if (made) start_context(made, device);
  pthread_mutex_unlock(&fake_lock);
  return made;
}

void fake_context_destroy(struct CUctx_st *context) { context->alive = false; }

void fake_context_set(struct CUctx_st *context) {
  atomic_fetch_sub(&fake_driver.depth, depth);
  depth = 0;
  if (!context) return;
  stack[depth++] = context;
  atomic_fetch_add(&fake_driver.depth, 1);
}

void fake_reset(int device) { primaries[device].alive = false; }
