#include "value.h"

#include <math.h>
#include <string.h>

#include "reference.h"

bool test_type_whole(cuttType_t type) { return type == CUTT_I32 || type == CUTT_I64; }

test_value test_value_load(cuttType_t type, const unsigned char *at) {
  test_value v = {0, 0, 0};
  int32_t narrow;
  if (type == CUTT_I64) {
    memcpy(&v.whole, at, 8);
  } else if (type == CUTT_I32) {
    memcpy(&narrow, at, 4);
    v.whole = narrow;
  } else {
    test_element_load(type, at, &v.re, &v.im);
  }
  return v;
}

static test_value wrapped(cuttType_t type, uint64_t bits) {
  return (test_value){0, 0, type == CUTT_I64 ? (int64_t)bits : (int32_t)(uint32_t)bits};
}

test_value test_value_apply(cuttType_t type, cuttOperator_t op, test_value a, test_value b) {
  const uint64_t x = (uint64_t)a.whole, y = (uint64_t)b.whole;
  switch (op) {
    case CUTT_OP_ADD:
      return test_type_whole(type) ? wrapped(type, x + y) : (test_value){a.re + b.re, a.im + b.im, 0};
    case CUTT_OP_MULTIPLY:
      return test_type_whole(type) ? wrapped(type, x * y)
                                   : (test_value){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re, 0};
    default:
      if (test_type_whole(type)) return (a.whole < b.whole) == (op == CUTT_OP_MAX) ? b : a;
      if (isnan(a.re) || isnan(b.re)) return isnan(a.re) ? a : b;
      return (a.re < b.re) == (op == CUTT_OP_MAX) ? b : a;
  }
}
