"""What a mutant is, and what came of looking for it: plain data."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Mutant", "MutantResult", "Over", "Verdict", "identified"]

Over = Literal["rtl", "semantics", "passes"]
"""Where it is: hardware; functional model, legality and cost of an instruction set; lowering, passes and the compiler."""

Verdict = Literal["found", "survived", "equivalent"]

_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes:
        id: stays the same when lines move: of file, unit, operator, texts and, of equal ones, the place among them.
        over, file (as people write it), line, unit (module or function), operator.
        before, after: the changed text; context: the line that it stands in.
        number: what hardware is told to become this mutant, 0 for the others.
    """

    id: str
    over: Over
    file: str
    line: int
    unit: str
    operator: str
    before: str
    after: str
    context: str
    number: int = 0

    @property
    def place(self) -> str:
        """ "file:line"."""
        return f"{self.file}:{self.line}"

    def describe(self) -> str:
        """One line: place, unit and what is changed."""
        return f"{self.place} ({self.unit}) {self.operator}: `{shown(self.before)}` -> `{shown(self.after)}`"


@dataclass(frozen=True)
class MutantResult:
    """found: by which test and how it said so; survived: of how many tests. seconds: of wall time."""

    mutant: Mutant
    verdict: Verdict
    test: str
    how: str
    tests: int
    seconds: float


def shown(text: str, width: int = 90) -> str:
    """Text on one line, cut in the middle where it is long."""
    flat = _BLANKS.sub(" ", text).strip()
    return flat if len(flat) <= width else f"{flat[: width // 2 - 2]} ... {flat[-width // 2 + 3 :]}"


def identified(
    found: Iterable[tuple[Over, str, int, str, str, str, str, str]],
) -> list[Mutant]:
    """Mutants of (over, file, line, unit, operator, before, after, context), numbered from 1, each with its id."""
    seen: dict[str, int] = {}
    made: list[Mutant] = []
    for number, (over, file, line, unit, operator, before, after, context) in enumerate(found, 1):
        key = "\0".join([file, unit, operator, *(_BLANKS.sub(" ", t).strip() for t in (before, after, context))])
        seen[key] = seen.get(key, 0) + 1
        name = hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()[:10]
        made.append(Mutant(name, over, file, line, unit, operator, before, after, context, number))
    return made
