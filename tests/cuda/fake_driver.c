/* A stand-in for the CUDA driver (fake_driver.h).
 *
 * From the environment, read at cuInit: FAKE_CUDA_INIT (an error that cuInit gives), FAKE_CUDA_VERSION (12080 else),
 * FAKE_CUDA_DEVICES (3 else), FAKE_CUDA_LOAD (an error that cuModuleLoadData always gives).
 * Compiled with FAKE_LACKS, it lacks cuStreamIsCapturing, as a very old driver does.
 * This file has modules, launches and what tests ask for. */
#include "cuda/fake_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/fake_state.h"

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

FAKE_PUBLIC cutt_cu_result cuModuleLoadData(cutt_cu_module *module, const void *image) {
  FAKE_BEGIN(module_load_data);
  FAKE_NEEDS_CONTEXT;
  fake_unsafe();
  if (fake_load_error) return fake_load_error;
  if (!image) return CUTT_CU_INVALID_IMAGE;
  const int number = atomic_fetch_add(&module_count, 1);
  if (number >= (int)(sizeof modules / sizeof *modules)) return 2;
  struct CUmod_st *made = &modules[number];
  made->context = fake_current();
  atomic_fetch_add(&made->context->modules, 1);
  *module = made;
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuModuleUnload(cutt_cu_module module) {
  FAKE_BEGIN(module_unload);
  atomic_fetch_sub(&module->context->modules, 1);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuModuleGetFunction(cutt_cu_function *function, cutt_cu_module module, const char *name) {
  FAKE_BEGIN(module_get_function);
  FAKE_NEEDS_CONTEXT;
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

FAKE_PUBLIC cutt_cu_result cuFuncLoad(cutt_cu_function function) {
  FAKE_BEGIN(func_load);
  function->loaded = true;
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuFuncGetAttribute(int *value, int attribute, cutt_cu_function function) {
  FAKE_BEGIN(func_get_attribute);
  if (!function) return CUTT_CU_INVALID_VALUE;
  if (attribute == CUTT_CU_FUNCTION_SHARED_SIZE_BYTES) {
    *value = 16;
  } else if (attribute == CUTT_CU_FUNCTION_PTX_VERSION) {
    *value = fake_driver.compiled_for;
  } else {
    return CUTT_CU_INVALID_VALUE;
  }
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuFuncSetAttribute(cutt_cu_function function, int attribute, int value) {
  FAKE_BEGIN(func_set_attribute);
  const int most = fake_block_shared[function->context->device];
  if (attribute == CUTT_CU_FUNCTION_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    function->carve_out = value;
  } else if (attribute == CUTT_CU_FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES && value <= most - 16) {
    function->shared_most = value;
  } else {
    return CUTT_CU_INVALID_VALUE;
  }
  return CUTT_CU_SUCCESS;
}

/* A launch with its args and pairs behind it. */
typedef struct late_launch {
  fake_launch launch;
  max_align_t args[512], pairs[512];
} late_launch;

static void run_late(void *data) {
  late_launch *l = data;
  l->launch.args = l->args;
  if (l->launch.pairs) l->launch.pairs = l->pairs;
  fake_driver.run(&l->launch);
}

static void launch(const fake_launch *now) {
  size_t args = 0, pairs = 0;
  if (!fake_driver.run) return;
  if (!now->stream || !fake_late_is_on()) {
    fake_driver.run(now);
    return;
  }
  late_launch *l = calloc(1, sizeof *l);
  fake_driver.bytes_of(now, &args, &pairs);
  if (!l || args > sizeof l->args || pairs > sizeof l->pairs) abort();
  l->launch = *now;
  memcpy(l->args, now->args, args);
  if (pairs) memcpy(l->pairs, now->pairs, pairs);
  fake_late_do(now->stream, run_late, l, sizeof *l);
  free(l);
}

/* early: the kernel may begin before the one before it has ended, which those of a newer architecture wait for themselves. */
static cutt_cu_result start_launch(cutt_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   cudaStream_t stream, void **parameters, void **extra, bool early) {
  FAKE_NEEDS_CONTEXT;
  if (extra || grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || !grid_x || !block_x || block_x > 1024) {
    return CUTT_CU_INVALID_VALUE;
  }
  if (function->context != fake_current() || function->context_id != fake_current()->id) return CUTT_CU_INVALID_HANDLE;
  if (stream && stream->context != fake_current()) return CUTT_CU_INVALID_HANDLE;
  if ((int)shared_bytes > function->shared_most) return CUTT_CU_INVALID_VALUE;
  /* Kernels that measure run when nobody is capturing, and may be loaded by their first launch. */
  const bool probe = !strncmp(function->name, "cutt_probe_", 11);
  if (!probe && (!function->loaded || function->carve_out != 100)) return CUTT_CU_INVALID_VALUE;
  pthread_mutex_lock(&fake_lock);
  fake_launch *last = &fake_driver.last;
  *last = (fake_launch){.context = fake_current(),
                        .blocks = grid_x,
                        .threads = block_x,
                        .shared_bytes = shared_bytes,
                        .stream = stream,
                        .early = early,
                        .args = parameters[2]};
  memcpy(last->kernel, function->name, sizeof last->kernel);
  const char *suffix = strstr(function->name, "_batched");
  if (suffix && !suffix[8]) last->pairs = parameters[3];
  const bool combines = !strncmp(function->name, "cutt_combine_", 13);
  static const char *const of_two[] = {"cutt_combine_", "cutt_pass_",  "cutt_multiply_", "cutt_panel_",
                                       "cutt_core_",    "cutt_small_", "cutt_strip_"};
  for (size_t i = 0; i < sizeof of_two / sizeof *of_two; ++i)
    if (!strncmp(function->name, of_two[i], strlen(of_two[i]))) memcpy(&last->right, parameters[3], sizeof last->right);
  if (combines) memcpy(&last->third, parameters[4], sizeof last->third);
  memcpy(&last->in, parameters[0], sizeof last->in);
  memcpy(&last->out, parameters[1], sizeof last->out);
  memcpy(last->args_bytes, parameters[2], fake_driver.args_size);
  fake_stream_of(stream)->clock += fake_driver.seconds_of ? fake_driver.seconds_of(last) : fake_driver.launch_seconds;
  const fake_launch now = *last;
  last->args = last->pairs = NULL;
  pthread_mutex_unlock(&fake_lock);
  launch(&now);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuLaunchKernel(cutt_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                          cudaStream_t stream, void **parameters, void **extra) {
  FAKE_BEGIN(launch_kernel);
  return start_launch(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters,
                      extra, false);
}

FAKE_PUBLIC cutt_cu_result cuLaunchKernelEx(const cutt_cu_launch_config *c, cutt_cu_function function,
                                            void **parameters, void **extra) {
  FAKE_BEGIN(launch_kernel_ex);
  if (c->attribute_count != 1 || c->attributes->id != CUTT_CU_LAUNCH_PROGRAMMATIC_SERIALIZATION ||
      c->attributes->value.allowed != 1)
    return CUTT_CU_INVALID_VALUE;
  return start_launch(function, c->grid_x, c->grid_y, c->grid_z, c->block_x, c->block_y, c->block_z, c->shared_bytes,
                      c->stream, parameters, extra, true);
}

/* ------------------------------------------------------------------------------------------------------------ control */

static void sweep(void) {
  fake_memory_sweep();
  fake_streams_sweep();
}

static void forget(void) {
  atomic_store(&fake_driver.fail, -1);
  atomic_store(&fake_driver.failed, 0);
  for (int i = 0; i < FAKE_FUNCTIONS; ++i) atomic_store(&fake_driver.calls[i], 0);
  atomic_store(&fake_driver.forbidden, 0);
}

FAKE_PUBLIC fake_control_t *fake_control(void);
FAKE_PUBLIC fake_control_t *fake_control(void) {
  fake_driver.context_create = fake_context_create;
  fake_driver.capture_begin = fake_capture_begin;
  fake_driver.capture_end = fake_capture_end;
  fake_driver.context_destroy = fake_context_destroy;
  fake_driver.context_set = fake_context_set;
  fake_driver.reset = fake_reset;
  fake_driver.memory_enter = fake_memory_enter;
  fake_driver.sweep = sweep;
  fake_driver.forget = forget;
  fake_driver.late = fake_late_switch;
  fake_driver.later = fake_late_do;
  fake_driver.finish = fake_late_finish;
  return &fake_driver;
}
