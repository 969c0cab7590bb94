/* The machine at hand, asked of the operating system. */
#include "runtime/host/machine.h"

#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/file.h"
#include "runtime/host/isa.h"
#include "runtime/host/team.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

static int64_t cache_size(int name, int64_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

/* The beginning of a file as a string. */
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
  if (cutt_file_try("/proc/cpuinfo", take_beginning, &start)) return;
  for (char *line = start.text, *next; *line; line = next) {
    char *end = line + strcspn(line, "\n");
    next = end + (*end != 0);
    *end = 0;
    const char *colon = strchr(line, ':');
    if (!colon || (strncmp(line, "model name", 10) != 0 && strncmp(line, "CPU part", 8) != 0)) continue;
    colon += 1 + strspn(colon + 1, " \t");
    snprintf(buffer, size, "%s", colon);
    return;
  }
}

/* The last-level cache that a core sees, as Linux describes it: the C library may tell of all of a socket's. Of virtual processors of AMD's
 * it does, ten times what there is. */
static int64_t last_level_cache(int64_t otherwise) {
  beginning start = {""};
  char unit = 0;
  long long size = 0;
  if (cutt_file_try("/sys/devices/system/cpu/cpu0/cache/index3/size", take_beginning, &start)) return otherwise;
  if (sscanf(start.text, "%lld%c", &size, &unit) < 1 || size <= 0 || size > INT32_MAX) return otherwise;
  const int64_t bytes = unit == 'K' ? size * KIB : unit == 'M' ? size * MIB : size;
  return otherwise > 0 && bytes > otherwise ? otherwise : bytes;
}

/* The machine with one instruction set and one number of threads. Kept for good, since plans refer to it. */
typedef struct known_machine {
  cutt_cpu_machine machine;
  char key[CUTT_HOST_KEY_BYTES];
  const struct known_machine *next;
} known_machine;

static _Atomic(const known_machine *) known; /* a list, newest first; read without the lock */
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
static known_machine first[16]; /* so that the one or two of a usual process need no allocation, which could fail */
static size_t firsts;           /* how many of these are in use; under the lock */

/* threads: 0 for any number. */
static const known_machine *find(const cutt_isa *isa, int threads) {
  const known_machine *k = atomic_load(&known);
  while (k && (k->machine.isa != isa->name || (threads && k->machine.threads != threads))) k = k->next;
  return k;
}

/* Zen 1 to 4 are families 17h to 19h of AMD and of Hygon, of which Zen 4 has AVX-512, and Zen 5 is 1Ah. */
static cutt_cpu_core read_core(void) {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  char vendor[12];
  if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx)) return CUTT_CPU_CORE_OTHER;
  memcpy(vendor, &ebx, 4);
  memcpy(vendor + 4, &edx, 4);
  memcpy(vendor + 8, &ecx, 4);
  if (memcmp(vendor, "AuthenticAMD", 12) != 0 && memcmp(vendor, "HygonGenuine", 12) != 0) return CUTT_CPU_CORE_OTHER;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return CUTT_CPU_CORE_OTHER;
  const unsigned family = (eax >> 8 & 15) + (eax >> 20 & 255);
  if (family >= 0x1A) return CUTT_CPU_CORE_ZEN5;
  if (family < 0x17) return CUTT_CPU_CORE_OTHER;
  const bool avx512 = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & bit_AVX512F);
  return avx512 ? CUTT_CPU_CORE_ZEN : CUTT_CPU_CORE_ZEN3;
#else
  return CUTT_CPU_CORE_OTHER;
#endif
}

static const char *core_asked_for(void) {
  const char *asked = getenv("CUTT_CPU_CORE");
  return asked && *asked ? asked : NULL;
}

