/* Executions of plans: the context and the stream of a GPU, the GIL, and errors (calls.h). */
#include <stdlib.h>

#include "calls.h"

enum {
  SMALL_BYTES = 1 << 16, /* on the CPU: giving the GIL back and taking it again would take longer than the work */
  MOST_DEVICES = 64
};

/* ----------------------------------------------------------------------------------------------------------- contexts */

/* Where the work goes: the stream of the library's user, in the device's context. */
typedef struct place {
  void *stream;
  bool pushed; /* a context, to be popped */
  bool on_gpu;
} place;

/* CUresult and CUcontext of cuda.h. */
static int (*current_context)(void **context), (*push_context)(void *context), (*pop_context)(void **context);
static void *primary[MOST_DEVICES]; /* kept by the function in Python until the process ends */

static bool load_driver(void) {
  PyObject *said = PyObject_CallObject(python.driver, NULL);
  if (!said) return false;
  void *address[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 3; ++i) address[i] = PyLong_AsVoidPtr(PyTuple_GetItem(said, i));
  Py_DECREF(said);
  if (PyErr_Occurred()) return false;
  push_context = (int (*)(void *))(uintptr_t)address[1];
  pop_context = (int (*)(void **))(uintptr_t)address[2];
  current_context = (int (*)(void **))(uintptr_t)address[0];
  return true;
}

static bool find_primary(int device) {
  PyObject *said = PyObject_CallFunction(python.primary_context, "i", device);
  if (!said) return false;
  primary[device] = PyLong_AsVoidPtr(said);
  Py_DECREF(said);
  return !PyErr_Occurred();
}

static outcome driver_failed(const char *call, int result) {
  PyErr_Format(PyExc_RuntimeError, "%s failed with CUDA's error %d", call, result);
  return FAILED;
}

static outcome enter_place(const view *v, place *where) {
  *where = (place){NULL, false, v->device != ON_CPU};
  if (!where->on_gpu) return DONE;
  if (v->device >= MOST_DEVICES || !v->library->exchange) return LEFT;
  if (v->library->exchange->current_stream(DL_CUDA, v->device, &where->stream)) return FAILED;
  if (!current_context && !load_driver()) return FAILED;
  if (!primary[v->device] && !find_primary(v->device)) return FAILED;
  void *current = NULL;
  int result = current_context(&current);
  if (result) return driver_failed("cuCtxGetCurrent", result);
  if (current == primary[v->device]) return DONE;
  result = push_context(primary[v->device]);
  if (result) return driver_failed("cuCtxPushCurrent", result);
  where->pushed = true;
  return DONE;
}

void forget_places(void) {
  current_context = NULL;
  for (int i = 0; i < MOST_DEVICES; ++i) primary[i] = NULL;
}

/* ---------------------------------------------------------------------------------------------------------- executions */

/* Leaves the device's context, and raises what the library has said, which it keeps for this thread until its next call. */
static outcome leave_place(const place *where, cuttResult result) {
  void *popped = NULL;
  const int failed = where->pushed ? pop_context(&popped) : 0;
  if (result == CUTT_SUCCESS) return failed ? driver_failed("cuCtxPopCurrent", failed) : DONE;
  PyObject *raised = PyObject_CallFunction(python.check, "i", (int)result);
  Py_XDECREF(raised);
  if (raised) PyErr_Format(PyExc_SystemError, "cuTT failed with result %d", (int)result);
  return FAILED;
}

/* The same where an argument that is refused is LEFT to the function in Python, which knows what its caller calls it. */
static outcome leave_or_refuse(const place *where, cuttResult result) {
  const bool refused = result == CUTT_INVALID_PARAMETER;
  const outcome done = leave_place(where, refused ? CUTT_SUCCESS : result);
  return done == DONE && refused ? LEFT : done;
}

