"""einsum and tensordot against NumPy."""

import os
import subprocess
import sys
import unittest
import warnings

import numpy as np

import cutt
from support import CONTRACTED, close, distinct, has_blas, noise, rounds, same, strided

warnings.simplefilter("ignore", RuntimeWarning)


def setUpModule():
    if not has_blas():
        raise unittest.SkipTest("no BLAS with the CBLAS interface is here")


class Einsum(unittest.TestCase):
    def check(self, spec, *operands, **keys):
        mine, theirs = cutt.einsum(spec, *operands, **keys), np.einsum(spec, *operands)
        terms = max([1] + [n for operand in operands for n in np.shape(operand)]) ** 2
        self.assertIs(type(mine), type(theirs), spec)
        self.assertTrue(close(mine, theirs, terms), (spec, [np.shape(operand) for operand in operands], mine, theirs))

    def test_forms(self):
        random = np.random.default_rng(1)
        a, b, c = noise(random, (4, 5, 6), "f8"), noise(random, (6, 7), "f8"), noise(random, (5, 5), "f8")
        for spec in (
            "abc,cd->abd",
            "abc,cd->dba",
            "abc,cd",
            " a b c , c d -> a b d ",
            "abc,de->abcde",
            "abc,dc...->abd",
        ):
            self.check(spec, a, b.T if "dc" in spec else b)
        for spec in (
            "abc->cab",
            "abc",
            "cba",
            "abc->",
            "abc->b",
            "abc->ca",
            "...->...",
            "a...->...",
            "...c->...",
            "Zba",
        ):
            self.check(spec, a)
        for spec in ("ii", "ii->i", "ij->ji", "ij", "ji", "ii->", "...ii->...i", "...ij->ji..."):
            self.check(spec, c)
        for spec in ("ij,ij", "ij,ji->", "ii,jj->ij", "ij,jk,kl->il", "ij,jk,kl", "ii,ij,jk->k", "ij,kl,mn->nj"):
            self.check(spec, *[c] * (spec.count(",") + 1))
        self.check(",", 2.5, 3.0)
        self.check(",->", 2.5, c[0, 0])
        self.check("", 2.5)
        self.check("i,->i", c[0], 2.5)
        self.assertTrue(close(cutt.einsum("äß,ßq->äq", c, c), c @ c, 9))  # letters that NumPy's has not

    def test_interleaved(self):
        random = np.random.default_rng(2)
        a, b = noise(random, (4, 5), "f8"), noise(random, (5, 6), "f8")
        for form in (
            (a, [0, 1], b, [1, 2]),
            (a, [0, 1], b, [1, 2], [2, 0]),
            (a, [3, 1], b, [1, 0]),
            (a, [0, 1]),
            (a, [Ellipsis, 1], b, [1, 2], [Ellipsis, 2]),
            (a, [7, 40], [40]),
        ):
            self.assertTrue(close(cutt.einsum(*form), np.einsum(*form), 8))
        for text, form in (
            (r"label \[2\] of operand 1 is given to extents 5 and 6", (a, [0, 1], b, [2, 2])),
            (r"axis 0 of operand 1 has extent 5, and label \[7\] has 4", (a, [7, 1], b, [7, 2])),
            (r"the subscripts '\[0\]' are for 1 axes; operand 0 has 2", (a, [0])),
            (r"label \[1\] more than once", (a, [0, 1], [1, 1])),
        ):
            for function in (cutt.einsum, cutt.einsum_path):
                with self.assertRaisesRegex(ValueError, text):
                    function(*form)
        with self.assertRaisesRegex(ValueError, "label \u03b1 has 4"):
            cutt.einsum("\u03b1j,\u03b1k", a, b)

    def test_broadcast(self):
        random = np.random.default_rng(3)
        for left, right in (((1, 3), (4, 1)), ((1, 1), (4, 3)), ((3,), (4, 3)), ((2, 1, 3), (4, 1)), ((), (3,))):
            a, b = noise(random, left, "f8"), noise(random, right, "f8")
            self.check("...,...->...", a, b)
            self.check("...,...", a, b)
        a, b = noise(random, (5, 1, 2, 3), "f8"), noise(random, (4, 3, 6), "f8")
        self.check("...ij,...jk->...ik", a, b)
        self.check("...ij,...jk", a, b)
        self.check("i,i", noise(random, (1,), "f8"), noise(random, (3,), "f8"))
        self.check("i,i->i", noise(random, (1,), "f8"), noise(random, (3,), "f8"))
        self.check("ij,jk->ik", noise(random, (2, 1), "f8"), noise(random, (3, 4), "f8"))

    def test_empty(self):
        for spec, shapes in (
            ("i->", [(0,)]),
            ("ij,j->i", [(2, 0), (0,)]),
            ("ij,jk->ik", [(0, 3), (3, 2)]),
            ("i->i", [(0,)]),
            ("i,i", [(0,), (0,)]),
            ("ij->j", [(0, 2)]),
            ("ij,jk,kl->il", [(2, 0), (0, 3), (3, 4)]),
        ):
            self.check(spec, *[np.ones(shape) for shape in shapes])
        for dtype in ("f2", "f8", "g", "G"):  # NumPy's own sum of these may be a NaN
            a = np.ndarray((5, 0, 3), dtype, np.full(999, 255, "u1").data)
            b = np.ndarray((0, 5, 3), dtype, a.base)
            self.assertTrue(same(cutt.einsum("cab,acb->c", a, b), np.zeros(5, dtype)), dtype)
        out = np.full(2, 3.0)
        cutt.einsum("ij,j->i", np.ones((2, 0)), np.ones(0), out=out, beta=2)
        self.assertTrue(same(out, np.full(2, 6.0)))
        cutt.einsum("ij,j->i", np.ones((2, 0)), np.ones(0), out=out)
        self.assertTrue(same(out, np.zeros(2)))

    def test_random(self):
        """Random subscripts with batches, diagonals, sums and broadcasting, on operands with strides of every kind."""
        random = np.random.default_rng(4)
        for round_ in range(rounds(500)):
            dtype = CONTRACTED[random.integers(4)]
            letters = "abcdefgh"[: int(random.integers(1, 8))]
            extents = {letter: int(random.integers(1, 6)) for letter in letters}
            count = int(random.choice([1, 2, 2, 2, 3, 4]))
            terms, operands = [], []
            for _ in range(count):
                term = [letters[i] for i in random.integers(len(letters), size=int(random.integers(0, 5)))]
                terms.append("".join(term))
                shape = tuple(extents[letter] if term.count(letter) > 1 or random.integers(9) else 1 for letter in term)
                operands.append(strided(random, noise(random, shape, dtype)))
            there = sorted(set("".join(terms)))
            kept = [letter for letter in there if random.integers(2)]
            random.shuffle(kept)
            spec = ",".join(terms) + ("->" + "".join(kept) if random.integers(5) else "")
            size = max([max([1, *operand.shape]) for operand in operands])
            mine, theirs = cutt.einsum(spec, *operands), np.einsum(spec, *operands)
            terms_summed = size ** min(len(there), 7)
            self.assertTrue(close(mine, theirs, terms_summed), (spec, [(o.shape, o.strides) for o in operands], dtype))
            if count == 2:
                out = strided(random, noise(random, np.shape(theirs), dtype), zero=False)
                if out.shape:
                    out = out if out.flags.writeable else out.copy()
                    conj = [bool(flag) for flag in random.integers(2, size=2)]
                    with_conj = [operand.conj() if flag else operand for operand, flag in zip(operands, conj)]
                    expected = -2 * np.einsum(spec, *with_conj) + np.array(3, dtype) * out
                    self.assertIs(cutt.einsum(spec, *operands, out=out, alpha=-2, beta=3, conj=conj), out)
                    self.assertTrue(close(out, expected, 3 * terms_summed), (spec, dtype, conj))

    def test_many(self):
        random = np.random.default_rng(5)
        shapes = [(3, 4), (4, 5, 2), (5, 6), (6, 3), (2, 6)]
        operands = [noise(random, shape, "c16") for shape in shapes]
        spec = "ab,bcx,cd,de,xd->ae"
        theirs = np.einsum(spec, *operands)
        for optimize in (
            True,
            False,
            None,
            "auto",
            "greedy",
            "optimal",
            [(0, 1), (0, 1), (0, 1), (0, 1)],
            [(0, 1, 2), (0, 1, 2)],
            ["einsum_path", (3, 4), (0, 1), (0, 1, 2)],
            [(0, 1)],
        ):
            self.assertTrue(close(cutt.einsum(spec, *operands, optimize=optimize), theirs, 99), optimize)
        out = np.ones_like(theirs)
        cutt.einsum(spec, *operands, out=out, alpha=2j, beta=1, conj=(True,) * 5)
        self.assertTrue(close(out, 2j * theirs.conj() + 1, 199))
        for path in ([(0, 9)], [(0, 0)]):
            with self.assertRaisesRegex(ValueError, "of the path"):
                cutt.einsum(spec, *operands, optimize=path)
        with self.assertRaises(TypeError):
            cutt.einsum(spec, *operands, optimize=[1, 2])

    def test_many_labels(self):
        """More than there are letters, and axes beyond what NumPy's einsum takes."""
        random = np.random.default_rng(6)
        a, b = noise(random, (1,) * 10 + (2, 3) + (1,) * 18, "f8"), noise(random, (3,) + (1,) * 28, "f8")
        left = [chr(0x100 + i) for i in range(30)]
        right = [left[11]] + [chr(0x200 + i) for i in range(28)]
        mine = cutt.einsum("{},{}->{}".format(*map("".join, (left, right, [left[10]]))), a, b)
        self.assertTrue(close(mine, a.reshape(2, 3) @ b.reshape(3), 3))

    def test_without_opt_einsum(self):
        """Paths are then NumPy's."""
        program = (
            "import sys; sys.modules['opt_einsum'] = None\n"
            "import warnings; warnings.simplefilter('ignore')\n"
            "import numpy as np, cutt\n"
            "a, b, c = np.random.rand(3, 4), np.random.rand(4, 5), np.random.rand(5, 6)\n"
            "for optimize in ('auto', 'optimal', True, False):\n"
            "    assert np.allclose(cutt.einsum('ij,jk,kl', a, b, c, optimize=optimize), a @ b @ c)\n"
        )
        subprocess.run([sys.executable, "-c", program], check=True)

    def test_moved_only(self):
        """Where nothing is summed any type will do."""
        for dtype in ("i4", "bool", "S3", ">f8"):
            a = distinct((4, 4), dtype)
            self.assertTrue(same(cutt.einsum("ij->ji", a), a.T))
            self.assertTrue(same(cutt.einsum("ii->i", a), np.diag(a)))