/* The family that CUTT_CPU_CORE names; CUTT_CPU_CORES: it names none. */
static cutt_cpu_core asked_core(void) {
  static const char *const names[CUTT_CPU_CORES] = {[CUTT_CPU_CORE_OTHER] = "xeon",
                                                    [CUTT_CPU_CORE_ZEN] = "zen",
                                                    [CUTT_CPU_CORE_ZEN3] = "zen3",
                                                    [CUTT_CPU_CORE_ZEN5] = "zen5"};
  const char *asked = core_asked_for();
  if (!asked) return read_core();
  int core = 0;
  while (core < CUTT_CPU_CORES && strcmp(asked, names[core]) != 0) ++core;
  return (cutt_cpu_core)core;
}

/* Each plan comes by here, and must not ask the processor: in a virtual machine each of the five questions takes microseconds. */
bool cutt_host_core_known(const char **why) {
  if (!core_asked_for() || asked_core() != CUTT_CPU_CORES) return true;
  *why = "CUTT_CPU_CORE names no family of cores with parameters of its own; there are xeon, zen, zen3 and zen5";
  return false;
}

static void ask(const cutt_isa *isa, known_machine *k) {
  cutt_cpu_machine *m = &k->machine;
  memset(k, 0, sizeof *k);
  m->l1_bytes = cache_size(_SC_LEVEL1_DCACHE_SIZE, 32 * KIB);
  m->l2_bytes = cache_size(_SC_LEVEL2_CACHE_SIZE, 512 * KIB);
  m->l3_bytes = last_level_cache(cache_size(_SC_LEVEL3_CACHE_SIZE, 0));
  /* Only a part of the last-level cache: it is shared, and a permuted tensor is seldom read right after. */
  m->stream_bytes = m->l3_bytes / 8;
  if (m->stream_bytes > 16 * MIB) m->stream_bytes = 16 * MIB;
  if (m->stream_bytes < 2 * m->l2_bytes) m->stream_bytes = 2 * m->l2_bytes;
  m->core = asked_core();
  read_name(m->base.name, sizeof m->base.name);
  char name[sizeof m->base.name];
  memcpy(name, m->base.name, sizeof name);
  for (char *p = name; *p; ++p) {
    if (!isalnum((unsigned char)*p)) *p = '_';
  }
  /* The processor, the instruction set and the caches: what measured times depend on. */
  snprintf(k->key, sizeof k->key, "cpu-%.60s-%s-%lld-%lld", name, isa->name, (long long)m->l2_bytes,
           (long long)m->l3_bytes);
  cutt_host_complete(k->key, m);
}

static const known_machine *add(const cutt_isa *isa, int threads) {
  known_machine *k = firsts < sizeof first / sizeof *first ? &first[firsts++] : malloc(sizeof *k);
  if (!k) return NULL;
  const known_machine *like = find(isa, 0);
  if (like) {
    *k = *like;
  } else {
    ask(isa, k);
  }
  /* After the calibration file, which must not replace what the environment says. */
  k->machine.isa = isa->name;
  k->machine.vector_bytes = isa->vector_bytes;
  k->machine.byte_permutes = isa->byte_permutes;
  k->machine.whole_lines = isa->vector_bytes == 64 && k->machine.core != CUTT_CPU_CORE_OTHER;
  k->machine.waits_for_lines = k->machine.core == CUTT_CPU_CORE_OTHER;
  k->machine.asks_in_order = k->machine.core != CUTT_CPU_CORE_ZEN && k->machine.core != CUTT_CPU_CORE_ZEN3;
  k->machine.threads = threads;
  k->next = atomic_load(&known);
  atomic_store(&known, k);
  return k;
}

static const known_machine *at_hand(void) {
  const cutt_isa *isa = cutt_isa_in_use(NULL);
  const int threads = cutt_team_default();
  const known_machine *k = find(isa, threads);
  if (k) return k;
  pthread_mutex_lock(&adding);
  k = find(isa, threads);
  if (!k) k = add(isa, threads);
  pthread_mutex_unlock(&adding);
  return k;
}

const cutt_cpu_machine *cutt_host_machine_get(void) {
  const known_machine *k = at_hand();
  return k ? &k->machine : NULL;
}

void cutt_host_machine_key(char *buffer, size_t size) {
  const known_machine *k = at_hand();
  if (size > 0) snprintf(buffer, size, "%s", k ? k->key : "");
}
