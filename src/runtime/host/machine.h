/* The machine at hand, as a target. */
#ifndef CUTT_RUNTIME_HOST_MACHINE_H
#define CUTT_RUNTIME_HOST_MACHINE_H

#include "model/machine.h"

enum { CUTT_HOST_KEY_BYTES = 128 };

/* The machine at hand, with the instruction set and the number of threads that the environment asks for now: the sizes
 * of the caches from the system, and what a calibration found, if there is one. Lives as long as the library; there is
 * one for each pair of instruction set and threads. NULL: out of memory, after the environment has asked for many such
 * pairs. */
const cutt_cpu_machine *cutt_host_machine_get(void);

/* Is CUTT_CPU_CORE unset, or one of the families of cores? Else *why says what is allowed. */
bool cutt_host_core_known(const char **why);

/* Its key in wisdom and device files, at most size bytes. */
void cutt_host_machine_key(char *buffer, size_t size);

/* Adds the runtime's table, and the values of the methods' model, those built in or those of the calibration file of this
 * key. Defined in src/backends.c, where runtime and methods are put together, so that the runtime knows neither methods nor
 * files. */
void cutt_host_complete(const char *key, cutt_cpu_machine *machine);

#endif
