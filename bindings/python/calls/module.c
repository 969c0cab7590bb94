/* The module cutt._calls: bind() takes what the files in Python give, and transpose(), einsum() and others make of a
 * function in Python the one that serves plain calls and leaves the others to it (calls.h). */
#include <stdlib.h>
#include <string.h>

#include "calls.h"

host python;

/* ---------------------------------------------------------------------------------------------------------------- bind */

static bool take_attribute(PyObject *from, const char *name, PyObject **value) {
  PyObject *before = *value;
  *value = PyObject_GetAttrString(from, name);
  Py_XDECREF(before);
  return *value;
}

static bool take_address(PyObject *from, const char *name, void **address) {
  PyObject *value = PyObject_GetAttrString(from, name);
  *address = value ? PyLong_AsVoidPtr(value) : NULL;
  Py_XDECREF(value);
  return !PyErr_Occurred();
}

/* NumPy's struct has been the same since before 1.22; if it ever is another one, nothing may be read by it. */
static bool array_is_known(PyObject *sample, PyObject *facts) {
  const numpy_array *a = (const numpy_array *)sample;
  PyObject *address, *dtype;
  Py_ssize_t shape[2], strides[2];
  if (!PyArg_ParseTuple(facts, "O(nn)(nn)O", &address, &shape[0], &shape[1], &strides[0], &strides[1], &dtype))
    return false;
  const bool known = a->data == PyLong_AsVoidPtr(address) && a->rank == 2 && a->dtype == dtype &&
                     a->shape[0] == shape[0] && a->shape[1] == shape[1] && a->strides[0] == strides[0] &&
                     a->strides[1] == strides[1] && a->flags & NUMPY_WRITEABLE;
  if (!known && !PyErr_Occurred())
    PyErr_SetString(PyExc_ImportError, "NumPy's arrays are not laid out as those of 1.x and 2.x");
  return known;
}

static bool bind_numpy(PyObject *from) {
  PyObject *table = NULL, *sample = NULL, *facts = NULL;
  bool good = take_attribute(from, "numpy_array", &python.numpy_array) && take_attribute(from, "numpy_table", &table) &&
              take_attribute(from, "numpy_sample", &sample) && take_attribute(from, "numpy_facts", &facts) &&
              array_is_known(sample, facts);
  if (good) {
    void **functions = PyCapsule_GetPointer(table, NULL);
    good = functions;
    if (good) python.numpy_new = (numpy_new *)(uintptr_t)functions[NUMPY_NEW_FROM_DTYPE];
  }
  Py_XDECREF(table);
  Py_XDECREF(sample);
  Py_XDECREF(facts);
  return good;
}

/* bind(host): an object with the attributes that calls.h lists. Done once, before any other call; tests do it again. */
static PyObject *bind(PyObject *module, PyObject *from) {
  (void)module;
  void *execute = NULL, *execute_batch = NULL, *execute_plans = NULL;
  forget_places();
  if (!take_attribute(from, "check", &python.check) ||
      !take_attribute(from, "describe_dtype", &python.describe_dtype) ||
      !take_attribute(from, "describe_dlpack", &python.describe_dlpack) ||
      !take_attribute(from, "describe_library", &python.describe_library) ||
      !take_attribute(from, "create_permutation", &python.create_permutation) ||
      !take_attribute(from, "create_einsum", &python.create_einsum) ||
      !take_attribute(from, "create_elementwise", &python.create_elementwise) ||
      !take_attribute(from, "create_network", &python.create_network) ||
      !take_attribute(from, "take_memory", &python.take_memory) ||
      !take_attribute(from, "give_memory", &python.give_memory) ||
      !take_attribute(from, "numpy_einsum", &python.numpy_einsum) || !take_attribute(from, "driver", &python.driver) ||
      !take_attribute(from, "primary_context", &python.primary_context) ||
      !take_attribute(from, "make_jax", &python.make_jax) || !take_attribute(from, "finish_jax", &python.finish_jax) ||
      !take_attribute(from, "plans", &kept_plans) || !take_address(from, "execute", &execute) ||
      !take_address(from, "execute_batch", &execute_batch) || !take_address(from, "execute_plans", &execute_plans) ||
      !bind_numpy(from))
    return NULL;
  python.execute = (cuttResult(*)(const void *, const void *, void *, void *))(uintptr_t)execute;
  python.execute_batch =
      (cuttResult(*)(const void *, int64_t, const void *const *, void *const *, void *))(uintptr_t)execute_batch;
  python.execute_plans =
      (cuttResult(*)(int64_t, const void *const *, const void *const *, void *const *, void *))(uintptr_t)execute_plans;
  Py_RETURN_NONE;
}

/* bind_contraction(addresses of cuttContractionExecute and of cuttElementwiseExecute), whose library is loaded when it is first
 * wanted. */
