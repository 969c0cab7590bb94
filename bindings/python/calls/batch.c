/* Many arrays by one call (calls.h): execute_batch() of cutt.Plan, and cutt.batch, whose arrays may be of different shapes.
 *
 * All arrays of a call are of one library and on one device. What is not so, or overlaps, goes to the functions in Python. */
#include <stdlib.h>

#include "prepared.h"

/* What has to be released of a view. */
typedef struct hold {
  dl_managed *managed;
  PyObject *capsule;
} hold;

typedef struct batch {
  Py_ssize_t count, holds;
  view first; /* the first input */
  const void **in;
  void **out;
  span *span; /* of an input and of its result, by turns */
  hold *hold;
  const void **address; /* of a plan for each pair, and the plans, where they are not all the same */
  PyObject **plan;
  PyObject *arrays, *given, *made; /* tuples of what was given, and a list of results where none were */
} batch;

static bool is_list(PyObject *value) { return value && (PyList_CheckExact(value) || PyTuple_CheckExact(value)); }

/* out: NULL or None, or as many arrays. LEFT where it is no plain list of at least one. */
static outcome open_batch(PyObject *arrays, PyObject *out, bool plans, batch *b) {
  const bool given = out && out != Py_None;
  if (!is_list(arrays) || (given && !is_list(out))) return LEFT;
  b->arrays = PySequence_Tuple(arrays); /* held: what is called meanwhile may change the lists */
  if (!b->arrays) return FAILED;
  b->count = PyTuple_Size(b->arrays);
  if (!b->count || b->count > INT32_MAX) return LEFT;
  if (given)
    b->given = PySequence_Tuple(out);
  else
    b->made = PyList_New(b->count);
  if (!b->given && !b->made) return FAILED;
  if (b->given && PyTuple_Size(b->given) != b->count) return LEFT;
  const size_t count = (size_t)b->count;
  b->in = malloc(count * sizeof *b->in);
  b->out = malloc(count * sizeof *b->out);
  b->span = malloc(2 * count * sizeof *b->span);
  b->hold = malloc(2 * count * sizeof *b->hold);
  if (plans) {
    b->address = malloc(count * sizeof *b->address);
    b->plan = calloc(count, sizeof *b->plan);
  }
  if (b->in && b->out && b->span && b->hold && (!plans || (b->address && b->plan))) return DONE;
  PyErr_NoMemory();
  return FAILED;
}

/* Most arrays have nothing to be released, and thousands of whole views would not stay in the cache. */
static void hold_view(batch *b, const view *v) {
  if (v->managed || v->capsule) b->hold[b->holds++] = (hold){v->managed, v->capsule};
}

static void close_batch(batch *b) {
  while (b->holds > 0) {
    const hold *last = &b->hold[--b->holds];
    view v = {.managed = last->managed, .capsule = last->capsule};
    release_view(&v);
  }
  for (Py_ssize_t i = 0; b->plan && i < b->count; ++i) Py_XDECREF(b->plan[i]);
  free((void *)b->in);
  free(b->out);
  free(b->span);
  free(b->hold);
  free((void *)b->address);
  free(b->plan);
  Py_XDECREF(b->arrays);
  Py_XDECREF(b->given);
  Py_XDECREF(b->made);
}

/* The input of a pair. It has to be held at once. */
static outcome take_input(batch *b, Py_ssize_t at, view *in) {
  const outcome done = take_view(PyTuple_GetItem(b->arrays, at), false, in);
  if (done != DONE) return done;
  hold_view(b, in);
  if (!at) b->first = *in;
  return in->library == b->first.library && in->device == b->first.device ? DONE : LEFT;
}

/* Its result, a new one where none is given. */
static outcome take_result(batch *b, Py_ssize_t at, const view *in, int rank, const int64_t *shape, view *out) {
  outcome done;
  if (b->given) {
    done = take_view(PyTuple_GetItem(b->given, at), true, out);
  } else {
    PyObject *array = NULL;
    done = make_array(in, rank, shape, &array, out);
    if (done == DONE && PyList_SetItem(b->made, at, array)) return FAILED;
  }
  if (done != DONE) return done;
  hold_view(b, out);
  return same_place(in, out) && same_shape(rank, shape, out) && !repeats(out) ? DONE : LEFT;
}

static void set_pair(batch *b, Py_ssize_t at, const view *in, const view *out) {
  b->in[at] = in->data;
  b->out[at] = out->data;
  b->span[2 * at] = span_of(in, false);
  b->span[2 * at + 1] = span_of(out, true);
}

/* What the caller is given: `out`, or the results that were made here, of which some libraries have another object. Of LEFT
 * that is what the function in Python gives. */
