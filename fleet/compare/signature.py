"""Signatures, equal for failures with one cause: comparison, kind of failure, instruction, class of difference; no numbers.

| kind | what failed | class of difference |
|---|---|---|
| commit | a commit differs | "values", "fewer bytes", "more bytes", "result register" |
| cause | refused on one side, or with another cause | "executed instead of refused" and the reverse, "another cause" |
| stated | the functional model's cause is not the one that the stream states | empty |
| memory | all commits agree, memory does not at the end | "outside the destination" |
| hang | the simulation stopped moving | empty |
| rule | the bench or an assertion ended the run | the message without its numbers |
| operation | a model's operation is out of its bound, or missing | the comparison's first reason without numbers and names |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["commit", "cause", "stated", "memory", "hang", "rule", "operation"]

_PLACE = re.compile(r"^(?:after )?\w+, instruction (?P<seq>\d+) \((?P<name>\w+)[^)]*\): ")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-fA-F]{8,}\b|\d+(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass(frozen=True)
class FailureSignature:
    """Signature of a failure.

    comparison: "rtl-vs-iss". difference: see the module's table.
    instruction: of the first divergent commit; for an operation its kind ("matmul"); empty if none is named.
    """

    comparison: str
    kind: Kind
    instruction: str
    difference: str = ""

    def __str__(self) -> str:
        place = f" at {self.instruction}" if self.instruction else ""
        return f"{self.comparison}: {self.kind}{place}" + (f", {self.difference}" if self.difference else "")


def of_failure(comparison: str, message: str) -> tuple[int | None, FailureSignature]:
    """Derive (instruction number or None, signature) of a run that ended in an error, from its message."""
    place = _PLACE.match(message)
    seq, name = (int(place["seq"]), place["name"]) if place else (None, "")
    text = (message[place.end() :] if place else message).split("; the log is in ")[0].splitlines()[0]
    if "ended in hang" in text or re.search(r"committed \d+ of \d+", text):
        return seq, FailureSignature(comparison, "hang", name)
    return seq, FailureSignature(comparison, "rule", name, without_numbers(text))


def other_than_expected(
    expect: str, wanted: FailureSignature | None, found: FailureSignature | None, reasons: Sequence[str]
) -> str:
    """Return in one line how a rerun of a stored failure differs from what it expects; empty if it is as expected.

    expect: "passes" or "diverges". wanted: the signature by which it should diverge. found, reasons: of the run; None if it passed.
    """
    if expect == "passes":
        return "" if found is None else f"expected to pass: {reasons[0] if reasons else found}"
    if found is None:
        return f"expected to fail ({wanted}): it passes"
    return "" if found == wanted else f"expected to fail by {wanted}, it fails by {found}"


def without_numbers(text: str) -> str:
    """Return the text in one line, with # for each number."""
    return " ".join(_NUMBER.sub("#", text).split())
