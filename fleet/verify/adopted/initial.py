"""The same test from other initial values: what no reset and no write gave a value must not reach anything that is seen.

A simulator of two states gives every such bit some value. Runs whose values differ and whose records are the same show that none of
them is seen in this test; the first record that differs names one that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.adopt.bench.replay import BenchRunner, Outcome
from fleet.core.scratch import Scratch

__all__ = ["InitialValues", "from_other_values", "random_values"]

_SEEN = {"R": "a read", "W": "a write", "A": "a response", "C": "a commit", "S": "a word", "V": "a broken rule", "E": "the end"}
"""Records of what is seen from outside, or declared."""


def random_values(seed: int) -> tuple[str, str]:
    """Arguments of a simulation: every bit without a value gets a random one."""
    return "+verilator+rand+reset+2", f"+verilator+seed+{seed}"


@dataclass(frozen=True)
class InitialValues:
    """What runs from other initial values found. seeds: how many agreed; difference: the first, in words, or ""."""

    seeds: int
    difference: str


def from_other_values(runner: BenchRunner, test: Path, seeds: int) -> InitialValues:
    """Run a test from `seeds` sets of initial values and compare their records with each other, up to the first that differs."""
    with Scratch("seeds") as folder:
        expected = _seen(runner.run(test, folder / "run", ("+observe", *random_values(1)), wave=False))
        for seed in range(2, seeds + 1):
            got = _seen(runner.run(test, folder / "run", ("+observe", *random_values(seed)), wave=False))
            if got != expected:
                return InitialValues(seed - 1, f"initial values of seed {seed}: {_first(expected, got)}")
    return InitialValues(seeds, "")


def _seen(outcome: Outcome) -> Sequence[str]:
    lines = (outcome.folder / "results.txt").read_text(errors="replace").splitlines()
    return [line for line in lines if line.partition("|")[0] in _SEEN]


def _first(expected: Sequence[str], got: Sequence[str]) -> str:
    n = next((n for n, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b), min(len(expected), len(got)))
    one, two = (lines[n] if n < len(lines) else "nothing" for lines in (expected, got))
    return f"{_SEEN.get(one[:1], 'the end')} is {two}, with those of seed 1 {one}: a value that nobody gave is seen"