class Refused(unittest.TestCase):
    def test_subscripts(self):
        a = np.zeros((2, 3))
        for spec, arrays, text in (
            ("ij,jk", (a,), "for 2 operands, and 1"),
            ("ijk", (a,), "for 3 axes; operand 0 has 2"),
            ("i", (a,), "for 1 axes"),
            ("ij->k", (a,), "label k, which no operand has"),
            ("ij->ii", (a,), "more than once"),
            ("i1", (a,), "'1'"),
            ("..i", (a,), "ellipsis"),
            ("...i...", (a,), "ellipsis"),
            ("...j->j", (a,), "must have an ellipsis"),
            ("ij->i->j", (a,), "one '->'"),
            ("ij,ij", (a, a.T), "has extent 3, and label i has 2"),
            ("ii", (a,), "diagonal"),
            ("ii", (np.zeros((1, 3)),), "diagonal"),
            ("ij->ij,", (a,), "','"),
        ):
            with self.assertRaisesRegex(ValueError, text, msg=spec):
                cutt.einsum(spec, *arrays)
            with self.assertRaises(ValueError, msg=spec):
                np.einsum(spec, *arrays)
        for arguments in ((), ("ij",)):
            with self.assertRaises(ValueError):
                cutt.einsum(*arguments)
        with self.assertRaises(TypeError):
            cutt.einsum(a, 3)
        with self.assertRaises(ValueError):
            cutt.einsum(a, [0, 1], [2])

    def test_types(self):
        a = np.zeros((2, 2))
        for dtype in ("M8[s]", "m8[s]", "S3", [("x", "f8")]):
            with self.assertRaisesRegex(TypeError, "can't be contracted or summed on cpu: numbers can"):
                cutt.einsum("ij,jk", a.astype("i8").astype(dtype), a.astype("i8").astype(dtype))
            with self.assertRaisesRegex(TypeError, "can't be contracted or summed on cpu: numbers can"):
                cutt.tensordot(a.astype("i8").astype(dtype), a.astype("i8").astype(dtype), 1)
            with self.assertRaises(TypeError):
                cutt.einsum("ij->", a.astype("i8").astype(dtype))
        with self.assertRaises(TypeError):
            cutt.einsum("ij,jk", a, a, alpha=1j)
        with self.assertRaises(TypeError):
            cutt.einsum("ij,jk", a, a, out=a.astype("f4"))

    def test_out(self):
        a = np.zeros((2, 2))
        for function in (cutt.einsum, cutt.reduce):
            with self.assertRaisesRegex(ValueError, r"^operand 0 spans bytes .* and out \[.* overlap; out must have"):
                function("ij,jk->ik", a, a.copy(), out=a)
            with self.assertRaisesRegex(ValueError, r"^operand 1 spans bytes"):
                function("ij,jk->ik", a.copy(), a, out=a)
        large = np.ones((70, 70))
        with self.assertRaisesRegex(ValueError, r"^operand 2 spans bytes"):
            cutt.einsum("ij,jk,kl->il", large.copy(), large.copy(), large, out=large, optimize=False)
        with self.assertRaisesRegex(ValueError, r"^operand 1 spans bytes"):
            cutt.tensordot(a.copy(), a, 1, out=a)
        with self.assertRaisesRegex(ValueError, "out has shape"):
            cutt.einsum("ij,jk->ik", a, a, out=np.zeros(2))
        with self.assertRaisesRegex(ValueError, "beta"):
            cutt.einsum("ij,jk->ik", a, a, beta=1)
        with self.assertRaisesRegex(ValueError, "conj has 1"):
            cutt.einsum("ij,jk->ik", a, a, conj=[True])


