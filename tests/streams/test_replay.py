"""Replay with fakes: a set of two instructions over DDR and memory on the chip, and hardware that is told how to be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.engines.rtl_sim.beats import Beat, read_beats
from fleet.engines.rtl_sim.expected import ANY_CAUSE, ExpectedCommit, save_expected
from fleet.errors import FleetError, ModelError
from fleet.isa.digest import digest_writes
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.sdk import Range, Write
from fleet.streams.model_side import execute
from fleet.streams.replay.chain import chain
from fleet.streams.replay.early import written_early
from fleet.streams.replay.fillers import Ranges, fillers
from fleet.streams.replay.history import MemoryHistory
from fleet.streams.replay.places import first_beat, first_tile, pattern
from fleet.streams.replay.suppose import address_fields, supposed
from fleet.verify.conformance.suite import make_case

PROGRAMS = ("hbm_small/program/3", "vgemm_small/program/3", "vgemm_small/program/11")


def opened(name: str, folder: Path) -> MemoryHistory:
    """The history of a program of the conformance suite."""
    case = make_case(name)
    instruction_set, device = find_device(case.device)
    memory = MappedMemory(device, folder)
    memory.set_registers(case.parameters)
    for b in case.blocks:
        memory.view(b.space, b.offset, b.data.size, b.bank)[:] = b.data.reshape(-1).view(np.uint8)
    return MemoryHistory(instruction_set, device, memory, case.calls)


def image(history: MemoryHistory) -> dict[tuple[str, int], bytes]:
    """Every byte of memory that the program's instructions name."""
    found: dict[tuple[str, int], bytes] = {}
    for i, call in enumerate(history.calls):
        cls = history.instruction_set.instructions[call.instruction]
        for n, r in enumerate((*cls.reads(history.device, call.fields), *cls.writes(history.device, call.fields))):
            found[f"{i} {r.space} {r.bank}", n] = history.memory.view(r.space, r.offset, r.size, r.bank).tobytes()
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_memory_goes_back_and_forth_as_if_executed_once(name: str, tmp_path: Path) -> None:
    history, straight = opened(name, tmp_path / "a"), opened(name, tmp_path / "b")
    images = [image(straight)]
    for call in straight.calls:
        execute(straight.instruction_set, straight.device, straight.memory, [call])
        images.append(image(straight))
    for seq in (len(images) - 1, 0, 2, 1, len(images) - 1, len(images) // 2):
        history.to(seq)
        assert history.at == seq
        assert image(history) == images[seq], f"memory before instruction {seq}"


@pytest.mark.parametrize("name", PROGRAMS[1:])
def test_what_was_written_is_defined_whatever_its_value(name: str, tmp_path: Path) -> None:
    """Also where an instruction happened to write what stood there at power-on."""
    history = opened(name, tmp_path)
    arrays = history.device.arrays
    power_on = {space: history.memory.view(space, 0, a.size).copy() for space, a in arrays.items()}
    at_start = {space: history.undefined(space) for space in arrays}
    written = {space: np.zeros(a.size, np.bool_) for space, a in arrays.items()}
    for seq in range(len(history.calls)):
        history.to(seq)
        for w in history.writes():
            if w.space in arrays:
                written[w.space][w.offset : w.offset + w.data.size] = True
    history.to(len(history.calls))
    assert any(mask.any() for mask in written.values())
    for space, array in arrays.items():
        view = history.memory.view(space, 0, array.size)
        kept = view.copy()
        view[:] = power_on[space]
        assert np.array_equal(history.undefined(space), at_start[space] & ~written[space])
        view[:] = kept
    history.to(0)
    assert all(np.array_equal(history.undefined(space), at_start[space]) for space in arrays)


def test_memory_beyond_what_is_kept_is_made_again_or_refused(tmp_path: Path) -> None:
    history = opened(PROGRAMS[0], tmp_path)
    history._room = 1  # pyright: ignore[reportPrivateUsage]
    history.to(3)
    with pytest.raises(FleetError, match="not known any more"):
        history.to(0)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 60), st.integers(1, 20)), max_size=12))
@settings(deadline=None)
def test_ranges_are_a_set_of_bytes(steps: list[tuple[bool, int, int]]) -> None:
    ranges, known = Ranges(), set[int]()
    for add, start, size in steps:
        r = Range("onchip", start, size)
        if add:
            ranges.add(r)
            known |= set(range(start, start + size))
        else:
            ranges.remove(r)
            known -= set(range(start, start + size))
    assert bool(ranges) == bool(known)
    for at in range(90):
        assert ranges.meets(Range("onchip", at, 1)) == (at in known)


