/* Reading and validating a contraction, and its canonical form.
 *
 * As in plan/problem.c, every check words its own error, and every sum and product that a caller's numbers enter is checked
 * for overflow here, once: afterwards the byte offset of every element of the three tensors fits an int64, and so does the
 * product of the extents of all modes.
 *
 * The canonical form is that of a nest of loops, one for each label, with a stride in each tensor. A label that is in one
 * operand twice walks its diagonal: one loop with the sum of the strides. Where two loops of a group take the same steps in
 * all tensors they are one loop, so that "abcd,cdef->abef" is a matrix product whatever the number of its letters. */
#include "contract/problem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "contract/pattern.h"
#include "plan/problem.h"

/* Sizes of the structs in the first version that had them: when a struct grows, its entry here becomes a number. */
static const size_t first_contraction_size = offsetof(cuttContraction_t, reduce);

/* Of a tensor, all elements counted, also those that a stride of 0 repeats: more than any machine has, and so little that
 * the planner may add up workspace of several packed tensors for a thousand threads. */
static const int64_t MOST_BYTES = INT64_C(1) << 52;

const char *const cutt_operator_names[] = {"CUTT_OP_ADD", "CUTT_OP_MULTIPLY", "CUTT_OP_MAX", "CUTT_OP_MIN"};

/* The fields of a tensor, as errors call them. */
typedef struct tensor_names {
  const char *name, *rank, *extents, *strides;
} tensor_names;
static const tensor_names names[CUTT_TENSORS] = {
    {"the left operand", "left_rank", "left_extents", "left_strides"},
    {"the right operand", "right_rank", "right_extents", "right_strides"},
    {"the result", "result_rank", "result_extents", "result_strides"},
};

/* What the caller says, one row for each tensor. */
typedef struct request {
  cutt_pattern pattern;
  const int64_t *extents[CUTT_TENSORS], *strides[CUTT_TENSORS]; /* the caller's, or NULL */
  int64_t stride[CUTT_TENSORS][CUTT_MAX_RANK];                  /* the caller's, or packed */
  int64_t extent[CUTT_MOST_LABELS];                             /* of each label */
} request;

/* ----------------------------------------------------------------------------------------------------------- checks */

static cuttResult check_type(const cuttContraction_t *callers, cutt_contraction *checked) {
  static const char allowed[] =
      "it must be CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64, CUTT_F16, CUTT_BF16, CUTT_I32 or "
      "CUTT_I64";
  checked->type = cutt_type_lookup(callers->type);
  if (!checked->type) return cutt_error(CUTT_INVALID_PARAMETER, "type is %ld; %s", (long)callers->type, allowed);
  switch (callers->type) {
    case CUTT_F16:
    case CUTT_BF16:
    case CUTT_F32:
    case CUTT_F64:
    case CUTT_C32:
    case CUTT_C64:
    case CUTT_I32:
    case CUTT_I64:
      return CUTT_SUCCESS;
    default:
      return cutt_error(CUTT_INVALID_PARAMETER, "type is %s, which can't be contracted; %s", checked->type->name,
                        allowed);
  }
}

static cuttResult check_operator(const cuttContraction_t *callers, cutt_contraction *checked) {
  checked->reduce = callers->reduce;
  if ((int)callers->reduce < CUTT_OP_ADD || callers->reduce > CUTT_OP_MIN)
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "reduce is %d; it must be CUTT_OP_ADD, CUTT_OP_MULTIPLY, CUTT_OP_MAX or CUTT_OP_MIN",
                      (int)callers->reduce);
  if (!checked->type->complex || callers->reduce < CUTT_OP_MAX) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "reduce is %s and type is %s; complex numbers have no order, so it must be CUTT_OP_ADD or "
                    "CUTT_OP_MULTIPLY",
                    cutt_operator_names[callers->reduce], checked->type->name);
}

