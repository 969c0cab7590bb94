/* A stand-in for the CUDA driver (fake_driver.h).
 *
 * From the environment, read at cuInit: FAKE_CUDA_INIT (an error that cuInit gives), FAKE_CUDA_VERSION (12080 else),
 * FAKE_CUDA_DEVICES (3 else), FAKE_CUDA_LOAD (an error that cuModuleLoadData always gives).
 * Compiled with FAKE_LACKS, it lacks cuStreamIsCapturing, as a very old driver does. */
#include "cuda/fake_driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

static fake_control_t control = {.fail = -1};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialised;
static int device_count = FAKE_DEVICES, version = 12080, load_error;

/* ------------------------------------------------------------------------------------------------------------- calls */

/* Every function begins with it: counts the call, and tells whether it is to fail. */
static cutt_cu_result begin(int function) {
  const long number = atomic_fetch_add(&control.calls[function], 1) + 1;
  if (atomic_load(&control.fail) == function && atomic_load(&control.fail_at) == number) {
    atomic_fetch_add(&control.failed, 1);
    return FAKE_ERROR;
  }
  return initialised || function == FAKE_init ? CUTT_CU_SUCCESS : CUTT_CU_NOT_INITIALIZED;
}
#define BEGIN(function)                                                                                                \
  do {                                                                                                                 \
    const cutt_cu_result refused = begin(FAKE_##function);                                                             \
    if (refused) return refused;                                                                                       \
  } while (0)

static int number_from(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text ? (int)strtol(text, NULL, 10) : otherwise;
}

PUBLIC cutt_cu_result cuInit(unsigned flags) {
  BEGIN(init);
  const int error = flags ? CUTT_CU_INVALID_VALUE : number_from("FAKE_CUDA_INIT", 0);
  if (error) return error;
  version = number_from("FAKE_CUDA_VERSION", version);
  device_count = number_from("FAKE_CUDA_DEVICES", device_count);
  load_error = number_from("FAKE_CUDA_LOAD", 0);
  initialised = true;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuDriverGetVersion(int *value) {
  BEGIN(driver_get_version);
  *value = version;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuGetErrorName(cutt_cu_result error, const char **text) {
  *text = error == FAKE_ERROR ? "FAKE_ERROR" : error == CUTT_CU_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_OTHER";
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuGetErrorString(cutt_cu_result error, const char **text) {
  if (error == FAKE_NO_PEERS) {
    *text = "peer access is not supported";
    return CUTT_CU_SUCCESS;
  }
  *text = error == FAKE_ERROR ? "a failure on request" : error == CUTT_CU_NO_DEVICE ? "no device is there" : "other";
  return CUTT_CU_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------ devices */

PUBLIC cutt_cu_result cuDeviceGetCount(int *count) {
  BEGIN(device_get_count);
  *count = device_count;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuDeviceGet(cutt_cu_device *device, int ordinal) {
  BEGIN(device_get);
  if (ordinal < 0 || ordinal >= device_count) return CUTT_CU_INVALID_DEVICE;
  *device = ordinal;
  return CUTT_CU_SUCCESS;
}

static const char *const device_name[FAKE_DEVICES] = {"NVIDIA H200", "NVIDIA A100-SXM4-40GB", "Tesla P100-PCIE-16GB"};

PUBLIC cutt_cu_result cuDeviceGetName(char *name, int size, cutt_cu_device device) {
  BEGIN(device_get_name);
  snprintf(name, (size_t)size, "%s", device_name[device]);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuDeviceTotalMem_v2(size_t *bytes, cutt_cu_device device) {
  BEGIN(device_total_mem);
  static const size_t gib[FAKE_DEVICES] = {139, 40, 16};
  *bytes = gib[device] << 30;
  return CUTT_CU_SUCCESS;
}

static const int shared_of_a_block[FAKE_DEVICES] = {232448, 166912, 49152};

PUBLIC cutt_cu_result cuDeviceGetAttribute(int *value, int attribute, cutt_cu_device device) {
  BEGIN(device_get_attribute);
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
       {shared_of_a_block[0], shared_of_a_block[1], shared_of_a_block[2]}},
      {CUTT_CU_DEVICE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, {0, 0, 0}},
      {CUTT_CU_DEVICE_MAX_BLOCKS_PER_MULTIPROCESSOR, {32, 32, 32}},
      {CUTT_CU_DEVICE_RESERVED_SHARED_MEMORY_PER_BLOCK, {1024, 1024, 0}},
  };
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i) {
    if (attributes[i].attribute != attribute) continue;
    *value = attributes[i].value[device];
    if (attribute == CUTT_CU_DEVICE_L2_CACHE_SIZE && control.l2_bytes) *value = control.l2_bytes;
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

static struct CUctx_st *current(void) { return depth ? stack[depth - 1] : NULL; }

/* A call that may wait breaks the captures of its process, unless the thread has a relaxed capture mode. */
static void unsafe(void) {
  if (atomic_load(&control.capture_is_on) && capture_mode != CUTT_CU_CAPTURE_MODE_RELAXED) {
    atomic_fetch_add(&control.forbidden, 1);
  }
}

#define NEEDS_CONTEXT                                                                                                  \
  do {                                                                                                                 \
    if (!current()) return CUTT_CU_INVALID_CONTEXT;                                                                    \
    if (!current()->alive) return CUTT_CU_CONTEXT_IS_DESTROYED;                                                        \
  } while (0)

static void start_context(struct CUctx_st *context, int device) {
  context->id = next_id++;
  context->device = device;
  context->alive = true;
  atomic_store(&context->modules, 0);
}

PUBLIC cutt_cu_result cuDevicePrimaryCtxRetain(cutt_cu_context *context, cutt_cu_device device) {
  BEGIN(primary_ctx_retain);
  pthread_mutex_lock(&lock);
  if (!primaries[device].alive) start_context(&primaries[device], device);
  pthread_mutex_unlock(&lock);
  *context = &primaries[device];
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuDevicePrimaryCtxGetState(cutt_cu_device device, unsigned *flags, int *active) {
  BEGIN(primary_ctx_get_state);
  *flags = 0;
  *active = primaries[device].alive;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuCtxGetCurrent(cutt_cu_context *context) {
  BEGIN(ctx_get_current);
  *context = current();
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuCtxGetDevice(cutt_cu_device *device) {
  BEGIN(ctx_get_device);
  NEEDS_CONTEXT;
  *device = current()->device;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuCtxGetId(cutt_cu_context context, unsigned long long *id) {
  BEGIN(ctx_get_id);
  if (!context->alive) return CUTT_CU_CONTEXT_IS_DESTROYED;
  *id = context->id;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuCtxPushCurrent_v2(cutt_cu_context context) {
  BEGIN(ctx_push_current);
  if (!context->alive || depth == MOST) return CUTT_CU_INVALID_CONTEXT;
  stack[depth++] = context;
  atomic_fetch_add(&control.depth, 1);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuCtxPopCurrent_v2(cutt_cu_context *context) {
  BEGIN(ctx_pop_current);
  if (!depth) return CUTT_CU_INVALID_CONTEXT;
  *context = stack[--depth];
  atomic_fetch_sub(&control.depth, 1);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuThreadExchangeStreamCaptureMode(int *mode) {
  BEGIN(thread_exchange_stream_capture_mode);
  const int old = capture_mode;
  capture_mode = *mode;
  *mode = old;
  return CUTT_CU_SUCCESS;
}

static struct CUctx_st *context_create(int device) {
  struct CUctx_st *made = NULL;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; !made && i < sizeof others / sizeof *others; ++i) {
    if (!others[i].alive) made = &others[i];
  }
  if (made) start_context(made, device);
  pthread_mutex_unlock(&lock);
  return made;
}

static void context_destroy(struct CUctx_st *context) { context->alive = false; }

static void context_set(struct CUctx_st *context) {
  atomic_fetch_sub(&control.depth, depth);
  depth = 0;
  if (!context) return;
  stack[depth++] = context;
  atomic_fetch_add(&control.depth, 1);
}

static void reset(int device) { primaries[device].alive = false; }

/* ---------------------------------------------------------------------------------------------- modules and launches */

struct CUmod_st {
  struct CUctx_st *context;
};

struct CUfunc_st {
  struct CUctx_st *context;
  unsigned long long context_id;
  char name[64];
  int shared_most, carve_out;
  bool loaded;
};

/* Modules and functions are not freed: a context has few, and a test's process is short. */
static struct CUmod_st modules[1024];
static struct CUfunc_st functions[65536];
static atomic_int module_count, function_count;

PUBLIC cutt_cu_result cuModuleLoadData(cutt_cu_module *module, const void *image) {
  BEGIN(module_load_data);
  NEEDS_CONTEXT;
  unsafe();
  if (load_error) return load_error;
  if (!image) return CUTT_CU_INVALID_IMAGE;
  const int number = atomic_fetch_add(&module_count, 1);
  if (number >= (int)(sizeof modules / sizeof *modules)) return 2;
  struct CUmod_st *made = &modules[number];
  made->context = current();
  atomic_fetch_add(&made->context->modules, 1);
  *module = made;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuModuleUnload(cutt_cu_module module) {
  BEGIN(module_unload);
  atomic_fetch_sub(&module->context->modules, 1);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuModuleGetFunction(cutt_cu_function *function, cutt_cu_module module, const char *name) {
  BEGIN(module_get_function);
  NEEDS_CONTEXT;
  if (strncmp(name, "cutt_", 5) != 0) return CUTT_CU_NOT_FOUND;
  const int number = atomic_fetch_add(&function_count, 1);
  if (number >= (int)(sizeof functions / sizeof *functions)) return 2;
  *function = &functions[number];
  (*function)->context = module->context;
  (*function)->context_id = module->context->id;
  snprintf((*function)->name, sizeof(*function)->name, "%s", name);
  (*function)->shared_most = 49152; /* until more is asked for */
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuFuncLoad(cutt_cu_function function) {
  BEGIN(func_load);
  function->loaded = true;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuFuncGetAttribute(int *value, int attribute, cutt_cu_function function) {
  BEGIN(func_get_attribute);
  if (!function || attribute != CUTT_CU_FUNCTION_SHARED_SIZE_BYTES) return CUTT_CU_INVALID_VALUE;
  *value = 16;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuFuncSetAttribute(cutt_cu_function function, int attribute, int value) {
  BEGIN(func_set_attribute);
  const int most = shared_of_a_block[function->context->device];
  if (attribute == CUTT_CU_FUNCTION_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    function->carve_out = value;
  } else if (attribute == CUTT_CU_FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES && value <= most - 16) {
    function->shared_most = value;
  } else {
    return CUTT_CU_INVALID_VALUE;
  }
  return CUTT_CU_SUCCESS;
}

static struct CUstream_st default_stream; /* of all contexts */
static struct CUstream_st streams[64];

static struct CUstream_st *stream_of(cudaStream_t stream) { return stream ? stream : &default_stream; }

PUBLIC cutt_cu_result cuLaunchKernel(cutt_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                     cudaStream_t stream, void **parameters, void **extra) {
  BEGIN(launch_kernel);
  NEEDS_CONTEXT;
  if (extra || grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || !grid_x || !block_x || block_x > 1024) {
    return CUTT_CU_INVALID_VALUE;
  }
  if (function->context != current() || function->context_id != current()->id) return CUTT_CU_INVALID_HANDLE;
  if (stream && stream->context != current()) return CUTT_CU_INVALID_HANDLE;
  if ((int)shared_bytes > function->shared_most) return CUTT_CU_INVALID_VALUE;
  /* Kernels that measure run when nobody is capturing, and may be loaded by their first launch. */
  const bool probe = !strncmp(function->name, "cutt_probe_", 11);
  if (!probe && (!function->loaded || function->carve_out != 100)) return CUTT_CU_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  fake_launch *last = &control.last;
  *last = (fake_launch){.context = current(),
                        .blocks = grid_x,
                        .threads = block_x,
                        .shared_bytes = shared_bytes,
                        .stream = stream,
                        .args = parameters[2]};
  memcpy(last->kernel, function->name, sizeof last->kernel);
  const char *suffix = strstr(function->name, "_batched");
  if (suffix && !suffix[8]) last->pairs = parameters[3];
  const bool combines = !strncmp(function->name, "cutt_combine_", 13);
  if (combines || !strncmp(function->name, "cutt_pass_", 10) || !strncmp(function->name, "cutt_multiply_", 14))
    memcpy(&last->right, parameters[3], sizeof last->right);
  if (combines) memcpy(&last->third, parameters[4], sizeof last->third);
  memcpy(&last->in, parameters[0], sizeof last->in);
  memcpy(&last->out, parameters[1], sizeof last->out);
  memcpy(last->args_bytes, parameters[2], control.args_size);
  stream_of(stream)->clock += control.seconds_of ? control.seconds_of(last) : control.launch_seconds;
  const fake_launch now = *last;
  last->args = last->pairs = NULL;
  pthread_mutex_unlock(&lock);
  if (control.run) control.run(&now);
  return CUTT_CU_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------- memory */

static struct {
  unsigned long long from, to;
  enum fake_memory kind;
  int device;
  bool own;
  unsigned long long id;
} map[512];

static unsigned long long next_buffer = 1;

/* With the lock held. */
static int look_up(unsigned long long address) {
  for (int i = 0; i < (int)(sizeof map / sizeof *map); ++i) {
    if (map[i].kind != FAKE_FREE && address >= map[i].from && address < map[i].to) return i;
  }
  return -1;
}

static void memory_enter(void *memory, size_t bytes, enum fake_memory kind, int device) {
  pthread_mutex_lock(&lock);
  const unsigned long long from = (uintptr_t)memory;
  int place = look_up(from);
  for (int i = 0; place < 0 && i < (int)(sizeof map / sizeof *map); ++i) {
    if (map[i].kind == FAKE_FREE) place = i;
  }
  if (place < 0) abort();
  map[place].from = from;
  map[place].to = from + bytes;
  map[place].kind = kind;
  map[place].device = device;
  map[place].own = false;
  map[place].id = next_buffer++;
  pthread_mutex_unlock(&lock);
}

static cutt_cu_result query(void *value, int attribute, unsigned long long address) {
  pthread_mutex_lock(&lock);
  const int i = look_up(address);
  const enum fake_memory kind = i < 0 ? FAKE_FREE : map[i].kind;
  const int device = i < 0 ? -1 : map[i].device;
  const unsigned long long id = i < 0 ? 0 : map[i].id;
  pthread_mutex_unlock(&lock);
  if (kind == FAKE_FREE) return CUTT_CU_INVALID_VALUE;
  switch (attribute) {
    case CUTT_CU_POINTER_MEMORY_TYPE:
      *(unsigned *)value = kind == FAKE_PINNED ? CUTT_CU_MEMORY_HOST : CUTT_CU_MEMORY_DEVICE;
      return CUTT_CU_SUCCESS;
    case CUTT_CU_POINTER_DEVICE_POINTER:
      if (!current()) return CUTT_CU_INVALID_CONTEXT;
      if (kind == FAKE_DEVICE && device != current()->device && !atomic_load(&control.peers)) {
        return CUTT_CU_INVALID_VALUE;
      }
      *(unsigned long long *)value = address;
      return CUTT_CU_SUCCESS;
    case CUTT_CU_POINTER_BUFFER_ID:
      *(unsigned long long *)value = id;
      return CUTT_CU_SUCCESS;
    case CUTT_CU_POINTER_IS_MANAGED:
      *(int *)value = kind == FAKE_MANAGED;
      return CUTT_CU_SUCCESS;
    case CUTT_CU_POINTER_DEVICE_ORDINAL:
      *(int *)value = device;
      return CUTT_CU_SUCCESS;
    default:
      return CUTT_CU_INVALID_VALUE;
  }
}

PUBLIC cutt_cu_result cuPointerGetAttribute(void *value, int attribute, cutt_cu_address pointer) {
  BEGIN(pointer_get_attribute);
  return query(value, attribute, pointer);
}

/* As the real one: no error for what is not known, but zeros. */
PUBLIC cutt_cu_result cuPointerGetAttributes(unsigned count, int *attributes, void **values, cutt_cu_address pointer) {
  BEGIN(pointer_get_attributes);
  for (unsigned i = 0; i < count; ++i) {
    if (!query(values[i], attributes[i], pointer)) continue;
    memset(values[i], 0, attributes[i] == CUTT_CU_POINTER_DEVICE_POINTER ? sizeof(cutt_cu_address) : sizeof(int));
  }
  return CUTT_CU_SUCCESS;
}

/* Of memory that is mapped for several devices only. */
PUBLIC cutt_cu_result cuMemGetAccess(unsigned long long *flags, const cutt_cu_location *location,
                                     cutt_cu_address pointer) {
  BEGIN(mem_get_access);
  pthread_mutex_lock(&lock);
  const int i = look_up(pointer);
  pthread_mutex_unlock(&lock);
  if (i < 0 || map[i].kind != FAKE_DEVICE || location->type != CUTT_CU_LOCATION_DEVICE) return CUTT_CU_INVALID_VALUE;
  *flags = location->id == map[i].device ? 3 : (unsigned long long)atomic_load(&control.access);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuMemGetInfo_v2(size_t *unused, size_t *all) {
  BEGIN(mem_get_info);
  NEEDS_CONTEXT;
  *unused = control.free_bytes;
  *all = control.free_bytes;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuMemGetAddressRange_v2(cutt_cu_address *base, size_t *bytes, cutt_cu_address pointer) {
  BEGIN(mem_get_address_range);
  pthread_mutex_lock(&lock);
  const int i = look_up(pointer);
  if (i >= 0) {
    *base = map[i].from;
    *bytes = (size_t)(map[i].to - map[i].from);
  }
  pthread_mutex_unlock(&lock);
  return i < 0 ? CUTT_CU_NOT_FOUND : CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  BEGIN(mem_host_alloc);
  NEEDS_CONTEXT;
  unsafe();
  if (flags & ~(unsigned)CUTT_CU_HOST_PORTABLE) return CUTT_CU_INVALID_VALUE;
  *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!*memory) return 2;
  memory_enter(*memory, bytes, FAKE_PINNED, current()->device);
  atomic_fetch_add(&control.alive_pinned, 1);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuMemFreeHost(void *memory) {
  BEGIN(mem_free_host);
  NEEDS_CONTEXT;
  unsafe();
  memory_enter(memory, 1, FAKE_FREE, 0);
  free(memory);
  atomic_fetch_sub(&control.alive_pinned, 1);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuCtxEnablePeerAccess(cutt_cu_context peer, unsigned flags) {
  BEGIN(ctx_enable_peer_access);
  NEEDS_CONTEXT;
  if (flags || !peer->alive || peer == current()) return CUTT_CU_INVALID_CONTEXT;
  atomic_fetch_add(&control.enabled, 1);
  return atomic_load(&control.peers) ? CUTT_CU_SUCCESS : FAKE_NO_PEERS;
}

PUBLIC cutt_cu_result cuIpcGetMemHandle(cutt_cu_ipc_handle *handle, cutt_cu_address memory) {
  BEGIN(ipc_get_mem_handle);
  NEEDS_CONTEXT;
  pthread_mutex_lock(&lock);
  const int i = look_up(memory);
  const bool whole = i >= 0 && map[i].from == memory && map[i].kind == FAKE_DEVICE;
  pthread_mutex_unlock(&lock);
  if (!whole) return CUTT_CU_INVALID_VALUE;
  memset(handle, 0x33, sizeof *handle);
  memcpy(handle->reserved, &memory, sizeof memory);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuIpcOpenMemHandle_v2(cutt_cu_address *memory, cutt_cu_ipc_handle handle, unsigned flags) {
  BEGIN(ipc_open_mem_handle);
  NEEDS_CONTEXT;
  unsafe();
  if (flags != CUTT_CU_IPC_ENABLE_PEER_ACCESS || handle.reserved[sizeof handle.reserved - 1] != 0x33)
    return CUTT_CU_INVALID_VALUE;
  if (!atomic_load(&control.opens)) return FAKE_NO_PEERS;
  memcpy(memory, handle.reserved, sizeof *memory);
  atomic_fetch_add(&control.alive_opened, 1);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuIpcCloseMemHandle(cutt_cu_address memory) {
  BEGIN(ipc_close_mem_handle);
  NEEDS_CONTEXT;
  (void)memory;
  unsafe();
  atomic_fetch_sub(&control.alive_opened, 1);
  return CUTT_CU_SUCCESS;
}

static cutt_cu_result take_memory(cutt_cu_address *memory, size_t bytes) {
  if (!bytes) return CUTT_CU_INVALID_VALUE;
  if (bytes > (size_t)1 << 40) return 2;
  void *made = aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!made) return 2;
  memory_enter(made, bytes, FAKE_DEVICE, current()->device);
  pthread_mutex_lock(&lock);
  map[look_up((uintptr_t)made)].own = true;
  pthread_mutex_unlock(&lock);
  atomic_fetch_add(&control.alive_memory, 1);
  *memory = (uintptr_t)made;
  return CUTT_CU_SUCCESS;
}

static cutt_cu_result give_memory(cutt_cu_address memory) {
  pthread_mutex_lock(&lock);
  const int i = look_up(memory);
  const bool own = i >= 0 && map[i].own && map[i].from == memory;
  if (own) map[i].kind = FAKE_FREE;
  pthread_mutex_unlock(&lock);
  if (!own) return CUTT_CU_INVALID_VALUE;
  atomic_fetch_sub(&control.alive_memory, 1);
  free((void *)(uintptr_t)memory);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuMemAlloc_v2(cutt_cu_address *memory, size_t bytes) {
  BEGIN(mem_alloc);
  NEEDS_CONTEXT;
  unsafe();
  return take_memory(memory, bytes);
}

PUBLIC cutt_cu_result cuMemFree_v2(cutt_cu_address memory) {
  BEGIN(mem_free);
  NEEDS_CONTEXT;
  unsafe();
  return give_memory(memory);
}

PUBLIC cutt_cu_result cuMemcpy(cutt_cu_address to, cutt_cu_address from, size_t bytes) {
  BEGIN(memcpy);
  NEEDS_CONTEXT;
  unsafe();
  memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
  return CUTT_CU_SUCCESS;
}

static cutt_cu_result copy_async(cutt_cu_address to, cutt_cu_address from, size_t bytes, cudaStream_t stream) {
  if (!control.copies_nothing) memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
  pthread_mutex_lock(&lock);
  stream_of(stream)->clock += control.copy_seconds;
  pthread_mutex_unlock(&lock);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuMemcpyAsync(cutt_cu_address to, cutt_cu_address from, size_t bytes, cudaStream_t stream) {
  BEGIN(memcpy_async);
  NEEDS_CONTEXT;
  if (stream && stream->context != current()) return CUTT_CU_INVALID_HANDLE;
  return copy_async(to, from, bytes, stream);
}

PUBLIC cutt_cu_result cuMemcpyDtoDAsync_v2(cutt_cu_address to, cutt_cu_address from, size_t bytes,
                                           cudaStream_t stream) {
  BEGIN(memcpy_dtod_async);
  NEEDS_CONTEXT;
  return copy_async(to, from, bytes, stream);
}

/* In the order of the stream, like all work here: at once. */
PUBLIC cutt_cu_result cuMemAllocAsync(cutt_cu_address *memory, size_t bytes, cudaStream_t stream) {
  BEGIN(mem_alloc_async);
  NEEDS_CONTEXT;
  if (stream && stream->context != current()) return CUTT_CU_INVALID_HANDLE;
  return take_memory(memory, bytes);
}

PUBLIC cutt_cu_result cuMemFreeAsync(cutt_cu_address memory, cudaStream_t stream) {
  BEGIN(mem_free_async);
  NEEDS_CONTEXT;
  if (stream && stream->context != current()) return CUTT_CU_INVALID_HANDLE;
  return give_memory(memory);
}

PUBLIC cutt_cu_result cuMemsetD8Async(cutt_cu_address memory, unsigned char value, size_t bytes, cudaStream_t stream) {
  BEGIN(memset_d8_async);
  NEEDS_CONTEXT;
  if (stream && stream->context != current()) return CUTT_CU_INVALID_HANDLE;
  memset((void *)(uintptr_t)memory, value, bytes);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuMemsetD2D32Async(cutt_cu_address memory, size_t pitch, unsigned value, size_t width,
                                         size_t height, cudaStream_t stream) {
  BEGIN(memset_d2d32_async);
  NEEDS_CONTEXT;
  if (stream && stream->context != current()) return CUTT_CU_INVALID_HANDLE;
  if (memory % 4 || (height > 1 && (pitch % 4 || pitch < 4 * width))) return CUTT_CU_INVALID_VALUE;
  for (size_t row = 0; row < height; ++row) {
    for (size_t i = 0; i < width; ++i) memcpy((void *)(uintptr_t)(memory + row * pitch + 4 * i), &value, 4);
  }
  return CUTT_CU_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------- streams and events */

static cutt_cu_result make_stream(cudaStream_t *stream, unsigned flags) {
  if (flags != CUTT_CU_STREAM_DEFAULT && flags != CUTT_CU_STREAM_NON_BLOCKING) return CUTT_CU_INVALID_VALUE;
  struct CUstream_st *made = NULL;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; !made && i < sizeof streams / sizeof *streams; ++i) {
    if (!atomic_exchange(&streams[i].used, true)) made = &streams[i];
  }
  pthread_mutex_unlock(&lock);
  if (!made) return 2;
  made->context = current();
  made->clock = 0;
  atomic_fetch_add(&control.alive_streams, 1);
  *stream = made;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuStreamCreate(cudaStream_t *stream, unsigned flags) {
  BEGIN(stream_create);
  NEEDS_CONTEXT;
  return make_stream(stream, flags);
}

PUBLIC cutt_cu_result cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  BEGIN(ctx_get_stream_priority_range);
  NEEDS_CONTEXT;
  *least = 0;
  *greatest = -5;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
  BEGIN(stream_create_with_priority);
  NEEDS_CONTEXT;
  return priority > 0 || priority < -5 ? CUTT_CU_INVALID_VALUE : make_stream(stream, flags);
}

PUBLIC cutt_cu_result cuStreamDestroy_v2(cudaStream_t stream) {
  BEGIN(stream_destroy);
  NEEDS_CONTEXT;
  atomic_fetch_sub(&control.alive_streams, 1);
  atomic_store(&stream->used, false);
  return CUTT_CU_SUCCESS;
}

/* Of streams that are no numbers: the others are the current context's. */
PUBLIC cutt_cu_result cuStreamGetCtx(cudaStream_t stream, cutt_cu_context *context) {
  BEGIN(stream_get_ctx);
  if ((uintptr_t)stream <= CUTT_CU_STREAM_PER_THREAD) return CUTT_CU_INVALID_HANDLE;
  *context = stream->context;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuStreamSynchronize(cudaStream_t stream) {
  BEGIN(stream_synchronize);
  NEEDS_CONTEXT;
  unsafe();
  return stream_of(stream)->capturing ? CUTT_CU_INVALID_VALUE : CUTT_CU_SUCCESS;
}

#ifndef FAKE_LACKS
PUBLIC cutt_cu_result cuStreamIsCapturing(cudaStream_t stream, int *status) {
  BEGIN(stream_is_capturing);
  *status = stream_of(stream)->capturing;
  return CUTT_CU_SUCCESS;
}
#endif

struct CUevent_st {
  double clock;
  bool captured; /* recorded in a stream that was being captured */
  bool between_processes;
};

/* Used in rotation: more than are ever in use at once. */
static struct CUevent_st events[1 << 16];
static atomic_uint event_count;

PUBLIC cutt_cu_result cuEventCreate(cutt_cu_event *event, unsigned flags) {
  BEGIN(event_create);
  NEEDS_CONTEXT;
  const bool between_processes = flags == (CUTT_CU_EVENT_DISABLE_TIMING | CUTT_CU_EVENT_INTERPROCESS);
  if (flags != CUTT_CU_EVENT_DEFAULT && flags != CUTT_CU_EVENT_DISABLE_TIMING && !between_processes)
    return CUTT_CU_INVALID_VALUE;
  atomic_fetch_add(&control.alive_events, 1);
  *event = &events[atomic_fetch_add(&event_count, 1) % (sizeof events / sizeof *events)];
  (*event)->between_processes = between_processes;
  return CUTT_CU_SUCCESS;
}

/* An event opened is another one that shows the first's state: it is remembered by its place. */
PUBLIC cutt_cu_result cuIpcGetEventHandle(cutt_cu_ipc_handle *handle, cutt_cu_event event) {
  BEGIN(ipc_get_event_handle);
  NEEDS_CONTEXT;
  memset(handle, 0x44, sizeof *handle);
  memcpy(handle->reserved, &event, sizeof event);
  return event->between_processes ? CUTT_CU_SUCCESS : CUTT_CU_INVALID_HANDLE;
}

PUBLIC cutt_cu_result cuIpcOpenEventHandle(cutt_cu_event *event, cutt_cu_ipc_handle handle) {
  BEGIN(ipc_open_event_handle);
  NEEDS_CONTEXT;
  if (handle.reserved[sizeof handle.reserved - 1] != 0x44) return CUTT_CU_INVALID_VALUE;
  if (!atomic_load(&control.opens)) return FAKE_NO_PEERS;
  memcpy(event, handle.reserved, sizeof *event);
  atomic_fetch_add(&control.alive_events, 1);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuEventDestroy_v2(cutt_cu_event event) {
  BEGIN(event_destroy);
  (void)event;
  atomic_fetch_sub(&control.alive_events, 1);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuEventRecord(cutt_cu_event event, cudaStream_t stream) {
  BEGIN(event_record);
  if (stream && stream->context != current()) return CUTT_CU_INVALID_HANDLE;
  pthread_mutex_lock(&lock);
  event->clock = stream_of(stream)->clock;
  event->captured = stream_of(stream)->capturing;
  pthread_mutex_unlock(&lock);
  return CUTT_CU_SUCCESS;
}

/* A capture takes events of its own only. */
PUBLIC cutt_cu_result cuStreamWaitEvent(cudaStream_t stream, cutt_cu_event event, unsigned flags) {
  BEGIN(stream_wait_event);
  if (flags || !event) return CUTT_CU_INVALID_VALUE;
  if (stream && stream->context != current()) return CUTT_CU_INVALID_HANDLE;
  if (stream_of(stream)->capturing != event->captured) return CUTT_CU_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  if (stream_of(stream)->clock < event->clock) stream_of(stream)->clock = event->clock;
  pthread_mutex_unlock(&lock);
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuEventQuery(cutt_cu_event event) {
  BEGIN(event_query);
  (void)event;
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuEventSynchronize(cutt_cu_event event) {
  BEGIN(event_synchronize);
  (void)event;
  unsafe();
  return CUTT_CU_SUCCESS;
}

PUBLIC cutt_cu_result cuEventElapsedTime(float *milliseconds, cutt_cu_event start, cutt_cu_event end) {
  BEGIN(event_elapsed_time);
  *milliseconds = (float)((end->clock - start->clock) * 1e3);
  return CUTT_CU_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------ control */

static void sweep(void) {
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < sizeof map / sizeof *map; ++i) {
    if (map[i].kind == FAKE_FREE || !map[i].own) continue;
    free((void *)(uintptr_t)map[i].from);
    map[i].kind = FAKE_FREE;
  }
  for (size_t i = 0; i < sizeof streams / sizeof *streams; ++i) atomic_store(&streams[i].used, false);
  pthread_mutex_unlock(&lock);
  atomic_store(&control.alive_memory, 0);
  atomic_store(&control.alive_streams, 0);
  atomic_store(&control.alive_events, 0);
  atomic_store(&control.alive_pinned, 0);
  atomic_store(&control.alive_opened, 0);
}

static void forget(void) {
  atomic_store(&control.fail, -1);
  atomic_store(&control.failed, 0);
  for (int i = 0; i < FAKE_FUNCTIONS; ++i) atomic_store(&control.calls[i], 0);
  atomic_store(&control.forbidden, 0);
}

PUBLIC fake_control_t *fake_control(void);
PUBLIC fake_control_t *fake_control(void) {
  control.context_create = context_create;
  control.context_destroy = context_destroy;
  control.context_set = context_set;
  control.reset = reset;
  control.memory_enter = memory_enter;
  control.sweep = sweep;
  control.forget = forget;
  return &control;
}
