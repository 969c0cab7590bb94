/* Arguments of calls by vector, and plain numbers among them (calls.h). */
#include <math.h>
#include <string.h>

#include "calls.h"

bool intern_names(signature *s) {
  for (int i = 0; i < s->count; ++i)
    if (!s->interned[i] && !(s->interned[i] = PyUnicode_InternFromString(s->name[i]))) return false;
  return true;
}

static int place_of(const signature *s, PyObject *name) {
  for (int i = 0; i < s->count; ++i)
    if (s->interned[i] == name) return i; /* names in a call's own code are interned */
  for (int i = 0; i < s->count; ++i)
    if (PyUnicode_Compare(s->interned[i], name) == 0) return i;
  return -1;
}

bool take_arguments(const signature *s, PyObject *const *given, Py_ssize_t count, PyObject *names, PyObject **values) {
  memset(values, 0, (size_t)s->count * sizeof *values);
  if (count > s->positional) return false;
  for (Py_ssize_t i = 0; i < count; ++i) values[i] = given[i];
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    const int at = place_of(s, PyTuple_GetItem(names, i));
    if (at < 0 || values[at]) return false;
    values[at] = given[count + i];
  }
  return true;
}

bool take_threads(PyObject *threads, int64_t *number) {
  *number = 0;
  if (!threads || threads == Py_None) return true;
  if (!PyLong_CheckExact(threads)) return false;
  int overflow = 0;
  const long value = PyLong_AsLongAndOverflow(threads, &overflow);
  *number = value;
  return !overflow && value >= 1 && value <= 4096;
}

/* ------------------------------------------------------------------------------------------------------------- numbers */

typedef struct number {
  double real, imaginary;
  long long whole;
  bool is_whole;
} number;

/* A number of Python's own types whose value is exact here, but for what a float of it rounds. */
static bool take_number(PyObject *value, number *n) {
  *n = (number){0, 0, 0, false};
  if (PyLong_CheckExact(value)) {
    int overflow = 0;
    n->whole = PyLong_AsLongLongAndOverflow(value, &overflow);
    n->is_whole = true;
    n->real = (double)n->whole;
    return !overflow;
  }
  if (PyFloat_CheckExact(value)) {
    n->real = PyFloat_AsDouble(value);
    return true;
  }
  if (PyComplex_CheckExact(value)) {
    n->real = PyComplex_RealAsDouble(value);
    n->imaginary = PyComplex_ImagAsDouble(value);
    return true;
  }
  return false;
}

static bool fits_float(double value) { return !isfinite(value) || isfinite((float)value); }

/* As cutt.h takes it: of the element's type, but float for the half types. */
static bool scalar_bytes(const number *n, int code, unsigned char bytes[16]) {
  const float narrow[2] = {(float)n->real, (float)n->imaginary};
  const double wide[2] = {n->real, n->imaginary};
  switch (code) {
    case CUTT_F16:
    case CUTT_BF16:
    case CUTT_F32:
      memcpy(bytes, narrow, sizeof(float));
      return n->imaginary == 0 && fits_float(n->real);
    case CUTT_F64:
      memcpy(bytes, wide, sizeof(double));
      return n->imaginary == 0;
    case CUTT_C32:
      memcpy(bytes, narrow, sizeof narrow);
      return fits_float(n->real) && fits_float(n->imaginary);
    case CUTT_C64:
      memcpy(bytes, wide, sizeof wide);
      return true;
    case CUTT_I32:
    case CUTT_I64: {
      const uint64_t whole = (uint64_t)n->whole; /* modulo 2^64, and below modulo 2^32 */
      const uint32_t low = (uint32_t)whole;
      if (code == CUTT_I32)
        memcpy(bytes, &low, sizeof low);
      else
        memcpy(bytes, &whole, sizeof whole);
      return n->is_whole;
    }
    default:
      return false;
  }
}

bool take_scalar(PyObject *value, const element *type, unsigned char bytes[16]) {
  number n = {1, 0, 1, true};
  memset(bytes, 0, 16);
  return (!value || take_number(value, &n)) && scalar_bytes(&n, type->code, bytes);
}

bool take_scaling(PyObject *alpha, PyObject *beta, PyObject *conj, const element *type, bool always, scaling *s) {
  memset(s, 0, sizeof *s);
  if (conj && conj != Py_True && conj != Py_False) return false;
  if (conj == Py_True && !type->code) return false; /* maybe complex, in another byte order, say */
  s->conjugate = conj == Py_True && (type->code == CUTT_C32 || type->code == CUTT_C64);
  number a = {1, 0, 1, true}, b = {0, 0, 0, true};
  if ((alpha && !take_number(alpha, &a)) || (beta && !take_number(beta, &b))) return false;
  /* A complex 1 counts as arithmetic, as it does in Python. */
  const bool plain = !s->conjugate && a.real == 1 && b.real == 0 && (!alpha || !PyComplex_CheckExact(alpha)) &&
                     (!beta || !PyComplex_CheckExact(beta));
  s->adds = b.real != 0 || b.imaginary != 0;
  if (plain && !always) return true;
  s->code = type->code;
  return type->code && scalar_bytes(&a, type->code, s->alpha) && scalar_bytes(&b, type->code, s->beta);
}

int take_operator(PyObject *name) {
  static const char *const known[] = {"add", "multiply", "max", "min"}; /* in the order of CUTT_OP_ADD, ... */
  if (!name) return CUTT_OP_ADD;
  if (!PyUnicode_CheckExact(name)) return -1;
  for (int i = 0; i < 4; ++i)
    if (PyUnicode_CompareWithASCIIString(name, known[i]) == 0) return i;
  return -1;
}

/* ------------------------------------------------------------------------------------------------------- Python's calls */

PyObject *tuple_of(int count, const int64_t *values) {
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; tuple && i < count; ++i) {
    PyObject *value = PyLong_FromLongLong(values[i]);
    if (!value || PyTuple_SetItem(tuple, i, value)) {
      Py_DECREF(tuple);
      return NULL;
    }
  }
  return tuple;
}

PyObject *call_in_python(PyObject *function, PyObject *const *given, Py_ssize_t count, PyObject *names) {
  PyObject *positional = PyTuple_New(count), *named = NULL, *result = NULL;
  const Py_ssize_t keys = names ? PyTuple_Size(names) : 0;
  bool good = positional;
  for (Py_ssize_t i = 0; good && i < count; ++i) {
    Py_INCREF(given[i]);
    good = !PyTuple_SetItem(positional, i, given[i]);
  }
  if (good && keys) good = (named = PyDict_New());
  for (Py_ssize_t i = 0; good && i < keys; ++i)
    good = !PyDict_SetItem(named, PyTuple_GetItem(names, i), given[count + i]);
  if (good) result = PyObject_Call(function, positional, named);
  Py_XDECREF(positional);
  Py_XDECREF(named);
  return result;
}