static cuttResult check_rank(const request *r, cutt_tensor tensor, int rank) {
  const int wanted = r->pattern.rank[tensor];
  if (rank != wanted) {
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is %d, and the pattern gives %s %d mode%s; it must be %d",
                      names[tensor].rank, rank, names[tensor].name, wanted, wanted == 1 ? "" : "s", wanted);
  }
  if (rank > 0 && !r->extents[tensor] && tensor != CUTT_RESULT) {
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; with %s %d it must point to %d extents",
                      names[tensor].extents, names[tensor].rank, rank, rank);
  }
  return CUTT_SUCCESS;
}

/* The error for two extents of one label that differ. */
static cuttResult disagree(const request *r, cutt_tensor tensor, int mode, cutt_tensor other, int other_mode) {
  const cutt_pattern *pattern = &r->pattern;
  const int place = pattern->place[tensor][mode], other_place = pattern->place[other][other_mode];
  char where[64];
  cutt_text text = cutt_text_start(where, sizeof where);
  if (place) {
    cutt_text_add(&text, "places %d and %d of the pattern", other_place, place);
  } else {
    cutt_text_add(&text, "place %d of the pattern, and implied in the result", other_place);
  }
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "%s[%d] is %" PRId64 " and %s[%d] is %" PRId64
                    ", and both are extents of '%s' (%s); all extents of a letter must be the same",
                    names[other].extents, other_mode, r->extents[other][other_mode], names[tensor].extents, mode,
                    r->extents[tensor][mode], pattern->name[pattern->label[tensor][mode]].name, where);
}

/* The extents of the labels, from the operands, and the result's if they are given. */
static cuttResult check_extents(request *r) {
  const cutt_pattern *pattern = &r->pattern;
  struct {
    cutt_tensor tensor;
    int mode;
  } first[CUTT_MOST_LABELS];
  bool known[CUTT_MOST_LABELS] = {false};
  for (int t = CUTT_LEFT; t < CUTT_TENSORS; ++t) {
    if (!r->extents[t]) continue;
    for (int i = 0; i < pattern->rank[t]; ++i) {
      const int label = pattern->label[t][i];
      const int64_t extent = r->extents[t][i];
      if (extent < 0) {
        return cutt_error(CUTT_INVALID_PARAMETER, "%s[%d] is %" PRId64 "; it must be 0 or more", names[t].extents, i,
                          extent);
      }
      if (!known[label]) {
        known[label] = true;
        first[label].tensor = (cutt_tensor)t;
        first[label].mode = i;
        r->extent[label] = extent;
      } else if (r->extent[label] != extent) {
        return disagree(r, (cutt_tensor)t, i, first[label].tensor, first[label].mode);
      }
    }
  }
  return CUTT_SUCCESS;
}

/* Sets a tensor's strides and its volume. */
static cuttResult check_volume(request *r, cutt_tensor tensor, cutt_contraction *checked) {
  const cutt_pattern *pattern = &r->pattern;
  const int64_t most = MOST_BYTES / checked->type->bytes;
  /* An extent of 0 counts as 1, so that packed strides of a tensor without elements make sense too. */
  int64_t packed = 1, volume = 1;
  for (int i = 0; i < pattern->rank[tensor]; ++i) {
    const int64_t extent = r->extent[pattern->label[tensor][i]];
    r->stride[tensor][i] = r->strides[tensor] ? r->strides[tensor][i] : packed;
    if (extent > 1 && extent > most / packed) {
      return cutt_error(CUTT_INVALID_PARAMETER,
                        "%s[%d] is %" PRId64 ", which takes %s past 2^52 bytes, %d for each element",
                        names[tensor].extents, i, extent, names[tensor].name, checked->type->bytes);
    }
    if (extent > 1) packed *= extent;
    bool again = false;
    for (int j = 0; j < i; ++j) again = again || pattern->label[tensor][j] == pattern->label[tensor][i];
    if (!again) volume *= extent; /* a divisor of packed, or 0 */
  }
  checked->volume[tensor] = volume;
  return CUTT_SUCCESS;
}