@pytest.mark.parametrize("name", PROGRAMS)
def test_fillers_leave_what_the_window_reads_on_the_chip(name: str, tmp_path: Path) -> None:
    """Only these executed, on the bytes of DDR as they were: what the window reads on the chip is as in the whole run."""
    whole = opened(name, tmp_path / "whole")
    outside = {space for space, _ in whole.memory.paths}
    for first in range(len(whole.calls)):
        earlier = fillers(whole.instruction_set, whole.device, whole.calls, first, first, outside)
        assert earlier == sorted(n for n in earlier if n < first)
        alone = MappedMemory(whole.device, tmp_path / f"alone{first}")
        for n in earlier:
            whole.to(n)
            for key in whole.memory.paths:
                size = whole.memory.paths[key].stat().st_size
                alone.view(key[0], 0, size, key[1])[:] = whole.memory.view(key[0], 0, size, key[1])
            execute(whole.instruction_set, whole.device, alone, [whole.calls[n]])
        whole.to(first)
        call = whole.calls[first]
        written = chain(whole.instruction_set, whole.device, whole.calls, first, {})
        never = {link.place for link in written if link.writer is None}
        for r in whole.instruction_set.instructions[call.instruction].reads(whole.device, call.fields):
            if r.space not in outside and r.space != "reg" and not never:
                assert np.array_equal(alone.view(r.space, r.offset, r.size), whole.memory.view(r.space, r.offset, r.size))
        alone.close()


def beat(cycle: int, offset: int, data: Sequence[int], written: int | None = None) -> Beat:
    """One of 64 bytes in DDR, of which the first so many are written."""
    whole = np.zeros(64, np.uint8)
    whole[: len(data)] = data
    mask = np.arange(64) < (len(data) if written is None else written)
    return Beat(cycle, "ddr", 0, offset, whole, mask)


def test_the_first_wrong_beat_is_first_in_time_not_in_address() -> None:
    _, device = find_device("hbm_small")
    writes = [Write("ddr", 0, np.arange(128, dtype=np.uint8))]
    good = beat(10, 64, range(64, 128))
    wrong = beat(12, 0, [0, 1, 9, *range(3, 64)])
    found = first_beat(device, writes, [good, wrong])
    assert found is not None
    assert (found.cycle, found.number, found.what, found.place) == (12, 1, "wrong value", "ddr 0x0")
    assert first_beat(device, writes, [good, beat(12, 0, range(64))]) is None
    missing = first_beat(device, writes, [good])
    assert missing is not None
    assert (missing.what, missing.place, missing.cycle) == ("missing", "ddr 0x0", None)
    elsewhere = first_beat(device, writes, [beat(3, 128, [7]), good])
    assert elsewhere is not None
    assert (elsewhere.what, elsewhere.place, elsewhere.found) == ("outside the destination", "ddr 0x80", "07")


def test_bytes_of_a_younger_instruction_are_told_from_strays(tmp_path: Path) -> None:
    history = opened("vgemm_small/program/2", tmp_path)
    names = [c.instruction for c in history.calls]
    later = names.index("store", 2)
    history.to(later)
    (target, *_) = history.writes()
    seq = later - 2
    history.to(seq)
    own = [b for w in history.writes() for b in [beat(3, w.offset, w.data[:4])] if w.space == "ddr"]
    early = beat(5, target.offset, target.data.reshape(-1)[:4])
    found = written_early(history, seq, len(names) - seq - 1, [*own, early])
    assert found is not None
    assert (found.seq, found.beat, found.number) == (later, early, len(own))
    assert found.bytes_ == tuple(("ddr", 0, target.offset + i, int(target.data.reshape(-1)[i])) for i in range(4))
    assert history.at == seq
    assert written_early(history, seq, later - seq - 1, [*own, early]) is None, "it had not been started"
    stray = beat(5, history.device.memory["ddr"] - 64, [1])
    assert written_early(history, seq, len(names) - seq - 1, [*own, stray]) is None


def test_tile_and_pattern_of_a_flipped_bit(tmp_path: Path) -> None:
    _, device = find_device("hbm_small")
    before, after = MappedMemory(device, tmp_path / "before"), MappedMemory(device, tmp_path / "after")
    values = np.arange(1, 129, dtype="<u2").view(np.uint8)
    writes = [Write("ddr", 64 * i, values[64 * i :][:64]) for i in range(4)]
    after.view("ddr", 0, 256)[:] = values
    assert first_tile(device, writes, after) is None
    words = after.view("ddr", 128, 128).view("<u2")
    words[5::8] ^= 8
    tile = first_tile(device, writes, after)
    assert tile is not None
    assert (tile.first, tile.count, tile.wrong, tile.place) == (2, 4, 2, "ddr 0x80")
    lines = pattern(writes, after, before)
    assert lines[0] == "8 of 128 elements differ, each in bit 3 alone (mask 0x0008)"
    assert "element 5 of every 8" in lines[1]
    after.view("ddr", 0, 256)[:] = 0
    assert {"found is 0 wherever it differs", "found is what stood there before: it was not written"} <= set(
        pattern(writes, after, before)
    )


