/* Bandwidths of memory and caches, as one thread sees them.
 *
 * The copy is memcpy, the write memset, which the C library tunes for the processor; the read is a sum in four
 * accumulators, so that additions don't wait for one another. The fastest run counts: noise only ever adds. */
#include "runtime/host/measure.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "model/machine.h"
#include "runtime/host/memory.h"

enum { MIB = 1024 * 1024, LARGE = 64 * MIB, LEAST_RUNS = 3 };
static const double sample_seconds = 100e-6, most_seconds = 1.0;

/* Something to be measured. What it works on may change, and is of no interest. */
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
    for (int j = 0; j < 4; j++) sum[j] += word[j];
  }
  sum[0] += sum[1] + sum[2] + sum[3];
  memcpy(s->to, sum, sizeof *sum); /* somebody has to want it */
}

/* Runs it again and again for about so many seconds and returns bytes per second of the fastest, in whole MB/s. Short ones are repeated
 * within a sample, so that the clock's own step does not count. counted: bytes that a run reads and writes. */
static double bandwidth(void (*work)(const stretch *), const stretch *s, double counted, double seconds) {
  /* By way of a volatile, or else a compiler may find that running it once is enough. */
  void (*volatile run)(const stretch *) = work;
  const double began = cutt_clock();
  run(s); /* touches pages and warms up */
  double typical = cutt_clock() - began, fastest = -1;
  for (int runs = 0; runs < LEAST_RUNS || cutt_clock() - began < seconds; runs++) {
    const int repeats = typical <= 0 ? 1000 : typical >= sample_seconds ? 1 : (int)(sample_seconds / typical) + 1;
    const double start = cutt_clock();
    for (int i = 0; i < repeats; i++) run(s);
    typical = (cutt_clock() - start) / repeats;
    if (typical > 0 && (fastest < 0 || typical < fastest)) fastest = typical;
  }
  return fastest > 0 ? floor(counted / fastest * 1e-6) * 1e6 : 0;
}

static size_t whole_lines(int64_t bytes) {
  return (size_t)(bytes < 4096 ? 4096 : bytes > LARGE ? LARGE : bytes) / 64 * 64;
}

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

  /* Two tensors that leave half of L2 to what else is there; and two that only fit the last level. */
  const size_t in_l2 = whole_lines(m->l2_bytes / 4);
  const size_t in_l3 = whole_lines(m->stream_bytes / 2 > m->l2_bytes ? m->stream_bytes / 2 : m->l2_bytes);
  const struct {
    void (*work)(const stretch *);
    size_t bytes;
    double counted; /* per byte */
    double *fact;
    bool there;
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
  for (int i = 0; i < count && !result; i++) {
    if (progress && !progress(data, (double)i / count)) {
      result = cutt_error(CUTT_INTERNAL_ERROR, "the measurement was stopped");
      break;
    }
    const stretch s = {from, to, steps[i].bytes};
    *steps[i].fact = steps[i].there ? bandwidth(steps[i].work, &s, steps[i].counted * (double)s.bytes, share) : 0;
  }
  cutt_host_scratch_release(from);
  cutt_host_scratch_release(to);
  return result;
}
