/* Kernels in contexts, and their launch.
 *
 * Process-wide, because the driver's contexts are: the list of contexts that kernels have been loaded into, which only grows,
 * under a mutex that no execution takes. A context's entry outlives it, since plans still point there; an entry is some
 * hundred bytes, and few programs make and destroy contexts by the thousand. */
#include "runtime/cuda/kernels.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "runtime/cuda/embed.h"

/* From which architecture on kernels can begin early (kernels/early.h), and which driver on also where a stream is captured. */
enum { EARLY_ARCH = 90, EARLY_DRIVER = 12030 };

/* A list of kernels in a context. */
typedef struct found {
  cutt_kernels base;
  const struct loaded *in;
  struct found *next;
  bool early;                  /* can all of them wait for what came before them in a stream? */
  cutt_cu_function function[]; /* as many as the list has */
} found;

/* A context with the library's images. */
typedef struct loaded {
  cutt_cu_context context;
  unsigned long long id; /* of the context, never used twice; 0 where the driver has none */
  const cutt_cu *cu;
  const cutt_cuda_gpu *gpu;
  cutt_cu_module image[CUTT_CUDA_MOST_IMAGES]; /* NULL: not loaded, since nothing of it has been asked for */
  found *lists;
  struct loaded *next;
} loaded;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static loaded *contexts; /* under the lock */

/* --------------------------------------------------------------------------------------------------------- images */

static void unload(loaded *in) {
  for (int i = 0; i < CUTT_CUDA_MOST_IMAGES; ++i) {
    if (in->image[i]) in->cu->module_unload(in->image[i]);
  }
  free(in);
}

/* With the lock held. */
static cuttResult load_image(loaded *in, int number) {
  const cutt_cu *cu = in->cu;
  if (in->image[number]) return CUTT_SUCCESS;
  const cutt_cu_result error = cu->module_load_data(&in->image[number], cutt_cuda_kernels.image[number]);
  if (!error) return CUTT_SUCCESS;
  in->image[number] = NULL;
  return cutt_cuda_failed(cu, error, "loading the kernels into %s, driver for CUDA %d.%d,",
                          in->gpu->properties.base.name, cu->version / 1000, cu->version % 1000 / 10);
}

/* With the lock held. *made: it is in no list yet. */
static cuttResult get(const cutt_cuda_scope *scope, loaded **in, bool *made) {
  unsigned long long id = 0;
  *made = false;
  const cutt_cu_result error = cutt_cuda_context_id(scope->cu, scope->context, &id);
  if (error) return cutt_cuda_failed(scope->cu, error, "asking for the id of the current context");
  for (*in = contexts; *in; *in = (*in)->next) {
    if ((*in)->context == scope->context && (*in)->id == id) return CUTT_SUCCESS;
  }
  const cutt_cuda_gpu *gpu = cutt_cuda_gpu_current(scope->cu);
  if (!gpu) return CUTT_INVALID_DEVICE;
  if (!gpu->usable) return cutt_error(CUTT_INVALID_DEVICE, "%s", gpu->why);
  loaded *own = calloc(1, sizeof *own);
  if (!own) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a context's kernels", sizeof *own);
  *own = (loaded){.context = scope->context, .id = id, .cu = scope->cu, .gpu = gpu};
  const cuttResult result = load_image(own, 0); /* if the driver takes one, it takes all that it is asked to */
  if (result) {
    unload(own);
    return result;
  }
  *in = own;
  *made = true;
  return CUTT_SUCCESS;
}

/* With the lock held. */
static void keep(loaded *in) {
  in->next = contexts;
  contexts = in;
  cutt_log(CUTT_LOG_DEBUG, "CUDA: kernels loaded into a context of %s", in->gpu->properties.base.name);
}

/* ---------------------------------------------------------------------------------------------------------- finding */

