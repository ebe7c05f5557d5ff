"""Devices whose memory is too small for what is usually drawn: every tool ends with a result, and no range leaves memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fleet.isa.checking.whole import check_set
from fleet.isa.registry import find_device
from fleet.sdk import Device, NoRoomError, Place
from fleet.streams.case import StreamOutcome
from fleet.streams.images import Images
from fleet.streams.model_side import execute
from fleet.verify.conformance.drawn import run_drawn
from fleet.verify.conformance.fuzz import case_name
from fleet.verify.conformance.phases import sampled_calls
from fleet.verify.conformance.sample import run_sample, sample_names
from fleet.verify.conformance.settings import settings
from fleet.verify.conformance.suite import make_case, names
from fleet.verify.coverage.bins import sample_calls, space_of
from fleet.verify.coverage.run import new_account
from fleet.verify.coverage.steer import Steering

SIZES = [
    ("hbm_small", {"ddr": 0x4000, "hbm": 0x1000}),
    ("vgemm_small", {"ddr": 0x1000}),
]
NAME = "small_memory"


@pytest.fixture(params=SIZES, ids=lambda p: "-".join([p[0], *(f"{k}{v:#x}" for k, v in p[1].items())]))
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Device:
    base, memory = request.param
    return small(monkeypatch, base, memory)


def small(monkeypatch: pytest.MonkeyPatch, base: str, memory: Mapping[str, int]) -> Device:
    """The device with other sizes of memory, as one of its set."""
    instruction_set, chip = find_device(base)
    made = replace(chip, name=NAME, memory={**chip.memory, **memory})
    monkeypatch.setitem(instruction_set.devices, NAME, made)
    monkeypatch.setattr("fleet.verify.coverage.bins._DRAWN", {})
    monkeypatch.setattr("fleet.verify.coverage.bins._SAMPLES", {})
    return made


def run(images: Images, device: Device, name: str) -> int:
    """Instructions of a case that the functional model executed or refused as the case states; 0 where memory is too small."""
    try:
        case = make_case(name)
    except NoRoomError:
        return 0
    images.fill(case.blocks, case.parameters)
    commits = execute(find_device(NAME)[0], device, images.memory, case.calls)
    assert [bool(c.cause) for c in commits] == [bool(c) for c in case.causes or (0,) * len(commits)], name
    return len(commits)


def test_draws_stay_inside_memory(device: Device, tmp_path: Path) -> None:
    images = Images(device, tmp_path)
    ran: Counter[str] = Counter()
    fits: Counter[str] = Counter()
    for name in [*names(NAME, random=range(2), illegal=range(2), programs=range(16)), *(case_name(NAME, 5, n) for n in range(8))]:
        kind = "/".join(name.split("/")[1:-1])
        ran[kind] += 1
        fits[kind] += bool(run(images, device, name))
    images.close()
    assert fits["program"] == ran["program"]
    none = [kind for kind in ran if not fits[kind]]
    assert not none, f"nothing of these was drawn: {none}"
    assert ran.total() > fits.total(), "memory is not too small for anything: this test tries nothing"


def test_steered_programs_stay_inside_memory(device: Device, tmp_path: Path) -> None:
    instruction_set, _ = find_device(NAME)
    space = space_of(instruction_set, device)
    assert all(sample_calls(space, name, 4) for name in space.places)
    steering = Steering(space, new_account(space), 3, steer=True)
    images = Images(device, tmp_path)
    ways = settings(NAME, 0, every=True)
    ran = 0
    for number in range(16):
        try:
            case = make_case(steering.choose(number))
        except NoRoomError:
            continue
        images.fill(case.blocks, case.parameters)
        commits = execute(instruction_set, device, images.memory, case.calls, steering.wrote)
        steering.met(case, [StreamOutcome(case, ways[number % len(ways)], commits, commits, True, ())])
        ran += 1
    images.close()
    assert ran > 12
    assert not steering.unknown


def test_the_checks_of_a_set_leave_out_what_does_not_fit(device: Device) -> None:
    instruction_set, _ = find_device(NAME)
    assert [str(f) for f in check_set(instruction_set, device, draws=4).findings] == []
    cases = sample_names(NAME, 1)
    ran = list(run_sample(NAME, cases, rtl=False))
    assert [f for f in ran if f is not None] == []
    assert 0 < len(ran) <= len(cases)
    assert sampled_calls(NAME, next(iter(instruction_set.conformance)), 3)


def test_memory_too_small_for_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    device = small(monkeypatch, "vgemm_small", {"ddr": 0x10})
    instruction_set, _ = find_device(NAME)
    for name in ("gemm/random/0", "gemm/illegal/0", "gemm/directed/0"):
        with pytest.raises(NoRoomError, match=f"{NAME}/{name}: does not fit into the device's memory: a range of "):
            make_case(f"{NAME}/{name}")
    space = space_of(instruction_set, device)
    assert sample_calls(space, "gemm", 4) == []
    lines = [str(f) for f in check_set(instruction_set, device, draws=6).findings]
    assert any("gemm: no draw fits into the memory of small_memory" in line for line in lines), lines


def test_an_error_inside_a_drawn_program_names_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A source that knows no end of memory, as one of a new set may be."""
    small(monkeypatch, "vgemm_small", {"ddr": 0x1000})

    def take(self: Place, space: str, size: int, align: int = 64) -> int:
        self._next[space] = (at := -(-self._next.get(space, 0) // align) * align) + size
        return at

    monkeypatch.setattr(Place, "take", take)

    class Runner:
        def run(self, case: object, settings: Sequence[object]) -> list[object]:
            images = Images(find_device(NAME)[1], tmp_path)
            images.fill(case.blocks)
            return []

    found = [run_drawn(Runner(), f"{NAME}/gemm/directed/{n}", ()) for n in (6, 7)]
    for n, drawn in zip((6, 7), found, strict=True):
        assert drawn.failure.startswith(f"{NAME}/gemm/directed/{n}: ")
        assert "leave 'ddr' of 0x1000 bytes; fleet stream run small_memory/gemm/directed/" in drawn.failure
