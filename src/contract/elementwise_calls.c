/* The public calls of elementwise operations: a caller's is read, checked and brought to its simplest form (elementwise.h). */
#include "contract/device_elementwise.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "contract/problem.h"
#include "plan/services.h"

/* Sizes of the structs in the first version that had them. */
static const size_t first_problem_size = sizeof(cuttElementwise_t),
                    first_options_size = sizeof(cuttElementwiseOptions_t);

static const uint64_t alive = UINT64_C(0x63757474656c656d), dead = UINT64_C(0xdeaddeadde1e3e27);

static const cutt_tensor_names names[CUTT_MOST_TENSORS] = {
    {"a", "a_rank", "a_extents", "a_strides"},
    {"b", "b_rank", "b_extents", "b_strides"},
    {"the result", "result_rank", "result_extents", "result_strides"},
    {"c", "c_rank", "c_extents", "c_strides"},
};

typedef struct cuttElementwiseStruct plan_t;

/* ----------------------------------------------------------------------------------------------------------- checks */

static cuttResult check_operator(const plan_t *p, cuttOperator_t op, const char *field) {
  if ((int)op < CUTT_OP_ADD || op > CUTT_OP_MIN)
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "%s is %d; it must be CUTT_OP_ADD, CUTT_OP_MULTIPLY, CUTT_OP_MAX or CUTT_OP_MIN", field, (int)op);
  if (!p->type->complex || op < CUTT_OP_MAX) return CUTT_SUCCESS;
  return cutt_error(
      CUTT_INVALID_PARAMETER,
      "%s is %s and type is %s; complex numbers have no order, so it must be CUTT_OP_ADD or CUTT_OP_MULTIPLY", field,
      cutt_operator_names[op], p->type->name);
}

static void read_scalar(plan_t *p, int operand, const void *scalar, int conjugate) {
  p->conjugate[operand] = p->type->complex && conjugate != 0;
  cutt_scalar_set(p->type, 1, p->scale[operand]);
  if (!scalar) return;
  memcpy(p->scale[operand], scalar, (size_t)p->type->scalar_bytes);
  p->scaled[operand] = !cutt_scalar_is(p->type, p->scale[operand], 1);
  if (cutt_scalar_is(p->type, p->scale[operand], 0)) p->use[operand] = CUTT_USE_ZERO;
  if (p->use[operand] == CUTT_USE_ZERO) p->scaled[operand] = p->conjugate[operand] = false;
}

static cuttResult read_extents(const cuttElementwise_t *own, cutt_labelled *l) {
  const int rank[CUTT_MOST_TENSORS] = {own->a_rank, own->b_rank, own->result_rank, own->c_rank};
  const int64_t *const extents[CUTT_MOST_TENSORS] = {own->a_extents, own->b_extents, own->result_extents,
                                                     own->c_extents};
  const int64_t *const strides[CUTT_MOST_TENSORS] = {own->a_strides, own->b_strides, own->result_strides,
                                                     own->c_strides};
  const cuttResult result = cutt_pattern_parse_elementwise(own->pattern, &l->pattern);
  if (result) return result;
  memcpy(l->rank, rank, sizeof rank);
  memcpy(l->extents, extents, sizeof extents);
  memcpy(l->strides, strides, sizeof strides);
  l->names = names;
  l->tensors = CUTT_MOST_TENSORS; /* without a third operand its rank has to be 0 */
  return cutt_labelled_check(l);
}

/* ------------------------------------------------------------------------------------------------------------ modes */

void cutt_elementwise_add_mode(plan_t *p, const cutt_elementwise_mode *callers, char letter) {
  cutt_elementwise_mode mode = *callers;
  for (int o = 0; o < p->operands; ++o)
    p->as_result[o] = p->as_result[o] && mode.stride[cutt_elementwise_tensor(o)] == mode.stride[CUTT_RESULT];
  if (mode.stride[CUTT_RESULT] < 0) {
    for (int t = 0; t < CUTT_MOST_TENSORS; ++t) {
      p->origin[t] += (mode.extent - 1) * mode.stride[t] * p->type->bytes;
      mode.stride[t] = -mode.stride[t];
    }
  }
  int at = p->modes++;
  for (; at > 0 && p->mode[at - 1].stride[CUTT_RESULT] > mode.stride[CUTT_RESULT]; --at) {
    p->mode[at] = p->mode[at - 1];
    p->letter[at] = p->letter[at - 1];
  }
  p->mode[at] = mode;
  p->letter[at] = letter;
}

static void add_label(plan_t *p, const cutt_labelled *l, int label) {
  cutt_elementwise_mode mode = {.extent = l->extent[label], .letters = 1};
  for (int t = 0; t < CUTT_MOST_TENSORS; ++t)
    for (int i = 0; i < l->pattern.rank[t]; ++i)
      if (l->pattern.label[t][i] == label) mode.stride[t] += l->stride[t][i];
  cutt_elementwise_add_mode(p, &mode, l->pattern.name[label].name[0]);
}

