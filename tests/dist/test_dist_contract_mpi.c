/* Contractions over ranks that are processes of MPI: mpirun -n N test_dist_contract_mpi. Random ones against the definition; rank 0
 * says what it found, and the exit status is 0 if all ranks found nothing. Each has a limit of time, so that a hang is a failure. */
#include <stdio.h>
#include <unistd.h>

#include "cutt_dist_mpi.h"
#include "products.h"

int main(int count, char **arguments) {
  cuttDistComm_t comm = NULL;
  int rank = 0, size = 0, wrong = 0, any = 0, done = 0;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  wrong = cuttDistCommMpi(&comm, MPI_COMM_WORLD) != CUTT_SUCCESS;
  for (int i = 0; i < test_scaled(30) && !wrong; i++) {
    product_case c;
    char failure[FAILURE_BYTES] = "";
    product_case_make(&c, (uint64_t)(1000 * size + i), size);
    if (c.options.direct == CUTT_DIST_DIRECT_ALWAYS) c.options.direct = CUTT_DIST_DIRECT_NEVER;
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
