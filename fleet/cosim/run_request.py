"""The request that made a result, as data: it is run again from this, never from a command line that is read back."""

from __future__ import annotations

import shlex
from dataclasses import dataclass


@dataclass(frozen=True)
class RunRequest:
    """A program and its arguments, as the program got them. Relative paths count from the working directory of the run.

    >>> str(RunRequest("fleet", ("case", "run", "my case.toml")))
    "fleet case run 'my case.toml'"
    """

    program: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        """Return one line for a shell."""
        return shlex.join([self.program, *self.arguments])

    def is_command(self, *words: str) -> bool:
        """Return whether this is the command of fleet with these words ("case", "run")."""
        return self.program == "fleet" and self.arguments[: len(words)] == words
