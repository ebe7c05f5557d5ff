"""The binary: what the device fetches is what register writes would say, in every step, and only dynamic words change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small import Machine, decoder, steps, wide

from fleet.engines.base import RunOptions
from fleet.engines.iss import IssBackend
from fleet.errors import DeviceError, ModelError
from fleet.isa.codec_binary import decode_binary
from fleet.sdk import Call
from fleet.targets.accel.build import build
from fleet.targets.accel.module import Module


def plain(calls: tuple[Call, ...] | list[Call]) -> list[tuple[str, dict[str, int]]]:
    return [(c.instruction, dict(c.fields)) for c in calls]


def memory_of(module: Module, folder: Path, **step: int) -> Machine:
    machine = Machine(module, folder)
    for offset, words in module.patches(**step):
        machine.memory.view("ddr", offset, words.nbytes).view("<u4")[:] = words
    return machine


@pytest.mark.parametrize("lite", [False, True])
def test_patched_binary_holds_the_calls_of_the_step(tmp_path: Path, lite: bool) -> None:
    module = build(decoder(data=True), aux=True, build_config={"lite": lite})
    machine = Machine(module, tmp_path)
    for _, step in steps((7, 1, 16, 1)):
        calls = module.calls(**step)
        for offset, words in module.patches(**step):
            machine.memory.view("ddr", offset, words.nbytes).view("<u4")[:] = words
        found: list[Call] = []
        for binary in module.binaries(**step):
            assert binary.first == len(found)
            found += decode_binary(module.description, machine.memory.view("ddr", binary.offset, binary.size).tobytes())
            assert len(found) - binary.first == binary.count
        assert plain(found) == plain(calls)


def test_unpatched_binary_is_the_smallest_step() -> None:
    module = build(decoder(data=False), aux=True)
    assert module.first_step == {"token": 1, "last_token": 0}
    assert plain(decode_binary(module.description, module.get_insts_bin())) == plain(module.calls(token=1, last_token=0))


@pytest.mark.parametrize("tokens", [1, 31, 32, 33, 64, 65, 100])
def test_loops_become_as_many_tasks_as_a_step_needs(tmp_path: Path, tokens: int) -> None:
    module = build(wide(100), aux=True)
    machine = memory_of(module, tmp_path, token=100)  # more rounds than the next step needs
    for offset, words in module.patches(token=tokens):
        machine.memory.view("ddr", offset, words.nbytes).view("<u4")[:] = words
    calls = module.calls(token=tokens)
    rounds = -(-tokens // 32)
    assert [c.instruction for c in calls] == ["mvm", *rounds * ["mvm_bn_res"], "norm"]
    assert [c.token_range for c in calls[1:-1]] == [(32 * i, min(32 * i + 32, tokens)) for i in range(rounds)]
    found = [c for b in module.binaries(token=tokens)
             for c in decode_binary(module.description, machine.memory.view("ddr", b.offset, b.size).tobytes())]  # fmt: skip
    assert plain(found) == plain(calls)


def test_loop_of_more_than_one_block(tmp_path: Path) -> None:
    # A token of 8,192 channels takes 128 of the buffer's 1,024 words: 8 tokens a round.
    module = build(wide(500, chin=4096 * 2), aux=True)
    assert module.binary is not None
    assert [r.loop.most for r in module.binary.runs if r.loop] == [63]
    machine = memory_of(module, tmp_path, token=500)
    calls = module.calls(token=500)
    found = [c for b in module.binaries(token=500)
             for c in decode_binary(module.description, machine.memory.view("ddr", b.offset, b.size).tobytes())]  # fmt: skip
    assert plain(found) == plain(calls)


def test_fetched_steps_leave_what_written_ones_leave(tmp_path: Path) -> None:
    graph = decoder()
    regs, aux = Machine(build(graph), tmp_path / "regs"), Machine(build(graph, aux=True), tmp_path / "aux")
    backend = IssBackend()
    backend.open(aux.module.instruction_set, aux.module.device, aux.memory, RunOptions())
    for x, step in steps((6, 1, 1)):
        wanted = regs.step({"x": x}, **step)
        aux.module.write_input(aux.memory, "x", x, **step)
        for offset, words in aux.module.patches(**step):
            aux.memory.view("ddr", offset, words.nbytes).view("<u4")[:] = words
        backend.execute(aux.module.calls(**step), 0, aux.module.binaries(**step))
        for name in wanted:
            np.testing.assert_array_equal(aux.module.read_output(aux.memory, name, **step).view("u1"), wanted[name].view("u1"))


def test_lite_refuses_what_it_has_no_instructions_for() -> None:
    module = build(wide(100), aux=True, build_config={"lite": True})
    assert len(module.calls(token=32)) == 3
    with pytest.raises(ModelError, match="2 rounds of a loop"):
        module.calls(token=33)


def test_binary_is_asked_of_a_module_without_one() -> None:
    with pytest.raises(DeviceError, match="built without a binary"):
        build(wide(8)).get_insts_bin()
