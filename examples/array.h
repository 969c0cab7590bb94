/* Whole .npy files in memory, for the demo's programs: no more than they need. */
#ifndef CUTT_EXAMPLES_ARRAY_H
#define CUTT_EXAMPLES_ARRAY_H

#include "cli/npy.h"

typedef struct array {
  cutt_npy npy;
  uint8_t *file; /* header and all; free it */
  uint8_t *data; /* the elements, within it */
} array;

/* Reads a file. On false a message is on stderr. */
bool array_read(const char *path, array *a);

/* Writes C-order data; npy has descr, elem_bytes, rank and shape. On false a message is on stderr. */
bool array_write(const char *path, cutt_npy *npy, const void *data);

#endif
