/* cutt.transpose (calls.h). */
#include <string.h>

#include "calls.h"

/* ---------------------------------------------------------------------------------------------------------- transpose */

/* An int, or what says which one it is, as NumPy's integers do; false leaves the words to the function in Python. */
static bool take_axis(PyObject *value, long *number) {
  int overflow = 0;
  if (value && PyLong_CheckExact(value)) {
    *number = PyLong_AsLongAndOverflow(value, &overflow);
    return !overflow;
  }
  Py_XINCREF(value); /* it may be of a list that its own code changes */
  PyObject *index = value && PyIndex_Check(value) ? PyNumber_Index(value) : NULL;
  Py_XDECREF(value);
  if (index) *number = PyLong_AsLongAndOverflow(index, &overflow);
  Py_XDECREF(index);
  PyErr_Clear();
  return index && !overflow;
}

/* axes as numbers from 0, each there once; NULL or None: in reverse order. */
static bool take_axes(PyObject *axes, int rank, int64_t *axis) {
  if (!axes || axes == Py_None) {
    for (int i = 0; i < rank; ++i) axis[i] = rank - 1 - i;
    return true;
  }
  if ((PyObject *)Py_TYPE(axes) == python.numpy_array) {
    PyObject *values = PySequence_Tuple(axes);
    const bool taken = values && take_axes(values, rank, axis);
    Py_XDECREF(values);
    PyErr_Clear();
    return taken;
  }
  const bool is_tuple = PyTuple_CheckExact(axes);
  if (!is_tuple && !PyList_CheckExact(axes)) return false;
  if ((is_tuple ? PyTuple_Size(axes) : PyList_Size(axes)) != rank) return false;
  unsigned seen = 0;
  for (int i = 0; i < rank; ++i) {
    PyObject *value = is_tuple ? PyTuple_GetItem(axes, i) : PyList_GetItem(axes, i);
    long number = 0;
    if (!take_axis(value, &number) || number < -rank || number >= rank) return false;
    if (number < 0) number += rank;
    if (seen >> number & 1) return false;
    seen |= 1u << number;
    axis[i] = number;
  }
  return true;
}

/* Steps that are whole elements, which arithmetic in place takes. */
static bool whole_steps(const view *v) {
  for (int i = 0; i < v->rank; ++i)
    if (v->shape[i] > 1 && v->strides[i] % v->type.bytes) return false;
  return true;
}

typedef struct transposition {
  const view *in, *out;
  const int64_t *axis;
  const scaling *scale;
  int64_t threads;
} transposition;

static PyObject *make_permutation(const void *what) {
  const transposition *t = what;
  const Py_ssize_t scalar_bytes = t->scale->code ? 16 : 0;
  PyObject *shape = tuple_of(t->in->rank, t->in->shape), *axes = tuple_of(t->in->rank, t->axis);
  PyObject *strides = tuple_of(t->in->rank, t->in->strides), *out_strides = tuple_of(t->out->rank, t->out->strides);
  PyObject *made = NULL;
  if (shape && axes && strides && out_strides)
    made = PyObject_CallFunction(python.create_permutation, "iiOOOOy#y#iLi", t->in->type.number, t->scale->code, shape,
                                 axes, strides, out_strides, t->scale->alpha, scalar_bytes, t->scale->beta,
                                 scalar_bytes, (int)t->scale->conjugate, (long long)t->threads, t->in->device);
  Py_XDECREF(shape);
  Py_XDECREF(axes);
  Py_XDECREF(strides);
  Py_XDECREF(out_strides);
  return made;
}

static void make_key(plan_key *key, const transposition *t) {
  const view *in = t->in;
  key->words = 0;
  key->full = false;
  add(key, KEY_OF_TRANSPOSE);
  add(key, in->rank | (int64_t)t->scale->code << 8 | (int64_t)t->scale->conjugate << 16 |
               (int64_t)((uint64_t)in->device << 32));
  add(key, in->type.number | t->threads << 32);
  if (t->scale->code) {
    add_all(key, 2, (const int64_t[]){0, 0});
    add_all(key, 2, (const int64_t[]){0, 0});
    memcpy(key->word + 3, t->scale->alpha, 16);
    memcpy(key->word + 5, t->scale->beta, 16);
  }
  add_all(key, in->rank, in->shape);
  add_all(key, in->rank, t->axis);
  add_all(key, in->rank, in->strides);
  add_all(key, in->rank, t->out->strides);
}

static outcome execute_transposition(const transposition *t, int64_t bytes) {
  plan_key key;
  plan_facts facts;
  PyObject *plan = NULL;
  make_key(&key, t);
  const outcome found = find_plan(&key, make_permutation, t, &plan, &facts);
  if (found != DONE) return found;
  const outcome done = execute_permutation(facts.plan, t->in, t->out, bytes);
  Py_DECREF(plan);
  return done;
}

enum { A, AXES, OUT, ALPHA, BETA, CONJ, THREADS, TRANSPOSE_NAMES };
signature transpose_names = {
    2, TRANSPOSE_NAMES, {"a", "axes", "out", "alpha", "beta", "conj", "threads"}, {NULL}, NULL};

static outcome transpose_view(const view *in, PyObject *const *values, PyObject **result) {
  int64_t axis[MOST_AXES], shape[MOST_AXES], threads = 0;
  scaling scale;
  view out;
  if (!take_axes(values[AXES], in->rank, axis)) return LEFT;
  if (!take_scaling(values[ALPHA], values[BETA], values[CONJ], &in->type, false, &scale)) return LEFT;
  if (!take_threads(values[THREADS], &threads)) return LEFT;
  if (scale.code && !whole_steps(in)) return LEFT;
  for (int i = 0; i < in->rank; ++i) shape[i] = in->shape[axis[i]];
  const int64_t bytes = elements_of(in->rank, shape) * 2 * in->type.bytes;
  if (!bytes) return LEFT;
  PyObject *given = values[OUT] == Py_None ? NULL : values[OUT], *array = NULL;
  outcome ready;
  if (given) {
    ready = take_view(given, true, &out);
    if (ready == DONE && (!same_place(in, &out) || !same_shape(in->rank, shape, &out) || repeats(&out))) {
      release_view(&out);
      return LEFT;
    }
  } else {
    if (scale.adds) return LEFT;
    ready = make_array(in, in->rank, shape, &array, &out);
  }
  if (ready != DONE) return ready;
  const transposition t = {in, &out, axis, &scale, threads};
  const outcome done = execute_transposition(&t, bytes);
  release_view(&out);
  if (done != DONE) {
    Py_XDECREF(array);
    return done;
  }
  Py_XINCREF(given);
  *result = given ? given : finish_array(in, array);
  return *result ? DONE : FAILED;
}

PyObject *transpose(PyObject *nothing, PyObject *const *given, Py_ssize_t count, PyObject *names) {
  (void)nothing;
  PyObject *values[MOST_NAMES], *result = NULL;
  outcome done = LEFT;
  if (take_arguments(&transpose_names, given, count, names, values) && values[A]) {
    view in;
    done = take_view(values[A], false, &in);
    if (done == DONE) {
      done = transpose_view(&in, values, &result);
      release_view(&in);
    }
  }
  return done == LEFT ? call_in_python(transpose_names.in_python, given, count, names) : result;
}
