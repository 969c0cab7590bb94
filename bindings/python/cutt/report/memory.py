"""Where cases are: one input and one output buffer for all of them, on the host, and their like on a GPU.

The input's elements differ, and are ordinary numbers when they are read as floating point, so that a library that
multiplies by 1 keeps them as they are; the output is poisoned before every result that is checked.
"""

from __future__ import annotations

import ctypes
import mmap
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _library as native

POISON = 0xA5
WHOLE = 32 << 20  # bytes of a result on a GPU that are copied back and compared whole; of a longer one pieces
PIECES, PIECE = 48, 1 << 20  # so many, of so many bytes at most


class Unusable(Exception):
    """A contestant can't take part, or not in this case; the text says why."""


def huge(size: int) -> np.ndarray:
    """Zeroed bytes at a 2 MiB boundary, huge pages asked for: what a page fault costs is no part of a permutation."""
    page = 2 << 20
    memory = mmap.mmap(-1, size + page)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    array = np.frombuffer(memory, dtype=np.uint8)
    offset = -array.ctypes.data % page
    return array[offset : offset + size]


def fill(array: np.ndarray, elem_bytes: int) -> None:
    """Bytes that are numbers of that many bytes, each another one as far as there are so many."""
    width = min(elem_bytes, 8)
    words = array[: array.size // width * width].view(f"u{width}")
    chunk = 1 << 22
    for begin in range(0, words.size, chunk):
        index = np.arange(begin, min(begin + chunk, words.size), dtype=np.uint64)
        if width == 8:
            words[begin : begin + chunk] = index + np.uint64(0x3FF0000000000000)
        elif width == 4:
            words[begin : begin + chunk] = index % np.uint64(1 << 29) + np.uint64(0x20000000)
        elif width == 2:  # halves from 2^-8 up, no NaN
            words[begin : begin + chunk] = index * np.uint64(0x9E3779B97F4A7C15) % np.uint64(0x6000) + np.uint64(0x1C00)
        else:  # bytes: 0 and 1, that they may be booleans
            words[begin : begin + chunk] = (index * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(63)


def pieces_of(view: np.ndarray, everything: bool) -> list[tuple[tuple[int, ...], int, int]]:
    """The parts of a result that are compared: for each the leading indices in the view that it is a copy of, and
    where its bytes begin and end. All of it as one part, or pieces from the first to the last."""
    if everything or view.nbytes <= WHOLE:
        return [((), 0, view.nbytes)]
    axes, size = 0, view.nbytes
    while axes < view.ndim - 1 and size > PIECE:
        size //= view.shape[axes]
        axes += 1
    count = view.nbytes // size
    chosen = sorted({round(at) for at in np.linspace(0, count - 1, PIECES).tolist()})
    return [
        (tuple(int(i) for i in np.unravel_index(at, view.shape[:axes])), at * size, (at + 1) * size) for at in chosen
    ]


def unlike(got: np.ndarray, expected: np.ndarray, elem_bytes: int) -> int:
    """How many elements of two runs of bytes differ."""
    width = min(elem_bytes, 8)
    a, b = got.view(f"u{width}"), expected.view(f"u{width}")
    return 0 if np.array_equal(a, b) else int((a != b).reshape(-1, elem_bytes // width).any(axis=1).sum())


class Host:
    """The host's memory, as it is."""

    backend = "cpu"

    def __init__(self, size: int) -> None:
        self.source, self.target, self.reference = (huge(size) for _ in range(3))
        self.into, self.out = self.source.ctypes.data, self.target.ctypes.data
        self.parts: list[tuple[int, int]] = []

    def filled(self, elem_bytes: int) -> None:
        fill(self.source, elem_bytes)

    def refer(self, view: np.ndarray) -> None:
        """NumPy's result, for all that follows to be compared with: as much of it as is compared."""
        self.parts = []
        for index, begin, end in pieces_of(view, self.backend == "cpu"):
            part = view[index]
            np.copyto(self.reference[begin:end].view(view.dtype).reshape(part.shape), part)
            self.parts.append((begin, end))

    def poison(self) -> None:
        """What is left unwritten is then found wrong."""
        for begin, end in self.parts:
            self.target[begin:end] = POISON

    def wrong(self, elem_bytes: int) -> int:
        """Elements of the host's output that are not the reference's."""
        return sum(unlike(self.target[begin:end], self.reference[begin:end], elem_bytes) for begin, end in self.parts)

    def wait(self) -> None:
        """Calls return when they are done."""

    def free(self) -> None:
        """The buffers go with the last name of them."""


class Device(Host):
    """A GPU's memory, through cuTT's own calls: input and output there, and what is compared here."""

    backend = "cuda"

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.held: list[int] = []
        self.into, self.out = self.allocate(size), self.allocate(size)
        self.word = np.zeros(8, np.uint8)
        self.spare = self.allocate(8)

    def allocate(self, size: int) -> int:
        memory = ctypes.c_void_p()
        try:
            native.check(native.lib.cuttMemoryAllocate(native.BACKENDS["cuda"], max(size, 1), ctypes.byref(memory)))
        except (RuntimeError, MemoryError, ValueError) as error:
            raise Unusable(f"{size:,} bytes of the GPU's memory can't be had: {error}") from error
        self.held.append(memory.value or 0)
        return memory.value or 0

    def release(self, memory: int) -> None:
        self.held.remove(memory)
        native.lib.cuttMemoryFree(native.BACKENDS["cuda"], memory)

    def copy(self, to: int, source: int, size: int) -> None:
        native.check(native.lib.cuttMemoryCopy(native.BACKENDS["cuda"], to, source, size))

    def filled(self, elem_bytes: int) -> None:
        super().filled(elem_bytes)
        self.copy(self.into, self.source.ctypes.data, self.source.nbytes)

    def poison(self) -> None:
        super().poison()
        for begin, end in self.parts:
            self.copy(self.out + begin, self.target[begin:].ctypes.data, end - begin)

    def wrong(self, elem_bytes: int) -> int:
        return self.wrong_at(self.out, elem_bytes)

    def wrong_at(self, memory: int, elem_bytes: int) -> int:
        """The same for a result that is anywhere in the GPU's memory."""
        for begin, end in self.parts:
            self.copy(self.target[begin:].ctypes.data, memory + begin, end - begin)
        return Host.wrong(self, elem_bytes)

    def wait(self) -> None:
        """A copy in the default stream ends when all before it has."""
        self.copy(self.word.ctypes.data, self.spare, 8)

    def free(self) -> None:
        for memory in list(self.held):
            self.release(memory)


def timed(run: Callable[[], Any], calls: int, wait: Callable[[], Any]) -> float:
    """Seconds of one of so many calls, by the host's clock, from an idle device to an idle device."""
    wait()
    began = time.perf_counter()
    for _ in range(calls):
        run()
    wait()
    return (time.perf_counter() - began) / calls
