"""Signatures of failing streams: of two lists of commits, and of an outcome."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fleet.compare.signature import FailureSignature, Kind, of_failure
from fleet.streams.case import StreamCommit, StreamOutcome
from fleet.streams.locate import disagreement
from fleet.streams.model_side import UNKNOWN_CAUSE


def of_commits(
    comparison: str, expected: Sequence[StreamCommit], found: Sequence[StreamCommit]
) -> tuple[int, FailureSignature] | None:
    """Return the number and the signature of the first commit that differs, or None."""
    for i, (a, b) in enumerate(zip(expected, found, strict=False)):
        if disagreement(a, b):
            return i, FailureSignature(comparison, *_commit(a, b))
    return None


def _commit(a: StreamCommit, b: StreamCommit) -> tuple[Kind, str, str]:
    if a.cause != b.cause and not (a.cause == UNKNOWN_CAUSE and b.cause):
        if a.cause and b.cause:
            return "cause", a.instruction, "another cause"
        return "cause", a.instruction, "executed instead of refused" if a.cause else "refused instead of executed"
    if a.bytes_written != b.bytes_written:
        return "commit", a.instruction, "fewer bytes" if b.bytes_written < a.bytes_written else "more bytes"
    return "commit", a.instruction, "values" if a.digest != b.digest else "result register"


def of_outcome(outcome: StreamOutcome, comparison: str = "rtl-vs-iss") -> FailureSignature | None:
    """Return the signature of a stored or fresh outcome; None if it passed."""
    if outcome.passed:
        return None
    if not outcome.found:
        return of_failure(comparison, outcome.reasons[0])[1]
    first = of_commits(comparison, outcome.expected, outcome.found)
    if first is not None:
        return first[1]
    if outcome.reasons and "the case states" in outcome.reasons[0]:
        return FailureSignature(comparison, "stated", _named(outcome.reasons[0]))
    name = outcome.divergence.instruction if outcome.divergence is not None else None
    return FailureSignature(comparison, "memory", name or "", "outside the destination")


def _named(text: str) -> str:
    found = re.search(r"instruction \d+ \((\w+)\)", text)
    return found[1] if found else ""
