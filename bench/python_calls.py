#!/usr/bin/env python3
"""What a call of the Python package costs, beside NumPy, PyTorch and CuPy.

    PYTHONPATH=bindings/python CUTT_LIBRARY_DIR=build/lib bench/python_calls.py [--device cpu|cuda] [--threads 1]
                                                                                [--seconds 0.2] [--json FILE]

Small permutations, contractions, elementwise operations and maxima, where the call counts as much as the work. All ways of a case take turns (A B A B ...),
each for about a millisecond at a time, and medians are compared. On a GPU a row has two numbers: microseconds of the host
until the call returns, and with the GPU's own work, waited for at the end of each turn. Every result is compared with the
peer's before it is timed. CUTT_COMPILED=0 times the way without the compiled module.
"""

import argparse
import gc
import json
import os
import statistics
import sys
import time

SIZES = (("1 KB", (16, 16)), ("16 KB", (64, 64)), ("100 KB", (160, 160)), ("1 MB", (512, 512)), ("16 MB", (2048, 2048)))
SUMS = (
    ("4 x 4", "ij,jk->ik", (4, 4), (4, 4)),
    ("64 x 64", "ij,jk->ik", (64, 64), (64, 64)),
    ("100 of 4 x 4", "bij,bjk->bik", (100, 4, 4), (100, 4, 4)),
    ("sum over 64 x 64", "ij->j", (64, 64), None),
)
COMBINED = (("16 x 16", (16, 16)), ("160 x 160", (160, 160)))
TURN = 1e-3  # seconds


def take_turns(ways, seconds, wait):
    """{name: (host, all)} in microseconds a call."""
    counts, times = {}, {name: [] for name in ways}
    for name, call in ways.items():
        counts[name], taken = 1, 0.0
        while taken < TURN:
            counts[name] *= 2
            wait()
            start = time.perf_counter()
            for _ in range(counts[name]):
                call()
            wait()
            taken = time.perf_counter() - start
    end = time.perf_counter() + seconds * len(ways)
    while time.perf_counter() < end or len(next(iter(times.values()))) < 5:
        for name, call in ways.items():
            turns = range(counts[name])
            wait()
            start = time.perf_counter()
            for _ in turns:
                call()
            host = time.perf_counter()
            wait()
            times[name].append(((host - start) / counts[name], (time.perf_counter() - start) / counts[name]))
    return {name: tuple(1e6 * statistics.median(column) for column in zip(*held)) for name, held in times.items()}


class NumPy:
    """On the CPU, and what the results of the others are compared with."""

    name = "NumPy"

    def __init__(self, np):
        self.np, self.wait = np, lambda: None
        core = getattr(np, "_core", None) or np.core
        self.sum = core._multiarray_umath.c_einsum  # einsum without what it does in Python
        self.add, self.most = np.add, lambda a: a.max(0)

    def array(self, shape):
        return self.np.random.default_rng(1).random(shape, self.np.float32)

    def permuted(self, a):
        return lambda: self.np.ascontiguousarray(a.T)

    def into(self, a, out):
        return lambda: self.np.copyto(out, a.T)

    def empty(self, shape):
        return self.np.empty(shape, self.np.float32)

    def host(self, a):
        return a


class CuPy(NumPy):
    name = "CuPy"

    def __init__(self, np, cupy):
        super().__init__(np)
        self.cupy, self.sum, self.wait = cupy, cupy.einsum, lambda: cupy.cuda.get_current_stream().synchronize()
        self.add = cupy.add

    def array(self, shape):
        return self.cupy.asarray(super().array(shape))

    def permuted(self, a):
        return lambda: self.cupy.ascontiguousarray(a.T)

    def into(self, a, out):
        return lambda: self.cupy.copyto(out, a.T)

    def empty(self, shape):
        return self.cupy.empty(shape, self.np.float32)

    def host(self, a):
        return self.cupy.asnumpy(a)


class Torch(NumPy):
    name = "PyTorch"

    def __init__(self, np, torch, device):
        super().__init__(np)
        self.torch, self.device, self.sum = torch, device, torch.einsum
        self.add, self.most = torch.add, lambda a: a.amax(0)
        if device == "cuda":
            self.wait = torch.cuda.synchronize

    def array(self, shape):
        return self.torch.from_numpy(super().array(shape)).to(self.device)

    def permuted(self, a):
        return lambda: a.permute(1, 0).contiguous()

    def into(self, a, out):
        return lambda: out.copy_(a.permute(1, 0))

    def empty(self, shape):
        return self.torch.empty(shape, device=self.device)

    def host(self, a):
        return a.cpu().numpy()


