"""cutt.dist over the processes of MPI: mpiexec -n N python dist_mpi.py."""

import os
import signal
import sys

import numpy as np
from mpi4py import MPI

import cutt.dist as dist
from dist_trials import errors, fails, trial
from support import rounds

world = MPI.COMM_WORLD


def lost_message(comm):
    """A send that fails on one rank, and an exception in a callback: every rank hears of it, and none hangs."""
    if comm.size == 1:
        return
    last = comm.size - 1
    rows, columns = dist.Layout((8 * comm.size, 9), (comm.size, 1)), dist.Layout((8 * comm.size, 9), (1, comm.size))
    plan = dist.Plan(comm, rows, columns)
    a = np.ones(rows.local_shape(comm.rank))
    plan(a)
    if comm.rank == last:
        comm._transport.buffer_of = None
    words = f"rank {last} of {comm.size} has failed: AttributeError: "
    fails(RuntimeError, words, plan, a)
    fails(RuntimeError, words, plan, a)
    fails(RuntimeError, words, dist.Plan, comm, rows, columns)
    fails(RuntimeError, words, comm.empty, (3,))


def shared(comm):
    """Results in memory of other processes, of two plans in turn."""
    last = comm.size - 1
    fails(ValueError, f"rank {last}: shape is (-1,)", comm.empty, (-1,) if comm.rank == last else (1,))
    memory = comm.empty((50000,), np.uint8)
    assert memory.ctypes.data % 64 == 0

    def empty(shape, dtype):
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        return memory[:size].view(dtype).reshape(shape)

    for seed in range(rounds(8)):
        trial(comm, 1000 + seed, direct=True if seed % 2 else None, empty=empty)
    rows, columns = dist.Layout((comm.size, 6), (comm.size, 1)), dist.Layout((6, comm.size), (1, comm.size))
    outs = [comm.empty(columns.local_shape(comm.rank)) for _ in range(2)]
    plans = [dist.Plan(comm, rows, columns, (1, 0), direct=True) for _ in range(2)]
    for number in range(10):
        for plan, out in zip(plans, outs):
            a = np.arange(6.0).reshape(1, 6) + 10 * comm.rank + number
            assert np.array_equal(plan(a, out), a.T)
    fails(ValueError, "it is not an array of the communicator's empty()", plans[0], a)


def main():
    signal.alarm(200)
    with dist.Comm(world) as comm:
        assert (comm.rank, comm.size) == (world.rank, world.size), comm
        for seed in range(rounds(12)):
            trial(comm, 100 * comm.size + seed)
        errors(comm)
        shared(comm)
        large = dist.Layout((300, 40 * comm.size), (comm.size, 1))
        plan = dist.Plan(comm, large, dist.Layout(large.shape, (1, comm.size)), piece_bytes=1000)
        assert plan(np.ones(large.local_shape(comm.rank))).sum() == 300 * 40
        assert plan.info["pieces_sent"] >= 10 * (comm.size - 1), plan.info
    lost_message(dist.Comm(world))
    forgotten = dist.Comm(world)  # never freed: MPI ends all the same
    assert forgotten.size == world.size
    world.Barrier()
    if world.rank == 0:
        print(f"{world.size} ranks of {MPI.Get_library_version().splitlines()[0][:40]}: right")


try:
    main()
except BaseException:
    sys.excepthook(*sys.exc_info())
    sys.stderr.flush()
    os._exit(1)  # without MPI's end, which other ranks do not come to
