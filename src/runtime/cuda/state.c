/* GPUs, and the current context. See state.h for what they are.
 *
 * Process-wide, because the driver's contexts are: the list of GPUs, written once, and the primary context, under a mutex
 * that no execution takes.
 *
 * A context that is destroyed may leave its address to the next one. Drivers since CUDA 12.0 number contexts, and the
 * number tells the two apart; before, nothing does. */
#include "runtime/cuda/state.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>

#include "base/error.h"
#include "runtime/cuda/embed.h"

/* ------------------------------------------------------------------------------------------------------------- GPUs */

enum { MOST_GPUS = 64 };

static pthread_once_t gpus_once = PTHREAD_ONCE_INIT;
static cutt_cuda_gpu gpus[MOST_GPUS]; /* both written by describe_all() alone */
static int gpu_count;

/* 0 where the driver does not know the attribute. */
static int attribute(const cutt_cu *cu, cutt_cu_device device, int which) {
  int value = 0;
  return cu->device_get_attribute(&value, which, device) ? 0 : value;
}

/* Is there code that this GPU runs: for its own architecture, for an older one of the same generation, or PTX? */
static bool has_kernels(const cutt_device *properties) {
  const int capability = properties->major * 10 + properties->minor;
  for (const int *arch = cutt_cuda_kernels.arch; *arch; ++arch) {
    if (*arch / 10 == properties->major && *arch <= capability) return true;
  }
  return cutt_cuda_kernels.ptx && cutt_cuda_kernels.ptx <= capability;
}

void cutt_cuda_device_key(const cutt_device *device, char *buffer, size_t size) {
  char name[sizeof device->base.name];
  snprintf(name, sizeof name, "%s", device->base.name);
  for (char *c = name; *c != 0; ++c) {
    if (!isalnum((unsigned char)*c)) *c = '_';
  }
  if (size > 0) snprintf(buffer, size, "cuda-%s-sm%d%d-%d", name, device->major, device->minor, device->sms);
}

