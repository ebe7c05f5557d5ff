"""Two failures are the same by comparison, kind, instruction and class of difference; numbers do not count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fleet.compare.signature import FailureSignature, of_failure
from fleet.streams.case import Setting, StreamCase, StreamCommit, StreamOutcome
from fleet.streams.model_side import UNKNOWN_CAUSE
from fleet.streams.stream_signature import of_commits, of_outcome

RIGHT = StreamCommit("mul", 0, 17, 64, None)


@pytest.mark.parametrize(
    ("expected", "found", "kind", "difference"),
    [
        (RIGHT, replace(RIGHT, digest=18), "commit", "values"),
        (RIGHT, replace(RIGHT, digest=99), "commit", "values"),
        (RIGHT, replace(RIGHT, digest=18, bytes_written=32), "commit", "fewer bytes"),
        (RIGHT, replace(RIGHT, digest=18, bytes_written=65), "commit", "more bytes"),
        (RIGHT, replace(RIGHT, result=3), "commit", "result register"),
        (RIGHT, replace(RIGHT, cause=2, digest=0, bytes_written=0), "cause", "refused instead of executed"),
        (replace(RIGHT, cause=2), RIGHT, "cause", "executed instead of refused"),
        (replace(RIGHT, cause=UNKNOWN_CAUSE), RIGHT, "cause", "executed instead of refused"),
        (replace(RIGHT, cause=2), replace(RIGHT, cause=4), "cause", "another cause"),
    ],
)
def test_the_first_commit_that_differs_says_how(expected: StreamCommit, found: StreamCommit, kind: str, difference: str) -> None:
    later = replace(RIGHT, instruction="add")
    first = of_commits("rtl-vs-iss", [RIGHT, expected, later], [RIGHT, found, replace(later, digest=0)])
    assert first == (1, FailureSignature("rtl-vs-iss", kind, "mul", difference))


def test_commits_that_agree_have_no_signature() -> None:
    assert of_commits("rtl-vs-iss", [RIGHT], [RIGHT]) is None
    unknown = replace(RIGHT, cause=UNKNOWN_CAUSE, digest=0, bytes_written=0)
    assert of_commits("rtl-vs-iss", [unknown], [replace(unknown, cause=3)]) is None, "any cause of the hardware agrees"


@pytest.mark.parametrize(
    ("message", "seq", "signature"),
    [
        (
            "rtl, instruction 3 (mul for h1): the simulation ended in hang: nothing moves since 812; the log is in /a/b-7.log",
            3, FailureSignature("c", "hang", "mul"),
        ),
        ("rtl, instruction 0 (add): the hardware committed 0 of 2 instructions", 0, FailureSignature("c", "hang", "add")),
        (
            "rtl, instruction 12 (add): the simulation ended in error: burst crosses 4 KiB at 0x1fc0, cycle 93; the log is in /x-1",
            12, FailureSignature("c", "rule", "add", "the simulation ended in error: burst crosses # KiB at #, cycle #"),
        ),
        ("x: no such thing 5", None, FailureSignature("c", "rule", "", "x: no such thing #")),
    ],
)  # fmt: skip
def test_a_run_that_ended_is_known_by_its_words_without_numbers(message: str, seq: int | None, signature: FailureSignature) -> None:
    assert of_failure("c", message) == (seq, signature)
    other = message.replace("812", "9").replace("0x1fc0", "0x2fc0").replace("93", "4").replace("b-7", "b-8")
    assert of_failure("c", other) == (seq, signature), "the same failure elsewhere"


def test_an_outcome_that_passed_has_none_and_one_without_commits_goes_by_its_reason() -> None:
    case = StreamCase("n", "d", ())
    outcome = StreamOutcome(case, Setting(), [RIGHT], [RIGHT], True, ())
    assert of_outcome(outcome) is None
    hang = replace(outcome, passed=False, found=(), reasons=("rtl, instruction 0 (mul): the simulation ended in hang: x",))
    assert of_outcome(hang) == FailureSignature("rtl-vs-iss", "hang", "mul")
    stated = replace(outcome, passed=False, reasons=("instruction 0 (mul): the functional model gives cause 0, the case states 3",))
    assert of_outcome(stated) == FailureSignature("rtl-vs-iss", "stated", "mul")
    stray = replace(outcome, passed=False, reasons=("memory differs at the end in 1 bytes or more; first at ddr 0x0",))
    assert of_outcome(stray) == FailureSignature("rtl-vs-iss", "memory", "", "outside the destination")
