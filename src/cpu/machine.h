/* What the CPU backend knows of this machine: caches, what was measured on it, and the parameters of the cost model. */
#ifndef CUTT_CPU_MACHINE_H
#define CUTT_CPU_MACHINE_H

#include "model/target.h"

typedef struct cutt_cpu_machine {
  cutt_target base;
  int64_t l1_bytes, l2_bytes, l3_bytes; /* data caches as one thread sees them; 0: there is none */
  int64_t stream_bytes;                 /* outputs longer than this are stored past the caches */
  /* Bytes per second of one thread, read and written ones counted; 0: not measured. */
  double copy_bandwidth, read_bandwidth, write_bandwidth; /* of memory */
  double l2_copy_bandwidth, l3_copy_bandwidth;            /* of what fits into a cache */
} cutt_cpu_machine;

extern const cutt_schema cutt_cpu_schema;

/* The machine at hand: caches' sizes from the system, and what a calibration found, if there is one. Asked once. */
const cutt_cpu_machine *cutt_cpu_machine_get(void);

/* The key of this machine, for wisdom and device files: at most size bytes. */
void cutt_cpu_machine_key(char *buffer, size_t size);

#endif
