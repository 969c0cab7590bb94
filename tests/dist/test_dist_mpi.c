/* Ranks that are processes of MPI: mpirun -n N test_dist_mpi. Random redistributions, and errors that all ranks hear of. Rank 0 says
 * what it found; the exit status is 0 if all ranks found nothing. Each step has a limit of time, so that a hang is a failure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cutt_dist_mpi.h"
#include "ranks.h"

static int rank, size, wrong;

static void expect(bool right, const char *what) {
  if (right) return;
  wrong = 1;
  fprintf(stderr, "rank %d of %d: %s: %s\n", rank, size, what, cuttLastError());
}

static void random_cases(cuttDistComm_t comm, int count) {
  for (int i = 0; i < count; i++) {
    dist_case c;
    char failure[FAILURE_BYTES] = "";
    dist_case_make(&c, (uint64_t)(1000 * size + i), size);
    if (c.options.direct == CUTT_DIST_DIRECT_ALWAYS) c.options.direct = CUTT_DIST_DIRECT_NEVER;
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

int main(int count, char **arguments) {
  cuttDistComm_t comm = NULL;
  int any = 0;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect(cuttDistCommMpi(&comm, MPI_COMM_NULL) == CUTT_INTERNAL_ERROR && strstr(cuttLastError(), "MPI_COMM_NULL"),
         "no MPI_Comm");
  expect(cuttDistCommMpi(NULL, MPI_COMM_WORLD) == CUTT_INVALID_PARAMETER, "comm is NULL");
  expect(cuttDistCommMpi(&comm, MPI_COMM_WORLD) == CUTT_SUCCESS, "a communicator");
  if (!wrong) {
    random_cases(comm, test_scaled(40));
    errors(comm);
    expect(cuttDistCommDestroy(comm) == CUTT_SUCCESS, "destroy");
    lost_message();
  }
  alarm(60);
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks of MPI: %s\n", size, any ? "WRONG" : "right");
  MPI_Finalize();
  return any;
}
