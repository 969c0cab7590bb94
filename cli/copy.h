/* The copy ceiling: how fast this machine copies memory right now, by the fastest of several copy loops. */
#ifndef CUTT_CLI_COPY_H
#define CUTT_CLI_COPY_H

#include <stddef.h>

/* The copy loops that this machine can run are numbered from 0. The name of one: "memcpy", "nt-avx512", ... */
const char *cutt_cli_copy_name(int which);

/* Seconds that one copy of bytes from src to dst takes by loop `which`, on `threads` OpenMP threads at most (fewer when the parts would
 * be small), each a contiguous part: the mean over as many copies as fill at least 100 microseconds. The two may not
 * overlap; no alignment is asked for, though dst should be 64-byte aligned to be a fair ceiling. */
double cutt_cli_copy_seconds(int which, void *dst, const void *src, size_t bytes, int threads);

/* The loop that is fastest on these buffers, by the median of `rounds` rounds over all loops; *seconds (which may be
 * NULL) receives that median. */
int cutt_cli_copy_fastest(void *dst, const void *src, size_t bytes, int threads, int rounds, double *seconds);

/* The copy ceiling in GB/s (1e9 bytes per second, read and write both counted): the fastest loop's median over a few
 * rounds. dst is overwritten. 0 when bytes is 0. Takes about 20 copies' time. */
double cutt_cli_copy_gbs(void *dst, const void *src, size_t bytes, int threads);

#endif