def test_results_of_the_neighbour_are_named(tmp_path: Path) -> None:
    _, device = find_device("hbm_small")
    before, after = MappedMemory(device, tmp_path / "before"), MappedMemory(device, tmp_path / "after")
    values = (np.arange(64, dtype="<u2") * 37 + 5).astype("<u2")
    after.view("ddr", 0, 126).view("<u2")[:] = values[1:]
    lines = pattern([Write("ddr", 0, values.view(np.uint8))], after, before)
    assert any("1 element behind" in line for line in lines)


@pytest.mark.parametrize("name", ["hbm_small/mvm_bn/directed/0", "hbm_small/act/directed/0", "vgemm_small/store/directed/0"])
def test_another_address_is_supposed_and_the_field_of_the_place_named(name: str, tmp_path: Path) -> None:
    """What the model computes with one field changed is explained by that field."""
    history = opened(name, tmp_path)
    seq = len(history.calls) - 1
    history.to(seq)
    call = history.calls[seq]
    cls = history.instruction_set.instructions[call.instruction]
    (target, *_) = cls.writes(history.device, call.fields)
    named = address_fields(history.instruction_set, history.device, call, target.space, target.bank, target.offset)
    assert named
    assert "address in ddr" in named[0]
    register = named[0].split(" ")[0]
    now = call.fields[register]
    candidates = (replace(call, fields={**call.fields, register: value}) for value in (now ^ 0x40, now + 0x40, now - 0x40))
    moved = next(c for c in candidates if not cls.legal(history.device, c.fields))
    writes = cls.execute(history.device, moved.fields, history.memory)
    size = sum(w.data.size for w in writes if w.space != "reg")
    lines = supposed(
        history.instruction_set,
        history.device,
        history.calls,
        seq,
        history.memory,
        digest_writes(history.device, writes),
        size,
        seconds=60,
    )
    assert any(f"as if {register} were {moved.fields[register]:#x} " in line for line in lines), lines
    assert supposed(history.instruction_set, history.device, history.calls, seq, history.memory, 12345, size) == ()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_chain_names_the_last_writer(name: str, tmp_path: Path) -> None:
    """Held against a table of the last writer of every byte, kept while the program executes."""
    history = opened(name, tmp_path)
    last: dict[tuple[str, int, int], int] = {}
    cls = history.instruction_set.instructions
    for seq, call in enumerate(history.calls):
        links = [k for k in chain(history.instruction_set, history.device, history.calls, seq, {}) if k.depth == 0]
        wanted: dict[int | None, int] = {}
        for r in cls[call.instruction].reads(history.device, call.fields):
            for at in range(r.offset, r.offset + r.size):
                writer = last.get((r.space, r.bank, at))
                wanted[writer] = wanted.get(writer, 0) + 1
        found: dict[int | None, int] = {}
        for link in links:
            found[link.writer] = found.get(link.writer, 0) + link.size
        assert found == wanted, f"instruction {seq}"
        for r in cls[call.instruction].writes(history.device, call.fields):
            last |= {(r.space, r.bank, at): seq for at in range(r.offset, r.offset + r.size)}


def test_files_of_the_bench(tmp_path: Path) -> None:
    save_expected(tmp_path / "e", [ExpectedCommit(7, 2, 3), ExpectedCommit(0, 0, None, 5), ExpectedCommit(0, 0, None, ANY_CAUSE)])
    words = np.fromfile(tmp_path / "e", "<u2").reshape(3, 12)
    assert words[0].tolist() == [7, 0, 0, 0, 2, 0, 3, 0, 0x8000, 0, 0, 0]
    assert words[1].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0]
    assert words[2][8] == 0x7FFF
    record = np.zeros(12, "<u8")
    record[:4] = 5, 0x40, 0b101, 17
    record[4:].view(np.uint8)[:3] = 1, 2, 3
    record.tofile(tmp_path / "w")
    _, device = find_device("hbm_small")
    (found,) = read_beats(tmp_path / "w", device)
    assert (found.cycle, found.space, found.bank, found.offset) == (5, "hbm", 1, 0x40)
    assert np.flatnonzero(found.written).tolist() == [0, 2]
    assert list(read_beats(tmp_path / "w", device, 6)) == []
    (tmp_path / "w").write_bytes(b"short")
    with pytest.raises(ModelError, match="whole number"):
        list(read_beats(tmp_path / "w", device))
