/* The files that benchmarks write. */
#ifndef CUTT_CLI_BENCH_FILES_H
#define CUTT_CLI_BENCH_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Opens a file for output, "-" being stdout, or refuses to replace one. NULL after a message, which calls it what the
 * option does. */
FILE *cutt_bench_file_open(const char *option, const char *path, bool force);

/* Closes what cutt_bench_file_open opened, or NULL; false when the data did not arrive. */
bool cutt_bench_file_close(FILE *file);

/* Writes a value on a line of its own, what is before it and after it too, and lets go of it. False with errno set. */
bool cutt_bench_dump(FILE *file, const char *before, json_t *value, const char *after);

#endif