static PyObject *bind_contraction(PyObject *module, PyObject *addresses) {
  (void)module;
  PyObject *of_contract, *of_combine;
  if (!PyArg_ParseTuple(addresses, "OO", &of_contract, &of_combine)) return NULL;
  void *contract = PyLong_AsVoidPtr(of_contract), *combine = PyLong_AsVoidPtr(of_combine);
  if (PyErr_Occurred()) return NULL;
  python.contract =
      (cuttResult(*)(const void *, const void *, const void *, void *, void *, size_t, void *))(uintptr_t)contract;
  python.combine =
      (cuttResult(*)(const void *, const void *, const void *, const void *, void *, void *))(uintptr_t)combine;
  Py_RETURN_NONE;
}

/* ----------------------------------------------------------------------------------------------------------- functions */

typedef PyObject *vector_call(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);

/* A definition that lives as long as the process, as those of modules do; NULL: no memory. */
static PyMethodDef *define(const char *name, const char *text, vector_call *call) {
  PyMethodDef *definition = malloc(sizeof *definition);
  char *kept = malloc(strlen(name) + strlen(text) + 2);
  if (!definition || !kept) {
    free(definition);
    free(kept);
    PyErr_NoMemory();
    return NULL;
  }
  strcpy(kept, name);
  char *kept_text = strcpy(kept + strlen(name) + 1, text);
  *definition = (PyMethodDef){kept, (PyCFunction)(uintptr_t)call, METH_FASTCALL | METH_KEYWORDS, kept_text};
  return definition;
}

/* A function with the name, the signature and the text of one in Python, which it leaves calls to. It is bound to nothing,
 * so that it is pickled by its name. */
static PyObject *function_of(PyObject *arguments, vector_call *call, signature *names) {
  PyObject *in_python, *module, *before = names->in_python;
  const char *name, *text;
  if (!PyArg_ParseTuple(arguments, "OssO", &in_python, &name, &text, &module) || !intern_names(names)) return NULL;
  PyMethodDef *definition = define(name, text, call);
  if (!definition) return NULL;
  Py_INCREF(in_python);
  names->in_python = in_python;
  Py_XDECREF(before);
  return PyCFunction_NewEx(definition, NULL, module);
}

/* execute_batch(type, name, text): the method of plans, for a type that has prepared_spec's as its base. */
static PyObject *make_plan_batch(PyObject *module, PyObject *arguments) {
  (void)module;
  PyObject *type;
  const char *name, *text;
  if (!PyArg_ParseTuple(arguments, "O!ss", &PyType_Type, &type, &name, &text)) return NULL;
  PyMethodDef *definition = define(name, text, plan_batch);
  return definition ? PyDescr_NewMethod((PyTypeObject *)type, definition) : NULL;
}

static PyObject *make_batch(PyObject *module, PyObject *arguments) {
  (void)module;
  return function_of(arguments, transpose_batch, &batch_names);
}

static PyObject *make_transpose(PyObject *module, PyObject *arguments) {
  (void)module;
  return function_of(arguments, transpose, &transpose_names);
}

static PyObject *make_einsum(PyObject *module, PyObject *arguments) {
  (void)module;
  return function_of(arguments, einsum, &einsum_names);
}

static PyObject *make_reduce(PyObject *module, PyObject *arguments) {
  (void)module;
  return function_of(arguments, reduce, &reduce_names);
}

static PyObject *make_elementwise(PyObject *module, PyObject *arguments) {
  (void)module;
  return function_of(arguments, elementwise, &elementwise_names);
}

/* -------------------------------------------------------------------------------------------------------------- module */

static PyMethodDef functions[] = {
    {"bind", bind, METH_O, "Takes what the package's files in Python give."},
    {"bind_contraction", bind_contraction, METH_VARARGS, "Takes the addresses of libcutt_contract's executions."},
    {"transpose", make_transpose, METH_VARARGS, "cutt.transpose, of (function, name, text, module's name)."},
    {"einsum", make_einsum, METH_VARARGS, "cutt.einsum, of (function, name, text, module's name)."},
    {"reduce", make_reduce, METH_VARARGS, "cutt.reduce, of (function, name, text, module's name)."},
    {"elementwise", make_elementwise, METH_VARARGS, "cutt.elementwise, of (function, name, text, module's name)."},
    {"batch", make_batch, METH_VARARGS, "cutt.batch, of (function, name, text, module's name)."},
    {"plan_batch", make_plan_batch, METH_VARARGS, "execute_batch() of cutt.Plan, of (type, name, text)."},
    {"try_einsum", (PyCFunction)(uintptr_t)try_einsum, METH_FASTCALL | METH_KEYWORDS,
     "cutt.einsum where the compiled module serves it, else NotImplemented."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_calls", "The hot path of the package cutt.", -1, functions, NULL, NULL, NULL, NULL};

static bool add_type(PyObject *module, const char *name, PyType_Spec *spec) {
  PyObject *type = PyType_FromSpec(spec);
  if (type && !PyModule_AddObject(module, name, type)) return true;
  Py_XDECREF(type);
  return false;
}

PyMODINIT_FUNC PyInit__calls(void);
PyMODINIT_FUNC PyInit__calls(void) {
  PyObject *module = PyModule_Create(&definition);
  if (module && add_type(module, "Plans", &plans_spec) && add_type(module, "Prepared", &prepared_spec)) return module;
  Py_XDECREF(module);
  return NULL;
}
