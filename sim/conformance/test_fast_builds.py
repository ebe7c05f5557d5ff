"""Both kinds of builds, the checked one and the fast one, run the same: every commit with its cycles, all traffic, every byte.

A fast build has no assertions, and its idle parts have no clock (`rtl_models/hbm0923/hbm0923_clock_gate.sv`): a gate that closes
too early changes bits or cycles, or hangs. `--nightly`: more cases of every instruction, and on more memories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from both import run_alike
from chosen import devices

from fleet.engines.rtl_sim.build import build, design_of
from fleet.isa.registry import find_device
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.drawn import run_drawn
from fleet.verify.conformance.settings import settings
from fleet.verify.conformance.suite import names

SFU_GATE = ".enable_i(start[IxSfu] || busy[IxSfu])"


@pytest.fixture(scope="module")
def fast() -> Iterator[Callable[[str], StreamRunner]]:
    open_: dict[str, StreamRunner] = {}

    def runner(device: str) -> StreamRunner:
        if device not in open_:
            executable = build(design_of(*find_device(device)), mode="fast")
            open_[device] = StreamRunner(device, power_on=len(open_) + 1, executable=executable)
        return open_[device]

    yield runner
    for one in open_.values():
        one.close()


def _cases(device: str, directed: int, programs: int) -> list[str]:
    found = [n for n in names(device) if int(n.rpartition("/")[2]) < directed]
    return found + names(device, directed=False, random=range(2), illegal=range(2), programs=range(programs))


@pytest.mark.nightly
@pytest.mark.parametrize("device", devices())
def test_both_builds_run_the_same(device: str, runners: Callable[[str], StreamRunner], fast: Callable[[str], StreamRunner]) -> None:
    assert run_alike(device, _cases(device, 6, 24), runners(device), fast(device)) > 500


@pytest.mark.nightly
def test_a_gate_that_closes_too_early_is_found(tmp_path: Path) -> None:
    """The planted fault of the gates: the SFU's clock stops when its start is over."""
    design = design_of(*find_device("hbm_small"))
    (top,) = [path for path in design.sources if path.name == "hbm0923_top.sv"]
    text = top.read_text()
    assert text.count(SFU_GATE) == 1
    changed = tmp_path / top.name
    changed.write_text(text.replace(SFU_GATE, ".enable_i(start[IxSfu])"))
    executable = build(replace(design, sources=tuple(changed if p == top else p for p in design.sources)), mode="fast")
    with StreamRunner("hbm_small", executable=executable) as runner:
        cases = [name for name in names("hbm_small") if "/norm/" in name][:3]
        outcomes = [o for name in cases for o in run_drawn(runner, name, settings("hbm_small", 0, every=False)).outcomes]
    assert outcomes
    assert not all(outcome.passed for outcome in outcomes)