static void describe(const cutt_cu *cu, cutt_cu_device device, cutt_cuda_gpu *gpu) {
  cutt_device *properties = &gpu->properties;
  gpu->handle = device;
  if (cu->device_get_name(properties->base.name, (int)sizeof properties->base.name, device)) {
    snprintf(properties->base.name, sizeof properties->base.name, "unknown");
  }
  properties->base.name[sizeof properties->base.name - 1] = 0;
  properties->major = attribute(cu, device, CUTT_CU_DEVICE_COMPUTE_CAPABILITY_MAJOR);
  properties->minor = attribute(cu, device, CUTT_CU_DEVICE_COMPUTE_CAPABILITY_MINOR);
  properties->sms = attribute(cu, device, CUTT_CU_DEVICE_MULTIPROCESSOR_COUNT);
  properties->sm_threads = attribute(cu, device, CUTT_CU_DEVICE_MAX_THREADS_PER_MULTIPROCESSOR);
  properties->sm_blocks = attribute(cu, device, CUTT_CU_DEVICE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  properties->sm_shared = attribute(cu, device, CUTT_CU_DEVICE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  properties->block_shared = attribute(cu, device, CUTT_CU_DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  properties->reserved_shared = attribute(cu, device, CUTT_CU_DEVICE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  properties->warp = 32; /* these four are the same on all of NVIDIA's */
  properties->banks = 32;
  properties->bank_bytes = 4;
  properties->sector_bytes = 32;
  properties->l2_bytes = attribute(cu, device, CUTT_CU_DEVICE_L2_CACHE_SIZE);
  size_t bytes = 0;
  properties->memory_bytes = cu->device_total_mem(&bytes, device) ? 0 : (int64_t)bytes;
  properties->clock_hz = 1e3 * attribute(cu, device, CUTT_CU_DEVICE_CLOCK_RATE);
  /* Two transfers in a clock, as the driver counts clocks. */
  properties->memory_bandwidth = 2e3 * attribute(cu, device, CUTT_CU_DEVICE_MEMORY_CLOCK_RATE) *
                                 attribute(cu, device, CUTT_CU_DEVICE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
  snprintf(gpu->isa, sizeof gpu->isa, "sm_%d%d", properties->major, properties->minor);
  gpu->reads_host_pages = attribute(cu, device, CUTT_CU_DEVICE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES) != 0;
  gpu->usable = false;
  if (properties->major < 1 || properties->sms < 1 || properties->sm_threads < 1 || properties->sm_shared < 1 ||
      properties->block_shared < 1) {
    snprintf(gpu->why, sizeof gpu->why, "the driver does not describe its device %s", properties->base.name);
  } else if (!has_kernels(properties)) {
    snprintf(gpu->why, sizeof gpu->why, "%s is of compute capability %d.%d, which this build has no kernels for",
             properties->base.name, properties->major, properties->minor);
  } else {
    gpu->usable = true;
    char key[CUTT_CUDA_KEY_BYTES];
    cutt_cuda_device_key(properties, key, sizeof key);
    cutt_cuda_complete(key, properties);
  }
}

static void describe_all(void) {
  const cutt_cu *cu = cutt_cuda_driver_in_use();
  for (int i = 0; i < cu->devices && i < MOST_GPUS; ++i) {
    cutt_cu_device device = i;
    if (cu->device_get(&device, i)) device = i; /* then it will not describe itself either */
    describe(cu, device, &gpus[gpu_count++]);
  }
}

const cutt_cuda_gpu *cutt_cuda_gpus(const cutt_cu *cu, int *count) {
  (void)cu; /* that there is one is what describe_all needs */
  pthread_once(&gpus_once, describe_all);
  *count = gpu_count;
  return gpus;
}

/* The device of a thread without a context. */
static const cutt_cuda_gpu *default_gpu(const cutt_cu *cu) {
  int count = 0;
  const cutt_cuda_gpu *list = cutt_cuda_gpus(cu, &count);
  const int device = cutt_cuda_current_device();
  return &list[device < count ? device : 0];
}

const cutt_cuda_gpu *cutt_cuda_gpu_current(const cutt_cu *cu) {
  int count = 0;
  const cutt_cuda_gpu *list = cutt_cuda_gpus(cu, &count);
  cutt_cu_context context = NULL;
  cutt_cu_result error = cu->ctx_get_current(&context);
  if (!error && !context) return default_gpu(cu);
  cutt_cu_device device = 0;
  if (!error) error = cu->ctx_get_device(&device);
  if (error) {
    cutt_cuda_failed(cu, error, "asking for the current context");
    return NULL;
  }
  for (int i = 0; i < count; ++i) {
    if (list[i].handle == device) return &list[i];
  }
  cutt_error(CUTT_INVALID_DEVICE, "the current context is on device %d, and only %d devices are known", device, count);
  return NULL;
}

/* ------------------------------------------------------------------------------------------------ the current context */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cutt_cu_context primaries[MOST_GPUS]; /* under the lock */

/* Retained once and never released: there is no moment at which the library would know that it is done. */
static cuttResult retain_primary(const cutt_cu *cu, cutt_cu_context *context) {
  const cutt_cuda_gpu *gpu = default_gpu(cu);
  const cutt_cu_device device = gpu->handle;
  cutt_cu_context *primary = &primaries[gpu - gpus];
  pthread_mutex_lock(&lock);
  *context = *primary;
  unsigned flags = 0;
  int active = 0;
  /* A program that has reset the device took the library's hold away with everyone else's. */
  cutt_cu_result error = *context ? cu->primary_ctx_get_state(device, &flags, &active) : CUTT_CU_SUCCESS;
  if (!error && !active) {
    *context = NULL;
    error = cu->primary_ctx_retain(context, device);
    if (!error) *primary = *context;
  }
  pthread_mutex_unlock(&lock);
  return error ? cutt_cuda_failed(cu, error, "making the primary context of device %d", device) : CUTT_SUCCESS;
}

/* The stream's own, or the primary one: the default streams are of every context. */
static cuttResult find_context(const cutt_cu *cu, cudaStream_t stream, cutt_cu_context *context) {
  if ((uintptr_t)stream <= CUTT_CU_STREAM_PER_THREAD) return retain_primary(cu, context);
  const cutt_cu_result error = cu->stream_get_ctx(stream, context);
  return error ? cutt_cuda_failed(cu, error, "asking for the context of stream %p", (void *)stream) : CUTT_SUCCESS;
}

cuttResult cutt_cuda_enter(cutt_cuda_scope *scope) { return cutt_cuda_enter_stream(NULL, scope); }

cuttResult cutt_cuda_enter_stream(cudaStream_t stream, cutt_cuda_scope *scope) {
  const char *why = NULL;
  const cutt_cu *cu = cutt_cuda_driver(&why);
  if (!cu) return cutt_error(CUTT_INVALID_DEVICE, "CUDA is not usable: %s", why);
  *scope = (cutt_cuda_scope){.cu = cu, .capture_mode = CUTT_CU_CAPTURE_MODE_RELAXED};
  cutt_cu_result error = cu->ctx_get_current(&scope->context);
  if (error) return cutt_cuda_failed(cu, error, "asking for the current context");
  if (!scope->context) {
    const cuttResult result = find_context(cu, stream, &scope->context);
    if (result) return result;
    error = cu->ctx_push_current(scope->context);
    if (error) return cutt_cuda_failed(cu, error, "making context %p current", (void *)scope->context);
    scope->pushed = true;
  }
  /* Best effort: without it all is well unless a capture is under way. */
  if (cu->thread_exchange_stream_capture_mode(&scope->capture_mode)) scope->capture_mode = -1;
  return CUTT_SUCCESS;
}

cuttResult cutt_cuda_enter_context(cutt_cu_context context, cutt_cuda_scope *scope) {
  const char *why = NULL;
  const cutt_cu *cu = cutt_cuda_driver(&why);
  if (!cu) return cutt_error(CUTT_INVALID_DEVICE, "CUDA is not usable: %s", why);
  *scope = (cutt_cuda_scope){.cu = cu, .context = context, .capture_mode = CUTT_CU_CAPTURE_MODE_RELAXED};
  const cutt_cu_result error = cu->ctx_push_current(context);
  if (error) return cutt_cuda_failed(cu, error, "making context %p current", (void *)context);
  scope->pushed = true;
  if (cu->thread_exchange_stream_capture_mode(&scope->capture_mode)) scope->capture_mode = -1;
  return CUTT_SUCCESS;
}

void cutt_cuda_leave(const cutt_cuda_scope *scope) {
  int mode = scope->capture_mode;
  if (mode >= 0) scope->cu->thread_exchange_stream_capture_mode(&mode);
  cutt_cu_context popped = NULL;
  if (scope->pushed && scope->cu->ctx_pop_current(&popped)) {
    cutt_log(CUTT_LOG_WARN, "context %p stays current in this thread: it could not be taken back",
             (void *)scope->context);
  }
}

cutt_cu_result cutt_cuda_context_id(const cutt_cu *cu, cutt_cu_context context, unsigned long long *id) {
  *id = 0;
  return cu->ctx_get_id ? cu->ctx_get_id(context, id) : CUTT_CU_SUCCESS;
}