outcome execute_permutation(const void *plan, const view *in, const view *out, int64_t bytes) {
  place where;
  const outcome entered = enter_place(in, &where);
  if (entered != DONE) return entered;
  cuttResult result;
  if (!where.on_gpu && bytes <= SMALL_BYTES) {
    result = python.execute(plan, in->data, out->data, NULL);
  } else {
    PyThreadState *state = PyEval_SaveThread();
    result = python.execute(plan, in->data, out->data, where.stream);
    PyEval_RestoreThread(state);
  }
  return leave_or_refuse(&where, result);
}

static cuttResult execute_pairs(const void *plan, const void *const *plans, int64_t count, const void *const *in,
                                void *const *out, void *stream) {
  return plan ? python.execute_batch(plan, count, in, out, stream)
              : python.execute_plans(count, plans, in, out, stream);
}

outcome execute_permutations(const void *plan, const void *const *plans, int64_t count, const void *const *in,
                             void *const *out, const view *like, int64_t bytes) {
  place where;
  const outcome entered = enter_place(like, &where);
  if (entered != DONE) return entered;
  cuttResult result;
  if (!where.on_gpu && bytes <= SMALL_BYTES) {
    result = execute_pairs(plan, plans, count, in, out, NULL);
  } else {
    PyThreadState *state = PyEval_SaveThread();
    result = execute_pairs(plan, plans, count, in, out, where.stream);
    PyEval_RestoreThread(state);
  }
  return leave_place(&where, result);
}

outcome execute_elementwise(const plan_facts *facts, const view *operand, int operands, const view *out,
                            int64_t bytes) {
  place where;
  const outcome entered = enter_place(operand, &where);
  if (entered != DONE) return entered;
  const void *third = operands > 2 ? operand[2].data : NULL;
  cuttResult result;
  if (!where.on_gpu && bytes <= SMALL_BYTES) {
    result = python.combine(facts->plan, operand[0].data, operand[1].data, third, out->data, NULL);
  } else {
    PyThreadState *state = PyEval_SaveThread();
    result = python.combine(facts->plan, operand[0].data, operand[1].data, third, out->data, where.stream);
    PyEval_RestoreThread(state);
  }
  return leave_or_refuse(&where, result);
}

/* Memory on the operands' device as an array of their library, whose pool is quicker than CUDA's own, and which knows the stream. LEFT: that
 * makes none. */
static outcome make_memory(const view *like, size_t bytes, PyObject **array, char **memory) {
  const int64_t elements = (int64_t)(bytes - 1) / like->type.bytes + 1;
  view space;
  const outcome made = make_array(like, 1, &elements, array, &space);
  if (made == DONE) *memory = space.data;
  return made;
}

/* Of a network the plan is a table: how many steps there are, where the workspace is in the memory, and for each step its plan, the
 * tensors that it takes (the operands first, then the results of the steps before), the bytes of its workspace, and where its result
 * is in the memory, but for the last one. */
enum { NETWORK_STEPS, NETWORK_WORKSPACE, NETWORK_FIRST };
enum { STEP_PLAN, STEP_LEFT, STEP_RIGHT, STEP_WORKSPACE, STEP_RESULT, STEP_WORDS };

static cuttResult execute_steps(const int64_t *table, char **tensor, int operands, char *memory, void *stream) {
  const int64_t steps = table[NETWORK_STEPS], *step = table + NETWORK_FIRST;
  for (int64_t i = 0; i < steps; ++i, step += STEP_WORDS) {
    char **const made = tensor + operands + i;
    if (i < steps - 1) *made = memory + step[STEP_RESULT];
    char *const workspace = step[STEP_WORKSPACE] ? memory + table[NETWORK_WORKSPACE] : NULL;
    const cuttResult result =
        python.contract((const void *)(intptr_t)step[STEP_PLAN], tensor[step[STEP_LEFT]], tensor[step[STEP_RIGHT]],
                        *made, workspace, (size_t)step[STEP_WORKSPACE], stream);
    if (result != CUTT_SUCCESS) return result;
  }
  return CUTT_SUCCESS;
}

