"""One line for the user beside a command's output."""

from __future__ import annotations

import contextlib
import sys


def notice(line: str) -> None:
    """Print `fleet: <line>` on standard error. For what the user should know and what does not end the command."""
    with contextlib.suppress(OSError, ValueError):  # a closed standard error must not end the command either
        print(f"fleet: {line}", file=sys.stderr, flush=True)
