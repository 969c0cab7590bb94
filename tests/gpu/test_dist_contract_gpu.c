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
