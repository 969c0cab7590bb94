/* The base of cutt.Plan and cutt.ContractionPlan: a call of one is compared with what was planned, and executed (calls.h).
 * What differs in any way goes to the method _call() of the plan, which has the words for it. */
#include <stdlib.h>

#include "calls.h"

enum { MOST_ARRAYS = 3 }; /* the operands, and last the result */

typedef struct layout {
  int rank;
  int64_t shape[MOST_AXES], strides[MOST_AXES];
} layout;

typedef struct prepared {
  PyObject object;
  PyObject *plan; /* NULL: every call is for the method in Python */
  plan_facts facts;
  layout array[MOST_ARRAYS];
  int operands, type, device, adds;
} prepared;

static bool fits(const layout *l, const view *v) {
  if (!same_shape(l->rank, l->shape, v)) return false;
  for (int i = 0; i < l->rank; ++i)
    if (l->shape[i] > 1 && l->strides[i] != v->strides[i]) return false;
  return true;
}

static outcome execute_prepared(const prepared *p, view *v, PyObject *given, PyObject **result) {
  const int n = p->operands;
  const layout *l = &p->array[n];
  PyObject *array = NULL;
  outcome done;
  if (given) {
    done = take_view(given, true, &v[n]);
    if (done == DONE && !same_place(&v[0], &v[n])) {
      release_view(&v[n]);
      return LEFT;
    }
  } else {
    if (p->adds) return LEFT;
    done = make_array(&v[0], l->rank, l->shape, &array, &v[n]);
  }
  if (done != DONE) return done;
  int64_t bytes = 0;
  for (int i = 0; i <= n; ++i) bytes += elements_of(v[i].rank, v[i].shape);
  bytes *= v[0].type.bytes;
  if (!fits(l, &v[n]) || repeats(&v[n]))
    done = LEFT;
  else if (p->facts.kind == PERMUTES)
    done = execute_permutation(p->facts.plan, &v[0], &v[1], bytes);
  else
    done = execute_contraction(&p->facts, &v[0], &v[1], &v[2], bytes);
  release_view(&v[n]);
  if (done != DONE) {
    Py_XDECREF(array);
    return done;
  }
  Py_XINCREF(given);
  *result = given ? given : finish_array(&v[0], array);
  return *result ? DONE : FAILED;
}

static outcome call_prepared(const prepared *p, PyObject *arguments, PyObject *out, PyObject **result) {
  view v[MOST_ARRAYS];
  int views = 0;
  v[0].type.number = -1;
  v[0].device = ON_CPU;
  outcome done = DONE;
  for (; views < p->operands && done == DONE; ++views) {
    done = take_view(PyTuple_GetItem(arguments, views), false, &v[views]);
    if (done != DONE) break;
    if (!fits(&p->array[views], &v[views]) || !same_place(&v[0], &v[views])) done = LEFT;
  }
  if (done == DONE)
    done = v[0].type.number == p->type && v[0].device == p->device ? execute_prepared(p, v, out, result) : LEFT;
  while (views > 0) release_view(&v[--views]);
  return done;
}

/* plan(a, out=None), plan(left, right, out=None). A workspace of the caller's is for the method in Python. */
static PyObject *call(PyObject *self, PyObject *arguments, PyObject *names) {
  const prepared *p = (const prepared *)self;
  PyObject *result = NULL, *out = NULL;
  const Py_ssize_t count = PyTuple_Size(arguments);
  bool plain = p->plan && (count == p->operands || count == p->operands + 1);
  if (plain && count == p->operands + 1) out = PyTuple_GetItem(arguments, p->operands);
  if (plain && names && PyDict_Size(names)) {
    PyObject *named = PyDict_GetItemString(names, "out");
    plain = named && !out && PyDict_Size(names) == 1;
    out = named;
  }
  if (plain) {
    const outcome done = call_prepared(p, arguments, out == Py_None ? NULL : out, &result);
    if (done != LEFT) return result;
  }
  PyObject *method = PyObject_GetAttrString(self, "_call");
  if (method) result = PyObject_Call(method, arguments, names);
  Py_XDECREF(method);
  return result;
}

/* ------------------------------------------------------------------------------------------------------------- batches */

/* Of one of the arrays of a batch: the bytes that it spans. */
typedef struct span {
  uintptr_t low, high;
  bool written;
} span;

/* What has to be released of a view. */
typedef struct hold {
  dl_managed *managed;
  PyObject *capsule;
} hold;

