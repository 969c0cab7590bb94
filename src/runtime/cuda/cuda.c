/* The CUDA runtime's table. driver.c finds CUDA, state.c knows devices and contexts, kernels.c runs the
 * kernels that embed.c carries, pointer.c looks at pointers, memory.c has memory and the clock, stream.c streams and events,
 * and probe.c measures. */
#include "runtime/cuda/cuda.h"

#include <stdio.h>

#include "base/error.h"
#include "runtime/cuda/embed.h"
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/peer.h"
#include "runtime/cuda/pointer.h"
#include "runtime/cuda/probe.h"
#include "runtime/cuda/state.h"
#include "runtime/cuda/stream.h"

/* Kernels run with drivers of the compiler's major version and later. With an older one, only loading them tells. */
static bool loads(const char **why) {
  const cuttResult result = cutt_cuda_kernels_load();
  if (result) *why = cuttLastError();
  return !result;
}

static bool probe(const char **why) {
  *why = cutt_cuda_kernels.none;
  if (cutt_cuda_forbidden(why) || *why) return false;
  const cutt_cu *cu = cutt_cuda_driver(why);
  if (!cu) return false;
  const cutt_cuda_gpu *gpu = cutt_cuda_gpu_current(cu);
  *why = !gpu ? cuttLastError() : gpu->usable ? NULL : gpu->why;
  return !*why && (cu->version / 1000 >= cutt_cuda_kernels.toolkit / 1000 || loads(why));
}

/* For the functions that are called after probe: there is a GPU. If the driver fails since, the first one is taken. */
static const cutt_cuda_gpu *current_gpu(void) {
  const char *why = NULL;
  const cutt_cu *cu = cutt_cuda_driver(&why);
  const cutt_cuda_gpu *gpu = cutt_cuda_gpu_current(cu);
  int count = 0;
  return gpu ? gpu : cutt_cuda_gpus(cu, &count);
}

static const char *isa(void) { return current_gpu()->isa; }

static void device_key(char *buffer, size_t size) { cutt_cuda_device_key(&current_gpu()->properties, buffer, size); }

static const cutt_target *target(void) { return &current_gpu()->properties.base; }

static const cutt_target *target_named(const char *name) {
  const cutt_device *device = cutt_device_find(name);
  return device ? &device->base : NULL;
}

/* --------------------------------------------------------------------------------------------------------- contexts */

static int driver_version(const char **why) {
  const cutt_cu *cu = cutt_cuda_forbidden(why) ? NULL : cutt_cuda_driver(why);
  return cu ? cu->version : 0;
}

static void tell_scope(const cutt_cuda_scope *entered, cutt_scope *scope) {
  *scope = (cutt_scope){.context = entered->context, .pushed = entered->pushed, .mode = entered->capture_mode};
}

static cuttResult enter_stream(cudaStream_t stream, cutt_scope *scope) {
  cutt_cuda_scope entered;
  const cuttResult result = cutt_cuda_enter_stream(stream, &entered);
  if (!result) tell_scope(&entered, scope);
  return result;
}

static cuttResult enter_context(const cutt_context *context, cutt_scope *scope) {
  cutt_cuda_scope entered;
  const cuttResult result = cutt_cuda_enter_context(context->handle, &entered);
  if (!result) tell_scope(&entered, scope);
  return result;
}

static cuttResult enter(cutt_scope *scope) { return enter_stream(NULL, scope); }

/* There is a driver, since something has been entered. */
static void leave(const cutt_scope *scope) {
  cutt_cuda_leave(&(cutt_cuda_scope){.cu = cutt_cuda_driver_in_use(),
                                     .context = scope->context,
                                     .pushed = scope->pushed,
                                     .capture_mode = scope->mode});
}

static cuttResult context(cutt_context *context) {
  *context = (cutt_context){.handle = NULL};
  const char *why = NULL;
  const cutt_cu *cu = cutt_cuda_driver(&why);
  if (!cu) return cutt_error(CUTT_INVALID_DEVICE, "CUDA is not usable: %s", why);
  cutt_cu_context current = NULL;
  cutt_cu_result error = cu->ctx_get_current(&current);
  if (!error && current) error = cutt_cuda_context_id(cu, current, &context->number);
  if (error) return cutt_cuda_failed(cu, error, "asking for the current context");
  context->handle = current;
  return CUTT_SUCCESS;
}

