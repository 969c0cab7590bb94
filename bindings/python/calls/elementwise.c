/* cutt.elementwise of two or three operands (calls.h). */
#include <string.h>

#include "calls.h"

enum { MOST_COMBINED = 3 };

enum { SPEC, A, B, C, ALPHA, BETA, GAMMA, OP, OP2, OUT, CONJ, THREADS, ELEMENTWISE_NAMES };
signature elementwise_names = {4,
                               ELEMENTWISE_NAMES,
                               {"spec", "a", "b", "c", "alpha", "beta", "gamma", "op", "op2", "out", "conj", "threads"},
                               {NULL},
                               NULL};

typedef struct combination {
  PyObject *const *values; /* the call's */
  int operands, op[2];
  view operand[MOST_COMBINED];
  view out;
  bool has_out;
  unsigned char scalar[MOST_COMBINED][16];
  int64_t threads;
} combination;

static bool make_key(plan_key *key, const combination *c) {
  Py_ssize_t size = 0;
  const char *text = PyUnicode_AsUTF8AndSize(c->values[SPEC], &size);
  if (!text) {
    PyErr_Clear(); /* half a surrogate pair: the function in Python names it */
    return false;
  }
  const view *first = &c->operand[0];
  begin_key(key);
  add(key, KEY_OF_ELEMENTWISE);
  add(key, c->operands | c->op[0] << 4 | c->op[1] << 8 | (int64_t)c->has_out << 12 |
               (int64_t)((uint64_t)first->device << 32));
  add(key, first->type.number | c->threads << 32);
  add_bytes(key, text, (size_t)size);
  for (int i = 0; i < c->operands; ++i) add_bytes(key, c->scalar[i], 16);
  for (int i = 0; i < c->operands; ++i) add_view(key, &c->operand[i]);
  if (c->has_out) add_view(key, &c->out);
  return true;
}

static PyObject *make_elementwise(const void *what, bool again) {
  (void)again;
  const combination *c = what;
  PyObject *third = c->operands > 2 ? c->operand[2].array : Py_None, *out = c->has_out ? c->out.array : Py_None;
  const Py_ssize_t size = 16;
  return PyObject_CallFunction(python.create_elementwise, "OOOOOy#y#y#iiL", c->values[SPEC], c->operand[0].array,
                               c->operand[1].array, third, out, c->scalar[0], size, c->scalar[1], size, c->scalar[2],
                               size, c->op[0], c->op[1], (long long)c->threads);
}

static outcome execute_combination(combination *c, PyObject *given, PyObject **result) {
  plan_key key;
  plan_facts facts;
  PyObject *plan = NULL, *array = NULL;
  if (!make_key(&key, c)) return LEFT;
  outcome done = find_plan(&key, make_elementwise, c, &plan, &facts);
  end_key(&key);
  if (done != DONE) return done;
  if (!c->has_out) done = make_array(&c->operand[0], facts.rank, facts.shape, &array, &c->out);
  if (done == DONE) {
    int64_t bytes = elements_of(c->out.rank, c->out.shape);
    for (int i = 0; i < c->operands; ++i) bytes += elements_of(c->operand[i].rank, c->operand[i].shape);
    done = execute_elementwise(&facts, c->operand, c->operands, &c->out, bytes * c->out.type.bytes);
  }
  Py_DECREF(plan);
  if (done != DONE) {
    Py_XDECREF(array);
    return done;
  }
  return finish_result(&c->operand[0], facts.rank, given, array, result);
}

/* Plain arguments only: others are for the function in Python. */
static bool take_numbers(combination *c) {
  PyObject *const *values = c->values;
  if (values[CONJ] && values[CONJ] != Py_None) return false;
  c->op[0] = take_operator(values[OP]);
  c->op[1] = take_operator(values[OP2]);
  for (int i = 0; i < MOST_COMBINED; ++i)
    if (!take_scalar(values[ALPHA + i], &c->operand[0].type, c->scalar[i])) return false;
  return c->op[0] >= 0 && c->op[1] >= 0 && take_threads(values[THREADS], &c->threads);
}

static outcome combine(combination *c, PyObject **result) {
  PyObject *given = c->values[OUT] == Py_None ? NULL : c->values[OUT];
  outcome taken = DONE;
  int views = 0;
  c->has_out = given;
  for (; views < c->operands && taken == DONE; ++views) {
    view *v = &c->operand[views];
    taken = take_view(c->values[A + views], false, v);
    if (taken != DONE) break;
    if (!same_place(&c->operand[0], v) || !elements_of(v->rank, v->shape) || !multiplies(v)) taken = LEFT;
  }
  if (taken == DONE && given) {
    taken = take_view(given, true, &c->out);
    if (taken == DONE) {
      const bool fits = same_place(&c->operand[0], &c->out) && elements_of(c->out.rank, c->out.shape) &&
                        !repeats(&c->out) && take_numbers(c);
      taken = fits ? execute_combination(c, given, result) : LEFT;
      release_view(&c->out);
    }
  } else if (taken == DONE) {
    taken = take_numbers(c) ? execute_combination(c, NULL, result) : LEFT;
  }
  while (views > 0) release_view(&c->operand[--views]);
  return taken;
}

PyObject *elementwise(PyObject *nothing, PyObject *const *given, Py_ssize_t count, PyObject *names) {
  (void)nothing;
  PyObject *values[MOST_NAMES], *result = NULL;
  outcome done = LEFT;
  if (take_arguments(&elementwise_names, given, count, names, values) && values[SPEC] && values[A] && values[B] &&
      PyUnicode_CheckExact(values[SPEC])) {
    combination c = {.values = values, .operands = values[C] && values[C] != Py_None ? 3 : 2};
    done = combine(&c, &result);
  }
  return done == LEFT ? call_in_python(elementwise_names.in_python, given, count, names) : result;
}
