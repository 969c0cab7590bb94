/* Arrays as views: NumPy's by its struct, others' by DLPack's table of functions (calls.h). */
#include <string.h>

#include "calls.h"

/* ------------------------------------------------------------------------------------------------------ element types */

enum { KNOWN_TYPES = 64 }; /* element types of NumPy, and as many of DLPack, that are remembered; a power of two */

static struct {
  PyObject *dtype; /* held, so that no other one gets its address */
  element type;    /* of 0 bytes: not served here */
} numpy_types[KNOWN_TYPES];

static struct {
  uint32_t packed;
  element type;
} dlpack_types[KNOWN_TYPES];

/* From what one of the two functions in Python says; None: not served here. Takes the reference over. */
static outcome read_type(PyObject *said, element *type) {
  *type = (element){0, 0, 0};
  if (!said) return FAILED;
  if (said != Py_None) {
    type->number = (int)PyLong_AsLong(PyTuple_GetItem(said, 0));
    type->bytes = PyLong_AsLongLong(PyTuple_GetItem(said, 1));
    type->code = (int)PyLong_AsLong(PyTuple_GetItem(said, 2));
  }
  Py_DECREF(said);
  return PyErr_Occurred() ? FAILED : DONE;
}

static outcome numpy_type(PyObject *dtype, element *type) {
  const size_t at = ((uintptr_t)dtype >> 5) % KNOWN_TYPES;
  if (numpy_types[at].dtype != dtype) {
    element read;
    if (read_type(PyObject_CallFunctionObjArgs(python.describe_dtype, dtype, NULL), &read) == FAILED) return FAILED;
    PyObject *before = numpy_types[at].dtype;
    Py_INCREF(dtype);
    numpy_types[at].dtype = dtype;
    numpy_types[at].type = read;
    Py_XDECREF(before);
    *type = read; /* giving up the one before may have run code that changed the entry */
  } else {
    *type = numpy_types[at].type;
  }
  return type->bytes ? DONE : LEFT;
}

static outcome dlpack_type(dl_type given, element *type) {
  const uint32_t packed = 1u + (((uint32_t)given.lanes << 16) | ((uint32_t)given.bits << 8) | given.code);
  const size_t at = (packed * 2654435761u >> 16) % KNOWN_TYPES;
  if (dlpack_types[at].packed != packed) {
    element read;
    PyObject *said = PyObject_CallFunction(python.describe_dlpack, "iii", given.code, given.bits, given.lanes);
    if (read_type(said, &read) == FAILED) return FAILED;
    dlpack_types[at].packed = packed;
    dlpack_types[at].type = read;
  }
  *type = dlpack_types[at].type;
  return type->bytes ? DONE : LEFT;
}

/* ---------------------------------------------------------------------------------------------------------- libraries */

enum { KNOWN_LIBRARIES = 16 };

static library numpy = {.reading = BY_STRUCT, .makes = true}, libraries[KNOWN_LIBRARIES];
static int library_count;

/* Types that were asked for and are not served here: the last ones, held, so that no other type gets their address. */
static PyObject *refused[KNOWN_LIBRARIES];
static int next_refused;

