/* Bandwidths of memory and caches, as one thread sees them.
 *
 * The copy is memcpy and the write memset, which the C library tunes for the processor; the read is a sum in four
 * accumulators, so that additions don't wait for one another. The fastest repetition counts, since noise only adds. */
#include "runtime/host/measure.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "model/machine.h"
#include "runtime/host/memory.h"

enum { MIB = 1024 * 1024, LARGE = 64 * MIB, LEAST_RUNS = 3 };
static const double sample_seconds = 100e-6, most_seconds = 1.0;

/* The buffers that a measurement works on. */
typedef struct stretch {
  unsigned char *from, *to;
  size_t bytes; /* of each; a multiple of 64 */
} stretch;

static void copy(const stretch *s) { memcpy(s->to, s->from, s->bytes); }

static void store(const stretch *s) { memset(s->to, s->from[0], s->bytes); }

static void load(const stretch *s) {
  uint64_t sum[4] = {0, 0, 0, 0};
  for (size_t i = 0; i < s->bytes; i += sizeof sum) {
    uint64_t word[4];
    memcpy(word, s->from + i, sizeof word);
    for (int j = 0; j < 4; ++j) sum[j] += word[j];
  }
  sum[0] += sum[1] + sum[2] + sum[3];
  memcpy(s->to, sum, sizeof *sum); /* used, or the compiler would drop the sum */
}

/* Repeats the work for about so many seconds; returns the bytes per second of the fastest sample, in whole MB/s. Short
 * work is repeated within a sample, so that the clock's resolution does not matter. counted: bytes that the work reads
 * and writes. */
static double bandwidth(void (*work)(const stretch *), const stretch *s, double counted, double seconds) {
  /* A volatile pointer, or a compiler may find that one call is enough. */
  void (*volatile run)(const stretch *) = work;
  const double began = cutt_clock();
  run(s); /* touches pages and warms up */
  double typical = cutt_clock() - began, fastest = -1;
  for (int runs = 0; runs < LEAST_RUNS || cutt_clock() - began < seconds; ++runs) {
    const int repeats = typical <= 0 ? 1000 : typical >= sample_seconds ? 1 : (int)(sample_seconds / typical) + 1;
    const double start = cutt_clock();
    for (int i = 0; i < repeats; ++i) run(s);
    typical = (cutt_clock() - start) / repeats;
    if (typical > 0 && (fastest < 0 || typical < fastest)) fastest = typical;
  }
  return fastest > 0 ? floor(counted / fastest * 1e-6) * 1e6 : 0;
}

static size_t whole_lines(int64_t bytes) { return (size_t)larger(4096, smaller(bytes, LARGE)) / 64 * 64; }

cuttResult cutt_host_measure(cutt_target *target, double seconds, bool (*progress)(void *data, double done),
                             void *data) {
  cutt_cpu_machine *m = (cutt_cpu_machine *)(void *)target;
  void *from = NULL, *to = NULL;
  cuttResult result = cutt_host_scratch_create(LARGE, 1, &from);
  if (result) return result;
  result = cutt_host_scratch_create(LARGE, 1, &to);
  if (result) {
    cutt_host_scratch_release(from);
    return result;
  }

  /* Two buffers that fill half of L2, and two that fit the last-level cache only. */
  const size_t in_l2 = whole_lines(m->l2_bytes / 4);
  const size_t in_l3 = whole_lines(larger(m->stream_bytes / 2, m->l2_bytes));
  const struct {
    void (*work)(const stretch *);
    size_t bytes;
    double counted; /* per byte */
    double *result;
    bool applies;
  } steps[] = {
      {copy, LARGE, 2, &m->copy_bandwidth, true},
      {load, LARGE, 1, &m->read_bandwidth, true},
      {store, LARGE, 1, &m->write_bandwidth, true},
      {copy, in_l2, 2, &m->l2_copy_bandwidth, m->l2_bytes > 0},
      {copy, in_l3, 2, &m->l3_copy_bandwidth, m->l3_bytes > 0},
  };
  const int count = sizeof steps / sizeof *steps;
  double share = seconds / count;
  if (share > most_seconds) share = most_seconds;
  for (int i = 0; i < count && !result; ++i) {
    if (progress && !progress(data, (double)i / count)) {
      result = cutt_error(CUTT_INTERNAL_ERROR, "the measurement was stopped");
      break;
    }
    const stretch s = {from, to, steps[i].bytes};
    *steps[i].result = steps[i].applies ? bandwidth(steps[i].work, &s, steps[i].counted * (double)s.bytes, share) : 0;
  }
  cutt_host_scratch_release(from);
  cutt_host_scratch_release(to);
  return result;
}
