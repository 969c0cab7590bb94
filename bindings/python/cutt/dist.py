"""Tensors that are spread over ranks: the processes of MPI, by mpi4py, or threads of one process.

>>> from mpi4py import MPI
>>> import numpy as np, cutt.dist
>>> comm = cutt.dist.Comm(MPI.COMM_WORLD)
>>> rows = cutt.dist.Layout((600, 800), parts=(comm.size, 1))
>>> columns = cutt.dist.Layout((800, 600), parts=(1, comm.size))
>>> plan = cutt.dist.Plan(comm, rows, columns, (1, 0))  # the transpose of the whole
>>> b = plan(np.ones(rows.local_shape(comm.rank)))      # this rank's part to this rank's part

Axes, indices and the grid of ranks are in NumPy's order, the last axis fastest. Calls that are collective are made by
all ranks in the same order; they raise on all ranks or on none, with the same text, which names the first rank that
is wrong. mpi4py is needed for communicators of MPI only, and any MPI that it runs on will do.
"""

from __future__ import annotations

import contextlib
import math
import weakref
from ctypes import POINTER, byref, c_int, c_int64, c_void_p, cast, create_string_buffer, sizeof, addressof
from typing import Any, Optional, Sequence

import numpy as np

from . import _cuda
from . import _dist_library as D
from . import _library as L
from ._arguments import INT64, MAX_INT, threads_of, whole, wholes
from ._arrays import check_device, check_out, device_text, is_zero, view_of
from ._permute import arithmetic_of, normal_axes, run
from ._plan import dtype_of, info_dict, steps_differ
from ._views import CPU, NUMPY, DType, View, packed_strides

__all__ = ["Comm", "Layout", "Plan", "relabel"]


def _per_axis(values: Any, name: str, rank: int, low: int, high: int) -> tuple:
    given = wholes(values, name, low, high)
    if len(given) != rank:
        raise ValueError(f"{name} has {len(given)} entries; it must have one for each of the {rank} axes")
    return given


