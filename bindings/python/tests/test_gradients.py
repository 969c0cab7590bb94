"""cutt.torch and cutt.jax: results and gradients beside those of PyTorch and JAX, also when compiled by these."""

import unittest
import warnings

import numpy as np

from support import has_blas, need, noise

warnings.simplefilter("ignore", RuntimeWarning)

# Products, batches, sums, axes that only one operand has, diagonals, and axes of extent 1 that are broadcast.
SUMS = (
    ("ij,jk->ik", ((3, 4), (4, 5))),
    ("bij,bjk->kbi", ((2, 3, 4), (2, 4, 5))),
    ("ij,jk,kl->il", ((3, 4), (4, 5), (5, 2))),
    ("ij->j", ((3, 4),)),
    ("ij->", ((3, 4),)),
    ("ijk->kij", ((3, 4, 2),)),
    ("ii->i", ((4, 4),)),
    ("ii", ((4, 4),)),
    ("iij,jk->ki", ((3, 3, 4), (4, 2))),
    ("ij,kl->ik", ((3, 4), (2, 5))),
    ("ij,ij->ij", ((3, 1), (1, 4))),
    ("...i,...i->...", ((2, 1, 3), (4, 3))),
    ("i,i->", ((1,), (3,))),
)


def complexes(random, shapes):
    return [noise(random, shape, "c16") for shape in shapes]


class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.torch = need("torch")
        if not hasattr(cls.torch.library, "custom_op"):
            raise unittest.SkipTest(f"cutt.torch takes PyTorch 2.4 or later; this is {cls.torch.__version__}")
        import cutt.torch

        cls.mine = cutt.torch

    def tensors(self, arrays):
        return [self.torch.from_numpy(array).requires_grad_() for array in arrays]

    def test_permute(self):
        torch, random = self.torch, np.random.default_rng(1)
        for dtype in ("f8", "c16"):
            (a,) = self.tensors([noise(random, (2, 3, 4), dtype)])
            self.assertTrue(torch.equal(self.mine.permute(a, (2, 0, 1)), a.permute(2, 0, 1)))
            self.assertTrue(torch.autograd.gradcheck(lambda x: self.mine.permute(x, (2, 0, 1)), (a,)))
            self.assertTrue(torch.autograd.gradgradcheck(lambda x: self.mine.permute(x, (-1, 0, 1)) ** 2, (a,)))
        torch.library.opcheck(torch.ops.cutt.permute, (a, [2, 0, 1]))
        with self.assertRaisesRegex(ValueError, "^axes "):
            self.mine.permute(a, (0, 1))

    def test_operator(self):
        """PyTorch's own checks of an operator: its schema, its stand-in for tracing, and autograd."""
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")
        torch, random = self.torch, np.random.default_rng(5)
        arrays = self.tensors([noise(random, shape, "f8") for shape in ((3, 3, 4), (4, 2))])
        torch.library.opcheck(torch.ops.cutt.einsum, ("iij,jk->ki", arrays))
        with self.assertRaisesRegex(Exception, "has extent 3, and label j has 4"):
            self.mine.einsum("ij,ji", arrays[0][0], arrays[0][0])

    def test_einsum(self):
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")
        torch, random = self.torch, np.random.default_rng(2)
        for spec, shapes in SUMS:
            arrays = self.tensors(complexes(random, shapes))
            with self.subTest(spec):
                self.assertTrue(torch.allclose(self.mine.einsum(spec, *arrays), torch.einsum(spec, *arrays)))
                self.assertTrue(torch.autograd.gradcheck(lambda *given: self.mine.einsum(spec, *given), arrays))
        self.assertTrue(
            torch.autograd.gradgradcheck(
                lambda *x: self.mine.einsum("iij,jk->ki", *x), self.tensors(complexes(random, ((2, 2, 3), (3, 2))))
            )
        )

    def test_only_what_is_wanted(self):
        """No gradient for an operand that needs none."""
        torch, random = self.torch, np.random.default_rng(3)
        a, b = (torch.from_numpy(noise(random, (3, 3), "f4")) for _ in "ab")
        a.requires_grad_()
        self.mine.einsum("ij,jk->ik", a, b).sum().backward()
        self.assertTrue(torch.allclose(a.grad, b.sum(1).expand(3, 3)) and b.grad is None)

    def test_compiled(self):
        torch, random = self.torch, np.random.default_rng(4)

        def work(a, b):
            return (self.mine.permute(self.mine.einsum("ij,jk->ik", a * 2, b), (1, 0)) + 1).sin()

        def expected(a, b):
            return ((2 * a @ b).T + 1).sin()

        for dynamic in (False, True):
            compiled = torch.compile(work, fullgraph=True, dynamic=dynamic, backend="aot_eager")
            for n in (4, 6):
                ours = self.tensors([noise(random, (3, n), "f8"), noise(random, (n, 5), "f8")])
                theirs = [array.detach().clone().requires_grad_() for array in ours]
                results = [compiled(*ours), expected(*theirs)]
                self.assertTrue(torch.allclose(*results))
                for result in results:
                    result.sum().backward()
                for mine, other in zip(ours, theirs):
                    self.assertTrue(torch.allclose(mine.grad, other.grad))


