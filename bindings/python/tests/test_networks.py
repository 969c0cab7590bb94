"""einsum with many operands, and einsum_path: random networks against NumPy, memory of intermediates, paths."""

import itertools
import math
import threading
import unittest

import numpy as np

import cutt
from cutt import _compiled, _network, _path
from support import close, has_blas, noise, rounds, strided

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def setUpModule():
    if not has_blas():
        raise unittest.SkipTest("no BLAS with the CBLAS interface is here")


def draw(random, most=9):
    """(spec, shapes): some labels are shared by more than two, are in the result too, or are only summed."""
    count, labels = int(random.integers(3, most)), int(random.integers(2, 12))
    extents = {letter: int(random.integers(1, 5)) for letter in LETTERS[:labels]}
    terms = ["".join(random.permutation(list(LETTERS[:labels]))[: random.integers(0, 5)]) for _ in range(count)]
    used = sorted(set("".join(terms)))
    result = "".join(random.permutation(used)[: random.integers(0, 4)]) if used else ""
    return ",".join(terms) + "->" + result, [tuple(extents[letter] for letter in term) for term in terms]


def terms_of(spec, shapes):
    """How many products are summed for an element at most."""
    inputs, result = spec.split("->")
    extents = {letter: n for term, shape in zip(inputs.split(","), shapes) for letter, n in zip(term, shape)}
    return math.prod(n for letter, n in extents.items() if letter not in result)


