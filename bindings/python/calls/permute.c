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
  const asked *asked;
} transposition;

static PyObject *make_permutation(const void *what, bool again) {
  (void)again;
  const transposition *t = what;
  const Py_ssize_t scalar_bytes = t->asked->scale.code ? 16 : 0;
  PyObject *shape = tuple_of(t->in->rank, t->in->shape), *axes = tuple_of(t->in->rank, t->asked->axis);
  PyObject *strides = tuple_of(t->in->rank, t->in->strides), *out_strides = tuple_of(t->out->rank, t->out->strides);
  PyObject *made = NULL;
  if (shape && axes && strides && out_strides)
    made = PyObject_CallFunction(python.create_permutation, "iiOOOOy#y#iLii", t->in->type.number, t->asked->scale.code,
                                 shape, axes, strides, out_strides, t->asked->scale.alpha, scalar_bytes,
                                 t->asked->scale.beta, scalar_bytes, (int)t->asked->scale.conjugate,
                                 (long long)t->asked->threads, t->in->device, (int)is_vouched_for(t->in));
  Py_XDECREF(shape);
  Py_XDECREF(axes);
  Py_XDECREF(strides);
  Py_XDECREF(out_strides);
  return made;
}

static void make_key(plan_key *key, const transposition *t) {
  const view *in = t->in;
  begin_key(key);
  add(key, KEY_OF_TRANSPOSE);
  add(key, in->rank | (int64_t)t->asked->scale.code << 8 | (int64_t)t->asked->scale.conjugate << 16 |
               (int64_t)is_vouched_for(in) << 17 | (int64_t)((uint64_t)in->device << 32));
  add(key, in->type.number | t->asked->threads << 32);
  if (t->asked->scale.code) {
    add_all(key, 2, (const int64_t[]){0, 0});
    add_all(key, 2, (const int64_t[]){0, 0});
    memcpy(key->word + 3, t->asked->scale.alpha, 16);
    memcpy(key->word + 5, t->asked->scale.beta, 16);
  }
  add_all(key, in->rank, in->shape);
  add_all(key, in->rank, t->asked->axis);
  add_all(key, in->rank, in->strides);
  add_all(key, in->rank, t->out->strides);
}

outcome take_transposition(const view *in, PyObject *const *values, asked *a) {
  a->threads = 0;
  if (!take_axes(values[TRANSPOSE_AXES], in->rank, a->axis)) return LEFT;
  if (!take_scaling(values[TRANSPOSE_ALPHA], values[TRANSPOSE_BETA], values[TRANSPOSE_CONJ], &in->type, false,
                    &a->scale))
    return LEFT;
  if (!take_threads(values[TRANSPOSE_THREADS], &a->threads)) return LEFT;
  if (a->scale.code && !whole_steps(in)) return LEFT;
  for (int i = 0; i < in->rank; ++i) a->shape[i] = in->shape[a->axis[i]];
  a->bytes = elements_of(in->rank, a->shape) * 2 * in->type.bytes;
  return a->bytes ? DONE : LEFT;
}

outcome plan_transposition(const view *in, const view *out, const asked *a, PyObject **plan, plan_facts *facts) {
  const transposition t = {in, out, a};
  plan_key key;
  make_key(&key, &t);
  const outcome found = find_plan(&key, make_permutation, &t, plan, facts);
  end_key(&key);
  return found;
}

signature transpose_names = {
    2, TRANSPOSE_NAMES, {"a", "axes", "out", "alpha", "beta", "conj", "threads"}, {NULL}, NULL};

static outcome transpose_view(const view *in, PyObject *const *values, PyObject **result) {
  asked what;
  view out;
  outcome ready = take_transposition(in, values, &what);
  if (ready != DONE) return ready;
  PyObject *given = values[TRANSPOSE_OUT] == Py_None ? NULL : values[TRANSPOSE_OUT], *array = NULL, *plan = NULL;
  if (given) {
    ready = take_view(given, true, &out);
    if (ready == DONE && (!same_place(in, &out) || !same_shape(in->rank, what.shape, &out) || repeats(&out))) {
      release_view(&out);
      return LEFT;
    }
  } else {
    if (what.scale.adds) return LEFT;
    ready = make_array(in, in->rank, what.shape, &array, &out);
  }
  if (ready != DONE) return ready;
  plan_facts facts;
  outcome done = plan_transposition(in, &out, &what, &plan, &facts);
  if (done == DONE) {
    done = execute_permutation(facts.plan, in, &out, what.bytes);
    Py_DECREF(plan);
  }
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
  if (take_arguments(&transpose_names, given, count, names, values) && values[TRANSPOSE_A]) {
    view in;
    done = take_view(values[TRANSPOSE_A], false, &in);
    if (done == DONE) {
      done = transpose_view(&in, values, &result);
      release_view(&in);
    }
  }
  return done == LEFT ? call_in_python(transpose_names.in_python, given, count, names) : result;
}
