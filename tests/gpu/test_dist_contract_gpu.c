/* Ranks with a GPU each: random contractions by peer copies, by peer access and by NCCL, ranks being threads of this process:
 *     test_dist_contract_gpu [RANKS]
 * With fewer than two GPUs, what needs NCCL is left out: it takes one rank for each. */
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "gpu/driver.h"
#include "gpu/nccl.h"
#include "products.h"

enum { MOST_DEVICES = 8 };

typedef struct job {
  nccl_comm nccl[MOST_DEVICES];
  cuttDistComm_t threads[MOST_RANKS], comms[MOST_RANKS];
  bool alone; /* NCCL without a communicator of the host's */
  int size, count, done;
  uint64_t seed;
} job;

static int devices;
static gpu_context context[MOST_DEVICES];
static atomic_int wrong;

static void expect(bool right, int rank, const char *what) {
  if (right) return;
  atomic_fetch_add(&wrong, 1);
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, cuttLastError());
}

static void use_device(int rank) { expect(!gpu.context_set(context[rank % devices]), rank, "a context"); }

static void random_cases(void *what, int rank) {
  job *j = what;
  use_device(rank);
  for (int i = 0; i < j->count && !atomic_load(&wrong); i++) {
    product_case c;
    char failure[FAILURE_BYTES] = "";
    product_case_make(&c, j->seed + (uint64_t)i, j->size);
    if (c.one || c.type == CUTT_I32 || c.type == CUTT_I64) continue; /* not on GPUs */
    c.on_device = true;
    c.options.backend = CUTT_BACKEND_CUDA;
    c.options.trust_arguments = i % 2;
    alarm(120);
    const bool ran = product_case_try_rank(&c, j->comms[rank], rank, failure);
    if (rank == 0) j->done += ran;
    expect(!failure[0], rank, failure);
  }
}

/* ---------------------------------------------------------------------------------------------------------------- a graph */

enum { SIDE = 600 };

static double element(int tensor, int64_t row, int64_t column) {
  return (double)((row * 7 + column * 3 + 5 * tensor + row * column) % 11 - 5);
}

/* D = L R of square matrices, L and D by columns, R by rows. */
typedef struct product {
  cuttDistContractionPlan_t plan;
  cuttDistLayout_t layout[3];
  int parts[3][2];
  int64_t count[3];
  double *memory[3], *host;
} product;

static cuttResult open_product(product *p, const job *j, int rank, cuttDistAlgorithm_t algorithm, int trust) {
  static const int64_t square[2] = {SIDE, SIDE};
  cuttDistContraction_t c = CUTT_DIST_CONTRACTION_INIT;
  cuttDistContractionOptions_t options = CUTT_DIST_CONTRACTION_OPTIONS_INIT;
  cuttResult result = CUTT_SUCCESS;
  *p = (product){.plan = NULL};
  p->host = malloc(sizeof(double) * SIDE * SIDE);
  for (int t = 0; t < 3; t++) {
    void *made = NULL;
    p->parts[t][0] = t == 1 ? j->size : 1;
    p->parts[t][1] = t == 1 ? 1 : j->size;
    p->layout[t] = (cuttDistLayout_t)CUTT_DIST_LAYOUT_INIT;
    p->layout[t].modes = 2;
    p->layout[t].extents = square;
    p->layout[t].parts = p->parts[t];
    cuttDistLocalCount(&p->layout[t], rank, &p->count[t]);
    if (!result) result = cuttMemoryAllocate(CUTT_BACKEND_CUDA, (size_t)p->count[t] * sizeof(double), &made);
    p->memory[t] = made;
    int64_t own[2] = {1, 1};
    cuttDistLocalExtents(&p->layout[t], rank, own);
    for (int64_t i = 0; i < p->count[t]; i++) {
      int64_t local[2] = {i % own[0], i / own[0]}, global[2];
      cuttDistGlobal(&p->layout[t], rank, local, global);
      p->host[i] = element(t, global[0], global[1]);
    }
    if (!result) result = cuttMemoryCopy(CUTT_BACKEND_CUDA, made, p->host, (size_t)p->count[t] * sizeof(double));
  }
  c.pattern = "ab,bc->ac";
  c.type = CUTT_F64;
  c.left = &p->layout[0];
  c.right = &p->layout[1];
  c.result = &p->layout[2];
  options.algorithm = algorithm;
  options.direct = CUTT_DIST_DIRECT_NEVER;
  options.panel = SIDE / 4;
  options.backend = CUTT_BACKEND_CUDA;
  options.trust_arguments = trust;
  return result ? result : cuttDistContractionPlanCreate(&p->plan, j->comms[rank], &c, &options);
}

/* Integers: exact in any order. */
static bool product_is_right(product *p, int rank) {
  int64_t own[2] = {1, 1};
  cuttDistLocalExtents(&p->layout[2], rank, own);
  if (cuttMemoryCopy(CUTT_BACKEND_CUDA, p->host, p->memory[2], (size_t)p->count[2] * sizeof(double))) return false;
  for (int64_t i = 0; i < p->count[2]; i += 7) {
    int64_t local[2] = {i % own[0], i / own[0]}, global[2];
    double sum = 0;
    cuttDistGlobal(&p->layout[2], rank, local, global);
    for (int64_t k = 0; k < SIDE; k++) sum += element(0, global[0], k) * element(1, k, global[1]);
    if (p->host[i] != sum) return false;
  }
  return true;
}