static bool follows(const cutt_elementwise_mode *inner, const cutt_elementwise_mode *outer) {
  for (int t = 0; t < CUTT_MOST_TENSORS; ++t)
    if (inner->stride[t] * inner->extent != outer->stride[t]) return false;
  return true;
}

static void fuse(plan_t *p) {
  int left = 0;
  for (int i = 0; i < p->modes; ++i) {
    if (left > 0 && follows(&p->mode[left - 1], &p->mode[i])) {
      p->mode[left - 1].extent *= p->mode[i].extent;
      p->mode[left - 1].letters += p->mode[i].letters;
    } else {
      p->mode[left++] = p->mode[i];
    }
  }
  p->modes = left;
}

static cuttResult read_problem(plan_t *p, const cuttElementwise_t *own, cutt_labelled *l) {
  cuttResult result = cutt_contraction_type_check(own->type, &p->type);
  if (result) return result;
  l->bytes = p->type->bytes;
  result = read_extents(own, l);
  p->operands = l->pattern.three ? 3 : 2;
  p->op[0] = own->op_ab;
  p->op[1] = own->op_abc;
  if (!result) result = check_operator(p, own->op_ab, "op_ab");
  if (!result && p->operands == 3) result = check_operator(p, own->op_abc, "op_abc");
  if (result) return result;
  const void *const scalar[] = {own->alpha, own->beta, own->gamma};
  const int conjugate[] = {own->conjugate_a, own->conjugate_b, own->conjugate_c};
  for (int o = 0; o < CUTT_ELEMENTWISE_OPERANDS; ++o) {
    read_scalar(p, o, scalar[o], conjugate[o]);
    p->as_result[o] = true;
  }
  memcpy(p->low, l->low, sizeof p->low);
  memcpy(p->high, l->high, sizeof p->high);
  p->empty = l->volume[CUTT_RESULT] == 0;
  for (int label = 0; label < l->pattern.labels && !p->empty; ++label)
    if (l->extent[label] > 1) add_label(p, l, label);
  fuse(p);
  return CUTT_SUCCESS;
}

/* --------------------------------------------------------------------------------------------------------- planning */

static cuttResult read_options(plan_t *p, const cuttElementwiseOptions_t *callers) {
  cuttElementwiseOptions_t own = CUTT_ELEMENTWISE_OPTIONS_INIT;
  cuttResult result =
      callers ? cutt_struct_read(&own, sizeof own, first_options_size, callers, "options") : CUTT_SUCCESS;
  if (result) return result;
  if (own.threads < 0 || own.threads > CUTT_MAX_THREADS)
    return cutt_error(CUTT_INVALID_PARAMETER, "options->threads is %d; it must be 0 (default) to %d", own.threads,
                      CUTT_MAX_THREADS);
  result = cutt_backend_select(own.backend, "options->backend", &p->backend);
  if (result) return result;
  p->threads = own.threads ? own.threads : cutt_team_default();
  return CUTT_SUCCESS;
}

/* For the context that the calling thread works in. */
static cuttResult prepare_device(plan_t *p) {
  const cutt_runtime *runtime = p->backend->runtime;
  cutt_scope scope;
  cuttResult result = runtime->enter(&scope);
  if (result) return result;
  result = cutt_device_elementwise_prepare(p);
  runtime->leave(&scope);
  return result;
}

static cuttResult fill(plan_t *p, const cuttElementwise_t *callers, const cuttElementwiseOptions_t *options) {
  if (!callers) return cutt_error(CUTT_INVALID_PARAMETER, "elementwise is NULL; it must point to a cuttElementwise_t");
  cuttElementwise_t own = CUTT_ELEMENTWISE_INIT;
  cuttResult result = cutt_struct_read(&own, sizeof own, first_problem_size, callers, "elementwise");
  if (!result) result = read_options(p, options);
  if (result) return result;
  cutt_labelled *l = calloc(1, sizeof *l);
  if (!l) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to check an operation", sizeof *l);
  result = read_problem(p, &own, l);
  free(l);
  if (result || p->empty) return result;
  return p->backend->runtime->has_streams ? prepare_device(p) : cutt_elementwise_prepare(p);
}

static void release(plan_t *p) {
  cutt_elementwise_release(p);
  cutt_device_elementwise_release(p);
  free(p);
}

cuttResult cuttElementwisePlanCreate(cuttElementwisePlan_t *plan, const cuttElementwise_t *elementwise,
                                     const cuttElementwiseOptions_t *options) {
  if (!plan) return cutt_error(CUTT_INVALID_PARAMETER, "plan is NULL; it must point to a cuttElementwisePlan_t");
  *plan = NULL;
  const double start = cutt_clock();
  plan_t *made = calloc(1, sizeof *made);
  if (!made) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *made);
  const cuttResult result = fill(made, elementwise, options);
  if (result) {
    release(made);
    return result;
  }
  made->magic = alive;
  made->create_seconds = cutt_clock() - start;
  *plan = made;
  return CUTT_SUCCESS;
}

