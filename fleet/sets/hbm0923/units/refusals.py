"""Refusals of instructions: the causes, their ranking, and the checks that instructions share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from fleet.sdk import Device, Operands
from fleet.sets.hbm0923.mvm_operands import BEAT_BYTES, PIXEL_BYTES, ceil_div
from fleet.sets.hbm0923.units.feature import LANES_LSB, FeatureTensor


class RefusalCause(IntEnum):
    """Numbers of the error-cause register that a check can return."""

    ILLEGAL_MODE = 1
    BAD_SIZE = 2
    UNALIGNED = 3
    OUT_OF_RANGE = 4
    UNSUPPORTED = 7


RANK: tuple[RefusalCause, ...] = (
    RefusalCause.ILLEGAL_MODE,
    RefusalCause.UNSUPPORTED,
    RefusalCause.BAD_SIZE,
    RefusalCause.UNALIGNED,
    RefusalCause.OUT_OF_RANGE,
)
"""If there are several violations, the first of these causes counts."""
MOST_LINES = 255
"""Maximum lines (heads) of a feature tensor, except for MVM."""


class Refusal(NamedTuple):
    """One violated constraint: its cause, and a line that names the register and what was expected."""

    cause: RefusalCause
    line: str


class Hull(NamedTuple):
    """A range of bytes for a check, with the name of the register that holds its start.

    feature: the feature tensor if it is one, so that an exact match can be distinguished from an overlap.
    """

    name: str
    space: str
    first: int
    end: int
    feature: FeatureTensor | None = None


def first_refusal(found: Iterable[Refusal]) -> tuple[int, str] | None:
    """Return (cause, all lines of that cause) with the highest rank, or None."""
    listed = list(found)
    if not listed:
        return None
    cause = min((r.cause for r in listed), key=RANK.index)
    return int(cause), "; ".join(r.line for r in listed if r.cause is cause)


def given(fields: Mapping[str, int], names: Sequence[str]) -> list[Refusal]:
    """Return refusals of missing registers and of values wider than 32 bits, which hardware never sees."""
    missing = [Refusal(RefusalCause.UNSUPPORTED, f"{name}: no value given") for name in names if name not in fields]
    return missing or [
        Refusal(RefusalCause.UNSUPPORTED, f"{name}: {fields[name]} does not fit in 32 bits")
        for name in names
        if not 0 <= fields[name] < 1 << 32
    ]


_CAUSES = {
    "bits": RefusalCause.UNSUPPORTED,
    "value": RefusalCause.UNSUPPORTED,
    "alignment": RefusalCause.UNALIGNED,
    "derived": RefusalCause.BAD_SIZE,
}


def described(
    operands: type[Operands], fields: Mapping[str, int], causes: Mapping[str, RefusalCause] | None = None
) -> Iterator[Refusal]:
    """Yield violations of the description; for the start register (the last one), the mode of another instruction.

    causes: by register, for values and derived operands, if the kind of violation does not determine the cause.
    """
    known = {operands.FIXED[-1][0]: RefusalCause.ILLEGAL_MODE, **(causes or {})}
    for v in operands.violations(fields):
        yield Refusal(known.get(v.register, _CAUSES[v.kind]), v.line)


def mode(name: str, value: int, expected: Sequence[int]) -> Iterator[Refusal]:
    """Check the start register."""
    if value not in expected:
        yield Refusal(RefusalCause.ILLEGAL_MODE, f"{name}: mode {value:#x}, expected {' or '.join(hex(m) for m in expected)}")


def one_of(fields: Mapping[str, int], expected: Mapping[str, Sequence[int]]) -> Iterator[Refusal]:
    """Check registers that must have one of a few values."""
    for name, values in expected.items():
        if fields[name] not in values:
            yield Refusal(RefusalCause.UNSUPPORTED, f"{name}: {fields[name]:#x}, expected {' or '.join(hex(v) for v in values)}")


def only_bits(name: str, value: int, mask: int) -> Iterator[Refusal]:
    """Check that no bits outside a mask are set."""
    if value & ~mask:
        yield Refusal(RefusalCause.UNSUPPORTED, f"{name}: {value:#x}, expected no bits outside {mask:#x}")


def between(name: str, value: int, low: int, high: int, what: str) -> Iterator[Refusal]:
    """Check that a size fits its buffer."""
    if not low <= value <= high:
        yield Refusal(RefusalCause.BAD_SIZE, f"{name}: {value}, expected {low} to {high} ({what})")


def same(name: str, value: int, expected: int, what: str) -> Iterator[Refusal]:
    """Check a duplicate, or a size that others determine."""
    if value != expected:
        yield Refusal(RefusalCause.BAD_SIZE, f"{name}: {value}, expected {expected} ({what})")


def surfaces(name: str, value: int, most: int, what: str) -> Iterator[Refusal]:
    """Check a surfaces register with the valid lanes of the last group. most: channels."""
    count, lanes = value & 0xFFFF, value >> LANES_LSB
    if lanes >= 32:
        yield Refusal(RefusalCause.BAD_SIZE, f"{name}: {lanes} lanes in the last group, expected 0 (all 32) to 31")
    elif count == 0 or (count - 1) * 32 + (lanes or 32) > most:
        yield Refusal(RefusalCause.BAD_SIZE, f"{name}: {count} groups of 32 channels, expected 1 to {ceil_div(most, 32)} ({what})")


def pixel_stride(name: str, value: int, count: int, tokens: int) -> Iterator[Refusal]:
    """Check a stride between groups or lines of so many tokens; a single group or line needs none."""
    if count > 1 and value < tokens * PIXEL_BYTES:
        yield Refusal(RefusalCause.BAD_SIZE, f"{name}: {value:#x}, expected at least {tokens * PIXEL_BYTES:#x} ({tokens} tokens)")


def rows_apart(names: tuple[str, str], strides: tuple[int, int], counts: tuple[int, int], tokens: int) -> Iterator[Refusal]:
    """Check that an output's rows of tokens do not overlap: one stride must step over all rows of the other.

    names, strides, counts: of groups of channels (surfaces), then of lines.
    """
    (surface, line), (groups, lines), row = strides, counts, tokens * PIXEL_BYTES
    if groups > 1 and lines > 1 and line < (groups - 1) * surface + row and surface < (lines - 1) * line + row:
        what = f"{names[0]}: rows overlap with {surface:#x} and {names[1]} {line:#x}"
        yield Refusal(RefusalCause.BAD_SIZE, f"{what}, expected one to step over all rows of the other")


def aligned(fields: Mapping[str, int], names: Iterable[str], unit: int = PIXEL_BYTES) -> Iterator[Refusal]:
    """Check that addresses and strides are whole beats."""
    for name in names:
        if fields[name] % unit:
            yield Refusal(RefusalCause.UNALIGNED, f"{name}: {fields[name]:#x}, expected a multiple of {unit}")


def beats_aligned(fields: Mapping[str, int], names: Iterable[str]) -> Iterator[Refusal]:
    """Check that addresses and strides are whole HBM beats."""
    return aligned(fields, names, BEAT_BYTES)


def feature_hull(name: str, feature: FeatureTensor) -> Hull:
    """Return the hull of a feature tensor."""
    return Hull(name, feature.space, feature.base, feature.end, feature)


def in_memory(device: Device, hulls: Iterable[Hull]) -> Iterator[Refusal]:
    """Check that every range is within DDR, one HBM bank or one half of the on-chip memory."""
    for h in hulls:
        if h.space == "onchip":
            half = device.parameters["OnchipDepth"] * PIXEL_BYTES
            inside = h.end <= 2 * half and h.first // half == (h.end - 1) // half
            expected = f"one half of the on-chip memory (2 x {half:#x})"
        else:
            size = bank_bytes(device) if h.space == "hbm" else device.memory["ddr"]
            inside = h.end <= size
            expected = f"at most {size:#x} ({'one HBM bank' if h.space == 'hbm' else 'ddr'})"
        if not inside:
            yield Refusal(RefusalCause.OUT_OF_RANGE, f"{h.name}: the range is [{h.first:#x}, {h.end:#x}), expected {expected}")


def bank_bytes(device: Device) -> int:
    """Return the bytes of an HBM bank that exist."""
    return min(device.memory["hbm"], 1 << device.parameters["Log2BankStep"])


def apart(device: Device, sources: Sequence[Hull], outputs: Sequence[Hull], *, in_place: bool = False) -> Iterator[Refusal]:
    """Check that outputs overlap no source and no other output; on chip they must be in another half than every source.

    in_place: in DDR an output may be exactly one of the feature tensors that are read.
    """
    half = device.parameters["OnchipDepth"] * PIXEL_BYTES
    for i, out in enumerate(outputs):
        for other in (*sources, *outputs[i + 1 :]):
            if out.space != other.space:
                continue
            exact = in_place and out.feature is not None and out.feature == other.feature
            if out.space == "onchip" and out.first // half == other.first // half:
                line = f"{out.name}: in the half of {other.name}, expected the other half of the on-chip memory"
                yield Refusal(RefusalCause.OUT_OF_RANGE, line)
            elif out.first < other.end and other.first < out.end and not exact:
                yield Refusal(
                    RefusalCause.OUT_OF_RANGE,
                    f"{out.name}: [{out.first:#x}, {out.end:#x}) meets [{other.first:#x}, {other.end:#x}) of {other.name}, "
                    "expected no overlap",
                )
