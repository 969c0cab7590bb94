/* Ranks that are processes of MPI: mpirun -n N test_dist_mpi [gpu]; with "gpu", tensors are in the memory of GPUs. Random
 * redistributions, in shared memory too, and errors that all hear of. Rank 0 says
 * what it found; the exit status is 0 if all ranks found nothing. Each step has a limit of time, so that a hang is a failure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cutt_dist_mpi.h"
#include "gpu/driver.h"
#include "ranks.h"

static int rank, size, wrong;
static bool on_device;

static void expect(bool right, const char *what) {
  if (right) return;
  wrong = 1;
  fprintf(stderr, "rank %d of %d: %s: %s\n", rank, size, what, cuttLastError());
}

/* Those of others that are direct by an option are told to send messages; direct: all are told to be, in shared memory. */
static void random_cases(cuttDistComm_t comm, int count, bool direct) {
  for (int i = 0; i < count; i++) {
    dist_case c;
    char failure[FAILURE_BYTES] = "";
    dist_case_make(&c, (uint64_t)(1000 * size + i), size);
    c.on_device = on_device;
    c.options.backend = on_device ? CUTT_BACKEND_CUDA : CUTT_BACKEND_AUTO;
    if (!on_device && c.options.direct == CUTT_DIST_DIRECT_ALWAYS) c.options.direct = CUTT_DIST_DIRECT_NEVER;
    if (direct) {
      c.options.direct = i % 2 ? CUTT_DIST_DIRECT_ALWAYS : CUTT_DIST_DIRECT_BY_COST;
      c.side[1].strided = false;
    }
    alarm(120);
    dist_case_try_rank(&c, comm, rank, failure);
    expect(!failure[0], failure);
  }
}

enum { SIDE = 40 };

/* A matrix that is turned round; `kind` says what is wrong on the last rank. */
static cuttResult turn(cuttDistComm_t comm, int kind) {
  static const int64_t square[2] = {SIDE, SIDE};
  static const int swap[2] = {1, 0};
  static int32_t in[SIDE * SIDE], out[SIDE * SIDE];
  const int parts[2] = {1, size};
  const bool here = rank == size - 1;
  cuttDistLayout_t layout = CUTT_DIST_LAYOUT_INIT;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  cuttDistPlan_t plan = NULL;
  layout.modes = 2;
  layout.extents = square;
  layout.parts = parts;
  problem.type = kind == 1 && here ? CUTT_F32 : CUTT_I32;
  problem.from = problem.to = &layout;
  problem.perm = swap;
  options.piece_bytes = 100;
  alarm(60);
  cuttResult result = cuttDistPlanCreate(&plan, comm, &problem, &options);
  if (!result) result = cuttDistPlanExecute(plan, kind == 2 && here ? NULL : in, out, NULL);
  cuttDistPlanDestroy(plan);
  return result;
}

static cuttDistTransport_t real;
static int sends;

static int failing_send(void *data, int peer, const void *bytes, int64_t count, cuttDistRequest_t *request) {
  return rank == size - 1 && ++sends == 2 ? 1 : real.send(data, peer, bytes, count, request);
}

static void errors(cuttDistComm_t comm) {
  char words[100];
  snprintf(words, sizeof words, "rank %d has other problem->type", size - 1);
  if (size > 1) {
    expect(turn(comm, 1) == CUTT_INVALID_PARAMETER && strstr(cuttLastError(), words), "ranks that differ");
    snprintf(words, sizeof words, "rank %d: in is NULL", size - 1);
    expect(turn(comm, 2) == CUTT_INVALID_PARAMETER && strstr(cuttLastError(), words), "a NULL");
  }
  expect(turn(comm, 0) == CUTT_SUCCESS, "all right again");
}

