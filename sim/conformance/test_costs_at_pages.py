"""Cost is exact for operands that begin at a page of memory and for those that cross one: no burst does, each has another."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from chosen import devices

from fleet.isa.checking.asking import ask_cycles
from fleet.isa.registry import find_device
from fleet.streams.case import Setting
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.pages import at_pages
from fleet.verify.conformance.suite import make_case, names

NUMBERS = (0, 5, 10, 14)  # of directed cases
EXACT = {"hbm0923", "vgemm"}
"""Sets whose cost on ideal memory is that of the hardware, cycle for cycle; of others nothing is said here."""


@pytest.mark.parametrize("device", [d for d in devices() if find_device(d)[0].name in EXACT])
def test_cost_at_and_across_pages(device: str, runners: Callable[[str], StreamRunner]) -> None:
    runner, more, wrong = runners(device), 0, list[str]()
    for name in (n for n in names(device) if n.endswith(tuple(f"/directed/{i}" for i in NUMBERS))):
        for pair in at_pages(make_case(name)):
            taken = list[int]()
            for case in pair:
                call = case.calls[-1]
                commits, _ = runner.hardware(case, Setting())
                taken.append(sum(commits[-1].cycles.values()))
                cost = ask_cycles(runner.set.instructions[call.instruction], "expected_cycles", runner.device, call.fields, "ideal")
                wrong += [f"{case.name}: {taken[-1]} cycles, estimated {cost}"] if cost != taken[-1] else []
            more += taken[1] > taken[0]
    assert not wrong, "\n".join(wrong)
    assert more, "no operand was split by a page"
