/* Loading libraries (load.h). */
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

/* memcpy, since C has no conversion from a pointer to an object to a pointer to a function. */
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

/* Maps as a library would, and unmaps. MAP_NORESERVE, since the library maps these bytes in several parts, which a system that
 * overcommits memory grants, where it might refuse them as one. */
bool cutt_library_room(size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  munmap(at, bytes);
  return true;
}

static const double megabyte = 1 << 20;

/* The limit of all that the process maps, or of that part which is writable. False: there is none. */
static bool limit_of(bool writable, double *megabytes) {
  struct rlimit limit;
  const int failed = writable ? getrlimit(RLIMIT_DATA, &limit) : getrlimit(RLIMIT_AS, &limit);
  if (failed || limit.rlim_cur == RLIM_INFINITY) return false;
  *megabytes = (double)limit.rlim_cur / megabyte;
  return true;
}

bool cutt_library_limited(void) {
  double unused = 0;
  return limit_of(false, &unused) || limit_of(true, &unused);
}

void cutt_library_no_room(const char *what, size_t bytes, cutt_refusal *refusal) {
  double most = 0, writable = 0;
  const bool has_most = limit_of(false, &most), has_writable = limit_of(true, &writable);
  *refusal = (cutt_refusal){.no_room = true};
  cutt_text text = cutt_text_start(refusal->why, sizeof refusal->why);
  cutt_text_add(&text, "%s: that may take %.0f MB of address space, and", what, (double)bytes / megabyte);
  if (has_most) cutt_text_add(&text, " the process's limit (RLIMIT_AS, ulimit -v) is %.0f MB", most);
  if (has_writable)
    cutt_text_add(&text, "%s the process's limit (RLIMIT_DATA, ulimit -d) is %.0f MB", has_most ? "," : "", writable);
  if (!has_most && !has_writable) cutt_text_add(&text, " the system gives no more");
}
