/* Elementwise operations on a GPU that are permutations with a second operand (device_elementwise.h): planned and done as any
 * other permutation. */
#include <stdlib.h>

#include "base/error.h"
#include "base/number.h"
#include "contract/device_elementwise.h"
#include "contract/problem.h"
#include "plan/services.h"

enum { WORTH_TWO_PASSES = 16 << 20, SHORT_RUN = 64, LONG_RUN = 256, LONG_HALVES = 1024 }; /* bytes of D; of runs */

/* Of an operand that is repeated: bytes of a run and of all that there is of it. Where this is little, all multiprocessors want the
 * same lines, which L2 hands out one by one. */
enum { LEAST_RUN = 64, WIDE_RUN = 512, LEAST_REPEATED = 2 << 10, WIDE_REPEATED = 14 << 10, LEAST_FILL = 16 };

typedef struct cuttElementwiseStruct plan_t;

/* An element of the operand is at several positions: it lacks a mode. */
static bool repeats(const plan_t *p, int operand) {
  for (int i = 0; i < p->modes; ++i)
    if (!p->mode[i].stride[cutt_elementwise_tensor(operand)]) return true;
  return false;
}

static bool is_read(const plan_t *p, int operand) { return p->use[operand] != CUTT_USE_ZERO; }

static const cutt_combine_args *args_of(const plan_t *p) {
  return &(p->device->has_wide ? &p->device->wide : &p->device->narrow)->args;
}

static bool is_turned(const plan_t *p, int operand) { return args_of(p)->use[operand] == CUTT_COMBINE_TURNED; }

/* Are there gaps between a tensor's elements? */
static bool has_gaps(const plan_t *p, cutt_tensor t) {
  int64_t span = 1, elements = 1;
  for (int i = 0; i < p->modes; ++i) {
    span += (p->mode[i].extent - 1) * llabs(p->mode[i].stride[t]);
    elements *= p->mode[i].extent;
  }
  return span > elements;
}

/* An operand is turned by windows: its runs do not begin at multiples of 16 bytes. */
static bool by_windows(const plan_t *p) { return args_of(p)->walk[1].window || args_of(p)->walk[2].window; }

/* Are tiles faster than a permutation of an operand whose runs begin anywhere? Mostly where a tensor has gaps, and with elements of 4 bytes
 * where runs are long: there are few modes, and none is short. Those of 2 bytes are turned one by one in tiles, but not by permutations. */
static bool are_tiles_faster(const plan_t *p) {
  const int64_t bytes = p->type->bytes;
  int64_t least = p->mode[0].extent;
  if (!by_windows(p)) return false;
  for (int i = 1; i < p->modes; ++i) least = smaller(least, p->mode[i].extent);
  if (bytes == 2) return p->modes == 2 && least * bytes >= LONG_HALVES;
  if (has_gaps(p, CUTT_LEFT) || has_gaps(p, CUTT_RIGHT) || has_gaps(p, CUTT_RESULT)) return true;
  return bytes == 4 && p->modes <= 3 && least * bytes >= LONG_RUN;
}

/* Is an operand that is repeated put in faster as a permutation's input? Where kernels access 16 bytes at a time, only in long runs that it
 * has with D, which are of one element of it where it lacks D's first mode; elements of 8 and 16 bytes never, and those of 4 not where
 * they are accessed one by one: measured, docs/log.md. */
static bool is_repeated_well(const plan_t *p, int operand) {
  const cutt_tensor t = cutt_elementwise_tensor(operand);
  if (p->type->bytes > 4 || (p->type->bytes == 4 && !p->device->has_wide)) return false;
  const bool lacks = !p->mode[0].stride[t], wide = p->device->has_wide;
  int64_t bytes = p->type->bytes, run = bytes, far = 1;
  bool on = true;
  for (int i = 0; i < p->modes; ++i) {
    const cutt_elementwise_mode *mode = &p->mode[i];
    if (mode->stride[t]) bytes *= mode->extent;
    on = on && mode->stride[CUTT_RESULT] == far && mode->stride[t] == (lacks ? 0 : far);
    if (on) run *= mode->extent;
    far *= mode->extent;
  }
  if (lacks) return !wide && run >= LEAST_FILL;
  return run >= (wide ? WIDE_RUN : LEAST_RUN) && bytes >= (wide ? WIDE_REPEATED : LEAST_REPEATED);
}

/* One operand is laid out as D, and not conjugated, as kernels of permutations have it. Those of tiles are faster where neither operand is
 * turned and runs are no multiples of 16 bytes, of elements of 2 bytes only if both are laid out as D; and where they compute 16 bytes
 * of such elements at once. */
static bool find_one(const plan_t *p, cutt_device_permuted *pass) {
  const int element = p->type->bytes;
  const bool whole = p->device->has_wide && p->modes > 0 && p->mode[0].extent * element % 16 == 0;
  const bool turned = is_turned(p, 0) || is_turned(p, 1), first = repeats(p, 0);
  if (first || repeats(p, 1)) {
    if (turned || !is_repeated_well(p, first ? 0 : 1)) return false;
  } else if (turned) {
    if (element == 2 && p->device->has_wide && args_of(p)->walk[0].width > 2) return false;
    if (are_tiles_faster(p)) return false;
  } else if (!whole && element < 16 && (element > 2 || (p->as_result[0] && p->as_result[1]))) {
    return false;
  }
  for (int second = 1; second >= 0; --second) {
    if (!p->as_result[second] || p->conjugate[second]) continue;
    *pass = (cutt_device_permuted){.moved = 1 - second, .second = (int)cutt_elementwise_tensor(second)};
    return true;
  }
  return false;
}

