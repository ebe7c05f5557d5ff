"""Faults in a copy of one hardware source, without a copy of the project, and long streams of which one instruction meets them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

from fleet.engines.rtl_sim.build import Design, design_of
from fleet.isa.conformance import sources
from fleet.isa.hardware import hardware_of
from fleet.sdk import Device, Draw, InstructionSet, Place
from fleet.streams.case import StreamCase


@dataclass(frozen=True)
class Planted:
    """Where the text `old` stands once in the source `file`, `new` does; `{address}` in it is the address at which it acts."""

    name: str
    what: str
    file: str
    old: str
    new: str

    def in_set(self, instruction_set: InstructionSet, folder: Path, address: int) -> InstructionSet:
        """The set with this fault in its hardware; the edited source lies in `folder`."""
        rtl = hardware_of(instruction_set)
        assert rtl is not None
        (source,) = (p for p in rtl.files if p.name == self.file)
        text = source.read_text(encoding="utf-8")
        assert text.count(self.old) == 1, f"{self.file}: the text to edit stands there {text.count(self.old)} times"
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / self.file
        copy.write_text(text.replace(self.old, self.new.replace("{address}", f"32'h{address:08x}")), encoding="utf-8")
        return replace(instruction_set, rtl=replace(rtl, sources=tuple(copy if p == source else p for p in rtl.files)))


STUCK_LANE = Planted(
    "stuck lane", "mvm: bit 3 of output lane 5 is stuck at the complement, for weights at one address", "hbm0923_mvm_epilogue.sv",
    "assign y_o = (Tout*16)'(result.y);",
    "assign y_o = (Tout*16)'(result.y) ^ (plan_i.wt_addr == {address} ? (Tout*16)'(1) << (16 * 5 + 3) : '0);",
)  # fmt: skip
STUCK_TOKEN = Planted(
    "stuck lane of a token", "mvm: bit 3 of output lane 5 is flipped, for one token and weights at one address",
    STUCK_LANE.file, STUCK_LANE.old,
    STUCK_LANE.new.replace("{address}", "{address} && plan_i.tokens == 16'd1"),
)  # fmt: skip
STORE_BIT = Planted(
    "store bit", "store: bit 4 of the first accumulator of every beat is flipped, for stores to one address", "vgemm_storer.sv",
    "assign ddr_req_o.w.data   = data_q & elem_mask;",
    "assign ddr_req_o.w.data   = (data_q & elem_mask) ^ (t_q.address == {address} ? {16{32'h0000_0010}} : 512'd0);",
)  # fmt: skip
LOAD_BIT = Planted(
    "load bit", "load: bit 4 of byte 5 of a beat of the scratchpad is flipped, for loads from one address", "vgemm_loader.sv",
    "data:   unit << {place[5:0], 3'd0},",
    "data:   (unit << {place[5:0], 3'd0}) ^ (t_q.address == {address} ? 512'h10 << 40 : 512'd0),",
)  # fmt: skip

STORE_EARLY = Planted(
    "early store", "store: begins before what stands before it has committed", "vgemm_core.sv",
    "assign allowed = {store_oldest_i, 1'b1, 1'b1};",
    "assign allowed = {store_oldest_i | 1'b1, 1'b1, 1'b1};",
)  # fmt: skip


def long_stream(device: Device, instruction_set: InstructionSet, seed: int, length: int) -> StreamCase:
    """At least so many instructions of all kinds that read and overwrite what earlier ones wrote."""
    rng = np.random.default_rng([seed, length])
    place, known = Place(device, rng, dependent=0.6), list(sources(instruction_set).values())
    draws: list[Draw] = []
    while sum(1 + len(d.before) for d in draws) < length:
        draws.append(known[int(rng.integers(len(known)))].draw(device, rng, place, small=True))
    calls = tuple(c for d in draws for c in (*d.before, d.call))
    parameters = {k: v for d in reversed(draws) for k, v in d.parameters.items()}
    blocks = tuple(b for d in draws for b in d.blocks)
    return StreamCase(f"{device.name}/long/{seed}", device.name, calls, blocks, None, parameters, seed)


def met_at(case: StreamCase, register: str, start: float) -> tuple[int, int]:
    """The first call behind `start` (a share of the stream) with a value of a register that no other has: number and value."""
    values = [c.fields.get(register) for c in case.calls]
    for i in range(int(start * len(values)), len(values)):
        value = values[i]
        if value and values.count(value) == 1:
            return i, value
    raise AssertionError(f"no call behind {start:.0%} has a {register} of its own")


@contextmanager
def planted(fault: Planted, address: int, folder: Path) -> Iterator[None]:
    """Every simulation that is built meanwhile has the fault, whatever builds it."""

    def faulty(instruction_set: InstructionSet, device: Device) -> Design:
        return design_of(fault.in_set(instruction_set, folder, address), device)

    with patch("fleet.streams.run.design_of", faulty), patch("fleet.engines.rtl.design_of", faulty):
        yield
