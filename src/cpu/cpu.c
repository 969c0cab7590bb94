/* The CPU backend's table. The work is elsewhere: enumerate.c and cost.c choose, tile.c and prepare.c lay a plan out,
 * execute.c and kernels/ run it, isa.c and machine.c know the processor, memory.c has memory and the clock. */
#include "cpu/cpu.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cpu/calibrate.h"
#include "cpu/enumerate.h"
#include "cpu/explain.h"
#include "cpu/machine.h"
#include "cpu/prepared.h"
#include "runtime/host/memory.h"

static bool probe(const char **why) {
  cutt_isa_in_use(why);
  if (!*why && !cutt_cpu_machine_get()) *why = "out of memory: a description of the machine";
  return !*why;
}

static const char *isa(void) { return cutt_isa_in_use(NULL)->name; }

static const cutt_target *target(void) { return &cutt_cpu_machine_get()->base; }

static void describe_device(cuttFormat_t format, cutt_text *text) {
  const cutt_cpu_machine *m = cutt_cpu_machine_get();
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
    const bool usable = cutt_isa_usable(i, &why), used = i == m->isa;
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
      cutt_text_add(text, "  instruction set  %-8s %d-byte vectors%s%s\n", i->name, i->vector_bytes,
                    !usable ? ": not here, "
                    : used  ? ", in use"
                            : "",
                    why);
    }
  }
  if (format == CUTT_JSON) cutt_text_add(text, "]");
}

static bool accept(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                   const char **why) {
  const int vector_bytes = ((const cutt_cpu_machine *)(const void *)target)->vector_bytes;
  cutt_cpu_tile tile;
  if (!cutt_cpu_tile_derive(canonical, candidate, &tile, why)) return false;
  if (candidate->threads < 1 || candidate->threads > CUTT_MAX_THREADS) {
    *why = "threads are out of range";
    return false;
  }
  if (tile.kernel == CUTT_CPU_WINDOW && !cutt_cpu_has_window(vector_bytes, canonical->elem_bytes)) {
    *why = "the instruction set in use has no windows";
    return false;
  }
  if (tile.kernel == CUTT_CPU_TRANSPOSE && candidate->param[CUTT_CPU_PARAM_VECTOR] > vector_bytes) {
    *why = "the instruction set in use has no vectors that wide";
    return false;
  }
  return true;
}

static const char *const param_name[CUTT_PARAMS] = {"kernel", "vector_bytes", "stream", "step", NULL, NULL};

static const cutt_runtime runtime = {
    .has_streams = false,
    .probe = probe,
    .isa = isa,
    .device_key = cutt_cpu_machine_key,
    .describe_device = describe_device,
    .target = target,
    .measure_target = cutt_cpu_measure_target,
    .memory_allocate = cutt_cpu_memory_allocate,
    .memory_free = cutt_cpu_memory_free,
    .memory_copy = cutt_cpu_memory_copy,
    .copy = cutt_cpu_copy,
    .time = cutt_cpu_time,
    .scratch_create = cutt_cpu_scratch_create,
    .scratch_release = cutt_cpu_scratch_release,
};

static const cutt_methods methods = {
    .param_name = param_name,
    .calibration_sizes = cutt_cpu_training_sizes,
    .enumerate = cutt_cpu_enumerate,
    .explain = cutt_cpu_explain,
    .accept = accept,
    .prepare = cutt_cpu_prepare,
    .execute = cutt_cpu_execute,
    .release = cutt_cpu_release,
};

const cutt_backend cutt_cpu_backend = {.name = "cpu",
                                       .id = CUTT_BACKEND_CPU,
                                       .id_name = "CUTT_BACKEND_CPU",
                                       .schema = &cutt_cpu_schema,
                                       .runtime = &runtime,
                                       .methods = &methods};
