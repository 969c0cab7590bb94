/* The runtime of the machine's own processors. */
#ifndef CUTT_RUNTIME_HOST_HOST_H
#define CUTT_RUNTIME_HOST_HOST_H

#include "runtime/runtime.h"

extern const cutt_runtime cutt_host_runtime;

#endif
