/* Loading a library with the CBLAS interface, and asking it for its version, how it makes threads, and which kernels it has
 * picked for the processor.
 *
 * A release that is older than the processor takes it for a much older one, and then is slower by a factor of two to five.
 * Each library has an environment variable that names the kernels, which it reads when it is loaded. The environment is the
 * program's and not ours to write, so that people are only told. What kernels there are follows from what the library says of
 * itself. */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

#include "blas/cblas.h"
#include "blas/load.h"

/* All that were loaded, written by cutt_cblas_load alone. Not on the heap, since they are never freed, and would be lost
 * there each time that libcutt_contract is unloaded and loaded again. */
enum { MOST_LIBRARIES = 32 };
static cutt_cblas libraries[MOST_LIBRARIES];
static int library_count;

/* ------------------------------------------------------------------------------------------------------------------ room
 *
 * When it is loaded, OpenBLAS maps a buffer and makes a thread for each processor; and it maps a buffer for each call under
 * way. Where it can't, it tries again for ever; BLIS and MKL end the process. So a library is loaded and called only where there
 * is room for it. No library says what it takes: these are the sizes in OpenBLAS's sources, and for the others more than was
 * ever seen. */
static const size_t megabyte = (size_t)1 << 20;
static const size_t default_stack = (size_t)8 << 20;
/* MB. */
#if defined(__powerpc64__)
enum { OPENBLAS_BUFFER = 256 };
#else
enum { OPENBLAS_BUFFER = 128 };
#endif
/* MB of the files that are loaded, and of the memory that a call maps. */
enum { FILE_ITSELF = 64, MKL_FILES = 512, BLIS_CALL = 64, MKL_CALL = 64 };

static int positive(const char *name) {
  const char *value = getenv(name);
  const int number = value ? atoi(value) : 0;
  return number > 0 ? number : 0;
}

/* How many threads OpenBLAS has buffers for from the beginning. */
static int processors(void) {
  cpu_set_t set;
  const int here = sched_getaffinity(0, sizeof set, &set) ? CPU_SETSIZE : CPU_COUNT(&set);
  const int own = positive("OPENBLAS_NUM_THREADS"), older = positive("GOTO_NUM_THREADS");
  const int asked = own ? own : older ? older : positive("OMP_NUM_THREADS");
  return asked && asked < here ? asked : here;
}

static size_t call_bytes(const char *name) {
  return (strstr(name, "blis") ? BLIS_CALL : strstr(name, "mkl") ? MKL_CALL : OPENBLAS_BUFFER) * megabyte;
}

/* Of loading a library and calling it once. One may be OpenBLAS, unless its name says that it is another. */
static size_t load_bytes(const char *file) {
  const char *last = strrchr(file, '/'), *name = last ? last + 1 : file;
  if (strstr(name, "blis")) return (FILE_ITSELF + BLIS_CALL) * megabyte;
  if (strstr(name, "mkl")) return (MKL_FILES + MKL_CALL) * megabyte;
  struct rlimit stack;
  const bool known = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
  const size_t thread = OPENBLAS_BUFFER * megabyte + (known ? (size_t)stack.rlim_cur : default_stack);
  return (size_t)processors() * thread + (FILE_ITSELF + OPENBLAS_BUFFER) * megabyte;
}

/* -------------------------------------------------------------------------------------- what a library says of itself */

static bool has_avx512(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
#else
  return false;
#endif
}

