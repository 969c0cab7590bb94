/* Loading libraries (library.h). */
#include "contract/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
