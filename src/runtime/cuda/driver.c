/* Loading the CUDA driver.
 *
 * Once for the process, at the first use of the GPU: what a machine has does not change under a process, and a driver
 * that has been loaded is not unloaded (its threads would not survive it). This state is the reason for the few
 * process-wide variables below; all of them are written once, or atomically.
 *
 * The CUDA run time keeps a current device for each thread, and may not have told the driver of it before it is used. It is
 * asked in the same way as the driver by plans of the CPU: if it is there.
 *
 * Plans of the CPU need one function of the driver, to find that a pointer is to a GPU's memory. For them the driver is never
 * loaded: it is asked if somebody else, such as the program's CUDA run time, has brought it into the process. */
#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const char library_name[] = "libcuda.so.1";
enum { OLDEST_VERSION = 11000 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cutt_cu functions; /* written by load() alone */
static char failure[512]; /* likewise: why there is no driver; "": there is */
static _Atomic(const cutt_cu *) loaded;
static _Atomic(cutt_cu_pointer_query *) pointer_query;

/* By way of memcpy, since C has no conversion from an object's address to a function's. */
static bool find(void *library, const char *name, void *function, size_t size) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, size);
  return symbol != NULL;
}

static void describe_error(const cutt_cu *cu, cutt_cu_result error, char *buffer, size_t size) {
  const char *name = NULL, *text = NULL;
  if (cu->get_error_name(error, &name) || !name) name = "an error that it has no name for";
  if (cu->get_error_string(error, &text) || !text) text = "no text";
  snprintf(buffer, size, "%s (%s, %d)", text, name, error);
}

