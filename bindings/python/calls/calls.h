/* The hot path of the Python package: a call whose arguments are plain is served here, from the arguments to the library's
 * function, without an object of Python's in between but the result. Everything else (arrays of other libraries, odd
 * strides, wrong arguments) is left to the functions in Python, which get the same arguments and have the words for errors.
 *
 * All of it runs with the GIL; it is released while the library works on more than a few kilobytes. */
#ifndef CUTT_CALLS_H
#define CUTT_CALLS_H

#include "abi.h"

#include <stdbool.h>
#include <stddef.h>

#include "cutt_contract.h"

enum { MOST_AXES = 16 }; /* of arrays that are served here */

/* What came of a step. */
typedef enum outcome {
  FAILED = -1, /* a Python exception is set */
  LEFT = 0,    /* for the function in Python */
  DONE = 1
} outcome;

/* ------------------------------------------------------------------------------------------------------------- arrays */

/* An element type. Two of one number are the same type in any library; cutt.h's type is 0 where there is no arithmetic. */
typedef struct element {
  int number, code;
  int64_t bytes;
} element;

/* How arrays of a library are read: NumPy's by their struct, others by DLPack's table of functions or by its capsules. */
typedef enum reading { BY_STRUCT, BY_TABLE, BY_CAPSULE } reading;

/* A library whose arrays are served. */
typedef struct library {
  PyObject *type; /* of its arrays */
  reading reading;
  const dl_exchange *exchange; /* the table */
  PyObject *grad_enabled;      /* PyTorch's function; NULL: the library is not PyTorch */
  bool makes;                  /* results are of the library, too */
  bool vouches;                /* what it has on a GPU is memory of that GPU: nobody need look */
} library;

enum { ON_CPU = -1 };

/* An array as the library sees it; strides in bytes. */
typedef struct view {
  char *data;
  PyObject *array; /* borrowed */
  const library *library;
  element type;
  int device; /* ON_CPU, or the number of a GPU */
  int rank;
  int64_t shape[MOST_AXES], strides[MOST_AXES];
  dl_managed *managed; /* to be released, where the library has no cheaper way */
  PyObject *capsule;   /* to be given up, of a library without a table */
} view;

/* written: it must be memory that may be written to. release_view() is due after DONE only. */
outcome take_view(PyObject *array, bool written, view *v);
void release_view(view *v);

bool same_place(const view *v, const view *other); /* of one library, on one device, of one type */
bool is_vouched_for(const view *v);
bool same_shape(int rank, const int64_t *shape, const view *v);
bool repeats(const view *v);   /* a stride of 0 along an axis that is stepped along */
bool is_packed(const view *v); /* its elements follow one another, the last axis first */
int64_t elements_of(int rank, const int64_t *shape);
void pack_strides(int rank, const int64_t *shape, int64_t bytes, int64_t *strides);

/* A new array of like's library, type and device, in C order, and its view. *array is the caller's, or NULL. */
outcome make_array(const view *like, int rank, const int64_t *shape, PyObject **array, view *v);
/* What the user is given of it: takes the reference over, and returns one. */
PyObject *finish_array(const view *like, PyObject *array);

/* ------------------------------------------------------------------------------------------------- plans that are kept */

enum {
  KEY_OF_TRANSPOSE = 1,
  KEY_OF_EINSUM,
  KEY_OF_REDUCE,
  KEY_OF_ELEMENTWISE,
  KEY_OF_NETWORK
}; /* a key's first number */

enum { FEW_WORDS = 192 }; /* more than that, of networks and of long texts, have memory of their own */

/* All that a plan depends on, as numbers. Built by add() between begin_key() and end_key(); `full` once there was no memory for it. */
typedef struct plan_key {
  int64_t *word;
  size_t words, room;
  bool full;
  int64_t few[FEW_WORDS];
} plan_key;

void begin_key(plan_key *key);
void end_key(plan_key *key);
bool grow_key(plan_key *key, size_t words); /* by so many, at least */

/* For so many more words; makes it if there is none. */
static inline bool has_room(plan_key *key, size_t words) {
  return key->room - key->words >= words || grow_key(key, words);
}

