/* Reading and validating a user's problem.
 *
 * Every check words its own error, names the field, its value and what is allowed. All sizes are int64 and every sum
 * and product that a caller's numbers enter is checked for overflow here, once, so that later stages may compute with
 * strides, volumes and spans freely: afterwards every byte offset of every element fits an int64. */
#include "plan/problem.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"

/* Sizes of the structs in the first version that had them: when a struct grows, its entry here becomes a number. */
static const size_t first_problem_size = sizeof(cuttProblem_t);

static cuttResult check_perm(int rank, const int *perm) {
  uint64_t seen = 0;
  for (int i = 0; i < rank; ++i) {
    if (perm[i] < 0 || perm[i] >= rank) {
      return cutt_error(CUTT_INVALID_PARAMETER, "perm[%d] is %d; it must be 0 to %d", i, perm[i], rank - 1);
    }
    const uint64_t bit = UINT64_C(1) << perm[i];
    if (seen & bit) {
      int first = 0;
      while (perm[first] != perm[i]) ++first;
      return cutt_error(CUTT_INVALID_PARAMETER,
                        "perm[%d] is %d, and so is perm[%d]; each of 0 to %d must be there once", i, perm[i], first,
                        rank - 1);
    }
    seen |= bit;
  }
  return CUTT_SUCCESS;
}

static cuttResult check_extents(const cuttProblem_t *problem, cutt_problem *checked) {
  /* An extent of 0 counts as 1 in the product, so that strides of a packed tensor without elements make sense too. */
  int64_t product = 1;
  bool empty = false;
  for (int i = 0; i < problem->rank; ++i) {
    const int64_t extent = problem->extents[i];
    if (extent < 0) {
      return cutt_error(CUTT_INVALID_PARAMETER, "extents[%d] is %" PRId64 "; it must be 0 or more", i, extent);
    }
    checked->extent[i] = extent;
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, extent, &product)) {
      return cutt_error(CUTT_INVALID_PARAMETER,
                        "extents[%d] is %" PRId64 ", which takes the volume past 2^63 - 1 elements", i, extent);
    }
  }
  checked->volume = empty ? 0 : product;
  return CUTT_SUCCESS;
}

/* The bytes [low, high) that a tensor spans, seen from its element (0, ..., 0). name: "in_strides" or "out_strides". */
static cuttResult span(int rank, const int64_t *extent, const int64_t *stride, int bytes, const char *name,
                       int64_t *low, int64_t *high) {
  int64_t below = 0, above = bytes;
  for (int i = 0; i < rank; ++i) {
    int64_t reach = 0, width = 0;
    if (extent[i] <= 1) continue;
    if (__builtin_mul_overflow(extent[i] - 1, stride[i], &reach) || __builtin_mul_overflow(reach, bytes, &reach) ||
        (reach < 0 ? __builtin_add_overflow(below, reach, &below) : __builtin_add_overflow(above, reach, &above)) ||
        __builtin_sub_overflow(above, below, &width)) {
      return cutt_error(CUTT_INVALID_PARAMETER,
                        "%s[%d] is %" PRId64 " with extent %" PRId64
                        " and %d-byte elements, which takes the tensor "
                        "past 2^63 - 1 bytes",
                        name, i, stride[i], extent[i], bytes);
    }
  }
  *low = below;
  *high = above;
  return CUTT_SUCCESS;
}

static cuttResult check_strides(const cuttProblem_t *problem, cutt_problem *checked) {
  const int rank = problem->rank, bytes = checked->type->bytes;
  int64_t packed = 1;
  for (int i = 0; i < rank; ++i) {
    checked->in_stride[i] = problem->in_strides ? problem->in_strides[i] : packed;
    if (checked->extent[i] > 1) packed *= checked->extent[i];
  }
  cuttResult result =
      span(rank, checked->extent, checked->in_stride, bytes, "in_strides", &checked->in_low, &checked->in_high);
  if (result) return result;

  /* The output is checked by its own modes, because that is how its strides are given and have to be named. */
  int64_t extent[CUTT_MAX_RANK], stride[CUTT_MAX_RANK];
  packed = 1;
  for (int i = 0; i < rank; ++i) {
    extent[i] = checked->extent[problem->perm[i]];
    stride[i] = problem->out_strides ? problem->out_strides[i] : packed;
    checked->out_stride[problem->perm[i]] = stride[i];
    if (extent[i] > 1) packed *= extent[i];
  }
  result = span(rank, extent, stride, bytes, "out_strides", &checked->out_low, &checked->out_high);
  if (result) return result;
  if (checked->volume == 0) {
    checked->in_low = checked->in_high = checked->out_low = checked->out_high = 0;
    return CUTT_SUCCESS; /* no elements, so none that overlap */
  }
  return problem->out_strides ? cutt_overlap_check(rank, extent, stride, "out_strides") : CUTT_SUCCESS;
}

