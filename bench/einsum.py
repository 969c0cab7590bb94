#!/usr/bin/env python3
"""Einsums that contract little beside NumPy: products of elements, broadcasts, batches of tiny products, sums, diagonals.

    bench/einsum.py [--libraries build/lib] [--threads N] [--only 'TEXT|TEXT'] [--random N [--seed S]] [--json FILE]

Each kind is computed by cutt.einsum and by NumPy's best way, which is the fastest of einsum, einsum(optimize=True) and
what else it has for it (multiply, matmul, sum, diagonal), all into an array that is there where they can. They take turns;
medians are compared, and results too. With --random so many more are drawn: one or two operands of up to five labels, in any order
and some twice in one, each in the result or not, with up to 4 million products.
"""
import argparse
import json
import math
import os
import pathlib
import random
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS, SAMPLE_SECONDS = 7, 0.003

# The subscripts, the shapes, and what else NumPy has.
CASES = [
    ("ij,ij->ij", [(1000, 1000), (1000, 1000)], "multiply"),
    ("ij,ij->ij", [(3000, 3000), (3000, 3000)], "multiply"),
    ("ij,ji->ij", [(3000, 3000), (3000, 3000)], "lambda a, b, out: np.multiply(a, b.T, out=out)"),
    ("i,i->i", [(1000000,), (1000000,)], "multiply"),
    ("ij,j->ij", [(4000, 4000), (4000,)], "multiply"),
    (",ij->ij", [(), (1000, 1000)], "multiply"),
    ("i,j->ij", [(2000,), (2000,)], "lambda a, b, out: np.multiply.outer(a, b, out=out)"),
    ("abc,abc->abc", [(300, 300, 300), (300, 300, 300)], "multiply"),
    ("bi,bi->b", [(100000, 3), (100000, 3)], ""),
    ("bi,bi->b", [(1000000, 3), (1000000, 3)], ""),
    ("nij,nj->ni", [(100000, 3, 3), (100000, 3)], "lambda a, b, out: np.matmul(a, b[:, :, None])"),
    ("ijn,jkn->ikn", [(3, 3, 100000), (3, 3, 100000)], ""),
    ("bij,bjk->bik", [(20000, 4, 4), (20000, 4, 4)], "matmul"),
    ("bij,bj->bi", [(300000, 4, 4), (300000, 4)], "lambda a, b, out: np.matmul(a, b[:, :, None])"),
    ("ij,kl->", [(1500, 1500), (1500, 1500)], "lambda a, b, out: a.sum() * b.sum()"),
    ("abc->", [(200, 200, 150)], "lambda a, out: a.sum()"),
    ("abc->b", [(200, 200, 150)], "lambda a, out: a.sum((0, 2), out=out)"),
    ("abcb->ac", [(60, 50, 70, 50)], ""),
    ("iij->j", [(400, 400, 300)], "lambda a, out: np.trace(a, out=out)"),
    ("ik,kj->ij", [(3000, 3), (3, 3000)], "matmul"),
]


def draw(seed, count):
    """So many kinds, as CASES has them."""
    choose, cases = random.Random(seed), []
    while len(cases) < count:
        operands, labels = choose.choice([1, 2, 2]), "abcde"[:choose.randint(1, 5)]
        terms = []
        for _ in range(operands):
            term = [label for label in labels if choose.random() < 0.75]
            choose.shuffle(term)
            if term and choose.random() < 0.15:
                term.insert(choose.randint(0, len(term)), choose.choice(term))
            terms.append("".join(term))
        used = sorted(set("".join(terms)))
        kept = [label for label in used if choose.random() < 0.6]
        choose.shuffle(kept)
        products, shares = choose.choice([2e5, 1e6, 4e6]), [choose.random() + 0.15 for _ in used]
        extent = {label: max(2, round(products ** (share / sum(shares)))) for label, share in zip(used, shares)}
        shapes = [tuple(extent[label] for label in term) for term in terms]
        sizes = [math.prod(shape) for shape in shapes]
        only_moved = operands == 1 and len(kept) == len(used) == len(terms[0])
        if used and 1e4 <= max(sizes) <= 1.2e7 and not only_moved:
            cases.append((f"{','.join(terms)}->{''.join(kept)}", shapes, ""))
    return cases


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--libraries", default=ROOT / "build/lib", help="the folder of the libraries (default: build/lib)")
    parser.add_argument("--threads", type=int, default=1, help="threads of both (default: 1)")
    parser.add_argument("--only", help="only the kinds whose subscripts are in this list, with '|' between them")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="so many more, drawn at random (default: 0)")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn (default: 1)")
    parser.add_argument("--json", help="write the figures there")
    arguments = parser.parse_args()
    if arguments.threads < 1 or arguments.random < 0:
        parser.error("--threads must be 1 or more, and --random 0 or more")
    return arguments