typedef struct batch {
  Py_ssize_t count, holds;
  view first; /* the first input: all of its library, on its device */
  const void **in;
  void **out;
  span *span;
  hold *hold;
  PyObject *arrays, *given, *made; /* tuples of what was given, and a list of results where none were */
} batch;

/* Most arrays have nothing to be released, and thousands of whole views would not stay in the cache. */
static void hold_view(batch *b, const view *v) {
  if (v->managed || v->capsule) b->hold[b->holds++] = (hold){v->managed, v->capsule};
}

static void free_batch(batch *b) {
  while (b->holds > 0) {
    const hold *last = &b->hold[--b->holds];
    view v = {.managed = last->managed, .capsule = last->capsule};
    release_view(&v);
  }
  free((void *)b->in);
  free(b->out);
  free(b->span);
  free(b->hold);
  Py_XDECREF(b->arrays);
  Py_XDECREF(b->given);
  Py_XDECREF(b->made);
}

static span span_of(const view *v, bool written) {
  span s = {(uintptr_t)v->data, (uintptr_t)v->data + (uintptr_t)v->type.bytes, written};
  for (int i = 0; i < v->rank; ++i) {
    const int64_t reach = (v->shape[i] - 1) * v->strides[i];
    if (reach < 0)
      s.low -= (uintptr_t)-reach;
    else
      s.high += (uintptr_t)reach;
  }
  return s;
}

static int by_address(const void *left, const void *right) {
  const uintptr_t a = ((const span *)left)->low, b = ((const span *)right)->low;
  return a < b ? -1 : a > b;
}

/* Does no result reach into what another array spans? Where one does, the method in Python looks closer. */
static bool lie_apart(span *spans, Py_ssize_t count) {
  qsort(spans, (size_t)count, sizeof *spans, by_address);
  uintptr_t any = 0, results = 0; /* where those before end */
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (spans[i].low < (spans[i].written ? any : results)) return false;
    if (spans[i].high > any) any = spans[i].high;
    if (spans[i].written && spans[i].high > results) results = spans[i].high;
  }
  return true;
}

static outcome take_pair(const prepared *p, batch *b, Py_ssize_t at) {
  view in, out;
  outcome done = take_view(PyTuple_GetItem(b->arrays, at), false, &in);
  if (done != DONE) return done;
  hold_view(b, &in);
  if (!at) b->first = in;
  if (!fits(&p->array[0], &in) || in.type.number != p->type || in.device != p->device || in.library != b->first.library)
    return LEFT;
  if (b->given) {
    done = take_view(PyTuple_GetItem(b->given, at), true, &out);
  } else {
    PyObject *array = NULL;
    done = make_array(&in, p->array[1].rank, p->array[1].shape, &array, &out);
    if (done == DONE && PyList_SetItem(b->made, at, array)) return FAILED;
  }
  if (done != DONE) return done;
  hold_view(b, &out);
  if (!same_place(&in, &out) || !fits(&p->array[1], &out) || repeats(&out)) return LEFT;
  b->in[at] = in.data;
  b->out[at] = out.data;
  b->span[2 * at] = span_of(&in, false);
  b->span[2 * at + 1] = span_of(&out, true);
  return DONE;
}

static outcome execute_batch(const prepared *p, batch *b) {
  const size_t count = (size_t)b->count;
  b->in = calloc(count, sizeof *b->in);
  b->out = calloc(count, sizeof *b->out);
  b->span = calloc(2 * count, sizeof *b->span);
  b->hold = calloc(2 * count, sizeof *b->hold);
  if (!b->in || !b->out || !b->span || !b->hold) {
    PyErr_NoMemory();
    return FAILED;
  }
  for (Py_ssize_t i = 0; i < b->count; ++i) {
    const outcome taken = take_pair(p, b, i);
    if (taken != DONE) return taken;
  }
  if (b->given && !lie_apart(b->span, 2 * b->count)) return LEFT;
  const int64_t bytes = elements_of(p->array[0].rank, p->array[0].shape) * 2 * b->first.type.bytes * b->count;
  return execute_permutations(p->facts.plan, b->count, b->in, b->out, &b->first, bytes);
}