/* NULL: not served here, or an exception. */
static const library *library_of(PyObject *array) {
  PyObject *type = (PyObject *)Py_TYPE(array);
  if (type == python.numpy_array) {
    numpy.type = type;
    return &numpy;
  }
  for (int i = 0; i < library_count; ++i)
    if (libraries[i].type == type) return &libraries[i];
  for (int i = 0; i < KNOWN_LIBRARIES; ++i)
    if (refused[i] == type) return NULL;
  library found = {.type = type};
  PyObject *said = PyObject_CallFunctionObjArgs(python.describe_library, type, NULL);
  if (!said) return NULL;
  if (said != Py_None) {
    PyObject *capsule = PyTuple_GetItem(said, 0);
    const dl_exchange *table = NULL;
    found.reading = capsule == Py_None ? BY_CAPSULE : BY_TABLE;
    if (PyCapsule_IsValid(capsule, EXCHANGE_NAME)) table = PyCapsule_GetPointer(capsule, EXCHANGE_NAME);
    while (table && table->major > 1) table = table->previous;
    if (table && table->major == 1 && table->current_stream && table->managed_of && table->allocate && table->array_of)
      found.exchange = table;
    found.makes = PyObject_IsTrue(PyTuple_GetItem(said, 2)) == 1;
    found.vouches = PyObject_IsTrue(PyTuple_GetItem(said, 3)) == 1;
    found.grad_enabled = PyTuple_GetItem(said, 1);
    if (found.grad_enabled == Py_None) found.grad_enabled = NULL;
    Py_XINCREF(found.grad_enabled);
  }
  Py_DECREF(said);
  if (PyErr_Occurred()) return NULL;
  Py_INCREF(type);
  if ((found.reading != BY_CAPSULE && !found.exchange) || library_count == KNOWN_LIBRARIES) {
    PyObject *before = refused[next_refused];
    refused[next_refused] = type;
    next_refused = (next_refused + 1) % KNOWN_LIBRARIES;
    Py_XDECREF(before);
    return NULL;
  }
  libraries[library_count] = found; /* never moved: views point to it */
  return &libraries[library_count++];
}

/* -------------------------------------------------------------------------------------------------------------- NumPy */

static outcome numpy_view(PyObject *array, bool written, view *v) {
  const numpy_array *a = (const numpy_array *)array;
  if (a->rank > MOST_AXES || (written && !(a->flags & NUMPY_WRITEABLE))) return LEFT;
  v->data = a->data;
  v->device = ON_CPU;
  v->rank = a->rank;
  for (int i = 0; i < a->rank; ++i) {
    v->shape[i] = a->shape[i];
    v->strides[i] = a->strides[i];
  }
  return numpy_type(a->dtype, &v->type);
}

/* ------------------------------------------------------------------------------------------------------------ PyTorch */

static PyObject *name_requires_grad, *name_is_conj, *name_is_neg, *name_untyped_storage, *name_nbytes, *name_offset,
    *name_new_empty;

static PyObject *interned(PyObject **name, const char *text) {
  if (!*name) *name = PyUnicode_InternFromString(text);
  return *name;
}

/* A method's result or an attribute as a truth. */
static outcome truth(PyObject *value) {
  if (!value) return FAILED;
  const int is = PyObject_IsTrue(value);
  Py_DECREF(value);
  return is < 0 ? FAILED : is ? DONE : LEFT;
}

static outcome count(PyObject *value, int64_t *number) {
  if (!value) return FAILED;
  *number = PyLong_AsLongLong(value);
  Py_DECREF(value);
  return *number == -1 && PyErr_Occurred() ? FAILED : DONE;
}

/* What DLPack's table does not tell of a tensor: lazy conjugates and negatives, gradients, and a storage that has been cut
 * under it. LEFT: the function in Python sees to it. */
static outcome plain_tensor(PyObject *tensor, const view *v) {
  outcome said = truth(PyObject_CallMethodObjArgs(tensor, interned(&name_is_neg, "is_neg"), NULL));
  if (said != LEFT) return said == DONE ? LEFT : FAILED;
  said = truth(PyObject_CallMethodObjArgs(tensor, interned(&name_is_conj, "is_conj"), NULL));
  if (said != LEFT) return said == DONE ? LEFT : FAILED;
  said = truth(PyObject_GetAttr(tensor, interned(&name_requires_grad, "requires_grad")));
  if (said == DONE) said = truth(PyObject_CallObject(v->library->grad_enabled, NULL));
  if (said != LEFT) return said == DONE ? LEFT : FAILED;
  if (!elements_of(v->rank, v->shape)) return DONE;
  PyObject *storage = PyObject_CallMethodObjArgs(tensor, interned(&name_untyped_storage, "untyped_storage"), NULL);
  if (!storage) return FAILED;
  int64_t bytes = 0, offset = 0, last = 0;
  said = count(PyObject_CallMethodObjArgs(storage, interned(&name_nbytes, "nbytes"), NULL), &bytes);
  Py_DECREF(storage);
  if (said == DONE)
    said = count(PyObject_CallMethodObjArgs(tensor, interned(&name_offset, "storage_offset"), NULL), &offset);
  if (said != DONE) return said;
  for (int i = 0; i < v->rank; ++i) last += (v->shape[i] - 1) * v->strides[i];
  return (offset + 1) * v->type.bytes + last <= bytes ? DONE : LEFT;
}

