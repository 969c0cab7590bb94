/* Element types: what each cuttType_t is to the rest of the library. */
#ifndef CUTT_BASE_TYPES_H
#define CUTT_BASE_TYPES_H

#include <stdbool.h>

#include "cutt.h"

typedef struct cutt_type_info {
  cuttType_t type;
  const char *name; /* "f32", "bytes8", ... */
  int bytes;        /* of one element */
  int scalar_bytes; /* of the alpha and beta that it takes; 0: takes none */
  bool complex;
} cutt_type_info;

/* NULL for a value that is no type. */
const cutt_type_info *cutt_type_lookup(cuttType_t type);

#endif
