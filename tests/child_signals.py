"""How tests start a command whose signals are tested."""

from __future__ import annotations

import signal
from collections.abc import Callable


def usual_signals() -> None:
    """For `preexec_fn`: as an interactive shell starts a command, also where the tests run in the background of a script."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def preexec() -> Callable[[], None] | None:
    """`usual_signals` where a child would inherit something else."""
    ignored = any(signal.getsignal(n) is signal.SIG_IGN for n in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM))
    return usual_signals if ignored else None