/* The name of the first symbol that the driver lacks, or NULL. */
static const char *find_all(void *library) {
#define FIND(member, symbol, parameters)                                                                               \
  if (!find(library, #symbol, &functions.member, sizeof functions.member)) return #symbol;
  CUTT_CU_FUNCTIONS(FIND)
#undef FIND
#define FIND(member, symbol, parameters) find(library, #symbol, &functions.member, sizeof functions.member);
  CUTT_CU_NEWER_FUNCTIONS(FIND)
#undef FIND
  return NULL;
}

static void load(void) {
  void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *text = dlerror();
    const bool missing = !text || strstr(text, "No such file");
    snprintf(failure, sizeof failure, missing ? "%s was not found: no NVIDIA driver is installed" : "%s: %s",
             library_name, text);
    return;
  }
  char text[256];
  const char *lacking = find_all(library);
  if (lacking) {
    snprintf(failure, sizeof failure, "%s has no %s: the driver is too old; one for CUDA %d.%d or later is needed",
             library_name, lacking, OLDEST_VERSION / 1000, OLDEST_VERSION % 1000 / 10);
    return;
  }
  cutt_cu_result error = functions.init(0);
  if (error) {
    describe_error(&functions, error, text, sizeof text);
    snprintf(failure, sizeof failure, "the driver can't be used: %s", text);
    return;
  }
  error = functions.driver_get_version(&functions.version);
  if (!error) error = functions.device_get_count(&functions.devices);
  if (error) {
    describe_error(&functions, error, text, sizeof text);
    snprintf(failure, sizeof failure, "the driver does not say what it has: %s", text);
  } else if (functions.version < OLDEST_VERSION) {
    snprintf(failure, sizeof failure, "the driver is for CUDA %d.%d; one for %d.%d or later is needed",
             functions.version / 1000, functions.version % 1000 / 10, OLDEST_VERSION / 1000,
             OLDEST_VERSION % 1000 / 10);
  } else if (functions.devices < 1) {
    snprintf(failure, sizeof failure, "the driver has found no device");
  } else {
    atomic_store_explicit(&pointer_query, functions.pointer_get_attribute, memory_order_relaxed);
    atomic_store_explicit(&loaded, &functions, memory_order_release);
  }
}

const cutt_cu *cutt_cuda_driver(const char **why) {
  pthread_once(&once, load);
  const cutt_cu *cu = cutt_cuda_driver_in_use();
  *why = cu ? NULL : failure;
  return cu;
}

const cutt_cu *cutt_cuda_driver_in_use(void) { return atomic_load_explicit(&loaded, memory_order_acquire); }

bool cutt_cuda_forbidden(const char **why) {
  const char *asked = getenv("CUTT_CUDA");
  if (!asked || !*asked || !strcmp(asked, "1") || !strcmp(asked, "on")) return false;
  const bool known = !strcmp(asked, "0") || !strcmp(asked, "off");
  *why = known ? "the environment variable CUTT_CUDA forbids it"
               : "the environment variable CUTT_CUDA is none of 0, off, 1 and on";
  return true;
}

cuttResult cutt_cuda_failed(const cutt_cu *cu, cutt_cu_result error, const char *doing, ...) {
  char what[128], text[512];
  va_list arguments;
  va_start(arguments, doing);
  vsnprintf(what, sizeof what, doing, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it was started */
  va_end(arguments);
  describe_error(cu, error, text, sizeof text);
  cuttResult result = CUTT_INTERNAL_ERROR;
  switch (error) {
    case CUTT_CU_NOT_INITIALIZED: /* in a child of fork */
    case CUTT_CU_DEINITIALIZED:
    case CUTT_CU_NO_DEVICE:
    case CUTT_CU_INVALID_DEVICE:
    case CUTT_CU_INVALID_IMAGE:
    case CUTT_CU_INVALID_CONTEXT:
    case CUTT_CU_NO_BINARY_FOR_GPU:
    case CUTT_CU_INVALID_PTX:
    case CUTT_CU_UNSUPPORTED_PTX_VERSION:
    case CUTT_CU_JIT_COMPILATION_DISABLED:
    case CUTT_CU_CONTEXT_IS_DESTROYED:
      result = CUTT_INVALID_DEVICE;
      break;
    default:
      break;
  }
  return cutt_error(result, "%s failed: %s", what, text);
}

/* ---------------------------------------------------------------------------------------------- what a pointer is to */

cutt_cu_pointer_query *cutt_cuda_pointer_query(void) {
  return atomic_load_explicit(&pointer_query, memory_order_relaxed);
}

/* Counts the libraries that have ever been loaded into the process. Each call is told that, so the first one ends the loop. */
static int count_loaded(struct dl_phdr_info *info, size_t size, void *count) {
  if (size >= offsetof(struct dl_phdr_info, dlpi_adds) + sizeof info->dlpi_adds) {
    *(unsigned long long *)count = info->dlpi_adds;
  }
  return 1;
}

bool cutt_cuda_driver_loaded(void) {
  static _Atomic(unsigned long long) looked_at; /* libraries loaded when the driver was last looked for; 0: never */
  if (cutt_cuda_pointer_query()) return true;
  /* Asking for a library by name searches folders if it isn't there: done only if something new has been loaded. */
  unsigned long long count = 0;
  dl_iterate_phdr(count_loaded, &count);
  if (count == atomic_load_explicit(&looked_at, memory_order_relaxed)) return false;
  /* The handle is kept: what has been found may not go away again. */
  void *library = dlopen(library_name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  cutt_cu_pointer_query *query = NULL;
  if (library && find(library, "cuPointerGetAttribute", &query, sizeof query)) {
    atomic_store_explicit(&pointer_query, query, memory_order_relaxed);
  }
  atomic_store_explicit(&looked_at, count, memory_order_relaxed);
  return query != NULL;
}

/* ------------------------------------------------------------------------------------------------- the CUDA run time */

typedef int get_device_function(int *device);

typedef struct loaded_library {
  char path[1024]; /* "": none found */
} loaded_library;

/* Is told each library that is loaded; the first CUDA run time ends the loop. */
static int look_for_run_time(struct dl_phdr_info *info, size_t size, void *found) {
  (void)size;
  loaded_library *name = found;
  const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
  if (!slash || strncmp(slash + 1, "libcudart.so", 12) != 0 || strlen(info->dlpi_name) >= sizeof name->path) return 0;
  memcpy(name->path, info->dlpi_name, strlen(info->dlpi_name) + 1);
  return 1;
}

static get_device_function *find_run_time(void) {
  static _Atomic(get_device_function *) known;
  static _Atomic(unsigned long long) looked_at; /* as above */
  get_device_function *function = atomic_load_explicit(&known, memory_order_relaxed);
  if (function) return function;
  unsigned long long count = 0;
  dl_iterate_phdr(count_loaded, &count);
  if (count == atomic_load_explicit(&looked_at, memory_order_relaxed)) return NULL;
  loaded_library name = {""};
  dl_iterate_phdr(look_for_run_time, &name);
  /* The handle is kept: what has been found may not go away again. */
  void *library = *name.path ? dlopen(name.path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD) : NULL;
  if (library && find(library, "cudaGetDevice", &function, sizeof function)) {
    atomic_store_explicit(&known, function, memory_order_relaxed);
  }
  atomic_store_explicit(&looked_at, count, memory_order_relaxed);
  return function;
}

int cutt_cuda_current_device(void) {
  get_device_function *function = find_run_time();
  int device = 0;
  return function && function(&device) == 0 && device > 0 ? device : 0;
}
