/* Ranks with a GPU each: random redistributions by peer copies, by NCCL, and directly, by peer access and between processes;
 * executions that are captured for a graph; and a rank that is killed.
 *     test_dist_gpu threads [RANKS]    threads of this process
 *     test_dist_gpu processes          a process for each GPU, without MPI
 * With fewer than two GPUs, what needs NCCL is left out: it takes one rank for each. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpu/driver.h"
#include "gpu/nccl.h"
#include "ranks.h"

enum { MOST_DEVICES = 8 };

static int devices;
static gpu_context context[MOST_DEVICES];
static nccl_library nccl;
static atomic_int wrong;

static void expect(bool right, int rank, const char *what) {
  if (right) return;
  atomic_fetch_add(&wrong, 1);
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, cuttLastError());
}

static bool use_device(int rank) {
  int device = 0;
  const int number = rank % devices;
  if (gpu.device_get(&device, number)) return false;
  if (!context[number] && gpu.primary_retain(&context[number], device)) return false;
  return !gpu.context_set(context[number]);
}

static int count_devices(void) {
  int device = 0, count = 0;
  while (count < MOST_DEVICES && !gpu.device_get(&device, count)) count++;
  return count;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------------------------------------------------------------ random cases */

typedef struct job {
  const cuttDistComm_t *comms;
  int size, count;
  uint64_t seed;
  bool nccl, ipc; /* without ipc no direct plan is asked for with NCCL */
  int direct[MOST_RANKS], messages[MOST_RANKS];
} job;

static dist_case draw(const job *j, int number) {
  dist_case c;
  dist_case_make(&c, j->seed + (uint64_t)number, j->size);
  c.on_device = true;
  c.options.backend = CUTT_BACKEND_CUDA;
  /* Rounds have a piece of each peer's. */
  if (c.options.workspace_limit && c.options.workspace_limit < 256 * (size_t)j->size)
    c.options.workspace_limit = 256 * (size_t)j->size;
  if (j->nccl && !j->ipc && c.options.direct) c.options.direct = CUTT_DIST_DIRECT_NEVER;
  return c;
}

static void random_cases(void *what, int rank) {
  job *j = what;
  if (!use_device(rank)) {
    expect(false, rank, "no device");
    return;
  }
  for (int i = 0; i < j->count; i++) {
    dist_case c = draw(j, i);
    char failure[FAILURE_BYTES] = "";
    alarm(120);
    dist_case_try_rank(&c, j->comms[rank], rank, failure);
    expect(!failure[0], rank, failure);
    if (failure[0]) return;
    j->direct[rank] += c.options.direct == CUTT_DIST_DIRECT_ALWAYS;
    j->messages[rank] += c.options.direct == CUTT_DIST_DIRECT_NEVER;
  }
}

/* --------------------------------------------------------------------------------------------------------------- one matrix */

enum { SIDE = 1000 };

typedef struct matrix {
  cuttDistPlan_t plan;
  int64_t own[2], count;
  float *in, *out, *host;
} matrix;

/* Turns round a matrix that is spread by columns. */
static cuttResult open_matrix(matrix *m, cuttDistComm_t comm, int size, int rank, int trust, cuttDistDirect_t direct) {
  static const int64_t square[2] = {SIDE, SIDE};
  static const int swap[2] = {1, 0};
  const int parts[2] = {1, size};
  cuttDistLayout_t layout = CUTT_DIST_LAYOUT_INIT;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  void *in = NULL, *out = NULL;
  layout.modes = 2;
  layout.extents = square;
  layout.parts = parts;
  problem.type = CUTT_F32;
  problem.from = problem.to = &layout;
  problem.perm = swap;
  options.backend = CUTT_BACKEND_CUDA;
  options.direct = direct;
  options.trust_arguments = trust;
  options.piece_bytes = 1 << 18;
  memset(m, 0, sizeof *m);
  cuttDistLocalExtents(&layout, rank, m->own);
  m->count = m->own[0] * m->own[1];
  cuttResult result = cuttDistPlanCreate(&m->plan, comm, &problem, &options);
  if (!result) result = cuttMemoryAllocate(CUTT_BACKEND_CUDA, (size_t)m->count * 4, &in);
  if (!result) result = cuttMemoryAllocate(CUTT_BACKEND_CUDA, (size_t)m->count * 4, &out);
  m->in = in;
  m->out = out;
  m->host = malloc((size_t)m->count * 4);
  for (int64_t i = 0; i < m->count; i++) {
    int64_t local[2] = {i % m->own[0], i / m->own[0]}, global[2];
    cuttDistGlobal(&layout, rank, local, global);
    m->host[i] = (float)(global[0] + SIDE * global[1]);
  }
  if (!result) result = cuttMemoryCopy(CUTT_BACKEND_CUDA, in, m->host, (size_t)m->count * 4);
  return result;
}

