"""Plan: a permutation that is planned once, by its user, and executed many times; and what both kinds of plan share."""

from __future__ import annotations

from ctypes import byref, c_double, c_void_p
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _compiled, _cuda
from . import _library as L
from ._arguments import INT64, MAX_INT, seconds_of, text, threads_of, whole, wholes
from ._arrays import check_apart, check_device, check_out, is_zero, listed, view_of
from ._permute import arithmetic_of, create, facts_of, normal_axes, plan_key, run
from ._views import CPU, NUMPY, DType, View, numpy_dtype, packed_strides
from ._wisdom import Wisdom, wisdom_of


def dtype_of(dtype: Any) -> DType:
    """An element type that is given by name or as a type of NumPy or PyTorch."""
    name = str(dtype).replace("torch.", "")
    if name == "bfloat16":
        return DType(name, 2, dtype)
    try:
        return numpy_dtype(np.dtype(name if "torch." in str(dtype) else dtype))
    except TypeError:
        raise TypeError(f"dtype is {dtype!r}, which is no element type that is known here") from None


def described_view(array: Any, dtype: Any, strides: Optional[Sequence[int]], backend: Optional[str], name: str) -> View:
    """What a plan is made for: an array, a shape with a type and strides, or what a plan that was pickled is for."""
    if isinstance(array, Planned):
        return array.view()
    if isinstance(array, tuple) or (isinstance(array, list) and all(hasattr(n, "__index__") for n in array)):
        shape = wholes(array, f"the shape of {name}", 0, INT64[1])
        kind = dtype_of("float64" if dtype is None else dtype)
        steps = packed_strides(shape, kind.itemsize) if strides is None else wholes(strides, f"strides of {name}")
        if len(steps) != len(shape):
            raise ValueError(f"there are {len(steps)} strides, and {name} has {len(shape)} axes")
        if backend not in (None, "cpu", "cuda"):
            raise ValueError(f"backend is {backend!r}; it must be 'cpu' or 'cuda'")
        return View(0, shape, steps, kind, CPU if backend != "cuda" else ("cuda", 0), NUMPY, None)
    if dtype is not None or strides is not None:
        raise TypeError(f"{name} is an array: dtype and strides are for shapes")
    view = view_of(array, name)
    if backend not in (None, view.device[0]):
        raise ValueError(f"backend is {backend!r}, and {name} is in memory of {view.device[0]!r}")
    return view


def steps_differ(shape: Sequence[int], mine: Sequence[int], theirs: Sequence[int]) -> bool:
    """Do strides differ where they are stepped along?"""
    return 0 not in shape and any(n > 1 and s != t for n, s, t in zip(shape, mine, theirs))


def prepared_place(view: View) -> tuple:
    """The element type's number and the device, as the compiled module takes them."""
    return _compiled.number_of(view.dtype), -1 if view.device == CPU else view.device[1]


class Planned:
    """What a plan was made for, of one operand, and whether an array is that."""

    def __init__(self, view: View, name: str):
        self.shape, self.strides, self.type = view.shape, view.strides, view.dtype.name
        self.device, self.conj, self.name = view.device, view.conj, name
        self.itemsize = view.dtype.itemsize

    def view(self) -> View:
        """The same without memory, which is all that planning takes."""
        dtype = DType(self.type, self.itemsize, None)
        return View(0, self.shape, self.strides, dtype, self.device, NUMPY, None, self.conj)

    def check(self, view: View) -> None:
        given = Planned(view, self.name)
        for what in ("shape", "type", "device", "conj"):
            mine, theirs = getattr(self, what), getattr(given, what)
            if mine != theirs:
                what = "lazy conjugation" if what == "conj" else what
                raise ValueError(f"the {what} of {self.name} is {theirs}, and the plan is for {mine}")
        if steps_differ(self.shape, self.strides, view.strides):
            raise ValueError(f"the strides of {self.name} are {view.strides}, and the plan is for {self.strides}")


