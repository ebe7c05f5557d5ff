"""Hazards of a stream against a reference that keeps a record for every single byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from no_layout import NoLayout

from fleet.sdk import Call, Device, Instruction, InstructionSet, Memory, Range, Write
from fleet.verify.conformance.hazards import Hazard, hazards

MEMORY = 24
BANKS = (("ddr", 0), ("hbm", 0), ("hbm", 1))


class _Touch(Instruction):
    """Reads and writes ranges that its fields spell: "r0.bank", "r0.at", "r0.size", "w0.bank", ..."""

    name = "touch"

    @classmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        return ()

    @classmethod
    def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
        return ["refused"] if fields.get("illegal") else []

    @classmethod
    def _ranges(cls, fields: Mapping[str, int], which: str) -> list[Range]:
        found: list[Range] = []
        while f"{which}{len(found)}.at" in fields:
            one = f"{which}{len(found)}"
            space, bank = BANKS[fields[f"{one}.bank"]]
            found.append(Range(space, fields[f"{one}.at"], fields[f"{one}.size"], bank))
        return found

    @classmethod
    def reads(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        return cls._ranges(fields, "r")

    @classmethod
    def writes(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        return cls._ranges(fields, "w")

    @classmethod
    def cost(cls, device: Device, fields: Mapping[str, int]) -> int:
        return 1


DEVICE = Device("bytes", "touching", {}, {"ddr": MEMORY, "hbm": MEMORY}, 100.0, {}, Path())
SET = InstructionSet("touching", "2.0", Path(), {"touch": _Touch}, {"bytes": DEVICE}, NoLayout())


def _call(reads: Sequence[tuple[int, int, int]], writes: Sequence[tuple[int, int, int]], *, illegal: bool = False) -> Call:
    fields = {"illegal": int(illegal)}
    for which, ranges in (("r", reads), ("w", writes)):
        for i, (bank, at, size) in enumerate(ranges):
            fields |= {f"{which}{i}.bank": bank, f"{which}{i}.at": at, f"{which}{i}.size": size}
    return Call("touch", fields)


def _byte_by_byte(calls: Sequence[Call]) -> set[Hazard]:
    """The definition itself: who wrote each byte last, and who read it last since."""
    found: set[Hazard] = set()
    writer: dict[tuple[str, int, int], int] = {}
    reader: dict[tuple[str, int, int], int] = {}

    def touched(ranges: Sequence[Range]) -> set[tuple[str, int, int]]:
        return {(r.space, r.bank, at) for r in ranges for at in range(r.offset, r.offset + r.size)}

    for i, call in enumerate(calls):
        if call.fields["illegal"]:
            continue
        reads, writes = touched(_Touch.reads(DEVICE, call.fields)), touched(_Touch.writes(DEVICE, call.fields))
        found |= {Hazard(i, writer[b], "raw", b[0]) for b in reads if b in writer}
        found |= {Hazard(i, writer[b], "waw", b[0]) for b in writes if b in writer}
        found |= {Hazard(i, reader[b], "war", b[0]) for b in writes if b in reader}
        reader |= dict.fromkeys(reads, i)
        for b in writes:
            writer[b] = i
            reader.pop(b, None)
    return found


_ranges = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, MEMORY - 1), st.integers(0, 8)).map(
        lambda r: (r[0], r[1], min(r[2], MEMORY - r[1]))
    ),
    max_size=3,
)


@given(st.lists(st.builds(lambda r, w, bad: _call(r, w, illegal=bad), _ranges, _ranges, st.booleans()), max_size=12))
def test_ranges_give_what_bytes_give(calls: list[Call]) -> None:
    found = hazards(SET, DEVICE, calls)
    assert set(found) == _byte_by_byte(calls)
    assert list(found) == sorted(found)
    assert len(set(found)) == len(found)


def test_the_nearest_one_counts_and_the_distance_is_in_instructions() -> None:
    whole, half, away = (0, 0, 8), (0, 4, 8), (1, 0, 8)
    calls = [_call([], [whole]), _call([], [half]), _call([away], []), _call([], [away], illegal=True), _call([whole], [away])]
    assert hazards(SET, DEVICE, calls) == (
        Hazard(1, 0, "waw", "ddr"),
        Hazard(4, 0, "raw", "ddr"),  # its first four bytes
        Hazard(4, 1, "raw", "ddr"),  # the others
        Hazard(4, 2, "war", "hbm"),
    )
    assert [h.distance for h in hazards(SET, DEVICE, calls)] == [1, 4, 3, 2]


def test_a_write_ends_what_was_read_before_it_and_an_instruction_meets_not_itself() -> None:
    there = (2, 3, 5)
    calls = [_call([there], []), _call([there], [there]), _call([], [there])]
    assert hazards(SET, DEVICE, calls) == (Hazard(1, 0, "war", "hbm"), Hazard(2, 1, "waw", "hbm"))