static bool matrix_is_right(matrix *m, int size, int rank) {
  static const int64_t square[2] = {SIDE, SIDE};
  const int parts[2] = {1, size};
  cuttDistLayout_t layout = CUTT_DIST_LAYOUT_INIT;
  layout.modes = 2;
  layout.extents = square;
  layout.parts = parts;
  if (cuttMemoryCopy(CUTT_BACKEND_CUDA, m->host, m->out, (size_t)m->count * 4)) return false;
  for (int64_t i = 0; i < m->count; i++) {
    int64_t local[2] = {i % m->own[0], i / m->own[0]}, global[2];
    cuttDistGlobal(&layout, rank, local, global);
    if (m->host[i] != (float)(global[1] + SIDE * global[0])) return false;
  }
  return true;
}

static void close_matrix(matrix *m) {
  cuttDistPlanDestroy(m->plan);
  cuttMemoryFree(CUTT_BACKEND_CUDA, m->in);
  cuttMemoryFree(CUTT_BACKEND_CUDA, m->out);
  free(m->host);
}

/* Captured once, launched twice, with another input the second time. */
static void capture(void *what, int rank) {
  job *j = what;
  matrix m;
  gpu_stream stream = NULL;
  gpu_graph graph = NULL;
  gpu_graph_exec graph_exec = NULL;
  alarm(60);
  if (!use_device(rank)) return;
  for (int trust = 0; trust < 2; trust++) {
    expect(!open_matrix(&m, j->comms[rank], j->size, rank, trust, CUTT_DIST_DIRECT_NEVER), rank, "plan to capture");
    expect(!gpu.stream_create(&stream, GPU_STREAM_NON_BLOCKING), rank, "stream");
    expect(!gpu.capture_begin(stream, GPU_CAPTURE_RELAXED), rank, "capture");
    expect(!cuttDistPlanExecute(m.plan, m.in, m.out, (cudaStream_t)stream), rank, "captured execution");
    expect(!gpu.capture_end(stream, &graph), rank, "end of capture");
    expect(graph && !gpu.graph_instantiate(&graph_exec, graph, 0), rank, "graph");
    for (int i = 0; i < 2 && graph_exec; i++) {
      gpu.set_bytes((gpu_address)(uintptr_t)m.out, 0xff, (size_t)m.count * 4);
      gpu.synchronize();
      expect(!gpu.graph_launch(graph_exec, stream), rank, "launch");
      expect(!cuttDistCommSynchronize(j->comms[rank], (cudaStream_t)stream, 20), rank, "wait");
      expect(matrix_is_right(&m, j->size, rank), rank, "a wrong element by a graph");
    }
    if (graph_exec) gpu.graph_exec_destroy(graph_exec);
    if (graph) gpu.graph_destroy(graph);
    graph_exec = NULL;
    graph = NULL;
    gpu.stream_destroy(stream);
    close_matrix(&m);
  }
}

