"""Arguments that are no arrays, taken or refused by name: ctypes would cut a number that is too large to its lower bits,
and a text at its first NUL."""

from __future__ import annotations

import os
from typing import Any, Optional

INT64 = (-(1 << 63), (1 << 63) - 1)
MAX_INT = (1 << 31) - 1
MAX_THREADS = 4096  # that cutt.h takes


def whole(value: Any, name: str, low: int, high: int) -> int:
    """
    Raises
    ------
    TypeError, ValueError
        For what is no int, and for one that is not within low and high.
    """
    try:
        number = None if isinstance(value, bool) else value.__index__()
    except (AttributeError, TypeError):
        number = None
    if number is None:
        raise TypeError(f"{name} is {value!r}; it must be an int")
    if not low <= number <= high:
        raise ValueError(f"{name} is {number}; it must be {low} to {high}")
    return number


def wholes(values: Any, name: str, low: int = INT64[0], high: int = INT64[1]) -> tuple:
    """A tuple of ints, each within low and high."""
    try:
        given = tuple(value.__index__() for value in values)
    except (AttributeError, TypeError):
        raise TypeError(f"{name} is {values!r}; it must be a sequence of ints") from None
    for value in given:
        if not low <= value <= high:
            raise ValueError(f"{name} is {given}; each must be {low} to {high}")
    return given


def flags(values: Any, name: str, count: int) -> tuple:
    """A tuple of so many bools."""
    try:
        given = tuple(bool(value) for value in values)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {values!r}; it must be a sequence of bools") from None
    if len(given) != count:
        raise ValueError(f"{name} has {len(given)} entries; it must have {count}, one for each operand")
    return given


def text(value: Any, name: str) -> Optional[bytes]:
    """A name or a path, as the library takes it; None stays None."""
    if value is None:
        return None
    try:
        encoded = os.fsencode(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it must be a str or a path, or None") from None
    if b"\0" in encoded:
        raise ValueError(f"{name} is {value!r}; it must have no NUL character")
    return encoded


def threads_of(threads: Optional[int]) -> int:
    """0 for None, which leaves the number to the library."""
    return 0 if threads is None else whole(threads, "threads", 1, MAX_THREADS)


def seconds_of(value: Any, name: str) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} is {value!r}; it must be a bool, or a number of seconds") from None
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{name} is {value!r}; it must be 0 or more, and finite")
    return seconds
