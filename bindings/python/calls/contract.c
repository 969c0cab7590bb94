/* cutt.einsum and cutt.reduce of one or two operands (calls.h). */
#include <string.h>

#include "calls.h"

enum { MOST_OPERANDS = 2 };

/* Where the path is found, for which two operands leave no choice, einsum() has what reduce() does not, and where the operator is. */
enum { OUT, ALPHA, BETA, CONJ, THREADS, PATH, EINSUM_NAMES, OPERATOR = PATH };
signature einsum_names = {0, EINSUM_NAMES, {"out", "alpha", "beta", "conj", "threads", "optimize"}, {NULL}, NULL};
signature reduce_names = {0, EINSUM_NAMES, {"out", "alpha", "beta", "conj", "threads", "op"}, {NULL}, NULL};

typedef struct sum {
  PyObject *spec;
  int operands;
  int op; /* of reduce(); of einsum() -1 */
  view operand[MOST_OPERANDS];
  view out;
  bool has_out;
  PyObject *alpha, *beta; /* borrowed; NULL: 1 and 0 */
  scaling scale;
  int64_t threads;
} sum;

static bool make_key(plan_key *key, const sum *s) {
  Py_ssize_t size = 0;
  const char *text = PyUnicode_AsUTF8AndSize(s->spec, &size);
  if (!text) {
    PyErr_Clear(); /* half a surrogate pair: the function in Python names it */
    return false;
  }
  const view *first = &s->operand[0];
  key->words = 0;
  key->full = false;
  add(key, s->op < 0 ? KEY_OF_EINSUM : KEY_OF_REDUCE);
  add(key, s->operands | (int64_t)s->has_out << 8 | (int64_t)is_vouched_for(first) << 9 |
               (int64_t)((uint64_t)s->op & 7) << 10 | (int64_t)((uint64_t)first->device << 32));
  add(key, first->type.number | s->threads << 32);
  add_bytes(key, text, (size_t)size);
  add(key, s->scale.code);
  if (s->scale.code) {
    add_bytes(key, s->scale.alpha, 16);
    add_bytes(key, s->scale.beta, 16);
  }
  for (int i = 0; i < s->operands; ++i) add_view(key, &s->operand[i]);
  if (s->has_out) add_view(key, &s->out);
  return true;
}

static PyObject *make_einsum(const void *what) {
  const sum *s = what;
  PyObject *out = s->has_out ? s->out.array : Py_None;
  PyObject *second = s->operands > 1 ? s->operand[1].array : Py_None;
  PyObject *one = NULL, *zero = NULL, *made = NULL;
  if (!s->alpha) one = PyLong_FromLong(1);
  if (!s->beta) zero = PyLong_FromLong(0);
  if ((s->alpha || one) && (s->beta || zero))
    made = PyObject_CallFunction(python.create_einsum, "OOOOOOLi", s->spec, s->operand[0].array, second, out,
                                 s->alpha ? s->alpha : one, s->beta ? s->beta : zero, (long long)s->threads, s->op);
  Py_XDECREF(one);
  Py_XDECREF(zero);
  return made;
}

outcome finish_result(const view *like, int rank, PyObject *given, PyObject *array, PyObject **result) {
  if (given) {
    Py_INCREF(given);
    *result = given;
  } else if (!rank && like->library->reading == BY_STRUCT) { /* a scalar, as NumPy's einsum gives it */
    PyObject *nothing = PyTuple_New(0);
    *result = nothing ? PyObject_GetItem(array, nothing) : NULL;
    Py_XDECREF(nothing);
    Py_DECREF(array);
  } else {
    *result = finish_array(like, array);
  }
  return *result ? DONE : FAILED;
}

static outcome execute_sum(sum *s, PyObject *given, PyObject **result) {
  plan_key key;
  plan_facts facts;
  PyObject *plan = NULL, *array = NULL;
  if (!make_key(&key, s)) return LEFT;
  outcome done = find_plan(&key, make_einsum, s, &plan, &facts);
  if (done != DONE) return done;
  if (!s->has_out) done = make_array(&s->operand[0], facts.rank, facts.shape, &array, &s->out);
  if (done == DONE) {
    int64_t bytes = elements_of(s->out.rank, s->out.shape);
    for (int i = 0; i < s->operands; ++i) bytes += elements_of(s->operand[i].rank, s->operand[i].shape);
    bytes *= s->out.type.bytes;
    const view *right = s->operands > 1 ? &s->operand[1] : NULL;
    done = facts.kind == PERMUTES ? execute_permutation(facts.plan, &s->operand[0], &s->out, bytes)
                                  : execute_contraction(&facts, &s->operand[0], right, &s->out, bytes);
  }
  Py_DECREF(plan);
  if (done != DONE) {
    Py_XDECREF(array);
    return done;
  }
  return finish_result(&s->operand[0], facts.rank, given, array, result);
}

