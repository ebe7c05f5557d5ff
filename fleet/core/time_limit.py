"""A time limit for a block of code, by a timer of the process."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from fleet.errors import ExitCode, FleetError


class TimeLimitError(FleetError):
    """A block exceeded its time limit, so that nothing was compared."""

    exit_code = ExitCode.INCOMPLETE


@contextmanager
def time_limit(seconds: float | None, where: str) -> Generator[None]:
    """Raises TimeLimitError in the block after `seconds`; None: no limit. Has no effect outside the main thread.

    where: the place that the message names. Child processes of the block end as with any other exception.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_number: int, _frame: FrameType | None) -> None:
        raise TimeLimitError(f"ended after {seconds:g} s, its timeout", where=where, hint="find what hangs, or give it more time")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
