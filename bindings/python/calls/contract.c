/* cutt.einsum, and cutt.reduce of one or two operands (calls.h). */
#include <stdlib.h>

#include "calls.h"

/* Operands: of more than two a network is made, and for more than eight memory is taken. */
enum { MOST_OF_A_PLAN = 2, FEW_OPERANDS = 8 };

/* The path, of more than two operands, is where reduce() has the operator. */
enum { OUT, ALPHA, BETA, CONJ, THREADS, PATH, EINSUM_NAMES, OPERATOR = PATH };
signature einsum_names = {0, EINSUM_NAMES, {"out", "alpha", "beta", "conj", "threads", "optimize"}, {NULL}, NULL};
signature reduce_names = {0, EINSUM_NAMES, {"out", "alpha", "beta", "conj", "threads", "op"}, {NULL}, NULL};

typedef struct sum {
  PyObject *spec;
  int operands;
  int op; /* of reduce(); of einsum() -1 */
  view *operand;
  view out;
  bool has_out;
  PyObject *alpha, *beta; /* borrowed; NULL: 1 and 0 */
  PyObject *path;         /* borrowed; NULL: found as by default */
  scaling scale;
  int64_t threads;
} sum;

/* A path: a word, a truth, or a list of steps, each of them numbers, as pairs_of() in Python takes it. */
static bool add_path(plan_key *key, PyObject *path) {
  enum { FOUND = -1, IN_ORDER = -2, LISTED = -3 };
  if (!path || path == Py_True || path == Py_False || path == Py_None) {
    add(key, !path || path == Py_True ? FOUND : IN_ORDER);
    return true;
  }
  if (PyUnicode_CheckExact(path)) {
    Py_ssize_t size = 0;
    const char *text = PyUnicode_AsUTF8AndSize(path, &size);
    if (text) add_bytes(key, text, (size_t)size);
    return text;
  }
  if (!PyList_CheckExact(path) && !PyTuple_CheckExact(path)) return false;
  const Py_ssize_t steps = PySequence_Size(path);
  bool good = true;
  add(key, LISTED);
  add(key, steps);
  for (Py_ssize_t i = 0; good && !key->full && i < steps; ++i) {
    PyObject *step = PySequence_GetItem(path, i);
    if (step && !i && PyUnicode_CheckExact(step)) { /* NumPy's paths begin with a name */
      add(key, FOUND);
      Py_DECREF(step);
      continue;
    }
    good = step && (PyList_CheckExact(step) || PyTuple_CheckExact(step));
    const Py_ssize_t numbers = good ? PySequence_Size(step) : 0;
    add(key, numbers);
    for (Py_ssize_t j = 0; good && !key->full && j < numbers; ++j) {
      PyObject *number = PySequence_GetItem(step, j);
      good = number && PyLong_CheckExact(number);
      const long long value = good ? PyLong_AsLongLong(number) : 0;
      good = good && (value != -1 || !PyErr_Occurred());
      add(key, value);
      Py_XDECREF(number);
    }
    Py_XDECREF(step);
  }
  return good;
}

static bool make_key(plan_key *key, const sum *s) {
  Py_ssize_t size = 0;
  const char *text = PyUnicode_AsUTF8AndSize(s->spec, &size);
  if (!text) {
    PyErr_Clear(); /* half a surrogate pair: the function in Python names it */
    return false;
  }
  const view *first = &s->operand[0];
  begin_key(key);
  add(key, s->operands > MOST_OF_A_PLAN ? KEY_OF_NETWORK : s->op < 0 ? KEY_OF_EINSUM : KEY_OF_REDUCE);
  add(key, (int64_t)s->has_out | (int64_t)is_vouched_for(first) << 1 | (int64_t)((uint64_t)s->op & 7) << 2 |
               (int64_t)s->operands << 8 | (int64_t)((uint64_t)first->device << 32));
  add(key, first->type.number | s->threads << 32);
  add_bytes(key, text, (size_t)size);
  add(key, s->scale.code);
  if (s->scale.code) {
    add_bytes(key, s->scale.alpha, 16);
    add_bytes(key, s->scale.beta, 16);
  }
  for (int i = 0; i < s->operands; ++i) add_view(key, &s->operand[i]);
  if (s->has_out) add_view(key, &s->out);
  if (s->operands <= MOST_OF_A_PLAN || add_path(key, s->path)) return true;
  PyErr_Clear(); /* the function in Python has the words */
  end_key(key);
  return false;
}

static PyObject *make_einsum(const void *what, bool again) {
  const sum *s = what;
  (void)again;
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
  end_key(&key);
  if (done != DONE) return done;
  if (!s->has_out) done = make_array(&s->operand[0], facts.rank, facts.shape, &array, &s->out);
  if (done == DONE) {
    int64_t bytes = elements_of(s->out.rank, s->out.shape);
    for (int i = 0; i < s->operands; ++i) bytes += elements_of(s->operand[i].rank, s->operand[i].shape);
    bytes *= s->out.type.bytes;
    const view *right = s->operands > 1 ? &s->operand[1] : NULL;
    done = facts.kind == PERMUTES ? execute_permutation(facts.plan, &s->operand[0], &s->out, bytes)
                                  : execute_contraction(&facts, &s->operand[0], right, &s->out, NULL, bytes);
  }
  Py_DECREF(plan);
  if (done != DONE) {
    Py_XDECREF(array);
    return done;
  }
  return finish_result(&s->operand[0], facts.rank, given, array, result);
}

