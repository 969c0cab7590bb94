"""The transport of cutt.dist between processes, by mpi4py.

It is in Python, since there is no one MPI that a wheel could be compiled with: whatever MPI mpi4py has been built
for, or finds, is used, and nothing is compiled where it is installed. An execution makes a few calls here, two
gatherings and one for each message, of some microseconds each, while packing and unpacking are the library's own
work.

It does what bindings/mpi/cutt_dist_mpi.c does: a rank that can't go on tells every other one by a message with a tag
of its own, which all have posted a receive for and wait for together with whatever they wait for.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import struct
import sys
from typing import Any, Callable, Optional

import numpy as np

from . import _dist_library as D

_NOTICE_BYTES, _TAG_NOTICE, _TAG_DATA, _DATA_TAGS, _SPINS, _ALIGNMENT = 512, 0, 1, 32000, 100, 64
_PLACE = struct.Struct("<QQ")  # a window and an offset in it: what other ranks are told of an output

# Those that are not freed: MPI may still write to what they have posted.
_open: list["Transport"] = []


def _guarded(failed: Any) -> Callable:
    """No exception may go through C: it becomes a failure of the communicator, for all ranks to hear of."""

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def call(self: "Transport", *arguments: Any) -> Any:
            try:
                return function(self, *arguments)
            except BaseException as error:  # KeyboardInterrupt too, which finish() raises again
                if not isinstance(error, Exception):
                    self.raised = error
                self.tell(f"{type(error).__name__}: {error}")
                return failed

        return call

    return decorate


class Transport:
    def __init__(self, comm: Any):
        self.mpi = sys.modules[type(comm).__module__]
        mpi = self.mpi
        self.comm = comm.Dup()
        self.comm.Set_errhandler(mpi.ERRORS_RETURN)
        self.rank, self.size = self.comm.Get_rank(), self.comm.Get_size()
        self.first: Optional[tuple] = None  # the rank that has failed, and why
        self.why = ctypes.create_string_buffer(_NOTICE_BYTES)
        self.raised: Optional[BaseException] = None
        self.sent, self.received = [0] * self.size, [0] * self.size  # messages so far, which are their tags
        self.under_way: dict[int, tuple] = {}
        self.started = 0
        self.left: list = []  # what is left to MPI after a failure
        self.node: Any = None
        self.windows: dict[int, tuple] = {}  # number: (window, base, bytes, this rank's memory)
        self.windows_made = 0
        self.notice = bytearray(_NOTICE_BYTES)
        self.listening = self.comm.Irecv([self.notice, mpi.BYTE], mpi.ANY_SOURCE, _TAG_NOTICE)
        self.buffer_of = getattr(mpi, "buffer", None) or mpi.memory  # by its name in mpi4py 4, and before
        self.functions = {
            "send": D.SEND(self.send),
            "receive": D.SEND(self.receive),
            "wait": D.WAIT(self.wait),
            "allgather": D.ALLGATHER(self.allgather),
            "fail": D.FAIL(self.fail),
            "failure": D.FAILURE(self.failure),
            "destroy": D.DESTROY(self.destroy),
            "offer": D.OFFER(self.offer),
            "reach": D.REACH(self.reach),
        }
        _open.append(self)

    def table(self) -> D.Transport:
        """Its functions live as long as this object."""
        table = D.Transport(ctypes.sizeof(D.Transport), b"mpi4py", None, self.rank, self.size)
        table.most_bytes, table.message_seconds, table.byte_seconds = (1 << 31) - 1, 2e-5, 2e-10
        for name, function in self.functions.items():
            setattr(table, name, function)
        return table

    # ---------------------------------------------------------------------------------------------------- failures

    def tell(self, text: str) -> None:
        """This rank can't go on."""
        if self.first is not None:
            return
        self.note(self.rank, text.encode(errors="replace"))
        notice = (struct.pack("<i", self.rank) + self.why.value).ljust(_NOTICE_BYTES, b"\0")
        for peer in range(self.size):
            if peer != self.rank:
                self.left.append((notice, self.comm.Isend([notice, self.mpi.BYTE], peer, _TAG_NOTICE)))

    def note(self, rank: int, text: bytes) -> None:
        self.why.value = text[: _NOTICE_BYTES - 8]
        self.first = rank, self.why

    def hear(self) -> None:
        if self.first is None:
            self.note(struct.unpack_from("<i", self.notice)[0], bytes(self.notice[4:]).partition(b"\0")[0])

    def fail(self, data: Any, text: Optional[bytes]) -> None:
        try:
            self.tell((text or b"").decode(errors="replace"))
        except Exception as error:  # MPI itself has failed; others can't be told
            self.note(self.rank, f"{text!r}, and the others can't be told: {error}".encode(errors="replace"))

    def failure(self, data: Any, rank: Any) -> Any:
        rank[0] = -1 if self.first is None else self.first[0]
        return None if self.first is None else ctypes.addressof(self.why)

    # ---------------------------------------------------------------------------------------------------- messages

    def start(self, count: list, peer: int, begin: Callable, where: Any, length: int, request: Any) -> int:
        if self.first is not None:
            return 1
        count[peer] = (count[peer] + 1) % _DATA_TAGS
        self.started += 1
        memory = self.buffer_of.fromaddress(where, length)
        self.under_way[self.started] = begin([memory, self.mpi.BYTE], peer, _TAG_DATA + count[peer]), begin
        request[0] = self.started
        return 0

    @_guarded(1)
    def send(self, data: Any, peer: int, where: Any, length: int, request: Any) -> int:
        return self.start(self.sent, peer, self.comm.Isend, where, length, request)

    @_guarded(1)
    def receive(self, data: Any, peer: int, where: Any, length: int, request: Any) -> int:
        return self.start(self.received, peer, self.comm.Irecv, where, length, request)

    def finish(self, request: Any) -> bool:
        """Waits for a request or a notice."""
        spins = 0
        while self.first is None:
            which, done = self.mpi.Request.Testany([request, self.listening])
            if done:
                if which != 1:
                    return True
                self.hear()
            spins += 1
            if spins > _SPINS:  # there may be more ranks than processors
                os.sched_yield()
        return bool(request.Test())

    @_guarded(1)
    def wait(self, data: Any, request: Any) -> int:
        made, begin = self.under_way.pop(request[0])
        if self.finish(made):
            return 0
        if begin == self.comm.Irecv:
            made.Cancel()
            made.Wait()
        else:
            self.left.append(made)
        return 1

    @_guarded(1)
    def allgather(self, data: Any, mine: Any, count: int, where: Any) -> int:
        if self.first is not None:
            return 1
        self.sync()
        record, gathered = ctypes.string_at(mine, count), bytearray(count * self.size)
        request = self.comm.Iallgather([record, self.mpi.BYTE], [gathered, self.mpi.BYTE])
        if not self.finish(request):
            self.left.append((request, record, gathered))
            return 1
        self.sync()
        ctypes.memmove(where, bytes(gathered), len(gathered))
        return 0

    # ------------------------------------------------------------------------------------------------ shared memory

    def sync(self) -> None:
        for window, *_ in self.windows.values():
            window.Sync()

    def agree(self, why: Optional[str]) -> None:
        """Raises what is wrong on the first rank where something is: on all ranks."""
        if self.first is not None:
            raise RuntimeError(
                f"rank {self.first[0]} of {self.size} has failed: {self.why.value.decode(errors='replace')}"
            )
        for rank, text in enumerate(self.comm.allgather(why)):
            if text is not None:
                raise ValueError(f"rank {rank}: {text}")

    def shared(self, size: int) -> Any:
        """Memory that the ranks of one node reach: collective. An array of bytes, at a multiple of 64."""
        if self.node is None:
            self.node = self.comm.Split_type(self.mpi.COMM_TYPE_SHARED, self.rank)
        if self.comm.allreduce(self.node.Get_size(), self.mpi.MIN) != self.size:
            raise RuntimeError("ranks are on different nodes, which share no memory")
        info = self.mpi.Info.Create({"alloc_shared_noncontig": "true"})
        window = self.mpi.Win.Allocate_shared(size + _ALIGNMENT, 1, info, self.node)
        info.Free()
        window.Lock_all(self.mpi.MODE_NOCHECK)
        memory = np.frombuffer(window.Shared_query(self.rank)[0], np.uint8)
        base = memory.__array_interface__["data"][0]
        skip = -base % _ALIGNMENT
        self.windows_made += 1
        self.windows[self.windows_made] = window, base, size + _ALIGNMENT
        return memory[skip : skip + size]

    @_guarded(None)
    def offer(self, data: Any, begin: Any, count: int, token: Any) -> Any:
        for number, (_, base, size) in self.windows.items():
            if base <= begin and begin + count <= base + size:
                ctypes.memmove(token, _PLACE.pack(number, begin - base), _PLACE.size)
                return None
        self.text = ctypes.create_string_buffer(b"it is not an array of the communicator's empty()")
        return ctypes.addressof(self.text)

    @_guarded(None)
    def reach(self, data: Any, peer: int, token: Any) -> Any:
        number, offset = _PLACE.unpack(ctypes.string_at(token, _PLACE.size))
        return (
            np.frombuffer(self.windows[number][0].Shared_query(peer)[0], np.uint8).__array_interface__["data"][0]
            + offset
        )

    # ---------------------------------------------------------------------------------------------------- the end

    def leave(self) -> None:
        """Takes back what this rank has posted. After a failure, what MPI may still use stays where it is."""
        if self.first is None and not self.mpi.Is_finalized():
            self.listening.Cancel()
            self.listening.Wait()

    def destroy(self, data: Any) -> None:
        """Nothing: free() is collective, and a communicator may also be forgotten."""

    def free(self) -> None:
        if self.first is not None or self.mpi.Is_finalized():
            return
        self.leave()
        for window, *_ in self.windows.values():
            window.Unlock_all()
            window.Free()
        self.windows.clear()
        if self.node is not None:
            self.node.Free()
        self.comm.Free()
        _open.remove(self)


def _leave_all() -> None:
    for transport in _open:
        transport.leave()


atexit.register(_leave_all)  # before mpi4py finalizes MPI