/* ------------------------------------------------------------------------------------------------------------- DLPack */

static outcome read_tensor(const dl_tensor *t, view *v) {
  if (t->rank < 0 || t->rank > MOST_AXES) return LEFT;
  if (t->device.type == DL_CPU || t->device.type == DL_CUDA_HOST)
    v->device = ON_CPU;
  else if ((t->device.type == DL_CUDA || t->device.type == DL_CUDA_MANAGED) && t->device.number >= 0)
    v->device = t->device.number;
  else
    return LEFT;
  const outcome known = dlpack_type(t->type, &v->type);
  if (known != DONE) return known;
  v->data = (char *)t->data + t->offset;
  v->rank = t->rank;
  for (int i = 0; i < t->rank; ++i) v->shape[i] = t->shape[i];
  if (t->strides) {
    for (int i = 0; i < t->rank; ++i)
      if (__builtin_mul_overflow(t->strides[i], v->type.bytes, &v->strides[i])) return LEFT;
  } else {
    pack_strides(t->rank, v->shape, v->type.bytes, v->strides);
  }
  return DONE;
}

/* An array that can't be described so is the business of the function in Python, which finds its own words. */
static outcome not_described(void) {
  if (PyErr_ExceptionMatches(PyExc_MemoryError) || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) return FAILED;
  PyErr_Clear();
  return LEFT;
}

static outcome exchanged_view(PyObject *array, bool written, view *v) {
  const dl_exchange *table = v->library->exchange;
  const bool is_torch = v->library->grad_enabled;
  if (table->tensor_of &&
      (is_torch || !written)) { /* of a library that has arrays for reading only, only the other way tells */
    dl_tensor tensor;
    memset(&tensor, 0, sizeof tensor);
    if (table->tensor_of(array, &tensor)) return not_described();
    const outcome read = read_tensor(&tensor, v);
    return read == DONE && is_torch ? plain_tensor(array, v) : read;
  }
  dl_managed *managed = NULL;
  if (table->managed_of(array, &managed)) return not_described();
  v->managed = managed;
  outcome read = managed->major == 1 ? read_tensor(&managed->tensor, v) : LEFT;
  if (read == DONE && written && managed->flags & (DL_READ_ONLY | DL_IS_COPIED)) read = LEFT;
  if (read == DONE && is_torch) read = plain_tensor(array, v);
  if (read != DONE) release_view(v);
  return read;
}

/* ------------------------------------------------------------------------------------------------------------- capsules */

static PyObject *name_ready, *name_device, *name_dlpack, *versions, *nothing;

/* Is it on the CPU, by what it says itself? */
static outcome on_cpu(PyObject *array) {
  PyObject *said = PyObject_CallMethodObjArgs(array, interned(&name_device, "__dlpack_device__"), NULL);
  PyObject *kind = said ? PySequence_GetItem(said, 0) : NULL; /* an int or an enumerator */
  PyObject *number_of = kind ? PyNumber_Long(kind) : NULL;
  const long number = number_of ? PyLong_AsLong(number_of) : -1;
  Py_XDECREF(said);
  Py_XDECREF(kind);
  Py_XDECREF(number_of);
  return PyErr_Occurred() ? not_described() : number == DL_CPU ? DONE : LEFT;
}

static PyObject *capsule_of(PyObject *array) {
  if (!nothing) nothing = PyTuple_New(0);
  if (!versions) versions = Py_BuildValue("{s(ii)}", "max_version", 1, 0);
  PyObject *method = PyObject_GetAttr(array, interned(&name_dlpack, "__dlpack__"));
  PyObject *capsule = method && nothing && versions ? PyObject_Call(method, nothing, versions) : NULL;
  Py_XDECREF(method);
  return capsule;
}

