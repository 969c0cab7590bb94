/* Enumerates the algorithms (algorithms.h).
 *
 * Which index groups are tried follows from which tensors stay in place. Where both tensors that have a role do, the group has
 * to be contiguous in both, and since modes that are neighbours in all their tensors have been fused, it is one mode. Where one
 * of them does, it is a list of modes that are contiguous in that tensor. Where both are packed, any order of the role's modes
 * will do, and those of the two tensors make for the cheapest permutations. The empty group is tried too: then all modes of the
 * role are loops, and the product is with a vector. So there is always an algorithm with nothing packed. */
#include "contract/algorithms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

const cutt_role cutt_tensor_roles[CUTT_TENSORS][2] = {
    {CUTT_ROLE_M, CUTT_ROLE_K}, {CUTT_ROLE_K, CUTT_ROLE_N}, {CUTT_ROLE_M, CUTT_ROLE_N}};

/* The two tensors that have a role. */
static const cutt_tensor role_tensors[CUTT_INDEX_GROUPS][2] = {
    {CUTT_LEFT, CUTT_RESULT}, {CUTT_RIGHT, CUTT_RESULT}, {CUTT_LEFT, CUTT_RIGHT}};

cutt_role cutt_mode_role(const cutt_contract_mode *mode) {
  switch (mode->group) {
    case CUTT_GROUP_M:
      return CUTT_ROLE_M;
    case CUTT_GROUP_N:
      return CUTT_ROLE_N;
    case CUTT_GROUP_BATCH:
      return CUTT_ROLE_BATCH;
    default:
      return CUTT_ROLE_K;
  }
}

bool cutt_is_summed(const cutt_contraction *c, int mode) { return cutt_mode_role(&c->mode[mode]) == CUTT_ROLE_K; }

void cutt_contraction_sizes(const cutt_contraction *c, int64_t size[CUTT_ROLES]) {
  for (int role = 0; role < CUTT_ROLES; ++role) size[role] = 1;
  for (int i = 0; i < c->modes; ++i) size[cutt_mode_role(&c->mode[i])] *= c->mode[i].extent;
}

bool cutt_algorithm_keeps(const cutt_algorithm *algorithm, const cutt_contraction *contraction, int mode) {
  const cutt_role role = cutt_mode_role(&contraction->mode[mode]);
  if (role == CUTT_ROLE_BATCH) return false;
  for (int i = 0; i < algorithm->kept[role]; ++i)
    if (algorithm->index_group[role][i] == mode) return true;
  return false;
}

bool cutt_algorithm_holds(const cutt_contraction *c, const cutt_algorithm *algorithm, cutt_tensor t, int mode) {
  if (c->mode[mode].stride[t]) return true;
  const cutt_role role = cutt_mode_role(&c->mode[mode]);
  return (cutt_tensor_roles[t][0] == role || cutt_tensor_roles[t][1] == role) &&
         cutt_algorithm_keeps(algorithm, c, mode);
}

/* -------------------------------------------------------------------------------------------- the layout of a block */

static int64_t lay_index_group(const cutt_algorithm *algorithm, cutt_role role, const int64_t *extent, int64_t *stride,
                               int64_t from) {
  for (int i = 0; i < algorithm->kept[role]; ++i) {
    const int mode = algorithm->index_group[role][i];
    stride[mode] = from;
    from *= extent[mode];
  }
  return from;
}

void cutt_algorithm_list_kept(const cutt_algorithm *algorithm, const cutt_contraction *c, bool *kept) {
  for (int i = 0; i < c->modes; ++i) kept[i] = false;
  for (int role = 0; role < CUTT_INDEX_GROUPS; ++role)
    for (int i = 0; i < algorithm->kept[role]; ++i) kept[algorithm->index_group[role][i]] = true;
}

/* The tensor whose order of the modes of batch all packed ones have: one in place, else the largest. */
static cutt_tensor order_of_batch(const cutt_contraction *c, const cutt_algorithm *algorithm) {
  cutt_tensor best = CUTT_RESULT;
  for (int t = 0; t < CUTT_RESULT; ++t) {
    const bool in_place = !algorithm->packed[t], is_best_in_place = !algorithm->packed[best];
    if (in_place > is_best_in_place || (in_place == is_best_in_place && c->volume[t] > c->volume[best]))
      best = (cutt_tensor)t;
  }
  return best;
}

/* The loop modes come last, in the order that they have in the tensor: the permutation has less to do then. Where batch_as is not
 * CUTT_TENSORS, those of batch come before the others, in the order that they have in that tensor. */