static PyObject *close_with(batch *b, outcome done, PyObject *out) {
  PyObject *result = NULL;
  if (done == DONE && b->given) {
    Py_INCREF(out);
    result = out;
  } else if (done == DONE) {
    bool good = true;
    for (Py_ssize_t i = 0; good && i < b->count; ++i) {
      PyObject *array = PyList_GetItem(b->made, i);
      Py_INCREF(array);
      PyObject *finished = finish_array(&b->first, array);
      good = finished && !PyList_SetItem(b->made, i, finished);
    }
    result = good ? b->made : NULL;
    Py_XINCREF(result);
  }
  close_batch(b);
  return result;
}

/* ------------------------------------------------------------------------------------------------------- of one plan */

static outcome execute_batch(const prepared *p, batch *b) {
  const layout *from = &p->array[0], *to = &p->array[1];
  for (Py_ssize_t i = 0; i < b->count; ++i) {
    view in, out;
    outcome taken = take_input(b, i, &in);
    if (taken == DONE && (!fits_layout(from, &in) || in.type.number != p->type || in.device != p->device)) taken = LEFT;
    if (taken == DONE) taken = take_result(b, i, &in, to->rank, to->shape, &out);
    if (taken == DONE && !fits_layout(to, &out)) taken = LEFT;
    if (taken != DONE) return taken;
    set_pair(b, i, &in, &out);
  }
  if (b->given && !lie_apart(b->span, b->count)) return LEFT;
  const int64_t bytes = elements_of(from->rank, from->shape) * 2 * b->first.type.bytes * b->count;
  return execute_permutations(p->facts.plan, NULL, b->count, b->in, b->out, &b->first, bytes);
}

enum { PLAN_ARRAYS, PLAN_OUT, PLAN_BATCH_NAMES };
static signature plan_batch_names = {2, PLAN_BATCH_NAMES, {"arrays", "out"}, {NULL}, NULL};

PyObject *plan_batch(PyObject *self, PyObject *const *given, Py_ssize_t count, PyObject *names) {
  const prepared *p = (const prepared *)self;
  PyObject *values[MOST_NAMES];
  batch b = {.count = 0};
  outcome done = LEFT;
  if (!intern_names(&plan_batch_names)) return NULL;
  const bool plain = take_arguments(&plan_batch_names, given, count, names, values);
  PyObject *out = plain ? values[PLAN_OUT] : NULL;
  if (plain && p->plan && p->facts.kind == PERMUTES && !(p->adds && (!out || out == Py_None))) {
    done = open_batch(values[PLAN_ARRAYS], out, false, &b);
    if (done == DONE) done = execute_batch(p, &b);
  }
  PyObject *result = close_with(&b, done, out);
  if (done != LEFT) return result;
  PyObject *method = PyObject_GetAttrString(self, "_execute_batch");
  result = method ? call_in_python(method, given, count, names) : NULL;
  Py_XDECREF(method);
  return result;
}

/* -------------------------------------------------------------------------------------------------------- of any shapes */

signature batch_names = {
    2, TRANSPOSE_NAMES, {"arrays", "axes", "out", "alpha", "beta", "conj", "threads"}, {NULL}, NULL};

static outcome execute_all(batch *b, PyObject *const *values) {
  int64_t bytes = 0;
  for (Py_ssize_t i = 0; i < b->count; ++i) {
    view in, out;
    plan_facts facts;
    asked what;
    outcome taken = take_input(b, i, &in);
    if (taken == DONE) taken = take_transposition(&in, values, &what);
    if (taken == DONE && !b->given && what.scale.adds) taken = LEFT;
    if (taken == DONE) taken = take_result(b, i, &in, in.rank, what.shape, &out);
    if (taken == DONE) taken = plan_transposition(&in, &out, &what, &b->plan[i], &facts);
    if (taken != DONE) return taken;
    b->address[i] = facts.plan;
    bytes += what.bytes;
    set_pair(b, i, &in, &out);
  }
  if (b->given && !lie_apart(b->span, b->count)) return LEFT;
  return execute_permutations(NULL, b->address, b->count, b->in, b->out, &b->first, bytes);
}

PyObject *transpose_batch(PyObject *nothing, PyObject *const *given, Py_ssize_t count, PyObject *names) {
  (void)nothing;
  PyObject *values[MOST_NAMES];
  batch b = {.count = 0};
  outcome done = LEFT;
  const bool plain = take_arguments(&batch_names, given, count, names, values) && values[0];
  PyObject *out = plain ? values[TRANSPOSE_OUT] : NULL;
  if (plain) {
    done = open_batch(values[0], out, true, &b);
    if (done == DONE) done = execute_all(&b, values);
  }
  PyObject *result = close_with(&b, done, out);
  return done == LEFT ? call_in_python(batch_names.in_python, given, count, names) : result;
}
