"""Arrays of PyTorch, JAX and CuPy, on the CPU and on a GPU; each where it can be imported, and skipped with the
reason."""

import unittest
import warnings

import numpy as np

import cutt
from cutt import _compiled
from support import close, has_blas, need, noise, rounds, same

warnings.simplefilter("ignore", RuntimeWarning)


def gpu_usable():
    return any(backend["name"] == "cuda" and backend["usable"] for backend in cutt.devices()["backends"])


class Torch(unittest.TestCase):
    device = "cpu"

    @classmethod
    def setUpClass(cls):
        cls.torch = need("torch")

    def tensor(self, array):
        return self.torch.from_numpy(np.array(array)).to(self.device)

    def host(self, tensor):
        self.assertIsInstance(tensor, self.torch.Tensor)
        self.assertEqual(tensor.device.type, self.device)
        return tensor.resolve_conj().cpu().numpy()

    def test_transpose(self):
        random = np.random.default_rng(1)
        for _ in range(rounds(100)):
            shape, axes = tuple(random.integers(1, 7, 4)), tuple(int(axis) for axis in random.permutation(4))
            dtype = ("f2", "f4", "f8", "c8", "c16", "i1", "u1", "i2", "i4", "i8", "bool")[random.integers(11)]
            a = self.tensor((noise(random, shape, "f8") * 9).astype(dtype))
            a = (a, a.permute(3, 1, 0, 2), a[::2, :, 1:], a[:1].expand(5, -1, -1, -1))[random.integers(4)]
            mine = cutt.transpose(a, axes)
            self.assertTrue(same(self.host(mine), self.host(a).transpose(axes)), (a.shape, a.stride(), a.dtype))
            self.assertTrue(mine.is_contiguous())
            out = self.torch.empty_like(mine)
            self.assertIs(cutt.transpose(a, axes, out=out), out)
            self.assertTrue(self.torch.equal(out, mine))

    def test_types(self):
        torch = self.torch
        a = torch.arange(24, device=self.device).reshape(4, 6)
        for dtype in (torch.bfloat16, torch.float8_e4m3fn):
            b = a.to(dtype)
            self.assertTrue(torch.equal(cutt.transpose(b).to(torch.float32), b.T.to(torch.float32)))
        b = a.to(torch.bfloat16)
        self.assertTrue(torch.equal(cutt.transpose(b, alpha=2), 2 * b.T))

    def test_lazy_conjugation(self):
        random = np.random.default_rng(2)
        a = self.tensor(noise(random, (3, 4), "c16"))
        self.assertTrue(same(self.host(cutt.transpose(a.conj())), self.host(a).conj().T))
        self.assertTrue(same(self.host(cutt.transpose(a.conj(), conj=True)), self.host(a).T))
        self.assertTrue(same(self.host(cutt.transpose(a.conj().imag)), -self.host(a).imag.T))
        with self.assertRaisesRegex(ValueError, "resolve_conj"):
            cutt.transpose(a, out=self.tensor(np.zeros((4, 3), "c16")).conj())
        if self.device == "cuda" or has_blas():
            b = self.tensor(noise(random, (4, 5), "c16"))
            mine = self.host(cutt.einsum("ij,jk", a.conj(), b))
            self.assertTrue(close(mine, self.host(a).conj() @ self.host(b), 9))

    def test_contraction(self):
        if self.device == "cpu" and not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")
        random = np.random.default_rng(3)
        for dtype in ("f4", "f8", "c8", "c16"):
            arrays = [noise(random, shape, dtype) for shape in ((4, 5, 6), (6, 5, 3), (3, 3, 7))]
            a, b, c = (self.tensor(array) for array in arrays)
            for spec, operands in (
                ("abc,cbd->ad", (a, b)),
                ("abc,cbd,ddf->fa", (a, b, c)),
                ("abc->b", (a,)),
                ("aab->ba", (c,)),
                ("abc,cbd->", (a, b)),
            ):
                mine = cutt.einsum(spec, *operands)
                theirs = np.asarray(np.einsum(spec, *(self.host(operand) for operand in operands)))
                self.assertTrue(close(self.host(mine), theirs, 800), (spec, dtype))
            self.assertTrue(close(self.host(cutt.tensordot(a, b, 1)), np.tensordot(arrays[0], arrays[1], 1), 20))
            plan = cutt.ContractionPlan("abc,cbd->ad", a, b)
            self.assertTrue(close(self.host(plan(a, b)), np.einsum("abc,cbd->ad", *arrays[:2]), 99))
            for value in (2, 0.5, True):  # becomes a tensor of the other's type
                mine = cutt.einsum("abc,->cab", a, value)
                self.assertTrue(close(self.host(mine), (arrays[0] * np.array(value, dtype)).transpose(2, 0, 1), 4))
        with self.assertRaisesRegex(TypeError, "^operand 1 is 2j"):
            cutt.einsum("i,", self.tensor(np.ones(3)), 2j)
        with self.assertRaisesRegex(TypeError, "^operand 1 has elements of type float32"):
            cutt.einsum("i,i", self.tensor(np.ones(3)), self.tensor(np.ones(3, "f4")))
        with self.assertRaisesRegex(TypeError, "^dtype is 'f8'; it is for arrays of NumPy and CuPy"):
            cutt.einsum("i,i", self.tensor(np.ones(3, "f4")), self.tensor(np.ones(3, "f4")), dtype="f8")
        empty = cutt.einsum("ij,jk", self.tensor(np.ones((2, 0))), self.tensor(np.ones((0, 3))))
        self.assertTrue(same(self.host(empty), np.zeros((2, 3))))

    def test_gradients(self):
        a = self.tensor(np.ones((2, 3))).requires_grad_()
        with self.assertRaisesRegex(TypeError, "gradient"):
            cutt.transpose(a)
        with self.torch.no_grad():
            self.assertEqual(tuple(cutt.transpose(a).shape), (3, 2))
        self.assertEqual(tuple(cutt.transpose(a.detach()).shape), (3, 2))

    def test_refused(self):
        with self.assertRaisesRegex(TypeError, "layout"):
            cutt.transpose(self.torch.eye(3).to_sparse())
        with self.assertRaisesRegex(TypeError, "device meta"):
            cutt.transpose(self.torch.empty(3, device="meta"))

    def test_alike(self):
        """Tensors that are more than memory: as the function in Python has them, whichever is asked."""
        torch = self.torch
        a = torch.rand(8, 8, device=self.device)
        cut = torch.rand(8, 8, device=self.device)
        cut.untyped_storage().resize_(64)
        c = a.to(torch.complex64)
        given = [a, cut, c.conj(), c.conj().imag, a.expand(3, 8, 8), a[:, :0], a[0, 0], a.clone().requires_grad_()]
        given += [a.to_sparse(), a.to("meta"), a.to(torch.float8_e5m2), a.half(), a > 0.5, torch.nn.Parameter(a)]
        for tensor in given:
            results = []
            for call in (cutt.transpose, _compiled.in_python.get("transpose", cutt.transpose)):
                for keys in ({}, {"alpha": 2}, {"out": torch.zeros(8, 8, device=self.device)}):
                    try:
                        made = call(tensor, **keys)
                        results.append((made.dtype, made.shape, made.to(torch.complex64).tolist()))
                    except Exception as error:
                        results.append((type(error), str(error)))
            self.assertEqual(results[:3], results[3:])

    def test_plan(self):
        a = self.tensor(noise(np.random.default_rng(4), (20, 30, 40), "f4"))
        plan = cutt.Plan(a, (2, 0, 1))
        self.assertEqual(plan.info["backend"], self.device)
        self.assertTrue(self.torch.equal(plan(a), a.permute(2, 0, 1)))
        self.assertEqual(len(plan.time(a, plan(a), 3)), 3)