/* Between threads, capturing is refused, on all ranks. */
static void no_capture(void *what, int rank) {
  job *j = what;
  matrix m;
  gpu_stream stream = NULL;
  gpu_graph graph = NULL;
  alarm(60);
  if (!use_device(rank)) return;
  expect(!open_matrix(&m, j->comms[rank], j->size, rank, 0, CUTT_DIST_DIRECT_NEVER), rank, "plan");
  expect(!gpu.stream_create(&stream, GPU_STREAM_NON_BLOCKING), rank, "stream");
  expect(!gpu.capture_begin(stream, GPU_CAPTURE_RELAXED), rank, "capture");
  expect(cuttDistPlanExecute(m.plan, m.in, m.out, (cudaStream_t)stream) == CUTT_INVALID_PARAMETER &&
             strstr(cuttLastError(), "which is being captured"),
         rank, "a capture between threads");
  gpu.capture_end(stream, &graph);
  if (graph) gpu.graph_destroy(graph);
  expect(!cuttDistPlanExecute(m.plan, m.in, m.out, (cudaStream_t)stream), rank, "in a stream");
  expect(!cuttDistCommSynchronize(j->comms[rank], (cudaStream_t)stream, 20), rank, "wait");
  expect(matrix_is_right(&m, j->size, rank), rank, "a wrong element in a stream");
  gpu.stream_destroy(stream);
  close_matrix(&m);
}

static void tell(const job *j, const char *what, double began) {
  printf("%-44s %d ranks, %d cases, %d direct, %d by messages: %s, %.1f s\n", what, j->size, j->count, j->direct[0],
         j->messages[0], atomic_load(&wrong) ? "WRONG" : "right", now() - began);
  fflush(stdout);
}

/* ------------------------------------------------------------------------------------------------------------------ threads */

typedef struct nccl_job {
  job cases;
  nccl_comm nccl[MOST_DEVICES];
  cuttDistComm_t host[MOST_DEVICES], comms[MOST_DEVICES];
} nccl_job;

static void make_nccl(void *what, int rank) {
  nccl_job *n = what;
  cuttDistNccl_t options = CUTT_DIST_NCCL_INIT;
  alarm(120);
  if (!use_device(rank)) return;
  options.host = n->host[rank];
  expect(!cuttDistCommNccl(&n->comms[rank], n->nccl[rank], &options), rank, "a communicator of NCCL");
}

static void nccl_by_threads(int count) {
  static nccl_job n;
  int list[MOST_DEVICES];
  double began = now();
  for (int i = 0; i < devices; i++) list[i] = i;
  expect(!nccl.init_all(n.nccl, devices, list), -1, "ncclCommInitAll");
  expect(!cuttDistCommThreads(devices, n.host), -1, "communicators of threads");
  ranks_run(devices, make_nccl, &n);
  if (atomic_load(&wrong)) return;
  n.cases = (job){.comms = n.comms, .size = devices, .count = count, .seed = 500, .nccl = true};
  ranks_run(devices, random_cases, &n.cases);
  tell(&n.cases, "NCCL, ranks are threads", began);
  began = now();
  ranks_run(devices, capture, &n.cases);
  tell(&n.cases, "the same, captured for a graph", began);
  for (int i = 0; i < devices; i++) {
    use_device(i);
    cuttDistCommDestroy(n.comms[i]);
    cuttDistCommDestroy(n.host[i]);
    nccl.destroy(n.nccl[i]);
  }
}

static void by_threads(int size, int count) {
  static cuttDistComm_t comms[MOST_RANKS];
  const double began = now();
  expect(!cuttDistCommThreads(size, comms), -1, "communicators of threads");
  job j = {.comms = comms, .size = size, .count = count, .seed = 7};
  ranks_run(size, random_cases, &j);
  tell(&j, "peer copies and peer access, threads", began);
  ranks_run(size, no_capture, &j);
  for (int i = 0; i < size; i++) cuttDistCommDestroy(comms[i]);
}

/* ---------------------------------------------------------------------------------------------------------------- processes */

typedef struct meeting {
  nccl_id id;
  atomic_int known, gone;
} meeting;

