"""ContractionPlan: a contraction of two operands that is planned once, by its user, and executed many times."""

from __future__ import annotations

import contextlib
from ctypes import c_double
from typing import TYPE_CHECKING, Any, ContextManager, Optional, Sequence, Union

from . import _compiled, _cuda
from . import _library as L
from ._arguments import MAX_INT, flags, seconds_of, text, threads_of, whole, wholes
from ._arrays import check_out, check_workspace, is_zero, view_of
from ._contract import Operand, check_type, create, execute, extents_of, facts_of, info_of, pair_key
from ._permute import misfit, run
from ._plan import Planned, described_view, info_dict, prepared_place, steps_differ
from ._spec import parse
from ._views import packed_strides
from ._wisdom import Wisdom, wisdom_of

_NOWHERE = 256  # what stands for the address of an operand without elements


class ContractionPlan(_compiled.Prepared):
    """A contraction of two operands, planned once and executed any number of times, from any number of threads at once.

    Parameters
    ----------
    spec : str
        As for `einsum`, with two operands: ``"abc,cd->abd"``.
    left, right : array, or tuple of int
        Arrays such as those that will be contracted, which are only looked at, or their shapes.
    dtype : optional
        With shapes: float32, float64 (default), complex64, complex128, float16, on the CPU also integers of 32 and 64 bits.
    left_strides, right_strides : tuple of int, optional
        With shapes: strides in bytes (default: C order).
    out_strides : tuple of int, optional
        Strides of the result in bytes (default: C order).
    alpha, beta : scalar, optional
        ``alpha * left * right + beta * out``.
    conj : (bool, bool), optional
        Which operands to conjugate.
    threads : int, optional
        Most threads to use on the CPU. Default: as OpenMP would.
    backend : {'cpu', 'cuda'}, optional
        With shapes: where the arrays will be (default 'cpu').
    workspace_limit : int, optional
        Most bytes of workspace. The contraction is cut into pieces that need no more; with 0 nothing is permuted.
    provider : str, optional
        A BLAS by its name (see `cutt.providers`) or path (default: the fastest).
    algorithm : {'ttgt', 'one-pass'}, optional
        Permutations and matrix products; or, on the CPU, kernels that read each array once, without workspace and without
        a BLAS. Default: the one with the shortest predicted time.
    measure : bool or float, optional
        True, or a limit in seconds (True: 2): time the best ways, on memory of the library's own, instead of trusting the
        model.
    wisdom : Wisdom, optional
        Measured choices: looked up first, and added to by `measure`.

    Called with (left, right, out=None, *, workspace=None) it contracts two arrays of the shapes, strides, type and
    device that it is for, and returns `out`, or a new array of `left`'s library. ValueError where an array is not what
    the plan is for. workspace: an array of at least `workspace` bytes on the same device, at a multiple of 64 bytes
    (256 on a GPU), of any type, contiguous and writable, which nothing else uses meanwhile; by default it is taken and
    given back.

    A plan can be pickled, without its wisdom. It is loaded by planning again, and measuring where `measure` asked for it,
    with what there is on the machine that loads it.

    Attributes
    ----------
    shape : tuple of int
        Of the result.
    workspace : int
        Bytes of workspace that an execution needs.
    info : dict
        'algorithm', 'provider', 'threads', what is permuted, 'm', 'n', 'k', 'batch', the matrix products, 'pieces', 'flops',
        'intensity', 'predicted_seconds', 'measured_seconds', ...

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `einsum`.

    Examples
    --------
    >>> plan = cutt.ContractionPlan("abc,cd->abd", (40, 50, 60), (60, 70))
    >>> d = plan(np.random.rand(40, 50, 60), np.random.rand(60, 70))
    """

    def __init__(
        self,
        spec: str,
        left: Any,
        right: Any,
        *,
        dtype: Any = None,
        left_strides: Optional[Sequence[int]] = None,
        right_strides: Optional[Sequence[int]] = None,
        out_strides: Optional[Sequence[int]] = None,
        alpha: Any = 1,
        beta: Any = 0,
        conj: Sequence[bool] = (False, False),
        threads: Optional[int] = None,
        backend: Optional[str] = None,
        workspace_limit: Optional[int] = None,
        provider: Optional[str] = None,
        algorithm: Optional[str] = None,
        measure: Union[bool, float] = False,
        wisdom: Optional[Wisdom] = None,
    ):
        views = [
            described_view(left, dtype, left_strides, backend, "left"),
            described_view(right, dtype, right_strides, backend, "right"),
        ]
        code = check_type(views[0], views[1:])
        self._conj = flags(conj, "conj", 2)
        self._planned = [Planned(view, name) for view, name in zip(views, ("left", "right"))]
        terms, labels = parse(spec, tuple(len(view.shape) for view in views))
        extents = extents_of(terms, views)
        self.shape = tuple(extents[label] for label in labels)
        size = views[0].dtype.itemsize
        self._strides = packed_strides(self.shape, size) if out_strides is None else wholes(out_strides, "out_strides")
        if len(self._strides) != len(self.shape):
            raise ValueError(f"out_strides has {len(self._strides)} entries, and the result {len(self.shape)} axes")
        operands = []
        for view, term, flag in zip(views, terms, self._conj):
            view = view.like(view.shape, view.strides)
            view.conj = view.conj != flag
            operand = Operand(view, term, extents)
            if misfit(operand.view):
                raise ValueError(f"the strides {view.strides} are not multiples of the {size} bytes of an element")
            operands.append(operand)
        limit = L.NO_LIMIT if workspace_limit is None else whole(workspace_limit, "workspace_limit", 0, L.NO_LIMIT)
        result = views[0].like(self.shape, self._strides)
        number, names = threads_of(threads), (text(provider, "provider"), text(algorithm, "algorithm"))
        key = pair_key(operands[0], operands[1], labels, result, code, alpha, beta, number, limit, *names)
        self._adds = not is_zero(beta)
        self.spec = spec
        seconds = 0.0 if isinstance(measure, bool) else seconds_of(measure, "measure")
        with self._context():
            self._handle = create(key, wisdom_of(wisdom), choice=int(bool(measure)), measure_seconds=seconds)
        named = {"alpha": alpha, "beta": beta, "conj": self._conj, "threads": threads, "provider": provider}
        named.update(workspace_limit=workspace_limit, algorithm=algorithm, out_strides=self._strides, measure=measure)
        self._recipe = (spec, *self._planned), named
        if not any(view.conj for view in views):
            layouts = [(view.shape, view.strides) for view in views] + [(self.shape, self._strides)]
            self._prepare(facts_of(self._handle, self.shape), *prepared_place(views[0]), self._adds, tuple(layouts))

    def _context(self) -> ContextManager[None]:
        kind, number = self._planned[0].device
        return _cuda.context(number) if kind == "cuda" else contextlib.nullcontext()

    @property
    def workspace(self) -> int:
        return self._handle.workspace

    def _views(self, left: Any, right: Any, out: Any) -> tuple:
        views = [view_of(left, "left"), view_of(right, "right")]
        for view, planned in zip(views, self._planned):
            planned.check(view)
        if out is None:
            if self._adds:
                raise ValueError("the plan adds to its result (beta): it must be given an out")
            array = views[0].adapter.empty(self.shape, views[0])
            result = view_of(array, "the result")
        else:
            array, result = out, check_out(out, self.shape, views[0])
        if steps_differ(self.shape, result.strides, self._strides):
            raise ValueError(f"the strides of out are {result.strides}, and the plan is for {self._strides}")
        for view in (*views, result):
            if not view.size:
                view.pointer = _NOWHERE
        return (*views, result), array

    if TYPE_CHECKING:

        def __call__(self, left: Any, right: Any, out: Any = None, *, workspace: Any = None) -> Any: ...

    def _call(self, left: Any, right: Any, out: Any = None, *, workspace: Any = None) -> Any:
        views, array = self._views(left, right, out)
        space = None
        if workspace is not None:
            space = check_workspace(workspace, self.workspace, dict(zip(("left", "right", "out"), views)))
        left_view, right_view, result = views
        if result.size:
            others = (right_view, result) if space is None else (right_view, result, space)
            run(left_view, others, lambda stream: execute(self._handle, left_view, right_view, result, stream, space))
        return views[0].adapter.finish(array, False) if out is None else out

    def time(self, left: Any, right: Any, out: Any, count: int = 5) -> list[dict[str, float]]:
        """Seconds of each of `count` executions, after one that is not counted: 'total', 'permute' and 'gemm'."""
        count = whole(count, "count", 1, MAX_INT)
        views, _ = self._views(left, right, out)
        times = (L.ContractionTimes * count)()
        pointers = [view.pointer for view in views]

        def call(stream: int) -> None:
            timed = L.contract_lib().cuttContractionTime
            L.check(timed(self._handle.value, *pointers, None, 0, stream or None, count, times))

        run(views[0], views[1:], call)
        return [{"total": t.total, "permute": t.permute, "gemm": t.gemm} for t in times]

    def time_gemm(self, count: int = 5) -> list[float]:
        """Seconds of the matrix products alone, on memory of the library's own: the ceiling."""
        count = whole(count, "count", 1, MAX_INT)
        seconds = (c_double * count)()
        with self._context():
            L.check(L.contract_lib().cuttContractionTimeGemm(self._handle.value, None, count, seconds))
        return list(seconds)

    @property
    def info(self) -> dict[str, Any]:
        return info_dict(info_of(self._handle))

    def describe(self, format: str = "text") -> Any:
        """What is permuted and how, the matrix products and predicted times: a str, or as ``'json'`` a dict."""
        if format == "json":
            return L.json_of(L.contract_lib().cuttContractionDescribe, self._handle.value)
        if format != "text":
            raise ValueError(f"format is {format!r}; it must be 'text' or 'json'")
        return L.text_of(L.contract_lib().cuttContractionDescribe, self._handle.value)

    def __repr__(self) -> str:
        shapes = ", ".join(str(planned.shape) for planned in self._planned)
        kind = self._planned[0].type
        return f"<cutt.ContractionPlan {self.spec!r} {shapes} -> {self.shape} {kind} by {self._handle.provider}>"
