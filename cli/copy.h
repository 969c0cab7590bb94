/* The copy ceiling: how fast this machine copies memory right now, by the fastest of several copy loops. */
#ifndef CUTT_CLI_COPY_H
#define CUTT_CLI_COPY_H

#include <stddef.h>

/* How many copy loops this machine can run; they are numbered from 0. */
int cutt_cli_copy_count(void);

/* The name of loop `which`, 0 <= which < cutt_cli_copy_count(): "memcpy", "nt-avx512", ... */
const char *cutt_cli_copy_name(int which);

/* Copies bytes from src to dst by loop `which` with `threads` OpenMP threads at most (fewer when the parts would
 * be small), each a contiguous part. The two may not
 * overlap; no alignment is asked for, though dst should be 64-byte aligned to be a fair ceiling. */
void cutt_cli_copy_run(int which, void *dst, const void *src, size_t bytes, int threads);

/* Seconds that one copy takes: the mean over as many copies as fill at least 100 microseconds. */
double cutt_cli_copy_seconds(int which, void *dst, const void *src, size_t bytes, int threads);

/* The loop that is fastest on these buffers, by the median of `rounds` rounds over all loops; *seconds (which may be
 * NULL) receives that median. */
int cutt_cli_copy_fastest(void *dst, const void *src, size_t bytes, int threads, int rounds, double *seconds);

/* The copy ceiling in GB/s (1e9 bytes per second, read and write both counted): the fastest loop's median over a few
 * rounds. dst is overwritten. 0 when bytes is 0. Takes about 20 copies' time. */
double cutt_cli_copy_gbs(void *dst, const void *src, size_t bytes, int threads);

#endif
