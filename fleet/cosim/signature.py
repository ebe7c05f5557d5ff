"""What makes two failures the same: the comparison, the kind of failure, the instruction and the class of difference; no numbers.

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

from fleet.cosim.diverged import Divergence
from fleet.cosim.result import CosimResult
from fleet.cosim.streams.case import StreamCommit, StreamOutcome
from fleet.cosim.streams.locate import disagreement
from fleet.cosim.streams.model_side import UNKNOWN_CAUSE

__all__ = ["Kind", "Signature", "of_commits", "of_failure", "of_outcome", "of_result", "other_than_expected"]

Kind = Literal["commit", "cause", "stated", "memory", "hang", "rule", "operation"]

_PLACE = re.compile(r"^(?:after )?\w+, instruction (?P<seq>\d+) \((?P<name>\w+)[^)]*\): ")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-fA-F]{8,}\b|\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_WHAT = re.compile(r"digest expected|bytes written expected (?P<expected>\d+), found (?P<found>\d+)|result register expected")


@dataclass(frozen=True)
class Signature:
    """How something fails.

    comparison: "rtl-vs-iss"; instruction: of the first divergent commit, of an operation its kind ("matmul"), empty where none is
    named; difference: see the module's table.
    """

    comparison: str
    kind: Kind
    instruction: str
    difference: str = ""

    def __str__(self) -> str:
        place = f" at {self.instruction}" if self.instruction else ""
        return f"{self.comparison}: {self.kind}{place}" + (f", {self.difference}" if self.difference else "")


def of_commits(comparison: str, expected: Sequence[StreamCommit], found: Sequence[StreamCommit]) -> tuple[int, Signature] | None:
    """The first commit that differs, and how; None where all agree."""
    for i, (a, b) in enumerate(zip(expected, found, strict=False)):
        if disagreement(a, b):
            return i, Signature(comparison, *_commit(a, b))
    return None


def _commit(a: StreamCommit, b: StreamCommit) -> tuple[Kind, str, str]:
    if a.cause != b.cause and not (a.cause == UNKNOWN_CAUSE and b.cause):
        if a.cause and b.cause:
            return "cause", a.instruction, "another cause"
        return "cause", a.instruction, "executed instead of refused" if a.cause else "refused instead of executed"
    if a.bytes_written != b.bytes_written:
        return "commit", a.instruction, "fewer bytes" if b.bytes_written < a.bytes_written else "more bytes"
    return "commit", a.instruction, "values" if a.digest != b.digest else "result register"


def of_failure(comparison: str, message: str) -> tuple[int | None, Signature]:
    """Of a run that ended in an error, from its one line: the instruction's number where it names one, and the signature."""
    place = _PLACE.match(message)
    seq, name = (int(place["seq"]), place["name"]) if place else (None, "")
    text = (message[place.end() :] if place else message).split("; the log is in ")[0].splitlines()[0]
    if "ended in hang" in text or re.search(r"committed \d+ of \d+", text):
        return seq, Signature(comparison, "hang", name)
    return seq, Signature(comparison, "rule", name, _without_numbers(text))


def of_outcome(outcome: StreamOutcome, comparison: str = "rtl-vs-iss") -> Signature | None:
    """The signature of a stored or fresh outcome; None where it passed."""
    if outcome.passed:
        return None
    if not outcome.found:
        return of_failure(comparison, outcome.reasons[0])[1]
    first = of_commits(comparison, outcome.expected, outcome.found)
    if first is not None:
        return first[1]
    if outcome.reasons and "the case states" in outcome.reasons[0]:
        return Signature(comparison, "stated", _named(outcome.reasons[0]))
    name = outcome.divergence.instruction if outcome.divergence is not None else None
    return Signature(comparison, "memory", name or "", "outside the destination")


def of_result(result: CosimResult) -> Signature | None:
    """Of a co-simulation of a model: its first divergence, else its first reason; None where it passed."""
    if result.verdict == "pass":
        return None
    d = result.divergence
    if d is not None and d.instruction is not None:
        return Signature(d.comparison, *_described(d))
    if d is not None:
        failed = next((c for c in result.comparisons if c.name == d.comparison), None)
        reasons = failed.reasons if failed is not None else ()
        return Signature(d.comparison, "operation", _kind(d.ops[-1]) if d.ops else "", _of_reasons(reasons or (d.what,)))
    engine = next((e for e in result.engines if e.status == "failed" and e.error), None)
    if engine is not None and engine.error is not None:
        return of_failure(engine.name, engine.error)[1]
    return Signature("verdict", "operation", "", _of_reasons(result.reasons or ("failed",)))


def other_than_expected(expect: str, wanted: Signature | None, found: Signature | None, reasons: Sequence[str]) -> str:
    """What a stored failure that ran again has against what it expects ("passes" or "diverges" by `wanted`), in one line.

    found, reasons: of the run; None where it passed. Returns: empty where it is as expected.
    """
    if expect == "passes":
        return "" if found is None else f"expected to pass: {reasons[0] if reasons else found}"
    if found is None:
        return f"expected to fail ({wanted}): it passes"
    return "" if found == wanted else f"expected to fail by {wanted}, it fails by {found}"


def _described(d: Divergence) -> tuple[Kind, str, str]:
    """From the words of a divergence of commits."""
    name = d.instruction or ""
    found = _WHAT.search(d.what)
    if found is None:
        return "cause" if "cause" in d.what else "memory", name, ""
    if found["expected"]:
        return "commit", name, "fewer bytes" if int(found["found"]) < int(found["expected"]) else "more bytes"
    return "commit", name, "values" if found[0].startswith("digest") else "result register"


def _kind(op: str) -> str:
    """ "matmul" of "matmul.3"; a name that the user gave says nothing of the kind, and stays."""
    return op.rpartition(".")[0] if op.rpartition(".")[2].isdecimal() else op


def _of_reasons(reasons: Sequence[str]) -> str:
    text = reasons[0].split(": ", 1)
    return _without_numbers(text[-1])


def _named(text: str) -> str:
    found = re.search(r"instruction \d+ \((\w+)\)", text)
    return found[1] if found else ""


def _without_numbers(text: str) -> str:
    return " ".join(_NUMBER.sub("#", text).split())
