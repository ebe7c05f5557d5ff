"""Progress with elapsed time on the terminal, for work of more than two seconds."""

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


class ProgressLine:
    """A progress line, usable as an engine's `Progress` callback: `line(fraction, words)`.

    On a terminal, a bar with the elapsed seconds appears after two seconds and disappears at the end. Elsewhere (a log file) a
    plain line is printed every 15 s. It writes to standard error only, because standard output belongs to results.
    """

    def __init__(self, title: str, *, enabled: bool = True) -> None:
        """title: of the work ("rtl"); enabled: False prints nothing."""
        self.title, self.enabled = title, enabled
        self._start = self._last = time.monotonic()
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def __call__(self, fraction: float, words: str) -> None:
        """Update the line. fraction: finished part, 0 to 1; words: the present step."""
        now = time.monotonic()
        elapsed = now - self._start
        if not self.enabled or elapsed < QUIET_S:
            return
        fraction = min(max(fraction, 0.0), 1.0)
        if sys.stderr.isatty():
            self._draw(fraction, words, elapsed)
        elif now - self._last >= PLAIN_EVERY_S:
            self._last = now
            print(
                f"{self.title}: {100 * fraction:.0f} %, {words}, {elapsed:.0f} s so far",
                file=sys.stderr,
                flush=True,
            )

    def _draw(self, fraction: float, words: str, elapsed: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            self._bar = Progress(
                TextColumn("{task.fields[title]}"), BarColumn(bar_width=30), TextColumn("{task.percentage:3.0f} %"),
                TextColumn("{task.fields[so_far]}"), TextColumn("{task.description}"),
                console=Console(stderr=True), transient=True,
            )  # fmt: skip
            self._bar.start()
            self._task = self._bar.add_task(words, total=1.0, title=self.title, so_far="")
        assert self._task is not None
        self._bar.update(self._task, completed=fraction, description=words, so_far=f"{elapsed:.0f} s")

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()