class Networks(unittest.TestCase):
    def check(self, spec, arrays, **keys):
        theirs = np.einsum(spec, *arrays, optimize=True)
        for _ in range(2):  # the second time by what the first has kept
            mine = cutt.einsum(spec, *arrays, **keys)
            self.assertIsInstance(mine, np.ndarray if np.ndim(theirs) else np.generic, spec)
            bound = 60 * len(arrays) * terms_of(spec, [array.shape for array in arrays])
            self.assertTrue(close(mine, theirs, bound), (spec, [array.shape for array in arrays], keys))

    def test_random(self):
        random = np.random.default_rng(1)
        for turn in range(rounds(150)):
            spec, shapes = draw(random)
            dtype = ("f8", "f4", "c16", "c8")[turn % 4]
            arrays = [noise(random, shape, dtype) for shape in shapes]
            if turn % 3 == 0:
                arrays = [strided(random, array) if array.ndim else array for array in arrays]
            optimize = ("auto", True, "greedy", False, cutt.einsum_path(spec, *arrays)[0])[turn % 5]
            self.check(spec, arrays, optimize=optimize, threads=1 + turn % 2)

    def test_larger(self):
        """So large that orders are chosen by predicted times."""
        random = np.random.default_rng(2)
        for spec, extents in (
            ("abc,cde,efa,bdf->", (24, 25, 26, 27, 28, 29)),
            ("aijb,bklc,cmnd,ijp,klq,mnr->apqrd", (9, 5, 6, 8, 4, 7, 3, 9, 8, 7, 6, 5, 4)),
            ("mnef,aeim,fbnj->abij", (12, 11, 10, 9, 13, 8, 7, 14)),
        ):
            names = dict(zip(dict.fromkeys(spec.split("->")[0].replace(",", "")), itertools.cycle(extents)))
            shapes = [[names[letter] for letter in term] for term in spec.split("->")[0].split(",")]
            self.check(spec, [noise(random, shape, "f8") for shape in shapes], threads=2)

    def test_arithmetic(self):
        random = np.random.default_rng(3)
        spec, shapes = "abc,cd,dbe,ef->af", ((4, 5, 6), (6, 7), (7, 5, 3), (3, 8))
        for dtype in ("f8", "c16"):
            arrays = [noise(random, shape, dtype) for shape in shapes]
            conj = (False, True, True, False)
            theirs = np.einsum(spec, *(array.conj() if flag else array for array, flag in zip(arrays, conj)))
            before = noise(random, (8, 4), dtype).T
            out = before.copy(order="K")
            self.assertIs(cutt.einsum(spec, *arrays, out=out, alpha=2, beta=3, conj=conj), out)
            self.assertTrue(close(out, 2 * theirs + 3 * before, 9999))
            self.assertTrue(cutt.einsum(spec, *arrays, order="F").flags.f_contiguous)
        mixed = [arrays[0].real.astype("f4"), *arrays[1:]]
        self.assertTrue(close(cutt.einsum(spec, *mixed), np.einsum(spec, *mixed), 9999))
        whole = [random.integers(-9, 9, shape).astype("i8") for shape in shapes]
        self.assertTrue(np.array_equal(cutt.einsum(spec, *whole), np.einsum(spec, *whole)))

    def test_misaligned(self):
        """Steps that are no whole elements, and addresses that are no multiple of one."""
        random = np.random.default_rng(4)
        for kind in ({"names": ["x", "pad"], "formats": ["f8", "i2"]}, {"names": ["pad", "x"], "formats": ["u1", "f8"]}):
            arrays = []
            for shape in ((60, 50), (50, 70), (70, 40)):
                records = np.zeros(shape, kind)
                records["x"] = noise(random, shape, "f8")
                arrays.append(records["x"])
            self.check("ab,bc,cd->ad", arrays)

    def test_many_operands(self):
        """More labels than there are letters; a chain whose intermediates are small."""
        random = np.random.default_rng(5)
        arrays = [noise(random, (3, 3), "f8") for _ in range(90)]
        labels = [chr(0x4E00 + place) for place in range(91)]
        spec = ",".join(labels[place] + labels[place + 1] for place in range(90)) + f"->{labels[0]}{labels[90]}"
        theirs = np.linalg.multi_dot(arrays)
        for optimize in ("auto", False):
            mine = cutt.einsum(spec, *arrays, optimize=optimize)
            self.assertTrue(np.allclose(mine, theirs, rtol=1e-9, atol=1e-9 * abs(theirs).max()))

    def test_served(self):
        """Of any number of operands, by one plan that is kept, in both forms; one shape more or another path is another plan."""
        random = np.random.default_rng(22)
        for count in (3, 8, 9, 40, 300):
            arrays = [noise(random, (2, 2, 2), "f8") for _ in range(count)]
            lists = [[place, place + 1, count + 1 + place] for place in range(count)]
            arrays += [noise(random, (2, 3 if not place else 2), "f8") for place in range(count)]
            lists += [[count + 1 + place, 2 * count + 1 if not place else 3 * count + place] for place in range(count)]
            spec = ",".join("".join(chr(0x4E00 + label) for label in labels) for labels in lists)
            spec += "->" + "".join(chr(0x4E00 + label) for label in (2 * count + 1, count, 0))
            theirs, site = np.eye(2)[None], np.einsum("abc,cd->abd", arrays[0], arrays[count])
            theirs = np.einsum("xab,bcd->dac", theirs, site)
            for place in range(1, count):
                theirs = theirs @ np.einsum("abc,cd->ab", arrays[place], arrays[count + place])
            theirs = theirs.transpose(0, 2, 1)
            mixed = list(itertools.chain(*zip(arrays, lists)))
            for optimize in ("greedy", cutt.einsum_path(spec, *arrays, optimize="greedy")[0]):
                hits = cutt.plan_cache.hits
                for _ in range(4):
                    for mine in (
                        cutt.einsum(spec, *arrays, optimize=optimize),
                        cutt.einsum(*mixed, [2 * count + 1, count, 0], optimize=optimize),
                    ):
                        self.assertTrue(np.allclose(mine, theirs, rtol=1e-9, atol=1e-9 * abs(theirs).max()))
                    arrays[-1] *= 2
                    theirs = theirs * 2
                self.assertGreater(cutt.plan_cache.hits, hits)
            if _compiled.calls is not None:
                given = [spec, *arrays]
                self.assertIsNot(_compiled.calls.try_einsum(*given, optimize="greedy"), NotImplemented)
                misses = cutt.plan_cache.misses
                cutt.einsum(*given, optimize="greedy")
                self.assertEqual(cutt.plan_cache.misses, misses)
            with self.assertRaisesRegex(ValueError, "are given$"):
                cutt.einsum(spec, *arrays[1:])
            with self.assertRaisesRegex(ValueError, "extent 5"):
                cutt.einsum(spec, *arrays[:-1], np.ones((5, 2)))

    def test_new_contents(self):
        """What is kept is the plans and not the arrays."""
        random = np.random.default_rng(6)
        for _ in range(3):
            arrays = [noise(random, (30, 30), "f8") for _ in range(4)]
            theirs = arrays[0] @ arrays[1] @ arrays[2] @ arrays[3]
            self.assertTrue(close(cutt.einsum("ab,bc,cd,de->ae", *arrays), theirs, 99999))

    def test_out(self):
        """Into an array that is given, again and again; and what is refused the second time too."""
        random = np.random.default_rng(9)
        for size in (3, 9, 40):  # at first by NumPy, often; at first by NumPy, once; by a network
            arrays = [noise(random, (size, size), "f8") for _ in range(3)]
            spec, theirs = "ab,bc,cd->ad", arrays[0] @ arrays[1] @ arrays[2]
            rows = np.full((size, 2 * size), np.nan)
            outs = [np.empty((size, size)), np.empty((size, size), order="F"), rows[:, ::2]]
            for out in outs * 2:
                out[...] = np.nan
                self.assertIs(cutt.einsum(spec, *arrays, out=out), out)
                self.assertTrue(close(np.ascontiguousarray(out), theirs, 9999))
                self.assertTrue(np.isnan(rows[:, 1::2]).all())
            fixed = np.empty((size, size))
            fixed.flags.writeable = False
            repeated = np.lib.stride_tricks.as_strided(np.empty(size), (size, size), (0, 8))
            for wrong in (fixed, repeated, np.empty((size, size + 1)), np.empty(size), np.empty((size, size), "f4")):
                for _ in range(2):
                    with self.assertRaises((TypeError, ValueError)):
                        cutt.einsum(spec, *arrays, out=wrong)
            for _ in range(2):  # an operand of the last step
                with self.assertRaises(ValueError):
                    cutt.einsum("ab,bc,cd->cd", arrays[0], arrays[1], arrays[2], out=arrays[2])
        one, wide = np.ones((1, 4)), np.full((5, 4), np.nan)
        with self.assertRaises(ValueError):  # nothing is broadcast to out
            cutt.einsum("ab,b,b->ab", one, one[0], one[0], out=wide)
        self.assertTrue(np.isnan(wide).all())

    def test_again(self):
        """Few numbers, so often that NumPy's calls are over; new contents each time, and memory around the result that is nobody's."""
        random = np.random.default_rng(20)
        for turn in range(rounds(12)):
            spec, shapes = draw(random, 6)
            dtype = ("f8", "f4", "c16", "c8")[turn % 4]
            rank = len(spec.split("->")[1])
            path = cutt.einsum_path(spec, *(noise(random, shape, dtype) for shape in shapes))[0]
            optimize = ("auto", False, path, tuple(path[1:]), True)[turn % 5]
            bound = 60 * len(shapes) * terms_of(spec, shapes)
            hits = cutt.plan_cache.hits
            for call in range(300):
                arrays = [np.asarray(noise(random, shape, dtype)) for shape in shapes]
                theirs = np.asarray(np.einsum(spec, *arrays))
                mine = cutt.einsum(spec, *arrays, optimize=optimize)
                self.assertIsInstance(mine, np.ndarray if rank else np.generic)
                self.assertEqual(mine.dtype, theirs.dtype)
                self.assertTrue(close(mine, theirs, bound), (spec, shapes, call))
                if call % 10 == 0 or call > 255:
                    rows = np.full((*theirs.shape, 3), np.nan, dtype)
                    self.assertIs(cutt.einsum(spec, *arrays, out=rows[..., 1]).base, rows)
                    self.assertTrue(close(rows[..., 1].copy(), theirs, bound), (spec, shapes, call))
                    self.assertTrue(np.isnan(rows[..., 0::2]).all())
            if _compiled.calls is not None:
                self.assertGreater(cutt.plan_cache.hits, hits + 290)

    def test_left(self):
        """What the compiled module leaves to the functions in Python, before and after it has served such a call: the same errors,
        and results."""
        random = np.random.default_rng(21)
        a, b, c = (noise(random, (6, 6), "f8") for _ in range(3))
        theirs = a @ b @ c
        plain = _compiled.in_python["einsum"] if _compiled.calls is not None else cutt.einsum
        for _ in range(4):
            for spec, arrays, keys in (
                ("ab,bc,cd->ax", (a, b, c), {}),
                ("ab,bc->ad", (a, b, c), {}),
                ("ab,bc,cd->ad", (a, b[:5], c), {}),
                ("ab,bc,cd->ad", (a, b, c), {"optimize": 3}),
                ("ab,bc,cd->ad", (a, b, c), {"optimize": "abacus"}),
                ("ab,bc,cd->ad", (a, b, c), {"optimize": [(0, 1), 3]}),
                ("ab,bc,cd->ad", (a, b, c), {"optimize": [(0, 7), (0, 1)]}),
                ("ab,bc,cd->ad", (a, b, c), {"optimize": [(0, 1 << 70), (0, 1)]}),
                ("ab,bc,cd->ad", (a, b, c), {"threads": 0}),
                ("ab,bc,cd->ca", (a, b, c), {"out": c[::-1], "optimize": False}),
                ("ab,bc,cd->ad", (a, b, c), {"beta": 2}),
                ("ab,bc,cd->ad", (a, b, c), {"alpha": "x"}),
                ("ab,bc,cd->\ud800", (a, b, c), {}),
                (7, (a, b, c), {}),
            ):
                errors = []
                for function in (cutt.einsum, plain):
                    with self.assertRaises((TypeError, ValueError, RuntimeError), msg=(spec, keys)) as raised:
                        function(spec, *arrays, **keys)
                    errors.append((type(raised.exception), str(raised.exception)))
                self.assertEqual(*errors)
            for keys in ({}, {"alpha": 1, "beta": 0}, {"conj": (False,) * 3}, {"order": "C"}, {"dtype": "f8"}, {"threads": 1}):
                self.assertTrue(close(cutt.einsum("ab,bc,cd->ad", a, b, c, **keys), theirs, 9999))
            self.assertTrue(close(cutt.einsum("ab,bc,cd->ad", a, b, c, alpha=2), 2 * theirs, 9999))
            self.assertTrue(close(cutt.einsum("ab,bc,...cd->...ad", a, b, c), theirs, 9999))
            for kind in ("f4", "c16", "i8", "?", ">f8"):
                mixed = cutt.einsum("ab,bc,cd->ad", a, b, c.astype(kind))
                self.assertTrue(np.allclose(mixed, np.einsum("ab,bc,cd->ad", a, b, c.astype(kind)), rtol=1e-5))
            whole = [(x * 9).astype("i8") for x in (a, b, c)]
            self.assertTrue(np.array_equal(cutt.einsum("ab,bc,cd->ad", *whole), np.einsum("ab,bc,cd->ad", *whole)))
            self.assertEqual(cutt.einsum("ab,bc,cd->ad", a, b, np.empty((6, 0))).shape, (6, 0))
            self.assertTrue(close(cutt.einsum(",ab,,->ba", 2.0, a, 3.0, 1.0), 6 * a.T, 99))

    def test_cache(self):
        random = np.random.default_rng(7)
        arrays = [noise(random, (40, 40), "f8") for _ in range(3)]
        spec, theirs = "ab,bc,cd->ad", arrays[0] @ arrays[1] @ arrays[2]
        cutt.plan_cache.clear()
        self.assertEqual(len(cutt.plan_cache), 0)
        for _ in range(3):
            self.assertTrue(close(cutt.einsum(spec, *arrays), theirs, 9999))
        self.assertGreater(len(cutt.plan_cache), 0)
        hits = cutt.plan_cache.hits
        cutt.einsum(spec, *arrays)
        self.assertGreater(cutt.plan_cache.hits, hits)
        limit = cutt.plan_cache.limit
        cutt.plan_cache.limit = 0
        try:
            self.assertTrue(close(cutt.einsum(spec, *arrays), theirs, 9999))
            self.assertEqual(len(cutt.plan_cache), 0)
        finally:
            cutt.plan_cache.limit = limit

    def test_threads(self):
        """Executions at once have memory of their own."""
        random = np.random.default_rng(8)
        sets = [[noise(random, (60, 60), "f8") for _ in range(4)] for _ in range(4)]
        wrong = []

        def work(arrays):
            theirs = arrays[0] @ arrays[1] @ arrays[2] @ arrays[3]
            for _ in range(rounds(40)):
                mine = cutt.einsum("ab,bc,cd,de->ae", *arrays, threads=1, optimize=False)
                if not close(mine, theirs, 999999):
                    wrong.append(1)

        workers = [threading.Thread(target=work, args=(arrays,)) for arrays in sets]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertFalse(wrong)


    def test_measured(self):
        """One, two and many operands; what was measured is kept in wisdom, for calls without `measure` too."""
        random = np.random.default_rng(12)
        arrays = [noise(random, shape, "f8") for shape in ((30, 40, 20), (20, 40, 25), (25, 30))]
        wisdom = cutt.plan_cache.wisdom = cutt.Wisdom()
        try:
            for spec, taken in (("abc->cab", 1), ("abc->b", 1), ("abc,cbd->ad", 2), ("abc,cbd,da->", 3), ("abc,cbd,dx->xa", 3)):
                theirs = np.einsum(spec, *arrays[:taken], optimize=True)
                for measure in (0.003, 0.003, False, 0):
                    mine = cutt.einsum(spec, *arrays[:taken], measure=measure, threads=1)
                    self.assertTrue(close(mine, theirs, 99999), spec)
            plan = cutt.ContractionPlan("abc,cbd->ad", *arrays[:2], threads=1, wisdom=wisdom)
            self.assertEqual(plan.describe("json")["by"], "wisdom")
        finally:
            cutt.plan_cache.wisdom = None
        with self.assertRaisesRegex(ValueError, "^measure is"):
            cutt.einsum("abc->b", arrays[0], measure=-1)
        with self.assertRaisesRegex(TypeError, "^measure is"):
            cutt.einsum("abc->b", arrays[0], measure="long")
        with self.assertRaises(ValueError):
            cutt.einsum("abc->bx", arrays[0], measure=0.1)
        cutt.plan_cache.clear()
        plain = cutt.einsum("abc,cbd->ad", *arrays[:2])
        self.assertTrue(close(plain, np.einsum("abc,cbd->ad", *arrays[:2]), 9999))


