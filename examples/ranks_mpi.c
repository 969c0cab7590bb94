/* A tensor over the processes of MPI, transposed: mpirun -n 4 ranks_mpi. As ranks.c, whose ranks are threads.
 *
 * Convention: the first mode is the one with stride 1. */
#include <cutt_dist_mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { A = 30, B = 20, C = 10 }; /* in(a, b, c) becomes out(c, b, a), both spread by their last mode */

int main(int count, char **arguments) {
  int rank, size, wrong = 1, sum = 0;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  const int64_t in_extents[3] = {A, B, C}, out_extents[3] = {C, B, A};
  const int parts[3] = {1, 1, size}, perm[3] = {2, 1, 0};
  cuttDistLayout_t from = CUTT_DIST_LAYOUT_INIT, to = CUTT_DIST_LAYOUT_INIT;
  from.modes = to.modes = 3;
  from.extents = in_extents;
  to.extents = out_extents;
  from.parts = to.parts = parts;
  int64_t in_count = 0, out_count = 0, local[3], global[3];
  cuttDistLocalCount(&from, rank, &in_count);
  cuttDistLocalCount(&to, rank, &out_count);
  double *in = malloc((size_t)in_count * sizeof *in + 1), *out = malloc((size_t)out_count * sizeof *out + 1);

  /* Every element says where it is in the whole tensor. */
  cuttDistLocalExtents(&from, rank, local);
  for (int64_t i = 0; in && i < in_count; ++i) {
    const int64_t index[3] = {i % local[0], i / local[0] % local[1], i / local[0] / local[1]};
    cuttDistGlobal(&from, rank, index, global);
    in[i] = (double)(global[0] + 100 * global[1] + 10000 * global[2]);
  }

  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistComm_t comm = NULL;
  cuttDistPlan_t plan = NULL;
  problem.type = CUTT_F64;
  problem.from = &from;
  problem.to = &to;
  problem.perm = perm;
  if (cuttDistCommMpi(&comm, MPI_COMM_WORLD) != CUTT_SUCCESS ||
      cuttDistPlanCreate(&plan, comm, &problem, NULL) != CUTT_SUCCESS ||
      cuttDistPlanExecute(plan, in, out, NULL) != CUTT_SUCCESS) {
    fprintf(stderr, "rank %d: %s\n", rank, cuttLastError()); /* the same on all ranks */
  } else {
    wrong = 0;
    cuttDistLocalExtents(&to, rank, local);
    for (int64_t i = 0; i < out_count; ++i) {
      const int64_t index[3] = {i % local[0], i / local[0] % local[1], i / local[0] / local[1]};
      cuttDistGlobal(&to, rank, index, global);
      wrong += out[i] != (double)(global[2] + 100 * global[1] + 10000 * global[0]);
    }
  }
  cuttDistPlanDestroy(plan);
  cuttDistCommDestroy(comm);
  MPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %d elements are wrong on %d ranks\n", sum ? "WRONG" : "right", sum, size);
  free(in);
  free(out);
  MPI_Finalize();
  return sum != 0;
}
