/* The machine that figures come from. */
#ifndef CUTT_CLI_BENCH_MACHINE_H
#define CUTT_CLI_BENCH_MACHINE_H

#include <jansson.h>

/* An object: the CPU's name, cores, threads, caches and memory in bytes, kernel, compiler, date, version, and the
 * library's own description of its backends. NULL when memory ran out. */
json_t *cutt_bench_machine(int threads, const char *isa);

/* One line of it for people, into a buffer, which it returns. */
const char *cutt_bench_machine_text(char *buffer, size_t size);

#endif