bool cutt_elementwise_alive(const struct cuttElementwiseStruct *plan) {
  if (plan && plan->magic == alive) return true;
  cutt_error(CUTT_INVALID_PLAN, "plan is %p, which %s", (const void *)plan,
             !plan                 ? "is NULL; it must come from cuttElementwisePlanCreate"
             : plan->magic == dead ? "has been destroyed"
                                   : "is not a plan; it must come from cuttElementwisePlanCreate");
  return false;
}

cuttResult cuttElementwisePlanDestroy(cuttElementwisePlan_t plan) {
  if (!plan) return CUTT_SUCCESS;
  if (!cutt_elementwise_alive(plan)) return CUTT_INVALID_PLAN;
  *(volatile uint64_t *)&plan->magic = dead; /* a plain store before free would be optimised away */
  release(plan);
  return CUTT_SUCCESS;
}

/* -------------------------------------------------------------------------------------------------------- executing */

static const char *const tensor_name[CUTT_MOST_TENSORS] = {"a", "b", "result", "c"};

static cuttResult check_overlap(const plan_t *p, int operand, const void *result_at, const void *at) {
  const int t = (int)cutt_elementwise_tensor(operand);
  const uintptr_t low = (uintptr_t)result_at + (uintptr_t)p->low[CUTT_RESULT],
                  high = (uintptr_t)result_at + (uintptr_t)p->high[CUTT_RESULT];
  const uintptr_t from = (uintptr_t)at + (uintptr_t)p->low[t], to = (uintptr_t)at + (uintptr_t)p->high[t];
  if (from >= high || low >= to || (at == result_at && p->as_result[operand])) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "%s spans bytes [0x%" PRIxPTR ", 0x%" PRIxPTR ") and result [0x%" PRIxPTR ", 0x%" PRIxPTR
                    "), which overlap; it must have memory of its own, or the result's address and layout",
                    tensor_name[t], from, to, low, high);
}

/* Memory that the plan's device reaches, and its address there. */
static cuttResult reach(const plan_t *p, const void *memory, const char *name, void **at) {
  const cutt_runtime *runtime = p->backend->runtime;
  *at = (void *)(uintptr_t)memory;
  if (!p->device) return cutt_memory_look(p->backend, memory, name);
  if ((uintptr_t)memory % (uintptr_t)p->type->bytes)
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is %p; on a GPU it must be a multiple of the element's %d bytes",
                      name, memory, p->type->bytes);
  return runtime->reach(p->device->kernels->target, memory, name, at);
}

/* Checks the caller's pointers, and finds where they are; NULL: it is not read. */
static cuttResult check_tensors(const plan_t *p, const void *const *given, void **at) {
  for (int t = 0; t < CUTT_MOST_TENSORS; ++t) {
    const int operand = t == CUTT_THIRD ? 2 : t;
    at[t] = NULL;
    if (t != CUTT_RESULT && (operand >= p->operands || p->use[operand] == CUTT_USE_ZERO)) continue;
    if (!given[t])
      return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to element (0, ..., 0)", tensor_name[t]);
    cuttResult result = reach(p, given[t], tensor_name[t], &at[t]);
    if (!result && t != CUTT_RESULT) result = check_overlap(p, operand, given[CUTT_RESULT], given[t]);
    if (result) return result;
  }
  return CUTT_SUCCESS;
}

cuttResult cuttElementwiseExecute(cuttElementwisePlan_t plan, const void *a, const void *b, const void *c,
                                  void *result_at, cudaStream_t stream) {
  if (!cutt_elementwise_alive(plan)) return CUTT_INVALID_PLAN;
  const void *const given[CUTT_MOST_TENSORS] = {a, b, result_at, c};
  void *at[CUTT_MOST_TENSORS];
  if (plan->empty) return CUTT_SUCCESS;
  cuttResult result;
  if (!plan->device) {
    result = cutt_stream_check(plan->backend, stream, "stream");
    if (!result) result = check_tensors(plan, given, at);
    return result ? result : cutt_elementwise_run(plan, at);
  }
  const cutt_runtime *runtime = plan->backend->runtime;
  cutt_scope scope;
  result = runtime->kernels_enter(plan->device->kernels, &scope);
  if (result) return result;
  result = check_tensors(plan, given, at);
  if (!result) result = cutt_device_elementwise_run(plan, at, stream);
  runtime->leave(&scope);
  return result;
}

cuttResult cuttElementwiseCompute(const cuttElementwise_t *elementwise, const cuttElementwiseOptions_t *options,
                                  const void *a, const void *b, const void *c, void *result_at, cudaStream_t stream) {
  cuttElementwisePlan_t plan = NULL;
  cuttResult result = cuttElementwisePlanCreate(&plan, elementwise, options);
  if (result) return result;
  result = cuttElementwiseExecute(plan, a, b, c, result_at, stream);
  cuttElementwisePlanDestroy(plan);
  return result;
}
