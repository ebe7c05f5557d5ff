"""Progress on the terminal: a bar with an estimate for whatever takes more than two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

QUIET_S = 2.0
PLAIN_EVERY_S = 15.0
_TELLING, _SLACK = 0.05, 1.1
"""The part behind which an estimate is told, and how much later the end may become before it counts as wrong."""


class Estimate:
    """How long something still takes, out of how far it has come. One that would grow is told no more: it was wrong."""

    def __init__(self) -> None:
        self._end: float | None = None
        self._wrong = False

    def words(self, fraction: float, elapsed: float) -> str:
        """ "about 12 s left", or nothing. fraction: finished part; elapsed: seconds so far."""
        if fraction <= _TELLING or self._wrong:
            return ""
        end = elapsed / fraction
        self._wrong = self._end is not None and (end > _SLACK * self._end or elapsed > self._end)
        self._end = end if self._end is None else min(end, self._end)
        return "" if self._wrong else f"about {self._end - elapsed:.0f} s left"


class ProgressLine:
    """Usable as an engine's `Progress` callback: `line(fraction, words)`.

    On a terminal a bar with the estimated time left appears after two seconds and disappears at the end; elsewhere (a
    log file) one plain line every 15 s. Nothing goes to standard output, which belongs to results.
    """

    def __init__(self, title: str, *, enabled: bool = True) -> None:
        """title: what is being done ("rtl"); enabled: False prints nothing at all."""
        self.title, self.enabled = title, enabled
        self._start = self._last = time.monotonic()
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._left = Estimate()

    def __call__(self, fraction: float, words: str) -> None:
        """fraction: finished part, 0 to 1; words: what is going on."""
        now = time.monotonic()
        elapsed = now - self._start
        if not self.enabled or elapsed < QUIET_S:
            return
        fraction = min(max(fraction, 0.0), 1.0)
        if sys.stderr.isatty():
            self._draw(fraction, words, elapsed)
        elif now - self._last >= PLAIN_EVERY_S:
            self._last = now
            left = self._left.words(fraction, elapsed)
            print(
                f"{self.title}: {100 * fraction:.0f} %, {words}, {elapsed:.0f} s so far{left and ', '}{left}",
                file=sys.stderr,
                flush=True,
            )

    def _draw(self, fraction: float, words: str, elapsed: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            self._bar = Progress(
                TextColumn("{task.fields[title]}"), BarColumn(bar_width=30), TextColumn("{task.percentage:3.0f} %"),
                TextColumn("{task.fields[left]}"), TextColumn("{task.description}"),
                console=Console(stderr=True), transient=True,
            )  # fmt: skip
            self._bar.start()
            self._task = self._bar.add_task(words, total=1.0, title=self.title, left="")
        assert self._task is not None
        left = self._left.words(fraction, elapsed)
        self._bar.update(self._task, completed=fraction, description=words, left=left)

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()