static inline void add(plan_key *key, int64_t value) {
  if (has_room(key, 1)) key->word[key->words++] = value;
}
void add_all(plan_key *key, int count, const int64_t *values);
void add_bytes(plan_key *key, const void *bytes, size_t size);
void add_view(plan_key *key, const view *v); /* rank, shape and strides */

/* Of networks `plan` is a table of numbers (run.c). */
enum { PERMUTES, CONTRACTS, COMBINES, CONNECTS, BY_NUMPY };

/* What an execution needs of a plan. */
typedef struct plan_facts {
  void *plan;
  size_t workspace;
  int kind;
  int calls; /* so many are served by it, and then it is made anew; 0: all */
  int rank;  /* of the result, but of a permutation */
  int64_t shape[MOST_AXES];
} plan_facts;

/* The plan of a key, made by make(what) if it is not kept: a tuple (plan, kind, address, workspace, shape) with its `calls`
 * behind, if these are not all, or None for LEFT. again: what was made before has served its calls. *plan, a new reference, has to
 * live while the facts are used. */
outcome find_plan(const plan_key *key, PyObject *(*make)(const void *what, bool again), const void *what,
                  PyObject **plan, plan_facts *facts);

extern PyType_Spec plans_spec;
extern PyObject *kept_plans; /* the one object of that type that find_plan() uses */

/* ---------------------------------------------------------------------------------------------------------- executions */

void forget_places(void); /* what was learned of the driver and of its contexts */

outcome execute_permutation(const void *plan, const view *in, const view *out, int64_t bytes);
/* Of count pairs, placed as `like` is: one plan's, or, where that is NULL, each its own's. */
outcome execute_permutations(const void *plan, const void *const *plans, int64_t count, const void *const *in,
                             void *const *out, const view *like, int64_t bytes);

/* The bytes that an array spans. */
typedef struct span {
  uintptr_t low, high;
  bool written;
} span;
span span_of(const view *v, bool written);
bool overlap(const span *s, const span *other);
/* Does no result reach into what another array spans? spans: an input and a result by turns, which may come into another order.
 * Where one does, the function in Python looks closer. */
bool lie_apart(span *spans, Py_ssize_t pairs);
/* workspace: as much as the plan needs; NULL: of the operands' library, or what the library takes. */
outcome execute_contraction(const plan_facts *facts, const view *left, const view *right, const view *out,
                            char *workspace, int64_t bytes);
outcome execute_elementwise(const plan_facts *facts, const view *operand, int operands, const view *out, int64_t bytes);
/* With memory for intermediates of its own. */
outcome execute_network(const plan_facts *facts, const view *operand, int operands, const view *out, int64_t bytes);

/* ---------------------------------------------------------------------------------------------------------- arguments */

enum { MOST_NAMES = 12 };

/* The names of a function's arguments, the first `positional` of which may be given without. */
typedef struct signature {
  int positional, count;
  const char *name[MOST_NAMES];
  PyObject *interned[MOST_NAMES];
  PyObject *in_python; /* the function that calls are left to */
} signature;

bool intern_names(signature *s);
/* Of a call by vector: values[i], NULL where it was not given. false: for the function in Python, or wrong. */
bool take_arguments(const signature *s, PyObject *const *given, Py_ssize_t count, PyObject *names, PyObject **values);

/* How a result is scaled, as cutt.h takes it. code 0: elements are only moved. */
typedef struct scaling {
  int code;
  bool conjugate, adds;
  unsigned char alpha[16], beta[16];
} scaling;

/* Plain numbers only. always: also where alpha is 1 and beta 0 (contractions). */
bool take_scaling(PyObject *alpha, PyObject *beta, PyObject *conj, const element *type, bool always, scaling *s);
/* One scalar, 1 where it is not given. */
bool take_scalar(PyObject *value, const element *type, unsigned char bytes[16]);
bool take_threads(PyObject *threads, int64_t *number);
/* The number of a reduction's or an elementwise operator, by its name; where it is not given, that of "add". -1: none is. */
int take_operator(PyObject *name);

PyObject *call_in_python(PyObject *function, PyObject *const *given, Py_ssize_t count, PyObject *names);
PyObject *tuple_of(int count, const int64_t *values);
bool read_facts(PyObject *made, PyObject **plan, plan_facts *facts);

