/* Random numbers of benchmarks: the program's own, so that a seed means the same cases on every machine. */
#ifndef CUTT_CLI_BENCH_RANDOM_H
#define CUTT_CLI_BENCH_RANDOM_H

#include <stdint.h>

/* splitmix64 */
typedef struct cutt_bench_stream {
  uint64_t state;
} cutt_bench_stream;

/* The stream of what these numbers name: two that differ in either have nothing to do with each other. */
cutt_bench_stream cutt_bench_stream_open(uint64_t seed, uint64_t what);

uint64_t cutt_bench_next(cutt_bench_stream *s);

/* Evenly distributed over 0 .. below-1; the bias is below 2^-32 for the small ranges that are asked for. */
int64_t cutt_bench_draw(cutt_bench_stream *s, int64_t below);

/* The numbers 0 .. count-1 in random order. */
void cutt_bench_draw_perm(cutt_bench_stream *s, int count, int *perm);

#endif