/* JAX's arrays, which are never written to once they have a user. */
static outcome capsule_view(PyObject *array, bool written, view *v) {
  if (written) return LEFT;
  PyObject *ready = PyObject_CallMethodObjArgs(array, interned(&name_ready, "block_until_ready"), NULL);
  if (!ready) return not_described();
  Py_DECREF(ready);
  outcome read = on_cpu(array);
  if (read != DONE) return read;
  v->capsule = capsule_of(array);
  if (!v->capsule) return not_described();
  read = LEFT;
  if (PyCapsule_IsValid(v->capsule, "dltensor_versioned")) {
    const dl_managed *managed = PyCapsule_GetPointer(v->capsule, "dltensor_versioned");
    if (managed->major == 1) read = read_tensor(&managed->tensor, v);
  } else if (PyCapsule_IsValid(v->capsule, "dltensor")) { /* of before version 1, which begins with the tensor */
    read = read_tensor(PyCapsule_GetPointer(v->capsule, "dltensor"), v);
  }
  if (read != DONE) release_view(v);
  return read;
}

/* ---------------------------------------------------------------------------------------------------------- any array */

outcome take_view(PyObject *array, bool written, view *v) {
  v->managed = NULL;
  v->capsule = NULL;
  v->array = array;
  v->library = library_of(array);
  if (!v->library) return PyErr_Occurred() ? FAILED : LEFT;
  switch (v->library->reading) {
    case BY_STRUCT:
      return numpy_view(array, written, v);
    case BY_TABLE:
      return exchanged_view(array, written, v);
    default:
      return capsule_view(array, written, v);
  }
}

void release_view(view *v) {
  if (v->capsule || (v->managed && v->managed->release)) {
    PyObject *type, *value, *trace; /* an exception that is on its way is nothing that the library's code should meet */
    PyErr_Fetch(&type, &value, &trace);
    if (v->managed) v->managed->release(v->managed);
    Py_XDECREF(v->capsule);
    PyErr_Restore(type, value, trace);
  }
  v->managed = NULL;
  v->capsule = NULL;
}

bool same_place(const view *v, const view *other) {
  return v->library == other->library && v->device == other->device && v->type.number == other->type.number;
}

bool is_vouched_for(const view *v) { return v->device != ON_CPU && v->library->vouches; }

bool same_shape(int rank, const int64_t *shape, const view *v) {
  if (rank != v->rank) return false;
  for (int i = 0; i < rank; ++i)
    if (shape[i] != v->shape[i]) return false;
  return true;
}

bool repeats(const view *v) {
  for (int i = 0; i < v->rank; ++i)
    if (v->shape[i] > 1 && !v->strides[i]) return true;
  return false;
}

bool is_packed(const view *v) {
  int64_t packed[MOST_AXES];
  pack_strides(v->rank, v->shape, v->type.bytes, packed);
  for (int i = 0; i < v->rank; ++i)
    if (v->shape[i] > 1 && v->strides[i] != packed[i]) return false;
  return true;
}

int64_t elements_of(int rank, const int64_t *shape) {
  int64_t elements = 1;
  for (int i = 0; i < rank; ++i)
    if (__builtin_mul_overflow(elements, shape[i], &elements)) elements = shape[i] ? INT64_MAX : 0;
  return elements;
}

void pack_strides(int rank, const int64_t *shape, int64_t bytes, int64_t *strides) {
  for (int i = rank - 1; i >= 0; --i) {
    strides[i] = bytes;
    if (__builtin_mul_overflow(bytes, shape[i], &bytes)) bytes = INT64_MAX; /* no array is that large */
  }
}

/* ---------------------------------------------------------------------------------------------------------- new arrays */

/* May be called without the GIL. */
static void allocation_failed(void *context, const char *kind, const char *text) {
  (void)context;
  const PyGILState_STATE state = PyGILState_Ensure();
  if (!PyErr_Occurred()) PyErr_Format(PyExc_MemoryError, "%s: %s", kind, text);
  PyGILState_Release(state);
}