/* What is left of two ranks gets an error, and soon. */
static void survive(cuttDistComm_t comm, meeting *all, int rank, int trust) {
  matrix m;
  alarm(100);
  expect(!open_matrix(&m, comm, devices, rank, trust, CUTT_DIST_DIRECT_NEVER), rank, "plan before the end");
  expect(!cuttDistPlanExecute(m.plan, m.in, m.out, NULL), rank, "execution before the end");
  expect(!cuttDistCommSynchronize(comm, NULL, 20), rank, "wait before the end");
  expect(matrix_is_right(&m, devices, rank), rank, "a wrong element before the end");
  if (rank == devices - 1) {
    atomic_store(&all->gone, 1);
    raise(SIGKILL);
  }
  while (!atomic_load(&all->gone)) usleep(1000);
  usleep(200000);
  const double began = now();
  cuttResult result = cuttDistPlanExecute(m.plan, m.in, m.out, NULL);
  if (!result) result = cuttDistCommSynchronize(comm, NULL, 5);
  expect(result == CUTT_INTERNAL_ERROR, rank, "a rank is gone");
  expect(now() - began < 30, rank, "it took too long");
  printf("rank %d, after the other was killed%s: %.1f s, \"%s\"\n", rank, trust ? " (trusted)" : "", now() - began,
         cuttLastError());
  expect(cuttDistPlanExecute(m.plan, m.in, m.out, NULL) == CUTT_INTERNAL_ERROR, rank, "and again");
  fflush(stdout);
}

static int be_process(meeting *all, int rank, int kind, int count) {
  nccl_comm own = NULL;
  cuttDistComm_t comm = NULL;
  cuttDistNccl_t options = CUTT_DIST_NCCL_INIT;
  const double began = now();
  alarm(120);
  if (!gpu_open() || !use_device(rank) || !nccl_open(&nccl)) return 1;
  if (rank == 0) {
    expect(!nccl.get_id(&all->id), rank, "an id");
    atomic_store(&all->known, 1);
  }
  while (!atomic_load(&all->known)) usleep(1000);
  expect(!nccl.init_rank(&own, devices, all->id, rank), rank, "ncclCommInitRank");
  options.seconds = 5;
  expect(!cuttDistCommNccl(&comm, own, &options), rank, "a communicator of NCCL");
  if (atomic_load(&wrong)) return 1;
  if (kind > 0) {
    survive(comm, all, rank, kind == 2);
    _exit(atomic_load(&wrong) != 0); /* NCCL has been aborted */
  }
  cuttDistComm_t comms[MOST_DEVICES] = {NULL};
  comms[rank] = comm;
  job j = {.comms = comms, .size = devices, .count = count, .seed = 900, .nccl = true, .ipc = true};
  random_cases(&j, rank);
  if (rank == 0) tell(&j, "NCCL, and direct by IPC, processes", began);
  capture(&j, rank);
  if (rank == 0) tell(&j, "the same, captured, without a host's", began);
  cuttDistCommDestroy(comm);
  nccl.destroy(own);
  return atomic_load(&wrong) != 0;
}

static int by_processes(int kind, int count) {
  meeting *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t child[MOST_DEVICES];
  int bad = 0;
  if (all == MAP_FAILED) return 1;
  memset(all, 0, sizeof *all);
  for (int i = 0; i < devices; i++) {
    child[i] = fork();
    if (child[i] == 0) _exit(be_process(all, i, kind, count));
  }
  for (int i = 0; i < devices; i++) {
    int status = 0;
    waitpid(child[i], &status, 0);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && kind > 0 && i == devices - 1;
    if (status && !killed) bad = 1;
    if (status && !killed) fprintf(stderr, "process %d ended with status %x\n", i, (unsigned)status);
  }
  munmap(all, sizeof *all);
  return bad;
}

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "threads";
  const int cases = test_scaled(200);
  if (strcmp(what, "processes") == 0) {
    devices = count > 2 ? atoi(arguments[2]) : 2; /* the driver must not be used before there are processes */
    int bad = by_processes(0, cases);
    for (int kind = 1; kind <= 2; kind++) bad |= by_processes(kind, cases);
    printf("processes: %s\n", bad ? "WRONG" : "right");
    return bad;
  }
  if (!gpu_open()) return 77;
  devices = count_devices();
  by_threads(count > 2 ? atoi(arguments[2]) : devices > 1 ? devices : 2, cases);
  if (count <= 2) by_threads(3, cases / 2);
  if (devices > 1 && nccl_open(&nccl) && !atomic_load(&wrong)) nccl_by_threads(cases);
  printf("threads: %s\n", atomic_load(&wrong) ? "WRONG" : "right");
  return atomic_load(&wrong) != 0;
}