/* What the caller is given of the results that were made here: of some libraries that is another object. */
static PyObject *finished(batch *b) {
  for (Py_ssize_t i = 0; i < b->count; ++i) {
    PyObject *array = PyList_GetItem(b->made, i);
    Py_INCREF(array);
    PyObject *result = finish_array(&b->first, array);
    if (!result || PyList_SetItem(b->made, i, result)) return NULL;
  }
  Py_INCREF(b->made);
  return b->made;
}

/* _batch(arrays, out): as execute_batch() of cutt.Plan, or NotImplemented where that has to see to it. */
static PyObject *call_batch(PyObject *self, PyObject *arguments) {
  const prepared *p = (const prepared *)self;
  PyObject *arrays, *out, *result = NULL;
  if (!PyArg_ParseTuple(arguments, "OO", &arrays, &out)) return NULL;
  batch b = {.count = 0};
  outcome done = LEFT;
  const bool lists = (PyList_CheckExact(arrays) || PyTuple_CheckExact(arrays)) &&
                     (out == Py_None || PyList_CheckExact(out) || PyTuple_CheckExact(out));
  if (p->plan && p->facts.kind == PERMUTES && lists && !(p->adds && out == Py_None)) {
    b.arrays = PySequence_Tuple(arrays); /* held: what is called meanwhile may change the lists */
    b.count = b.arrays ? PyTuple_Size(b.arrays) : 0;
    if (out == Py_None)
      b.made = PyList_New(b.count);
    else
      b.given = PySequence_Tuple(out);
    if (!b.arrays || (!b.made && !b.given))
      done = FAILED;
    else if (b.count && b.count <= INT32_MAX && (b.made || PyTuple_Size(b.given) == b.count))
      done = execute_batch(p, &b);
  }
  if (done == DONE && b.given) {
    Py_INCREF(out);
    result = out;
  } else if (done == DONE) {
    result = finished(&b);
  } else if (done == LEFT) {
    Py_INCREF(Py_NotImplemented);
    result = Py_NotImplemented;
  }
  free_batch(&b);
  return result;
}

/* ------------------------------------------------------------------------------------------------------------ preparing */

static bool take_numbers(PyObject *values, int rank, int64_t *numbers) {
  if (PyTuple_Size(values) != rank) return false;
  for (int i = 0; i < rank; ++i) numbers[i] = PyLong_AsLongLong(PyTuple_GetItem(values, i));
  return !PyErr_Occurred();
}

/* prepare(facts, type, device, adds, layouts): facts as find_plan() takes them; layouts are (shape, strides in bytes) of
 * the operands and of the result. Nothing is prepared where there are more axes than are served here. */
static PyObject *prepare(PyObject *self, PyObject *arguments) {
  prepared *p = (prepared *)self;
  PyObject *said, *layouts, *plan = NULL;
  if (!PyArg_ParseTuple(arguments, "O!iipO!", &PyTuple_Type, &said, &p->type, &p->device, &p->adds, &PyTuple_Type,
                        &layouts))
    return NULL;
  const Py_ssize_t arrays = PyTuple_Size(layouts);
  if (arrays < 2 || arrays > MOST_ARRAYS) return PyErr_Format(PyExc_ValueError, "there are %zd layouts", arrays);
  for (Py_ssize_t i = 0; i < arrays; ++i) {
    PyObject *shape, *strides;
    layout *l = &p->array[i];
    if (!PyArg_ParseTuple(PyTuple_GetItem(layouts, i), "O!O!", &PyTuple_Type, &shape, &PyTuple_Type, &strides))
      return NULL;
    if (PyTuple_Size(shape) > MOST_AXES) Py_RETURN_NONE;
    l->rank = (int)PyTuple_Size(shape);
    if (!take_numbers(shape, l->rank, l->shape) || !take_numbers(strides, l->rank, l->strides)) return NULL;
    if (!elements_of(l->rank, l->shape)) Py_RETURN_NONE;
  }
  if (!read_facts(said, &plan, &p->facts)) return NULL;
  p->operands = (int)arrays - 1;
  PyObject *before = p->plan;
  p->plan = plan;
  Py_XDECREF(before);
  Py_RETURN_NONE;
}

static void destroy(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(((prepared *)self)->plan);
  ((freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"_prepare", prepare, METH_VARARGS, "Has calls served here from now on."},
    {"_batch", call_batch, METH_VARARGS, "execute_batch() where it is served here, else NotImplemented."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)(uintptr_t)destroy},
    {Py_tp_call, (void *)(uintptr_t)call},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec prepared_spec = {"cutt._calls.Prepared", sizeof(prepared), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                             slots};
