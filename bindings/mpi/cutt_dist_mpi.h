/* cutt_dist_mpi.h: communicators of cutt_dist.h whose ranks are the processes of an MPI communicator.
 *
 * libcutt_dist has no MPI in it, since each MPI has an interface of its own to binaries. This header comes with one source,
 * cutt_dist_mpi.c, that is compiled with the MPI at hand: by find_package(cutt COMPONENTS mpi), as the target cutt::dist_mpi; or
 *   mpicc -I PREFIX/share/cutt/mpi program.c PREFIX/share/cutt/mpi/cutt_dist_mpi.c -lcutt_dist -lcutt_contract -lcutt
 *
 * MPI 3.0 or later. Messages are plain bytes, at most 2^31 - 1 each; no derived types and no threads are used. */
#ifndef CUTT_DIST_MPI_H
#define CUTT_DIST_MPI_H

#include <mpi.h>

#include "cutt_dist.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a communicator of all ranks of an MPI communicator, which is duplicated. Collective over mpi, between MPI_Init and
 * MPI_Finalize; calls with *comm are made by the thread that MPI allows to.
 * cuttDistCommDestroy is collective too, and has to be called before MPI_Finalize. After a failure of the communicator it leaves the
 * duplicate as it is, since messages may still be on their way.
 * Errors: CUTT_INVALID_PARAMETER (comm is NULL), CUTT_INTERNAL_ERROR: what MPI or a rank said. */
cuttResult_t cuttDistCommMpi(cuttDistComm_t *comm, MPI_Comm mpi);

/* The same for a communicator as Fortran has it: an MPI_Fint, in mpi_f08 the component MPI_VAL. The module cutt_dist_mpi calls this. */
cuttResult_t cuttDistCommMpiFortran(cuttDistComm_t *comm, int64_t mpi);

/* Memory that the ranks of one node reach (MPI_Win_allocate_shared): this rank's bytes, 0 or more, at a multiple of 64. Where
 * all outputs of an execution lie within such memory of their communicator, ranks write straight into each other's, without
 * messages, unless the plan has CUTT_DIST_DIRECT_NEVER. Collective. cuttDistMpiFree, collective too, takes what one call has given to each rank; cuttDistCommDestroy
 * frees the rest.
 * Errors: CUTT_INVALID_PLAN (comm), CUTT_INTERNAL_ERROR: ranks are on different nodes, an argument of some rank is wrong, MPI has
 * no memory; cuttDistMpiFree: pointer is another one. */
cuttResult_t cuttDistMpiAllocate(cuttDistComm_t comm, int64_t bytes, void **pointer);
cuttResult_t cuttDistMpiFree(cuttDistComm_t comm, void *pointer);

#ifdef __cplusplus
}
#endif

#endif
