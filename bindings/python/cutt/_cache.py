"""The plans that transpose, einsum and tensordot keep: the last ones used, by what was asked for.

A plan is a few kilobytes and takes some microseconds (a contraction: up to a millisecond) to make, so loops over arrays
of one shape gain by keeping it. One that has left the cache lives on until the calls that use it are done.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from typing import Any, Callable, Hashable, Iterator, Optional

from ._arguments import MAX_INT, whole
from ._compiled import calls
from ._library import hold_over_fork
from ._wisdom import Wisdom, wisdom_of


class _Kept:
    """What the compiled module's store of plans does, for where there is none."""

    def __init__(self) -> None:
        self._lock, self._plans = threading.RLock(), OrderedDict()  # type: ignore[var-annotated]
        self._limit, self.hits, self.misses = 0, 0, 0
        hold_over_fork(self._lock)

    @property
    def limit(self) -> int:
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self._limit = limit
        dropped = self._trim(limit)
        del dropped

    def _trim(self, limit: int) -> list:
        """Takes out what is too much; to be destroyed by the caller, without the lock."""
        with self._lock:
            return [self._plans.popitem(last=False) for _ in range(len(self._plans) - limit)]

    def __len__(self) -> int:
        return len(self._plans)

    def get(self, key: Hashable) -> Any:
        with self._lock:
            plan = self._plans.get(key)
            if plan is None:
                self.misses += 1
            else:
                self._plans.move_to_end(key)
                self.hits += 1
            return plan

    def put(self, key: Hashable, plan: Any) -> None:
        with self._lock:
            self._plans[key] = plan
        dropped = self._trim(self._limit)
        del dropped

    def clear(self) -> None:
        dropped = self._trim(0)
        del dropped


class _Choosing(threading.local):
    """How the plans of the call that a thread is in are chosen."""

    seconds: Optional[float] = None  # to measure each in (0: as long as the library does by default); None: by the model

    def options(self) -> dict[str, Any]:
        """Fields of cuttOptions_t and of cuttContractionOptions_t."""
        return {} if self.seconds is None else {"choice": 1, "measure_seconds": self.seconds}

    @contextlib.contextmanager
    def measuring(self, seconds: float) -> Iterator[None]:
        before, self.seconds = self.seconds, seconds
        try:
            yield
        finally:
            self.seconds = before


choosing = _Choosing()


class PlanCache:
    """The plans that are kept. Safe to use from several threads.

    Attributes
    ----------
    limit : int
        Most plans to keep; 0 keeps none.
    hits, misses : int
        How often a plan was there, and how often it had to be made.
    wisdom : Wisdom or None
        Measured choices that permutations and contractions are planned by. Setting it drops the plans that are kept, and so they are made
        anew; what is loaded into it later counts for plans that are made from then on.
    """

    def __init__(self, limit: int):
        self.kept = _Kept() if calls is None else calls.Plans()
        self.networks = _Kept()  # of einsum with many operands, each with plans of its own
        self.kept.limit = self.networks.limit = limit
        self._wisdom: Optional[Wisdom] = None
        self.drops: list[Callable[[], None]] = []  # called by clear()

    @property
    def wisdom(self) -> Optional[Wisdom]:
        return self._wisdom

    @wisdom.setter
    def wisdom(self, wisdom: Optional[Wisdom]) -> None:
        self._wisdom = wisdom_of(wisdom)
        self.clear()

    @property
    def limit(self) -> int:
        return self.kept.limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self.kept.limit = self.networks.limit = whole(limit, "limit", 0, MAX_INT)

    @property
    def hits(self) -> int:
        return self.kept.hits + self.networks.hits

    @property
    def misses(self) -> int:
        return self.kept.misses + self.networks.misses

    def __len__(self) -> int:
        return len(self.kept) + len(self.networks)

    def __repr__(self) -> str:
        return f"<{len(self)} of at most {self.limit} plans; {self.hits} hits, {self.misses} misses>"

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The plan of a key, made where there is none."""
        name = f"p{key!r}".encode()
        plan = self.kept.get(name)
        if plan is None:
            plan = make()  # two threads may both make it, and one is dropped
            self.kept.put(name, plan)
        return plan

    def clear(self) -> None:
        """Drops all plans, and the memory that waits for intermediates."""
        self.kept.clear()
        self.networks.clear()
        for drop in self.drops:
            drop()


plan_cache = PlanCache(256)
