"""Ways in: a stream as register writes and as a binary; HBM filled by the host and by the device; streams on disk."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.engines.accel import run_compiled
from fleet.engines.base import RunOptions
from fleet.engines.iss import IssBackend
from fleet.engines.rtl_sim.segment import Segment
from fleet.errors import DeviceError, FleetError, ModelError
from fleet.frontend.source import load
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.program import Program
from fleet.isa.codec import CodecError
from fleet.isa.codec_binary import decode_binary
from fleet.isa.description import DescriptionError, parameter_values
from fleet.isa.issue import runs
from fleet.isa.memory import MappedMemory
from fleet.isa.reading.cache import load as load_description
from fleet.isa.registry import find_device
from fleet.sdk import Device, InstructionSet
from fleet.targets.accel.compile import compile_accel
from fleet.targets.accel.container import load as load_stream
from fleet.targets.accel.container import save, stream_file
from fleet.targets.accel.listing import aux_listing
from fleet.targets.accel.program import AccelProgram
from fleet.targets.accel.stream import DeviceSegment

MODEL = """
import numpy as np

def forward(x: np.ndarray, w1: np.ndarray, b1: np.ndarray, w2: np.ndarray) -> np.ndarray:
    h = np.maximum(x @ w1 + b1, 0)
    return h @ w2
