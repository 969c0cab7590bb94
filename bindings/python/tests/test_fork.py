"""Children of a fork: the threads of the parent are not there, and everything works, with plans of either.

Each case is a process of its own, which ends by itself after some minutes.
"""

import os
import subprocess
import sys
import unittest

from support import has_blas

# The parent, which has used threads, and a function run(work) that calls work() in a forked child.
BEGIN = """
import multiprocessing, os, signal, sys, threading, numpy as np, cutt
signal.alarm(150)
random = np.random.default_rng(1)
a, b = random.random((60, 200, 300)), random.random((400, 400))
plan, single = cutt.Plan(a, threads=2), cutt.Plan(a, threads=1)
cutt.transpose(a, threads=2)
assert (plan(a) == a.T).all()

def run(work):
    child = os.fork()
    if child == 0:
        signal.alarm(150)
        try:
            work()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status == 0, status

def permute():
    assert (cutt.transpose(a, threads=2) == a.T).all()
    assert (plan(a) == a.T).all() and (single(a) == a.T).all()
    assert (cutt.Plan(a, threads=2)(a) == a.T).all()
    out = np.empty(a.T.shape)
    assert len(plan.time(a, out, 2)) == 2 and (out == a.T).all()

def measure():
    for threads in (1, 2, None):
        made = cutt.Plan(a, threads=threads, measure=0.05)
        assert made.info["measured_seconds"] > 0 and (made(a) == a.T).all()
    assert cutt.copy_bandwidth(1 << 22, backend="cpu", count=2) > 0
"""
CONTRACT = """
theirs = b @ b
product = cutt.ContractionPlan("ij,jk", b, b, threads=2)
permuted = cutt.ContractionPlan("abc,cbd->da", a, a.T, threads=2)
assert np.allclose(product(b, b), theirs)

def contract():
    assert np.allclose(product(b, b), theirs)
    assert np.allclose(cutt.einsum("ij,jk", b, b, threads=2), theirs)
    assert np.allclose(cutt.ContractionPlan("ij,jk", b, b, threads=2)(b, b), theirs)
    assert np.allclose(permuted(a, a.T), np.tensordot(a, a.T, ([1, 2], [1, 0])).T)

def time():
    assert len(product.time_gemm(2)) == 2
    assert len(cutt.ContractionPlan("ij,jk", b, b, threads=2).time_gemm(2)) == 2
    assert product.time(b, b, np.empty_like(b), 2)[0]["total"] > 0
"""


class Fork(unittest.TestCase):
    def check(self, *parts):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", "".join(parts)],
            env={**os.environ, "OMP_NUM_THREADS": "2"},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def need_blas(self):
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")

    def test_permute(self):
        self.check(BEGIN, "run(permute)\nrun(permute)\npermute()\n")

    def test_measure(self):
        self.check(BEGIN, "run(measure)\nmeasure()\n")

    def test_grandchild(self):
        self.check(BEGIN, "run(lambda: (permute(), run(permute), measure()))\n")

    def test_contract(self):
        self.need_blas()
        self.check(BEGIN, CONTRACT, "run(contract)\nrun(contract)\ncontract()\n")

    def test_time_gemm(self):
        self.need_blas()
        self.check(BEGIN, CONTRACT, "run(time)\ntime()\n")

    def test_multiprocessing(self):
        self.check(
            BEGIN,
            "context = multiprocessing.get_context('fork')\n"
            "def work(axes):\n"
            "    assert cutt.Plan(a, axes, measure=0.02)(a).shape == a.transpose(axes).shape\n"
            "    return cutt.transpose(a, axes).tobytes() == np.ascontiguousarray(a.transpose(axes)).tobytes()\n"
            "with context.Pool(3) as pool:\n"
            "    assert all(pool.map(work, [(0, 2, 1), (1, 0, 2), (2, 1, 0), (2, 0, 1), (1, 2, 0)] * 3))\n",
        )

    def test_multiprocessing_contracts(self):
        self.need_blas()
        self.check(
            BEGIN,
            CONTRACT,
            "context = multiprocessing.get_context('fork')\n"
            "def work(n):\n"
            "    made = cutt.ContractionPlan('ij,jk', (n, n), (n, n))\n"
            "    return np.allclose(cutt.einsum('ij,jk', b, b), theirs) and len(made.time_gemm(1)) == 1\n"
            "with context.Pool(3) as pool:\n"
            "    assert all(pool.map(work, range(100, 300, 20)))\n",
        )

    def test_while_threads_work(self):
        """Other threads are in the library, and have its caches, at the moment of the fork."""
        self.check(
            BEGIN,
            "done = threading.Event()\n"
            "def work(seed):\n"
            "    mine = np.random.default_rng(seed)\n"
            "    while not done.is_set():\n"
            "        c = mine.random(tuple(mine.integers(1, 40, 3)))\n"
            "        assert (cutt.transpose(c, threads=2) == c.T).all()\n"
            "        cutt.plan_cache.limit = int(mine.integers(1, 9))\n"
            "threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2)]\n"
            "for thread in threads: thread.start()\n"
            "for _ in range(6): run(permute)\n"
            "done.set()\n"
            "for thread in threads: thread.join()\n",
        )

    def test_first_in_the_child(self):
        """Nothing was done before the fork."""
        for first in ("permute()", "measure()"):
            lines = BEGIN.replace("cutt.transpose(a, threads=2)\nassert (plan(a) == a.T).all()\n", "", 1)
            self.check(lines, f"run({first[:-2]})\n{first}\n")


if __name__ == "__main__":
    unittest.main()
