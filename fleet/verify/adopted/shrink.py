"""Makes a failing test of adopted hardware small: steps, images and checks go as long as it fails in the same way."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.adopt.bench.replay import BenchRunner, Outcome
from fleet.core.files import write_atomically
from fleet.core.scratch import Scratch
from fleet.errors import ComparisonFailure, ExitCode, FleetError

_BLOCK = re.compile(r"^\[\[", re.M)
_PLACE = re.compile(r"\S+\.toml:\d+")
_BRACKETS = re.compile(r"\([^()]*\)")
_NUMBER = re.compile(r"\b(0x[0-9a-f]+|\d+)\b")


@dataclass(frozen=True)
class ShrunkTest:
    """A small test. path: its file; before, after: its tables; runs: that it took; reason: what fails, in one line."""

    path: Path
    before: int
    after: int
    runs: int
    reason: str


def shrink_test(runner: BenchRunner, test: Path, seconds: float) -> ShrunkTest:
    """Leave out all that the failure does not need; writes TEST.small.toml beside the test.

    seconds: after which the best so far is kept. Raises ComparisonFailure if the test does not fail.
    """
    text = test.read_text(encoding="utf-8")
    starts = [m.start() for m in _BLOCK.finditer(text)]
    head = text[: starts[0]] if starts else text
    blocks = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    path = test.with_name(f"{test.stem}.small.toml")
    ends = time.monotonic() + seconds
    runs = 0
    with Scratch("shrink") as folder:

        def failure(kept: Sequence[str]) -> Outcome | None:
            nonlocal runs
            runs += 1
            write_atomically(path, (head + "".join(kept)).encode())
            try:
                outcome = runner.run(path, folder / "run", wave=False)
            except FleetError:  # what is left is no test, or the model has no answer to it
                return None
            return outcome if outcome.exit_code is ExitCode.DIFFERS else None

        first = failure(blocks)
        if first is None:
            path.unlink()
            raise ComparisonFailure("it does not fail", where=str(test))
        kind, best = kind_of(first), first
        kept = list(blocks)
        size = max(1, len(kept) // 2)
        while time.monotonic() < ends:
            at, smaller = len(kept) - size, False
            while at > -size and time.monotonic() < ends:  # what comes last is needed least
                fewer = kept[: max(0, at)] + kept[at + size :]
                found = failure(fewer) if len(fewer) < len(kept) else None
                if found is not None and kind_of(found) == kind:
                    kept, best, smaller = fewer, found, True
                at -= size
            if not smaller and size == 1:
                break
            size = size if smaller else size // 2
        write_atomically(path, (head + "".join(kept)).encode())
    return ShrunkTest(path, len(blocks), len(kept), runs, _reasons(best)[0])


def _reasons(outcome: Outcome) -> list[str]:
    rules = [f"{v.port}: {v.rule}" for v in outcome.violations if v.blame == "design"]
    return [*outcome.differences, *rules]


def kind_of(outcome: Outcome) -> tuple[str, ...]:
    """Return the signature of a failure: rules and differences without their numbers and places."""
    rules = sorted({f"{v.port}: {v.rule}" for v in outcome.violations if v.blame == "design"})
    if rules:
        return tuple(rules)
    line = _PLACE.sub("", outcome.differences[0])
    while (shorter := _BRACKETS.sub("", line)) != line:
        line = shorter
    words = [part.split(";")[0].split(",")[0].strip() for part in _NUMBER.sub("#", line).split(": ")[:2]]
    return tuple(w.split(" the ")[0] for w in words)
