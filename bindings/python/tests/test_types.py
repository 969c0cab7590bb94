"""What einsum and tensordot take of NumPy's element types, and objects that NumPy makes arrays of: as NumPy does it."""

import itertools
import tracemalloc
import unittest
import unittest.mock
import warnings

import numpy as np

import cutt
from support import close, distinct, has_blas, noise, rounds, same, strided

warnings.simplefilter("ignore", RuntimeWarning)

INTEGERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")


def setUpModule():
    if not has_blas():
        raise unittest.SkipTest("no BLAS with the CBLAS interface is here")


def anything(random, shape, dtype):
    """Of the whole range of an integer type."""
    size = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(random.bytes(size * np.dtype(dtype).itemsize), dtype).reshape(shape)


class Wraps:
    """What only NumPy can make an array of."""

    def __init__(self, inner):
        self.inner = inner

    def __array__(self, dtype=None, copy=None):
        return self.inner if dtype is None else self.inner.astype(dtype)


class Integers(unittest.TestCase):
    def test_any_value(self):
        """Equal to NumPy's, bit for bit, whatever wraps around."""
        random = np.random.default_rng(1)
        for dtype in INTEGERS:
            for spec, shapes in (
                ("ij,jk->ik", ((5, 7), (7, 3))),
                ("ij,jk->ki", ((5, 300), (300, 3))),
                ("ij,ij->", ((4, 5), (4, 5))),
                ("i,j->ij", ((4,), (5,))),
                ("ij->j", ((4, 5),)),
                ("ij->", ((4, 5),)),
                ("ii", ((4, 4),)),
                ("ij,jk,kl->il", ((3, 4), (4, 5), (5, 2))),
                ("ij,ij->ij", ((3, 1), (1, 4))),
                ("...i,...i->...", ((2, 3), (3,))),
                ("ij,j->i", ((2, 0), (0,))),
            ):
                arrays = [strided(random, anything(random, shape, dtype)) for shape in shapes]
                mine, theirs = cutt.einsum(spec, *arrays), np.einsum(spec, *arrays)
                self.assertTrue(same(mine, theirs) and type(mine) is type(theirs), (spec, dtype, mine, theirs))

    def test_small_values(self):
        random = np.random.default_rng(2)
        for dtype in INTEGERS:
            a, b = (random.integers(0, 100, (30, 30)).astype(dtype) for _ in "ab")
            self.assertTrue(same(cutt.einsum("ij,jk", a, b), np.einsum("ij,jk", a, b)), dtype)
            self.assertTrue(same(cutt.tensordot(a, b, 1), np.tensordot(a, b, 1)), dtype)

    def test_much_to_multiply(self):
        """Where a BLAS is faster: exact in double precision, or the values are too large for that."""
        random = np.random.default_rng(12)
        for dtype in ("i4", "u4", "i8", "u8"):
            for make in (
                lambda: random.integers(0, 50, (130, 130)).astype(dtype),
                lambda: anything(random, (130, 130), dtype),
            ):
                a, b, c = make(), make(), make()
                self.assertTrue(same(cutt.einsum("ij,jk", a, b), np.einsum("ij,jk", a, b)), dtype)
                out, wanted = c.copy(), a.T @ b * np.array(3, dtype) - c * np.array(2, dtype)
                cutt.einsum("ji,jk->ik", a, b, out=out, alpha=3, beta=-2)
                self.assertTrue(same(out, wanted), dtype)
                self.assertTrue(same(cutt.einsum("ij,jk,kl", a, b, c), a @ b @ c), dtype)
        out = np.full((130, 130), 7, "i2")
        a, b = (anything(random, (130, 130), "i2") for _ in "ab")
        cutt.einsum("ij,jk->ik", a, b, out=out, beta=5)
        self.assertTrue(same(out, a @ b + np.int16(35)))

    def test_single_numbers_wrap_around(self):
        """Of which NumPy warns, as it does not of arrays; of an outer product, with many products for each element."""
        random = np.random.default_rng(14)
        for dtype in ("i4", "u4", "i8", "u8"):
            a, b = (random.integers(0, 50, 130).astype(dtype) for _ in "ab")
            out = np.full((), 7, dtype)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                cutt.einsum("i,j->", a, b, out=out, alpha=-1, beta=-2)
            wanted = (-14 - int(a.sum()) * int(b.sum())) % 2 ** (8 * out.itemsize)
            self.assertEqual(int(out) % 2 ** (8 * out.itemsize), wanted, dtype)

    def test_nothing_is_converted(self):
        """What the library multiplies is not copied, unless that is sooner done by a BLAS."""
        random = np.random.default_rng(13)
        for dtype in ("i4", "u4", "i8", "u8", "f2", "f4"):
            a, b = ((9 * random.random((400, 500))).astype(dtype) for _ in "ab")
            out = np.empty((400, 500), dtype)
            for spec, held in (("ij,ij->ij", out), ("ij,ij->i", out[:, 0].copy()), ("ij->j", out[0].copy())):
                arrays = (a, b) if "," in spec else (a,)
                cutt.einsum(spec, *arrays, out=held)
                tracemalloc.start()
                cutt.einsum(spec, *arrays, out=held)
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                self.assertLess(peak, 40000, (spec, dtype))
                theirs = np.einsum(spec, *(x.astype("f8") for x in arrays))
                self.assertTrue(np.allclose(held, theirs, rtol=2e-3, atol=1e-3), (spec, dtype))

    def test_plans(self):
        random = np.random.default_rng(14)
        for dtype in ("i4", "u8", "f2"):
            a, b = (random.integers(0, 9, (4, 4)).astype(dtype) for _ in "ab")
            plan = cutt.ContractionPlan("ij,jk->ik", a, b)
            self.assertTrue(same(plan(a, b), a @ b))
            self.assertEqual("one-pass", plan.info["algorithm"])

    def test_bool(self):
        random = np.random.default_rng(3)
        a, b = random.integers(0, 2, (6, 7)).astype(bool), random.integers(0, 2, (7, 5)).astype(bool)
        self.assertTrue(same(cutt.einsum("ij,jk", a, b), np.einsum("ij,jk", a, b)))
        self.assertTrue(same(cutt.einsum("ij->i", a), np.einsum("ij->i", a)))

    def test_scaled(self):
        a, b = np.arange(6).reshape(2, 3), np.arange(12).reshape(3, 4)
        out = np.full((2, 4), 5)
        self.assertIs(cutt.einsum("ij,jk->ik", a, b, out=out, alpha=-3, beta=2), out)
        self.assertTrue(same(out, -3 * (a @ b) + 10))
        for name, value in (("alpha", 0.5), ("alpha", 1j), ("beta", 1.5)):
            with self.assertRaisesRegex(TypeError, f"^{name} is"):
                cutt.einsum("ij,jk->ik", a, b, out=out, **{name: value})
        with self.assertRaisesRegex(TypeError, "^alpha is 2"):
            cutt.einsum("ij->i", a > 2, alpha=2)
        with self.assertRaisesRegex(ValueError, "^beta is"):
            cutt.einsum("ij,jk->ik", a, b, beta=1)