class TorchOnTheCpu(unittest.TestCase):
    def test_types(self):
        """What the library multiplies on the CPU only, or there without a BLAS."""
        torch, random = need("torch"), np.random.default_rng(9)
        for dtype in (torch.int32, torch.int64, torch.float16, torch.bfloat16):
            for n in (3, 130):
                a, b = (torch.from_numpy(random.integers(0, 5, (n, n))).to(dtype) for _ in "ab")
                for spec, arrays in (("ij,jk->ki", (a, b)), ("ij,ij->ij", (a, b)), ("ij->j", (a,))):
                    mine = cutt.einsum(spec, *arrays)
                    theirs = torch.einsum(spec, *(array.double() for array in arrays)).to(dtype)
                    self.assertEqual(mine.dtype, dtype)
                    self.assertTrue(torch.equal(mine, theirs), (dtype, n, spec))


class TorchCuda(Torch):
    device = "cuda"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not cls.torch.cuda.is_available() or not gpu_usable():
            raise unittest.SkipTest("PyTorch or cuTT has no GPU here")

    def test_current_stream(self):
        """Work waits for what the stream was given before, and what it is given after waits for the work."""
        torch = self.torch
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for dtype in (torch.float32, torch.float64):
                a = torch.rand(512, 512, 16, device="cuda", dtype=dtype)
                for _ in range(20):
                    a = a @ torch.eye(16, device="cuda", dtype=dtype) + 1
                    b = cutt.transpose(a, (2, 0, 1))
                    c = cutt.einsum("kij,kl->ijl", b, torch.eye(16, device="cuda", dtype=dtype))
                    self.assertTrue(torch.equal(b, a.permute(2, 0, 1)))
                    self.assertTrue(torch.allclose(c, a))
        stream.synchronize()

    def test_half_types(self):
        torch = self.torch
        for dtype in (torch.float16, torch.bfloat16):
            a, b = (torch.rand(64, 64, device="cuda").to(dtype) for _ in range(2))
            mine = cutt.einsum("ij,jk->ik", a, b)
            self.assertEqual(mine.dtype, dtype)
            self.assertTrue(torch.allclose(mine.float(), a.float() @ b.float(), rtol=2e-2))

    def test_devices_do_not_mix(self):
        a = self.torch.rand(3, 3)
        with self.assertRaisesRegex(ValueError, "CUDA device"):
            cutt.einsum("ij,jk", a, a.cuda())
        with self.assertRaisesRegex(ValueError, "CUDA device"):
            cutt.transpose(a, out=a.cuda())
        with self.assertRaisesRegex(ValueError, "the CPU"):
            cutt.transpose(a.cuda(), out=a.numpy())

    def test_last_device(self):
        count = self.torch.cuda.device_count()
        if count < 2:
            self.skipTest("there is one GPU only")
        a = self.torch.rand(30, 40, device=f"cuda:{count - 1}")
        self.assertTrue(self.torch.equal(cutt.transpose(a), a.T))
        self.assertEqual(cutt.einsum("ij,kj", a, a).device, a.device)

    def test_large_with_workspace(self):
        a, b = (self.torch.rand(32, 33, 34, 35, device="cuda") for _ in range(2))
        plan = cutt.ContractionPlan("abcd,ebfd->aecf", a, b)
        theirs = self.torch.einsum("abcd,ebfd->aecf", a.double(), b.double())
        for _ in range(3):
            self.assertTrue(self.torch.allclose(plan(a, b).double(), theirs, rtol=1e-5))
        if plan.workspace:
            memory = self.torch.empty(plan.workspace, dtype=self.torch.uint8, device="cuda")
            self.assertTrue(self.torch.allclose(plan(a, b, workspace=memory).double(), theirs, rtol=1e-5))


