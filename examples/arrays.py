"""NumPy's arrays: a batch of pictures from NHWC to NCHW, and two contractions, beside NumPy's own time: its permutation
followed by a copy, and its einsum with optimize=True, which finds matrix products. All are on one thread; without threads=1
and the lines about the environment, cuTT and NumPy's BLAS take as many as there are cores.

From a source tree: PYTHONPATH=bindings/python CUTT_LIBRARY_DIR=build/lib python3 examples/arrays.py
"""

import os
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before NumPy loads its BLAS
try:
    import numpy as np
except ImportError:
    print("skipped: there is no NumPy")
    sys.exit(77)
import cutt


def best(call, rounds=3):
    """The result, and the fewest seconds of some rounds. Before them the memory is touched once."""
    result, seconds = call(), []
    for _ in range(rounds):
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


def beside(what, ours, numpys, exact=False):
    (a, mine), (b, theirs) = best(ours), best(numpys)
    same = np.array_equal(a, b) if exact else np.allclose(a, b, rtol=1e-9, atol=1e-9)
    print(f"{what:32} NumPy {1e3 * theirs:8.2f} ms, cuTT {1e3 * mine:8.2f} ms: {theirs / mine:.1f} times as fast")
    if not same:
        sys.exit(f"{what}: the results DIFFER")


cpu = next(backend for backend in cutt.devices()["backends"] if backend["name"] == "cpu")
print(f"One thread of {(cpu.get('device') or {}).get('name', 'this processor')}, NumPy {np.__version__}:")
rng = np.random.default_rng(1)
pictures = rng.random((64, 224, 224, 3), dtype=np.float32)
axes = (0, 3, 1, 2)
beside("NHWC to NCHW", lambda: cutt.transpose(pictures, axes, threads=1),
       lambda: np.ascontiguousarray(pictures.transpose(axes)), exact=True)

# The same into an array that is there already, by a plan that is kept.
out = np.empty((64, 3, 224, 224), np.float32)
beside("NHWC to NCHW, into an array", lambda: cutt.transpose(pictures, axes, out=out, threads=1),
       lambda: (np.copyto(out, pictures.transpose(axes)), out)[1], exact=True)

# Terms of coupled cluster: as it lies, and with modes that have to be brought together.
try:
    v, t = rng.random((36, 36, 36, 36)), rng.random((36, 36, 8, 8))
    w = rng.random((36, 8, 36, 8))
    beside("einsum abcd,cdij->abij", lambda: cutt.einsum("abcd,cdij->abij", v, t, threads=1),
           lambda: np.einsum("abcd,cdij->abij", v, t, optimize=True))
    beside("einsum akci,cbjk->abij", lambda: cutt.einsum("akci,cbjk->abij", w, t, threads=1),
           lambda: np.einsum("akci,cbjk->abij", w, t, optimize=True))
except RuntimeError as error:  # no BLAS on this machine
    print(f"no contraction: {error}")