class Promotion(unittest.TestCase):
    def test_pairs(self):
        """The type of the result is NumPy's, for every pair of types."""
        random = np.random.default_rng(4)
        types = ("?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", ">f8", ">i4", "g", "G")
        for left, right in itertools.product(types, repeat=2):
            a, b = ((random.random((3, 4)) * 9).astype(left), (random.random((4, 5)) * 9).astype(right))
            mine, theirs = cutt.einsum("ij,jk", a, b), np.einsum("ij,jk", a, b)
            self.assertEqual(mine.dtype, theirs.dtype, (left, right))
            exact = np.einsum("ij,jk", a.astype("c16"), b.astype("c16"))
            unit = np.finfo(theirs.dtype).eps if theirs.dtype.kind in "fc" else 0
            if theirs.dtype.kind == "b":
                self.assertTrue(same(mine, theirs))
            else:
                self.assertTrue(np.all(np.abs(mine - exact) <= (1e-13 + 4 * unit) * 400), (left, right))
            dot = np.tensordot(a, b, 1)
            self.assertEqual(cutt.tensordot(a, b, 1).dtype, dot.dtype)

    def test_random(self):
        random = np.random.default_rng(5)
        for _ in range(rounds(120)):
            types = [("f4", "f8", "c8", "c16", "i4", "i8", "f2")[n] for n in random.integers(0, 7, 3)]
            shapes = ((3, 4), (4, 2, 5), (5, 3))
            arrays = [strided(random, noise(random, shape, "f8").astype(kind)) for shape, kind in zip(shapes, types)]
            mine, theirs = cutt.einsum("ab,bxc,cd->axd", *arrays), np.einsum("ab,bxc,cd->axd", *arrays)
            self.assertTrue(mine.dtype == theirs.dtype and np.allclose(mine, theirs, rtol=3e-2, atol=3e-2), types)

    def test_scalars(self):
        for kind in ("i4", "f4", "f8", "c16"):
            a = np.arange(1, 5).astype(kind)
            for value in (2, 2.5, 2j, True, np.float32(2), np.int8(3), np.array(2.5)):
                for spec, arrays in (("i,->i", (a, value)), (",i->", (value, a)), (",", (value, value))):
                    mine, theirs = cutt.einsum(spec, *arrays), np.einsum(spec, *arrays)
                    self.assertTrue(mine.dtype == theirs.dtype and np.allclose(mine, theirs), (kind, value, spec))

    def test_dtype(self):
        random = np.random.default_rng(6)
        a, b = noise(random, (3, 4), "f4"), noise(random, (4, 5), "f4")
        self.assertTrue(close(cutt.einsum("ij,jk", a, b, dtype="f8"), np.einsum("ij,jk", a, b, dtype="f8"), 4))
        self.assertTrue(close(cutt.einsum("ij,jk", a, b, dtype=complex), np.einsum("ij,jk", a, b, dtype=complex), 4))
        self.assertTrue(same(cutt.einsum("ij->ji", a, dtype="f8"), a.T.astype("f8")))
        for keys in ({"dtype": "f2"}, {"dtype": "i4"}, {"dtype": "i4", "casting": "same_kind"}):
            with self.assertRaisesRegex(TypeError, "^operand 0 has elements of type float32, which casting="):
                cutt.einsum("ij,jk", a, b, **keys)
            with self.assertRaises(TypeError):
                np.einsum("ij,jk", a, b, **keys)
        half = cutt.einsum("ij,jk", a, b, dtype="f2", casting="same_kind")
        self.assertTrue(half.dtype == "f2" and np.allclose(half, a @ b, atol=1e-2))
        c = 9 * a
        self.assertTrue(same(cutt.einsum("ij->j", c, dtype="i4", casting="unsafe"), c.astype("i4").sum(0, dtype="i4")))
        with self.assertRaisesRegex(ValueError, "^casting is 'any'"):
            cutt.einsum("ij,jk", a, b, casting="any")
        with self.assertRaisesRegex(TypeError, "^dtype is 'nothing'|data type 'nothing'"):
            cutt.einsum("ij,jk", a, b, dtype="nothing")

    def test_out_of_another_type(self):
        random = np.random.default_rng(7)
        a, b = noise(random, (3, 4), "f4"), noise(random, (4, 5), "f4")
        out = np.full((3, 5), np.nan)
        self.assertIs(cutt.einsum("ij,jk->ik", a, b, out=out, dtype="f4"), out)
        self.assertTrue(np.allclose(out, a @ b))
        cutt.einsum("ij,jk->ik", a.astype("f2"), b, out=out, beta=2)
        self.assertTrue(np.allclose(out, 3 * (a @ b), atol=1e-2))
        with self.assertRaisesRegex(TypeError, "^out has elements of type float32; they must be float64"):
            cutt.einsum("ij,jk->ik", a.astype("f8"), b, out=np.zeros((3, 5), "f4"))
        narrow = np.zeros((3, 5), "f4")
        cutt.einsum("ij,jk->ik", a.astype("f8"), b, out=narrow, casting="same_kind")
        self.assertTrue(np.allclose(narrow, a @ b))

    def test_refused(self):
        a = np.zeros((2, 2))
        for other in (a.astype("M8[s]"), a.astype("S3"), np.array([[None] * 2] * 2)):
            with self.assertRaises(TypeError):
                cutt.einsum("ij,jk", a, other)
            with self.assertRaises(TypeError):
                cutt.einsum("ij,jk", other, other)


