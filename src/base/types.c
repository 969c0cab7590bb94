/* The element types, as one table that is indexed by cuttType_t. */
#include "base/types.h"

enum { TYPE_VALUES = CUTT_I64 + 1 };

static const cutt_type_info types[TYPE_VALUES] = {
    [CUTT_BYTES_1] = {CUTT_BYTES_1, "bytes1", 1, 0, false},
    [CUTT_BYTES_2] = {CUTT_BYTES_2, "bytes2", 2, 0, false},
    [CUTT_BYTES_4] = {CUTT_BYTES_4, "bytes4", 4, 0, false},
    [CUTT_BYTES_8] = {CUTT_BYTES_8, "bytes8", 8, 0, false},
    [CUTT_BYTES_16] = {CUTT_BYTES_16, "bytes16", 16, 0, false},
    [CUTT_F16] = {CUTT_F16, "f16", 2, 4, false},
    [CUTT_BF16] = {CUTT_BF16, "bf16", 2, 4, false},
    [CUTT_F32] = {CUTT_F32, "f32", 4, 4, false},
    [CUTT_F64] = {CUTT_F64, "f64", 8, 8, false},
    [CUTT_C32] = {CUTT_C32, "c32", 8, 8, true},
    [CUTT_C64] = {CUTT_C64, "c64", 16, 16, true},
    [CUTT_I32] = {CUTT_I32, "i32", 4, 4, false},
    [CUTT_I64] = {CUTT_I64, "i64", 8, 8, false},
};

const cutt_type_info *cutt_type_lookup(cuttType_t type) {
  /* Through long, because the value comes from a caller and may be anything, below 0 included. */
  const long value = (long)type;
  if (value < 0 || value >= TYPE_VALUES || !types[value].name) return NULL;
  return &types[value];
}
