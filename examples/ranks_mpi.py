"""A tensor over the processes of MPI, transposed, with mpi4py: mpirun -n 4 python ranks_mpi.py. As ranks_mpi.c."""

import sys

import numpy as np
from mpi4py import MPI

import cutt.dist

comm = cutt.dist.Comm(MPI.COMM_WORLD)
whole = np.arange(10.0 * 20 * 30).reshape(10, 20, 30)  # here to compare with; else no rank would have it

# a[i, j, k] becomes b[k, j, i], both spread by their first axis.
source = cutt.dist.Layout((10, 20, 30), parts=(comm.size, 1, 1))
target = cutt.dist.Layout((30, 20, 10), parts=(comm.size, 1, 1))
a = np.ascontiguousarray(whole[np.ix_(*source.indices(comm.rank))])  # this rank's part
plan = cutt.dist.Plan(comm, source, target, (2, 1, 0))
b = plan(a)  # any number of times; an error is raised on all ranks

wrong = np.count_nonzero(b != whole.transpose(2, 1, 0)[np.ix_(*target.indices(comm.rank))])
wrong = MPI.COMM_WORLD.allreduce(int(wrong))
if comm.rank == 0:
    print(f"{'WRONG' if wrong else 'right'}: {wrong} elements are wrong on {comm.size} ranks")
comm.free()
sys.exit(wrong != 0)
