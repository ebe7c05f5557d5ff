"""Runs a check of a mutant as a command in its own process and reads the result."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from fleet.core.processes import run

FOUND = "found by "
_NOTHING = {0, 5}  # 5: pytest collected no test
_LIMIT_S = 120.0
"""Timeout of a command: this, or five times the longest run that found nothing."""


def pytest_command(files: Sequence[Path], *more: str) -> list[str]:
    """Return the pytest command for the files. It stops at the first failure.

    Assertions are not rewritten, because that would replace the loading of modules. Raises ValueError without files: pytest would
    run all tests.
    """
    if not files:
        raise ValueError("no test files are named")
    return [sys.executable, "-m", "pytest", "-q", "-x", "--assert=plain", "-p", "no:cacheprovider", *more, *map(str, files)]


class Outside:
    """Remembers how long commands take that find nothing, to tell a hang from a slow machine."""

    def __init__(self, folder: Path) -> None:
        """folder: working directory of the commands."""
        self._folder, self._slowest = folder, 0.0

    def run(self, name: str, command: Sequence[str], variables: Mapping[str, str], limit: float | None = None) -> tuple[str, str]:
        """Return (test, message), or ("", "") if nothing was found. name: of the test if the output does not name it."""
        began = time.monotonic()
        limit = limit or max(_LIMIT_S, 5 * self._slowest)
        try:
            done = run(command, cwd=self._folder, env=variables, timeout=limit)
        except subprocess.TimeoutExpired:
            return name, f"does not end within {limit:.0f} s"
        if done.returncode in _NOTHING:
            self._slowest = max(self._slowest, time.monotonic() - began)
            return "", ""
        return _said(name, done.stdout, done.stderr, done.returncode)


def _said(name: str, out: str, error: str, code: int) -> tuple[str, str]:
    lines = [line for line in out.splitlines() if line.strip()]
    said = next((line for line in reversed(lines) if line.startswith(FOUND)), None)
    if said is not None:
        test, _, how = said[len(FOUND) :].partition("\t")
        return test, how
    failed = next((line for line in lines if line.startswith(("FAILED ", "ERROR "))), None)
    if failed is not None:
        test, _, how = failed.partition(" ")[2].partition(" - ")
        return test, how
    last = [line for line in error.splitlines() if line.strip()][-1:] or lines[-1:] or [f"exit code {code}"]
    return name, last[0].strip()