static int64_t lay_loops(const cutt_contraction *c, const bool *kept, cutt_tensor t, cutt_tensor batch_as,
                         const int64_t *extent, int64_t *stride, int64_t from) {
  int mode[CUTT_MOST_MODES], count = 0;
  for (int batch = batch_as != CUTT_TENSORS; batch >= 0; --batch) {
    const int first = count;
    const cutt_tensor as = batch ? batch_as : t;
    for (int i = 0; i < c->modes; ++i) {
      const int64_t size = llabs(c->mode[i].stride[as]);
      const bool is_batch = batch_as != CUTT_TENSORS && cutt_mode_role(&c->mode[i]) == CUTT_ROLE_BATCH;
      if (!c->mode[i].stride[t] || kept[i] || is_batch != (batch == 1)) continue;
      int at = count++;
      for (; at > first && llabs(c->mode[mode[at - 1]].stride[as]) > size; --at) mode[at] = mode[at - 1];
      mode[at] = i;
    }
  }
  for (int i = 0; i < count; ++i) {
    stride[mode[i]] = from;
    from *= extent[mode[i]];
  }
  return from;
}

void cutt_algorithm_view(const cutt_contraction *c, const cutt_algorithm *algorithm, const int64_t *extent,
                         cutt_view *view) {
  bool kept[CUTT_MOST_MODES];
  const cutt_tensor batch_as = algorithm->together ? order_of_batch(c, algorithm) : CUTT_TENSORS;
  cutt_algorithm_list_kept(algorithm, c, kept);
  for (int i = 0; i < c->modes; ++i) view->extent[i] = extent ? extent[i] : algorithm->chunk[i];
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    int64_t *stride = view->stride[t];
    view->packed[t] = 0;
    for (int i = 0; i < c->modes; ++i) stride[i] = algorithm->packed[t] ? 0 : c->mode[i].stride[t];
    if (!algorithm->packed[t]) continue;
    const cutt_role first = algorithm->inner[t];
    const cutt_role second = cutt_tensor_roles[t][0] == first ? cutt_tensor_roles[t][1] : cutt_tensor_roles[t][0];
    int64_t volume = lay_index_group(algorithm, first, view->extent, stride, 1);
    volume = lay_index_group(algorithm, second, view->extent, stride, volume);
    view->packed[t] = lay_loops(c, kept, (cutt_tensor)t, batch_as, view->extent, stride, volume);
  }
}

/* ----------------------------------------------------------------------------------------------------------- the product */

/* Rows x columns elements that are row_stride and column_stride apart. */
typedef struct matrix {
  int64_t rows, columns, row_stride, column_stride;
} matrix;

static matrix transpose_of(matrix m) { return (matrix){m.columns, m.rows, m.column_stride, m.row_stride}; }

/* A matrix as the BLAS takes it: its operation and leading dimension. */
static bool take_matrix(const matrix *m, bool conjugate, cutt_op *op, int64_t *ld) {
  const bool as_is = (m->rows == 1 || m->row_stride == 1) && (m->columns == 1 || m->column_stride >= m->rows);
  const bool transposed = (m->columns == 1 || m->column_stride == 1) && (m->rows == 1 || m->row_stride >= m->columns);
  if (as_is && !conjugate) {
    *op = CUTT_OP_N;
    *ld = m->columns == 1 ? m->rows : m->column_stride;
    return true;
  }
  if (!transposed) return false;
  *op = conjugate ? CUTT_OP_C : CUTT_OP_T;
  *ld = m->rows == 1 ? m->columns : m->row_stride;
  return true;
}