def timed(call, calls):
    began = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - began) / calls


def run(np, cutt, case, threads):
    spec, shapes, extra = case
    numbers = np.random.default_rng(16)
    arrays = [numbers.random(shape) for shape in shapes]
    apart = spec == "ij,kl->"  # by einsum a product for each pair of elements
    wanted = eval(extra, {"np": np})(*arrays, None) if apart else np.einsum(spec, *arrays, optimize=True)  # pylint: disable=eval-used
    out = np.empty_like(wanted) if np.ndim(wanted) else None
    ways = {}
    if not apart:
        ways["einsum"] = lambda: np.einsum(spec, *arrays, out=out)
        ways["einsum, optimized"] = lambda: np.einsum(spec, *arrays, out=out, optimize=True)
    if extra:
        other = eval(extra if extra.startswith("lambda") else f"np.{extra}", {"np": np})  # pylint: disable=eval-used
        ways[extra.split(":", 1)[-1].strip()] = lambda: other(*arrays, out=out)
    keys = {} if out is None else {"out": out}

    def ours():
        return cutt.einsum(spec, *arrays, threads=threads, **keys)

    if not np.allclose(ours(), wanted, rtol=1e-9):
        sys.exit(f"einsum.py: {spec} of {shapes}: the results differ")
    best = min(ways, key=lambda way: min(timed(ways[way], 1) for _ in range(3)))
    calls = [ours, ways[best]]
    counts = [max(1, int(SAMPLE_SECONDS / max(timed(call, 1), 1e-7))) for call in calls]
    took = [[], []]
    for _ in range(ROUNDS):
        for place, call in enumerate(calls):
            took[place].append(timed(call, counts[place]))
    seconds = [statistics.median(times) for times in took]
    moved = sum(array.nbytes for array in arrays) + np.asarray(wanted).nbytes
    return {"spec": spec, "shapes": shapes, "cutt_seconds": seconds[0], "numpy_seconds": seconds[1], "numpy_way": best,
            "ratio": seconds[1] / seconds[0], "bytes_per_second": moved / seconds[0]}


def main():
    arguments = parse_arguments()
    os.environ["CUTT_LIBRARY_DIR"] = str(arguments.libraries)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(arguments.threads)
    sys.path.insert(0, str(ROOT / "bindings/python"))
    try:
        import numpy as np  # pylint: disable=import-outside-toplevel
    except ImportError:
        sys.exit("einsum.py: NumPy is needed (Debian: python3-numpy, and /usr/bin/python3 to run this)")
    import cutt  # pylint: disable=import-outside-toplevel
    results = []
    print(f"{'':33} {'cutt':>9} {'NumPy':>9}  ratio    GB/s  NumPy's way")
    for case in CASES + draw(arguments.seed, arguments.random):
        if arguments.only and case[0] not in arguments.only.split("|"):
            continue
        r = run(np, cutt, case, arguments.threads)
        results.append(r)
        name = f"{r['spec']} {'x'.join(map(str, case[1][-1] or case[1][0]))}"
        print(f"{name:33} {1e3 * r['cutt_seconds']:6.3f} ms {1e3 * r['numpy_seconds']:6.3f} ms {r['ratio']:6.2f} "
              f"{1e-9 * r['bytes_per_second']:7.1f}  {r['numpy_way']}", flush=True)
    if not results:
        sys.exit("einsum.py: --only leaves no kind")
    mean = math.exp(statistics.mean(math.log(r["ratio"]) for r in results))
    slower = sum(r["ratio"] < 1 for r in results)
    print(f"\n{mean:.2f} times as fast in the geometric mean of {len(results)}; slower in {slower}")
    if arguments.json:
        with open(arguments.json, "x", encoding="utf-8") as file:
            json.dump({"threads": arguments.threads, "geometric_mean": mean, "results": results}, file, indent=1)


if __name__ == "__main__":
    main()
