"""Errors that reading a source finds, and the limits that keep it finite."""

from __future__ import annotations

import ast
from typing import NoReturn

from fleet.errors import SourceError
from fleet.frontend.reading.errors import SourceText
from fleet.frontend.reading.module import SourceModule

MAX_ERRORS = 20
MAX_STEPS = 600_000
"""Expressions and statements that are followed; an endless loop ends here, after some seconds."""
MAX_ITEMS = 1_000_000
"""Elements of a list, tuple, dict or string made by the source."""


class Poisoned(Exception):
    """Raised while evaluating what depends on a value whose error is already recorded."""


class TooManyErrors(Exception):
    """Raised to end the reading after too many errors or steps."""


class Findings:
    """Errors of one reading, in the order in which they are found."""

    def __init__(self, module: SourceModule) -> None:
        self.module = module
        self.source: SourceText = module.source
        self.errors: list[SourceError] = []
        self._seen: set[str] = set()
        self._steps = 0

    def fail(self, code: str, node: ast.AST, what: str, hint: str | None = None) -> NoReturn:
        """Raises the SourceError for a node."""
        self.source.fail(code, node, what, hint)

    def refuse(self, code: str, node: ast.AST, what: str, cause: Exception, hint: str | None = None) -> NoReturn:
        """As `fail`, for what Python or NumPy refuses by an exception of their own, which a `try` of the source may catch."""
        try:
            self.fail(code, node, what, hint)
        except SourceError as error:
            raise error from cause

    def unknown(self, node: ast.AST, what: str = "a size that only the run knows is needed here") -> NoReturn:
        """Raises the SourceError F510 for what a dimension that is not known before the run leaves open."""
        self.fail("F510", node, what, self.advice())

    def advice(self) -> str:
        """What to do about a size that only the run knows."""
        return "compute with the whole array (np.where instead of x[mask]), or leave the dimension out of --dynamic"

    def step(self, node: ast.AST) -> None:
        """Count one expression or statement. SourceError after too many."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            self._steps = 0  # what is left to say must still be sayable
            raise self.stop(
                node, f"following the source takes more than {MAX_STEPS} steps: an endless loop, or too much to unroll",
                "shorten the loop, or compute with arrays instead",
            )  # fmt: skip

    def stop(self, node: ast.AST, what: str, hint: str | None = None) -> TooManyErrors:
        """Record an error after which nothing more is read."""
        try:
            self.fail("F601", node, what, hint)
        except SourceError as error:
            self.errors.append(error)
        return TooManyErrors()

    def record(self, error: SourceError) -> None:
        """Record an error once. TooManyErrors when enough has been said."""
        key = str(error)
        if key in self._seen:
            return
        self._seen.add(key)
        self.errors.append(error)
        if len(self.errors) >= MAX_ERRORS:
            raise TooManyErrors

    def bounded(self, node: ast.AST, count: int, what: str) -> None:
        """Refuse containers and strings that would exhaust memory. SourceError F607."""
        if count > MAX_ITEMS:
            self.fail("F607", node, f"{what} of {count} elements, at most {MAX_ITEMS} are followed", "use an array")
