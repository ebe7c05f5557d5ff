"""What random programs are made of: every hazard at every distance, pages, ends of memory, buffers, refusals; on every set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.sdk import Range
from fleet.streams.binaries import binaries
from fleet.streams.case import StreamCase
from fleet.streams.images import Images
from fleet.streams.model_side import execute
from fleet.verify.conformance.hazards import KINDS, hazards
from fleet.verify.conformance.programs import PAGE, REACH
from fleet.verify.conformance.suite import make_case

DEVICES = ("hbm_small", "vgemm_small")
SEEDS = 160


@dataclass
class _Met:
    """Counts over the programs of many seeds."""

    hazards: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    instructions: Counter[str] = field(default_factory=Counter)
    causes: Counter[int] = field(default_factory=Counter)
    lengths: list[int] = field(default_factory=list)
    refused_between: int = 0
    across: Counter[tuple[str, bool]] = field(default_factory=Counter)
    at_page: int = 0
    at_start: int = 0
    at_end: Counter[tuple[str, bool]] = field(default_factory=Counter)
    same: int = 0
    overlapping: int = 0
    in_place: int = 0


def _ranges(case: StreamCase) -> Iterator[tuple[list[Range], list[Range]]]:
    """Reads and writes of every executed call."""
    instruction_set, device = find_device(case.device)
    assert case.causes is not None
    for call, cause in zip(case.calls, case.causes, strict=True):
        cls = instruction_set.instructions[call.instruction]
        assert bool(cls.legal(device, call.fields)) == bool(cause), (case.name, call)
        if not cause:
            yield [*cls.reads(device, call.fields)], [*cls.writes(device, call.fields)]


def _meet(a: Range, b: Range) -> bool:
    return (a.space, a.bank) == (b.space, b.bank) and a.offset < b.offset + b.size and b.offset < a.offset + a.size


@lru_cache
def _programs(device: str) -> tuple[StreamCase, ...]:
    return tuple(make_case(f"{device}/program/{n}") for n in range(SEEDS))


@lru_cache
def _met(device: str) -> _Met:
    met = _Met()
    instruction_set, chip = find_device(device)
    for case in _programs(device):
        assert case.causes is not None
        met.lengths.append(len(case.calls))
        met.causes.update(case.causes)
        met.instructions.update(c.instruction for c, cause in zip(case.calls, case.causes, strict=True) if not cause)
        pattern = "".join("x" if c else "." for c in case.causes)
        met.refused_between += ".x." in pattern
        met.hazards.update((h.kind, h.space, h.distance) for h in hazards(instruction_set, chip, case.calls))
        for reads, writes in _ranges(case):
            for r, wrote in [*((r, False) for r in reads), *((w, True) for w in writes)]:
                if r.space not in chip.memory:
                    continue
                met.across[r.space, wrote] += r.offset // PAGE != (r.offset + r.size - 1) // PAGE
                met.at_page += r.offset > 0 and r.offset % PAGE == 0
                met.at_start += r.offset == 0
                met.at_end[r.space, wrote] += r.offset + r.size == chip.memory[r.space]
            pairs = [(a, b) for i, a in enumerate(reads) for b in reads[:i] if a.bank == b.bank == 0]
            met.same += any(a == b for a, b in pairs)
            met.overlapping += any(_meet(a, b) and a != b for a, b in pairs)
            met.in_place += any(_meet(a, b) for a in reads for b in writes)
    return met


@pytest.mark.parametrize("device", DEVICES)
def test_every_hazard_at_every_distance(device: str) -> None:
    _, chip = find_device(device)
    for space in (*chip.memory, *chip.arrays):
        for kind in KINDS:
            missing = [d for d in range(1, REACH + 1) if not _met(device).hazards[kind, space, d]]
            assert not missing, (kind, space, missing)


@pytest.mark.parametrize("device", DEVICES)
def test_places(device: str) -> None:
    met, (_, chip) = _met(device), find_device(device)
    for space in chip.memory:
        for wrote in (False, True):
            assert met.across[space, wrote] > 20, (space, wrote, met.across)
            assert met.at_end[space, wrote] > 5, (space, wrote, met.at_end)
    assert met.at_page > 20
    assert met.at_start > 5


@pytest.mark.parametrize("device", DEVICES)
def test_lengths_instructions_and_refusals(device: str) -> None:
    met, (instruction_set, _) = _met(device), find_device(device)
    assert set(met.instructions) == set(instruction_set.instructions)
    assert min(met.instructions.values()) > SEEDS
    assert min(met.lengths) < 8
    assert max(met.lengths) > 40
    assert met.refused_between > SEEDS // 8, "refused among executed ones"
    assert {1, 2, 3, 4} <= {c for c in met.causes if c}, "most causes"
    assert met.causes[0] > 10 * (sum(met.causes.values()) - met.causes[0])
    assert sum(any(c.causes or ()) for c in _programs(device)) <= SEEDS // 4


def test_operands_of_one_call_that_are_one_range_overlap_or_are_written_in_place() -> None:
    met = _met("hbm_small")
    assert met.same > 20
    assert met.overlapping > 20
    assert met.in_place > 20


def test_sizes_up_to_256_channels() -> None:
    channels = {c.fields["mvm_chin_last"] for p in _programs("hbm_small") for c in p.calls if c.instruction == "mvm"}
    assert {255, 256} <= channels
    outputs = {c.fields["mvm_chout_last"] for p in _programs("hbm_small") for c in p.calls if c.instruction == "mvm"}
    assert {255, 256} <= outputs
    sizes = {c.fields["load_w2"] >> 16 for p in _programs("vgemm_small") for c in p.calls if c.instruction == "load"}
    assert 64 in sizes, "elements of 4 channels"


def test_nothing_on_chip_is_read_before_it_is_written() -> None:
    """What stands there at power-on is undefined. (vgemm states whole scratchpads as read; its micro-operations know more.)"""
    for case in _programs("hbm_small"):
        written = np.zeros(1 << 20, bool)
        for reads, writes in _ranges(case):
            for r in reads:
                assert r.space != "onchip" or written[r.offset : r.offset + r.size].all(), case.name
            for w in writes:
                if w.space == "onchip":
                    written[w.offset : w.offset + w.size] = True


def test_on_chip_both_halves_to_their_last_byte_and_wrapping_indices() -> None:
    _, chip = find_device("hbm_small")
    half = 64 * chip.parameters["OnchipDepth"]
    ends = {w.offset + w.size for p in _programs("hbm_small") for _, writes in _ranges(p) for w in writes if w.space == "onchip"}
    assert {half, 2 * half} <= ends
    _, chip = find_device("vgemm_small")
    whole = [c for p in _programs("vgemm_small") for c in p.calls if c.instruction == "load" and c.fields["load_w2"] >> 16 == 1024]
    assert len(whole) > 5, "all of a scratchpad, for indices that wrap around it"


def test_values_stay_numbers(tmp_path: Path) -> None:
    """Chains of FP16 operations must not end in nothing but NaN and infinities, which hide what an operand was."""
    instruction_set, chip = find_device("hbm_small")
    images = Images(chip, tmp_path)
    odd = total = 0
    for case in _programs("hbm_small")[1:40:2]:
        images.fill(case.blocks, case.parameters)
        execute(instruction_set, chip, images.memory, case.calls)
        for _, writes in _ranges(case):
            for w in writes:
                if w.space == "ddr":
                    bits = images.memory.view("ddr", w.offset, w.size).view("<u2") & 0x7FFF
                    odd, total = odd + int((bits >= 0x7C00).sum()), total + bits.size
    images.close()
    assert total > 50_000
    assert odd < 0.35 * total, odd / total


@pytest.mark.parametrize("device", DEVICES)
def test_ways_of_issue_of_a_program(device: str) -> None:
    """Binaries hold all that is legal and has a form; groups that are written ahead hold all, and often several calls."""
    instruction_set, chip = find_device(device)
    description = load(instruction_set.description)
    sizes: Counter[int] = Counter()
    for case in _programs(device)[:40]:
        assert case.causes is not None
        covered = [n for b in binaries(instruction_set, chip, case, "aux").binaries for n in range(b.first, b.first + b.count)]
        assert len(covered) == len(set(covered))
        assert not any(case.causes[n] for n in covered)
        forms = [description.instructions[c.instruction].beats > 0 for c in case.calls]
        assert len(covered) >= 0.95 * sum(has and not c for has, c in zip(forms, case.causes, strict=True))
        together = binaries(instruction_set, chip, case, "ahead").together
        assert [n for f, count in together.items() for n in range(f, f + count)] == list(range(len(case.calls)))
        sizes.update(together.values())
    assert sum(sizes.values()) < 0.8 * sum(k * v for k, v in sizes.items())


@pytest.mark.parametrize("what", ["vgemm_small/program", "hbm_small/program", "hbm_small/mvm/random", "vgemm_small/load/illegal"])
def test_a_program_depends_on_its_number(what: str) -> None:
    drawn = [repr(make_case(f"{what}/{number}").calls) for number in range(8)]
    assert len(set(drawn)) == len(drawn)


def test_a_program_is_made_again_from_its_name() -> None:
    for device in DEVICES:
        one, two = make_case(f"{device}/program/4"), make_case(f"{device}/program/4")
        assert (one.calls, one.causes, one.parameters) == (two.calls, two.causes, two.parameters)
        assert all(np.array_equal(a.data, b.data) for a, b in zip(one.blocks, two.blocks, strict=True))
