/* The host's runtime as a table, over the other files: isa.c and machine.c are about the processor, memory.c has memory
 * and copies, measure.c bandwidths. Executions use team.c and scratch.c directly. */
#include "runtime/host/host.h"

#include <string.h>

#include "runtime/host/isa.h"
#include "runtime/host/machine.h"
#include "runtime/host/measure.h"
#include "runtime/host/memory.h"

static bool probe(const char **why) {
  cutt_isa_in_use(why);
  if (!*why && cutt_host_core_known(why) && !cutt_host_machine_get())
    *why = "out of memory: a description of the machine";
  return !*why;
}

static const char *isa(void) { return cutt_isa_in_use(NULL)->name; }

static const cutt_target *target(void) { return &cutt_host_machine_get()->base; }

static void describe_device(cuttFormat_t format, cutt_text *text) {
  const cutt_cpu_machine *m = cutt_host_machine_get();
  const char *name = m->base.name;
  if (format == CUTT_JSON) {
    cutt_text_add(text, "\"name\": ");
    cutt_text_add_json(text, name);
    cutt_text_add(text, ", \"threads\": %d, \"l1_bytes\": %lld, \"l2_bytes\": %lld, \"l3_bytes\": %lld, ", m->threads,
                  (long long)m->l1_bytes, (long long)m->l2_bytes, (long long)m->l3_bytes);
    cutt_text_add(text, "\"instruction_sets\": [");
  } else {
    cutt_text_add(text, "  processor        %s\n  threads          %d\n", name, m->threads);
    cutt_text_add(text, "  caches           L1 %lld KiB, L2 %lld KiB, L3 %lld KiB\n", (long long)(m->l1_bytes / 1024),
                  (long long)(m->l2_bytes / 1024), (long long)(m->l3_bytes / 1024));
    cutt_text_add(text, "  stores           past the caches for outputs over %lld KiB\n",
                  (long long)(m->stream_bytes / 1024));
  }
  for (const cutt_isa *i = cutt_isa_all; i->name; ++i) {
    const char *why;
    const bool usable = cutt_isa_usable(i, &why), used = i->name == m->isa;
    if (format == CUTT_JSON) {
      cutt_text_add(text, "%s{\"name\": \"%s\", \"vector_bytes\": %d, \"usable\": %s, \"used\": %s",
                    i == cutt_isa_all ? "" : ", ", i->name, i->vector_bytes, usable ? "true" : "false",
                    used ? "true" : "false");
      if (!usable) {
        cutt_text_add(text, ", \"why\": ");
        cutt_text_add_json(text, why);
      }
      cutt_text_add(text, "}");
    } else {
      cutt_text_add(text, "  instruction set  %-10s %d-byte vectors%s%s\n", i->name, i->vector_bytes,
                    !usable ? ": not here, "
                    : used  ? ", in use"
                            : "",
                    why);
    }
  }
  if (format == CUTT_JSON) cutt_text_add(text, "]");
}

const cutt_runtime cutt_host_runtime = {
    .has_streams = false,
    .probe = probe,
    .isa = isa,
    .device_key = cutt_host_machine_key,
    .describe_device = describe_device,
    .target = target,
    .measure_target = cutt_host_measure,
    .memory_allocate = cutt_host_memory_allocate,
    .memory_free = cutt_host_memory_free,
    .memory_copy = cutt_host_memory_copy,
    .copy = cutt_host_copy,
    .time = cutt_host_time,
    .scratch_create = cutt_host_scratch_create,
    .scratch_release = cutt_host_scratch_release,
};
