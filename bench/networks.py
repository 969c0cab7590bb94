#!/usr/bin/env python3
"""Networks of tensors beside opt_einsum with NumPy, and with PyTorch where it is installed.

    bench/networks.py [--device cpu|cuda] [--libraries build/lib] [--threads N] [--only 'TEXT|TEXT'] [--json FILE]

Amplitudes of random circuits (bricks of random two-qubit gates on chains and grids), sweeps over matrix product states, projected
entangled pair states, and terms of coupled cluster. All contestants follow one path, opt_einsum's, which is found beforehand; they
take turns, medians are compared, and results too. `first` is the first call of cutt.einsum, which plans all steps. On a GPU the
operands are PyTorch's, the networks are larger ones, and a time is that of a call until the GPU is done.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST_ROUNDS, MOST_ROUNDS, CASE_SECONDS = 3, 31, 1.5


def set_environment(arguments):
    """Threads, and the kernels that this machine's OpenBLAS should pick: for all contestants, before they are loaded."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
        os.environ[name] = str(arguments.threads)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ["CUTT_LIBRARY_DIR"] = str(arguments.libraries.resolve())
    sys.path.insert(0, str(ROOT / "bindings" / "python"))


# ------------------------------------------------------------------------------------------------------------- networks

class Builder:
    """A list of terms, each a list of labels (whole numbers), with the extent of each label."""

    def __init__(self, seed, dtype):
        import numpy as np
        self.random, self.dtype = np.random.default_rng(seed), np.dtype(dtype)
        self.terms, self.arrays, self.labels = [], [], 0

    def label(self):
        self.labels += 1
        return self.labels - 1

    def noise(self, shape):
        array = self.random.standard_normal(shape)
        if self.dtype.kind == "c":
            array = array + 1j * self.random.standard_normal(shape)
        return (array / math.sqrt(max(1, max(shape, default=1)))).astype(self.dtype)

    def add(self, labels, array):
        self.terms.append(list(labels))
        self.arrays.append(array)

    def gate(self):
        """A random unitary of two qubits, as 2 x 2 x 2 x 2: out, out, in, in."""
        import numpy as np
        q, r = np.linalg.qr(self.noise((4, 4)))
        return (q * (np.diag(r) / abs(np.diag(r)))).reshape(2, 2, 2, 2).astype(self.dtype)


def circuit(rows, columns, depth, seed):
    """The amplitude of all qubits 0 after layers of gates between neighbours, every second pair a layer."""
    import numpy as np
    b = Builder(seed, "c16")
    qubits = [[b.label() for _ in range(columns)] for _ in range(rows)]
    zero = np.array([1, 0], b.dtype)
    for line in qubits:
        for label in line:
            b.add([label], zero)
    layers = []
    for start in (0, 1):
        layers.append([((i, j), (i, j + 1)) for i in range(rows) for j in range(start, columns - 1, 2)])
        layers.append([((i, j), (i + 1, j)) for j in range(columns) for i in range(start, rows - 1, 2)])
    layers = [layer for layer in layers if layer]
    for step in range(depth):
        for (i, j), (k, l) in layers[step % len(layers)]:
            new = [b.label(), b.label()]
            b.add([*new, qubits[i][j], qubits[k][l]], b.gate())
            qubits[i][j], qubits[k][l] = new
    for line in qubits:
        for label in line:
            b.add([label], zero)
    return b, []


def mps_overlap(sites, bond, physical, seed):
    """<phi|psi> of two matrix product states."""
    b = Builder(seed, "f8")
    middle = [b.label() for _ in range(sites)]
    for _ in range(2):
        bonds = [b.label() for _ in range(sites - 1)]
        for site in range(sites):
            labels = [*bonds[max(site - 1, 0):site], middle[site], *bonds[site:site + 1]]
            shape = [physical if label == middle[site] else bond for label in labels]
            b.add(labels, b.noise(shape))
    return b, []


def mpo_expectation(sites, bond, width, physical, seed):
    """<psi|H|psi>, H a matrix product operator."""
    b = Builder(seed, "f8")
    outer, inner = [[b.label() for _ in range(sites)] for _ in range(2)]
    rows = [[b.label() for _ in range(sites - 1)] for _ in range(3)]
    for site in range(sites):
        for row, ends in ((0, [outer[site]]), (1, [outer[site], inner[site]]), (2, [inner[site]])):
            labels = [*rows[row][max(site - 1, 0):site], *ends, *rows[row][site:site + 1]]
            shape = [physical if label in ends else width if row == 1 else bond for label in labels]
            b.add(labels, b.noise(shape))
    return b, []


def dmrg_step(bond, width, physical, seed):
    """The effective Hamiltonian of two sites, applied to their tensor."""
    b = Builder(seed, "f8")
    (l, lw, lo), (r, rw, ro), (s, t), (so, to), w = [[b.label() for _ in range(n)] for n in (3, 3, 2, 2, 1)]
    b.add([l, lw, lo], b.noise((bond, width, bond)))
    b.add([l, s, t, r], b.noise((bond, physical, physical, bond)))
    b.add([lw, so, s, *w], b.noise((width, physical, physical, width)))
    b.add([*w, to, t, rw], b.noise((width, physical, physical, width)))
    b.add([r, rw, ro], b.noise((bond, width, bond)))
    return b, [lo, so, to, ro]