/* Shared memory up to the device's bound, and the SM's memory split in favour of it rather than of L1. */
static cuttResult prepare(const loaded *in, cutt_cu_function function, const char *name, bool *early) {
  const cutt_cu *cu = in->cu;
  /* A driver that loads kernels lazily would do it at the first launch, which may be in a capture. */
  cutt_cu_result error = cu->func_load ? cu->func_load(function) : CUTT_CU_SUCCESS;
  int fixed = 0, compiled_for = 0;
  if (!error) error = cu->func_get_attribute(&fixed, CUTT_CU_FUNCTION_SHARED_SIZE_BYTES, function);
  if (!error) {
    error = cu->func_set_attribute(function, CUTT_CU_FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                   in->gpu->properties.block_shared - fixed);
  }
  if (!error) error = cu->func_set_attribute(function, CUTT_CU_FUNCTION_PREFERRED_SHARED_MEMORY_CARVEOUT, 100);
  /* What was compiled for an older architecture doesn't wait, wherever it runs. */
  if (!error) error = cu->func_get_attribute(&compiled_for, CUTT_CU_FUNCTION_PTX_VERSION, function);
  *early = compiled_for >= EARLY_ARCH;
  return error ? cutt_cuda_failed(cu, error, "preparing kernel %s", name) : CUTT_SUCCESS;
}

/* No image is asked for what another one has: tools that watch a program's calls would count that as errors. */
static cuttResult find_one(loaded *in, const char *image, const char *name, cutt_cu_function *function, bool *early) {
  for (int i = 0; i < CUTT_CUDA_MOST_IMAGES && cutt_cuda_kernels.image[i]; ++i) {
    const char *source = cutt_cuda_kernels.source[i];
    if (source && strcmp(source, image) != 0) continue;
    const cuttResult result = load_image(in, i);
    if (result) return result;
    const cutt_cu_result error = in->cu->module_get_function(function, in->image[i], name);
    return error ? cutt_cuda_failed(in->cu, error, "looking for kernel %s", name) : prepare(in, *function, name, early);
  }
  return cutt_error(CUTT_INTERNAL_ERROR, "kernel %s is missing", name);
}

/* With the lock held. */
static cuttResult find_all(loaded *in, const cutt_kernel_list *list, const cutt_kernels **kernels) {
  for (const found *f = in->lists; f; f = f->next) {
    if (f->base.list != list) continue;
    *kernels = &f->base;
    return CUTT_SUCCESS;
  }
  const size_t bytes = sizeof(found) + (size_t)list->count * sizeof(cutt_cu_function);
  found *made = malloc(bytes);
  if (!made) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a context's kernels", bytes);
  *made = (found){.base = {.list = list, .target = &in->gpu->properties.base}, .in = in, .next = in->lists};
  made->early = in->cu->launch_kernel_ex && in->cu->version >= EARLY_DRIVER;
  for (int i = 0; i < list->count; ++i) {
    bool early = false;
    const cuttResult result = find_one(in, list->image[i], list->name[i], &made->function[i], &early);
    made->early = made->early && early;
    if (!result) continue;
    free(made);
    return result;
  }
  in->lists = made;
  *kernels = &made->base;
  return CUTT_SUCCESS;
}

/* Keeps the kernels of the current context, and if asked finds those of a list in it. */
static cuttResult reach(const cutt_kernel_list *list, const cutt_kernels **kernels) {
  cutt_cuda_scope scope;
  loaded *in = NULL;
  bool made = false;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  pthread_mutex_lock(&lock);
  result = get(&scope, &in, &made);
  if (!result && list) result = find_all(in, list, kernels);
  if (made && result) {
    unload(in);
  } else if (made) {
    keep(in);
  }
  pthread_mutex_unlock(&lock);
  cutt_cuda_leave(&scope);
  return result;
}

cuttResult cutt_cuda_kernels_load(void) { return reach(NULL, NULL); }

cuttResult cutt_cuda_kernels_find(const cutt_kernel_list *list, const cutt_kernels **kernels) {
  *kernels = NULL;
  return reach(list, kernels);
}

/* -------------------------------------------------------------------------------------------------------- launching */

static const found *own(const cutt_kernels *kernels) { return (const found *)(const void *)kernels; }

static cuttResult wrong_context(const loaded *in, cutt_cu_context current) {
  cutt_cu_device device = 0;
  if (current == in->context) {
    return cutt_error(
        CUTT_INVALID_DEVICE,
        "the plan's context %p on device %d, %s, has been destroyed; the current one only has its address",
        (void *)current, in->gpu->handle, in->gpu->properties.base.name);
  }
  if (in->cu->ctx_get_device(&device)) device = -1;
  return cutt_error(CUTT_INVALID_DEVICE,
                    "the plan is for context %p on device %d, %s, and the current context is %p on device %d",
                    (void *)in->context, in->gpu->handle, in->gpu->properties.base.name, (void *)current, device);
}