class Paths(unittest.TestCase):
    def test_memory(self):
        """Blocks that are needed at one time never overlap."""
        random = np.random.default_rng(9)
        for _ in range(200):
            count = int(random.integers(1, 20))
            sizes = [int(size) * 256 for size in random.integers(0, 9, count)]
            until = [int(random.integers(step + 1, count + 1)) for step in range(count)]
            offsets, most = _network._lay_out(sizes, until)
            for one, other in itertools.combinations(range(count), 2):
                if until[one] >= other:  # the first is still needed when the second is made
                    apart = offsets[one] + sizes[one] <= offsets[other] or offsets[other] + sizes[other] <= offsets[one]
                    self.assertTrue(apart or not sizes[one] or not sizes[other])
            self.assertTrue(all(offset + size <= most for offset, size in zip(offsets, sizes)))
            self.assertLessEqual(most, sum(sizes))

    def test_greedy(self):
        random = np.random.default_rng(10)
        for _ in range(100):
            spec, shapes = draw(random)
            terms, result = [tuple(term) for term in spec.split("->")[0].split(",")], spec.split("->")[1]
            extents = {letter: n for term, shape in zip(terms, shapes) for letter, n in zip(term, shape)}
            pairs = _path.greedy(terms, extents, tuple(result))
            self.assertEqual(len(pairs), len(terms) - 1)
            self.assertEqual(sorted(itertools.chain(*pairs)), list(range(2 * len(terms) - 2)))
            self.assertEqual(_path.numbered(_path.placed(pairs, len(terms)), len(terms)), tuple(map(tuple, map(sorted, pairs))))
        extents = dict(a=2, b=50, c=50, d=2)
        self.assertEqual(_path.greedy(("ab", "bc", "cd"), extents, "ad")[0], (0, 1))

    def test_told(self):
        random = np.random.default_rng(11)
        arrays = [noise(random, shape, "f8") for shape in ((4, 50), (50, 60), (60, 7))]
        path, text = cutt.einsum_path("ij,jk,kl->il", *arrays, threads=1)
        self.assertEqual(path[0], "einsum_path")
        self.assertEqual(np.einsum("ij,jk,kl->il", *arrays, optimize=path).shape, (4, 7))
        self.assertTrue(close(cutt.einsum("ij,jk,kl->il", *arrays, optimize=path), arrays[0] @ arrays[1] @ arrays[2], 9999))
        self.assertIn("2 steps, ", text)
        for words in ("intermediates", "workspace", "predicted", "->"):
            self.assertIn(words, text)
        self.assertEqual(len(text.splitlines()), 5)
        self.assertEqual(cutt.einsum_path("ij->ji", arrays[0])[0], ["einsum_path", (0,)])
        self.assertEqual(cutt.einsum_path(arrays[0], [0, 1], arrays[1], [1, 2], [0, 2])[0], ["einsum_path", (0, 1)])
        for wrong in (("ij,jk", arrays[0]), (), ("ij,jk",)):
            with self.assertRaises(ValueError):
                cutt.einsum_path(*wrong)
        with self.assertRaisesRegex(ValueError, "no elements"):
            cutt.einsum_path("ij,jk,kl", np.ones((2, 0)), np.ones((0, 3)), np.ones((3, 4)))
        with self.assertRaisesRegex(TypeError, "^optimize is"):
            cutt.einsum_path("ij,jk,kl", *arrays, optimize=3)


if __name__ == "__main__":
    unittest.main()