/* Memory for the intermediates and the workspace of a network: of the C library for few bytes, a block that is kept for the next call,
 * or on a GPU of the operands' library. */
typedef struct room {
  char *memory;
  PyObject *array; /* NULL: of the C library */
  bool kept;
} room;

static outcome take_room(size_t bytes, const view *like, room *r) {
  *r = (room){NULL, NULL, false};
  if (like->device != ON_CPU) return make_memory(like, bytes, &r->array, &r->memory);
  if (bytes <= SMALL_BYTES) {
    r->memory = malloc(bytes);
    if (!r->memory) PyErr_NoMemory();
  } else {
    r->array = PyObject_CallFunction(python.take_memory, "n", (Py_ssize_t)bytes);
    r->kept = r->array;
    if (r->array) r->memory = ((const numpy_array *)r->array)->data;
  }
  return r->memory ? DONE : FAILED;
}

/* done: what came of its use. */
static outcome give_room(room *r, outcome done) {
  if (!r->array) free(r->memory);
  if (r->kept && done != FAILED) {
    PyObject *given = PyObject_CallFunctionObjArgs(python.give_memory, r->array, NULL);
    if (!given) done = FAILED;
    Py_XDECREF(given);
  }
  Py_XDECREF(r->array);
  return done;
}

outcome execute_network(const plan_facts *facts, const view *operand, int operands, const view *out, int64_t bytes) {
  enum { ALIGNED = 256, FEW_TENSORS = 16 };
  const int64_t *table = facts->plan;
  const size_t tensors = (size_t)operands + (size_t)table[NETWORK_STEPS];
  char *few[FEW_TENSORS], **tensor = tensors > FEW_TENSORS ? malloc(tensors * sizeof *tensor) : few;
  room r;
  if (!tensor) {
    PyErr_NoMemory();
    return FAILED;
  }
  outcome done = take_room(facts->workspace, operand, &r);
  place where;
  if (done == DONE && (done = enter_place(operand, &where)) != DONE) done = give_room(&r, done);
  if (done == DONE) {
    for (int i = 0; i < operands; ++i) tensor[i] = operand[i].data;
    tensor[tensors - 1] = out->data;
    char *const at = r.memory + (ALIGNED - (uintptr_t)r.memory % ALIGNED) % ALIGNED;
    cuttResult result;
    if (!where.on_gpu && !r.array && bytes <= SMALL_BYTES) {
      result = execute_steps(table, tensor, operands, at, NULL);
    } else {
      PyThreadState *state = PyEval_SaveThread();
      result = execute_steps(table, tensor, operands, at, where.stream);
      PyEval_RestoreThread(state);
    }
    done = give_room(&r, leave_or_refuse(&where, result));
  }
  if (tensor != few) free(tensor);
  return done;
}

outcome execute_contraction(const plan_facts *facts, const view *left, const view *right, const view *out,
                            char *workspace, int64_t bytes) {
  PyObject *array = NULL;
  if (!facts->workspace) workspace = NULL;
  if (facts->workspace && !workspace && left->library->reading == BY_TABLE &&
      make_memory(left, facts->workspace, &array, &workspace) == FAILED)
    return FAILED;
  place where;
  outcome done = enter_place(left, &where);
  if (done == DONE) {
    const size_t size = workspace ? facts->workspace : 0;
    const void *second = right ? right->data : NULL;
    cuttResult result;
    if (!where.on_gpu && bytes <= SMALL_BYTES) {
      result = python.contract(facts->plan, left->data, second, out->data, workspace, size, NULL);
    } else {
      PyThreadState *state = PyEval_SaveThread();
      result = python.contract(facts->plan, left->data, second, out->data, workspace, size, where.stream);
      PyEval_RestoreThread(state);
    }
    done = leave_or_refuse(&where, result);
  }
  Py_XDECREF(array);
  return done;
}
