"""A bar on the terminal: tqdm's where it can be imported, else one of our own; nothing where stderr is no terminal."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any


class Progress:
    """One bar for everything that is to be done, counted in cases."""

    def __init__(self, total: int, quiet: bool = False) -> None:
        self.total, self.done, self.began, self.text = total, 0, time.monotonic(), ""
        self.bar: Any = None
        self.shown = not quiet and sys.stderr.isatty()
        self.lines = not quiet and not self.shown
        if self.shown:
            try:
                from tqdm import tqdm

                self.bar = tqdm(total=total, unit="case", dynamic_ncols=True, leave=False)
            except ImportError:
                pass

    def stage(self, text: str, expected: int = 0) -> None:
        """What is being done; said once in a line where there is no terminal, so that a log tells how far it is."""
        self.text = text
        if self.bar is not None:
            self.bar.set_description(text)
        elif self.shown:
            self._draw()
        elif self.lines:
            print(f"{self.done:5} of {self.total}: {text} ({expected} cases)", file=sys.stderr, flush=True)

    def advance(self) -> None:
        self.done += 1
        if self.bar is not None:
            self.bar.update(1)
        elif self.shown:
            self._draw()

    def _draw(self) -> None:
        spent = time.monotonic() - self.began
        left = f", {spent / self.done * (self.total - self.done):.0f} s left" if self.done else ""
        width = 30
        full = width * self.done // max(self.total, 1)
        line = f"{self.text:28} [{'#' * full}{'.' * (width - full)}] {self.done}/{self.total}{left}"
        print("\r" + line[: shutil.get_terminal_size().columns - 1] + "\x1b[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        elif self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