"""


@pytest.fixture(scope="module")
def target() -> tuple[InstructionSet, Device]:
    return find_device("hbm_small")


@pytest.fixture(scope="module")
def inputs() -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(0).standard_normal((3, 96)).astype(np.float32)}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, inputs: dict[str, np.ndarray]) -> Program:
    rng = np.random.default_rng(1)
    shapes = {"w1": (96, 40), "b1": (40,), "w2": (40, 24)}
    path = tmp_path_factory.mktemp("model") / "model.py"
    path.write_text(MODEL)
    return load(f"{path}:forward", {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes.items()}, inputs)


def compiled(program: Program, target: tuple[InstructionSet, Device], **options: str) -> AccelProgram:
    return compile_accel(program, *target, LoweringOptions.of(options))


def segment_of(stream: AccelProgram) -> DeviceSegment:
    (segment,) = (s for s in stream.steps if isinstance(s, DeviceSegment))
    return segment


@pytest.mark.parametrize("issue", ["regs", "aux"])
@pytest.mark.parametrize("load", ["host", "device"])
def test_every_way_gives_the_same_tensors(
    program: Program, target: tuple[InstructionSet, Device], inputs: dict[str, np.ndarray], tmp_path: Path, issue: str, load: str
) -> None:
    plain = run_compiled(compiled(program, target), inputs, RunOptions(workdir=tmp_path / "plain"), IssBackend())
    other = compiled(program, target, issue=issue, load=load)
    trace = run_compiled(other, inputs, RunOptions(workdir=tmp_path / "other"), IssBackend())
    for name, tensor in plain.tensors.items():
        assert np.array_equal(tensor, trace.tensors[name]), name
    copies = [c for c in trace.commits if c.instruction == "wt2hbm"]
    assert len(copies) == (2 * target[1].parameters["HbmPorts"] if load == "device" else 0)
    assert all(c.ops and c.bytes_written for c in copies)
    assert [c.instruction for c in trace.commits[len(copies) :]] == [c.instruction for c in plain.commits]
    assert len(segment_of(other).binaries) == (1 if issue == "aux" else 0)
    assert other.stream_hash != compiled(program, target).stream_hash or (issue, load) == ("regs", "host")


def test_the_binary_in_memory_is_what_runs(
    program: Program, target: tuple[InstructionSet, Device], inputs: dict[str, np.ndarray], tmp_path: Path
) -> None:
    """A bit of the binary that is flipped in the image changes what iss executes, or is refused."""
    stream = compiled(program, target, issue="aux")
    segment = segment_of(stream)
    (binary,) = segment.binaries

    def run(offset: int, value: int) -> list[int]:
        memory = MappedMemory.fresh(target[1], tmp_path / f"m{offset}", stream.images(), stream.registers)
        memory.view(binary.space, binary.offset, binary.size)[offset] = value
        backend = IssBackend()
        backend.open(*target, memory, RunOptions())
        return [c.digest for c in backend.execute(segment.calls, 0, segment.binaries)]

    good = [c.digest for c in run_compiled(stream, inputs, RunOptions(workdir=tmp_path / "x"), IssBackend()).commits]
    out = stream.plan.buffers[segment.groups[0].results[-1]].offset
    place = 64 + 4 * 11  # the output address of the first task
    assert decode_binary(target[0], stream_file(stream.stream).binary)[0].fields["mvm_out_addr"] == out
    moved = run(place + 2, (out >> 16 & 0xFF) ^ 0x10)
    assert moved[0] != good[0]
    with pytest.raises(CodecError, match="cfg_id 0x09 is no instruction"):
        run(0, 0x09)
    with pytest.raises(CodecError, match="fill byte is 0x"):
        run(1, 0)


def test_what_is_not_there_is_refused(program: Program, target: tuple[InstructionSet, Device]) -> None:
    instruction_set, device = target
    with pytest.raises(DeviceError, match="no way in called 'auto'; choose among regs, aux"):
        compile_accel(program, instruction_set, device, LoweringOptions(issue="auto"))
    with pytest.raises(DeviceError, match="nobody called 'me' fills the HBM"):
        compile_accel(program, instruction_set, device, LoweringOptions(load="me"))
    with pytest.raises(DeviceError, match="cannot fill the HBM; use --load host"):
        compile_accel(program, replace(instruction_set, loader=None), device, LoweringOptions(load="device", group=64))


def test_the_script_of_a_binary(program: Program, target: tuple[InstructionSet, Device], tmp_path: Path) -> None:
    """Hash, interrupts, parameters; then only the fetch's registers: 65, 66, 67 and 73 = 1, one wait."""
    stream = compiled(program, target, issue="aux")
    steps = segment_of(stream)
    (binary,) = steps.binaries
    segment = Segment(*target, steps.calls, binaries=steps.binaries, parameters={4 * 224: 0x3727C5AC})
    job = segment.job(tmp_path / "job", MappedMemory(target[1], tmp_path / "m"), "ideal")
    script = list(struct.iter_unpack("<4I", job.script.read_bytes()))
    writes = [(address // 4, data) for op, address, data, _ in script if op == 1]
    assert writes == [(228, 3), (227, 3), (224, 0x3727C5AC), (65, binary.offset), (66, 65), (67, 2), (73, 1), (228, 3)]
    assert [op for op, *_ in script].count(2) == 1


def test_calls_without_a_binary_form_are_cut_out(program: Program, target: tuple[InstructionSet, Device]) -> None:
    stream = compiled(program, target, issue="aux", load="device")
    calls = segment_of(stream).calls
    ports = target[1].parameters["HbmPorts"]
    assert list(runs(load_description(target[0].description), calls)) == [(0, 2 * ports, False), (2 * ports, 2, True)]
    text = aux_listing(stream.stream)
    assert text.count("  by registers: ") == 2 * ports
    assert text.count("(2 beats): ") == 2
    assert "2 tasks, 1 blocks, 65 beats" in text


def test_a_stream_file_holds_everything(program: Program, target: tuple[InstructionSet, Device], tmp_path: Path) -> None:
    for options in ({}, {"issue": "aux"}, {"issue": "aux", "load": "device"}, {"load": "device"}):
        stream = compiled(program, target, **options)
        made = stream_file(stream.stream)
        save(made, tmp_path / "a.stream")
        assert load_stream(tmp_path / "a.stream", stream.description_hash) == made
        spaces = {i.space for i in made.images}
        assert ("hbm" in spaces) == ("load" not in options)
        assert [p.kind for s in made.segments for p in s] == {
            (): ["writes"], ("issue",): ["binary"], ("issue", "load"): ["writes", "binary"], ("load",): ["writes"]
        }[tuple(options)]  # fmt: skip
        assert sum(p.tasks for s in made.segments for p in s) == len(list(stream.calls))
        if "issue" in options:
            assert decode_binary(target[0], made.binary)[0].instruction.startswith("mvm")
        first = made.segments[0][0]
        last = {(): 132, ("load",): 132, ("issue", "load"): 292, ("issue",): None}[tuple(options)]
        assert (first.writes[-1][0] if first.writes else None) == last


def test_bad_stream_files_are_refused(program: Program, target: tuple[InstructionSet, Device], tmp_path: Path) -> None:
    stream = stream_file(compiled(program, target, issue="aux").stream)
    good = tmp_path / "good.stream"
    save(stream, good)
    raw = good.read_bytes()
    bad = tmp_path / "bad.stream"

    def refuse(data: bytes, error: type[FleetError], match: str) -> None:
        bad.write_bytes(data)
        with pytest.raises(error, match=match) as caught:
            load_stream(bad, stream.description_hash)
        assert caught.value.where == str(bad)
        assert "\n" not in str(caught.value)

    refuse(raw[:-1], ModelError, "bytes of payload, the head says")
    refuse(raw[:30], ModelError, "shorter than the head")
    refuse(b"", ModelError, "shorter than the head")
    refuse(raw + b"\0", ModelError, "bytes of payload, the head says")
    refuse(b"X" + raw[1:], ModelError, "is not a stream file")
    refuse(raw[:8] + b"\x02" + raw[9:], ModelError, "is of version 2, expected 1")
    for position in (100, len(raw) // 2, len(raw) - 1):
        refuse(raw[:position] + bytes([raw[position] ^ 1]) + raw[position + 1 :], ModelError, "the checksum is wrong")
    with pytest.raises(ModelError, match="cannot be read"):
        load_stream(tmp_path / "none.stream")
    save(replace(stream, description_hash="0" * 64), bad)
    with pytest.raises(DeviceError, match="compiled for description 0000000000000000, the installed one is"):
        load_stream(bad, stream.description_hash)
    assert load_stream(bad).description_hash == "0" * 64


def test_parameters_of_a_stream_reach_the_registers(
    program: Program, target: tuple[InstructionSet, Device], inputs: dict[str, np.ndarray], tmp_path: Path
) -> None:
    description = load_description(target[0].description)
    assert parameter_values(description, {"eps": 7})[4 * 224] == 7
    with pytest.raises(DescriptionError, match="no parameter register 'epsilon'"):
        parameter_values(description, {"epsilon": 7})
    seen: list[int] = []

    class Watching(IssBackend):
        def open(self, instruction_set: InstructionSet, device: Device, memory: MappedMemory, options: RunOptions) -> None:
            super().open(instruction_set, device, memory, options)
            self.memory = memory

        def close(self) -> None:
            seen.append(int(self.memory.view("reg", 4 * 224, 4).view("<u4")[0]))
            super().close()

    stream = replace(compiled(program, target), parameters={"eps": 0x3727C5AC})
    run_compiled(stream, inputs, RunOptions(workdir=tmp_path), Watching())
    assert seen == [0x3727C5AC]
    assert stream.stream_hash != compiled(program, target).stream_hash