bool multiplies(const view *v) {
  switch (v->type.code) {
    case CUTT_F32:
    case CUTT_F64:
    case CUTT_C32:
    case CUTT_C64:
    case CUTT_F16:
    case CUTT_BF16:
      return true;
    case CUTT_I32:
    case CUTT_I64:
      return v->device == ON_CPU;
    default:
      return false;
  }
}

/* Plain arguments only: what fits in no sum of this kind is for the function in Python. */
static bool take_numbers(sum *s, PyObject *const *values) {
  if (values[CONJ] && values[CONJ] != Py_None) return false;
  if (!take_threads(values[THREADS], &s->threads)) return false;
  s->alpha = values[ALPHA];
  s->beta = values[BETA];
  return take_scaling(s->alpha, s->beta, NULL, &s->operand[0].type, false, &s->scale) && (s->has_out || !s->scale.adds);
}

static outcome einsum_of(sum *s, PyObject *const *arrays, PyObject *const *values, PyObject **result) {
  PyObject *given = values[OUT] == Py_None ? NULL : values[OUT];
  outcome taken = DONE;
  int views = 0;
  s->has_out = given;
  for (; views < s->operands && taken == DONE; ++views) {
    taken = take_view(arrays[views], false, &s->operand[views]);
    if (taken != DONE) break;
    const view *v = &s->operand[views];
    if (!same_place(&s->operand[0], v) || !elements_of(v->rank, v->shape)) taken = LEFT;
    if ((s->operands > 1 || s->op >= 0) && !multiplies(v)) taken = LEFT; /* else it may be a permutation */
  }
  if (taken == DONE && given) {
    taken = take_view(given, true, &s->out);
    if (taken == DONE &&
        (!same_place(&s->operand[0], &s->out) || !elements_of(s->out.rank, s->out.shape) || repeats(&s->out))) {
      release_view(&s->out);
      taken = LEFT;
    }
    if (taken == DONE) {
      taken = take_numbers(s, values) ? execute_sum(s, given, result) : LEFT;
      release_view(&s->out);
    }
  } else if (taken == DONE) {
    taken = take_numbers(s, values) ? execute_sum(s, NULL, result) : LEFT;
  }
  while (views > 0) release_view(&s->operand[--views]);
  return taken;
}

/* LEFT also for what is no sum of this kind at all. called: the function's own names. */
static outcome any_sum(const signature *called, PyObject *const *given, Py_ssize_t count, PyObject *names,
                       PyObject **result) {
  PyObject *values[MOST_NAMES];
  if (count < 2 || count > 1 + MOST_OPERANDS || !PyUnicode_CheckExact(given[0])) return LEFT;
  /* Its names follow the operands, all of which are given without. */
  if (!take_arguments(called, given + count, 0, names, values)) return LEFT;
  sum s;
  s.op = -1;
  if (called == &reduce_names && (s.op = take_operator(values[OPERATOR])) < 0) return LEFT;
  s.spec = given[0];
  s.operands = (int)count - 1;
  return einsum_of(&s, given + 1, values, result);
}

PyObject *einsum(PyObject *nothing, PyObject *const *given, Py_ssize_t count, PyObject *names) {
  (void)nothing;
  PyObject *result = NULL;
  const outcome done = any_sum(&einsum_names, given, count, names, &result);
  return done == LEFT ? call_in_python(einsum_names.in_python, given, count, names) : result;
}

PyObject *reduce(PyObject *nothing, PyObject *const *given, Py_ssize_t count, PyObject *names) {
  (void)nothing;
  PyObject *result = NULL;
  const outcome done = any_sum(&reduce_names, given, count, names, &result);
  return done == LEFT ? call_in_python(reduce_names.in_python, given, count, names) : result;
}

PyObject *try_einsum(PyObject *nothing, PyObject *const *given, Py_ssize_t count, PyObject *names) {
  (void)nothing;
  PyObject *result = NULL;
  if (any_sum(&einsum_names, given, count, names, &result) != LEFT) return result;
  Py_INCREF(Py_NotImplemented);
  return Py_NotImplemented;
}
