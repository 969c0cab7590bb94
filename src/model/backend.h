/* A backend is a runtime with the methods for its kind of processor. Nothing outside of runtime/, cpu/ and gpu/ knows which one
 * it talks to. */
#ifndef CUTT_MODEL_BACKEND_H
#define CUTT_MODEL_BACKEND_H

#include "model/method.h"

typedef struct cutt_backend {
  const char *name; /* "cpu" */
  cuttBackend_t id;
  const char *id_name;       /* "CUTT_BACKEND_CPU" */
  const cutt_schema *schema; /* what a description of its devices holds */
  const struct cutt_runtime *runtime;
  const cutt_methods *methods;
} cutt_backend;

/* The backends of this build, in the order of preference, ended by NULL. Defined in src/backends.c, the one file that knows them
 * all. */
extern const cutt_backend *const cutt_backends[];
extern const cutt_backend cutt_cpu_backend, cutt_cuda_backend;

#endif
