"""Units of hbm_small in Icarus Verilog and CXXRTL: what Verilator makes of their source, cycle by cycle, and their speed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from set_units import build, link_of, outputs, stimulus, units_of

from fleet.engines.linked.lowered import MOST_BITS
from fleet.engines.rtl_sim.build import design_of
from fleet.isa.registry import find_device

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        find_spec("pyosys") is None and os.environ.get("FLEET_REQUIRE_PYOSYS") != "1", reason="pyosys is not installed"
    ),
    pytest.mark.skipif(
        shutil.which("iverilog") is None and os.environ.get("FLEET_REQUIRE_ICARUS") != "1", reason="iverilog is not installed"
    ),
]
MOST_SIGNALS = 4_000
MOST_MEMORY = {"icarus": 0, "cxxrtl": 3_000}
"""Bits of a unit's signals and of its arrays; larger ones are skipped by size. In Icarus memory begins without values."""
CYCLES = 300
GOOD, BAD = "held_q <= grant_o;", "held_q <= first;"


def _compare(expected: Sequence[str], got: Sequence[str], names: Callable[[int], str]) -> int:
    """How many bits of `got` have a value; fails at the first that is not the expected one."""
    assert len(got) == len(expected) == 3 * CYCLES
    known = 0
    for n, (wanted, found) in enumerate(zip(expected, got, strict=True)):
        differ = [i for i, (a, b) in enumerate(zip(wanted, found, strict=True)) if a != b and b in "01"]
        assert not differ, f"cycle {n // 3}: {names(len(wanted) - 1 - differ[0])} is {found[differ[0]]}, not {wanted[differ[0]]}"
        known += len(found) - found.count("x")
    return known


@pytest.mark.parametrize("simulator", MOST_MEMORY)
def test_units_are_the_same(simulator: str, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    design = design_of(*find_device("hbm_small"))
    units = [u for u in units_of(design, tmp_path) if not u.enums]
    small = [u for u in units if u.signals <= MOST_SIGNALS and u.memory <= MOST_MEMORY[simulator]]
    skipped = ", ".join(f"{u.name} ({u.signals:,} bits, memory {u.memory:,})" for u in units if u not in small)
    assert len(small) >= 15
    assert sum(u.signals for u in small) <= MOST_BITS
    link = link_of(small)
    lines = stimulus(link, CYCLES, 1)
    expected: Sequence[str] = ()
    for name in ("verilator", simulator):
        got, seconds = outputs(build(small, design, name, tmp_path / name), lines, tmp_path / name)
        expected = expected or got
        known = _compare(expected, got, link.named)
        assert known >= 0.99 * sum(map(len, expected)), f"bits without a value in {name}"
        record_property(f"cycles a second in {name}", round(CYCLES / seconds))
        print(f"{len(small)} units of hbm_small in {name}: {CYCLES / seconds:,.0f} cycles a second")
    moving = {link.named(i) for i in range(link.bits_out) if len({line[-1 - i] for line in expected}) > 1}
    assert {port.partition("__")[0] for port in moving} == {u.name for u in small}, "a unit that does nothing compares nothing"
    record_property("skipped by size", skipped)
    print(f"skipped by size: {skipped}")


def test_a_unit_that_differs_is_named(tmp_path: Path) -> None:
    design = design_of(*find_device("hbm_small"))
    source = next(p for p in design.sources if p.name == "hbm0923_round_robin.sv")
    units = [u for u in units_of(design, tmp_path) if u.name == source.stem]
    link = link_of(units)
    lines = stimulus(link, CYCLES, 1)
    expected, _ = outputs(build(units, design, "verilator", tmp_path / "verilator"), lines, tmp_path / "verilator")
    changed = tmp_path / source.name
    text = source.read_text()
    assert text.count(GOOD) == 1
    changed.write_text(text.replace(GOOD, BAD))
    other = replace(design, sources=tuple(changed if p == source else p for p in design.sources))
    got, _ = outputs(build(units, other, "icarus", tmp_path / "icarus"), lines, tmp_path / "icarus")
    with pytest.raises(AssertionError, match=r"cycle \d+: hbm0923_round_robin__\w+ is [01], not [01]"):
        _compare(expected, got, link.named)
