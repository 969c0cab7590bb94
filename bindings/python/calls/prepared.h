/* What a plan of the package is made for, as the compiled module keeps it (prepared.c). */
#ifndef CUTT_CALLS_PREPARED_H
#define CUTT_CALLS_PREPARED_H

#include "calls.h"

enum { MOST_ARRAYS = 4 }; /* the operands, and last the result */

typedef struct layout {
  int rank;
  int64_t shape[MOST_AXES], strides[MOST_AXES];
} layout;

typedef struct prepared {
  PyObject object;
  PyObject *plan; /* NULL: every call is for the method in Python */
  plan_facts facts;
  layout array[MOST_ARRAYS];
  int operands, type, device, adds;
} prepared;

bool fits_layout(const layout *l, const view *v);

#endif
