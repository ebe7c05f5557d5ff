"""Random programs on every set that has hardware: a short run with a fixed seed, and `--nightly` a long one whose seed is the date.

A program that fails is stored below the report's folder with the command that plays it again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from fleet.isa.conformance import sources
from fleet.isa.registry import find_device, instruction_sets
from fleet.regress.pytest_night import RowFields
from fleet.sdk import Device, IssueRules
from fleet.streams.case import ISSUES, Setting
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.fuzz import StreamFuzzState, fuzz, state_file
from fleet.verify.conformance.fuzz_state import load_state
from fleet.verify.conformance.fuzz_workers import setting_of
from fleet.verify.conformance.settings import ways_of_issue
from fleet.verify.conformance.suite import make_case

QUICK_SEED = 2023
QUICK_PROGRAMS = 24
NIGHTLY_INSTRUCTIONS, NIGHTLY_SECONDS = 100_000, 1800.0


def _size(device: Device) -> tuple[int, int, str]:
    return device.parameters.get("HbmPorts", 1), sum(device.memory.values()), device.name


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" in metafunc.fixturenames:
        there = [s for s in instruction_sets().values() if s.rtl is not None and s.devices and sources(s)]
        metafunc.parametrize("device", [min(s.devices.values(), key=_size).name for s in there])


def _folder(request: pytest.FixtureRequest) -> Path:
    return Path(str(request.config.getoption("--fleet-report", "reports/sim"))).parent / "fuzz"


def _checked(state: StreamFuzzState, capsys: pytest.CaptureFixture[str], night_row: RowFields) -> None:
    executed = {"instructions": float(state.executed), "refused": float(state.refused), "programs": float(state.programs)}
    night_row |= {"device": state.device, "seed": state.seed, "figures": executed}
    with capsys.disabled():
        print(
            f"\nfuzz {state.device}, seed {state.seed}: {state.executed:,} instructions executed, {state.refused:,} refused, "
            f"{state.instructions / state.seconds:,.0f} a second"
        )
    assert not state.failures, "\n".join(state.failures)


def test_a_short_run(device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], night_row: RowFields) -> None:
    state = load_state(state_file(tmp_path, device, QUICK_SEED), device, QUICK_SEED)
    fuzz(state, tmp_path, seconds=600, count=QUICK_PROGRAMS)
    assert state.programs == QUICK_PROGRAMS
    assert state.executed > 100
    assert state.refused > 20
    _checked(state, capsys, night_row)


def test_a_long_run(device: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str], night_row: RowFields) -> None:
    """A run of the same day goes on where the last one stood, and counts what that compared."""
    if not request.config.getoption("--nightly"):
        pytest.skip("--nightly")
    seed, folder = int(datetime.now(UTC).strftime("%Y%m%d")), _folder(request)
    state = load_state(state_file(folder, device, seed), device, seed)
    wanted = max(1, NIGHTLY_INSTRUCTIONS - state.instructions)
    fuzz(state, folder, seconds=NIGHTLY_SECONDS, instructions=wanted, jobs=min(2, os.cpu_count() or 1))
    _checked(state, capsys, night_row)
    assert state.instructions >= NIGHTLY_INSTRUCTIONS


@pytest.fixture(scope="module")
def small() -> Iterator[StreamRunner]:
    with StreamRunner("hbm_small", power_on=3) as found:
        yield found


def test_refreshes_and_back_pressure_are_met(small: StreamRunner) -> None:
    """Programs are long enough for refreshes to hold their accesses up, on both memories, and stalls change how long they take."""
    held = dict.fromkeys(("ddr", "hbm"), 0)
    for n in (3, 5, 6, 7):
        case = make_case(f"hbm_small/program/{n}")
        ideal, timed, stalled = small.run(case, [Setting("ideal"), Setting(f"timed:{n}"), Setting(f"stall:{n}")])
        assert ideal.passed
        assert timed.passed
        assert stalled.passed
        assert ideal.cycles < min(timed.cycles, stalled.cycles)
        for space in held:
            held[space] += sum(v for k, v in timed.traffic.items() if k.startswith(space) and k.endswith("refresh_cycles"))
    assert min(held.values()) > 100, held


def test_every_memory_and_way_of_issue_comes_in_turn(device: str) -> None:
    instruction_set, chip = find_device(device)
    models = {"ideal", "fixed", "stall", *(["timed"] if chip.timing else [])}
    every = {(m, i) for m in models for i in ways_of_issue(instruction_set)}
    for numbers in (range(len(models) * len(ISSUES)), range(0, 400, 4)):  # of every fourth program some calls are refused
        assert every == {(s.memory.partition(":")[0], s.issue) for s in (setting_of(device, n) for n in numbers)}


def test_instructions_that_are_written_ahead_overlap(small: StreamRunner) -> None:
    """Not waiting for each one saves cycles: they do run beside each other."""
    waited = together = 0
    for n in (1, 2, 3, 5):
        one, other = small.run(make_case(f"hbm_small/program/{n}"), [Setting("ideal"), Setting("ideal", "ahead")])
        assert one.passed
        assert other.passed
        together += sum((a.end or 0) > (b.start or 0) for a, b in pairwise(other.found))
        waited += sum((a.end or 0) > (b.start or 0) for a, b in pairwise(one.found))
    assert waited == 0
    assert together > 10


def test_a_set_that_allows_too_many_under_way_is_found_out(small: StreamRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused as busy does not commit: it is missing, and not taken for a refusal that was expected."""
    too_many = replace(small.set, issue=IssueRules(ahead=lambda *_: True))
    monkeypatch.setattr(small, "set", too_many)
    (outcome,) = small.run(make_case("hbm_small/program/1"), [Setting("ideal", "ahead")])
    assert not outcome.passed
    assert outcome.reasons[0].startswith("rtl, instruction 1 (norm): the commit carries opcode 0x30, expected 0x7")
