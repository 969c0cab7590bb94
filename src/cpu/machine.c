/* The machine at hand, asked of the operating system. */
#include "cpu/machine.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cpu/cost.h"
#include "cpu/isa.h"
#include "store/device_file.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

#define SIZE(name, what)                                                                                               \
  { #name, "B", what, CUTT_FACT_INT64, offsetof(cutt_cpu_machine, name), 0, 1e15 }
#define SPEED(name, what)                                                                                              \
  { #name, "B/s", what, CUTT_FACT_REAL, offsetof(cutt_cpu_machine, name), 0, 1e15 }
static const cutt_fact facts[] = {
    SIZE(l1_bytes, "data cache of the first level"),
    SIZE(l2_bytes, "cache of the second level"),
    SIZE(l3_bytes, "cache of the third level"),
    SIZE(stream_bytes, "outputs longer than this are stored past the caches"),
    SPEED(copy_bandwidth, "a copy in memory, one thread, read and written bytes"),
    SPEED(read_bandwidth, "reading memory, one thread"),
    SPEED(write_bandwidth, "writing memory, one thread"),
    SPEED(l2_copy_bandwidth, "a copy within L2, one thread, read and written bytes"),
    SPEED(l3_copy_bandwidth, "a copy within the last-level cache, one thread, read and written bytes"),
};

const cutt_schema cutt_cpu_schema = {.backend = "cpu",
                                     .bytes = sizeof(cutt_cpu_machine),
                                     .facts = facts,
                                     .fact_count = sizeof facts / sizeof *facts,
                                     .parameters = cutt_cpu_parameters,
                                     .value = cutt_cpu_values,
                                     .parameter_count = CUTT_CPU_LEVELS * CUTT_CPU_COUNTS};

static int64_t cache_size(int name, int64_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

/* The beginning of a file, as a string. */
typedef struct beginning {
  char text[4096];
} beginning;

static bool take_beginning(void *context, const char *bytes, size_t length) {
  beginning *start = context;
  snprintf(start->text, sizeof start->text, "%.*s", (int)length, bytes);
  return false;
}

/* The processor's name as the system gives it; "unknown" if it does not say. */
static void read_name(char *buffer, size_t size) {
  beginning start = {""};
  snprintf(buffer, size, "unknown");
  if (cutt_file_try("/proc/cpuinfo", take_beginning, &start) != NULL) return;
  for (char *line = start.text, *next; *line != 0; line = next) {
    char *end = line + strcspn(line, "\n");
    next = end + (*end != 0);
    *end = 0;
    const char *colon = strchr(line, ':');
    if (colon == NULL || (strncmp(line, "model name", 10) != 0 && strncmp(line, "CPU part", 8) != 0)) continue;
    colon += 1 + strspn(colon + 1, " \t");
    snprintf(buffer, size, "%s", colon);
    return;
  }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cutt_cpu_machine machine; /* both written by ask() alone */
static char machine_key[CUTT_DEVICE_KEY_BYTES];

static void ask(void) {
  cutt_cpu_machine *m = &machine;
  m->l1_bytes = cache_size(_SC_LEVEL1_DCACHE_SIZE, 32 * KIB);
  m->l2_bytes = cache_size(_SC_LEVEL2_CACHE_SIZE, 512 * KIB);
  m->l3_bytes = cache_size(_SC_LEVEL3_CACHE_SIZE, 0);
  /* A last-level cache is shared, and a permuted tensor is seldom read at once. */
  m->stream_bytes = m->l3_bytes / 8;
  if (m->stream_bytes > 16 * MIB) m->stream_bytes = 16 * MIB;
  if (m->stream_bytes < 2 * m->l2_bytes) m->stream_bytes = 2 * m->l2_bytes;
  m->base.value = cutt_cpu_values;
  read_name(m->base.name, sizeof m->base.name);
  char name[sizeof m->base.name];
  memcpy(name, m->base.name, sizeof name);
  for (char *p = name; *p != 0; p++) {
    if (!isalnum((unsigned char)*p)) *p = '_';
  }
  /* The processor, the instruction set and the caches: what the timings of a choice hang on. */
  snprintf(machine_key, sizeof machine_key, "cpu-%.60s-%s-%lld-%lld", name, cutt_cpu_isa_kernels(NULL)->name,
           (long long)m->l2_bytes, (long long)m->l3_bytes);
  cutt_device_file_overlay(&cutt_cpu_schema, machine_key, &m->base);
}

const cutt_cpu_machine *cutt_cpu_machine_get(void) {
  pthread_once(&once, ask);
  return &machine;
}

void cutt_cpu_machine_key(char *buffer, size_t size) {
  cutt_cpu_machine_get();
  if (size > 0) snprintf(buffer, size, "%s", machine_key);
}
