/* Loading libraries (library.h). */
#include "blas/load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

void *cutt_library_open(const char *file, bool resident, cutt_refusal *refusal) {
  *refusal = (cutt_refusal){.missing = false};
  void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | (resident ? RTLD_NOLOAD : 0));
  if (handle) return handle;
  const char *text = resident ? NULL : dlerror();
  refusal->missing = !text || (strstr(text, "No such file") && strstr(text, file));
  snprintf(refusal->why, sizeof refusal->why, refusal->missing ? "%s was not found" : "%s can't be loaded: %s", file,
           text ? text : "");
  return NULL;
}

/* By way of memcpy, since C has no conversion from an object's address to a function's. */
bool cutt_library_find(void *handle, const char *name, void *function) {
  void *symbol = dlsym(handle, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

void cutt_library_path(void *function, const char *file, char *path, size_t size) {
  Dl_info info;
  const char *name = function && dladdr(function, &info) && info.dli_fname ? info.dli_fname : file;
  char *real = realpath(name, NULL);
  snprintf(path, size, "%s", real ? real : name);
  free(real);
}

/* ------------------------------------------------------------------------------------------------------------- room */

/* Mapped as libraries do, but for nothing: not counted where the system counts what it has promised and does not insist. */
bool cutt_library_room(size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  munmap(at, bytes);
  return true;
}

static bool limit_of(int resource, double *megabytes) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY) return false;
  *megabytes = (double)limit.rlim_cur / (1 << 20);
  return true;
}

bool cutt_library_limited(void) {
  double unused = 0;
  return limit_of(RLIMIT_AS, &unused) || limit_of(RLIMIT_DATA, &unused);
}

void cutt_library_no_room(const char *what, size_t bytes, cutt_refusal *refusal) {
  double space = 0, data = 0;
  char limits[160] = "the system gives it no more";
  const bool of_space = limit_of(RLIMIT_AS, &space), of_data = limit_of(RLIMIT_DATA, &data);
  if (of_space && of_data)
    snprintf(limits, sizeof limits, "its limits are RLIMIT_AS (ulimit -v) %.0f MB and RLIMIT_DATA (ulimit -d) %.0f MB",
             space, data);
  else if (of_space || of_data)
    snprintf(limits, sizeof limits, "its limit is %s %.0f MB",
             of_space ? "RLIMIT_AS (ulimit -v)" : "RLIMIT_DATA (ulimit -d)", of_space ? space : data);
  *refusal = (cutt_refusal){.no_room = true};
  snprintf(refusal->why, sizeof refusal->why, "%s, which may take %.0f MB that this process can't map: %s", what,
           (double)bytes / (1 << 20), limits);
}
