/* Preloaded into the program: tells which ranges of a file it hands to the disk before the end, and how many of their groups of 16
 * bytes are still zero: a line "offset bytes zeros" each in the file that CUTT_TEST_RANGES_TOLD names. And tells, by making the file that
 * CUTT_TEST_DIRECT_TOLD names, that a file is read past the system's cache. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long long zeros_of(int file, int64_t from, int64_t bytes) {
  static const char none[16];
  char group[16];
  long long zeros = 0;
  for (int64_t at = 0; at + 16 <= bytes; at += 16)
    zeros += pread(file, group, sizeof group, from + at) == sizeof group && !memcmp(group, none, sizeof group);
  return zeros;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the system's header has names of its own */
int sync_file_range(int file, off64_t from, off64_t bytes, unsigned int flags) {
  static int (*real)(int file, off64_t from, off64_t bytes, unsigned int flags);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "sync_file_range");
  const char *path = getenv("CUTT_TEST_RANGES_TOLD");
  FILE *told = path && flags == SYNC_FILE_RANGE_WRITE && bytes < INT64_MAX ? fopen(path, "ae") : NULL;
  if (told) fprintf(told, "%lld %lld %lld\n", (long long)from, (long long)bytes, zeros_of(file, from, bytes));
  if (told) fclose(told);
  return real(file, from, bytes, flags);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): likewise */
int open64(const char *path, int flags, ...) {
  static int (*real)(const char *path, int flags, ...);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "open64");
  va_list list;
  va_start(list, flags);
  const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0;
  va_end(list);
  const int descriptor = real(path, flags, mode);
  const char *told = flags & O_DIRECT && descriptor >= 0 ? getenv("CUTT_TEST_DIRECT_TOLD") : NULL;
  FILE *file = told ? fopen(told, "we") : NULL;
  if (file) fclose(file);
  return descriptor;
}
