"""What there is to work with: devices, BLAS libraries, and how fast memory is copied."""

from __future__ import annotations

import statistics
from ctypes import byref, c_double, c_void_p
from typing import Any, Optional

from . import _library as L
from ._arguments import INT64, MAX_INT, whole


def devices() -> dict[str, Any]:
    """The backends, instruction sets and GPUs of this machine, which are used, and why one is not.

    Returns
    -------
    dict
        'version', and 'backends': a list of dicts with 'name' ('cuda', 'cpu'), 'usable', 'why' where it is not,
        'device', and 'described_devices', the names that ``Plan(device=...)`` takes.

    Raises
    ------
    RuntimeError, MemoryError
    """
    return L.json_of(L.lib.cuttDevicesDescribe)


def providers() -> dict[str, Any]:
    """The libraries that multiply matrices for contractions, and what would make one faster.

    The first call in a process loads and measures them, some milliseconds each.

    Returns
    -------
    dict
        'providers': a list of dicts, the fastest first, with 'name', 'backend', 'default', 'path', 'version',
        'kernels', 'gflops_f64', 'gflops_f32' of one core (or of the GPU), and 'environment_override': what to set in the environment
        before Python starts, if it has picked kernels of an older processor. 'providers_missing': what was looked for
        and not found.

    Raises
    ------
    RuntimeError, MemoryError
    """
    return L.json_of(L.contract_lib().cuttProvidersDescribe)


def copy_bandwidth(nbytes: int = 1 << 28, *, backend: Optional[str] = None, count: int = 7) -> float:
    """The speed of a plain copy by the vendor's own means, the ceiling of a permutation.

    Parameters
    ----------
    nbytes : int, optional
        Bytes to copy, well beyond the caches (default: 256 MiB; twice that is allocated).
    backend : {'cpu', 'cuda'}, optional
        Default: a GPU where one is usable, else the CPU.
    count : int, optional
        Copies to time; the median counts.

    Returns
    -------
    float
        GB/s (10**9 bytes), those read plus those written.

    Raises
    ------
    ValueError, RuntimeError, MemoryError
    """
    if backend not in (None, "cpu", "cuda"):
        raise ValueError(f"backend is {backend!r}; it must be 'cpu' or 'cuda'")
    nbytes, count = whole(nbytes, "nbytes", 1, INT64[1]), whole(count, "count", 1, MAX_INT)
    number = L.BACKENDS[backend or "auto"]
    memory = [c_void_p(), c_void_p()]
    seconds = (c_double * count)()
    try:
        for one in memory:
            L.check(L.lib.cuttMemoryAllocate(number, nbytes, byref(one)))
        if number == L.BACKENDS["cpu"] or devices()["backends"][0].get("usable") is not True:
            for one in memory:  # pages that nothing was written to are not memory yet
                L.ctypes.memset(one, 1, nbytes)
        L.check(L.lib.cuttCopyTime(number, memory[0], memory[1], nbytes, None, count, seconds))
    finally:
        for one in memory:
            if one.value:
                L.lib.cuttMemoryFree(number, one)
    return 2e-9 * nbytes / statistics.median(seconds)
