"""The plans that transpose, einsum and tensordot keep: the last ones used, by what was asked for.

A plan is a few kilobytes and takes some microseconds (a contraction: up to a millisecond) to make, so loops over arrays
of one shape gain by keeping it. One that has left the cache lives on until the calls that use it are done.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Callable, Hashable

from ._arguments import MAX_INT, whole
from ._library import hold_over_fork


class PlanCache:
    """The plans that are kept. Safe to use from several threads.

    Attributes
    ----------
    limit : int
        Most plans to keep; 0 keeps none.
    hits, misses : int
        How often a plan was there, and how often it had to be made.
    """

    def __init__(self, limit: int):
        self._lock, self._plans = threading.RLock(), OrderedDict()  # type: ignore[var-annotated]
        self._limit, self.hits, self.misses = limit, 0, 0

    @property
    def limit(self) -> int:
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self._limit = whole(limit, "limit", 0, MAX_INT)
        dropped = self._trim()
        del dropped

    def _trim(self) -> list:
        """Takes out what is too much; to be destroyed by the caller, without the lock."""
        with self._lock:
            return [self._plans.popitem(last=False) for _ in range(len(self._plans) - self._limit)]

    def __len__(self) -> int:
        return len(self._plans)

    def __repr__(self) -> str:
        return f"<{len(self)} of at most {self._limit} plans; {self.hits} hits, {self.misses} misses>"

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The plan of a key, made where there is none."""
        with self._lock:
            plan = self._plans.get(key)
            if plan is not None:
                self._plans.move_to_end(key)
                self.hits += 1
                return plan
            self.misses += 1
        plan = make()  # without the lock: two threads may both make it, and one is dropped
        with self._lock:
            self._plans[key] = plan
        dropped = self._trim()
        del dropped
        return plan

    def clear(self) -> None:
        """Drops all plans."""
        with self._lock:
            plans, self._plans = self._plans, OrderedDict()
        del plans


plan_cache = PlanCache(256)
hold_over_fork(plan_cache._lock)