static PyObject *exchanged_array(const view *like, int rank, const int64_t *shape, view *v) {
  const dl_exchange *table = like->library->exchange;
  dl_managed *source = NULL, *made = NULL;
  void *array = NULL;
  if (table->managed_of(like->array, &source)) return NULL;
  dl_tensor wanted = source->tensor; /* of its type, on its device */
  int64_t extents[MOST_AXES], strides[MOST_AXES];
  memcpy(extents, shape, (size_t)rank * sizeof *shape);
  pack_strides(rank, shape, 1, strides);
  wanted.data = NULL;
  wanted.offset = 0;
  wanted.rank = rank;
  wanted.shape = extents;
  wanted.strides = strides;
  const int failed = table->allocate(&wanted, &made, NULL, allocation_failed);
  if (source->release) source->release(source);
  if (failed) return NULL;
  v->data = (char *)made->tensor.data + made->tensor.offset;
  return table->array_of(made, &array) ? NULL : (PyObject *)array;
}

static PyObject *torch_array(const view *like, int rank, const int64_t *shape, view *v) {
  PyObject *extents = tuple_of(rank, shape);
  if (!extents) return NULL;
  /* Not by the table: PyTorch's record_stream() and resize_() want storage of its own allocator. */
  PyObject *array = PyObject_CallMethodObjArgs(like->array, interned(&name_new_empty, "new_empty"), extents, NULL);
  Py_DECREF(extents);
  dl_tensor tensor;
  memset(&tensor, 0, sizeof tensor);
  if (array && like->library->exchange->tensor_of(array, &tensor)) {
    Py_DECREF(array);
    return NULL;
  }
  v->data = (char *)tensor.data + tensor.offset;
  return array;
}

static PyObject *jax_memory(const view *like, int rank, const int64_t *shape, view *v) {
  PyObject *extents = tuple_of(rank, shape);
  PyObject *array = extents ? PyObject_CallFunctionObjArgs(python.make_jax, like->array, extents, NULL) : NULL;
  Py_XDECREF(extents);
  if (array) v->data = ((const numpy_array *)array)->data;
  return array;
}

PyObject *finish_array(const view *like, PyObject *array) {
  if (like->library->reading != BY_CAPSULE) return array;
  PyObject *finished = PyObject_CallFunctionObjArgs(python.finish_jax, array, NULL);
  Py_DECREF(array);
  return finished;
}

outcome make_array(const view *like, int rank, const int64_t *shape, PyObject **array, view *v) {
  *array = NULL;
  if (!like->library->makes) return LEFT;
  v->managed = NULL;
  v->capsule = NULL;
  v->library = like->library;
  v->type = like->type;
  v->device = like->device;
  v->rank = rank;
  if (v->shape != shape) memcpy(v->shape, shape, (size_t)rank * sizeof *shape);
  pack_strides(rank, shape, like->type.bytes, v->strides);
  if (like->library->reading == BY_STRUCT) {
    Py_ssize_t extents[MOST_AXES];
    for (int i = 0; i < rank; ++i) extents[i] = (Py_ssize_t)shape[i];
    PyObject *dtype = ((const numpy_array *)like->array)->dtype;
    Py_INCREF(dtype);
    *array = python.numpy_new(python.numpy_array, dtype, rank, extents, NULL, NULL, 0, NULL);
    if (*array) v->data = ((const numpy_array *)*array)->data;
  } else if (like->library->reading == BY_CAPSULE) {
    *array = jax_memory(like, rank, shape, v);
  } else if (like->library->grad_enabled && like->library->exchange->tensor_of) {
    *array = torch_array(like, rank, shape, v);
  } else {
    *array = exchanged_array(like, rank, shape, v);
  }
  v->array = *array;
  if (!*array && !PyErr_Occurred()) PyErr_SetString(PyExc_MemoryError, "the array's library could not make the result");
  return *array ? DONE : FAILED;
}
