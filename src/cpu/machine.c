/* The machine at hand, asked of the operating system. */
#include "cpu/machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { KIB = 1024, MIB = 1024 * 1024 };

static int64_t cache_size(int name, int64_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

cutt_cpu_machine cutt_cpu_machine_get(void) {
  cutt_cpu_machine m;
  m.l1_bytes = cache_size(_SC_LEVEL1_DCACHE_SIZE, 32 * KIB);
  m.l2_bytes = cache_size(_SC_LEVEL2_CACHE_SIZE, 512 * KIB);
  m.l3_bytes = cache_size(_SC_LEVEL3_CACHE_SIZE, 0);
  /* A last-level cache is shared, and a permuted tensor is seldom read at once. */
  m.stream_bytes = m.l3_bytes / 8;
  if (m.stream_bytes > 16 * MIB) m.stream_bytes = 16 * MIB;
  if (m.stream_bytes < 2 * m.l2_bytes) m.stream_bytes = 2 * m.l2_bytes;
#ifdef _OPENMP
  m.max_threads = omp_get_max_threads();
#else
  m.max_threads = 1;
#endif
  return m;
}

void cutt_cpu_machine_name(char *buffer, int64_t size) {
  if (size <= 0) return;
  snprintf(buffer, (size_t)size, "unknown");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (file == NULL) return;
  char line[256];
  while (fgets(line, sizeof line, file) != NULL) {
    const char *colon = strchr(line, ':');
    if (colon == NULL || (strncmp(line, "model name", 10) != 0 && strncmp(line, "CPU part", 8) != 0)) continue;
    colon += 1 + strspn(colon + 1, " \t");
    snprintf(buffer, (size_t)size, "%s", colon);
    buffer[strcspn(buffer, "\n")] = 0;
    break;
  }
  fclose(file);
}
