"""Memory that tensors share: an owner for every byte of DDR, step by step, says whether each is there when it is read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from blocks import Builder, Size, gpt2_block
from graphs import digits
from xdsl.ir import SSAValue

from fleet.errors import DeviceError
from fleet.ir.dialect import op_id
from fleet.ir.program import Program
from fleet.isa.registry import find_device
from fleet.targets.accel import compile as module
from fleet.targets.accel.compile import compile_accel
from fleet.targets.accel.memory.lives import lifetimes
from fleet.targets.accel.memory.plan import AccelMemoryPlan, DdrTenant
from fleet.targets.accel.program import AccelProgram, HostStep, value_key
from fleet.targets.accel.stream import DeviceSegment
from fleet.targets.liveness import Life
from fleet.transforms.place import Node


def with_host_steps() -> Program:
    """Products with a running sum between them: a tensor of the first segment is read in the second, one is returned from it."""
    rng = np.random.default_rng(5)
    w = {name: rng.standard_normal((64, 64)).astype(np.float32) for name in ("a", "b", "c", "d")}
    b = Builder({"x": (6, 64)}, w)
    first = b("first", "matmul", "x", "a")
    second = b("second", "matmul", first, "b")
    order = b("order", "cumsum", second, axis=1)
    third = b("third", "matmul", order, "c")
    b("last", "add", b("fourth", "matmul", third, "d"), first)
    return b.done("second", "last")


def stale(compiled: AccelProgram) -> Iterator[str]:
    """What is read from bytes that hold another tensor by then."""
    plan = compiled.plan
    owner: dict[int, str] = {}
    views = {}
    device: set[str] = set()

    def blocks(key: str) -> range:
        b = plan.buffers[key]
        return range(b.offset // 64, -(-(b.offset + b.size) // 64))

    def write(key: str) -> None:
        device.add(key)
        owner.update(dict.fromkeys(blocks(key), views.get(key, key)))

    def read(key: str, by: str) -> Iterator[str]:
        if key in device and any(owner.get(block) != views.get(key, key) for block in blocks(key)):
            yield f"{key}, read by {by}"

    for argument in compiled.program.inputs:
        if "%" + argument.name in plan.buffers:
            write("%" + argument.name)
    for step in compiled.steps:
        if isinstance(step, HostStep):
            for value in step.op.operands:
                yield from read(value_key(compiled.program, value), op_id(step.op))
            continue
        for key in step.uploads:
            if key.removeprefix("%") not in {a.name for a in compiled.program.inputs}:
                write(key)
        for group in step.groups:
            for key in group.activations:
                yield from read(key, group.ops[-1])
            if not group.calls:
                views |= dict.fromkeys(group.results, views.get(group.activations[0], group.activations[0]))
                device.update(group.results)
                continue
            scratch = f"scratch of {group.ops[-1]}"
            for key in (*([scratch] if scratch in plan.buffers else []), *group.results):
                write(key)
            for key in (*group.activations, *group.results):
                yield from read(key, f"{group.ops[-1]}, while it runs")
    for value in compiled.program.returned():
        yield from read(value_key(compiled.program, value), "the host, at the end")


PROGRAMS = {
    "digits": digits,
    "block": gpt2_block,
    "block, linear": lambda: gpt2_block(linear=True),
    "block of 37 tokens": lambda: gpt2_block(Size(37, 128, 1, 160)),
    "segments": with_host_steps,
}


CASES = [*((name, "hbm_small") for name in PROGRAMS), ("digits", "vgemm_small"), ("segments", "vgemm_small")]


@pytest.mark.parametrize(("name", "device"), CASES)
def test_what_is_read_is_what_was_written(name: str, device: str) -> None:
    set_, chip = find_device(device)
    compiled = compile_accel(PROGRAMS[name](), set_, chip)
    assert any(isinstance(step, DeviceSegment) for step in compiled.steps)
    assert list(stale(compiled)) == []
    plan = compiled.plan
    assert plan.live <= plan.shared <= 1.1 * plan.live + 64
    assert all(offset >= plan.shared for offset in (c.offset for c in plan.constants.values() if c.space == "ddr"))


@pytest.mark.parametrize(("name", "device"), [("block", "hbm_small"), ("segments", "hbm_small"), ("segments", "vgemm_small")])
def test_a_life_that_ends_too_early_is_seen(name: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(program: Program, schedule: Sequence[Node]) -> dict[SSAValue, tuple[int, int]]:
        return {value: (first, min(first + 1, last)) for value, (first, last) in lifetimes(program, schedule).items()}

    monkeypatch.setattr(module, "lifetimes", short)
    monkeypatch.setattr(module, "_COMPILED", OrderedDict())
    set_, chip = find_device(device)
    assert list(stale(compile_accel(PROGRAMS[name](), set_, chip)))


def test_tensors_beyond_the_memory_are_refused() -> None:
    _, chip = find_device("hbm_small")
    plan, size = AccelMemoryPlan(chip), chip.memory["ddr"] // 2
    big = [DdrTenant(key, Life(size + 64, 0, 1), (size + 64,), np.dtype(np.uint8)) for key in ("a", "b")]
    with pytest.raises(DeviceError, match=rf"2 tensors, the largest 'a' \[{size + 64}\], need {2 * size + 128:,} bytes of ddr"):
        plan.share(big)


def test_a_tensor_that_a_match_does_not_name_has_no_address() -> None:
    _, chip = find_device("hbm_small")
    with pytest.raises(DeviceError, match="asks for the address of 'x', which its match does not name"):
        AccelMemoryPlan(chip).buffer("%x")