class Layout:
    """On which rank each element of a tensor lies, and where.

    Parameters
    ----------
    shape : sequence of int
        Of the whole tensor.
    parts : sequence of int, optional
        How many parts each axis is cut into (default: 1).
    blocks : sequence of int, optional
        For each axis: 0 for parts that are stretches, near-even, the first ones longer by one where something is left
        over (default); b > 0 for blocks of b indices that are dealt to the parts in turn, as ScaLAPACK does.
    ranks : array of int, optional
        The rank at each position of the grid of parts, of shape `parts`, or (copies, *parts); or flat, in C order
        (default: 0, 1, 2, ...).
    copies : int, optional
        How many times the tensor is there.

    Raises
    ------
    TypeError, ValueError
        For arguments that are wrong.

    Examples
    --------
    >>> cutt.dist.Layout((100, 7), parts=(4, 1)).local_shape(3)
    (25, 7)
    """

    def __init__(
        self,
        shape: Sequence[int],
        parts: Optional[Sequence[int]] = None,
        blocks: Optional[Sequence[int]] = None,
        ranks: Any = None,
        copies: int = 1,
    ):
        self.shape = wholes(shape, "shape", 0, INT64[1])
        rank = len(self.shape)
        self.parts = (1,) * rank if parts is None else _per_axis(parts, "parts", rank, 1, MAX_INT)
        self.blocks = (0,) * rank if blocks is None else _per_axis(blocks, "blocks", rank, 0, INT64[1])
        self.copies = whole(copies, "copies", 1, MAX_INT)
        places = math.prod(self.parts) * self.copies
        self.ranks = None if ranks is None else wholes(np.asarray(ranks).ravel().tolist(), "ranks", 0, MAX_INT)
        if self.ranks is not None and len(self.ranks) != places:
            raise ValueError(
                f"ranks has {len(self.ranks)} entries; it must have one for each position and copy: {places}"
            )
        size = max(places, max(self.ranks or (0,)) + 1)
        L.check(D.lib.cuttDistLayoutCheck(byref(self._struct()), min(size, MAX_INT)))

    def _struct(self, strides: Optional[Sequence[int]] = None) -> D.Layout:
        """As C has it, the last axis first; strides in elements."""
        made = D.Layout(sizeof(D.Layout), len(self.shape), self.copies)
        made.extents, made.parts = L.int64s(self.shape[::-1]), L.ints(self.parts[::-1])
        made.blocks = L.int64s(self.blocks[::-1])
        made.ranks = None if self.ranks is None else L.ints(self.ranks)
        made.strides = None if strides is None else L.int64s(strides[::-1])
        return made

    def local_shape(self, rank: int) -> tuple:
        """The shape of a rank's part; zeros on a rank that has none."""
        extents = (c_int64 * len(self.shape))()
        L.check(D.lib.cuttDistLocalExtents(byref(self._struct()), whole(rank, "rank", 0, MAX_INT), extents))
        return tuple(extents)[::-1]

    def local_size(self, rank: int) -> int:
        """The number of elements of a rank's part: 0 of a scalar, too, on a rank that has none."""
        count = c_int64()
        L.check(D.lib.cuttDistLocalCount(byref(self._struct()), whole(rank, "rank", 0, MAX_INT), byref(count)))
        return count.value

    def find(self, index: Sequence[int], copy: int = 0) -> tuple:
        """(rank, index in that rank's part) of an element of the whole tensor."""
        given = _per_axis(index, "index", len(self.shape), *INT64)
        rank, local = c_int(), (c_int64 * len(self.shape))()
        copy = whole(copy, "copy", 0, MAX_INT)
        L.check(D.lib.cuttDistFind(byref(self._struct()), L.int64s(given[::-1]), copy, byref(rank), local))
        return rank.value, tuple(local)[::-1]

    def index(self, rank: int, local: Sequence[int]) -> tuple:
        """The index in the whole tensor of an element of a rank's part."""
        given = _per_axis(local, "local", len(self.shape), *INT64)
        made, rank = (c_int64 * len(self.shape))(), whole(rank, "rank", 0, MAX_INT)
        L.check(D.lib.cuttDistGlobal(byref(self._struct()), rank, L.int64s(given[::-1]), made))
        return tuple(made)[::-1]

    def indices(self, rank: int) -> tuple:
        """For each axis the indices in the whole tensor that a rank's part has: its part of the array `whole` is
        `whole[np.ix_(*layout.indices(rank))]`."""
        local = self.local_shape(rank)
        made = [np.zeros(extent, np.int64) for extent in local]
        if 0 not in local:
            for axis, extent in enumerate(local):
                for place in range(extent):
                    at = [0] * len(local)
                    at[axis] = place
                    made[axis][place] = self.index(rank, at)[axis]
        return tuple(made)

    def _facts(self) -> tuple:
        return self.shape, self.parts, self.blocks, self.ranks, self.copies

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Layout) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self._facts())

    def __repr__(self) -> str:
        more = f", ranks={self.ranks}" if self.ranks is not None else ""
        more = (f", blocks={self.blocks}" if any(self.blocks) else "") + more
        return f"Layout({self.shape}, parts={self.parts}{more}" + (
            f", copies={self.copies})" if self.copies > 1 else ")"
        )


def relabel(source: Layout, target: Layout, axes: Optional[Sequence[int]] = None, size: Optional[int] = None) -> Layout:
    """`target` with the order of ranks that moves least, when `source` is permuted by `axes` and becomes it.

    Parameters
    ----------
    axes : sequence of int, optional
        As for `Plan`.
    size : int, optional
        The ranks to choose from are 0 to size - 1 (default: as many as the layouts need).
    """
    perm = _perm(axes, source, target)
    places = math.prod(target.parts) * target.copies
    if size is None:
        used = math.prod(source.parts) * source.copies if source.ranks is None else max(source.ranks, default=0) + 1
        size = max(places, used)
    ranks, struct = (c_int * places)(), target._struct()
    struct.ranks = None
    L.check(D.lib.cuttDistRelabel(byref(source._struct()), byref(struct), perm, whole(size, "size", 1, MAX_INT), ranks))
    return Layout(target.shape, target.parts, target.blocks, list(ranks), target.copies)


def _perm(axes: Optional[Sequence[int]], source: Layout, target: Layout) -> Any:
    for name, layout in (("source", source), ("target", target)):
        if not isinstance(layout, Layout):
            raise TypeError(f"{name} is {layout!r}; it must be a cutt.dist.Layout")
    rank = len(source.shape)
    given = tuple(range(rank)) if axes is None else normal_axes(axes, rank)
    return L.ints([rank - 1 - axis for axis in reversed(given)])


