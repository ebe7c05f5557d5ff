"""Makes a failing test of adopted hardware small: steps, images, checks and words go as long as it fails in the same way."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.adopt.bench.replay import BenchRunner, Outcome
from fleet.core.files import write_atomically
from fleet.core.scratch import Scratch
from fleet.errors import ComparisonFailure, ExitCode, FleetError
from fleet.verify.adopted.sent_words import counting, expected, kind_and_port, sent, without

_BLOCK = re.compile(r"^\[\[", re.M)
_PLACE = re.compile(r"\S+\.toml:\d+")
_BRACKETS = re.compile(r"\([^()]*\)")
_STATED = re.compile(r": (\S+) word (\d+): 0x[0-9a-f]+, expected 0x[0-9a-f]+")
"""A word that came back and is not what the test states: port, number."""
_UNEXPECTED = re.compile(r": (?:0x[0-9a-f]+|never written), expected 0x[0-9a-f]+")
_MISCOUNTED = re.compile(r": \S+ gave \d+ words, expected \d+")
_NUMBER = re.compile(r"\b(0x[0-9a-f]+|\d+)\b")


@dataclass(frozen=True)
class ShrunkTest:
    """A small test.

    path: its file; before, after: its tables; words_before, words_after: words that it sends; runs: that it took; reason: what
    fails, in one line.
    """

    path: Path
    before: int
    after: int
    runs: int
    reason: str
    words_before: int = 0
    words_after: int = 0


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
        stated = not _miscounted(first) and _STATED.search(_reasons(first)[0]) is not None

        def smaller(fewer: Sequence[str], *, exactly: bool = stated) -> bool:
            """Take what is left if it fails in the same way. exactly: with the same value that a test does not expect."""
            nonlocal kept, best
            found = failure(fewer) if time.monotonic() < ends else None
            if found is None or kind_of(found) != kind:
                return False
            if (exactly and _values(found) != _values(first)) or (stated and _miscounted(found)):
                return False
            kept, best = list(fewer), found
            return True

        def fewer_words(fewer: Sequence[str]) -> bool:
            return smaller(fewer, exactly=True)

        size = max(1, len(kept) // 2)
        while time.monotonic() < ends:
            at, progress = len(kept) - size, False
            while at > -size and time.monotonic() < ends:  # what comes last is needed least
                fewer = kept[: max(0, at)] + kept[at + size :]
                progress |= len(fewer) < len(kept) and smaller(fewer)
                at -= size
            if not progress and size == 1:
                break
            size = size if progress else size // 2
        ports = dict.fromkeys(port for kind_, port in map(kind_and_port, kept) if kind_ == "send")
        for port in ports:
            _fewer_words(port, lambda: kept, lambda: best, fewer_words)
        write_atomically(path, (head + "".join(kept)).encode())
    sizes = (sum(sent(bs, port) for port in {p for k, p in map(kind_and_port, blocks) if k == "send"}) for bs in (blocks, kept))
    return ShrunkTest(path, len(blocks), len(kept), runs, _reasons(best)[0], *sizes)


def _fewer_words(
    port: str, kept: Callable[[], list[str]], best: Callable[[], Outcome], smaller: Callable[[Sequence[str]], bool]
) -> None:  # fmt: skip
    """Leave out words that a port is sent, and what a test states of the words that come back for them."""
    stated = None if _miscounted(best()) else _STATED.search(_reasons(best())[0])
    answers = stated[1] if stated is not None else ""
    if stated is not None:  # the words behind it are not needed
        last = int(stated[2]) + 1
        blocks = kept()
        count, states = sent(blocks, port), expected(blocks, answers)
        each = max(1, count // states) if states else 1
        if last < states:
            cut = counting(without(blocks, answers, "received", last, states), answers, states - last)
            smaller(without(cut, port, "send", last * each, count))
    size = max(1, sent(kept(), port) // 2)
    while True:
        at, progress = sent(kept(), port) - size, False
        while at > -size:
            blocks, begin, end = kept(), max(0, at), at + size
            if end - begin < sent(blocks, port):
                less = without(blocks, port, "send", begin, end)
                behind = _paired(blocks, less, port, answers, begin, end) if answers else _waiting(less, end - begin)
                progress |= smaller(less) or (behind != less and smaller(behind))
            at -= size
        if not progress and size == 1:
            return
        size = size if progress else size // 2


def _waiting(blocks: Sequence[str], fewer: int) -> list[str]:
    """Return tables that wait for so many words fewer of each port."""
    left = list(blocks)
    for port in dict.fromkeys(p for k, p in map(kind_and_port, blocks) if k == "receive"):
        left = counting(left, port, fewer)
    return left


def _paired(blocks: Sequence[str], less: Sequence[str], port: str, answers: str, begin: int, end: int) -> list[str]:
    """Return tables without what came back for the words that were left out."""
    each = max(1, sent(blocks, port) // max(1, expected(blocks, answers)))
    first, behind = begin // each, end // each
    return counting(without(less, answers, "received", first, behind), answers, behind - first)


def _reasons(outcome: Outcome) -> list[str]:
    rules = [f"{v.port}: {v.rule}" for v in outcome.violations if v.blame == "design"]
    return [*outcome.differences, *rules]


def _values(outcome: Outcome) -> str:
    """The value that a test does not expect, and the one that it does; "" where a model says so, whose values follow the words."""
    found = _UNEXPECTED.search(_reasons(outcome)[0])
    return found[0] if found is not None else ""


def _miscounted(outcome: Outcome) -> bool:
    return any(_MISCOUNTED.search(line) for line in outcome.differences)


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
