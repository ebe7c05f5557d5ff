"""A failing stream becomes small and fails as before; what does not fail, or not twice alike, is refused."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from faulty import program, wrong

from fleet.errors import DeviceError
from fleet.isa.registry import find_device
from fleet.streams.case import Setting
from fleet.streams.images import Images
from fleet.streams.model_side import execute
from fleet.streams.run import StreamRunner
from fleet.streams.undefined import undefined_read
from fleet.verify.conformance.suite import make_case
from fleet.verify.shrink.judge import judge
from fleet.verify.shrink.oracle import Attempt, ShrinkOracle
from fleet.verify.shrink.record import record
from fleet.verify.shrink.stream import shrink_stream, size_of

DEVICE, SECOND = "hbm_small", "vgemm_small"


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Images]:
    found = Images(find_device(DEVICE)[1], tmp_path_factory.mktemp("images"))
    yield found
    found.close()


def negative_lost(words: np.ndarray) -> None:
    """The sign of numbers from 2 on is lost."""
    words[(words & 0x7FFF) > 0x4000] &= 0x7FFF


def test_sixty_instructions_become_one(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch, DEVICE, "elementwise", negative_lost)
    case = program(DEVICE, 3, 60)
    found = shrink_stream(case, Setting("stall:3", "aux"), seconds=60)
    assert found.before.instructions >= 60
    assert found.after.instructions == 1, found
    assert found.outcome.case.calls[0].instruction == found.signature.instruction == "elementwise"
    assert not found.outcome.passed
    assert found.outcome.setting == Setting(), "the simplest setting fails too"
    assert found.after.bytes <= 4, "one number is enough"
    assert found.outcome.divergence is not None
    assert found.outcome.case.causes == (0,)
    assert size_of(found.outcome.case) == found.after
    with StreamRunner(DEVICE) as runner:
        assert judge(runner, found.outcome.case, found.outcome.setting).signature == found.signature, "in a process of its own too"


def test_what_only_instructions_can_fill_keeps_its_producers(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch, SECOND, "alu", lambda words: words.__ixor__(np.where((words & 0xFF) > 0xF0, 1, 0).astype("<u2")))
    found = shrink_stream(program(SECOND, 1, 40), Setting(), seconds=60)
    names = [c.instruction for c in found.outcome.case.calls]
    assert names == ["load", "load", "alu"], "micro-operations and accumulators"
    instruction_set, device = find_device(SECOND)
    with StreamRunner(SECOND) as runner:
        assert undefined_read(instruction_set, device, found.outcome.case, runner.expected, 2) is None
        without = replace(found.outcome.case, calls=found.outcome.case.calls[1:], causes=(0, 0))
        assert undefined_read(instruction_set, device, without, runner.expected, 1) is not None


def test_an_illegal_call_that_is_executed_is_left_alone_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the functional model had forgotten a check: it executes what the hardware refuses."""
    case = make_case(f"{DEVICE}/elementwise/illegal/1")
    cls = find_device(DEVICE)[0].instructions["elementwise"]
    right = cls.refusal
    target = next(i for i, c in enumerate(case.causes or ()) if c)
    bad = case.calls[target].fields
    changed = next(n for n, v in bad.items() if v != case.calls[-1].fields[n])
    monkeypatch.setattr(
        cls, "refusal",
        classmethod(lambda _, device, fields: (1, "wrong cause") if fields[changed] == bad[changed] else right(device, fields)),
    )  # fmt: skip
    case = replace(case, causes=None)
    with StreamRunner(DEVICE) as runner:
        verdict = judge(runner, case, Setting())
    assert verdict.signature is not None
    found = shrink_stream(case, Setting(), seconds=60)
    assert found.signature.kind == "cause"
    assert len(found.outcome.case.calls) == 1
    assert found.outcome.case.calls[0].fields[changed] == bad[changed]


def test_time_is_kept_and_the_best_so_far_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch, DEVICE, "elementwise", negative_lost)
    before = time.monotonic()
    found = shrink_stream(program(DEVICE, 3, 60), Setting(), seconds=1.5)
    assert time.monotonic() - before < 20
    assert not found.outcome.passed
    assert found.after.instructions <= found.before.instructions


def test_what_passes_and_what_does_not_repeat_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(f"{DEVICE}/program/1")
    with pytest.raises(DeviceError, match="does not fail: there is nothing to shrink"):
        shrink_stream(case, Setting())
    count = [0]

    def sometimes(words: np.ndarray) -> None:
        count[0] += 1
        words[:1] ^= count[0] == 1

    single = make_case(f"{DEVICE}/elementwise/directed/0")
    wrong(monkeypatch, DEVICE, "elementwise", sometimes)
    with pytest.raises(DeviceError, match="two runs differ"):
        shrink_stream(single, Setting())


def test_a_part_of_a_stream_finds_the_memory_that_it_found_in_the_whole(images: Images) -> None:
    """Every instruction of a program alone, and every end of it, computes what it computed in the program."""
    instruction_set, device = find_device(DEVICE)
    case = program(DEVICE, 5, 16)
    images.fill(case.blocks, case.parameters)
    whole = execute(instruction_set, device, images.memory, case.calls)
    known = record(instruction_set, device, case, images)
    parts = 0
    for first in range(len(case.calls)):
        for wide in (False, True):
            kept = range(first, len(case.calls))
            part = known.part(kept, wide=wide)
            if undefined_read(instruction_set, device, part, images, len(kept) - 1) is not None:
                continue
            parts += 1
            images.fill(part.blocks, part.parameters)
            found = execute(instruction_set, device, images.memory, part.calls)
            assert [c.architectural for c in found] == [c.architectural for c in whole[first:]], (first, wide)
    assert parts > len(case.calls) // 2
    for last in range(len(case.calls)):
        kept = known.needed(last)
        part = known.part(kept, wide=False)
        images.fill(part.blocks, part.parameters)
        (*_, commit) = execute(instruction_set, device, images.memory, part.calls)
        assert commit.architectural == whole[last].architectural, last


def test_attempts_are_remembered_and_ill_formed_ones_do_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch, DEVICE, "elementwise", negative_lost)
    case = make_case(f"{DEVICE}/elementwise/directed/3")
    first = Attempt(case, Setting(), 0, tuple(range(len(case.calls))))
    with StreamRunner(DEVICE) as runner:
        oracle = ShrinkOracle(runner, time.monotonic() + 60, lambda _: None, first)
        verdict = oracle.run(first)
        assert verdict.signature is not None
        oracle.start(first, verdict)
        ran = oracle.ran
        assert oracle.improves(first)
        assert oracle.improves(first)
        assert (oracle.ran - ran, oracle.known) == (1, 1)
        call = case.calls[-1]
        illegal = replace(call, fields={**call.fields, "elementwise_a_addr": call.fields["elementwise_a_addr"] + 1})
        attempt = replace(first, case=replace(case, calls=(*case.calls[:-1], illegal)))
        assert not oracle.improves(attempt)
        assert not oracle.improves(replace(first, case=replace(case, calls=(), causes=()), origins=()))
        assert (oracle.ran - ran, oracle.refused) == (1, 2)
        assert oracle.best is first
