/* The machine that figures come from: what a reader needs to judge or repeat them, and no more: neither the host's name
 * nor the user's. Everything is asked of Linux's files and may be missing, which is then said by leaving it out. */
#include "machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/describe.h"

/* The first line of a file, without its end; false when there is none. */
static bool read_line(const char *path, char *buffer, size_t size) {
  FILE *file = fopen(path, "r");
  if (!file) return false;
  bool got = fgets(buffer, (int)size, file);
  fclose(file);
  if (got) buffer[strcspn(buffer, "\n")] = 0;
  return got;
}

static void cpu_name(char *buffer, size_t size) {
  struct utsname system;
  snprintf(buffer, size, "%s", uname(&system) == 0 ? system.machine : "unknown");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (!file) return;
  char line[512];
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, "model name", 10) != 0) continue;
    const char *name = strchr(line, ':');
    if (name) {
      line[strcspn(line, "\n")] = 0;
      snprintf(buffer, size, "%s", name + 1 + strspn(name + 1, " \t"));
    }
    break;
  }
  fclose(file);
}

/* "L1d": 49152, ... of the first core, as the system's files say. */
static json_t *caches(void) {
  json_t *list = json_object();
  if (!list) return NULL;
  for (int index = 0; index < 16; ++index) {
    char path[96], level[16], type[32], text[32], name[64];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", index);
    if (!read_line(path, level, sizeof level)) break;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", index);
    if (!read_line(path, type, sizeof type)) break;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    if (!read_line(path, text, sizeof text)) break;
    char *end;
    long long bytes = strtoll(text, &end, 10);
    bytes *= *end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1;
    snprintf(name, sizeof name, "L%s%s", level, *type == 'D' ? "d" : *type == 'I' ? "i" : "");
    if (json_object_set_new(list, name, json_integer(bytes)) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

/* cuttDevicesDescribe's JSON, or null when it can't be had. */
static json_t *devices(void) {
  json_t *described = cutt_cli_described_json(cutt_cli_describe_devices, NULL, NULL);
  return described ? described : json_null();
}

/* Of that description, the part "device" of one backend; a reference of the caller's own, JSON's null without one. */
static json_t *device_of(json_t *described, cuttBackend_t backend) {
  size_t i;
  json_t *each;
  json_array_foreach(json_object_get(described, "backends"), i, each) {
    const char *name = json_string_value(json_object_get(each, "name"));
    json_t *device = json_object_get(each, "device");
    if (name && device && !strcmp(name, cutt_cli_backend_name(backend))) return json_incref(device);
  }
  return json_null();
}

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif

json_t *cutt_bench_machine(cuttBackend_t backend, int threads, const char *isa) {
  char name[256], date[32] = "", version[32], system_text[512] = "", huge[128] = "";
  cpu_name(name, sizeof name);
  time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  int number = cuttVersion();
  snprintf(version, sizeof version, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
  struct utsname system;
  if (uname(&system) == 0)
    snprintf(system_text, sizeof system_text, "%s %s %s", system.sysname, system.release, system.machine);
  read_line("/sys/kernel/mm/transparent_hugepage/enabled", huge, sizeof huge);
  int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
  json_t *described = devices();
  return json_pack("{s:s, s:o, s:s, s:s, s:I, s:i, s:o, s:I, s:s, s:s, s:s, s:s, s:s, s:o}", "backend",
                   cutt_cli_backend_name(backend), "device", device_of(described, backend), "cpu", name, "isa",
                   isa ? isa : "", "cores", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "threads", threads, "caches",
                   caches(), "memory", (json_int_t)memory, "huge_pages", huge, "system", system_text, "compiler",
                   COMPILER, "date", date, "version", version, "devices", described);
}

const char *cutt_bench_machine_text(cuttBackend_t backend, char *buffer, size_t size) {
  char name[256];
  cpu_name(name, sizeof name);
  snprintf(buffer, size, "%s, %ld cores", name, sysconf(_SC_NPROCESSORS_ONLN));
  if (backend == CUTT_BACKEND_CPU) return buffer;
  json_t *described = devices(), *device = device_of(described, backend);
  const char *text = json_string_value(json_object_get(device, "name"));
  snprintf(buffer, size, "%s", text ? text : cutt_cli_backend_name(backend));
  json_decref(device);
  json_decref(described);
  return buffer;
}
