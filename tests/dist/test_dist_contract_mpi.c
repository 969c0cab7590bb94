/* Contractions over ranks that are processes of MPI: mpirun -n N test_dist_contract_mpi [gpu]; with "gpu", tensors are in the memory
 * of GPUs. Random ones against the definition; rank 0 says what it found, and the exit status is 0 if all ranks found nothing. Each has a limit of time, so that a hang is a failure. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cutt_dist_mpi.h"
#include "gpu/driver.h"
#include "products.h"

/* false: there is none. */
static bool use_device(int rank) {
  gpu_context context = NULL;
  int devices = 0, device = 0;
  if (!gpu_open()) return false;
  while (!gpu.device_get(&device, devices)) devices++;
  return !gpu.device_get(&device, rank % devices) && !gpu.primary_retain(&context, device) && !gpu.context_set(context);
}

int main(int count, char **arguments) {
  cuttDistComm_t comm = NULL;
  int rank = 0, size = 0, wrong = 0, any = 0, done = 0;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool on_device = count > 1 && strcmp(arguments[1], "gpu") == 0;
  wrong = (on_device && !use_device(rank)) || cuttDistCommMpi(&comm, MPI_COMM_WORLD) != CUTT_SUCCESS;
  for (int i = 0; i < test_scaled(30) && !wrong; i++) {
    product_case c;
    char failure[FAILURE_BYTES] = "";
    product_case_make(&c, (uint64_t)(1000 * size + i), size);
    if (c.options.direct == CUTT_DIST_DIRECT_ALWAYS) c.options.direct = CUTT_DIST_DIRECT_NEVER;
    if (on_device && (c.one || c.type == CUTT_I32 || c.type == CUTT_I64)) continue;
    c.on_device = on_device;
    c.options.backend = on_device ? CUTT_BACKEND_CUDA : CUTT_BACKEND_CPU;
    alarm(120);
    done += product_case_try_rank(&c, comm, rank, failure);
    if (failure[0]) fprintf(stderr, "%s\n", failure);
    wrong = failure[0] != 0;
  }
  alarm(60);
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (cuttDistCommDestroy(comm) != CUTT_SUCCESS) any = 1;
  if (rank == 0) printf("%d contractions on %d ranks of MPI: %s\n", done, size, any ? "WRONG" : "right");
  MPI_Finalize();
  return any || done == 0;
}