def peers_on(device):
    import numpy as np

    made, missing = [NumPy(np)] if device == "cpu" else [], []
    try:
        import torch

        if device == "cpu" or torch.cuda.is_available():
            torch.backends.cuda.matmul.allow_tf32 = False
            made.append(Torch(np, torch, device))
        else:
            missing.append("PyTorch has no GPU here")
    except ImportError as error:
        missing.append(str(error))
    if device == "cuda":
        try:
            import cupy

            cupy.cuda.runtime.getDeviceCount()
            made.append(CuPy(np, cupy))
        except Exception as error:  # the runtime's own, too
            missing.append(f"CuPy: {error}")
    return made, missing


def cases_of(peer, cutt, threads):
    """(name, what the peer gives, {way: call}), the peer's ways first."""
    for size, shape in SIZES:
        a, out, theirs = peer.array(shape), peer.empty(shape[::-1]), peer.empty(shape[::-1])
        plan = cutt.Plan(a, threads=threads)
        yield f"transpose {size}", peer.permuted(a), {
            peer.name: peer.permuted(a),
            f"{peer.name}, out": peer.into(a, theirs),
            "cutt": lambda a=a: cutt.transpose(a, (1, 0), threads=threads),
            "cutt, out": lambda a=a, out=out: cutt.transpose(a, (1, 0), out=out, threads=threads),
            "plan": lambda a=a, plan=plan: plan(a),
            "plan, out": lambda a=a, out=out, plan=plan: plan(a, out),
        }
    for size, spec, left, right in SUMS:
        arrays = [peer.array(shape) for shape in (left, right) if shape]
        yield f"einsum {size}", lambda spec=spec, arrays=arrays: peer.sum(spec, *arrays), {
            peer.name: lambda spec=spec, arrays=arrays: peer.sum(spec, *arrays),
            "cutt": lambda spec=spec, arrays=arrays: cutt.einsum(spec, *arrays, threads=threads),
        }
    for size, shape in COMBINED:
        a, b, out, theirs = peer.array(shape), peer.array(shape), peer.empty(shape), peer.empty(shape)
        plan = cutt.ElementwisePlan("ij,ji->ij", a, b, threads=threads)
        yield f"elementwise {size}", lambda a=a, b=b: peer.add(a, b.T), {
            peer.name: lambda a=a, b=b: peer.add(a, b.T),
            f"{peer.name}, out": lambda a=a, b=b, theirs=theirs: peer.add(a, b.T, out=theirs),
            "cutt": lambda a=a, b=b: cutt.elementwise("ij,ji->ij", a, b, threads=threads),
            "cutt, out": lambda a=a, b=b, out=out: cutt.elementwise("ij,ji->ij", a, b, out=out, threads=threads),
            "plan": lambda a=a, b=b, plan=plan: plan(a, b),
            "plan, out": lambda a=a, b=b, out=out, plan=plan: plan(a, b, out=out),
        }
        yield f"maxima of columns, {size}", lambda a=a: peer.most(a), {
            peer.name: lambda a=a: peer.most(a),
            "cutt": lambda a=a: cutt.reduce("ij->j", a, op="max", threads=threads),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.2, help="for each way of each case")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # the peers' own
        os.environ.setdefault(name, str(options.threads))
    import numpy as np

    import cutt

    peers, missing = peers_on(options.device)
    for text in missing:
        print(f"left out: {text}", file=sys.stderr)
    if not peers:
        sys.exit(77)
    gc.disable()
    results = []
    for peer in peers:
        if peer.name == "PyTorch" and options.device == "cpu":
            peer.torch.set_num_threads(options.threads)
        print(f"\n{peer.name} on {options.device}; us a call" + (" (host / all)" if options.device == "cuda" else ""))
        for name, right, ways in cases_of(peer, cutt, options.threads):
            expected = peer.host(right())
            for way, call in ways.items():
                given = call()  # NumPy's copyto gives nothing
                if given is not None and not np.allclose(peer.host(given), expected, rtol=1e-4):
                    sys.exit(f"python_calls.py: {name}: {way} is wrong")
            times = take_turns(ways, options.seconds, peer.wait)
            results.append({"case": name, "peer": peer.name, "us": times})
            said = (
                f"{way} {host:.2f}" + (f" / {all_:.2f}" if options.device == "cuda" else "")
                for way, (host, all_) in times.items()
            )
            print(f"{name:24s} " + "   ".join(said), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(
                {"device": options.device, "threads": options.threads, "numpy": np.__version__, "results": results},
                file,
            )


if __name__ == "__main__":
    main()
