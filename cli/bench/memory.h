/* The memory of a benchmark: two buffers where the backend works, filled and checked. */
#ifndef CUTT_CLI_BENCH_MEMORY_H
#define CUTT_CLI_BENCH_MEMORY_H

#include "values.h"

/* What of a result is compared with the definition. On the CPU all of it is, unless nothing is. */
typedef enum cutt_bench_check_t {
  CUTT_BENCH_CHECK_NOTHING,
  CUTT_BENCH_CHECK_SAMPLE, /* on a device: blocks of the output, see memory.c */
  CUTT_BENCH_CHECK_ALL
} cutt_bench_check_t;

typedef struct cutt_bench_buffers {
  cuttBackend_t backend;
  void *in, *out; /* of the backend's memory, 64-byte aligned; each has guard bytes behind it */
  size_t bytes;   /* of each, without the guard */
  size_t first;   /* bytes from in to the case's element (0, ..., 0) */
  void *map[2];   /* CPU: what was mapped, to be unmapped */
  size_t mapped;  /* CPU: bytes of each mapping */
  void *staging;  /* a device: host memory that blocks go through */
  uint64_t draws; /* a device: how often blocks have been drawn; every check looks at others */
} cutt_bench_buffers;

/* Bytes of memory that can be had without swapping; 0 when the system does not say. */
int64_t cutt_bench_memory_available(void);

/* Takes two buffers. On the CPU huge pages are asked for, and `threads` threads touch them first, so that each part
 * lies near the thread that will work on it. On false nothing is held and `why` says what was refused. */
bool cutt_bench_buffers_open(cutt_bench_buffers *buffers, cuttBackend_t backend, size_t bytes, int threads, char *why,
                             size_t why_size);
void cutt_bench_buffers_close(cutt_bench_buffers *buffers);

/* Fills the input's count elements. On false a copy to the device failed, and `why` says so. */
bool cutt_bench_fill_in(cutt_bench_buffers *buffers, const cutt_bench_values *values, int64_t count, char *why,
                        size_t why_size);

/* Makes the output ready for an execution that will be checked: what of it will be compared gets its values from before
 * (values.h), and the guard behind the count elements poison. */
bool cutt_bench_prepare_out(cutt_bench_buffers *buffers, const cutt_bench_values *values, cutt_bench_check_t check,
                            int64_t count, char *why, size_t why_size);

/* Compares elements of the output, those that were prepared, with what the permutation's definition says, and the
 * guard. On false `why` says which element is wrong, or that it could not be fetched. */
bool cutt_bench_check(const cutt_bench_buffers *buffers, const cutt_bench_values *values, const cutt_bench_case *c,
                      cutt_bench_check_t check, char *why, size_t why_size);

#endif