static PyObject *make_network(const void *what, bool again) {
  const sum *s = what;
  PyObject *out = s->has_out ? s->out.array : Py_None, *arrays = PyTuple_New(s->operands), *made = NULL;
  bool good = arrays;
  for (int i = 0; good && i < s->operands; ++i) {
    Py_INCREF(s->operand[i].array);
    good = !PyTuple_SetItem(arrays, i, s->operand[i].array);
  }
  if (good)
    made = PyObject_CallFunction(python.create_network, "OOOOLi", s->spec, arrays, out, s->path ? s->path : Py_True,
                                 (long long)s->threads, (int)again);
  Py_XDECREF(arrays);
  return made;
}

/* NumPy's einsum, of what it is known to take. LEFT, too, where it refuses after all. */
static outcome execute_by_numpy(const sum *s, PyObject *given, PyObject **result) {
  PyObject *arguments = PyTuple_New(1 + s->operands), *named = Py_BuildValue("{ss}", "order", "C");
  bool good = arguments && named;
  for (int i = 0; good && i <= s->operands; ++i) {
    PyObject *argument = i ? s->operand[i - 1].array : s->spec;
    Py_INCREF(argument);
    good = !PyTuple_SetItem(arguments, i, argument);
  }
  if (good && given) good = !PyDict_SetItemString(named, "out", given);
  *result = good ? PyObject_Call(python.numpy_einsum, arguments, named) : NULL;
  Py_XDECREF(arguments);
  Py_XDECREF(named);
  if (*result) return DONE;
  if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError)) return FAILED;
  PyErr_Clear();
  return LEFT;
}

/* Does it share no memory with an operand? Where it may, the function in Python looks closer. */
static bool lies_apart(const sum *s) {
  const span out = span_of(&s->out, true);
  for (int i = 0; i < s->operands; ++i) {
    const span in = span_of(&s->operand[i], false);
    if (in.low < out.high && out.low < in.high) return false;
  }
  return true;
}

/* Of more than two operands. What few numbers take NumPy is over before anything is planned: it does the first calls. */
static outcome execute_many(sum *s, PyObject *given, PyObject **result) {
  plan_key key;
  plan_facts facts;
  PyObject *plan = NULL, *array = NULL;
  if (s->scale.code || (given && !lies_apart(s)) || !make_key(&key, s)) return LEFT;
  outcome done = find_plan(&key, make_network, s, &plan, &facts);
  end_key(&key);
  if (done != DONE) return done;
  if (facts.kind == BY_NUMPY) {
    Py_DECREF(plan);
    return execute_by_numpy(s, given, result);
  }
  if (!s->has_out) done = make_array(&s->operand[0], facts.rank, facts.shape, &array, &s->out);
  if (done == DONE) {
    int64_t elements = elements_of(s->out.rank, s->out.shape);
    for (int i = 0; i < s->operands; ++i) elements += elements_of(s->operand[i].rank, s->operand[i].shape);
    done = execute_network(&facts, s->operand, s->operands, &s->out, elements * s->out.type.bytes);
  }
  Py_DECREF(plan);
  if (done != DONE) {
    Py_XDECREF(array);
    return done;
  }
  return finish_result(&s->operand[0], facts.rank, given, array, result);
}

/* Which types more than two operands may have, and which libraries. NumPy's halves may be multiplied as floats, and integers
 * are two at a time: both are for the function in Python. */
static bool connects(const view *v) {
  const int code = v->type.code;
  if (code == CUTT_F32 || code == CUTT_F64 || code == CUTT_C32 || code == CUTT_C64)
    return v->library->reading != BY_CAPSULE;
  return v->library->reading == BY_TABLE && (code == CUTT_F16 || code == CUTT_BF16);
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
  outcome (*const execute)(sum *, PyObject *, PyObject **) = s->operands > MOST_OF_A_PLAN ? execute_many : execute_sum;
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
    if (s->operands > MOST_OF_A_PLAN && !connects(v)) taken = LEFT;
  }
  if (taken == DONE && given) {
    taken = take_view(given, true, &s->out);
    if (taken == DONE &&
        (!same_place(&s->operand[0], &s->out) || !elements_of(s->out.rank, s->out.shape) || repeats(&s->out))) {
      release_view(&s->out);
      taken = LEFT;
    }
    if (taken == DONE) {
      taken = take_numbers(s, values) ? execute(s, given, result) : LEFT;
      release_view(&s->out);
    }
  } else if (taken == DONE) {
    taken = take_numbers(s, values) ? execute(s, NULL, result) : LEFT;
  }
  while (views > 0) release_view(&s->operand[--views]);
  return taken;
}

/* LEFT also for what is no sum of this kind at all. called: the function's own names. */
static outcome any_sum(const signature *called, PyObject *const *given, Py_ssize_t count, PyObject *names,
                       PyObject **result) {
  PyObject *values[MOST_NAMES];
  view few[FEW_OPERANDS];
  if (count < 2 || (called == &reduce_names && count > 1 + MOST_OF_A_PLAN) || !PyUnicode_CheckExact(given[0]))
    return LEFT;
  /* Its names follow the operands, all of which are given without. */
  if (!take_arguments(called, given + count, 0, names, values)) return LEFT;
  sum s;
  s.op = -1;
  if (called == &reduce_names && (s.op = take_operator(values[OPERATOR])) < 0) return LEFT;
  s.spec = given[0];
  s.path = called == &einsum_names ? values[PATH] : NULL;
  s.operands = (int)count - 1;
  s.operand = s.operands > FEW_OPERANDS ? malloc((size_t)s.operands * sizeof *s.operand) : few;
  if (!s.operand) {
    PyErr_NoMemory();
    return FAILED;
  }
  const outcome done = einsum_of(&s, given + 1, values, result);
  if (s.operand != few) free(s.operand);
  return done;
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