/* On a communicator of its own, which is lost. */
static void lost_message(void) {
  cuttDistComm_t comm = NULL, failing = NULL;
  cuttDistTransport_t transport;
  char words[100];
  if (size == 1) return;
  expect(cuttDistCommMpi(&comm, MPI_COMM_WORLD) == CUTT_SUCCESS, "a second communicator");
  expect(cuttDistCommTransport(comm, &transport) == CUTT_SUCCESS, "its transport");
  real = transport;
  transport.send = failing_send;
  transport.destroy = NULL;
  expect(cuttDistCommCreate(&failing, &transport) == CUTT_SUCCESS, "a transport on top");
  snprintf(words, sizeof words, "rank %d of %d has failed: the transport MPI could not send", size - 1, size);
  expect(turn(failing, 0) == CUTT_INTERNAL_ERROR && strstr(cuttLastError(), words), "a lost message");
  expect(turn(failing, 0) == CUTT_INTERNAL_ERROR && strstr(cuttLastError(), words), "a lost communicator");
  expect(cuttDistCommDestroy(failing) == CUTT_SUCCESS && cuttDistCommDestroy(comm) == CUTT_SUCCESS, "destroy");
}

/* ------------------------------------------------------------------------------------------------------- shared memory */

static cuttDistComm_t sharing;

static void *take_shared(size_t bytes) {
  void *made = NULL;
  alarm(60);
  expect(cuttDistMpiAllocate(sharing, (int64_t)bytes, &made) == CUTT_SUCCESS && made && (uintptr_t)made % 64 == 0,
         "shared memory");
  return made;
}

static void give_shared(void *memory) {
  expect(cuttDistMpiFree(sharing, memory) == CUTT_SUCCESS, "shared memory's end");
}

/* One window for all random cases: MPI's own collective calls take long where ranks wait for processors. */
enum { WINDOW_BYTES = 16 << 20 };
static void *window;

static void *take_window(size_t bytes) {
  expect(bytes <= WINDOW_BYTES, "a window that is large enough");
  return window;
}

static void give_window(void *memory) { expect(memory == window, "the window"); }

/* Two plans whose outputs are in one piece of memory, executed in turn: a matrix that is spread by columns, turned round. */
static void two_plans(cuttDistComm_t comm) {
  enum { ROWS = 6 };
  const int64_t whole[2] = {ROWS, size}, turned[2] = {size, ROWS};
  const int columns[2] = {1, size};
  static const int swap[2] = {1, 0};
  cuttDistLayout_t from = CUTT_DIST_LAYOUT_INIT, to = CUTT_DIST_LAYOUT_INIT;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  cuttDistPlan_t plan[2] = {NULL, NULL};
  int32_t in[ROWS], elsewhere[ROWS * 64];
  int64_t count = 0;
  from.modes = to.modes = 2;
  from.extents = whole;
  from.parts = columns;
  to.extents = turned;
  to.parts = columns; /* whole columns of the turned matrix, which are rows of in */
  problem.type = CUTT_I32;
  problem.from = &from;
  problem.to = &to;
  problem.perm = swap;
  options.direct = CUTT_DIST_DIRECT_ALWAYS;
  options.threads = 1;
  cuttDistLocalCount(&to, rank, &count);
  int32_t *memory = take_shared((size_t)(2 * count + 1) * sizeof *memory);
  for (int i = 0; i < 2; i++) expect(cuttDistPlanCreate(&plan[i], comm, &problem, &options) == CUTT_SUCCESS, "direct");
  for (int round = 0; round < 20 && !wrong; round++)
    for (int i = 0; i < 2; i++) {
      int32_t *out = memory + i * count;
      for (int row = 0; row < ROWS; row++) in[row] = 1000 * (i + 1) + 100 * row + rank + round;
      expect(cuttDistPlanExecute(plan[i], in, out, NULL) == CUTT_SUCCESS, "execute");
      int64_t first[2] = {0, 0}, global[2];
      for (int64_t n = 0; n < count; n++) {
        first[0] = n % size;
        first[1] = n / size;
        cuttDistGlobal(&to, rank, first, global);
        expect(out[n] == 1000 * (i + 1) + 100 * global[1] + global[0] + round, "an element in shared memory");
      }
    }
  /* One rank whose output is elsewhere. */
  const bool bad = rank == size - 1 && count > 0;
  const cuttResult result = cuttDistPlanExecute(plan[0], in, bad ? elsewhere : memory, NULL);
  const bool any = ROWS >= size;
  expect(
      any ? result == CUTT_INVALID_PARAMETER && strstr(cuttLastError(), "is not within memory of cuttDistMpiAllocate")
          : result == CUTT_SUCCESS,
      "an output elsewhere");
  for (int i = 0; i < 2; i++) cuttDistPlanDestroy(plan[i]);
  give_shared(memory);
}