static cutt_scalar read_scalar(cuttType_t type, const void *from) {
  cutt_scalar scalar = {0, 0, 0};
  float f[2] = {0, 0};
  double d[2] = {0, 0};
  int32_t i32 = 0;
  switch (type) {
    case CUTT_F16:
    case CUTT_BF16:
    case CUTT_F32:
      memcpy(f, from, sizeof f[0]);
      scalar.re = (double)f[0];
      break;
    case CUTT_C32:
      memcpy(f, from, sizeof f);
      scalar.re = (double)f[0];
      scalar.im = (double)f[1];
      break;
    case CUTT_F64:
      memcpy(&scalar.re, from, sizeof scalar.re);
      break;
    case CUTT_C64:
      memcpy(d, from, sizeof d);
      scalar.re = d[0];
      scalar.im = d[1];
      break;
    case CUTT_I32:
      memcpy(&i32, from, sizeof i32);
      scalar.i = i32;
      break;
    case CUTT_I64:
      memcpy(&scalar.i, from, sizeof scalar.i);
      break;
    case CUTT_BYTES_1:
    case CUTT_BYTES_2:
    case CUTT_BYTES_4:
    case CUTT_BYTES_8:
    case CUTT_BYTES_16:
      break;
  }
  return scalar;
}

/* Comparisons, so that -0 is a 0 and a NaN is nothing but itself. */
static cutt_factor factor_of(const cutt_scalar *scalar, bool integer) {
  if (integer) return scalar->i == 0 ? CUTT_FACTOR_NONE : scalar->i == 1 ? CUTT_FACTOR_ONE : CUTT_FACTOR_REAL;
  if (scalar->im != 0) return CUTT_FACTOR_COMPLEX;
  return scalar->re == 0 ? CUTT_FACTOR_NONE : scalar->re == 1 ? CUTT_FACTOR_ONE : CUTT_FACTOR_REAL;
}

static cuttResult check_scale(const cuttProblem_t *problem, cutt_problem *checked) {
  const cutt_type_info *type = checked->type;
  const bool integer = type->type == CUTT_I32 || type->type == CUTT_I64;
  if (!type->scalar_bytes && (problem->alpha || problem->beta)) {
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "%s is given and type is %s; elements of that type are only moved: NULL, or a numeric type",
                      problem->alpha ? "alpha" : "beta", type->name);
  }
  if (!type->complex && problem->conjugate) {
    return cutt_error(CUTT_INVALID_PARAMETER, "conjugate is %d and type is %s; it must be 0 unless type is c32 or c64",
                      problem->conjugate, type->name);
  }
  cutt_scale *scale = &checked->scale;
  scale->type = type->type;
  scale->conjugate = problem->conjugate != 0;
  scale->alpha = (cutt_scalar){integer ? 0 : 1, 0, integer ? 1 : 0};
  scale->beta = (cutt_scalar){0, 0, 0};
  if (problem->alpha) scale->alpha = read_scalar(type->type, problem->alpha);
  if (problem->beta) scale->beta = read_scalar(type->type, problem->beta);
  scale->alpha_factor = factor_of(&scale->alpha, integer);
  if (scale->alpha_factor == CUTT_FACTOR_NONE) scale->alpha_factor = CUTT_FACTOR_REAL;
  scale->beta_factor = factor_of(&scale->beta, integer);
  scale->reads_out = scale->beta_factor != CUTT_FACTOR_NONE;
  scale->active = scale->alpha_factor != CUTT_FACTOR_ONE || scale->reads_out || scale->conjugate;
  if (!scale->reads_out) scale->beta = (cutt_scalar){0, 0, 0};
  return CUTT_SUCCESS;
}

cuttResult cutt_problem_check(const cuttProblem_t *callers, cutt_problem *checked) {
  if (!callers) return cutt_error(CUTT_INVALID_PARAMETER, "problem is NULL; it must point to a cuttProblem_t");
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttResult result = cutt_struct_read(&problem, sizeof problem, first_problem_size, callers, "problem");
  if (result) return result;

  if (problem.rank < 0 || problem.rank > CUTT_MAX_RANK) {
    return cutt_error(CUTT_INVALID_PARAMETER, "rank is %d; it must be 0 to %d", problem.rank, CUTT_MAX_RANK);
  }
  checked->rank = problem.rank;
  checked->type = cutt_type_lookup(problem.type);
  if (!checked->type) {
    return cutt_error(CUTT_INVALID_PARAMETER, "type is %ld; it must be one of the values of cuttType_t",
                      (long)problem.type);
  }
  if (problem.rank > 0 && (!problem.extents || !problem.perm)) {
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; with rank %d it must point to %d entries",
                      problem.extents ? "perm" : "extents", problem.rank, problem.rank);
  }
  result = check_extents(&problem, checked);
  if (result) return result;
  result = check_perm(problem.rank, problem.perm);
  if (result) return result;
  result = check_strides(&problem, checked);
  if (result) return result;
  return check_scale(&problem, checked);
}
