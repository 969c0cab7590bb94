"""The few calls of NVIDIA's driver that an array's border needs: the context of its device, and waiting for streams.

The driver is found at run time. PyTorch, CuPy and JAX all work in a device's primary context, and so do plans that are
made while that one is current.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from ctypes import byref, c_int, c_void_p
from typing import Iterator, Optional

_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


@functools.lru_cache(maxsize=None)
def _driver() -> ctypes.CDLL:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise RuntimeError(f"NVIDIA's driver can't be loaded: {error}") from None
    driver.cuStreamSynchronize.argtypes = [c_void_p]
    driver.cuCtxPushCurrent_v2.argtypes = [c_void_p]
    driver.cuPointerGetAttribute.argtypes = [c_void_p, c_int, ctypes.c_uint64]
    _check(driver.cuInit(0), "cuInit")
    return driver


def _check(result: int, call: str) -> None:
    if result:
        raise RuntimeError(f"{call} failed with CUDA's error {result}")


@functools.lru_cache(maxsize=None)
def primary(device: int) -> int:
    """The device's primary context, kept until the process ends."""
    driver, handle, context = _driver(), c_int(), c_void_p()
    _check(driver.cuDeviceGet(byref(handle), device), "cuDeviceGet")
    _check(driver.cuDevicePrimaryCtxRetain(byref(context), handle), "cuDevicePrimaryCtxRetain")
    return context.value or 0


def context_calls() -> tuple:
    """Addresses of the calls that context() makes."""
    driver = _driver()
    calls = (driver.cuCtxGetCurrent, driver.cuCtxPushCurrent_v2, driver.cuCtxPopCurrent_v2)
    return tuple(ctypes.cast(call, c_void_p).value for call in calls)


@contextlib.contextmanager
def context(device: int) -> Iterator[None]:
    """Makes the device's primary context the calling thread's current one, where it is not."""
    driver, current = _driver(), c_void_p()
    _check(driver.cuCtxGetCurrent(byref(current)), "cuCtxGetCurrent")
    wanted = primary(device)
    if current.value == wanted:
        yield
        return
    _check(driver.cuCtxPushCurrent_v2(wanted), "cuCtxPushCurrent")
    try:
        yield
    finally:
        _check(driver.cuCtxPopCurrent_v2(byref(current)), "cuCtxPopCurrent")


def wait(stream: Optional[int]) -> None:
    """Until all that the stream has been given is done; in the current context."""
    _check(_driver().cuStreamSynchronize(stream or None), "cuStreamSynchronize")


def device_of(pointer: int) -> int:
    """The number of the device that memory belongs to."""
    number = c_int()
    _check(_driver().cuPointerGetAttribute(byref(number), _ORDINAL, pointer), "cuPointerGetAttribute")
    return number.value