static void close_product(product *p) {
  cuttDistContractionPlanDestroy(p->plan);
  for (int t = 0; t < 3; t++) cuttMemoryFree(CUTT_BACKEND_CUDA, p->memory[t]);
  free(p->host);
}

/* Executed as it is, captured once, launched twice, and executed as it is again. */
static void capture(void *what, int rank) {
  static const cuttDistAlgorithm_t algorithms[] = {CUTT_DIST_REDISTRIBUTE, CUTT_DIST_SUMMA, CUTT_DIST_REDUCE};
  job *j = what;
  use_device(rank);
  for (int i = 0; i < 6 && !atomic_load(&wrong); i++) {
    product p;
    gpu_stream stream = NULL;
    gpu_graph graph = NULL;
    gpu_graph_exec graph_exec = NULL;
    alarm(60);
    expect(!open_product(&p, j, rank, algorithms[i / 2], i % 2), rank, "a product to capture");
    expect(!gpu.stream_create(&stream, GPU_STREAM_NON_BLOCKING), rank, "stream");
    for (int turn = 0; turn < 4; turn++) {
      gpu.set_bytes((gpu_address)(uintptr_t)p.memory[2], 0xff, (size_t)p.count[2] * sizeof(double));
      gpu.synchronize();
      if (turn == 1) {
        expect(!gpu.capture_begin(stream, GPU_CAPTURE_RELAXED), rank, "capture");
        expect(!cuttDistContractionExecute(p.plan, p.memory[0], p.memory[1], p.memory[2], (cudaStream_t)stream), rank,
               "captured execution");
        expect(!gpu.capture_end(stream, &graph), rank, "end of capture");
        expect(graph && !gpu.graph_instantiate(&graph_exec, graph, 0), rank, "graph");
      }
      if (turn == 1 || turn == 2)
        expect(graph_exec && !gpu.graph_launch(graph_exec, stream), rank, "launch");
      else
        expect(!cuttDistContractionExecute(p.plan, p.memory[0], p.memory[1], p.memory[2], (cudaStream_t)stream), rank,
               "execution");
      expect(!cuttDistCommSynchronize(j->comms[rank], (cudaStream_t)stream, 20), rank, "wait");
      expect(product_is_right(&p, rank), rank,
             turn == 1 || turn == 2 ? "a wrong element by a graph" : "a wrong element");
    }
    if (rank == 0) j->done++;
    if (graph_exec) gpu.graph_exec_destroy(graph_exec);
    if (graph) gpu.graph_destroy(graph);
    gpu.stream_destroy(stream);
    close_product(&p);
  }
}

static void tell(const job *j, const char *what) {
  printf("contractions, %-40s %d ranks, %d done: %s\n", what, j->size, j->done,
         atomic_load(&wrong) ? "WRONG" : "right");
  fflush(stdout);
}

static void by_threads(int size, int count) {
  static job j;
  j = (job){.size = size, .count = count, .seed = 7000 + (uint64_t)size};
  expect(!cuttDistCommThreads(size, j.comms), -1, "communicators of threads");
  ranks_run(size, random_cases, &j);
  tell(&j, "peer copies and peer access");
  for (int i = 0; i < size; i++) cuttDistCommDestroy(j.comms[i]);
}

static void make_nccl(void *what, int rank) {
  job *j = what;
  cuttDistNccl_t options = CUTT_DIST_NCCL_INIT;
  alarm(120);
  use_device(rank);
  options.host = j->alone ? NULL : j->threads[rank];
  expect(!cuttDistCommNccl(&j->comms[rank], j->nccl[rank], &options), rank, "a communicator of NCCL");
}

static void by_nccl(const nccl_library *nccl, bool alone, int count) {
  static job j;
  int list[MOST_DEVICES];
  j = (job){.size = devices, .count = count, .seed = 9000, .alone = alone};
  for (int i = 0; i < devices; i++) list[i] = i;
  expect(!nccl->init_all(j.nccl, devices, list), -1, "ncclCommInitAll");
  expect(!cuttDistCommThreads(devices, j.threads), -1, "communicators of threads");
  ranks_run(devices, make_nccl, &j);
  if (!atomic_load(&wrong)) ranks_run(devices, random_cases, &j);
  tell(&j, alone ? "NCCL, which also gathers" : "NCCL");
  j.done = 0;
  if (!atomic_load(&wrong)) ranks_run(devices, capture, &j);
  tell(&j, "the same, captured for a graph");
  for (int i = 0; i < devices; i++) {
    use_device(i);
    cuttDistCommDestroy(j.comms[i]);
    cuttDistCommDestroy(j.threads[i]);
    nccl->destroy(j.nccl[i]);
  }
}

int main(int count, char **arguments) {
  const int cases = test_scaled(200);
  nccl_library nccl;
  if (!gpu_open()) return 77;
  for (int device = 0; devices < MOST_DEVICES && !gpu.device_get(&device, devices); devices++)
    expect(!gpu.primary_retain(&context[devices], device), devices, "a context");
  by_threads(count > 1 ? atoi(arguments[1]) : devices > 1 ? devices : 2, cases);
  by_threads(3, cases / 2);
  if (devices > 1 && nccl_open(&nccl) && !atomic_load(&wrong)) {
    by_nccl(&nccl, false, cases);
    by_nccl(&nccl, true, cases / 2);
  }
  return atomic_load(&wrong) != 0;
}
