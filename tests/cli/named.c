/* Preloaded into the program: files without a name cannot be had, as on a file system that has none. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

static int open_named(const char *path, int flags, mode_t mode) {
  static int (*real)(const char *path, int flags, ...);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "open64");
  if ((flags & O_TMPFILE) != O_TMPFILE) return real(path, flags, mode);
  errno = EOPNOTSUPP;
  return -1;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the system's header has names of its own */
int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_named(path, flags, mode);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_named(path, flags, mode);
}
