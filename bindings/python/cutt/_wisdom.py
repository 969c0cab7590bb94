"""Wisdom: measured choices of plans, kept to be used again."""

from __future__ import annotations

from ctypes import byref, c_size_t, c_void_p
from typing import Any, NamedTuple

from . import _library as L
from ._arguments import text


class Loaded(NamedTuple):
    """What Wisdom.load() found: entries that are used, those that are passed over, and why the first of them is."""

    used: int
    ignored: int
    why: str


def _empty() -> L.Handle:
    value = c_void_p()
    L.check(L.lib.cuttWisdomCreate(byref(value)))
    return L.Handle(value, L.lib.cuttWisdomDestroy)


class Wisdom:
    """Measured choices, for ``Plan(..., wisdom=)`` and, as ``plan_cache.wisdom``, for what the functions keep.

    A plan that is made with it takes the choice that was measured for its problem, where there is one; one that is made
    with ``measure=`` is measured only where there is none, and adds its choice. Any number of threads may use it.

    Parameters
    ----------
    path : str or path, optional
        A file to load.

    Examples
    --------
    >>> wisdom = cutt.Wisdom()
    >>> plan = cutt.Plan((200, 300, 40), (2, 0, 1), measure=0.1, wisdom=wisdom)
    >>> wisdom.save("choices.wisdom")
    """

    def __init__(self, path: Any = None):
        self.handle = _empty()
        if path is not None:
            self.load(path)

    def load(self, path: Any) -> Loaded:
        """Adds what a file holds: of two entries for one problem the faster one stays. Lines that are damaged, of
        another version or of another machine are passed over."""
        name = _path(path)
        used, ignored, handle = c_size_t(), c_size_t(), self.handle
        L.check(L.lib.cuttWisdomLoad(handle.value, name, byref(used), byref(ignored)))
        why = L.lib.cuttLastError().decode(errors="replace") if ignored.value else ""
        return Loaded(used.value, ignored.value, why)

    def save(self, path: Any) -> None:
        """Writes all of it, whole or not at all; a file that is there is replaced, but for lines of other machines."""
        handle = self.handle
        L.check(L.lib.cuttWisdomSave(handle.value, _path(path)))

    def clear(self) -> None:
        """Forgets all of it. Plans that are made keep their choices."""
        self.handle = _empty()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("wisdom can't be copied or pickled: save() it, and load() it where it is wanted")


def _path(path: Any) -> bytes:
    if path is None:
        raise TypeError("path is None; it must be a str or a path")
    return text(path, "path") or b""


def wisdom_of(value: Any) -> Any:
    """A Wisdom, or None; TypeError for anything else."""
    if value is not None and not isinstance(value, Wisdom):
        raise TypeError(f"wisdom is {value!r}; it must be a cutt.Wisdom, or None")
    return value