static cuttResult reach(const cutt_target *target, const void *pointer, const char *name, void **at) {
  const cutt_cuda_gpu *gpu =
      (const cutt_cuda_gpu *)(const void *)((const char *)target - offsetof(cutt_cuda_gpu, properties));
  cutt_cu_address address = 0;
  const cuttResult result = cutt_cuda_reach(cutt_cuda_driver_in_use(), gpu, pointer, name, &address);
  *at = (void *)(uintptr_t)address;
  return result;
}

/* ------------------------------------------------------------------------------------------------------ description */

static void describe_json(const cutt_cu *cu, const cutt_cuda_gpu *gpus, int count, const cutt_cuda_gpu *used,
                          cutt_text *text) {
  const cutt_cuda_embedded *kernels = &cutt_cuda_kernels;
  cutt_text_add(text, "\"name\": ");
  cutt_text_add_json(text, used->properties.base.name);
  cutt_text_add(text, ", \"driver\": \"%d.%d\", \"toolkit\": \"%d.%d\", \"kernels\": [", cu->version / 1000,
                cu->version % 1000 / 10, kernels->toolkit / 1000, kernels->toolkit % 1000 / 10);
  for (int i = 0; kernels->arch[i]; ++i) cutt_text_add(text, "%s\"sm_%d\"", i == 0 ? "" : ", ", kernels->arch[i]);
  if (kernels->ptx) cutt_text_add(text, ", \"compute_%d\"", kernels->ptx);
  cutt_text_add(text, "], \"devices\": [");
  for (int i = 0; i < count; ++i) {
    const cutt_device *properties = &gpus[i].properties;
    cutt_text_add(text, "%s{\"device\": %d, \"name\": ", i == 0 ? "" : ", ", i);
    cutt_text_add_json(text, properties->base.name);
    cutt_text_add(text, ", \"compute_capability\": \"%d.%d\", \"multiprocessors\": %d, \"clock_hz\": %.0f",
                  properties->major, properties->minor, properties->sms, properties->clock_hz);
    cutt_text_add(text, ", \"memory_bytes\": %lld, \"memory_bytes_per_second\": %.0f, \"l2_bytes\": %lld",
                  (long long)properties->memory_bytes, properties->memory_bandwidth, (long long)properties->l2_bytes);
    cutt_text_add(text, ", \"shared_bytes\": %d, \"shared_bytes_of_a_block\": %d, \"usable\": %s, \"used\": %s",
                  properties->sm_shared, properties->block_shared, gpus[i].usable ? "true" : "false",
                  &gpus[i] == used ? "true" : "false");
    if (!gpus[i].usable) {
      cutt_text_add(text, ", \"why\": ");
      cutt_text_add_json(text, gpus[i].why);
    }
    cutt_text_add(text, "}");
  }
  cutt_text_add(text, "]");
}

static void describe_text(const cutt_cu *cu, const cutt_cuda_gpu *gpus, int count, const cutt_cuda_gpu *used,
                          cutt_text *text) {
  const cutt_cuda_embedded *kernels = &cutt_cuda_kernels;
  cutt_text_add(text, "  driver           for CUDA %d.%d\n  kernels          made by CUDA %d.%d for",
                cu->version / 1000, cu->version % 1000 / 10, kernels->toolkit / 1000, kernels->toolkit % 1000 / 10);
  for (int i = 0; kernels->arch[i]; ++i) cutt_text_add(text, "%s sm_%d", i == 0 ? "" : ",", kernels->arch[i]);
  if (kernels->ptx) cutt_text_add(text, ", and PTX of compute_%d", kernels->ptx);
  cutt_text_add(text, "\n");
  for (int i = 0; i < count; ++i) {
    const cutt_device *properties = &gpus[i].properties;
    cutt_text_add(text, "  device %-9d %s, compute capability %d.%d%s%s\n", i, properties->base.name, properties->major,
                  properties->minor,
                  !gpus[i].usable    ? ": not usable: "
                  : &gpus[i] == used ? ", in use"
                                     : "",
                  gpus[i].usable ? "" : gpus[i].why);
    cutt_text_add(text, "    multiprocessors  %d at %.0f MHz, shared memory %d KiB each, %d KiB for a block\n",
                  properties->sms, properties->clock_hz * 1e-6, properties->sm_shared / 1024,
                  properties->block_shared / 1024);
    cutt_text_add(text, "    memory           %lld MiB at %.0f GB/s, L2 %lld KiB\n",
                  (long long)(properties->memory_bytes >> 20), properties->memory_bandwidth * 1e-9,
                  (long long)(properties->l2_bytes >> 10));
  }
}