class Comm:
    """Who takes part. `with Comm(...) as comm:` frees it at the end.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        Of MPI, and duplicated: this call and `free` are collective.

    Attributes
    ----------
    rank, size : int
    """

    def __init__(self, comm: Any):
        if not hasattr(comm, "Dup") or not hasattr(comm, "Iallgather"):
            raise TypeError(f"comm is {comm!r}; it must be a communicator of mpi4py, such as mpi4py.MPI.COMM_WORLD")
        from . import _dist_mpi

        self._transport: Any = _dist_mpi.Transport(comm)
        handle, table = c_void_p(), self._transport.table()
        L.check(D.lib.cuttDistCommCreate(byref(handle), byref(table)))
        self._open(handle, table.rank, table.size)

    def _open(self, handle: c_void_p, rank: int, size: int) -> None:
        self._handle: Any = L.Handle(handle, D.lib.cuttDistCommDestroy)
        self.rank, self.size = rank, size
        self._plans: weakref.WeakSet = weakref.WeakSet()

    @classmethod
    def threads(cls, size: int) -> list["Comm"]:
        """Communicators between threads of this process, one for each."""
        handles = (c_void_p * whole(size, "size", 1, 4096))()
        L.check(D.lib.cuttDistCommThreads(size, handles))
        made = []
        for rank, handle in enumerate(handles):
            one = cls.__new__(cls)
            one._transport = None
            one._open(c_void_p(handle), rank, size)
            made.append(one)
        return made

    def _value(self) -> c_void_p:
        if self._handle is None:
            raise ValueError("the communicator has been freed")
        return self._handle.value

    def _check(self, result: int) -> None:
        raised = getattr(self._transport, "raised", None)
        if raised is not None:  # of a callback, which the library could only be told of
            self._transport.raised = None
            raise raised
        L.check(result)

    def _refuse(self, plan: Optional[c_void_p], error: Exception) -> None:
        """All ranks get the error that this one has found, each from the call that it makes."""
        self._check(D.lib.cuttDistRefuse(self._value(), plan, str(error).encode(errors="replace")))

    def empty(self, shape: Sequence[int], dtype: Any = np.float64) -> np.ndarray:
        """An array, in C order, that the processes of one node reach: plans write results there
        without messages. Collective; shapes may differ from rank to rank. It is there until the communicator is
        freed.

        Raises
        ------
        ValueError, RuntimeError
            An argument of some rank is wrong; ranks are on different nodes. On all ranks.
        """
        self._value()
        why = None
        try:
            shape, kind = wholes(shape, "shape", 0, INT64[1]), np.dtype(dtype)
            size = whole(math.prod(shape) * kind.itemsize, "the size in bytes", 0, INT64[1] - 64)
        except (TypeError, ValueError) as error:
            if self._transport is None:
                raise
            why = str(error)
        if self._transport is None:  # threads share all memory
            return np.empty(shape, kind)
        self._transport.agree(why)
        return self._transport.shared(size).view(kind).reshape(shape)

    def free(self) -> None:
        """Frees the communicator and its plans. Of MPI it is collective, and has to come before MPI's end."""
        if self._handle is None:
            return
        for plan in list(self._plans):
            plan._handle = None
        self._handle = None
        if self._transport is not None:
            self._transport.free()

    def __enter__(self) -> "Comm":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:  # other ranks may not come here
            self.free()

    def __repr__(self) -> str:
        return f"<cutt.dist.Comm: rank {self.rank} of {self.size}>"


def _kind(dtype: DType, arithmetic: tuple) -> int:
    if not arithmetic[0] and dtype.itemsize not in L.BYTES:
        raise TypeError(f"elements of type {dtype.name} have {dtype.itemsize} bytes; they must have 1, 2, 4, 8 or 16")
    return arithmetic[0] or dtype.itemsize