bool cutt_algorithm_product(const cutt_contraction *c, const cutt_algorithm *algorithm, const cutt_view *view,
                            cutt_gemm *gemm, bool *swapped) {
  /* An index group's step is that of its innermost mode that is more than 1 long. */
  int64_t size[CUTT_INDEX_GROUPS], stride[CUTT_INDEX_GROUPS][CUTT_TENSORS];
  for (int role = 0; role < CUTT_INDEX_GROUPS; ++role) {
    size[role] = 1;
    for (int t = 0; t < CUTT_TENSORS; ++t) stride[role][t] = 0;
    for (int i = 0; i < algorithm->kept[role]; ++i) {
      const int mode = algorithm->index_group[role][i];
      if (size[role] == 1)
        for (int t = 0; t < CUTT_TENSORS; ++t) stride[role][t] = view->stride[t][mode];
      size[role] *= view->extent[mode];
    }
  }
  const int64_t m = size[CUTT_ROLE_M], n = size[CUTT_ROLE_N], k = size[CUTT_ROLE_K];
  const matrix tensor[CUTT_TENSORS] = {{m, k, stride[CUTT_ROLE_M][CUTT_LEFT], stride[CUTT_ROLE_K][CUTT_LEFT]},
                                       {k, n, stride[CUTT_ROLE_K][CUTT_RIGHT], stride[CUTT_ROLE_N][CUTT_RIGHT]},
                                       {m, n, stride[CUTT_ROLE_M][CUTT_RESULT], stride[CUTT_ROLE_N][CUTT_RESULT]}};
  /* D = L R, or D^T = R^T L^T. A D that is a vector fits both, but the operands may fit only one of them. */
  for (int transpose = 0; transpose < 2; ++transpose) {
    cutt_op op = CUTT_OP_N;
    const int a = transpose ? CUTT_RIGHT : CUTT_LEFT, b = 1 - a;
    const matrix left = transpose ? transpose_of(tensor[a]) : tensor[a],
                 right = transpose ? transpose_of(tensor[b]) : tensor[b];
    const matrix result = transpose ? transpose_of(tensor[CUTT_RESULT]) : tensor[CUTT_RESULT];
    *gemm = (cutt_gemm){.m = left.rows, .n = right.columns, .k = k, .batch = 1};
    *swapped = transpose == 1;
    if (take_matrix(&result, false, &op, &gemm->ldc) && op == CUTT_OP_N &&
        take_matrix(&left, c->conjugate[a] && !algorithm->packed[a], &gemm->op_a, &gemm->lda) &&
        take_matrix(&right, c->conjugate[b] && !algorithm->packed[b], &gemm->op_b, &gemm->ldb))
      return true;
  }
  return false;
}

/* ------------------------------------------------------------------------------------------------------------ enumerating */

/* The most index groups of a role that are tried: those of a contraction with many short modes are all alike, and all of them
 * with all of the other roles' would take long. */
enum { MOST_INDEX_GROUPS = 12 };

static int most_index_groups(const cutt_contraction *c) {
  return c->modes <= 12 ? MOST_INDEX_GROUPS : c->modes <= 16 ? 4 : c->modes <= 24 ? 3 : 2;
}

typedef struct index_groups {
  int count;
  int length[MOST_INDEX_GROUPS];
  int mode[MOST_INDEX_GROUPS][CUTT_MOST_MODES];
} index_groups;

typedef struct search {
  const cutt_contraction *c;
  cutt_algorithm_visit *visit;
  void *data;
  cutt_algorithm algorithm;
  cutt_view view; /* of the algorithm that is being tried */
  index_groups list[CUTT_INDEX_GROUPS];
} search;

static void add_index_group(index_groups *list, const int *mode, int length) {
  if (list->count == MOST_INDEX_GROUPS) return;
  for (int i = 0; i < list->count; ++i)
    if (list->length[i] == length && (length == 0 || memcmp(list->mode[i], mode, (size_t)length * sizeof *mode) == 0))
      return;
  list->length[list->count] = length;
  if (length) memcpy(list->mode[list->count], mode, (size_t)length * sizeof *mode);
  ++list->count;
}

/* A role's modes by their stride in a tensor; those with stride 0 come last. */
static int sort_by_stride(const cutt_contraction *c, cutt_role role, cutt_tensor t, int *mode) {
  int count = 0;
  for (int i = 0; i < c->modes; ++i) {
    if (cutt_mode_role(&c->mode[i]) != role) continue;
    int at = count++;
    const uint64_t key = (uint64_t)llabs(c->mode[i].stride[t]) - 1; /* 0 becomes the largest */
    for (; at > 0 && (uint64_t)llabs(c->mode[mode[at - 1]].stride[t]) - 1 > key; --at) mode[at] = mode[at - 1];
    mode[at] = i;
  }
  return count;
}

/* The longest lists of a role's modes that are contiguous in a tensor. A matrix's strides are positive. */
static void add_contiguous(const cutt_contraction *c, cutt_role role, cutt_tensor t, index_groups *list) {
  int mode[CUTT_MOST_MODES];
  const int count = sort_by_stride(c, role, t, mode);
  for (int first = 0, next = 0; first < count; first = next) {
    next = first + 1;
    const cutt_contract_mode *last = &c->mode[mode[first]];
    if (last->stride[t] <= 0) continue;
    for (; next < count; ++next) {
      const cutt_contract_mode *after = &c->mode[mode[next]];
      if (after->stride[t] != last->stride[t] * last->extent) break;
      last = after;
    }
    add_index_group(list, mode + first, next - first);
  }
}

