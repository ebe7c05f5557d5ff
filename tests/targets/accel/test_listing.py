"""The stream as text: every instruction has its place in the stream before it."""

from __future__ import annotations

import re

import pytest
from graphs import digits

from fleet.isa.registry import find_device
from fleet.targets.accel.compile import compile_accel
from fleet.targets.accel.listing import aux_listing, regs_listing

SET, SMALL = find_device("hbm_small")


@pytest.mark.parametrize("issue", ["regs", "aux"])
def test_instructions_are_numbered_in_the_order_of_the_stream(issue: str) -> None:
    compiled = compile_accel(digits(), SET, SMALL, {"issue": issue})
    text = aux_listing(compiled) if issue == "aux" else regs_listing(compiled)
    numbered = re.findall(r"^(\d+): (\w+)", text, re.MULTILINE)
    assert numbered == [(str(i), c.instruction) for i, c in enumerate(compiled.calls)]
    assert len(numbered) == 3