static void describe_device(cuttFormat_t format, cutt_text *text) {
  const char *why = NULL;
  const cutt_cu *cu = cutt_cuda_driver(&why);
  int count = 0;
  const cutt_cuda_gpu *gpus = cutt_cuda_gpus(cu, &count), *used = current_gpu();
  if (format == CUTT_JSON) {
    describe_json(cu, gpus, count, used, text);
  } else {
    describe_text(cu, gpus, count, used, text);
  }
}

const cutt_runtime cutt_cuda_runtime = {
    .has_streams = true,
    .probe = probe,
    .isa = isa,
    .device_key = device_key,
    .describe_device = describe_device,
    .target = target,
    .target_named = target_named,
    .target_names = CUTT_KNOWN_DEVICE_KEYS,
    .measure_target = cutt_cuda_measure_target,
    .is_device_pointer = cutt_cuda_is_device_pointer,
    .driver_loaded = cutt_cuda_driver_loaded,
    .memory_allocate = cutt_cuda_memory_allocate,
    .memory_free = cutt_cuda_memory_free,
    .memory_copy = cutt_cuda_memory_copy,
    .copy = cutt_cuda_copy,
    .time = cutt_cuda_time,
    .scratch_create = cutt_cuda_scratch_create,
    .scratch_release = cutt_cuda_scratch_release,
    .stream_create = cutt_cuda_stream_create,
    .stream_release = cutt_cuda_stream_release,
    .driver_version = driver_version,
    .enter = enter,
    .enter_stream = enter_stream,
    .enter_context = enter_context,
    .leave = leave,
    .context = context,
    .reach = reach,
    .stream_allocate = cutt_cuda_stream_allocate,
    .stream_free = cutt_cuda_stream_free,
    .fill_bytes = cutt_cuda_fill_bytes,
    .fill_words = cutt_cuda_fill_words,
    .side_stream_create = cutt_cuda_side_stream_create,
    .urgent_stream_create = cutt_cuda_urgent_stream_create,
    .stream_synchronize = cutt_cuda_stream_synchronize,
    .stream_wait = cutt_cuda_stream_wait,
    .stream_is_captured = cutt_cuda_stream_is_captured,
    .event_create = cutt_cuda_event_create,
    .event_destroy = cutt_cuda_event_destroy,
    .event_record = cutt_cuda_event_record,
    .event_seconds = cutt_cuda_event_seconds,
    .event_wait = cutt_cuda_event_wait,
    .event_reached = cutt_cuda_event_reached,
    .peer_enable = cutt_cuda_peer_enable,
    .share = cutt_cuda_share,
    .shared_open = cutt_cuda_shared_open,
    .shared_close = cutt_cuda_shared_close,
    .shared_event_create = cutt_cuda_shared_event_create,
    .event_share = cutt_cuda_event_share,
    .event_open = cutt_cuda_event_open,
    .pinned_allocate = cutt_cuda_pinned_allocate,
    .pinned_free = cutt_cuda_pinned_free,
    .copy_start = cutt_cuda_copy_start,
    .kernels_find = cutt_cuda_kernels_find,
    .parameter_bytes = cutt_cuda_parameter_bytes,
    .kernels_enter = cutt_cuda_kernels_enter,
    .launch = cutt_cuda_launch,
    .copy_reached = cutt_cuda_copy_reached,
};