/* Does the library multiply such elements? What it doesn't is for the functions in Python. */
bool multiplies(const view *v);
/* What the user is given: what was given, or the array that was made, of rank 0 and NumPy a scalar. Takes its reference over. */
outcome finish_result(const view *like, int rank, PyObject *given, PyObject *array, PyObject **result);

/* -------------------------------------------------------------------------------------------------------- permutations */

enum {
  TRANSPOSE_A,
  TRANSPOSE_AXES,
  TRANSPOSE_OUT,
  TRANSPOSE_ALPHA,
  TRANSPOSE_BETA,
  TRANSPOSE_CONJ,
  TRANSPOSE_THREADS,
  TRANSPOSE_NAMES
};

/* What is asked of an input, and what follows for the result. */
typedef struct asked {
  int64_t axis[MOST_AXES], shape[MOST_AXES], threads;
  int64_t bytes; /* read and written */
  scaling scale;
} asked;

/* values: transpose()'s arguments. */
outcome take_transposition(const view *in, PyObject *const *values, asked *a);
/* Its plan; *plan, a new reference, has to live while the facts are used. */
outcome plan_transposition(const view *in, const view *out, const asked *a, PyObject **plan, plan_facts *facts);

/* ------------------------------------------------------------------------------------------------------- entry points */

PyObject *transpose(PyObject *nothing, PyObject *const *given, Py_ssize_t count, PyObject *names);
PyObject *einsum(PyObject *nothing, PyObject *const *given, Py_ssize_t count, PyObject *names);
PyObject *reduce(PyObject *nothing, PyObject *const *given, Py_ssize_t count, PyObject *names);
PyObject *elementwise(PyObject *nothing, PyObject *const *given, Py_ssize_t count, PyObject *names);
/* einsum() where it is served here, else NotImplemented. */
PyObject *try_einsum(PyObject *nothing, PyObject *const *given, Py_ssize_t count, PyObject *names);
PyObject *transpose_batch(PyObject *nothing, PyObject *const *given, Py_ssize_t count, PyObject *names);
PyObject *plan_batch(PyObject *self, PyObject *const *given, Py_ssize_t count, PyObject *names); /* a method of plans */
extern signature transpose_names, einsum_names, reduce_names, elementwise_names, batch_names;
extern PyType_Spec prepared_spec; /* the base of Plan, ContractionPlan and ElementwisePlan */

/* What the package's files in Python give: functions and types, by attribute of what bind() is called with. */
typedef struct host {
  PyObject *check;              /* (result): raises what the library's text says */
  PyObject *describe_dtype;     /* (dtype of NumPy's) -> (number, bytes, code) or None */
  PyObject *describe_dlpack;    /* (code, bits, lanes) -> the same */
  PyObject *describe_library;   /* (type) -> (capsule, grad_enabled or None, makes, vouches) or None */
  PyObject *create_permutation; /* (...) -> as find_plan() */
  PyObject *create_einsum;      /* (...) -> as find_plan() */
  PyObject *create_elementwise; /* (...) -> as find_plan() */
  PyObject *create_network;     /* (...) -> as find_plan() */
  PyObject *take_memory;        /* (bytes) -> memory on the host, an array of NumPy's, */
  PyObject *give_memory;        /* (memory) which is kept for the next one */
  PyObject *numpy_einsum;       /* NumPy's function in C */
  PyObject *driver;             /* () -> addresses of cuCtxGetCurrent, cuCtxPushCurrent and cuCtxPopCurrent */
  PyObject *primary_context;    /* (device) -> address */
  PyObject *make_jax;           /* (array, shape) -> memory for a result, an array of NumPy's */
  PyObject *finish_jax;         /* (memory) -> the result */
  PyObject *numpy_array;        /* the type */
  numpy_new *numpy_new;
  cuttResult (*execute)(const void *plan, const void *in, void *out, void *stream);
  cuttResult (*execute_batch)(const void *plan, int64_t count, const void *const *in, void *const *out, void *stream);
  cuttResult (*execute_plans)(int64_t count, const void *const *plans, const void *const *in, void *const *out,
                              void *stream);
  cuttResult (*contract)(const void *plan, const void *left, const void *right, void *result, void *workspace,
                         size_t workspace_bytes, void *stream);
  cuttResult (*combine)(const void *plan, const void *a, const void *b, const void *c, void *result, void *stream);
} host;
extern host python;

#endif