class Few(unittest.TestCase):
    """What NumPy itself computes, and what looks like it."""

    def test_results_are_new(self):
        """Of one operand NumPy's einsum may give a view."""
        for dtype in ("i4", "f2", "f8", "?"):
            a = np.ones((3, 3), dtype)
            for spec in ("ij->ji", "ii->i", "ij", "ij->j"):
                mine = cutt.einsum(spec, a)
                self.assertFalse(np.shares_memory(mine, a), (spec, dtype))
                self.assertTrue(mine.flags.c_contiguous and mine.flags.writeable)

    def test_alike(self):
        """With whatever is left to NumPy, and without."""
        random = np.random.default_rng(11)
        x, one = 9 * random.random((4, 5)), random.random((1, 5))
        for kinds in itertools.product(("f4", "f8", "i4", "c16"), repeat=3):
            arrays = [x.astype(kinds[0]), x.astype(kinds[1]), one.astype(kinds[2])]
            for spec in ("ij,kj,lj->ikl", "ij,ij,lj->i", "ij , kj, lj -> kil"):
                few = cutt.einsum(spec, *arrays)
                with unittest.mock.patch.object(cutt._einsum, "_are_few", lambda *given: False):
                    many = cutt.einsum(spec, *arrays)
                self.assertEqual((few.dtype, few.shape, few.strides), (many.dtype, many.shape, many.strides))
                self.assertTrue(np.allclose(few, many, rtol=1e-4))

    def test_broadcast_is_counted(self):
        """An axis of extent 1 beside a long one is a long one."""
        a, b = np.ones((4, 100000)), np.ones((1, 3), "f4")
        self.assertFalse(cutt._einsum._are_few(("ij,jk", a, b), None, "auto", cutt._einsum._FEW))
        self.assertTrue(cutt._einsum._are_few(("ij,jk", a[:, :9], b), None, "auto", cutt._einsum._FEW))

    def test_errors_are_ours(self):
        a = np.ones((3, 3), "i4")
        with self.assertRaisesRegex(ValueError, "label k, which no operand has"):
            cutt.einsum("ij->k", a)
        with self.assertRaisesRegex(ValueError, "has extent 3, and label j has 2 before"):
            cutt.einsum("ij,jk", a[:, :2], a)
        with self.assertRaisesRegex(TypeError, "optimize is 3.5"):
            cutt.einsum("ij,jk,kl", a * 1.0, a * 1.0, a * 1.0, optimize=3.5)