class Jax(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.jax = need("jax")
        cls.jax.config.update("jax_enable_x64", True)
        import cutt.jax

        cls.mine = cutt.jax

    def close(self, mine, theirs):
        self.assertEqual(np.shape(mine), np.shape(theirs))
        self.assertTrue(np.allclose(mine, theirs, rtol=1e-12, atol=1e-12))

    def test_permute(self):
        jax, random = self.jax, np.random.default_rng(1)
        a = noise(random, (2, 3, 4), "f8")
        mine = jax.jit(lambda x: self.mine.permute(x, (2, 0, 1)))
        self.close(mine(a), a.transpose(2, 0, 1))
        weights = noise(random, (4, 2, 3), "f8")
        self.close(jax.grad(lambda x: (mine(x) ** 2 * weights).sum())(a), 2 * a * weights.transpose(1, 2, 0))
        self.close(jax.vmap(lambda x: self.mine.permute(x, (1, 0)))(a), a.transpose(0, 2, 1))
        with self.assertRaisesRegex(ValueError, "^axes "):
            self.mine.permute(a, (0, 1))

    def test_einsum(self):
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")
        jax, random = self.jax, np.random.default_rng(2)
        for spec, shapes in SUMS:
            with self.subTest(spec):
                arrays = complexes(random, shapes)
                mine = lambda *given, spec=spec: self.mine.einsum(spec, *given)  # noqa: E731
                mine = jax.jit(mine) if spec in ("ij,jk->ik", "iij,jk->ki") else mine
                theirs = lambda *given, spec=spec: jax.numpy.einsum(spec, *given)  # noqa: E731
                value, back = jax.vjp(mine, *arrays)
                other, other_back = jax.vjp(theirs, *arrays)
                self.close(value, other)
                weights = noise(random, np.shape(other), "c16") + np.zeros(np.shape(other), "c16")
                for gradient, expected in zip(back(jax.numpy.asarray(weights)), other_back(jax.numpy.asarray(weights))):
                    self.close(gradient, expected)
        with self.assertRaisesRegex(TypeError, "^operand 1 has elements"):
            self.mine.einsum("i,i", np.ones(3), np.ones(3, "f4"))

    def test_large(self):
        """Arrays that JAX hands over while it is still at work on others."""
        jax, random = self.jax, np.random.default_rng(3)
        a = noise(random, (300, 400), "f8")
        work = jax.jit(lambda x: self.mine.permute(self.mine.permute(x @ x.T + 1, (1, 0)) * 2, (1, 0)))
        for _ in range(5):
            self.close(work(a), 2 * (a @ a.T + 1))


if __name__ == "__main__":
    unittest.main()
