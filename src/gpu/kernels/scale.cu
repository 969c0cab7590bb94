/* The kernels of tile.cu with alpha and op (scale.h), where the output is not read. */
#include "scale_types.h"

#define DEFINE_SCALE(name, unaligned, lengthy, bytes, word, accesses, begin, get, sum, load, put, batch)               \
  DEVICE word only_##name(const cutt_kernel_args *args, word x) { return sum(&args->scale, x, x, false); }                     \
  DEFINE_STORE_COLUMNS(name, bytes, word, accesses, begin, only_##name(args, get), put##bytes)                         \
  DEFINE_KERNEL(scale_##name, unaligned, !lengthy, , store_columns_##name(&args, out, &now, in, stage_at, stores))
SCALE_ALL(DEFINE_SCALE)
