"""Every cycle lies in the class in which it belongs, on cases of every instruction (`fleet.verify.conformance.cycle_classes`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from chosen import devices

from fleet.isa.registry import find_device
from fleet.sdk import Source
from fleet.streams.case import StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.cycle_classes import held_on_memories
from fleet.verify.conformance.suite import make_case, names

CASES = 8  # of an instruction


def _cases(device: str) -> Iterator[StreamCase]:
    by_instruction: dict[str, list[str]] = {}
    for name in names(device):
        by_instruction.setdefault(name.split("/")[1], []).append(name)
    for group in by_instruction.values():
        chosen = min(CASES, len(group))
        for i in range(chosen):
            yield make_case(group[i * len(group) // chosen])


@pytest.mark.parametrize("device", devices())
def test_a_cycle_lies_in_its_class(device: str, runners: Callable[[str], StreamRunner]) -> None:
    runner = runners(device)
    wrong: list[str] = []
    commits = 0
    for case in _cases(device):
        held = held_on_memories(runner, case)
        commits += held.commits
        wrong += held.wrong
    assert commits > len(runner.set.instructions)
    assert not wrong, "\n".join(wrong[:100])


@pytest.mark.parametrize("device", devices())
def test_every_source_says_which_classes_its_instruction_has(device: str) -> None:
    """A set that ships leaves none of its instructions open."""
    unsaid = [name for name, source in find_device(device)[0].conformance.items() if type(source).cycles is Source.cycles]
    assert not unsaid