static void shared_memory(cuttDistComm_t comm) {
  cuttDistComm_t threads = NULL;
  void *memory = NULL, *other = NULL;
  char words[100];
  sharing = comm;
  alarm(60);
  snprintf(words, sizeof words, "rank %d of %d has failed: bytes is below 0", size - 1, size);
  expect(cuttDistMpiAllocate(comm, rank == size - 1 ? -1 : 8, &memory) == CUTT_INTERNAL_ERROR &&
             strstr(cuttLastError(), words) && !memory,
         "bytes is -1");
  expect(cuttDistCommThreads(1, &threads) == CUTT_SUCCESS, "threads");
  expect(cuttDistMpiAllocate(threads, 8, &memory) == CUTT_INTERNAL_ERROR && strstr(cuttLastError(), "comm is not one"),
         "threads share all memory");
  cuttDistCommDestroy(threads);
  memory = take_shared(0);
  other = take_shared(rank == 0 ? 0 : 100000);
  expect(cuttDistMpiFree(comm, NULL) == CUTT_INTERNAL_ERROR && strstr(cuttLastError(), "pointer is not what"),
         "free NULL");
  if (size > 1) expect(cuttDistMpiFree(comm, rank == 0 ? other : memory) == CUTT_INTERNAL_ERROR, "different windows");
  give_shared(memory); /* the other one is left to cuttDistCommDestroy */
  two_plans(comm);
  window = take_shared(WINDOW_BYTES);
  dist_output_memory = (dist_memory){take_window, give_window};
  random_cases(comm, test_scaled(20), true);
  dist_output_memory = (dist_memory){NULL, NULL};
  give_shared(window);
}

/* A GPU of the rank's own if there are as many, else a shared one. */
static void use_device(void) {
  int device = 0, devices = 0;
  gpu_context context = NULL;
  on_device = true;
  expect(gpu_open(), "a GPU");
  if (wrong) return;
  while (!gpu.device_get(&device, devices)) devices++;
  expect(!gpu.device_get(&device, rank % devices) && !gpu.primary_retain(&context, device) && !gpu.context_set(context),
         "a context");
}

int main(int count, char **arguments) {
  cuttDistComm_t comm = NULL;
  int any = 0;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (count > 1 && strcmp(arguments[1], "gpu") == 0) use_device();
  expect(cuttDistCommMpi(&comm, MPI_COMM_NULL) == CUTT_INTERNAL_ERROR && strstr(cuttLastError(), "MPI_COMM_NULL"),
         "no MPI_Comm");
  expect(cuttDistCommMpi(NULL, MPI_COMM_WORLD) == CUTT_INVALID_PARAMETER, "comm is NULL");
  expect(cuttDistCommMpi(&comm, MPI_COMM_WORLD) == CUTT_SUCCESS, "a communicator");
  if (!wrong) {
    random_cases(comm, test_scaled(40), false);
    if (!on_device) shared_memory(comm);
    if (!on_device) errors(comm);
    expect(cuttDistCommDestroy(comm) == CUTT_SUCCESS, "destroy");
    if (!on_device) lost_message();
  }
  alarm(60);
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks of MPI: %s\n", size, any ? "WRONG" : "right");
  MPI_Finalize();
  return any;
}
