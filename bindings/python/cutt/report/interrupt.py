"""Ctrl-C between cases, not within them: what a library does with KeyboardInterrupt in the middle of a call is its own
affair, and some lose it. The second Ctrl-C ends everything as ever."""

from __future__ import annotations

import signal
import sys
import threading
from typing import Any


class Interrupt:
    """While it is entered, the first SIGINT is noted, and `check` raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.pressed, self.before = False, None

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGINT, self.note)
        return self

    def __exit__(self, *_: Any) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
            self.before = None

    def note(self, *_: Any) -> None:
        self.pressed = True
        print("\ninterrupted: ending after this case (again: at once)", file=sys.stderr, flush=True)
        self.__exit__()

    def check(self) -> None:
        if self.pressed:
            raise KeyboardInterrupt
