"""A test run from other initial values: what neither a reset nor a write has set must not reach anything that is compared.

A simulator of two states gives every such bit some value. Runs whose values differ and whose records are the same show that none of
them is seen in this test; the first record that differs names one that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fleet.adopt.bench.records import first_difference, seen_in
from fleet.adopt.bench.replay import BenchRunner
from fleet.core.scratch import Scratch


def random_values(seed: int) -> tuple[str, str]:
    """Arguments of a simulation: every bit without a value gets a random one."""
    return "+verilator+rand+reset+2", f"+verilator+seed+{seed}"


@dataclass(frozen=True)
class InitialValues:
    """Outcome of runs from other initial values. seeds: how many agreed; difference: the first, in words, or ""."""

    seeds: int
    difference: str


def from_other_values(runner: BenchRunner, test: Path, seeds: int) -> InitialValues:
    """Run a test from `seeds` sets of initial values and compare their records with each other, up to the first that differs."""
    with Scratch("seeds") as folder:
        expected = seen_in(runner.run(test, folder / "run", ("+observe", *random_values(1)), wave=False).folder)
        for seed in range(2, seeds + 1):
            got = seen_in(runner.run(test, folder / "run", ("+observe", *random_values(seed)), wave=False).folder)
            if (found := first_difference(expected, got)) is not None:
                said = f"{found[1]}, with those of seed 1 {found[0]}: a value that nobody gave is seen"
                return InitialValues(seed - 1, f"initial values of seed {seed}: {said}")
    return InitialValues(seeds, "")
