"""cuTT: tensor permutation at close to memory bandwidth, and contraction at the speed of the BLAS, on CPUs and GPUs.

>>> import numpy as np, cutt
>>> a = np.random.rand(64, 3, 224, 224)
>>> b = cutt.transpose(a, (0, 2, 3, 1))             # in memory of its own, unlike a.transpose(0, 2, 3, 1)
>>> c = cutt.einsum("nchw,kc->nkhw", a, np.random.rand(8, 3))

Arrays of NumPy, PyTorch, CuPy and JAX, and others with DLPack, __cuda_array_interface__ or the buffer protocol, are
taken as they lie; results are of the library of the first operand, and on a GPU the work is in its current stream.

`transpose`, `permute_dims`, `einsum` and `tensordot` keep the plans that they used last (`plan_cache`); `Plan`,
`ContractionPlan` and `ElementwisePlan` are plans to keep yourself. `cutt.torch` and `cutt.jax` have operators with gradients. All of it may be
called from any number of threads, which then run at once: the GIL is released, but for the smallest work. Environment
variables of the C library hold here too (OMP_NUM_THREADS, CUTT_CUDA, CUTT_CBLAS, ...).
"""

from . import _host
from ._batch import batch
from ._cache import PlanCache, plan_cache
from ._contraction_plan import ContractionPlan
from ._einsum import einsum
from ._einsum_path import einsum_path
from ._elementwise import elementwise
from ._elementwise_plan import ElementwisePlan
from ._info import copy_bandwidth, devices, providers
from ._library import version as _version
from ._permute import permute_dims, transpose
from ._plan import Plan
from ._reduce import reduce
from ._tensordot import tensordot
from ._wisdom import Wisdom

_host.bind()

__version__: str = _version()

__all__ = [
    "ContractionPlan",
    "ElementwisePlan",
    "Plan",
    "PlanCache",
    "Wisdom",
    "batch",
    "copy_bandwidth",
    "devices",
    "einsum",
    "einsum_path",
    "elementwise",
    "permute_dims",
    "plan_cache",
    "providers",
    "reduce",
    "tensordot",
    "transpose",
]
