"""Commits between two nights, from git."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class GitCommit:
    """A commit. revision: its full hash."""

    revision: str
    author: str
    subject: str

    def __str__(self) -> str:
        return f"{self.revision[:10]} {self.subject} ({self.author})"


def commits(before: str, after: str, folder: Path | None = None) -> tuple[GitCommit, ...]:
    """Return the commits of `after` that are not in `before`, oldest first; empty if git does not know one of the revisions.

    folder: in the checkout; default: the working directory.
    """
    if not before or not after or before == after:
        return ()
    command = ["git", "-C", str(folder or Path.cwd()), "log", "--reverse", "--format=%H%x09%an%x09%s", f"{before}..{after}", "--"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return ()
    rows = [line.split("\t", 2) for line in done.stdout.splitlines()]
    return tuple(GitCommit(*row) for row in rows if len(row) == 3)