def peps(rows, columns, bond, seed, physical=0):
    """The norm of a projected entangled pair state, or (without physical legs) a network of one layer."""
    b = Builder(seed, "f8")
    middle = [[b.label() for _ in range(columns)] for _ in range(rows)]
    for _ in range(2 if physical else 1):
        across = [[b.label() for _ in range(columns - 1)] for _ in range(rows)]
        down = [[b.label() for _ in range(columns)] for _ in range(rows - 1)]
        for i in range(rows):
            for j in range(columns):
                labels = [*([down[i - 1][j]] if i else []), *across[i][max(j - 1, 0):j], *across[i][j:j + 1],
                          *([down[i][j]] if i + 1 < rows else [])]
                shape = [bond] * len(labels)
                if physical:
                    labels, shape = [middle[i][j], *labels], [physical, *shape]
                b.add(labels, b.noise(shape))
    return b, []


def term(spec, occupied, virtual, seed):
    """A term of coupled cluster: i to n are occupied orbitals, a to f virtual ones."""
    b = Builder(seed, "f8")
    inputs, result = spec.split("->")
    names = {name: b.label() for name in dict.fromkeys(inputs.replace(",", ""))}
    for letters in inputs.split(","):
        b.add([names[name] for name in letters], b.noise([occupied if name in "ijklmn" else virtual for name in letters]))
    return b, [names[name] for name in result]


TERMS = ("mnef,efij,abmn->abij", "mnef,aeim,fbnj->abij", "mnef,afmn,ebij->abij", "mnef,ei,fj,abmn->abij", "mnef,ei,fj,am,bn->abij",
         "amef,fi,ebmj->abij", "mnie,ej,abmn->abij")


def coupled_cluster(occupied, virtual):
    return {f"CCSD {spec}": lambda spec=spec, seed=seed: term(spec, occupied, virtual, seed) for seed, spec in enumerate(TERMS, 16)}


ON_CPU = {
    "circuit, chain of 20, depth 10": lambda: circuit(1, 20, 10, 1),
    "circuit, chain of 24, depth 12": lambda: circuit(1, 24, 12, 2),
    "circuit, chain of 30, depth 8": lambda: circuit(1, 30, 8, 3),
    "circuit, grid of 4 x 5, depth 8": lambda: circuit(4, 5, 8, 4),
    "circuit, grid of 5 x 5, depth 8": lambda: circuit(5, 5, 8, 5),
    "circuit, grid of 5 x 6, depth 6": lambda: circuit(5, 6, 6, 6),
    "MPS overlap, 32 sites of 64": lambda: mps_overlap(32, 64, 2, 7),
    "MPS overlap, 64 sites of 16": lambda: mps_overlap(64, 16, 2, 8),
    "MPS, MPO of 6, 24 sites of 48": lambda: mpo_expectation(24, 48, 6, 2, 9),
    "DMRG step, bond 64, MPO 8": lambda: dmrg_step(64, 8, 2, 10),
    "DMRG step, bond 128, MPO 14": lambda: dmrg_step(128, 14, 4, 11),
    "PEPS norm, 4 x 4, bond 2": lambda: peps(4, 4, 2, 12, 2),
    "PEPS norm, 5 x 5, bond 2": lambda: peps(5, 5, 2, 13, 2),
    "PEPS layer, 6 x 6, bond 4": lambda: peps(6, 6, 4, 14),
    "PEPS layer, 4 x 8, bond 8": lambda: peps(4, 8, 8, 15),
    **coupled_cluster(10, 30),
}
ON_GPU = {
    "circuit, chain of 30, depth 8": lambda: circuit(1, 30, 8, 3),
    "circuit, chain of 40, depth 20": lambda: circuit(1, 40, 20, 3),
    "circuit, grid of 5 x 6, depth 10": lambda: circuit(5, 6, 10, 6),
    "circuit, grid of 6 x 6, depth 10": lambda: circuit(6, 6, 10, 6),
    "MPS overlap, 64 sites of 64": lambda: mps_overlap(64, 64, 2, 8),
    "MPS overlap, 32 sites of 512": lambda: mps_overlap(32, 512, 2, 7),
    "MPS, MPO of 8, 24 sites of 256": lambda: mpo_expectation(24, 256, 8, 2, 9),
    "DMRG step, bond 128, MPO 14": lambda: dmrg_step(128, 14, 4, 11),
    "DMRG step, bond 1024, MPO 14": lambda: dmrg_step(1024, 14, 4, 11),
    "PEPS norm, 5 x 5, bond 4": lambda: peps(5, 5, 4, 12, 2),
    "PEPS norm, 6 x 6, bond 3": lambda: peps(6, 6, 3, 12, 2),
    "PEPS layer, 5 x 8, bond 16": lambda: peps(5, 8, 16, 12),
    "PEPS layer, 8 x 8, bond 8": lambda: peps(8, 8, 8, 12),
    **coupled_cluster(24, 96),
}


