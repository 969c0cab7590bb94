/* The machine that figures come from. */
#ifndef CUTT_CLI_BENCH_MACHINE_H
#define CUTT_CLI_BENCH_MACHINE_H

#include <jansson.h>

#include "cutt.h"

/* An object: the backend that was measured and its device as the library describes it; the CPU's name, cores, threads,
 * caches and memory in bytes, kernel, compiler, date, version; and the library's description of all backends. NULL when
 * memory ran out. */
json_t *cutt_bench_machine(cuttBackend_t backend, int threads, const char *isa);

/* One line of it for people, into a buffer, which it returns: the CPU's name and cores, or the device's name. */
const char *cutt_bench_machine_text(cuttBackend_t backend, char *buffer, size_t size);

#endif