class Tensordot(unittest.TestCase):
    def test_against_numpy(self):
        random = np.random.default_rng(7)
        for _ in range(rounds(150)):
            dtype = CONTRACTED[random.integers(4)]
            ranks = random.integers(0, 5, 2)
            shapes = [list(random.integers(1, 5, rank)) for rank in ranks]
            count = int(random.integers(0, min(ranks) + 1))
            pairs = [[int(axis) for axis in random.permutation(rank)[:count]] for rank in ranks]
            for left, right in zip(*pairs):
                shapes[0][left] = shapes[1][right]
            a, b = (strided(random, noise(random, shape, dtype)) for shape in shapes)
            pairs = [[axis - (rank if random.integers(2) else 0) for axis in side] for side, rank in zip(pairs, ranks)]
            self.assertTrue(close(cutt.tensordot(a, b, pairs), np.tensordot(a, b, pairs), 5**count))
            held = np.array(pairs, int)
            self.assertTrue(close(cutt.tensordot(a, b, held), np.tensordot(a, b, pairs), 5**count))
            self.assertTrue(close(cutt.tensordot(a, b, list(held)), np.tensordot(a, b, pairs), 5**count))

    def test_number(self):
        random = np.random.default_rng(8)
        a, b = noise(random, (3, 4, 5), "f8"), noise(random, (4, 5, 2), "f8")
        self.assertTrue(close(cutt.tensordot(a, b), np.tensordot(a, b), 20))
        self.assertTrue(close(cutt.tensordot(a, b, 0), np.tensordot(a, b, 0), 1))
        self.assertTrue(close(cutt.tensordot(a, b, np.int64(2)), np.tensordot(a, b), 20))
        self.assertTrue(close(cutt.tensordot(a, b, np.array(2)), np.tensordot(a, b), 20))
        self.assertTrue(close(cutt.tensordot(a, b, axes=(1, 0)), np.tensordot(a, b, axes=(1, 0)), 4))
        out = np.ones((3, 2))
        self.assertIs(cutt.tensordot(a, b, 2, out=out, alpha=2, beta=1), out)
        self.assertTrue(close(out, 2 * np.tensordot(a, b) + 1, 40))
        whole = cutt.tensordot(a, a, 3)
        self.assertTrue(isinstance(whole, np.ndarray) and whole.shape == ())

    def test_refused(self):
        a = np.zeros((3, 4))
        for axes, error in (
            (3, ValueError),
            (-1, ValueError),
            (((0,), (1,)), ValueError),
            (((0, 0), (0, 0)), ValueError),
            (((0, 1), (0,)), ValueError),
            (((2,), (0,)), ValueError),
            ("x", TypeError),
            (1.5, TypeError),
        ):
            with self.assertRaises(error, msg=axes):
                cutt.tensordot(a, a, axes)


class Warned(unittest.TestCase):
    def test_once(self):
        """Exactly if a BLAS is used that has an environment override; where own kernels are faster none is."""
        program = (
            "import warnings, json, numpy as np, cutt\n"
            "with warnings.catch_warnings(record=True) as caught:\n"
            "    warnings.simplefilter('always')\n"
            "    for n in (300, 301): cutt.einsum('ij,jk', np.ones((n, n)), np.ones((n, n)))\n"
            "used = next(p for p in cutt.providers()['providers'] if p['default'] and p['backend'] == 'cpu')\n"
            "plan = cutt.ContractionPlan('ij,jk->ik', np.ones((300, 300)), np.ones((300, 300)))\n"
            "warned = used['environment_override'] and plan.info['provider'] == used['name']\n"
            "texts = [str(w.message) for w in caught if w.category is RuntimeWarning]\n"
            "assert len(texts) == bool(warned), (texts, used, plan)\n"
            "assert not texts or used['environment_override'] in texts[0] and caught[0].filename == '<string>', texts\n"
        )
        before = dict(os.environ)
        subprocess.run([sys.executable, "-c", program], check=True)
        self.assertEqual(before, dict(os.environ))


if __name__ == "__main__":
    unittest.main()