# ------------------------------------------------------------------------------------------------------------ measuring

def find_path(cutt, terms, arrays, result):
    try:
        import opt_einsum
        from opt_einsum.path_random import RandomGreedy
    except ImportError:
        return None
    names = {label: opt_einsum.get_symbol(label) for labels in terms for label in labels}
    spec = ",".join("".join(names[label] for label in labels) for labels in terms)
    spec += "->" + "".join(names[label] for label in result)
    shapes = [array.shape for array in arrays]
    way = "auto" if len(arrays) <= 12 else RandomGreedy(max_repeats=64, temperature=0.5)
    path, info = opt_einsum.contract_path(spec, *shapes, shapes=True, optimize=way)
    return spec, path, float(info.opt_cost), float(info.largest_intermediate)


def on_cpu(cutt, threads, spec, path, arrays):
    """(calls by name, wait)"""
    import opt_einsum
    expression = opt_einsum.contract_expression(spec, *(array.shape for array in arrays), optimize=path)
    ways = {"cutt": lambda: cutt.einsum(spec, *arrays, optimize=path, threads=threads),
            "numpy": lambda: expression(*arrays, backend="numpy")}
    try:
        import torch
        torch.set_num_threads(threads)
        tensors = [torch.from_numpy(array) for array in arrays]
        ways["torch"] = lambda: expression(*tensors, backend="torch")
    except ImportError:
        pass
    return ways, lambda: None


def on_gpu(cutt, spec, path, arrays):
    """(calls by name, wait)"""
    import opt_einsum
    import torch
    expression = opt_einsum.contract_expression(spec, *(array.shape for array in arrays), optimize=path)
    tensors = [torch.from_numpy(array).cuda() for array in arrays]
    return {"cutt": lambda: cutt.einsum(spec, *tensors, optimize=path),
            "torch": lambda: expression(*tensors, backend="torch")}, torch.cuda.synchronize


def measure(ways, wait):
    times = {name: [] for name in ways}
    results = {name: way() for name, way in ways.items()}
    start = time.perf_counter()
    while len(times["cutt"]) < LEAST_ROUNDS or (len(times["cutt"]) < MOST_ROUNDS and time.perf_counter() - start < CASE_SECONDS):
        for name, way in ways.items():
            wait()
            begun = time.perf_counter()
            way()
            wait()
            times[name].append(time.perf_counter() - begun)
    return {name: statistics.median(values) for name, values in times.items()}, results


def main():
    parser = argparse.ArgumentParser(description="Networks of tensors beside opt_einsum with NumPy and with PyTorch.")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--libraries", type=pathlib.Path, default=ROOT / "build" / "lib")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    set_environment(arguments)
    import numpy as np
    import cutt

    found = []
    print(f"{'network':32} {'tensors':>7} {'flops':>8} {'first ms':>9} {'cutt ms':>9} {'NumPy':>8} {'PyTorch':>8}")
    for name, build in (ON_CPU if arguments.device == "cpu" else ON_GPU).items():
        if arguments.only and not any(text in name for text in arguments.only.split("|")):
            continue
        b, result = build()
        told = find_path(cutt, b.terms, b.arrays, result)
        if told is None:
            sys.exit("networks.py: opt_einsum is needed (pip install opt_einsum)")
        spec, path, flops, largest = told
        on_device = arguments.device == "cuda"
        ways, wait = on_gpu(cutt, spec, path, b.arrays) if on_device else on_cpu(cutt, arguments.threads, spec, path, b.arrays)
        begun = time.perf_counter()
        ways["cutt"]()
        wait()
        first = time.perf_counter() - begun
        times, results = measure(ways, wait)
        results = {other: value.cpu().numpy() if on_device else np.asarray(value) for other, value in results.items()}
        for other, value in results.items():
            if not np.allclose(value, results["cutt"], rtol=1e-8, atol=1e-9 * np.abs(value).max()):
                sys.exit(f"networks.py: {name}: the result of {other} is another one than cutt's")
        ratios = {other: times[other] / times["cutt"] for other in times if other != "cutt"}
        found.append({"name": name, "tensors": len(b.arrays), "flops": flops, "largest": largest, "first": first,
                      "seconds": times, "ratios": ratios})
        shown = [f"{ratios[other]:8.2f}" if other in ratios else f"{'-':>8}" for other in ("numpy", "torch")]
        print(f"{name:32} {len(b.arrays):7} {flops:8.1e} {1e3 * first:9.2f} {1e3 * times['cutt']:9.3f} {' '.join(shown)}", flush=True)
    for other in ("numpy", "torch"):
        values = [one["ratios"][other] for one in found if other in one["ratios"]]
        if values:
            worst = min(found, key=lambda one: one["ratios"][other])
            print(f"{other}: {statistics.geometric_mean(values):.2f} x in the geometric mean of {len(values)}; least "
                  f"{min(values):.2f}, {worst['name']}")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