/* Of more than `most` index groups the largest ones, in the order that they have. */
static void keep_largest(const cutt_contraction *c, int most, index_groups *list) {
  while (list->count > most) {
    int smallest = 0;
    double least = INFINITY;
    for (int i = 0; i < list->count; ++i) {
      double size = 1;
      for (int j = 0; j < list->length[i]; ++j) size *= (double)c->mode[list->mode[i][j]].extent;
      if (size >= least) continue;
      least = size;
      smallest = i;
    }
    for (int i = smallest; i + 1 < list->count; ++i) {
      list->length[i] = list->length[i + 1];
      memcpy(list->mode[i], list->mode[i + 1], sizeof list->mode[i]);
    }
    --list->count;
  }
}

static void find_index_groups(const cutt_contraction *c, cutt_role role, const bool *packed, index_groups *list) {
  const cutt_tensor one = role_tensors[role][0], other = role_tensors[role][1];
  int mode[CUTT_MOST_MODES];
  list->count = 0;
  if (packed[one] && packed[other]) {
    for (int which = 0; which < 2; ++which) {
      const int count = sort_by_stride(c, role, which ? other : one, mode);
      add_index_group(list, mode, count);
      /* Modes along which a packed operand would repeat its elements are mostly better as loops. */
      int whole = 0;
      for (int i = 0; i < count; ++i)
        if (c->mode[mode[i]].stride[one] && c->mode[mode[i]].stride[other]) mode[whole++] = mode[i];
      add_index_group(list, mode, whole);
    }
    keep_largest(c, most_index_groups(c), list);
    return;
  }
  if (packed[one] || packed[other]) {
    add_contiguous(c, role, packed[one] ? other : one, list);
  } else {
    for (int i = 0; i < c->modes; ++i)
      if (cutt_mode_role(&c->mode[i]) == role && c->mode[i].stride[one] > 0 && c->mode[i].stride[other] > 0)
        add_index_group(list, &i, 1);
  }
  keep_largest(c, most_index_groups(c) - 1, list);
  add_index_group(list, NULL, 0);
}

/* Both orders of each packed tensor's index groups, where there are two. */
static void try_orders(search *s, int t) {
  if (t == CUTT_TENSORS) {
    cutt_gemm gemm;
    bool swapped = false;
    cutt_algorithm_view(s->c, &s->algorithm, NULL, &s->view);
    if (cutt_algorithm_product(s->c, &s->algorithm, &s->view, &gemm, &swapped)) s->visit(s->data, &s->algorithm);
    return;
  }
  for (int which = 0; which < 2; ++which) {
    s->algorithm.inner[t] = cutt_tensor_roles[t][which];
    if (which == 1 && (!s->algorithm.packed[t] || s->algorithm.kept[cutt_tensor_roles[t][0]] == 0 ||
                       s->algorithm.kept[cutt_tensor_roles[t][1]] == 0))
      continue;
    try_orders(s, t + 1);
  }
}

static void try_index_groups(search *s, int role) {
  if (role == CUTT_INDEX_GROUPS) {
    try_orders(s, 0);
    return;
  }
  const index_groups *list = &s->list[role];
  for (int i = 0; i < list->count; ++i) {
    s->algorithm.kept[role] = list->length[i];
    memcpy(s->algorithm.index_group[role], list->mode[i], (size_t)list->length[i] * sizeof(int));
    try_index_groups(s, role + 1);
  }
}

cuttResult cutt_algorithms_enumerate(const cutt_contraction *c, bool together, cutt_algorithm_visit *visit,
                                     void *data) {
  search *s = calloc(1, sizeof *s);
  if (!s) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to plan a contraction", sizeof *s);
  s->c = c;
  s->visit = visit;
  s->data = data;
  s->algorithm.together = together;
  for (int i = 0; i < c->modes; ++i) s->algorithm.chunk[i] = c->mode[i].extent;
  for (unsigned packed = 0; packed < 8; ++packed) {
    for (int t = 0; t < CUTT_TENSORS; ++t) s->algorithm.packed[t] = (packed >> t & 1) != 0;
    for (int role = 0; role < CUTT_INDEX_GROUPS; ++role)
      find_index_groups(c, (cutt_role)role, s->algorithm.packed, &s->list[role]);
    try_index_groups(s, 0);
  }
  free(s);
  return CUTT_SUCCESS;
}
