/* How much memory this process may take; see memory.h. */
#include "cli/pieces/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const double unlimited = 9e18;

static double least(double a, double b) { return a < b ? a : b; }

/* The number after a word at the beginning of a line ("" for the first line); not there: otherwise. */
static double read_number(const char *path, const char *word, double otherwise) {
  FILE *file = fopen(path, "re");
  if (!file) return otherwise;
  char line[256];
  double number = otherwise;
  const size_t length = strlen(word);
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, word, length) != 0) continue;
    char *end = NULL;
    const double found = strtod(line + length, &end);
    if (end != line + length) number = found; /* "max" is no number */
    break;
  }
  fclose(file);
  return number;
}

static double number_in(const char *folder, const char *name, const char *word, double otherwise) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return otherwise;
  return read_number(path, word, otherwise);
}

/* Of a control group and those around it; what is used by files gives way. */
static double free_in_group(const char *root, const char *group, const char *limit, const char *usage,
                            const char *files) {
  char folder[PATH_MAX];
  double available = unlimited;
  if (snprintf(folder, sizeof folder, "%s%s", root, group) >= (int)sizeof folder) return available;
  for (;;) {
    const double most = number_in(folder, limit, "", unlimited);
    if (most < unlimited) {
      const double used = number_in(folder, usage, "", 0.0) - number_in(folder, "memory.stat", files, 0.0);
      available = least(available, most - (used > 0.0 ? used : 0.0));
    }
    char *slash = strrchr(folder, '/');
    if (!slash || (size_t)(slash - folder) < strlen(root)) return available;
    *slash = 0;
  }
}

static double free_in_groups(void) {
  FILE *file = fopen("/proc/self/cgroup", "re");
  if (!file) return unlimited;
  char line[PATH_MAX];
  double available = unlimited;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = 0;
    if (controllers[1] == 0)
      available = least(available, free_in_group("/sys/fs/cgroup", group, "memory.max", "memory.current", "file "));
    else if (strstr(controllers, "memory"))
      available = least(available, free_in_group("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
                                                 "memory.usage_in_bytes", "total_cache "));
  }
  fclose(file);
  return available;
}

size_t cutt_memory_free(void) {
  const double kilobytes = read_number("/proc/meminfo", "MemAvailable:", -1.0);
  double available = 1024.0 * kilobytes;
  if (kilobytes < 0.0) available = 0.5 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  available = least(available, free_in_groups());
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    available = least(available, (double)limit.rlim_cur);
  return available > 0.0 ? (size_t)available : 0;
}

size_t cutt_memory_for_buffers(size_t asked) {
  const size_t own = (size_t)16 << 20, least_bytes = (size_t)64 << 20;
  if (!asked) {
    asked = cutt_memory_free() / 2;
    if (asked < least_bytes) asked = least_bytes;
  }
  return asked - (asked / 8 < own ? asked / 8 : own);
}
