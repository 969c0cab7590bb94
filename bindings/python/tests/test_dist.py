"""cutt.dist: layouts, and redistributions between threads. Processes of MPI are in dist_mpi.py."""

import contextlib
import gc
import os
import subprocess
import sys
import threading
import unittest
import unittest.mock

import numpy as np

import cutt.dist as dist
from cutt import _cuda
from cutt import _dist_library as D
from cutt import _library as L
from dist_trials import errors, fails, trial
from support import need, rounds


def on_ranks(size, work):
    """work(comm) on a thread for each rank."""
    comms, wrong = dist.Comm.threads(size), []

    def one(comm):
        try:
            work(comm)
        except BaseException as error:
            wrong.append(f"rank {comm.rank}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=one, args=(comm,), daemon=True) for comm in comms]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    if any(thread.is_alive() for thread in threads):
        raise AssertionError(f"a rank hangs; {wrong}")
    if wrong:
        raise AssertionError(wrong)
    for comm in comms:
        comm.free()


class Layouts(unittest.TestCase):
    def test_parts_cover_the_whole(self):
        whole = np.arange(7 * 10).reshape(7, 10)
        for blocks in ((0, 0), (2, 0), (1, 3)):
            layout = dist.Layout(whole.shape, (2, 3), blocks, [[5, 1, 2], [3, 4, 0]])
            seen = np.concatenate([whole[np.ix_(*layout.indices(rank))].ravel() for rank in range(6)])
            self.assertEqual(sorted(seen), list(range(70)))
            for index in ((0, 0), (6, 9), (3, 4)):
                rank, local = layout.find(index)
                self.assertEqual(layout.index(rank, local), index)
        self.assertEqual(dist.Layout((10,), (3,)).local_shape(0), (4,))
        self.assertEqual(dist.Layout((10,), (3,)).local_shape(5), (0,))
        self.assertEqual(dist.Layout((7, 10), (2, 3)).find((0, 9))[0], 2)  # the last axis of the grid is the fastest
        self.assertEqual(dist.Layout((2,), copies=3).find((1,), copy=2), (2, (1,)))

    def test_facts(self):
        a, b = dist.Layout((4, 5), (2, 1)), dist.Layout([4, 5], parts=[2, 1], ranks=[0, 1])
        self.assertEqual(a, dist.Layout((4, 5), [2, 1], [0, 0]))
        self.assertNotEqual(a, b)
        self.assertEqual(len({a, b, dist.Layout((4, 5), (2, 1))}), 2)
        self.assertEqual(repr(b), "Layout((4, 5), parts=(2, 1), ranks=(0, 1))")

    def test_refused(self):
        fails(TypeError, "shape is 3", dist.Layout, 3)
        fails(ValueError, "parts has 1 entries", dist.Layout, (3, 4), (2,))
        fails(ValueError, "parts is (0,)", dist.Layout, (3,), (0,))
        fails(
            ValueError,
            "ranks has 3 entries; it must have one for each position and copy: 2",
            dist.Layout,
            (3,),
            (2,),
            None,
            [0, 1, 2],
        )
        fails(ValueError, "ranks[1]", dist.Layout, (3,), (2,), None, [0, 0])
        fails(ValueError, "global[0] is 3", dist.Layout((3,)).find, (3,))
        fails(TypeError, "source is None", dist.relabel, None, None)

    def test_relabelled(self):
        """A grid that is only turned round keeps everything."""
        source, target = dist.Layout((60, 60), (3, 4)), dist.Layout((60, 60), (4, 3))
        ranks = np.array(dist.relabel(source, target, (1, 0)).ranks).reshape(4, 3)
        self.assertTrue(np.array_equal(ranks, np.arange(12).reshape(3, 4).T))
        fails(ValueError, "for 12 ranks", dist.relabel, source, target, (1, 0), 11)

    def test_scalapack(self):
        """The guide's table: where a descriptor's elements are, as indxg2p, indxg2l and numroc count them."""
        m, n, mb, nb, p, q, rsrc, csrc = 37, 53, 4, 7, 2, 3, 1, 2
        for grid in (np.arange(p * q).reshape(p, q), np.arange(p * q).reshape(q, p).T):  # row-major, column-major
            ranks = [[grid[(row + rsrc) % p, (column + csrc) % q] for column in range(q)] for row in range(p)]
            layout = dist.Layout((m, n), (p, q), (mb, nb), ranks)
            for i, j in ((0, 0), (3, 7), (4, 6), (36, 52), (17, 30)):
                rank, local = layout.find((i, j))
                self.assertEqual(rank, grid[(rsrc + i // mb) % p, (csrc + j // nb) % q])
                self.assertEqual(local, (i // (mb * p) * mb + i % mb, j // (nb * q) * nb + j % nb))

    def test_cutensormp(self):
        """The guide's table: 10 elements in blocks of 4 over two ranks, and 6 near-even over three."""
        extent, block_size, ranks_per_mode, ranks = (10, 6), (4, 0), (2, 3), (5, 4, 3, 2, 1, 0)
        # Mode 0 is the fastest there, in memory and in the grid: NumPy's last axis.
        layout = dist.Layout(extent[::-1], ranks_per_mode[::-1], block_size[::-1], ranks)
        for i in range(10):
            for j in range(6):
                place = i // 4 % 2 + 2 * (j // 2)
                self.assertEqual(layout.find((j, i)), (ranks[place], (j % 2, i // 8 * 4 + i % 4)))
        copied = dist.Layout((10,), (2,), copies=3)  # nranks = 6, nranksPerMode = {2}
        self.assertEqual([copied.find((9,), copy)[0] for copy in range(3)], [1, 3, 5])


class Threads(unittest.TestCase):
    def test_random(self):
        for seed in range(rounds(40)):
            on_ranks(1 + seed % 6, lambda comm: trial(comm, seed, direct=[None, True, False][seed % 3]))

    def test_scalapack_to_columns(self):
        """A matrix of ScaLAPACK's, in Fortran's order with rows to spare (LLD), to whole columns near-even."""
        m, n, mb, nb, p, q = 11, 9, 2, 3, 2, 2
        whole = np.arange(m * n, dtype=np.float64).reshape(m, n)

        def work(comm):
            source = dist.Layout((m, n), (p, q), (mb, nb))
            rows, columns = source.local_shape(comm.rank)
            lld = rows + 3
            memory = np.full((lld, columns), np.nan, order="F")
            a = memory[:rows]
            a[...] = whole[np.ix_(*source.indices(comm.rank))]
            target = dist.Layout((m, n), (1, comm.size))
            made = dist.Plan(comm, source, target, strides=(8, 8 * lld))(a)
            assert np.array_equal(made, whole[np.ix_(*target.indices(comm.rank))])

        on_ranks(4, work)

    def test_errors(self):
        on_ranks(1, errors)
        on_ranks(4, errors)

    def test_descriptions(self):
        def work(comm):
            layout = dist.Layout((12, 5), (comm.size, 1))
            plan = dist.Plan(comm, layout, dist.Layout((5, 12), (1, comm.size)), (1, 0), direct=False)
            facts = plan.info
            assert facts["bytes_sent"] == 0 and facts["direct"] is False, facts
            assert "permutation" in plan.describe() and plan.describe("json")["size"] == comm.size
            fails(ValueError, "format is 'x'", plan.describe, "x")
            assert "(4, 5) -> (5, 4)" in repr(plan), plan
            plan(np.ones((4, 5)))

        on_ranks(3, work)

    def test_freed(self):
        (comm,) = dist.Comm.threads(1)
        layout = dist.Layout((3,))
        plan, forgotten = dist.Plan(comm, layout, layout), dist.Plan(comm, layout, layout)
        del forgotten
        gc.collect()
        comm.free()
        comm.free()
        fails(ValueError, "has been freed", plan, np.ones(3))
        fails(ValueError, "has been freed", dist.Plan, comm, layout, layout)
        fails(TypeError, "it must be a cutt.dist.Comm", dist.Plan, None, layout, layout)
        fails(TypeError, "it must be a communicator of mpi4py", dist.Comm, 7)
        with dist.Comm.threads(1)[0] as comm:
            plan = dist.Plan(comm, layout, layout)
        fails(ValueError, "has been freed", plan, np.ones(3))

    def test_torch(self):
        torch = need("torch")
        comm = dist.Comm.threads(1)[0]
        plan = dist.Plan(comm, dist.Layout((3, 4)), dist.Layout((4, 3)), (1, 0), dtype=torch.float32)
        a = torch.arange(12.0).reshape(3, 4)
        made = plan(a)
        self.assertIsInstance(made, torch.Tensor)
        self.assertTrue(torch.equal(made, a.T))


SHARDED = """
import threading, numpy as np, jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
import cutt.dist as dist

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
whole = np.arange(8.0 * 12).reshape(8, 12)
before, after = (NamedSharding(mesh, PartitionSpec(*names)) for names in (("x", "y"), (None, ("x", "y"))))
a = jax.device_put(whole, before)  # rank = the device's number
source, target = dist.Layout((8, 12), (2, 2)), dist.Layout((12, 8), (1, 4))
shards, made, comms = {shard.device.id: shard.data for shard in a.addressable_shards}, {}, dist.Comm.threads(4)

def work(comm):
    made[comm.rank] = dist.Plan(comm, source, target, (1, 0), dtype=a.dtype)(shards[comm.rank])

threads = [threading.Thread(target=work, args=(comm,), daemon=True) for comm in comms]
for thread in threads: thread.start()
for thread in threads: thread.join(60)
assert all(isinstance(part, jax.Array) for part in made.values()), made
parts = [jax.device_put(made[device.id], device) for device in jax.devices()]
b = jax.make_array_from_single_device_arrays((12, 8), after, parts)
assert np.array_equal(b, whole.T.astype(a.dtype)), b
"""


class Sharded(unittest.TestCase):
    def test_jax(self):
        """JAX's shardings are layouts, parts by mesh axis; shards go in, and shards come out."""
        need("jax")
        flags = "--xla_force_host_platform_device_count=4"
        environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
        subprocess.run([sys.executable, "-c", SHARDED], check=True, env=environment, timeout=300)


class Imports(unittest.TestCase):
    def test_without_mpi(self):
        """The package does not load libcutt_dist, and cutt.dist no MPI, unless they are asked for."""
        program = (
            "import sys, cutt; assert 'cutt._dist_library' not in sys.modules; import cutt.dist; "
            "assert not any(name.startswith('mpi4py') for name in sys.modules), sys.modules"
        )
        subprocess.run([sys.executable, "-c", program], check=True)


class CudaArray:
    """An array that says that it is on a GPU; its memory is NumPy's."""

    def __init__(self, inner, stream):
        self.inner, self.stream = inner, stream

    @property
    def __cuda_array_interface__(self):
        return dict(self.inner.__array_interface__, stream=self.stream, strides=self.inner.strides)


class LikeADriver:
    """libcutt_dist, which is told of a GPU, and plans for the CPU, where the arrays are."""

    def __init__(self, told):
        self.told = told

    def __getattr__(self, name):
        return getattr(REAL, name)

    def cuttDistPlanCreate(self, plan, comm, problem, options):
        self.told.append(("create", options._obj.backend, CURRENT.device))
        options._obj.backend = 0
        return REAL.cuttDistPlanCreate(plan, comm, problem, options)

    def cuttDistPlanExecute(self, plan, source, result, stream):
        self.told.append(("execute", stream, CURRENT.device))
        return REAL.cuttDistPlanExecute(plan, source, result, None)


REAL, CURRENT = D.lib, threading.local()


@contextlib.contextmanager
def context(device):
    CURRENT.device = device
    yield
    CURRENT.device = None


class OnDevice(unittest.TestCase):
    """Arrays on GPUs, with stand-ins for the driver and for the library's calls."""

    def setUp(self):
        self.told, self.waited = [], []
        stand_ins = {
            "primary": lambda device: 0x1000 + device,
            "context": context,
            "wait": self.waited.append,
            "device_of": lambda pointer: 3,
        }
        patches = [unittest.mock.patch.object(_cuda, *each) for each in stand_ins.items()]
        for patch in [*patches, unittest.mock.patch.object(D, "lib", LikeADriver(self.told))]:
            patch.start()
            self.addCleanup(patch.stop)

    def test_context_and_stream(self):
        whole = np.arange(70.0).reshape(7, 10)

        def work(comm):
            CURRENT.device = None
            rows, columns = dist.Layout((7, 10), (2, 1)), dist.Layout((10, 7), (2, 1))
            plan = dist.Plan(comm, rows, columns, (1, 0), device=3)
            a = np.ascontiguousarray(whole[rows.indices(comm.rank)[0]])
            out = np.full(columns.local_shape(comm.rank), -1.0)
            given = CudaArray(out, 0x50)
            assert plan(CudaArray(a, 0x50), out=given) is given
            assert (out == whole.T[columns.indices(comm.rank)[0]]).all()
            with self.assertRaisesRegex(ValueError, "a is on the CPU, and the plan is for CUDA device 3"):
                plan(a, out=given)

        on_ranks(2, work)
        self.assertEqual(sorted(self.told), [("create", L.BACKENDS["cuda"], 3)] * 2 + [("execute", 0x50, 3)] * 2)
        self.assertEqual(self.waited, [0x50, 0x50])  # nobody says in which stream these arrays are read

    def test_parts_that_are_not_there(self):
        whole = np.arange(12.0)

        def work(comm):
            CURRENT.device = None
            first, second = dist.Layout((12,), (1,), ranks=[0]), dist.Layout((12,), (1,), ranks=[1])
            there, back = dist.Plan(comm, first, second, device=3), dist.Plan(comm, first, first, device=3)
            out = np.zeros(12)
            if comm.rank == 0:
                there(CudaArray(whole, 1), out=CudaArray(np.empty(0), 1))
                back(CudaArray(whole, 1), out=CudaArray(out, 1))
            else:
                there(None, out=CudaArray(out, 1))
                assert back() is None
            assert (out == whole).all()

        on_ranks(2, work)
        self.assertEqual({told[2] for told in self.told}, {3})

    def test_refusals(self):
        def work(comm):
            CURRENT.device = None
            layout = dist.Layout((4,), (1,))
            with self.assertRaisesRegex(ValueError, "device is -1"):
                dist.Plan(comm, layout, layout, device=-1)
            plan = dist.Plan(comm, layout, layout)
            with self.assertRaisesRegex(ValueError, "a is on CUDA device 3, and the plan is for the CPU"):
                plan(CudaArray(np.zeros(4), 1))
            plan = dist.Plan(comm, layout, layout, device=3)
            with self.assertRaisesRegex(ValueError, "give out="):
                plan(CudaArray(np.zeros(4), 1))
            with self.assertRaisesRegex(ValueError, "a is None, and this rank's part is"):
                plan()
            with unittest.mock.patch.object(_cuda, "primary", side_effect=RuntimeError("no driver is here")):
                with self.assertRaisesRegex(ValueError, "no driver is here"):
                    dist.Plan(comm, layout, layout, device=3)

        on_ranks(1, work)