class Order(unittest.TestCase):
    def test_order(self):
        random = np.random.default_rng(8)
        a, b = noise(random, (3, 4), "f8"), noise(random, (4, 5), "f8")
        for kinds in (("f8", "f8"), ("f4", "f8"), ("i4", "i4")):
            x, y = (9 * a).astype(kinds[0]), (9 * b).astype(kinds[1])
            for order in "CFAK":
                for left, right in ((x, y), (np.asfortranarray(x), np.asfortranarray(y))):
                    mine = cutt.einsum("ij,jk", left, right, order=order)
                    theirs = np.einsum("ij,jk", left, right, order=order)
                    self.assertTrue(close(mine, theirs, 300))
                    if order != "K":
                        self.assertEqual(mine.flags.f_contiguous, theirs.flags.f_contiguous, (kinds, order))
        self.assertTrue(cutt.einsum("ij->ji", a, order="F").flags.f_contiguous)
        with self.assertRaisesRegex(ValueError, "^order is 'B'"):
            cutt.einsum("ij,jk", a, b, order="B")
        with self.assertRaisesRegex(ValueError, "^order is 'B'"):
            cutt.einsum("ij,jk->ik", a, b, order="B", out=np.zeros((3, 5)))


class Objects(unittest.TestCase):
    """What has nothing but __array__, as the arrays of xarray, pandas, Dask and h5py have it."""

    def test_taken(self):
        a = distinct((3, 4), "f8")
        self.assertTrue(same(cutt.transpose(Wraps(a)), a.T))
        self.assertTrue(close(cutt.einsum("ij,kj", Wraps(a), a), a @ a.T, 4))
        self.assertTrue(close(cutt.tensordot(Wraps(a), Wraps(a.T), 1), a @ a.T, 4))
        self.assertTrue(same(cutt.Plan(Wraps(a))(Wraps(a)), a.T))

    def test_not_written_to(self):
        """What it gives may be a copy, and a result would be lost."""
        a, inner = distinct((3, 4), "f8"), np.zeros((4, 3))
        with self.assertRaisesRegex(ValueError, "^out may be a copy"):
            cutt.transpose(a, out=Wraps(inner))
        with self.assertRaisesRegex(ValueError, "^out may be a copy"):
            cutt.einsum("ij->ji", a, out=Wraps(inner))
        self.assertFalse(inner.any())

    def test_libraries(self):
        a = distinct((3, 4), "f8")
        for name, make in (
            ("pandas", lambda module: module.DataFrame(a)),
            ("xarray", lambda module: module.DataArray(a)),
            ("dask.array", lambda module: module.from_array(a)),
        ):
            with self.subTest(name):
                try:
                    module = __import__(name, fromlist=["array"])
                except ImportError:
                    self.skipTest(f"{name} can't be imported")
                self.assertTrue(same(cutt.transpose(make(module)), a.T))
                self.assertTrue(close(cutt.einsum("ij,kj", make(module), a), a @ a.T, 4))