static bool has_avx2(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

static bool is_one_of(const char *word, const char *const *words) {
  while (*words && strcasecmp(word, *words) != 0) ++words;
  return *words != NULL;
}

static bool environment_has(const char *name) {
  const char *value = getenv(name);
  return value && *value;
}

/* Is there an override that makes OpenBLAS pick kernels of a wider instruction set, which the processor has? */
static void find_openblas_override(cutt_blas *base, const char *config) {
  static const char *const avx512[] = {"SkylakeX", "Cooperlake", "SapphireRapids", NULL};
  static const char *const avx2[] = {"Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids", NULL};
  /* A build without DYNAMIC_ARCH has kernels for one processor only. */
  if (!*base->kernels || !strstr(config, "DYNAMIC_ARCH") || environment_has("OPENBLAS_CORETYPE")) return;
  if (has_avx512() && !is_one_of(base->kernels, avx512)) {
    snprintf(base->environment_override, sizeof base->environment_override, "OPENBLAS_CORETYPE=SkylakeX");
  } else if (has_avx2() && !is_one_of(base->kernels, avx2)) {
    snprintf(base->environment_override, sizeof base->environment_override, "OPENBLAS_CORETYPE=Haswell");
  }
}

/* False, with the refusal: its integers are of 64 bits. */
static bool describe_openblas(cutt_cblas *library, void *handle, cutt_refusal *refusal) {
  char *(*get_config)(void) = NULL;
  char *(*get_core)(void) = NULL;
  int (*get_parallel)(void) = NULL;
  cutt_library_find(handle, "openblas_get_config", &get_config);
  const char *config = get_config ? get_config() : "";
  if (strstr(config, "USE64BITINT")) {
    snprintf(refusal->why, sizeof refusal->why,
             "%s is an OpenBLAS with integers of 64 bits; one with the usual ones of 32 is needed", library->base.path);
    return false;
  }
  const int parallel = cutt_library_find(handle, "openblas_get_parallel", &get_parallel) ? get_parallel() : 1;
  library->base.one_at_a_time = parallel == 0;
  if (parallel != 1) library->set_threads = NULL;
  if (parallel != 2) library->openmps = 0;
  const char *number = strncmp(config, "OpenBLAS ", 9) == 0 ? config + 9 : "";
  snprintf(library->base.version, sizeof library->base.version, "%.*s, %s", (int)strcspn(number, " "), number,
           parallel == 2   ? "OpenMP"
           : parallel == 0 ? "without threads"
                           : "pthreads");
  if (cutt_library_find(handle, "openblas_get_corename", &get_core)) {
    snprintf(library->base.kernels, sizeof library->base.kernels, "%s", get_core());
  }
  find_openblas_override(&library->base, config);
  return true;
}

/* The same for BLIS, whose override is the number of the kernels' name. Numbers differ between releases, and past a release's
 * last one no name may be asked for, which nothing tells: up to the picked one, and the first two, it is safe. A build for
 * one processor only, which BLIS does not tell either, ends with an error when it is asked for others; docs/contraction.md
 * says so. */
static void find_blis_override(cutt_blas *base, int picked, const char *(*name_of)(int id)) {
  static const char *const lesser[] = {"generic", "haswell", "sandybridge", "penryn", NULL};
  if (environment_has("BLIS_ARCH_TYPE") || !has_avx512() || !is_one_of(base->kernels, lesser)) return;
  for (int id = 0; id <= (picked > 1 ? picked : 1); ++id) {
    if (strcmp(name_of(id), "skx") != 0) continue;
    snprintf(base->environment_override, sizeof base->environment_override, "BLIS_ARCH_TYPE=%d", id);
    return;
  }
}

/* False, with the refusal: its integers are of 64 bits. */
static bool describe_blis(cutt_cblas *library, void *handle, cutt_refusal *refusal) {
  const char *(*get_version)(void) = NULL;
  int (*query_id)(void) = NULL;
  const char *(*name_of)(int id) = NULL;
  void (*initialise)(void) = NULL;
  int64_t (*get_int_bits)(void) = NULL;
  if (cutt_library_find(handle, "bli_info_get_blas_int_type_size", &get_int_bits) && get_int_bits() == 64) {
    snprintf(refusal->why, sizeof refusal->why,
             "%s is a BLIS with integers of 64 bits; one with the usual ones of 32 is needed", library->base.path);
    return false;
  }
  library->set_in_calls = library->set_threads_64 != NULL;
  library->openmps = 0; /* it takes the number of threads that it has been given, not OpenMP's */
  if (cutt_library_find(handle, "bli_info_get_version_str", &get_version)) {
    snprintf(library->base.version, sizeof library->base.version, "%s", get_version());
  }
  /* Asked for its kernels before it has initialised itself, it ends the process if BLIS_ARCH_TYPE is set. */
  if (!cutt_library_find(handle, "bli_init", &initialise)) return true;
  initialise();
  if (!cutt_library_find(handle, "bli_arch_query_id", &query_id) ||
      !cutt_library_find(handle, "bli_arch_string", &name_of)) {
    return true;
  }
  const int picked = query_id();
  snprintf(library->base.kernels, sizeof library->base.kernels, "%s", picked >= 0 ? name_of(picked) : "");
  find_blis_override(&library->base, picked, name_of);
  return true;
}

static void describe_mkl(cutt_cblas *library, void *handle) {
  void (*get_version)(char *buffer, int size) = NULL;
  cutt_library_find(handle, "MKL_Set_Num_Threads_Local", &library->set_threads_local);
  if (!cutt_library_find(handle, "MKL_Get_Version_String", &get_version) &&
      !cutt_library_find(handle, "mkl_get_version_string", &get_version)) {
    return;
  }
  char text[256] = "";
  get_version(text, sizeof text - 1);
  size_t length = strlen(text);
  while (length && text[length - 1] == ' ') text[--length] = 0;
  snprintf(library->base.version, sizeof library->base.version, "%.*s", (int)sizeof library->base.version - 1, text);
}

static const char *kind_of(void *handle) {
  if (dlsym(handle, "openblas_get_config")) return "openblas";
  if (dlsym(handle, "bli_info_get_version_str")) return "blis";
  if (dlsym(handle, "MKL_Get_Version_String") || dlsym(handle, "mkl_get_version_string")) return "mkl";
  return "cblas";
}

static void find_openmp(cutt_cblas *library, void *handle) {
  void *const places[] = {RTLD_DEFAULT, handle};
  for (int i = 0; i < 2; ++i) {
    cutt_openmp found = {NULL, NULL};
    if (!cutt_library_find(places[i], "omp_get_max_threads", &found.get) ||
        !cutt_library_find(places[i], "omp_set_num_threads", &found.set)) {
      continue;
    }
    if (library->openmps && library->openmp[0].set == found.set) continue;
    library->openmp[library->openmps++] = found;
  }
}

static void find_thread_number(cutt_cblas *library, void *handle) {
  if (cutt_library_find(handle, "bli_thread_get_num_threads", &library->get_threads_64) &&
      cutt_library_find(handle, "bli_thread_set_num_threads", &library->set_threads_64)) {
    return;
  }
  library->get_threads_64 = NULL;
  library->set_threads_64 = NULL;
  static const char *const names[][2] = {{"openblas_get_num_threads", "openblas_set_num_threads"},
                                         {"flexiblas_get_num_threads", "flexiblas_set_num_threads"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (cutt_library_find(handle, names[i][0], &library->get_threads) &&
        cutt_library_find(handle, names[i][1], &library->set_threads)) {
      return;
    }
  }
  library->get_threads = NULL;
  library->set_threads = NULL;
}

static void find_products(cutt_cblas *library, void *handle) {
  cutt_library_find(handle, "cblas_sgemm", &library->sgemm);
  cutt_library_find(handle, "cblas_dgemm", &library->dgemm);
  cutt_library_find(handle, "cblas_cgemm", &library->cgemm);
  cutt_library_find(handle, "cblas_zgemm", &library->zgemm);
  cutt_library_find(handle, "cblas_sgemv", &library->sgemv);
  cutt_library_find(handle, "cblas_dgemv", &library->dgemv);
  cutt_library_find(handle, "cblas_cgemv", &library->cgemv);
  cutt_library_find(handle, "cblas_zgemv", &library->zgemv);
}

/* Asks a library what it is and how it does threads. False, with the refusal, where it can't be used. */
static bool describe(cutt_cblas *library, void *handle, cutt_refusal *refusal) {
  const char *name = library->base.name;
  library->call_bytes = call_bytes(name);
  if (!cutt_library_room(library->call_bytes)) {
    char what[sizeof library->base.path + 64];
    snprintf(what, sizeof what, "%s is not used", library->base.path);
    cutt_library_no_room(what, library->call_bytes, refusal);
    return false;
  }
  if (strcmp(name, "openblas") == 0 && !describe_openblas(library, handle, refusal)) return false;
  if (strcmp(name, "blis") == 0 && !describe_blis(library, handle, refusal)) return false;
  if (strcmp(name, "mkl") == 0) describe_mkl(library, handle);
  cutt_cblas_find_defects(library);
  return true;
}

static bool has_room(const char *file, cutt_refusal *refusal) {
  const size_t bytes = load_bytes(file);
  if (cutt_library_room(bytes)) return true;
  char what[CUTT_WHY_SIZE / 2];
  snprintf(what, sizeof what, "%s was not loaded", file);
  cutt_library_no_room(what, bytes, refusal);
  return false;
}

/* Where memory is limited, a library has to map what its calls need while there is the room that was looked for. OpenBLAS
 * maps a call's buffer at its first product that is not small (above 100^3 in its kernels for AVX-512); and each of its own
 * threads takes one when it first runs, which may be late, and then it takes the call's. So the first product is large enough,
 * and all these threads have a part in it, which none ends before the others have begun. */
enum { OPENBLAS_FIRST = 128, OTHERS_FIRST = 320 };

static bool first_product(cutt_cblas *library, bool own_threads, cutt_refusal *refusal) {
  static const double one = 1, zero = 0;
  const cutt_blas *base = &library->base;
  const bool openblas = strcmp(base->name, "openblas") == 0;
  const bool all = own_threads && openblas && library->set_threads;
  const int64_t side = openblas ? OPENBLAS_FIRST : OTHERS_FIRST, m = all ? side * library->get_threads() : side;
  const cutt_gemm g = {.m = m, .n = side, .k = side, .lda = m, .ldb = side, .ldc = m, .batch = 1};
  const size_t bytes = sizeof(double) * (size_t)(2 * m * side + side * side);
  void *session = NULL;
  double *a = calloc(1, bytes);
  bool done = a != NULL;
  if (done && all) {
    done = base->gemm(base, NULL, CUTT_F64, &g, &one, a, a + 2 * m * side, &zero, a + m * side) == CUTT_SUCCESS;
  } else if (done && !base->begin(base, NULL, &session)) {
    done = base->gemm(base, session, CUTT_F64, &g, &one, a, a + 2 * m * side, &zero, a + m * side) == CUTT_SUCCESS;
    base->end(base, session);
  }
  free(a);
  if (done) return true;
  char what[sizeof base->path + 64];
  snprintf(what, sizeof what, "%s is not used", base->path);
  cutt_library_no_room(what, bytes, refusal);
  return false;
}

cutt_blas *cutt_cblas_load(const char *file, bool resident, cutt_refusal *refusal) {
  void *handle = cutt_library_open(file, true, refusal);
  const bool was_here = handle != NULL;
  if (!handle && !resident && has_room(file, refusal)) handle = cutt_library_open(file, false, refusal);
  if (!handle) return NULL;
  void *dgemm = dlsym(handle, "cblas_dgemm");
  for (int i = 0; i < library_count; ++i) {
    void *its = NULL;
    memcpy(&its, &libraries[i].dgemm, sizeof its);
    if (dgemm && its == dgemm) {
      dlclose(handle); /* it stays, by its first handle */
      return &libraries[i].base;
    }
  }
  if (!dgemm || !dlsym(handle, "cblas_dgemv")) {
    snprintf(refusal->why, sizeof refusal->why, "%s is no CBLAS: it has no %s", file,
             dgemm ? "cblas_dgemv" : "cblas_dgemm");
    dlclose(handle);
    return NULL;
  }
  if (library_count == MOST_LIBRARIES) {
    snprintf(refusal->why, sizeof refusal->why, "%s can't be used: %d libraries are in use, and there may be no more",
             file, MOST_LIBRARIES);
    dlclose(handle);
    return NULL;
  }
  cutt_cblas *library = &libraries[library_count];
  memset(library, 0, sizeof *library);
  cutt_cblas_table(library);
  library->base.name = kind_of(handle);
  cutt_library_path(dgemm, file, library->base.path, sizeof library->base.path);
  find_products(library, handle);
  find_thread_number(library, handle);
  find_openmp(library, handle);
  if (!describe(library, handle, refusal)) return NULL; /* the library itself stays: it may have threads by now */
  if (pthread_mutex_init(&library->lock, NULL) || pthread_mutex_init(&library->first_buffer, NULL)) {
    snprintf(refusal->why, sizeof refusal->why, "no mutex could be made for %s", file);
    return NULL;
  }
  if (cutt_library_limited() && !first_product(library, !was_here, refusal)) return NULL;
  ++library_count;
  return &library->base;
}
