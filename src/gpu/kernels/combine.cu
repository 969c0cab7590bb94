/* Elementwise operations of permuted operands (combine_args.h): every tensor is read once, whatever the order of its elements, and D
 * is written once. */
#include "async.h" /* the runtime's: src/runtime/cuda/kernels */
#include "combine_walk.h"

#define COMBINE_BODY "combine_type.h"
#include "combine_types.h"