/* Sets the bytes that a tensor spans, elements off a diagonal included. */
static cuttResult check_span(const request *r, cutt_tensor tensor, cutt_contraction *checked) {
  const cutt_pattern *pattern = &r->pattern;
  const int rank = pattern->rank[tensor], bytes = checked->type->bytes;
  int64_t below = 0, above = bytes, extent[CUTT_MAX_RANK];
  for (int i = 0; i < rank; ++i) {
    const int64_t stride = r->stride[tensor][i];
    extent[i] = r->extent[pattern->label[tensor][i]];
    int64_t reach = 0, width = 0;
    if (extent[i] <= 1) continue;
    if (!__builtin_mul_overflow(extent[i] - 1, stride, &reach) && !__builtin_mul_overflow(reach, bytes, &reach) &&
        !(reach < 0 ? __builtin_add_overflow(below, reach, &below) : __builtin_add_overflow(above, reach, &above)) &&
        !__builtin_sub_overflow(above, below, &width)) {
      continue;
    }
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "%s[%d] is %" PRId64 " with extent %" PRId64
                      " and %d-byte elements, which takes %s past 2^63 - 1 bytes",
                      names[tensor].strides, i, stride, extent[i], bytes, names[tensor].name);
  }
  const bool empty = checked->volume[tensor] == 0;
  checked->low[tensor] = empty ? 0 : below;
  checked->high[tensor] = empty ? 0 : above;
  /* No label is in the result twice, so its modes are those of the caller. */
  if (tensor != CUTT_RESULT || empty || !r->strides[tensor]) return CUTT_SUCCESS;
  return cutt_overlap_check(rank, extent, r->stride[tensor], names[tensor].strides);
}

/* The number of multiply-adds has to fit an int64: the planner multiplies m, n, k and batch. */
static cuttResult check_product(const request *r) {
  int64_t product = 1;
  for (int i = 0; i < r->pattern.labels; ++i) {
    if (r->extent[i] <= 1 || !__builtin_mul_overflow(product, r->extent[i], &product)) continue;
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "the extents of all letters, multiplied, pass 2^63 - 1 at '%s' with its %" PRId64
                      "; they must not, since that is the number of products to be summed",
                      r->pattern.name[i].name, r->extent[i]);
  }
  return CUTT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------- scalars */

static bool is_whole(const cutt_type_info *type) { return type->type == CUTT_I32 || type->type == CUTT_I64; }

/* Writes 0 or 1 as a scalar of the type. */
static void set_scalar(const cutt_type_info *type, int value, unsigned char *scalar) {
  const double wide = value;
  const float narrow = (float)value;
  memset(scalar, 0, 16);
  if (is_whole(type)) {
    if (type->bytes == 4) memcpy(scalar, &(int32_t){value}, sizeof(int32_t));
    if (type->bytes == 8) memcpy(scalar, &(int64_t){value}, sizeof(int64_t));
  } else if (type->type == CUTT_F64 || type->type == CUTT_C64) {
    memcpy(scalar, &wide, sizeof wide);
  } else {
    memcpy(scalar, &narrow, sizeof narrow);
  }
}

/* Is it 0, or 1? By comparison, so that -0 is a 0 and a NaN is not. */
static bool scalar_is(const cutt_type_info *type, const unsigned char *scalar, int value) {
  double d[2] = {0, 0};
  float f[2] = {0, 0};
  if (is_whole(type)) {
    unsigned char wanted[16];
    set_scalar(type, value, wanted);
    return memcmp(scalar, wanted, (size_t)type->scalar_bytes) == 0;
  }
  if (type->type == CUTT_F64 || type->type == CUTT_C64) {
    memcpy(d, scalar, (size_t)type->scalar_bytes);
    return d[0] == value && d[1] == 0;
  }
  memcpy(f, scalar, (size_t)type->scalar_bytes);
  return (double)f[0] == value && f[1] == 0;
}

