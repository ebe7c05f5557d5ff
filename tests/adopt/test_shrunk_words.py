"""A failing test made small loses words of a `send`, too. The design is made up here: sums of frames, one of them wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest

pytest.importorskip("pyslang")

from fleet.adopt.bench.replay import BenchRunner, Outcome
from fleet.errors import DeviceError
from fleet.verify.adopted.shrink import ShrunkTest, shrink_test

CLEAR = 1000
Gives = Callable[[Sequence[int]], list[int]]


def sums(words: Sequence[int]) -> list[int]:
    """The sum since the last `CLEAR`, a word for each."""
    total, given = 0, list[int]()
    for word in words:
        total = 0 if word == CLEAR else total + word
        given.append(total)
    return given


def faulty(words: Sequence[int]) -> list[int]:
    """A 7 counts as 8 behind a 5."""
    return sums([w + (w == 7 and words[n - 1] == 5) for n, w in enumerate(words)])


class _Runner:
    """Gives the words of `design` and holds them to the test as a replay does."""

    def __init__(self, design: Gives, *, by_model: bool = False) -> None:
        self._design, self._by_model = design, by_model

    def run(self, test: Path, folder: Path | None = None, *, wave: bool = True) -> Outcome:
        table = tomllib.loads(test.read_text())
        sent = [w for step in table.get("step", []) for w in step.get("data", [])]
        given, differences = self._design(sent), list[str]()
        for step in table.get("step", []):
            if "data" in step and not step["data"]:
                raise DeviceError("a send of nothing")
            if step.get("count", 0) > len(given):
                differences.append(f"{test}:1: receive out did not end within 10000 cycles (cycle 10010)")
        for check in table.get("expect", ()):
            for n, (got, expected) in enumerate(zip(given, check["data"], strict=False)):
                if got != expected:
                    differences.append(f"{test}:9: out word {n}: {got:#x}, expected {expected:#x}")
            if len(given) != len(check["data"]):
                differences.append(f"{test}:9: out gave {len(given)} words, expected {len(check['data'])}")
        if self._by_model:
            wrong = [n for n, (a, b) in enumerate(zip(given, sums(sent), strict=True)) if a != b]
            differences += [f"out word {n}: the design gives {given[n]:#x}, the model {sums(sent)[n]:#x}" for n in wrong[:1]]
        return Outcome(1, 1, tuple(differences), (), 0, 0, (), smoke=False, folder=test.parent, wave=None)


def _shrunk(runner: _Runner, test: Path) -> ShrunkTest:
    return shrink_test(cast("BenchRunner", runner), test, 60)


FRAMES = [CLEAR, 1, 2, 3, CLEAR, 4, 5, 7, CLEAR, 8, 9, 10]


def _test(path: Path, sends: Sequence[Sequence[int]], expected: Sequence[int] | None) -> Path:
    text = "".join(f'[[step]]\nsend = "in"\ndata = {list(words)}\n' for words in sends)
    text += f'[[step]]\nreceive = "out"\ncount = {sum(map(len, sends))}\n'
    path.write_text(text + ("" if expected is None else f'[[expect]]\nreceived = "out"\ndata = {list(expected)}\n'))
    return path


@pytest.mark.parametrize("sends", [[FRAMES], [FRAMES[:5], FRAMES[5:]]], ids=["one send", "two"])
def test_words_that_the_failure_does_not_need_go_with_what_they_gave(tmp_path: Path, sends: list[list[int]]) -> None:
    small = _shrunk(_Runner(faulty), _test(tmp_path / "t.toml", sends, sums(FRAMES)))
    left = tomllib.loads(small.path.read_text())
    words = [w for step in left["step"] for w in step.get("data", [])]
    assert words == [4, 5, 7]  # the sum that is wrong has the 4 in it
    assert left["expect"][0]["data"] == [4, 9, 16]
    assert all(step.get("count", 0) <= 3 for step in left["step"])
    assert (small.words_before, small.words_after) == (12, 3)
    assert small.reason.endswith("out word 2: 0x11, expected 0x10")


def test_a_model_says_what_fewer_words_give(tmp_path: Path) -> None:
    runner = _Runner(faulty, by_model=True)
    small = _shrunk(runner, _test(tmp_path / "t.toml", [FRAMES], None))
    assert [w for step in tomllib.loads(small.path.read_text())["step"] for w in step.get("data", [])] == [5, 7]


def test_another_failure_is_not_taken_for_this_one(tmp_path: Path) -> None:
    """Each word alone gives something else than the test states: only the stated difference counts."""
    runner = _Runner(lambda words: [w + n for n, w in enumerate(words)])
    small = _shrunk(runner, _test(tmp_path / "t.toml", [[5, 5, 5]], [5, 6, 9]))
    left = tomllib.loads(small.path.read_text())
    assert [w for step in left["step"] for w in step.get("data", [])] == [5, 5, 5]
