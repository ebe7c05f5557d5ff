"""State registers: what a call finds, what it leaves, and how they enter commits. The set here exists for these tests alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from fleet.engines.execute import execute_calls
from fleet.errors import DeviceError
from fleet.isa.digest import STATE, digest, space_number
from fleet.isa.memory import MappedMemory
from fleet.isa.resolved import reads_of, resolved, resolved_draw, state_after, writes_of
from fleet.sdk import Call, Device, Draw, Instruction, InstructionSet, Memory, OnChipMemory, Range, State, StateRegister, Write
from fleet.sdk.hardware.state import MemoryArray
from fleet.sdk.likeness import LikeInstruction

STATE_OF = State((OnChipMemory("pad", "|i1", "4"),), (StateRegister("stride", 4), StateRegister("mode")))


class Silent(Instruction):
    """What these instructions have in common: nothing costs, nothing but `stride` below 4 is illegal."""

    @classmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        return []

    @classmethod
    def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
        return []

    @classmethod
    def reads(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        return []

    @classmethod
    def writes(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        return []

    @classmethod
    def cost(cls, device: Device, fields: Mapping[str, int]) -> int:
        return 1


class Config(Silent):
    name = "config"

    @classmethod
    def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
        return [] if fields["value"] >= 4 else ["value: expected at least 4"]

    @classmethod
    def configures(cls, device: Device, fields: Mapping[str, int]) -> Mapping[str, int]:
        return {"stride": fields["value"]}


class MoveIn(Silent):
    """`rows` rows of 4 bytes, `stride` apart in DDR, to the beginning of `pad`."""

    name = "mvin"
    uses = ("stride",)

    @classmethod
    def reads(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        return [Range("ddr", i * fields["stride"], 4) for i in range(fields["rows"])]

    @classmethod
    def writes(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        return [Range("pad", 0, 4 * fields["rows"])]

    @classmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        rows = [memory.view(r.space, r.offset, r.size) for r in cls.reads(device, fields)]
        return [Write("pad", 0, np.concatenate(rows), dtype="|i1")]


class Wrong(Silent):
    """Configures what is not there."""

    name = "wrong"

    @classmethod
    def configures(cls, device: Device, fields: Mapping[str, int]) -> Mapping[str, int]:
        return {"colour": 1}


class Sly(Silent):
    """Depends on a register that it does not declare."""

    name = "sly"

    @classmethod
    def cost(cls, device: Device, fields: Mapping[str, int]) -> int:
        return fields["mode"]


@dataclass
class Bench:
    """A device with the set, and its memory."""

    set: InstructionSet
    device: Device
    memory: MappedMemory


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    pad = {"pad": MemoryArray("pad", 256, "|i1", 4, 16)}
    device = Device("small", "mine", {"HbmPorts": 1}, {"ddr": 4096}, 1.0, {}, tmp_path / "small.toml", state=STATE_OF, arrays=pad)
    classes = {c.name: c for c in (Config, MoveIn, Wrong, Sly)}
    found = cast("InstructionSet", SimpleNamespace(name="mine", instructions=classes))
    return Bench(found, device, MappedMemory(device, tmp_path / "images"))


CALLS = (
    Call("mvin", {"rows": 2}),
    Call("config", {"value": 64}),
    Call("mvin", {"rows": 2, "mode": 99}),
    Call("config", {"value": 1}),
    Call("mvin", {"rows": 1}),
)


def test_each_call_gets_what_it_declares_and_finds(bench: Bench) -> None:
    found = resolved(bench.set, bench.device, CALLS)
    assert [c.fields.get("stride") for c in found] == [4, None, 64, None, 64], "a refused call configures nothing"
    assert not any("mode" in c.fields for c in found)
    assert resolved(bench.set, bench.device, found) == found
    assert [c.fields["stride"] for c in resolved(bench.set, bench.device, found[2:3], {"stride": 8, "mode": 0})] == [8]
    assert state_after(bench.set, bench.device, CALLS) == {"stride": 64, "mode": 0}
    draw = resolved_draw(bench.set, bench.device, Draw(CALLS[2], (), before=CALLS[1:2]))
    assert draw.call.fields["stride"] == 64


def test_ranges_follow_the_state(bench: Bench) -> None:
    first, config, second = resolved(bench.set, bench.device, CALLS)[:3]
    assert reads_of(MoveIn, bench.device, first.fields) == [Range("ddr", 0, 4), Range("ddr", 4, 4), Range("state", 0, 4)]
    assert reads_of(MoveIn, bench.device, second.fields)[1] == Range("ddr", 64, 4)
    assert writes_of(Config, bench.device, config.fields) == [Range("state", 0, 4)]


def test_iss_takes_the_state_from_memory_and_commits_what_is_configured(bench: Bench) -> None:
    bench.memory.view("ddr", 0, 4096)[:] = np.arange(4096, dtype=np.uint32).astype(np.uint8)
    commits = list(execute_calls(bench.set, bench.device, bench.memory, CALLS, 0, commit_refused=True))
    word = np.array([64], "<u4").view(np.uint8)
    assert (commits[1].digest, commits[1].bytes_written) == (digest(STATE, 0, word), 4)
    data = np.array([0, 1, 2, 3, 64, 65, 66, 67], np.uint8)
    assert commits[2].digest == digest(space_number(bench.device, "pad"), 0, data)
    assert commits[3].error == 1
    assert bench.memory.view("state", 0, 8).view("<u4").tolist() == [64, 0]
    bench.memory.reset_state()
    assert bench.memory.view("state", 0, 8).view("<u4").tolist() == [4, 0]
    assert bench.memory.view("pad", 0, 8).tolist() == [0, 1, 2, 3, 64, 65, 66, 67], "memories stay"


def test_mistakes_of_a_set_are_named(bench: Bench) -> None:
    with pytest.raises(DeviceError, match="no state register 'colour'") as error:
        resolved(bench.set, bench.device, [Call("wrong", {})])
    assert error.value.where == "instruction wrong"
    (sly,) = resolved(bench.set, bench.device, [Call("sly", {})])
    with pytest.raises(KeyError, match="mode"):
        Sly.cost(bench.device, sly.fields)


def test_an_instruction_like_one_with_state_finds_and_leaves_what_that_does(bench: Bench) -> None:
    alike: dict[str, type[LikeInstruction]] = {}
    for name, like, more in (("config_too", "config", {}), ("mvin_too", "mvin", {}), ("mvin_fixed", "mvin", {"uses": ("mode",)})):
        found = type(name, (LikeInstruction,), {"name": name, "like": like, "start": ("go", 9, 1), **more})
        found.bind(bench.set)
        alike[name] = found
    both = cast("InstructionSet", SimpleNamespace(name="both", instructions={**bench.set.instructions, **alike}))
    calls = [
        Call("config_too", {"value": 64, "go": 9}),
        *(Call(n, {"rows": 1, "go": 9}) for n in ("mvin", "mvin_too", "mvin_fixed")),
    ]
    config, mvin, same, other = resolved(both, bench.device, calls)
    assert state_after(both, bench.device, [config]) == {"stride": 64, "mode": 0}
    assert (mvin.fields["stride"], same.fields["stride"]) == (64, 64)
    assert ("stride" in other.fields, other.fields["mode"]) == (False, 0), "an author's own stays"
