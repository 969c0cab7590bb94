/* The base of cutt.Plan, ContractionPlan and ElementwisePlan: a call of one is compared with what was planned, and executed (calls.h).
 * What differs in any way goes to the method _call() of the plan, which has the words for it. */
#include "prepared.h"

bool fits_layout(const layout *l, const view *v) {
  if (!same_shape(l->rank, l->shape, v)) return false;
  for (int i = 0; i < l->rank; ++i)
    if (l->shape[i] > 1 && l->strides[i] != v->strides[i]) return false;
  return true;
}

/* A workspace of the caller's: enough memory of the operands' library and device, contiguous, aligned, and apart from the tensors. To be
 * released after DONE only. */
static outcome take_workspace(const prepared *p, const view *v, PyObject *given, view *space) {
  const uintptr_t alignment = v[0].device == ON_CPU ? 64 : 256;
  const outcome done = take_view(given, true, space);
  if (done != DONE) return done;
  const int64_t elements = elements_of(space->rank, space->shape);
  bool plain = space->library == v[0].library && space->device == v[0].device && elements > 0 && is_packed(space) &&
               (size_t)(elements * space->type.bytes) >= p->facts.workspace && (uintptr_t)space->data % alignment == 0;
  const span own = span_of(space, true);
  for (int i = 0; i <= p->operands; ++i) {
    const span other = span_of(&v[i], false);
    plain = plain && !overlap(&own, &other);
  }
  if (plain) return DONE;
  release_view(space);
  return LEFT;
}

static outcome contract_prepared(const prepared *p, const view *v, PyObject *workspace, int64_t bytes) {
  view space;
  if (!workspace) return execute_contraction(&p->facts, &v[0], &v[1], &v[2], NULL, bytes);
  outcome done = take_workspace(p, v, workspace, &space);
  if (done != DONE) return done;
  done = execute_contraction(&p->facts, &v[0], &v[1], &v[2], space.data, bytes);
  release_view(&space);
  return done;
}

static outcome execute_prepared(const prepared *p, view *v, PyObject *given, PyObject *workspace, PyObject **result) {
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
  if (!fits_layout(l, &v[n]) || repeats(&v[n]))
    done = LEFT;
  else if (p->facts.kind == PERMUTES)
    done = execute_permutation(p->facts.plan, &v[0], &v[1], bytes);
  else if (p->facts.kind == COMBINES)
    done = execute_elementwise(&p->facts, v, n, &v[n], bytes);
  else
    done = contract_prepared(p, v, workspace, bytes);
  release_view(&v[n]);
  if (done != DONE) {
    Py_XDECREF(array);
    return done;
  }
  Py_XINCREF(given);
  *result = given ? given : finish_array(&v[0], array);
  return *result ? DONE : FAILED;
}

static outcome call_prepared(const prepared *p, PyObject *arguments, PyObject *out, PyObject *workspace,
                             PyObject **result) {
  view v[MOST_ARRAYS];
  int views = 0;
  v[0].type.number = -1;
  v[0].device = ON_CPU;
  outcome done = DONE;
  for (; views < p->operands && done == DONE; ++views) {
    done = take_view(PyTuple_GetItem(arguments, views), false, &v[views]);
    if (done != DONE) break;
    if (!fits_layout(&p->array[views], &v[views]) || !same_place(&v[0], &v[views])) done = LEFT;
  }
  if (done == DONE)
    done =
        v[0].type.number == p->type && v[0].device == p->device ? execute_prepared(p, v, out, workspace, result) : LEFT;
  while (views > 0) release_view(&v[--views]);
  return done;
}

/* plan(a, out=None), plan(left, right, out=None, workspace=None), plan(a, b, c=None, out=None). */
static PyObject *call(PyObject *self, PyObject *arguments, PyObject *names) {
  const prepared *p = (const prepared *)self;
  PyObject *result = NULL, *out = NULL, *workspace = NULL;
  const Py_ssize_t count = PyTuple_Size(arguments), place = p->facts.kind == COMBINES ? 3 : p->operands; /* of out */
  bool plain = p->plan && count >= p->operands && count <= place + 1;
  for (Py_ssize_t i = p->operands; plain && i < count && i < place; ++i)
    plain = PyTuple_GetItem(arguments, i) == Py_None;
  if (plain && count > place) out = PyTuple_GetItem(arguments, place);
  if (plain && names && PyDict_Size(names)) {
    PyObject *named = PyDict_GetItemString(names, "out");
    if (p->facts.kind == CONTRACTS) workspace = PyDict_GetItemString(names, "workspace");
    plain = !(named && out) && PyDict_Size(names) == (named != NULL) + (workspace != NULL);
    if (named) out = named;
  }
  if (plain) {
    const outcome done =
        call_prepared(p, arguments, out == Py_None ? NULL : out, workspace == Py_None ? NULL : workspace, &result);
    if (done != LEFT) return result;
  }
  PyObject *method = PyObject_GetAttrString(self, "_call");
  if (method) result = PyObject_Call(method, arguments, names);
  Py_XDECREF(method);
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
