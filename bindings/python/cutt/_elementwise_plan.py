"""ElementwisePlan: an elementwise operation that is planned once, by its user, and executed many times."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Optional, Sequence

from . import _compiled, _cuda
from . import _library as L
from ._arguments import flags, threads_of, wholes
from ._arrays import check_out, view_of
from ._contract import Operand, check_type
from ._elementwise import NAMES, create, facts_of, key_of, operators_of, scalars_of, terms_of
from ._permute import misfit, run
from ._plan import Planned, described_view, prepared_place, steps_differ
from ._views import packed_strides


class ElementwisePlan(_compiled.Prepared):
    """Two or three permuted arrays combined element by element, planned once and executed any number of times, from any
    number of threads at once.

    Parameters
    ----------
    spec : str
        As for `elementwise`: ``"ij,ji->ij"``.
    a, b : array, or tuple of int
        Arrays such as those that will be combined, which are only looked at, or their shapes.
    c : array, or tuple of int, optional
        A third operand.
    dtype : optional
        With shapes: the element type (default float64).
    strides : sequence, optional
        With shapes: for each operand a tuple of strides in bytes, or None (C order).
    out_strides : tuple of int, optional
        Strides of the result in bytes (default: C order).
    alpha, beta, gamma, op, op2, conj, threads
        As for `elementwise`.
    backend : {'cpu', 'cuda'}, optional
        With shapes: where the arrays will be (default 'cpu').

    Called with (a, b, c=None, out=None) it combines arrays of the shapes, strides, type and device that it is for, and
    returns `out`, or a new array of `a`'s library. ValueError where an array is not what the plan is for. `out` may be an
    operand that is laid out as the result.

    A plan can be pickled. It is loaded by planning again.

    Attributes
    ----------
    shape : tuple of int
        Of the result.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `elementwise`.

    Examples
    --------
    >>> plan = cutt.ElementwisePlan("ij,ji->ij", (400, 300), (300, 400), beta=-1)
    >>> d = plan(np.random.rand(400, 300), np.random.rand(300, 400))
    """

    def __init__(
        self,
        spec: str,
        a: Any,
        b: Any,
        c: Any = None,
        *,
        dtype: Any = None,
        strides: Optional[Sequence[Optional[Sequence[int]]]] = None,
        out_strides: Optional[Sequence[int]] = None,
        alpha: Any = 1,
        beta: Any = 1,
        gamma: Any = 1,
        op: str = "add",
        op2: str = "add",
        conj: Optional[Sequence[bool]] = None,
        threads: Optional[int] = None,
        backend: Optional[str] = None,
    ):
        given = [array for array in (a, b, c) if array is not None]
        steps: list = [None] * len(given) if strides is None else list(strides)
        if len(steps) != len(given):
            raise ValueError(f"strides has {len(steps)} entries, and there are {len(given)} operands")
        views = [
            described_view(array, dtype, step, backend, name) for array, step, name in zip(given, steps, NAMES)
        ]
        code = check_type(views[0], views[1:])
        self._conj = (False,) * len(views) if conj is None else flags(conj, "conj", len(views))
        self._planned = [Planned(view, name) for view, name in zip(views, NAMES)]
        terms, labels, extents = terms_of(spec, views)
        self.spec, self.shape = spec, tuple(extents[label] for label in labels)
        size = views[0].dtype.itemsize
        self._strides = packed_strides(self.shape, size) if out_strides is None else wholes(out_strides, "out_strides")
        if len(self._strides) != len(self.shape):
            raise ValueError(f"out_strides has {len(self._strides)} entries, and the result {len(self.shape)} axes")
        result = views[0].like(self.shape, self._strides)
        operands = []
        for view, term, flag in zip(views, terms, self._conj):
            view = view.like(view.shape, view.strides)
            view.conj = view.conj != flag
            operands.append(Operand(view, term, extents))
        for view in (*(operand.view for operand in operands), result):
            if misfit(view):
                raise ValueError(f"the strides {view.strides} are not multiples of the {size} bytes of an element")
        scalars = scalars_of((alpha, beta, gamma)[: len(views)], code, views[0])
        operators = operators_of(op, op2, code, views[0])
        key = key_of(operands, labels, result, scalars, operators, threads_of(threads))
        with self._context():
            self._handle = create(key)
        named = {"alpha": alpha, "beta": beta, "gamma": gamma, "op": op, "op2": op2, "conj": self._conj}
        named.update(threads=threads, out_strides=self._strides)
        self._recipe = (spec, *self._planned), named
        if not any(view.conj for view in views):
            layouts = [(view.shape, view.strides) for view in views] + [(self.shape, self._strides)]
            self._prepare(facts_of(self._handle, self.shape), *prepared_place(views[0]), False, tuple(layouts))

    def _context(self) -> Any:
        kind, number = self._planned[0].device
        return _cuda.context(number) if kind == "cuda" else contextlib.nullcontext()

    def _views(self, arrays: Sequence[Any], out: Any) -> tuple:
        if len(arrays) != len(self._planned):
            raise ValueError(f"there are {len(arrays)} arrays, and the plan is for {len(self._planned)}")
        views = [view_of(array, planned.name) for array, planned in zip(arrays, self._planned)]
        for view, planned in zip(views, self._planned):
            planned.check(view)
        array = views[0].adapter.empty(self.shape, views[0]) if out is None else out
        result = view_of(array, "the result") if out is None else check_out(out, self.shape, views[0])
        if steps_differ(self.shape, result.strides, self._strides):
            raise ValueError(f"the strides of out are {result.strides}, and the plan is for {self._strides}")
        return views, result, array

    if TYPE_CHECKING:

        def __call__(self, a: Any, b: Any, c: Any = None, out: Any = None) -> Any: ...

    def _call(self, a: Any, b: Any, c: Any = None, out: Any = None) -> Any:
        views, result, array = self._views((a, b) if c is None else (a, b, c), out)

        def call(stream: int) -> None:
            pointers = [view.pointer for view in views] + [None] * (3 - len(views))
            L.check(L.contract_lib().cuttElementwiseExecute(self._handle.value, *pointers, result.pointer, stream or None))

        if result.size:
            run(views[0], (*views[1:], result), call)
        return views[0].adapter.finish(array, False) if out is None else out

    def describe(self, format: str = "text") -> Any:
        """What is combined how, how each array is accessed, and the bytes that are moved: a str, or as ``'json'`` a dict."""
        if format not in ("text", "json"):
            raise ValueError(f"format is {format!r}; it must be 'text' or 'json'")
        describe = L.json_of if format == "json" else L.text_of
        return describe(L.contract_lib().cuttElementwiseDescribe, self._handle.value)

    def __repr__(self) -> str:
        shapes = ", ".join(str(planned.shape) for planned in self._planned)
        return f"<cutt.ElementwisePlan {self.spec!r} {shapes} -> {self.shape} {self._planned[0].type}>"
