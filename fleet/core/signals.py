"""SIGINT, SIGTERM and SIGHUP end a command the same way: what is stored stays whole, nothing temporary and no child is left."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE_S = 5.0
"""A second signal so soon after the first does not interrupt the cleaning up."""


@dataclass(eq=False)  # nested blocks are equal in value until a signal arrives
class EndingSignals:
    """Signals that arrived. first: the one that began the end, or None."""

    first: signal.Signals | None = None
    _at: float = 0.0

    def _came(self, number: int, frame: FrameType | None) -> None:
        if self.first is not None and time.monotonic() - self._at < _PATIENCE_S:
            return
        self.first, self._at = self.first or signal.Signals(number), time.monotonic()
        raise KeyboardInterrupt


_told: list[EndingSignals] = []


def signals_told() -> EndingSignals | None:
    """State of the innermost `ending_signals` that is active; None if no handler of fleet is installed."""
    return _told[-1] if _told else None


@contextmanager
def ending_signals() -> Generator[EndingSignals]:
    """Turns the signals into KeyboardInterrupt while the block runs, and tells which came: a plug-in can raise that too.

    A SIGINT or SIGHUP that is ignored when the block begins stays ignored: whoever started this process with `nohup`, or in the
    background of a script, meant it. SIGTERM always ends it. Elsewhere than in the main thread nothing is changed.
    """
    signals = EndingSignals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    _told.append(signals)
    before = {n: signal.getsignal(n) for n in ENDING}
    mine = [n for n in ENDING if n is signal.SIGTERM or before[n] is not signal.SIG_IGN]
    for number in mine:
        signal.signal(number, signals._came)  # pyright: ignore[reportPrivateUsage]
    try:
        yield signals
    finally:
        _told.remove(signals)
        for number in mine:
            signal.signal(number, before[number] if before[number] is not None else signal.SIG_DFL)


@contextmanager
def uninterrupted() -> Generator[None]:
    """Holds the signals back until the block has ended; for moments only. Only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    before = {n: signal.getsignal(n) for n in ENDING}
    held = [n for n in ENDING if before[n] not in (signal.SIG_IGN, None)]
    for number in held:
        signal.signal(number, lambda n, frame: came.append((n, frame)))
    try:
        yield
    finally:
        for number in held:
            signal.signal(number, before[number])
    for number, frame in came[:1]:
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)
        else:
            os.kill(os.getpid(), number)
