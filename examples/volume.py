"""Permutations that people wait for, beside NumPy: a scan of a body from the order of its file to C order, and feature maps
of a network from NHWC to NCHW. volume.py [SIDE]: voxels on each side, 512 by default, less where memory is short.

From a source tree: PYTHONPATH=bindings/python CUTT_LIBRARY_DIR=build/lib python3 examples/volume.py
"""

import os
import sys
import time

try:
    import numpy as np
except ImportError:
    print("skipped: there is no NumPy")
    sys.exit(77)
import cutt


def seconds_of(call, rounds):
    """Of the best round, as everybody's first one has memory to touch."""
    result, seconds = None, []
    for _ in range(rounds):
        result = None  # given back before the next one is made
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


def compare(what, a, axes):
    print(f"{what}: {' x '.join(map(str, a.shape))}, axes {axes}, {a.nbytes / 1e6:.0f} MB", flush=True)
    theirs, slow = seconds_of(lambda: np.ascontiguousarray(a.transpose(axes)), 2)
    print(f"  NumPy, np.ascontiguousarray(a.transpose{axes}): {1e3 * slow:6.0f} ms", flush=True)
    for threads in sorted({1, len(os.sched_getaffinity(0))}):
        mine, fast = seconds_of(lambda n=threads: cutt.transpose(a, axes, threads=n), 3)
        many = f"{threads} threads" if threads > 1 else "1 thread"
        print(f"  cuTT, cutt.transpose(a, {axes}), {many + ':':11} {1e3 * fast:6.0f} ms, {slow / fast:.1f} times as fast", flush=True)
        if not np.array_equal(mine, theirs):
            sys.exit(f"{what}: the results DIFFER")
        del mine


def side_that_fits():
    """The scan, NumPy's result, cuTT's result and their comparison take some four times its size."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return next((side for side in (512, 384, 256) if 5 * 4 * side**3 < free), 128)


side = int(sys.argv[1]) if len(sys.argv) > 1 else side_that_fits()
cpu = next(backend for backend in cutt.devices()["backends"] if backend["name"] == "cpu")
print(f"{(cpu.get('device') or {}).get('name', 'This processor')}, NumPy {np.__version__}, which permutes on one thread")
scan = np.arange(side**3, dtype=np.float32).reshape(side, side, side)
compare("A scan, from x fastest to z fastest", scan, (2, 1, 0))
del scan
maps = np.arange(side // 8 * 56 * 56 * side // 2, dtype=np.float32).reshape(side // 8, 56, 56, side // 2)
compare("Feature maps, from NHWC to NCHW", maps, (0, 3, 1, 2))