class Plan:
    """From one layout to another, with a permutation; planned once and executed any number of times.

    Collective. `plan(a, out=None)` is collective too: it takes this rank's part of the input, an array of any library
    in the memory that the plan is for, and returns this rank's part of the result. Where a part is empty, `a` may be
    None; on a GPU the result is then None too, if that part is empty, and else has to be given as `out`. Work on a GPU
    is done in the stream that the array's library is in, and the call may return before it is done.

    Parameters
    ----------
    comm : Comm
    source, target : Layout
        Of the input and of the result.
    axes : sequence of int, optional
        Axis i of the result is axis axes[i] of the input (default: axes stay where they are).
    dtype : optional
        The element type (default float64).
    strides, out_strides : tuple of int, optional
        Strides in bytes of this rank's parts (default: C order).
    alpha, beta, conj : optional
        The result is alpha * input + beta * out, the input conjugated, as for `cutt.transpose`.
    threads : int, optional
        Most threads of this rank.
    permute : {'cost', 'pack', 'unpack'}, optional
        Where elements are permuted: by the sender, by the receiver, or where it is predicted to be faster.
    direct : bool, optional
        True: ranks write into each other's results, which are threads' or in memory of `Comm.empty`; False: messages
        are sent. None: directly where results are in memory that all reach, and that is predicted to be faster.
    workspace_limit, piece_bytes : int, optional
        Most bytes of workspace, and of a message.
    device : int, optional
        The CUDA device in whose memory this rank's parts are: arrays of CuPy, of PyTorch, or of a library that has
        DLPack or __cuda_array_interface__ (default: the processor's memory). All ranks give one, each its own.

    Attributes
    ----------
    info : dict
        What this rank keeps, sends and receives, in bytes and pieces, workspace and predicted time.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `cutt.transpose`; on all ranks.
    """

    def __init__(
        self,
        comm: Comm,
        source: Layout,
        target: Layout,
        axes: Optional[Sequence[int]] = None,
        *,
        dtype: Any = np.float64,
        strides: Optional[Sequence[int]] = None,
        out_strides: Optional[Sequence[int]] = None,
        alpha: Any = 1,
        beta: Any = 0,
        conj: bool = False,
        threads: Optional[int] = None,
        permute: str = "cost",
        direct: Optional[bool] = None,
        workspace_limit: Optional[int] = None,
        piece_bytes: Optional[int] = None,
        device: Optional[int] = None,
    ):
        if not isinstance(comm, Comm):
            raise TypeError(f"comm is {comm!r}; it must be a cutt.dist.Comm")
        self._comm = comm
        self._handle: Any = None
        comm._value()
        problem, options = D.Problem(), D.Options()
        problem.struct_size, options.struct_size = sizeof(problem), sizeof(options)
        try:
            problem.perm = _perm(axes, source, target)
            self._dtype = dtype_of(dtype)
            arithmetic = arithmetic_of(self._dtype, alpha, beta, conj)
            problem.type, problem.conjugate = _kind(self._dtype, arithmetic), int(arithmetic[3])
            scalars = [create_string_buffer(value, 16) for value in arithmetic[1:3] if value]
            if scalars:
                problem.alpha, problem.beta = (addressof(value) for value in scalars)
            self._adds = not is_zero(beta)
            self._sides = [
                self._side("strides", source, strides, comm.rank),
                self._side("out_strides", target, out_strides, comm.rank),
            ]
            structs = [
                layout._struct(None if given is None else [step // self._dtype.itemsize for step in given])
                for layout, given in ((source, strides), (target, out_strides))
            ]
            problem.from_, problem.to = (cast(byref(struct), POINTER(D.Layout)) for struct in structs)
            options.threads = threads_of(threads)
            if permute not in D.PERMUTE:
                raise ValueError(f"permute is {permute!r}; it must be 'cost', 'pack' or 'unpack'")
            if direct not in (None, True, False):
                raise ValueError(f"direct is {direct!r}; it must be True, False or None")
            options.permute, options.direct = D.PERMUTE[permute], D.DIRECT[None if direct is None else bool(direct)]
            if workspace_limit is not None:
                options.workspace_limit = whole(workspace_limit, "workspace_limit", 256, INT64[1])
            if piece_bytes is not None:
                options.piece_bytes = whole(piece_bytes, "piece_bytes", 16, INT64[1])
            self._device = CPU if device is None else ("cuda", whole(device, "device", 0, MAX_INT))
            if device is not None:
                options.backend = L.BACKENDS["cuda"]
                _cuda.primary(device)
        except (TypeError, ValueError, RuntimeError) as error:
            comm._refuse(None, error)
            raise
        plan = c_void_p()
        with self._context():
            comm._check(D.lib.cuttDistPlanCreate(byref(plan), comm._value(), byref(problem), byref(options)))
        self._handle = L.Handle(plan, D.lib.cuttDistPlanDestroy)
        comm._plans.add(self)

    def _side(self, name: str, layout: Layout, strides: Optional[Sequence[int]], rank: int) -> tuple:
        """The shape, the strides and the number of elements of this rank's part."""
        shape, size = layout.local_shape(rank), layout.local_size(rank)
        if strides is None:
            return shape, packed_strides(shape, self._dtype.itemsize), size
        given = _per_axis(strides, name, len(shape), *INT64)
        if any(step % self._dtype.itemsize for step in given):
            raise ValueError(
                f"{name} is {given}; each must be a multiple of the {self._dtype.itemsize} bytes of an element"
            )
        return shape, given, size

    def _value(self) -> c_void_p:
        if self._handle is None:
            raise ValueError("the plan's communicator has been freed")
        return self._handle.value

    def _context(self) -> Any:
        """The device's, made current for a while."""
        return contextlib.nullcontext() if self._device == CPU else _cuda.context(self._device[1])

    def _checked(self, view: View, side: int, name: str) -> None:
        shape, strides, _ = self._sides[side]
        if view.shape != shape:
            raise ValueError(f"{name} has shape {view.shape}; this rank's part is {shape}")
        if view.dtype.name != self._dtype.name:
            raise TypeError(f"{name} has elements of type {view.dtype.name}; the plan is for {self._dtype.name}")
        if view.conj:
            raise ValueError(f"{name} is lazily conjugated, which the plan is not for: give a.resolve_conj()")
        if view.device != self._device:
            raise ValueError(f"{name} is on {device_text(view)}, and the plan is for {self._place()}")
        if steps_differ(shape, strides, view.strides):
            raise ValueError(f"{name} has strides {view.strides}, and the plan is for {strides}")

    def _place(self) -> str:
        return "the CPU" if self._device == CPU else f"CUDA device {self._device[1]}"

    def _absent(self, side: int, name: str) -> View:
        """What stands for an array that is not given."""
        shape, strides, size = self._sides[side]
        if size:
            raise TypeError(f"{name} is None, and this rank's part is {shape}")
        if self._device != CPU:
            return View(0, shape, strides, self._dtype, self._device, NUMPY, None)
        return NUMPY.view(np.empty(shape, self._dtype.native if isinstance(self._dtype.native, np.dtype) else "V1"))

    def _views(self, a: Any, out: Any) -> tuple:
        source = self._absent(0, "a") if a is None else view_of(a, "a")
        if a is not None:
            self._checked(source, 0, "a")
        shape, strides, size = self._sides[1]
        array = out
        if out is None and a is None and self._device != CPU:
            if size:
                raise ValueError(f"a is None, and this rank's result is {shape}: it must be given an out")
            return source, self._absent(1, "out"), None
        if out is None:
            if self._adds and size:
                raise ValueError("the plan adds to its result (beta): it must be given an out")
            array = source.adapter.empty(shape, source)
            result = view_of(array, "the result")
        else:
            result = check_out(out, shape, source)
            check_device(result, source, "out")
            self._checked(result, 1, "out")
        if out is None and steps_differ(shape, strides, result.strides):
            raise ValueError("the plan has out_strides: it must be given an out")
        return source, result, array

    def __call__(self, a: Any = None, out: Any = None) -> Any:
        handle = self._value()
        try:
            source, result, array = self._views(a, out)
        except (TypeError, ValueError) as error:
            self._comm._refuse(handle, error)
            raise

        def call(stream: int) -> None:
            pointers = (source.pointer or None, result.pointer or None, stream or None)
            self._comm._check(D.lib.cuttDistPlanExecute(handle, *pointers))

        given = [view for view in (source, result) if view.device == CPU or view.owner is not None]
        if given:
            run(given[0], given[1:], call)
        else:
            with self._context():
                call(0)
        return out if out is not None or array is None else source.adapter.finish(array, False)

    @property
    def info(self) -> dict[str, Any]:
        facts = D.PlanInfo()
        facts.struct_size = sizeof(facts)
        L.check(D.lib.cuttDistPlanGetInfo(self._value(), byref(facts)))
        made = info_dict(facts)
        names = {number: name for name, number in D.PERMUTE.items()}
        made.update(direct=bool(facts.direct), permute=None if facts.direct else names[facts.permute])
        return made

    def describe(self, format: str = "text") -> Any:
        """Layouts, what each rank sends, pieces, workspace and predicted time: a str, or as ``'json'`` a dict."""
        if format == "json":
            return L.json_of(D.lib.cuttDistPlanDescribe, self._value())
        if format != "text":
            raise ValueError(f"format is {format!r}; it must be 'text' or 'json'")
        return L.text_of(D.lib.cuttDistPlanDescribe, self._value())

    def __repr__(self) -> str:
        shape, out_shape = (side[0] for side in self._sides)
        return f"<cutt.dist.Plan {self._dtype.name}, {self._comm!r}: {shape} -> {out_shape}>"
