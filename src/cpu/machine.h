/* What the CPU backend knows of this machine: caches, threads, and the constants of the cost model. */
#ifndef CUTT_CPU_MACHINE_H
#define CUTT_CPU_MACHINE_H

#include <stdint.h>

typedef struct cutt_cpu_machine {
  int64_t l1_bytes, l2_bytes, l3_bytes; /* data caches as one thread sees them; 0: there is none */
  int64_t stream_bytes;                 /* outputs longer than this are stored past the caches */
  int max_threads;                      /* as OpenMP would take: OMP_NUM_THREADS, else the processors allowed */
} cutt_cpu_machine;

/* Reads the caches' sizes from the system (each call: it is cheap, and nothing is kept). */
cutt_cpu_machine cutt_cpu_machine_get(void);

/* The processor's name as the system gives it, into buffer; "unknown" if it does not say. */
void cutt_cpu_machine_name(char *buffer, int64_t size);

#endif
