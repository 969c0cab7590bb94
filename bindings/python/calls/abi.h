/* Layouts of other projects that never change within their major version, declared here so that building the module takes
 * no header but Python's: DLPack 1 and its table of functions (dmlc.github.io/dlpack), NumPy's arrays (of 1.x and 2.x
 * alike), and what CPython 3.9 has and lists in its limited API in later versions only. */
#ifndef CUTT_CALLS_ABI_H
#define CUTT_CALLS_ABI_H

#define PY_SSIZE_T_CLEAN /* sizes in formats are Py_ssize_t */
#include <Python.h>
#include <stdint.h>

/* In the limited API since 3.10; in every CPython since 3.7 with these arguments. */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif
#if !defined(Py_LIMITED_API) || Py_LIMITED_API + 0 < 0x030A0000
PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *size);
#endif

/* ------------------------------------------------------------------------------------------------------------- DLPack */

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };
enum { DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT = 4, DL_COMPLEX, DL_BOOL };
enum { DL_READ_ONLY = 1, DL_IS_COPIED = 2 };

typedef struct dl_device {
  int32_t type, number;
} dl_device;

typedef struct dl_type {
  uint8_t code, bits;
  uint16_t lanes;
} dl_type;

typedef struct dl_tensor {
  void *data;
  dl_device device;
  int32_t rank;
  dl_type type;
  int64_t *shape, *strides; /* in elements; strides may be NULL: C order */
  uint64_t offset;          /* in bytes */
} dl_tensor;

typedef struct dl_managed {
  uint32_t major, minor;
  void *context;
  void (*release)(struct dl_managed *);
  uint64_t flags;
  dl_tensor tensor;
} dl_managed;

#define EXCHANGE_NAME "dlpack_exchange_api" /* of the capsule */

/* What the attribute __dlpack_c_exchange_api__ of a type points to. Each returns 0, or -1 with a Python exception. */
typedef struct dl_exchange {
  uint32_t major, minor;
  struct dl_exchange *previous;
  int (*allocate)(dl_tensor *like, dl_managed **made, void *context,
                  void (*error)(void *context, const char *kind, const char *text));
  int (*managed_of)(void *array, dl_managed **managed);
  int (*array_of)(dl_managed *managed, void **array); /* takes the managed tensor over */
  int (*tensor_of)(void *array, dl_tensor *tensor);   /* may be NULL; shape and strides remain the array's */
  int (*current_stream)(int32_t device_type, int32_t number, void **stream);
} dl_exchange;

/* -------------------------------------------------------------------------------------------------------------- NumPy */

typedef struct numpy_array {
  PyObject object;
  char *data;
  int rank;
  Py_ssize_t *shape, *strides; /* in bytes */
  PyObject *base, *dtype;
  int flags;
} numpy_array;

enum { NUMPY_WRITEABLE = 0x0400 };
enum { NUMPY_NEW_FROM_DTYPE = 94 }; /* its place in NumPy's table of functions */

/* Takes a reference of dtype over. */
typedef PyObject *numpy_new(PyObject *type, PyObject *dtype, int rank, const Py_ssize_t *shape,
                            const Py_ssize_t *strides, void *data, int flags, PyObject *like);

#endif
