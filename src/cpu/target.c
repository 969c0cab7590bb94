/* A processor as a target of planning (target.h). */
#include "cpu/target.h"

#include "cpu/cost.h"
#include "model/candidate.h"

enum { MIB = 1024 * 1024 };

#define SIZE(name, what)                                                                                               \
  { #name, "B", what, CUTT_PROPERTY_INT64, offsetof(cutt_cpu_machine, name), 0, 1e15 }
#define SPEED(name, what)                                                                                              \
  { #name, "B/s", what, CUTT_PROPERTY_REAL, offsetof(cutt_cpu_machine, name), 0, 1e15 }
static const cutt_property properties[] = {
    {"vector_bytes", "B", "widest registers in use", CUTT_PROPERTY_INT, offsetof(cutt_cpu_machine, vector_bytes), 16,
     256},
    {"byte_permutes", "1", "1: permutes take any bytes of a register", CUTT_PROPERTY_INT,
     offsetof(cutt_cpu_machine, byte_permutes), 0, 1},
    {"threads", "1", "threads that plans take by default", CUTT_PROPERTY_INT, offsetof(cutt_cpu_machine, threads), 1,
     CUTT_MAX_THREADS},
    SIZE(l1_bytes, "data cache of the first level"),
    SIZE(l2_bytes, "cache of the second level"),
    SIZE(l3_bytes, "cache of the third level"),
    SIZE(stream_bytes, "outputs longer than this are stored past the caches"),
    SPEED(copy_bandwidth, "a copy in memory, one thread, read and written bytes"),
    SPEED(read_bandwidth, "reading memory, one thread"),
    SPEED(write_bandwidth, "writing memory, one thread"),
    SPEED(l2_copy_bandwidth, "a copy within L2, one thread, read and written bytes"),
    SPEED(l3_copy_bandwidth, "a copy within the last-level cache, one thread, read and written bytes"),
};

static const double *value_of(const cutt_target *target) {
  return cutt_cpu_values_of(((const cutt_cpu_machine *)(const void *)target)->core);
}

const cutt_schema cutt_cpu_schema = {.backend = "cpu",
                                     .bytes = sizeof(cutt_cpu_machine),
                                     .properties = properties,
                                     .property_count = sizeof properties / sizeof *properties,
                                     .parameters = cutt_cpu_parameters,
                                     .value = cutt_cpu_values,
                                     .value_of = value_of,
                                     .parameter_count = CUTT_CPU_LEVELS * CUTT_CPU_COUNTS};

void cutt_cpu_complete(cutt_cpu_machine *machine) { machine->base.value = value_of(&machine->base); }

/* Sizes for each level that the model has parameters for: L2, the last-level cache, and memory, where the choice of a
 * candidate matters most. */
int cutt_cpu_calibration_sizes(const cutt_target *target, int64_t *list, int max) {
  const cutt_cpu_machine *m = (const cutt_cpu_machine *)(const void *)target;
  const int64_t l3 = m->stream_bytes / 2 > m->l2_bytes ? m->stream_bytes / 2 : m->l2_bytes;
  /* What is written past the caches is in memory, however large the last of them is; but one size is larger than most. */
  const int64_t memory = m->stream_bytes / 2 * 3;
  const int64_t beyond = m->l3_bytes < 64 * MIB ? 96 * MIB : 2 * memory;
  const int64_t sizes[] = {memory, m->l2_bytes / 4, 2 * memory, l3, memory, beyond, m->l2_bytes / 8};
  int count = 0;
  for (; count < max && count < (int)(sizeof sizes / sizeof *sizes); ++count) list[count] = sizes[count];
  return count;
}
