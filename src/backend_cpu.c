/* The backend for CPUs: here the host runtime and the methods become one. */
#include "cpu/cpu.h"
#include "cpu/target.h"
#include "plan/backend.h"
#include "runtime/host/host.h"
#include "runtime/host/machine.h"

const cutt_backend cutt_cpu_backend = {.name = "cpu",
                                       .id = CUTT_BACKEND_CPU,
                                       .id_name = "CUTT_BACKEND_CPU",
                                       .schema = &cutt_cpu_schema,
                                       .runtime = &cutt_host_runtime,
                                       .methods = &cutt_cpu_methods};

void cutt_host_complete(const char *key, cutt_cpu_machine *machine) { cutt_cpu_complete(key, machine); }
