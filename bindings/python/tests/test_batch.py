"""cutt.batch: many arrays of any shapes by one call, as transpose() of each."""

import gc
import inspect
import pickle
import sys
import unittest

import numpy as np

import cutt
from support import MOVED, distinct, rounds, same, strided


class Batch(unittest.TestCase):
    def test_like_transpose(self):
        random = np.random.default_rng(1)
        for _ in range(rounds(60)):
            rank, count = int(random.integers(0, 5)), int(random.integers(1, 20))
            axes = None if random.integers(4) == 0 else [int(axis) for axis in random.permutation(rank)]
            arrays = []
            for n in range(count):
                shape = tuple(int(extent) for extent in random.integers(0 if random.integers(9) == 0 else 1, 6, rank))
                dtype = MOVED[random.integers(len(MOVED))] if n % 3 else "f8"
                arrays.append(strided(random, distinct(shape, dtype)))
            theirs = [np.transpose(a, axes) for a in arrays]
            mine = cutt.batch(arrays, axes)
            self.assertTrue(all(same(a, b) and a.flags.c_contiguous for a, b in zip(mine, theirs)))
            out = [np.zeros(a.shape, a.dtype, "F") for a in theirs]
            self.assertIs(cutt.batch(tuple(arrays), axes, out=out), out)
            self.assertTrue(all(map(same, out, theirs)))

    def test_of_an_array(self):
        a = distinct((5, 3, 4), "f4")
        self.assertTrue(all(map(same, cutt.batch(a), a.transpose(0, 2, 1))))
        self.assertTrue(all(map(same, cutt.batch(iter(a), (1, 0)), a.transpose(0, 2, 1))))
        self.assertEqual([], cutt.batch([]))

    def test_scaled(self):
        random = np.random.default_rng(2)
        for dtype in ("f4", "c16", "i4"):
            arrays = [(9 * random.random((n, 3))).astype(dtype) for n in range(1, 9)]
            out = [np.full((3, n), 2, dtype) for n in range(1, 9)]
            cutt.batch(arrays, (1, 0), out=out, alpha=2, beta=3)
            for a, b in zip(arrays, out):
                self.assertTrue(same(b, 2 * a.T + np.array(6, dtype)))
        made = cutt.batch([a * (1 + 2j) for a in arrays], conj=True, threads=1)
        self.assertTrue(all(same(a, (b * (1 + 2j)).T.conj()) for a, b in zip(made, arrays)))

    def test_blocks_of_one_array(self):
        """Inputs, or results, that lie between each other."""
        a, out = distinct((40, 60), "f8"), np.zeros((60, 40))
        spans = [(i, i + 7, j, j + 11) for i in range(0, 33, 7) for j in range(0, 49, 11)]
        cutt.batch([a[i:k, j:m] for i, k, j, m in spans], out=[out[j:m, i:k] for i, k, j, m in spans])
        self.assertTrue(same(out[:55, :35], a.T[:55, :35]) and not out[55:].any() and not out[:, 35:].any())
        packed = [np.zeros((m - j, k - i)) for i, k, j, m in spans]
        cutt.batch([a[i:k, j:m] for i, k, j, m in spans], out=packed)
        self.assertTrue(all(same(b, a[i:k, j:m].T) for b, (i, k, j, m) in zip(packed, spans)))
        memory = np.zeros(4000)  # one large result, and many small ones behind it
        starts = [0] + [1000 + 6 * n for n in range(300)]
        inputs = [distinct((10, 100), "f8")] + [distinct((2, 3), "f8") + n for n in range(300)]
        results = [memory[at : at + b.size].reshape(b.T.shape) for at, b in zip(starts, inputs)]
        cutt.batch(inputs, out=results)
        self.assertTrue(all(same(r, b.T) for r, b in zip(results, inputs)))

    def test_refused(self):
        a = [distinct((3, n), "f8") for n in range(2, 7)]
        memory = np.zeros(200)
        out, at = [], 0
        for b in a:
            out.append(memory[at : at + b.size].reshape(b.T.shape))
            at += b.size
        frozen = np.zeros((6, 3))
        frozen.flags.writeable = False
        for arrays, results, text in (
            (a, out[:4], "^out has 4 arrays, and there are 5 inputs"),
            (a, [*out[:4], frozen], "^pair 4: out is read-only"),
            (a, [*out[:4], np.zeros((3, 6))], "^pair 4: out has shape"),
            (a, [*out[:4], out[4].astype("f4")], "^pair 4: out has elements of type float32"),
            (a, [*out[:4], None], "^pair 4: out is None"),
            (a, [*out[:4], memory[:18].reshape(6, 3)], r"^out\[4\] overlaps with out\[\d\]"),
            (a, [*out[:4], memory[20:38].reshape(6, 3)], "overlaps with"),
            ([memory[50:56].reshape(3, 2), *a[1:]], out, r"^out\[4\] overlaps with input 0"),
            ([object(), *a[1:]], out, "^pair 0: "),
            (3, out, "^arrays is of type int"),
            (a, 3, "^out is of type int"),
        ):
            with self.assertRaisesRegex((TypeError, ValueError), text):
                cutt.batch(arrays, out=results)
            self.assertFalse(memory.any(), text)
        for keys, text in (
            ({"axes": (0, 0)}, "^pair 0: axes"),
            ({"axes": (0,)}, "^pair 0: axes"),
            ({"beta": 1}, "^beta is 1 and there is no out"),
            ({"alpha": "x"}, "^pair 0: alpha is 'x'"),
            ({"threads": 0}, "^threads is 0"),
            ({"nothing": 0}, "nothing"),
        ):
            with self.assertRaisesRegex((TypeError, ValueError), text):
                cutt.batch(a, **keys)
        with self.assertRaisesRegex(TypeError, "arrays"):
            cutt.batch()

    def test_nothing_leaks(self):
        a, b, counts = distinct((30, 40), "f8"), distinct((5, 6), "f4"), []
        out = [np.zeros((40, 30)), np.zeros((6, 5), "f4")]
        for _ in range(40):
            cutt.batch([a, b])
            cutt.batch([a, b], out=out)
            for arrays, results in (([a, b, object()], None), ([a, a], [out[0], out[0]]), ([a], out)):
                with self.assertRaises((TypeError, ValueError)):
                    cutt.batch(arrays, out=results)
            gc.collect()
            counts.append([sys.getrefcount(thing) for thing in (a, b, *out, a.dtype)])
        self.assertEqual(counts[5], counts[-1])

    def test_described(self):
        """What is compiled is documented and pickled as a function in Python is."""
        self.assertEqual(["arrays", "axes", "out", "alpha"], list(inspect.signature(cutt.batch).parameters)[:4])
        self.assertIs(cutt.batch, pickle.loads(pickle.dumps(cutt.batch)))
        self.assertEqual(["self", "arrays", "out"], list(inspect.signature(cutt.Plan.execute_batch).parameters))
        self.assertIn("by one call", cutt.Plan.execute_batch.__doc__)
        self.assertFalse(hasattr(cutt.ContractionPlan, "execute_batch"))


if __name__ == "__main__":
    unittest.main()
