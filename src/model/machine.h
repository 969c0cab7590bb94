/* A machine as planning knows it: registers, threads, caches, what was measured on it, and the parameters of the cost
 * model. */
#ifndef CUTT_MODEL_MACHINE_H
#define CUTT_MODEL_MACHINE_H

#include "model/target.h"

/* Families of cores that have parameters of their own built in. */
typedef enum cutt_cpu_core {
  CUTT_CPU_CORE_OTHER, /* Intel's, Arm's, and what is not known */
  CUTT_CPU_CORE_ZEN,   /* AMD's with AVX-512 before Zen 5: Zen 4 */
  CUTT_CPU_CORE_ZEN3,  /* AMD's without it: Zen 1 to 3 */
  CUTT_CPU_CORE_ZEN5,  /* AMD's, Zen 5 */
  CUTT_CPU_CORES
} cutt_cpu_core;

typedef struct cutt_cpu_machine {
  cutt_target base;
  cutt_cpu_core core;
  const char *isa;   /* in use on the machine at hand; NULL: the machine is only described */
  int vector_bytes;  /* of the widest registers in use */
  int byte_permutes; /* 1: permutes take any bytes of a register; of 16 bytes if vector_bytes < 64 */
  int whole_lines; /* 1: shuffles of 64-byte registers take less than the loads that they save; transposes in caches then load whole lines */
  int asks_in_order; /* 1: what lies in order in memory is read faster if it is asked for, however well the processor fetches it unasked */
  int waits_for_lines; /* 1: stores by turns to many lines that L1 lacks wait for each, as those that go on in one line do not */
  int threads;                          /* that plans take by default */
  int64_t l1_bytes, l2_bytes, l3_bytes; /* data caches as one thread sees them; 0: there is none */
  int64_t stream_bytes;                 /* outputs longer than this are stored past the caches */
  /* Bytes per second of one thread, read and written ones counted; 0: not measured. */
  double copy_bandwidth, read_bandwidth, write_bandwidth; /* of memory */
  double l2_copy_bandwidth, l3_copy_bandwidth;            /* of what fits into a cache */
} cutt_cpu_machine;

/* Bytes that caches hold beside all else, of a machine with these stream_bytes: half of the last-level cache, of which they are an eighth,
 * within bounds. */
static inline int64_t cutt_most_cached(int64_t stream_bytes) {
  static const int64_t times = 4, most = 16 << 20;
  const int64_t half = times * stream_bytes < most ? times * stream_bytes : most;
  return half > stream_bytes ? half : stream_bytes;
}

#endif
