"""The stream as text: every instruction has its place in the stream before it."""

from __future__ import annotations

import re

import pytest
from graphs import digits

from fleet.ir.lowering_options import LoweringOptions
from fleet.isa.registry import find_device
from fleet.targets.accel.compile import compile_accel
from fleet.targets.accel.listing import aux_listing, memory_map, regs_listing

SET, SMALL = find_device("hbm_small")


@pytest.mark.parametrize("issue", ["regs", "aux"])
def test_instructions_are_numbered_in_the_order_of_the_stream(issue: str) -> None:
    compiled = compile_accel(digits(), SET, SMALL, LoweringOptions(issue=issue))
    text = aux_listing(compiled.stream) if issue == "aux" else regs_listing(compiled.stream)
    numbered = re.findall(r"^(\d+): (\w+)", text, re.MULTILINE)
    assert numbered == [(str(i), c.instruction) for i, c in enumerate(compiled.calls)]
    assert len(numbered) == 3


def test_the_memory_map_names_every_place_and_its_time() -> None:
    compiled = compile_accel(digits(), SET, SMALL)
    lines = memory_map(compiled.stream).splitlines()
    apart = sum(life.size for life in compiled.plan.lives.values())
    shared, live = compiled.plan.shared, compiled.plan.live
    assert f"tensors share {shared:,} bytes: {live:,} are needed at once, {apart:,} if each had its own" in lines
    places = [line for line in lines if line.startswith("  ddr")]
    assert len(places) == len(compiled.plan.buffers) + sum(c.space == "ddr" for c in compiled.plan.constants.values())
    h1 = compiled.plan.buffers["h1"]
    assert f"  ddr  {h1.offset:#010x} {h1.size:>10} tensor h1 {list(h1.shape)}, h1 to h2" in places
    assert any(line.endswith(" to the end") for line in places)


def test_the_picture_holds_what_the_list_holds() -> None:
    compiled = compile_accel(digits(), SET, SMALL)
    found = compiled.address_map
    assert found.steps == len(compiled.moments) == 3
    drawn = {(p.block, p.key): (p.address, p.size) for p in found.pieces}
    assert drawn == {
        **{("tensors", k): (compiled.plan.buffers[k].offset, life.size) for k, life in compiled.plan.lives.items()},
        **{("constants", c.key): (c.offset, c.size) for c in compiled.plan.constants.values()},
    }