static void read_scalars(const cuttContraction_t *callers, const cutt_pattern *pattern, cutt_contraction *checked) {
  const cutt_type_info *type = checked->type;
  set_scalar(type, 1, checked->alpha);
  set_scalar(type, pattern->adds ? 1 : 0, checked->beta);
  if (callers->alpha) memcpy(checked->alpha, callers->alpha, (size_t)type->scalar_bytes);
  if (callers->beta) memcpy(checked->beta, callers->beta, (size_t)type->scalar_bytes);
  checked->alpha_is_zero = scalar_is(type, checked->alpha, 0);
  checked->alpha_is_one = scalar_is(type, checked->alpha, 1);
  checked->beta_is_zero = scalar_is(type, checked->beta, 0);
  checked->beta_is_one = scalar_is(type, checked->beta, 1);
  if (checked->beta_is_zero) set_scalar(type, 0, checked->beta); /* which a -0 becomes too */
  for (int t = CUTT_LEFT; t <= CUTT_RIGHT; ++t) {
    const int asked = t == CUTT_LEFT ? callers->conjugate_left : callers->conjugate_right;
    checked->conjugate[t] =
        type->complex && !(pattern->one && t == CUTT_RIGHT) && pattern->conjugate[t] != (asked != 0);
  }
}

/* ------------------------------------------------------------------------------------------------------------ modes */

static cutt_group group_of(const bool *in) {
  if (in[CUTT_RESULT]) {
    return in[CUTT_LEFT] && in[CUTT_RIGHT] ? CUTT_GROUP_BATCH : in[CUTT_LEFT] ? CUTT_GROUP_M : CUTT_GROUP_N;
  }
  return in[CUTT_LEFT] && in[CUTT_RIGHT] ? CUTT_GROUP_K : in[CUTT_LEFT] ? CUTT_GROUP_SUM_L : CUTT_GROUP_SUM_R;
}

static bool group_in_result(cutt_group group) {
  return group == CUTT_GROUP_M || group == CUTT_GROUP_N || group == CUTT_GROUP_BATCH;
}

/* The mode of a label, whose extent is more than 1: otherwise strides may be anything, and summing them may overflow. */
static cutt_contract_mode mode_of(const request *r, int label) {
  const cutt_pattern *pattern = &r->pattern;
  cutt_contract_mode mode;
  bool in[CUTT_TENSORS] = {false, false, false};
  memset(&mode, 0, sizeof mode);
  memcpy(mode.name, pattern->name[label].name, sizeof mode.name);
  mode.extent = r->extent[label];
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    for (int i = 0; i < pattern->rank[t]; ++i) {
      if (pattern->label[t][i] != label) continue;
      in[t] = true;
      mode.stride[t] += r->stride[t][i];
    }
  }
  mode.group = group_of(in);
  return mode;
}

static void join_names(char *name, const char *more) {
  const size_t length = strlen(name), added = strlen(more);
  if (length && name[length - 1] == '~') return; /* cut already */
  if (length + added < CUTT_NAME_SIZE) {
    memcpy(name + length, more, added + 1);
    return;
  }
  const size_t kept = CUTT_NAME_SIZE - 2;
  if (length < kept) memcpy(name + length, more, kept - length);
  memcpy(name + kept, "~", 2);
}

static bool follows(const cutt_contract_mode *inner, const cutt_contract_mode *outer) {
  if (inner->group != outer->group) return false;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    /* No overflow: all the steps along a mode are within a span of bytes that fits an int64, and elements have 2 or more. */
    if (inner->stride[t] * inner->extent != outer->stride[t]) return false;
  }
  return true;
}

int cutt_modes_fuse(cutt_contract_mode *mode, int count) {
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      if (i == j || !follows(&mode[i], &mode[j])) continue;
      mode[i].extent *= mode[j].extent;
      join_names(mode[i].name, mode[j].name);
      --count;
      memmove(&mode[j], &mode[j + 1], (size_t)(count - j) * sizeof *mode);
      if (j < i) --i;
      j = -1; /* it is longer now, and may be followed by modes that were not before */
    }
  }
  return count;
}

static int64_t sort_key(const cutt_contract_mode *mode) {
  const bool right = mode->group == CUTT_GROUP_N || mode->group == CUTT_GROUP_SUM_R;
  const int64_t stride = mode->stride[right ? CUTT_RIGHT : CUTT_LEFT];
  return stride < 0 ? -stride : stride;
}

