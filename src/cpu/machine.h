/* A machine as planning knows it: registers, threads, caches, what was measured on it, and the parameters of the cost
 * model. */
#ifndef CUTT_CPU_MACHINE_H
#define CUTT_CPU_MACHINE_H

#include "model/target.h"
#include "runtime/host/isa.h"

typedef struct cutt_cpu_machine {
  cutt_target base;
  const cutt_isa *isa;                  /* in use on the machine at hand; NULL: the machine is only described */
  int vector_bytes;                     /* of the widest registers in use */
  int threads;                          /* that plans take by default */
  int64_t l1_bytes, l2_bytes, l3_bytes; /* data caches as one thread sees them; 0: there is none */
  int64_t stream_bytes;                 /* outputs longer than this are stored past the caches */
  /* Bytes per second of one thread, read and written ones counted; 0: not measured. */
  double copy_bandwidth, read_bandwidth, write_bandwidth; /* of memory */
  double l2_copy_bandwidth, l3_copy_bandwidth;            /* of what fits into a cache */
} cutt_cpu_machine;

extern const cutt_schema cutt_cpu_schema;

/* The machine at hand, with the instruction set and the number of threads that the environment asks for now: caches' sizes
 * from the system, and what a calibration found, if there is one. Lives as long as the library, and there is one for each
 * answer of the environment. NULL: out of memory, which only happens where the environment has given many answers. */
const cutt_cpu_machine *cutt_cpu_machine_get(void);

/* Its key, for wisdom and device files: at most size bytes. */
void cutt_cpu_machine_key(char *buffer, size_t size);

#endif