class Labels(unittest.TestCase):
    def test_symbols_of_opt_einsum(self):
        """Any number of them: the 76th and others are no letters."""
        symbols = [chr(n + 140) for n in range(52, 2000)]
        self.assertTrue(any(not symbol.isalpha() for symbol in symbols))
        random = np.random.default_rng(9)
        a, b = noise(random, (3, 4), "f8"), noise(random, (4, 5), "f8")
        for symbol in symbols[:60] + symbols[::37]:
            self.assertTrue(close(cutt.einsum(f"i{symbol},{symbol}k->ik", a, b), a @ b, 4), hex(ord(symbol)))
            self.assertTrue(close(cutt.einsum(f"i{symbol},{symbol}k", a, b), a @ b, 4), hex(ord(symbol)))

    def test_more_than_letters(self):
        """A chain of 150 matrices has 151 labels."""
        random = np.random.default_rng(10)
        labels = ([chr(97 + n) for n in range(26)] + [chr(n + 140) for n in range(52, 300)])[:151]
        arrays = [noise(random, (2, 2), "f8") for _ in labels[1:]]
        spec = ",".join(left + right for left, right in zip(labels, labels[1:])) + f"->{labels[0]}{labels[-1]}"
        theirs = arrays[0]
        for array in arrays[1:]:
            theirs = theirs @ array
        for optimize in (False, "greedy"):
            self.assertTrue(np.allclose(cutt.einsum(spec, *arrays, optimize=optimize), theirs))

    def test_refused(self):
        for character in "1+*_'":
            with self.assertRaisesRegex(ValueError, "labels are letters"):
                cutt.einsum(f"i{character},{character}k", np.zeros((2, 2)), np.zeros((2, 2)))


if __name__ == "__main__":
    unittest.main()
