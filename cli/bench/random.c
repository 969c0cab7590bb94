/* Random numbers of benchmarks; see random.h. */
#include "random.h"

uint64_t cutt_bench_next(cutt_bench_stream *s) {
  uint64_t z = s->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

cutt_bench_stream cutt_bench_stream_open(uint64_t seed, uint64_t what) {
  cutt_bench_stream s = {seed};
  s.state = cutt_bench_next(&s) ^ what;
  s.state = cutt_bench_next(&s);
  return s;
}

int64_t cutt_bench_draw(cutt_bench_stream *s, int64_t below) {
  return (int64_t)((cutt_bench_next(s) >> 32) * (uint64_t)below >> 32);
}

void cutt_bench_draw_perm(cutt_bench_stream *s, int count, int *perm) {
  for (int i = 0; i < count; ++i) perm[i] = i;
  for (int i = count - 1; i > 0; --i) {
    int j = (int)cutt_bench_draw(s, i + 1), swap = perm[i];
    perm[i] = perm[j];
    perm[j] = swap;
  }
}
