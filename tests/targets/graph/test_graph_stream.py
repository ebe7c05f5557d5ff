"""A step of a graph as a stream: listed, stored and loaded like that of a program, and it runs from what the file holds alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from small import Machine, decoder, steps

from fleet.errors import ModelError
from fleet.isa.codec import register_writes
from fleet.isa.codec_binary import decode_binary
from fleet.isa.memory import MappedMemory
from fleet.targets.accel.build import build
from fleet.targets.accel.container import load, save, stream_file
from fleet.targets.accel.listing import aux_listing, memory_map, regs_listing

STEP = {"token": 5, "last_token": 0}


@pytest.mark.parametrize("aux", [False, True])
def test_a_listing_has_every_instruction_of_the_step(aux: bool) -> None:
    module = build(decoder(1), name="decoder", aux=aux)
    stream = module.stream(**STEP)
    listing = (aux_listing if aux else regs_listing)(stream)
    numbered = re.findall(r"^(\d+): (\w+) .*# (\S+?),? ", listing.replace("\n", " \n"), re.MULTILINE)
    assert numbered == [(str(i), c.instruction, c.ops[0]) for i, c in enumerate(module.calls(**STEP))]
    assert listing.startswith("# decoder (token=5, last_token=0) for hbm_small (hbm0923)\n")
    written = [(int(a, 16), int(v, 16)) for a, v in re.findall(r"^  (0x\w+) <- (0x\w+)$", listing, re.MULTILINE)]
    expected = [pair for call in module.calls(**STEP) for pair in register_writes(module.description, call)]
    assert written == ([] if aux else expected)


def test_the_memory_map_has_every_tenant_and_its_time() -> None:
    module = build(decoder(1), name="decoder", aux=True)
    lines = memory_map(module.stream(**STEP)).splitlines()
    assert lines[0] == "decoder (token=5, last_token=0) on hbm_small"
    assert lines[1 : 2 + len(module.storage.bases)] == module.storage.report()
    places = [line for line in lines if line.startswith("  ")]
    assert len(places) == len(module.storage.tenants)
    insts = module.storage.storages[module.insts]
    assert f"  ddr  {insts.address:#010x} {insts.size:>10} insts insts" in places
    (given,) = [line for line in places if " runtime x," in line]
    assert given.endswith("runtime x, the beginning to mvm_bn_res_11")
    assert sum(line.endswith(" to the end") for line in places) == 2  # logits and indices


@pytest.mark.parametrize("aux", [False, True])
def test_a_file_holds_all_that_a_step_needs(aux: bool, tmp_path: Path) -> None:
    module = build(decoder(1), name="decoder", aux=aux)
    save(stream_file(module.stream(**STEP)), tmp_path / "step.stream")
    file = load(tmp_path / "step.stream", module.description_hash)
    calls = module.calls(**STEP)
    (parts,) = file.segments
    if aux:
        (part,) = parts
        assert [dict(c.fields) for c in decode_binary(module.description, part.data)] == [dict(c.fields) for c in calls]
        place = module.storage.storages[module.insts]
        assert [i.data.tobytes() for i in file.images if (i.space, i.offset) == (place.space, place.address)] == [part.data]
    else:
        assert [w for p in parts for w in p.writes] == [w for c in calls for w in register_writes(module.description, c)]
    machine, whole = Machine(module, tmp_path / "a", images=False), Machine(module, tmp_path / "b")
    machine.memory = MappedMemory.fresh(module.device, tmp_path / "a", file.images, module.registers)
    ((x, dims),) = steps((5,))
    for name, found in machine.step({"x": x}, **dims).items():
        assert found.tobytes() == whole.step({"x": x}, **dims)[name].tobytes()


def test_its_hash_is_of_instructions_and_constants() -> None:
    module = build(decoder(1), name="decoder")
    first = module.stream(**STEP).stream_hash
    assert build(decoder(1), name="decoder").stream(**STEP).stream_hash == first
    assert module.stream(token=4, last_token=0).stream_hash != first
    assert build(decoder(1, seed=1), name="decoder").stream(**STEP).stream_hash != first


def test_a_step_beyond_the_plan_has_no_stream() -> None:
    with pytest.raises(ModelError, match="token is 25, the plan has 0 to 24"):
        build(decoder(1), name="decoder").stream(token=25, last_token=0)