@_compiled.batches
class Plan(_compiled.Prepared):
    """A permutation, planned once and executed any number of times, from any number of threads at once.

    Parameters
    ----------
    a : array, or tuple of int
        An array such as those that will be permuted, which is only looked at, or its shape.
    axes : sequence of int, optional
        As for `transpose`.
    dtype : optional
        With a shape: the element type (default float64).
    strides : tuple of int, optional
        With a shape: strides in bytes (default: C order).
    out_strides : tuple of int, optional
        Strides of the result in bytes, by its own axes (default: C order).
    alpha, beta, conj, threads
        As for `transpose`.
    backend : {'cpu', 'cuda'}, optional
        With a shape: where the arrays will be (default 'cpu').
    measure : bool or float, optional
        True, or a limit in seconds (True: 2): time the best candidates instead of trusting the model.
    model : {'cutt', 'paper'}, optional
        What predicts times; 'paper' is the model of the cuTT paper and for GPUs only.
    device : str, optional
        A device that need not be here ('h200', 'k20x', ...; see `cutt.devices`), or the path of a device file. The plan
        can be described, and not be executed.
    candidate : int, optional
        n > 0: the n-th of those that `describe` lists.
    wisdom : Wisdom, optional
        Measured choices: looked up first, and added to by `measure`.

    Called with (a, out=None) it permutes an array of the shape, strides, type and device that it is for, and returns
    `out`, or a new array of `a`'s library. ValueError where an array is not what the plan is for.

    A plan can be pickled, without its wisdom. It is loaded by planning again, and measuring where `measure` asked for it,
    with what there is on the machine that loads it.

    Attributes
    ----------
    shape, out_shape : tuple of int
    info : dict
        'backend', 'method', 'isa', 'threads', 'fused_rank', 'fused_elem_bytes', 'bytes_moved', 'predicted_seconds',
        'measured_seconds', 'create_seconds'.
    workspace : int
        Bytes of further memory that an execution needs: 0.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `transpose`.

    Examples
    --------
    >>> a = np.random.rand(64, 3, 224, 224)
    >>> plan = cutt.Plan(a, (0, 2, 3, 1))
    >>> b = plan(a)
    """

    workspace = 0

    def __init__(
        self,
        a: Any,
        axes: Optional[Sequence[int]] = None,
        *,
        dtype: Any = None,
        strides: Optional[Sequence[int]] = None,
        out_strides: Optional[Sequence[int]] = None,
        alpha: Any = 1,
        beta: Any = 0,
        conj: bool = False,
        threads: Optional[int] = None,
        backend: Optional[str] = None,
        measure: Union[bool, float] = False,
        model: str = "cutt",
        device: Optional[str] = None,
        candidate: int = 0,
        wisdom: Optional[Wisdom] = None,
    ):
        view = described_view(a, dtype, strides, backend, "a")
        self.shape, self._planned, self._axes = view.shape, Planned(view, "a"), normal_axes(axes, len(view.shape))
        self.out_shape = tuple(view.shape[axis] for axis in self._axes)
        self._out_strides = (
            packed_strides(self.out_shape, view.dtype.itemsize)
            if out_strides is None
            else wholes(out_strides, "out_strides")
        )
        if len(self._out_strides) != len(self.out_shape):
            raise ValueError(
                f"out_strides has {len(self._out_strides)} entries, and the result {len(self.out_shape)} axes"
            )
        if model not in ("cutt", "paper"):
            raise ValueError(f"model is {model!r}; it must be 'cutt' or 'paper'")
        arithmetic = arithmetic_of(view.dtype, alpha, beta, bool(conj) != view.conj)
        self._adds = not is_zero(beta)
        key = plan_key(
            view.dtype,
            view.shape,
            self._axes,
            view.strides,
            self._out_strides,
            arithmetic,
            threads_of(threads),
            L.BACKENDS["auto" if device is not None else view.device[0]],
        )
        more = {
            "choice": int(bool(measure)),
            "measure_seconds": 0.0 if isinstance(measure, bool) else seconds_of(measure, "measure"),
            "candidate": whole(candidate, "candidate", 0, MAX_INT),
            "model": int(model == "paper"),
            "device": text(device, "device"),
        }
        wisdom_of(wisdom)
        if view.device[0] == "cpu" or device is not None:
            self._handle = create(key, wisdom, **more)
        else:
            with _cuda.context(view.device[1]):
                self._handle = create(key, wisdom, **more)
        named = {"alpha": alpha, "beta": beta, "conj": bool(conj), "threads": threads, "measure": measure}
        named.update(model=model, device=device, candidate=candidate, out_strides=self._out_strides)
        self._recipe = (self._planned, self._axes), named
        if device is None and not view.conj:
            layouts = ((view.shape, view.strides), (self.out_shape, self._out_strides))
            self._prepare(facts_of(self._handle), *prepared_place(view), self._adds, layouts)

    def _views(self, a: Any, out: Any) -> tuple:
        source = view_of(a, "a")
        self._planned.check(source)
        array = out
        if out is None:
            if self._adds:
                raise ValueError("the plan adds to its result (beta): it must be given an out")
            array = source.adapter.empty(self.out_shape, source)
            result = view_of(array, "the result")
        else:
            result = check_out(out, self.out_shape, source)
        if steps_differ(self.out_shape, result.strides, self._out_strides):
            raise ValueError(f"the strides of out are {result.strides}, and the plan is for {self._out_strides}")
        return source, result, array

    if TYPE_CHECKING:

        def __call__(self, a: Any, out: Any = None) -> Any: ...

    def _call(self, a: Any, out: Any = None) -> Any:
        source, result, array = self._views(a, out)

        def call(stream: int) -> None:
            L.check(L.lib.cuttPlanExecute(self._handle.value, source.pointer, result.pointer, stream or None))

        if result.size:
            run(source, (result,), call)
        return source.adapter.finish(array, False) if out is None else out

    def execute_batch(self, arrays: Sequence[Any], out: Optional[Sequence[Any]] = None) -> Any:
        """Permutes many arrays, each of the plan's shape, strides, type and device, by one call.

        For many small ones, such as the blocks of a block-sparse tensor. On the CPU the threads share all of them; on a
        GPU they are one launch. `cutt.batch` is the same for arrays of different shapes.

        Parameters
        ----------
        arrays : sequence of array
            Also one array with a further first axis.
        out : sequence of array, optional
            Where the results go, as many; none may overlap with another one or with an array that is another's input.

        Returns
        -------
        sequence of array
            `out`; else a list of new arrays of the library of each input.

        Raises
        ------
        TypeError, ValueError, RuntimeError, MemoryError
            As a call of the plan; arrays are named with their place. Of a call that is refused nothing is done.
        """
        inputs = listed(arrays, "arrays")
        results = [None] * len(inputs) if out is None else listed(out, "out")
        if len(results) != len(inputs):
            raise ValueError(f"out has {len(results)} arrays, and there are {len(inputs)} inputs")
        views = []
        for place, (a, result) in enumerate(zip(inputs, results)):
            try:
                if out is not None and result is None:
                    raise TypeError("out is None; it must be an array")
                views.append(self._views(a, result))
            except (TypeError, ValueError) as error:
                kind = ValueError if isinstance(error, ValueError) else TypeError
                raise kind(f"pair {place}: {error}") from None
        if not views:
            return [] if out is None else out
        first = views[0][0]
        for place, (source, _, _) in enumerate(views):
            check_device(source, first, f"input {place}")
        if out is not None:
            check_apart([result for _, result, _ in views], [source for source, _, _ in views])
        pointers = [(c_void_p * len(views))(*(pair[side].pointer for pair in views)) for side in (0, 1)]

        def call(stream: int) -> None:
            L.check(L.lib.cuttPlanExecuteBatch(self._handle.value, len(views), *pointers, stream or None))

        if views[0][1].size:
            run(first, [view for pair in views for view in pair[:2]][1:], call)
        if out is not None:
            return out
        return [source.adapter.finish(array, False) for source, _, array in views]

    def time(self, a: Any, out: Any, count: int = 5) -> list[float]:
        """Seconds of each of `count` executions, after one that is not counted: on a GPU by events in the stream."""
        count = whole(count, "count", 1, MAX_INT)
        source, result, _ = self._views(a, out)
        seconds = (c_double * count)()

        def call(stream: int) -> None:
            pointers = (source.pointer, result.pointer, stream or None)
            L.check(L.lib.cuttPlanTime(self._handle.value, *pointers, count, seconds))

        run(source, (result,), call)
        return list(seconds)

    @property
    def info(self) -> dict[str, Any]:
        facts = L.PlanInfo()
        facts.struct_size = L.ctypes.sizeof(facts)
        L.check(L.lib.cuttPlanGetInfo(self._handle.value, byref(facts)))
        return info_dict(facts)

    def describe(self, format: str = "text") -> Any:
        """The problem, its canonical form, the candidates and the choice: a str, or as ``'json'`` a dict."""
        if format == "json":
            return L.json_of(L.lib.cuttPlanDescribe, self._handle.value)
        if format != "text":
            raise ValueError(f"format is {format!r}; it must be 'text' or 'json'")
        return L.text_of(L.lib.cuttPlanDescribe, self._handle.value)

    def draw(self, format: str = "text") -> str:
        """The tile of the plan's choice laid over memory, as ``'text'`` or as an ``'svg'`` image."""
        if format not in ("text", "svg"):
            raise ValueError(f"format is {format!r}; it must be 'text' or 'svg'")
        return L.text_of(L.lib.cuttPlanDraw, self._handle.value, form=int(format == "svg"))

    def __repr__(self) -> str:
        info = self.info
        return (
            f"<cutt.Plan {self.shape} -> {self.out_shape} {self._planned.type}: {info['method']} on {info['backend']}>"
        )


def info_dict(facts: Any) -> dict[str, Any]:
    """A struct of facts as a dict."""
    names = {number: name for name, number in L.BACKENDS.items()}
    made = {}
    for field, *_ in facts._fields_:
        value = getattr(facts, field)
        if field == "backend":
            value = names[value]
        elif isinstance(value, bytes):
            value = value.decode()
        if field != "struct_size":
            made[field] = value
    return made
