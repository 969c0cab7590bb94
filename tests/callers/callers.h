/* Callers that are C and C++ alike, each in the manner of a kind of program that uses the original library's four calls.
 * Included by callers.c and callers.cc after headers.h. They say what such programs say, and nothing of what this library
 * has beside it; where a cast or a conversion could be better, it is theirs that is tested. */
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
const char *CALLER(first)(void);
const char *CALLER(schedule)(void);
const char *CALLER(circuit)(void);
const char *CALLER(loop)(void);
const char *CALLER(words)(void);
#ifdef __cplusplus
}
#endif

/* In the manner of a first program: a macro around each call, a tensor of doubles, no stream. Both ways to plan. */
#define OR_RETURN(call)                                                                                                \
  do {                                                                                                                 \
    const cuttResult result = (call);                                                                                  \
    if (result != CUTT_SUCCESS) {                                                                                      \
      fprintf(stderr, "%s: result %d\n", #call, result);                                                               \
      return #call;                                                                                                    \
    }                                                                                                                  \
  } while (0)

static const char *first_steps(double *in, double *out, int measure) {
  int dim[4] = {23, 71, 2, 3};
  int permutation[4] = {3, 0, 2, 1};

  cuttHandle handle;
  if (measure)
    OR_RETURN(cuttPlanMeasure(&handle, 4, dim, permutation, sizeof(double), 0, in, out));
  else
    OR_RETURN(cuttPlan(&handle, 4, dim, permutation, sizeof(double), 0));
  OR_RETURN(cuttExecute(handle, in, out));
  OR_RETURN(cuttDestroy(handle));
  return caller_verify(out, 4, dim, permutation, sizeof(double));
}

const char *CALLER(first)(void) {
  static const int dim[4] = {23, 71, 2, 3};
  caller_data data;
  const char *wrong = caller_open(&data, 4, dim, sizeof(double));
  if (!wrong) wrong = first_steps((double *)data.in, (double *)data.out, 0);
  if (!wrong) wrong = first_steps((double *)data.in, (double *)data.out, 1);
  caller_close(&data);
  return wrong;
}

/* In the manner of a scheduler of tensor contractions: shapes behind pointers, permutations that count from 1, the
 * element's size from a table of kinds, a stream from a bank of them by pointer, a code of the caller's own for each step
 * that can fail, and a plan that is destroyed while its execution may still be under way. */
typedef struct block {
  int *extents;
  int rank, kind;
  void *memory, *scratch;
} block;

enum { REAL_4, REAL_8, COMPLEX_4, COMPLEX_8, KINDS };
static const int kind_bytes[KINDS] = {4, 8, 8, 16};

static int reorder(block *tensor, const int *order, cudaStream_t *stream) {
  cuttHandle handle;
  cuttResult result;
  int failed = 0, from_zero[32];
  for (int i = 0; i < tensor->rank; i++) from_zero[i] = order[i] - 1;
  result = cuttPlan(&handle, tensor->rank, tensor->extents, from_zero, (size_t)kind_bytes[tensor->kind], *stream);
  if (result == CUTT_SUCCESS) {
    result = cuttExecute(handle, tensor->memory, tensor->scratch);
    if (result != CUTT_SUCCESS) failed = 2;
    result = cuttDestroy(handle);
    if (result != CUTT_SUCCESS) failed = 3;
  } else {
    failed = 1;
  }
  return failed;
}

const char *CALLER(schedule)(void) {
  static const char *const steps[] = {NULL, "cuttPlan failed", "cuttExecute failed", "cuttDestroy failed"};
  const char *wrong = NULL;
  for (int kind = 0; kind < KINDS && !wrong; kind++) {
    int extents[3] = {9, 14, 33};
    const int order[3] = {3, 1, 2}, permutation[3] = {2, 0, 1};
    cudaStream_t bank[2];
    memset(bank, 0, sizeof bank);
    caller_data data;
    wrong = caller_open(&data, 3, extents, (size_t)kind_bytes[kind]);
    if (!wrong) {
      block tensor;
      tensor.extents = extents;
      tensor.rank = 3;
      tensor.kind = kind;
      tensor.memory = data.in;
      tensor.scratch = data.out;
      wrong = steps[reorder(&tensor, order, &bank[1])];
    }
    if (!wrong) wrong = caller_verify(data.out, 3, extents, permutation, (size_t)kind_bytes[kind]);
    caller_close(&data);
  }
  return wrong;
}

/* In the manner of a simulator of quantum circuits: many modes of extent 2, an array of plans made ahead of time, and
 * two buffers that change places with every execution. */
#define CIRCUIT_QUBITS 12
#define CIRCUIT_STEPS 3

const char *CALLER(circuit)(void) {
  cuttHandle plans[CIRCUIT_STEPS];
  int dim[CIRCUIT_QUBITS], perms[CIRCUIT_STEPS][CIRCUIT_QUBITS], all[CIRCUIT_QUBITS], next[CIRCUIT_QUBITS];
  for (int q = 0; q < CIRCUIT_QUBITS; q++) {
    dim[q] = 2;
    all[q] = q;
    perms[0][q] = (q * 5 + 3) % CIRCUIT_QUBITS;
    perms[1][q] = CIRCUIT_QUBITS - 1 - q;
    perms[2][q] = q ^ 1;
  }
  caller_data data;
  const char *wrong = caller_open(&data, CIRCUIT_QUBITS, dim, 2 * sizeof(float));
  int made = 0;
  while (!wrong && made < CIRCUIT_STEPS) {
    if (cuttPlan(&plans[made], CIRCUIT_QUBITS, dim, perms[made], 2 * sizeof(float), 0) == CUTT_SUCCESS)
      made++;
    else
      wrong = "cuttPlan failed";
  }
  void *state = data.in, *buffer = data.out;
  for (int step = 0; step < made && !wrong; step++) {
    if (cuttExecute(plans[step], state, buffer) != CUTT_SUCCESS) wrong = "cuttExecute failed";
    void *const swap = state;
    state = buffer;
    buffer = swap;
    for (int q = 0; q < CIRCUIT_QUBITS; q++) next[q] = all[perms[step][q]];
    memcpy(all, next, sizeof all);
  }
  if (!wrong) wrong = caller_verify(state, CIRCUIT_QUBITS, dim, all, 2 * sizeof(float));
  while (made > 0) cuttDestroy(plans[--made]);
  caller_close(&data);
  return wrong;
}

/* In the manner of a pipeline of operators: shapes and inputs that may not be changed, and a plan for each of its calls, which is
 * never destroyed. */
const char *CALLER(loop)(void) {
  static const int dim[3] = {12, 5, 33}, permutation[3] = {1, 2, 0};
  caller_data data;
  const char *wrong = caller_open(&data, 3, dim, sizeof(int));
  const void *const from = data.in;
  for (int call = 0; call < 1000 && !wrong; call++) {
    cuttHandle plan;
    if (cuttPlan(&plan, 3, dim, permutation, sizeof(int), 0) != CUTT_SUCCESS) wrong = "cuttPlan failed";
    if (call == 0 && cuttPlanMeasure(&plan, 3, dim, permutation, sizeof(int), 0, from, data.out) != CUTT_SUCCESS)
      wrong = "cuttPlanMeasure failed";
    if (!wrong && call % 100 == 0 && cuttExecute(plan, from, data.out) != CUTT_SUCCESS) wrong = "cuttExecute failed";
  }
  if (!wrong) wrong = caller_verify(data.out, 3, dim, permutation, sizeof(int));
  caller_close(&data);
  return wrong;
}

/* In the manner of a framework that puts results into words. There is no default: were there a result that the original
 * has not, the compiler would say so. */
static const char *words_of(cuttResult error) {
  switch (error) {
    case CUTT_SUCCESS:
      return "success";
    case CUTT_INVALID_PLAN:
      return "invalid plan";
    case CUTT_INVALID_PARAMETER:
      return "invalid parameter";
    case CUTT_INVALID_DEVICE:
      return "invalid device";
    case CUTT_INTERNAL_ERROR:
      return "internal error";
    case CUTT_UNDEFINED_ERROR:
      return "undefined error";
  }
  return "unknown";
}

const char *CALLER(words)(void) {
  /* Results and handles go through files and other languages' integers: their values are the original's. */
  static const int values[] = {CUTT_SUCCESS,        CUTT_INVALID_PLAN,   CUTT_INVALID_PARAMETER,
                               CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR, CUTT_UNDEFINED_ERROR};
  for (int i = 0; i < 6; i++)
    if (values[i] != i) return words_of((cuttResult)i);
  if (sizeof(cuttHandle) != sizeof(unsigned int) || (cuttHandle)-1 < 1) return "cuttHandle is no unsigned int";

  int dim[2] = {4, 6}, turn[2] = {1, 0}, twice[2] = {1, 1};
  cuttHandle plan = 0;
  if (strcmp(words_of(cuttPlan(&plan, 2, dim, turn, 8, 0)), "success") != 0) return "cuttPlan failed";
  if (strcmp(words_of(cuttDestroy(plan)), "success") != 0) return "cuttDestroy failed";
  if (strcmp(words_of(cuttDestroy(plan)), "invalid plan") != 0) return "a plan was destroyed twice";
  if (strcmp(words_of(cuttExecute(plan, dim, turn)), "invalid plan") != 0) return "a destroyed plan was executed";
  if (strcmp(words_of(cuttPlan(&plan, 2, dim, twice, 8, 0)), "invalid parameter") != 0) return "a mode was there twice";
  return NULL;
}
