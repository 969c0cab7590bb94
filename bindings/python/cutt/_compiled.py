"""The compiled module `_calls`, which serves plain calls, and what stands in its place where CUTT_COMPILED=0 asks for the
functions in Python alone, which call the library by ctypes.

It is one module for all versions of Python, and lies beside the libraries or in the package.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any, Callable, TypeVar

from . import _library as L
from ._views import DType

_FILE = "_calls.abi3.so"
_Function = TypeVar("_Function", bound=Callable[..., Any])


def _load() -> Any:
    asked = os.environ.get("CUTT_COMPILED")
    if asked == "0":
        return None
    if asked not in (None, "", "1"):
        raise ImportError(f"CUTT_COMPILED is {asked!r}; it must be 0 or 1")
    without = "CUTT_COMPILED=0 in the environment does without it, and calls take longer"
    if sys.implementation.name != "cpython" or "t" in sys.abiflags:
        raise ImportError(f"{_FILE} is for CPython with the GIL, and this is another Python. {without}")
    given = os.environ.get("CUTT_LIBRARY_DIR")
    folders = [Path(given)] if given else []
    found = next((folder / _FILE for folder in (*folders, Path(__file__).parent) if (folder / _FILE).exists()), None)
    if found is None:
        raise ImportError(
            f"{_FILE} is neither in the package nor where CUTT_LIBRARY_DIR says: it is built with the libraries, where "
            f"Python's headers are (Debian: python3-dev). {without}"
        )
    try:
        loader = importlib.machinery.ExtensionFileLoader("cutt._calls", str(found))
        spec = importlib.util.spec_from_file_location("cutt._calls", found, loader=loader)
        module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
        loader.exec_module(module)
    except ImportError as error:
        raise ImportError(f"{found} can't be loaded: {error}. {without}") from error
    sys.modules["cutt._calls"] = module
    return module


calls = _load()

# ------------------------------------------------------------------------------------------------------- element types

_numbers: dict[str, int] = {}
types: list[DType] = []


def number_of(dtype: DType) -> int:
    """The number that stands for an element type's name in the compiled module."""
    number = _numbers.setdefault(dtype.name, len(types))
    if number == len(types):
        types.append(dtype)
    return number


# ----------------------------------------------------------------------------------------------- what calls are served by


def _signature(function: Any) -> str:
    """As inspect reads it from a function that is compiled."""
    code, named = function.__code__, function.__kwdefaults__ or {}
    names = list(code.co_varnames[: code.co_argcount])
    values = list(function.__defaults__ or ())
    plain = len(names) - len(values)
    parts = [name if place < plain else f"{name}={values[place - plain]!r}" for place, name in enumerate(names)]
    after = code.co_argcount + code.co_kwonlyargcount
    if code.co_flags & 4 or code.co_kwonlyargcount:
        parts.append(f"*{code.co_varnames[after]}" if code.co_flags & 4 else "*")
    parts += [f"{name}={named[name]!r}" for name in code.co_varnames[code.co_argcount : after]]
    return f"{function.__name__}({', '.join(parts)})"


in_python: dict[str, Any] = {}  # the functions that calls which are not plain are left to


def _served(make: str, function: _Function) -> _Function:
    if calls is None:
        return function
    in_python[make] = function
    text = f"{_signature(function)}\n--\n\n{function.__doc__}"
    return getattr(calls, make)(function, make, text, function.__module__)


def transpose(function: _Function) -> _Function:
    """Plain calls of transpose() are served by the compiled module, the others by this function."""
    return _served("transpose", function)


def einsum(function: _Function) -> _Function:
    """As transpose(), of einsum()."""
    return _served("einsum", function)


def reduce(function: _Function) -> _Function:
    """As transpose(), of reduce()."""
    return _served("reduce", function)


def elementwise(function: _Function) -> _Function:
    """As transpose(), of elementwise()."""
    return _served("elementwise", function)


def batch(function: _Function) -> _Function:
    """As transpose(), of batch()."""
    return _served("batch", function)


def batches(plan: Any) -> Any:
    """Plain calls of a plan's execute_batch() are served by the compiled module, the others by the method in Python."""
    if calls is not None:
        method = plan._execute_batch = plan.execute_batch
        text = f"{_signature(method).replace('(self', '($self', 1)}\n--\n\n{method.__doc__}"
        plan.execute_batch = calls.plan_batch(plan, "execute_batch", text)
    return plan


class _Prepared:
    """What the compiled base of plans does without the module: nothing."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._call(*arguments, **named)  # type: ignore[attr-defined]

    def _prepare(self, *arguments: Any) -> None:
        pass


class Prepared(_Prepared if calls is None else calls.Prepared):  # type: ignore[misc]
    """The base of plans: a call is compared with what was planned, and executed or left to _call()."""

    _recipe: tuple  # (arguments, arguments by name) that make such a plan, all of which can be pickled

    def __copy__(self) -> Any:
        return self  # nothing in a plan changes

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return planned_again, (type(self), *self._recipe)


def planned_again(kind: Any, arguments: tuple, named: dict) -> Any:
    """What a pickled plan is loaded by: it is made anew, for the machine and the libraries that are there then."""
    return kind(*arguments, **named)


_bound = False


def bind_contraction() -> None:
    """Tells the compiled module of libcutt_contract, once that is loaded."""
    global _bound
    if calls is not None and not _bound:
        lib = L.contract_lib()
        calls.bind_contraction(L.address_of(lib.cuttContractionExecute), L.address_of(lib.cuttElementwiseExecute))
        _bound = True
