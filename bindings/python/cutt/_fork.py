"""What a fork leaves behind: a child that has none of its parent's threads.

GCC's OpenMP does not notice and waits for them forever. So once the parent has had plans, a child works on one thread,
and refuses plans of the parent's that are for several. (multiprocessing's "spawn" and "forkserver" have no such limit.)
"""

from __future__ import annotations

import os

from ._cache import plan_cache


class _Process:
    """Of this process: how many forks away it is from the one that loaded the package, whether plans have been made in
    it, and whether it is kept to one thread."""

    generation = 0
    has_planned = False
    one_thread = False


def _after_fork() -> None:
    _Process.generation += 1
    _Process.one_thread = _Process.one_thread or _Process.has_planned
    plan_cache.after_fork()


os.register_at_fork(after_in_child=_after_fork)


def generation() -> int:
    return _Process.generation


def planned() -> None:
    _Process.has_planned = True


def threads(wanted: int) -> int:
    """As many as a plan may have that is made now; 0 leaves it to OpenMP."""
    return 1 if _Process.one_thread else wanted


def check(made: int, of_threads: int) -> None:
    """Of a plan that was made in generation `made`."""
    if made != _Process.generation and of_threads > 1:
        raise RuntimeError(
            f"the plan is for {of_threads} threads and was made before this process was forked, which has none of "
            "them: make it here, or with threads=1"
        )