/* By insertion: there are few, and those that are equal keep their order. */
static void sort_modes(cutt_contract_mode *mode, int count) {
  for (int i = 1; i < count; ++i) {
    const cutt_contract_mode moved = mode[i];
    const int64_t key = sort_key(&moved);
    int place = i;
    for (; place > 0; --place) {
      const cutt_contract_mode *before = &mode[place - 1];
      if (before->group < moved.group || (before->group == moved.group && sort_key(before) <= key)) break;
      mode[place] = *before;
    }
    mode[place] = moved;
  }
}

/* A label with no elements that the result does not have; -1: there is none. */
static int nothing_summed(const request *r) {
  for (int label = 0; label < r->pattern.labels; ++label) {
    bool in_result = false;
    for (int i = 0; i < r->pattern.rank[CUTT_RESULT]; ++i) in_result |= r->pattern.label[CUTT_RESULT][i] == label;
    if (r->extent[label] == 0 && !in_result) return label;
  }
  return -1;
}

/* What is the largest of nothing? */
static cuttResult check_terms(const request *r, const cutt_contraction *checked) {
  const int label = nothing_summed(r);
  if (label < 0 || checked->reduce < CUTT_OP_MAX || checked->volume[CUTT_RESULT] == 0) return CUTT_SUCCESS;
  return cutt_error(
      CUTT_INVALID_PARAMETER,
      "reduce is %s, and '%s' has extent 0, which leaves it nothing to choose from; the extents of letters "
      "that the result does not have must be 1 or more",
      cutt_operator_names[checked->reduce], r->pattern.name[label].name);
}

static void make_modes(const request *r, cutt_contraction *checked) {
  checked->empty = checked->volume[CUTT_RESULT] == 0;
  checked->no_terms = checked->alpha_is_zero || nothing_summed(r) >= 0;
  checked->modes = 0;
  if (checked->empty) return;
  for (int label = 0; label < r->pattern.labels; ++label) {
    if (r->extent[label] <= 1) continue;
    const cutt_contract_mode mode = mode_of(r, label);
    if (checked->no_terms && !group_in_result(mode.group)) continue;
    checked->mode[checked->modes++] = mode;
  }
  checked->modes = cutt_modes_fuse(checked->mode, checked->modes);
  sort_modes(checked->mode, checked->modes);
}

static cuttResult check(const cuttContraction_t *own, request *r, cutt_contraction *contraction) {
  cuttResult result = cutt_pattern_parse(own->pattern, &r->pattern);
  if (result) return result;
  const int rank[CUTT_TENSORS] = {own->left_rank, own->right_rank, own->result_rank};
  const int64_t *const extents[CUTT_TENSORS] = {own->left_extents, own->right_extents, own->result_extents};
  const int64_t *const strides[CUTT_TENSORS] = {own->left_strides, own->right_strides, own->result_strides};
  memcpy(r->extents, extents, sizeof extents);
  memcpy(r->strides, strides, sizeof strides);
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    result = check_rank(r, (cutt_tensor)t, rank[t]);
    if (result) return result;
  }
  result = check_extents(r);
  if (result) return result;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    result = check_volume(r, (cutt_tensor)t, contraction);
    if (!result) result = check_span(r, (cutt_tensor)t, contraction);
    if (result) return result;
  }
  result = check_product(r);
  if (result) return result;
  read_scalars(own, &r->pattern, contraction);
  contraction->right_is_one = r->pattern.one;
  result = check_terms(r, contraction);
  if (result) return result;
  make_modes(r, contraction);
  return CUTT_SUCCESS;
}

cuttResult cutt_contraction_check(const cuttContraction_t *callers, cutt_contraction *contraction) {
  if (!callers) {
    return cutt_error(CUTT_INVALID_PARAMETER, "contraction is NULL; it must point to a cuttContraction_t");
  }
  cuttContraction_t own = CUTT_CONTRACTION_INIT;
  cuttResult result = cutt_struct_read(&own, sizeof own, first_contraction_size, callers, "contraction");
  if (result) return result;
  memset(contraction, 0, sizeof *contraction);
  result = check_type(&own, contraction);
  if (!result) result = check_operator(&own, contraction);
  if (result) return result;
  request *r = calloc(1, sizeof *r);
  if (!r) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to check a contraction", sizeof *r);
  result = check(&own, r, contraction);
  free(r);
  return result;
}
