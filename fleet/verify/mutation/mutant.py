"""Mutants and their results as plain data."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Over = Literal["rtl", "semantics", "passes"]
"""Part of the device: hardware; functional model, legality and cost of an instruction set; or lowering, passes and compiler."""

Verdict = Literal["found", "survived", "equivalent"]

_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes:
        id: independent of line numbers: from file, unit, operator, texts, and an index among equal changes.
        over: part of the device.
        file: as people write it.
        line, unit, operator: unit is the module or function.
        before, after: the changed text.
        context: its source line.
        number: selects this mutant in the hardware; 0 for mutants of software.
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
        """Return one line: place, unit and change."""
        return f"{self.place} ({self.unit}) {self.operator}: `{shown(self.before)}` -> `{shown(self.after)}`"


@dataclass(frozen=True)
class MutantResult:
    """found: the test, and its message; survived: the number of tests. seconds: wall time."""

    mutant: Mutant
    verdict: Verdict
    test: str
    how: str
    tests: int
    seconds: float


def shown(text: str, width: int = 90) -> str:
    """Put the text on one line; a long text is cut in the middle."""
    flat = _BLANKS.sub(" ", text).strip()
    return flat if len(flat) <= width else f"{flat[: width // 2 - 2]} ... {flat[-width // 2 + 3 :]}"


def identified(
    found: Iterable[tuple[Over, str, int, str, str, str, str, str]],
) -> list[Mutant]:
    """Make mutants of (over, file, line, unit, operator, before, after, context): numbered from 1, each with its id."""
    seen: dict[str, int] = {}
    made: list[Mutant] = []
    for number, (over, file, line, unit, operator, before, after, context) in enumerate(found, 1):
        key = "\0".join([file, unit, operator, *(_BLANKS.sub(" ", t).strip() for t in (before, after, context))])
        seen[key] = seen.get(key, 0) + 1
        name = hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()[:10]
        made.append(Mutant(name, over, file, line, unit, operator, before, after, context, number))
    return made


_ESCAPED = re.compile(rb"\\\S+\Z")


def ended(text: bytes) -> bytes:
    """Return an expression's text in Verilog such that anything may follow: blank space ends an escaped identifier (`\\tap$0 `)."""
    return text + b" " if _ESCAPED.search(text) else text