/* A thread that has not called CUDA yet has no context. Another one than the kernels' is the caller's choice, and an error. */
cuttResult cutt_cuda_kernels_enter(const cutt_kernels *kernels, cutt_scope *scope) {
  const loaded *in = own(kernels)->in;
  const cutt_cu *cu = in->cu;
  cutt_cu_context current = NULL;
  cutt_cu_result error = cu->ctx_get_current(&current);
  if (error) return cutt_cuda_failed(cu, error, "asking for the current context");
  if (current && current != in->context) return wrong_context(in, current);
  unsigned long long id = 0;
  error = cutt_cuda_context_id(cu, in->context, &id);
  if (error) {
    cutt_cuda_failed(cu, error, "asking for the plan's context %p, which may have been destroyed,",
                     (void *)in->context);
    return CUTT_INVALID_DEVICE;
  }
  if (id != in->id) return wrong_context(in, in->context);
  *scope = (cutt_scope){.context = in->context, .pushed = !current, .mode = -1};
  if (current) return CUTT_SUCCESS;
  error = cu->ctx_push_current(in->context);
  return error ? cutt_cuda_failed(cu, error, "making the plan's context current") : CUTT_SUCCESS;
}

/* Larger lists of parameters came with CUDA 12.1, in the driver as in the compiler. */
int cutt_cuda_parameter_bytes(void) {
  enum { BEFORE = 4096, SINCE = 12010 };
  const int bytes = cutt_cuda_kernels.parameter_bytes;
  const cutt_cu *cu = cutt_cuda_driver_in_use();
  return bytes <= BEFORE || (cu && cu->version >= SINCE) ? bytes : 0;
}

/* While the kernel before it in the stream ends: its blocks are made ready, and what they work out before they wait for that one
 * is done by then, some 0.5 us that a small tensor takes otherwise. Devices before sm_90 begin a kernel when the last one has ended. */
static cutt_cu_result launch_early(const found *f, int which, const cutt_grid *grid, void **parameters,
                                   cudaStream_t stream) {
  cutt_cu_launch_attribute attribute = {.id = CUTT_CU_LAUNCH_PROGRAMMATIC_SERIALIZATION, .value = {.allowed = 1}};
  const cutt_cu_launch_config config = {.grid_x = grid->blocks,
                                        .grid_y = 1,
                                        .grid_z = 1,
                                        .block_x = grid->threads,
                                        .block_y = 1,
                                        .block_z = 1,
                                        .shared_bytes = grid->shared_bytes,
                                        .stream = stream,
                                        .attributes = &attribute,
                                        .attribute_count = 1};
  return f->in->cu->launch_kernel_ex(&config, f->function[which], parameters, NULL);
}

cuttResult cutt_cuda_launch(const cutt_kernels *kernels, int which, const cutt_grid *grid, void **parameters,
                            cudaStream_t stream) {
  const found *f = own(kernels);
  const cutt_cu *cu = f->in->cu;
  const cutt_cu_result error = grid->early && f->early
                                   ? launch_early(f, which, grid, parameters, stream)
                                   : cu->launch_kernel(f->function[which], grid->blocks, 1, 1, grid->threads, 1, 1,
                                                       grid->shared_bytes, stream, parameters, NULL);
  if (!error) return CUTT_SUCCESS;
  const cuttResult result =
      cutt_cuda_failed(cu, error, "launching %s, %u blocks of %u threads with %u bytes of shared memory, in stream %p,",
                       kernels->list->name[which], grid->blocks, grid->threads, grid->shared_bytes, (void *)stream);
  return error == CUTT_CU_INVALID_HANDLE ? CUTT_INVALID_PARAMETER : result;
}

cuttResult cutt_cuda_copy_reached(const cutt_kernels *kernels, void *to, const void *from, size_t bytes,
                                  cudaStream_t stream) {
  const cutt_cu *cu = own(kernels)->in->cu;
  const cutt_cu_result error = cu->memcpy_async((uintptr_t)to, (uintptr_t)from, bytes, stream);
  if (!error) return CUTT_SUCCESS;
  const cuttResult result =
      cutt_cuda_failed(cu, error, "copying %zu bytes from %p to %p in stream %p", bytes, from, to, (void *)stream);
  return error == CUTT_CU_INVALID_HANDLE ? CUTT_INVALID_PARAMETER : result;
}
