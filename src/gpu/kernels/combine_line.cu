/* Elementwise operations of tensors whose elements are in D's order, element by element (combine_line.h). */
#include "combine_line.h"

#define COMBINE_BODY "combine_line_type.h"
#include "combine_types.h"