class Jax(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.jax = need("jax")
        cls.jax.config.update("jax_enable_x64", True)
        cls.device = cls.jax.devices("cpu")[0]

    def array(self, array):
        return self.jax.device_put(array, self.device)

    def check(self, mine, theirs, terms=None):
        self.assertIsInstance(mine, self.jax.Array)
        self.assertEqual(mine.devices(), {self.device})
        self.assertTrue(same(mine, theirs) if terms is None else close(mine, theirs, terms))

    def test_transpose(self):
        random = np.random.default_rng(1)
        for dtype in ("f2", "f4", "f8", "c8", "c16", "i1", "u4", "i8", "bool"):
            for shape in ((3, 4, 5), (1, 7, 2), (0, 3, 2), (40, 50, 60)):
                a = (noise(random, shape, "f8") * 9).astype(dtype)
                self.check(cutt.transpose(self.array(a), (1, 2, 0)), a.transpose(1, 2, 0))
        a = self.jax.numpy.arange(12, dtype="bfloat16").reshape(3, 4)
        a = self.jax.device_put(a, self.device)
        self.check(cutt.transpose(a), np.asarray(a).T)
        self.check(cutt.permute_dims(self.array(np.float32(3)), ()), np.array(3, "f4"))

    def test_results_are_not_shared(self):
        a = self.array(np.arange(12.0).reshape(3, 4))
        b = cutt.transpose(a)
        c = cutt.transpose(a, alpha=2)
        self.check(b, np.asarray(a).T)
        self.check(b + c, 3 * np.asarray(a).T)

    def test_contraction(self):
        if self.device.platform == "cpu" and not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")
        random = np.random.default_rng(2)
        a, b = noise(random, (4, 5, 6), "f8"), noise(random, (6, 5, 3), "f8")
        self.check(cutt.einsum("abc,cbd->ad", self.array(a), self.array(b)), np.einsum("abc,cbd->ad", a, b), 60)
        self.check(cutt.einsum("abc->b", self.array(a)), np.einsum("abc->b", a), 60)
        self.check(cutt.einsum(",abc->cab", 2.5, self.array(a)), 2.5 * a.transpose(2, 0, 1), 4)
        self.check(cutt.einsum("abc,abc->", self.array(a), self.array(a)), np.array(np.sum(a * a)), 200)
        self.check(cutt.tensordot(self.array(a), self.array(b), 1), np.tensordot(a, b, 1), 20)
        self.check(cutt.einsum("ab,bc", self.array(np.ones((2, 0))), self.array(np.ones((0, 3)))), np.zeros((2, 3)))
        self.check(cutt.einsum("ab,bc,cd", *[self.array(a[:, :4, 0])] * 3), a[:, :4, 0] @ a[:, :4, 0] @ a[:, :4, 0], 60)

    def test_refused(self):
        a = self.array(np.zeros((3, 3)))
        with self.assertRaisesRegex(TypeError, "never written to"):
            cutt.transpose(a, out=a)
        with self.assertRaisesRegex(TypeError, "jax.jit"):
            self.jax.jit(cutt.transpose)(a)


class JaxCuda(Jax):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not gpu_usable():
            raise unittest.SkipTest("cuTT has no GPU here")
        try:
            cls.device = cls.jax.devices("cuda")[0]
        except RuntimeError as error:
            raise unittest.SkipTest(f"JAX has no GPU here: {error}") from None


class Cupy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cupy = need("cupy")
        if not gpu_usable():
            raise unittest.SkipTest("cuTT has no GPU here")

    def check(self, mine, theirs, terms=None):
        self.assertIsInstance(mine, self.cupy.ndarray)
        mine = self.cupy.asnumpy(mine)
        self.assertTrue(same(mine, theirs) if terms is None else close(mine, theirs, terms))

    def test_transpose(self):
        random = np.random.default_rng(1)
        for dtype in ("f2", "f4", "f8", "c8", "c16", "i1", "u4", "i8", "bool"):
            a = (noise(random, (7, 5, 6), "f8") * 9).astype(dtype)
            b = self.cupy.asarray(a)
            for mine, theirs in ((b, a), (b[::-2, 1:], a[::-2, 1:]), (b.T, a.T)):
                self.check(cutt.transpose(mine, (1, 2, 0)), theirs.transpose(1, 2, 0))
        out = self.cupy.zeros((6, 5, 7), "f4")
        a = self.cupy.asarray(noise(random, (7, 5, 6), "f4"))
        self.assertIs(cutt.transpose(a, out=out, alpha=2), out)
        self.check(out, 2 * self.cupy.asnumpy(a).T)

    def test_contraction(self):
        random = np.random.default_rng(2)
        a, b = noise(random, (4, 5, 6), "c16"), noise(random, (6, 5, 3), "c16")
        c, d = self.cupy.asarray(a), self.cupy.asarray(b)
        self.check(cutt.einsum("abc,cbd->ad", c, d), np.einsum("abc,cbd->ad", a, b), 60)
        self.check(cutt.einsum("abc->b", c), np.einsum("abc->b", a), 60)
        self.check(cutt.tensordot(c, d, 1), np.tensordot(a, b, 1), 20)

    def test_streams(self):
        cupy = self.cupy
        for stream in (cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null, cupy.cuda.Stream.ptds):
            with stream:
                a = cupy.random.rand(300, 400, 20)
                for _ in range(20):
                    a = a * 0.5 + 1
                    b = cutt.transpose(a, (2, 0, 1))
                    self.assertTrue(bool((b == a.transpose(2, 0, 1)).all()))
            stream.synchronize()

    def test_with_torch(self):
        torch = need("torch")
        a = self.cupy.random.rand(30, 40)
        b = torch.rand(40, 50, device="cuda", dtype=torch.float64)
        self.check(cutt.einsum("ij,jk", a, b), self.cupy.asnumpy(a) @ b.cpu().numpy(), 40)

    def test_interface_alone(self):
        class Array:
            def __init__(self, inner):
                self.inner = inner

            @property
            def __cuda_array_interface__(self):
                return self.inner.__cuda_array_interface__

        a, out = self.cupy.random.rand(30, 40), self.cupy.zeros((40, 30))
        cutt.transpose(Array(a), out=Array(out))
        self.check(out, self.cupy.asnumpy(a).T)
        with self.assertRaisesRegex(TypeError, "give out="):
            cutt.transpose(Array(a))

    def test_numba(self):
        cuda = need("numba.cuda")
        a = np.random.default_rng(3).random((30, 40))
        b = cutt.transpose(cuda.to_device(a))
        self.assertTrue(same(b.copy_to_host(), a.T))


if __name__ == "__main__":
    unittest.main()
