"""Random redistributions on one communicator, for test_dist.py (threads) and dist_mpi.py (processes): every rank
knows the whole tensor, and compares its part of the result with NumPy's."""

import math

import numpy as np

import cutt.dist as dist

TYPES = ("float32", "float64", "complex64", "complex128", "int32", "int64", "uint8", "int16", "M8[s]")


def random_layout(random, shape, size):
    parts, room = [], size
    for _ in shape:
        parts.append(int(random.integers(1, room + 1)))
        room //= parts[-1]
    random.shuffle(parts)
    blocks = [int(random.integers(1, n + 2)) if random.integers(3) == 0 else 0 for n in shape]
    copies = int(random.integers(1, size // math.prod(parts) + 1))
    places = math.prod(parts) * copies
    ranks = random.permutation(size)[:places] if random.integers(2) else None
    return dist.Layout(shape, parts, blocks, ranks, copies)


def part_of(layout, rank, whole):
    return np.ascontiguousarray(whole[np.ix_(*layout.indices(rank))]).reshape(layout.local_shape(rank))


def values(random, shape, dtype):
    """Small whole numbers, so that sums are exact, or any bits."""
    if np.dtype(dtype).kind == "c":
        return (random.integers(-50, 50, shape) + 1j * random.integers(-50, 50, shape)).astype(dtype)
    return random.integers(0, 100, shape).astype(dtype)


def trial(comm, seed, direct=None, empty=None):
    """All random numbers but those of the ranks' own are drawn alike on all ranks. empty: where results are."""
    random = np.random.default_rng(seed)
    rank = int(random.integers(0, 5))
    shape = tuple(int(n) for n in random.integers(0 if random.integers(8) == 0 else 1, 9, rank))
    axes = tuple(int(axis) for axis in random.permutation(rank))
    dtype = np.dtype(TYPES[random.integers(len(TYPES))])
    source = random_layout(random, shape, comm.size)
    target = random_layout(random, [shape[axis] for axis in axes], comm.size)
    whole, before = values(random, shape, dtype), values(random, [shape[axis] for axis in axes], dtype)
    scaled = dtype.kind in "fci" and dtype.itemsize > 2 and random.integers(2)
    alpha, beta, conj = (3, 2, bool(random.integers(2))) if scaled else (1, 0, False)
    wanted = whole.transpose(axes)
    if scaled:
        wanted = alpha * (wanted.conj() if conj else wanted) + beta * before
    options = {"workspace_limit": int(random.integers(256, 2000)), "permute": ["cost", "pack", "unpack"][seed % 3]}
    options.update(direct=direct, threads=1, dtype=dtype, alpha=alpha, beta=beta, conj=conj)
    a, strides = part_of(source, comm.rank, whole), None
    if random.integers(2):  # this rank's part in Fortran's order
        a = np.array(a, order="F")
        strides = a.strides
    plan = dist.Plan(comm, source, target, axes, strides=strides, **options)
    shape = target.local_shape(comm.rank)
    for _ in range(2):
        out = part_of(target, comm.rank, before)
        if empty is not None:
            out = empty(shape, dtype)
            out[...] = part_of(target, comm.rank, before)
        given = out if scaled or empty is not None else None
        made = plan(a if source.local_size(comm.rank) else None, given)
        assert given is None or made is given
        assert made.shape == shape and made.dtype == dtype, (seed, made.shape, made.dtype)
        if target.local_size(comm.rank) == 0:
            continue
        assert np.array_equal(made, part_of(target, comm.rank, wanted.astype(dtype))), (seed, plan.describe())


def fails(kind, text, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as error:
        assert text in str(error), (text, str(error))
    else:
        raise AssertionError(f"no error with {text!r}")


def errors(comm):
    """One rank's error is every rank's."""
    last, here = comm.size - 1, comm.rank == comm.size - 1
    layout = dist.Layout((4 * comm.size,), (comm.size,))
    copies = dist.Layout((4,), copies=comm.size)
    one = np.ones(4)
    if comm.size > 1:
        other = dist.Layout((4 * comm.size,), (1,))
        fails(ValueError, f"rank {last} has other problem->from", dist.Plan, comm, other if here else layout, layout)
        fails(
            ValueError,
            f"rank {last} has other options",
            dist.Plan,
            comm,
            layout,
            layout,
            piece_bytes=50 if here else 60,
        )
    fails(
        ValueError,
        f"rank {last}: axes has 1; for an array of 1 axes",
        dist.Plan,
        comm,
        layout,
        layout,
        (1,) if here else (0,),
    )
    fails(ValueError, f"rank {last}: dtype is", dist.Plan, comm, layout, layout, dtype="nothing" if here else "f8")
    fails(ValueError, f"rank {last}: permute is 'x'", dist.Plan, comm, layout, layout, permute="x" if here else "pack")
    plan = dist.Plan(comm, layout, copies if comm.size == 1 else layout)
    fails(ValueError, f"rank {last}: a has shape (3,); this rank's part is (4,)", plan, one[:3] if here else one)
    fails(ValueError, f"rank {last}: a has elements of type int64", plan, one.astype("i8") if here else one)
    fails(ValueError, f"rank {last}: a is None", plan, None if here else one)
    fails(ValueError, f"rank {last}: out is read-only", plan, one, np.frombuffer(b"0" * 32) if here else np.empty(4))
    fails(ValueError, "overlap", plan, one, one if here else np.empty(4))
    fails(ValueError, "must be given an out", dist.Plan(comm, layout, layout, beta=1), one)
    assert np.array_equal(plan(one), one)
