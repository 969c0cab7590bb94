/* Reading and validating a contraction, and its canonical form.
 *
 * Extents and strides are checked by labelled.c.
 *
 * The canonical form is that of a nest of loops, one for each label, with a stride in each tensor. A label that is in one
 * operand twice walks its diagonal: one loop with the sum of the strides. Where two loops of a group take the same steps in
 * all tensors they are one loop, so that "abcd,cdef->abef" is a matrix product whatever the number of its letters. */
#include "contract/problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "contract/labelled.h"
#include "plan/arguments.h"

/* Sizes of the structs in the first version that had them: when a struct grows, its entry here becomes a number. */
static const size_t first_contraction_size = offsetof(cuttContraction_t, reduce);

static const cutt_tensor_names names[CUTT_TENSORS] = {
    {"the left operand", "left_rank", "left_extents", "left_strides"},
    {"the right operand", "right_rank", "right_extents", "right_strides"},
    {"the result", "result_rank", "result_extents", "result_strides"},
};

const char *const cutt_operator_names[] = {"CUTT_OP_ADD", "CUTT_OP_MULTIPLY", "CUTT_OP_MAX", "CUTT_OP_MIN"};

/* ----------------------------------------------------------------------------------------------------------- checks */

cuttResult cutt_contraction_type_check(cuttType_t type, const cutt_type_info **checked) {
  static const char allowed[] =
      "it must be CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64, CUTT_F16, CUTT_BF16, CUTT_I32 or "
      "CUTT_I64";
  *checked = cutt_type_lookup(type);
  if (!*checked) return cutt_error(CUTT_INVALID_PARAMETER, "type is %ld; %s", (long)type, allowed);
  switch (type) {
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
      return cutt_error(CUTT_INVALID_PARAMETER, "type is %s, which can't be contracted; %s", (*checked)->name, allowed);
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

/* ---------------------------------------------------------------------------------------------------------- scalars */

static bool is_whole(const cutt_type_info *type) { return type->type == CUTT_I32 || type->type == CUTT_I64; }

/* Writes 0 or 1 as a scalar of the type. */
void cutt_scalar_set(const cutt_type_info *type, int value, unsigned char *scalar) {
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

bool cutt_scalar_is(const cutt_type_info *type, const unsigned char *scalar, int value) {
  double d[2] = {0, 0};
  float f[2] = {0, 0};
  if (is_whole(type)) {
    unsigned char wanted[16];
    cutt_scalar_set(type, value, wanted);
    return memcmp(scalar, wanted, (size_t)type->scalar_bytes) == 0;
  }
  if (type->type == CUTT_F64 || type->type == CUTT_C64) {
    memcpy(d, scalar, (size_t)type->scalar_bytes);
    return d[0] == value && d[1] == 0;
  }
  memcpy(f, scalar, (size_t)type->scalar_bytes);
  return (double)f[0] == value && f[1] == 0;
}

void cutt_beta_clear(cutt_contraction *c) {
  c->beta_is_zero = true;
  c->beta_is_one = false;
  memset(c->beta, 0, sizeof c->beta);
}

static void read_scalars(const cuttContraction_t *callers, const cutt_pattern *pattern, cutt_contraction *checked) {
  const cutt_type_info *type = checked->type;
  cutt_scalar_set(type, 1, checked->alpha);
  cutt_scalar_set(type, pattern->adds ? 1 : 0, checked->beta);
  if (callers->alpha) memcpy(checked->alpha, callers->alpha, (size_t)type->scalar_bytes);
  if (callers->beta) memcpy(checked->beta, callers->beta, (size_t)type->scalar_bytes);
  checked->alpha_is_zero = cutt_scalar_is(type, checked->alpha, 0);
  checked->alpha_is_one = cutt_scalar_is(type, checked->alpha, 1);
  checked->beta_is_zero = cutt_scalar_is(type, checked->beta, 0);
  checked->beta_is_one = cutt_scalar_is(type, checked->beta, 1);
  if (checked->beta_is_zero) cutt_scalar_set(type, 0, checked->beta); /* which a -0 becomes too */
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
static cutt_contract_mode mode_of(const cutt_labelled *r, int label) {
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

int cutt_fast_mode(const cutt_contraction *c, cutt_tensor t) {
  int fast = -1;
  for (int i = 0; i < c->modes; ++i) {
    const int64_t step = llabs(c->mode[i].stride[t]);
    if (step && (fast < 0 || step < llabs(c->mode[fast].stride[t]))) fast = i;
  }
  return fast;
}

void cutt_sort_modes(const cutt_contraction *c, cutt_tensor by, int *mode, int count) {
  for (int i = 1; i < count; ++i) {
    const int own = mode[i];
    int at = i;
    for (; at > 0 && llabs(c->mode[mode[at - 1]].stride[by]) > llabs(c->mode[own].stride[by]); --at)
      mode[at] = mode[at - 1];
    mode[at] = own;
  }
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
  return magnitude(mode->stride[right ? CUTT_RIGHT : CUTT_LEFT]);
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
static int nothing_summed(const cutt_labelled *r) {
  for (int label = 0; label < r->pattern.labels; ++label) {
    bool in_result = false;
    for (int i = 0; i < r->pattern.rank[CUTT_RESULT]; ++i) in_result |= r->pattern.label[CUTT_RESULT][i] == label;
    if (r->extent[label] == 0 && !in_result) return label;
  }
  return -1;
}

/* What is the largest of nothing? */
static cuttResult check_terms(const cutt_labelled *r, const cutt_contraction *checked) {
  const int label = nothing_summed(r);
  if (label < 0 || checked->reduce < CUTT_OP_MAX || checked->volume[CUTT_RESULT] == 0) return CUTT_SUCCESS;
  return cutt_error(
      CUTT_INVALID_PARAMETER,
      "reduce is %s, and '%s' has extent 0, which leaves it nothing to choose from; the extents of letters "
      "that the result does not have must be 1 or more",
      cutt_operator_names[checked->reduce], r->pattern.name[label].name);
}

static void make_modes(const cutt_labelled *r, cutt_contraction *checked) {
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

static cuttResult check(const cuttContraction_t *own, cutt_labelled *r, cutt_contraction *contraction) {
  cuttResult result = cutt_pattern_parse(own->pattern, &r->pattern);
  if (result) return result;
  const int rank[CUTT_TENSORS] = {own->left_rank, own->right_rank, own->result_rank};
  const int64_t *const extents[CUTT_TENSORS] = {own->left_extents, own->right_extents, own->result_extents};
  const int64_t *const strides[CUTT_TENSORS] = {own->left_strides, own->right_strides, own->result_strides};
  memcpy(r->rank, rank, sizeof rank);
  memcpy(r->extents, extents, sizeof extents);
  memcpy(r->strides, strides, sizeof strides);
  r->names = names;
  r->tensors = CUTT_TENSORS;
  r->bytes = contraction->type->bytes;
  result = cutt_labelled_check(r);
  if (result) return result;
  memcpy(contraction->volume, r->volume, sizeof contraction->volume);
  memcpy(contraction->low, r->low, sizeof contraction->low);
  memcpy(contraction->high, r->high, sizeof contraction->high);
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
  result = cutt_contraction_type_check(own.type, &contraction->type);
  if (!result) result = check_operator(&own, contraction);
  if (result) return result;
  cutt_labelled *r = calloc(1, sizeof *r);
  if (!r) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to check a contraction", sizeof *r);
  result = check(&own, r, contraction);
  free(r);
  return result;
}