/* The mode in which an operand has its elements next to each other. */
static int fast_mode(const plan_t *p, int operand) {
  const cutt_tensor t = cutt_elementwise_tensor(operand);
  int fast = 0;
  for (int i = 1; i < p->modes; ++i)
    if (llabs(p->mode[i].stride[t]) < llabs(p->mode[fast].stride[t])) fast = i;
  return fast;
}

/* Is an operand loaded element by element, or in runs that are hardly longer than what memory moves at least? Those of elements of 4 bytes
 * only matter where modes are many, and most tiles not whole. */
static bool is_slow(const plan_t *p, int operand) {
  const cutt_combine_walk *walk = &args_of(p)->walk[1 + operand];
  const int64_t bytes = p->type->bytes;
  if (!is_turned(p, operand)) return false;
  if (!walk->window) return walk->width <= bytes;
  return args_of(p)->chunk[walk->digit[0].mode] * walk->inner * bytes <= SHORT_RUN && (bytes == 2 || p->modes > 3);
}

/* Is it worth two passes, of which the first permutes one operand to D? They move D three times, and reach 0.5 of a copy's speed. Where
 * elements are turned one by one in shared memory, or in short runs, those of 2 bytes reach 0.2 to 0.35, and those of 4 bytes 0.35 to 0.5 if
 * tiles have three modes of short runs. What is scaled would be rounded twice in half types, and an operand that is laid out as D may be D. */
static bool is_worth_two(const plan_t *p) {
  const int64_t element = p->type->bytes;
  int64_t bytes = element;
  bool slow[2], both = true;
  if (p->as_result[0] || p->as_result[1]) return false;
  if (element > 4 || repeats(p, 0) || repeats(p, 1) || (element == 2 && p->scaled[0])) return false;
  for (int i = 0; i < p->modes; ++i) bytes *= p->mode[i].extent;
  for (int k = 0; k < 2; ++k) {
    slow[k] = is_slow(p, k);
    both = both && is_turned(p, k);
  }
  if (!(element == 2 ? slow[0] || slow[1] : slow[0] && slow[1]) || bytes < WORTH_TWO_PASSES) return false;
  const int first = fast_mode(p, 0), second = fast_mode(p, 1);
  return element == 2 || (both && first != second && first != 0 && second != 0);
}

/* On the heap, since planning takes most of the stack that a call may take. */
typedef struct strided {
  int64_t extents[CUTT_MAX_RANK], in[CUTT_MAX_RANK], out[CUTT_MAX_RANK];
  int perm[CUTT_MAX_RANK];
} strided;

static cuttResult plan_pass(const plan_t *p, strided *s, cutt_device_permuted *pass) {
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  _Alignas(16) unsigned char one[16];
  cutt_scalar_set(p->type, 1, one);
  for (int i = 0; i < p->modes; ++i) {
    s->extents[i] = p->mode[i].extent;
    s->in[i] = p->mode[i].stride[cutt_elementwise_tensor(pass->moved)];
    s->out[i] = p->mode[i].stride[CUTT_RESULT];
    s->perm[i] = i;
  }
  problem.rank = p->modes;
  problem.type = p->type->type;
  problem.extents = s->extents;
  problem.perm = s->perm;
  problem.in_strides = s->in;
  problem.out_strides = s->out;
  problem.alpha = p->scale[pass->moved];
  problem.conjugate = p->conjugate[pass->moved];
  if (pass->second == CUTT_RESULT)
    problem.beta = one;
  else if (pass->second != CUTT_NO_SECOND)
    problem.beta = p->scale[1 - pass->moved];
  options.backend = p->backend->id;
  options.trust_pointers = 1; /* the caller has looked at them */
  return cuttPlanCreate(&pass->plan, &problem, &options);
}

cuttResult cutt_device_permuted_prepare(const plan_t *p, cutt_device_permuted pass[2]) {
  if (p->type->bytes == 2 && p->op[0] > CUTT_OP_MULTIPLY)
    return CUTT_SUCCESS; /* whose kernels have no other operators */
  if (p->operands != 2 || p->modes > CUTT_MAX_RANK || !is_read(p, 0) || !is_read(p, 1)) return CUTT_SUCCESS;
  int passes = find_one(p, &pass[0]) ? 1 : 0;
  if (!passes && is_worth_two(p)) {
    for (int i = 0; i < 2; ++i)
      pass[i] = (cutt_device_permuted){.moved = i, .second = i ? (int)CUTT_RESULT : CUTT_NO_SECOND};
    passes = 2;
  }
  cuttResult result = CUTT_SUCCESS;
  strided *s = malloc(sizeof *s);
  if (!s) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a permutation", sizeof *s);
  for (int i = 0; i < passes && !result; ++i) result = plan_pass(p, s, &pass[i]);
  free(s);
  return result;
}

cuttResult cutt_device_permuted_start(const plan_t *p, const unsigned char *const at[CUTT_MOST_TENSORS],
                                      cudaStream_t stream) {
  cuttResult result = CUTT_SUCCESS;
  for (int i = 0; i < 2 && p->device->pass[i].plan && !result; ++i) {
    const cutt_device_permuted *pass = &p->device->pass[i];
    const void *const in = at[cutt_elementwise_tensor(pass->moved)];
    void *const out = (void *)(uintptr_t)at[CUTT_RESULT];
    result = pass->second == CUTT_NO_SECOND
                 ? cuttPlanExecute(pass->plan, in, out, stream)
                 : cutt_plan_combine(pass->plan, in, at[pass->second], (int)p->op[0], out, stream);
  }
  return result;
}
