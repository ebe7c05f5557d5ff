"""The chain that produced an instruction's inputs: which earlier commit wrote each operand, back to what the host wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fleet.compare.account import OperandLink
from fleet.isa.resolved import reads_of, writes_of
from fleet.sdk import Call, Device, InstructionSet, Range
from fleet.streams.model_side import refusal
from fleet.streams.replay.suppose import field_of_read

HostNames = Callable[[str, int, int], str]
"""(space, bank, offset) -> what the host wrote there, in words ("constant w1"); empty if unknown."""

_LINKS = 32


class _Writers:
    """The last writer of each byte before an instruction."""

    def __init__(self, instruction_set: InstructionSet, device: Device, calls: Sequence[Call], last: int) -> None:
        self._ranges: list[list[Range]] = []
        for call in calls[:last]:
            cls = instruction_set.instructions[call.instruction]
            refused = refusal(cls, device, call.fields)
            self._ranges.append([] if refused else writes_of(cls, device, call.fields))
        self._boxes = [_boxes(ranges) for ranges in self._ranges]

    def of(self, r: Range, before: int) -> list[tuple[int | None, int, int]]:
        """Return (writer, start, end) for each part of a range; the writer is None if no instruction wrote it."""
        parts = [(r.offset, r.offset + r.size)]
        found: list[tuple[int | None, int, int]] = []
        for seq in range(before - 1, -1, -1):
            if not parts:
                break
            box = self._boxes[seq].get((r.space, r.bank))
            if box is None or all(b <= box[0] or box[1] <= a for a, b in parts):
                continue
            for w in self._ranges[seq]:
                if (w.space, w.bank) != (r.space, r.bank):
                    continue
                left: list[tuple[int, int]] = []
                for a, b in parts:
                    x, y = max(a, w.offset), min(b, w.offset + w.size)
                    if x < y:
                        found.append((seq, x, y))
                        left += [(p, q) for p, q in ((a, x), (y, b)) if p < q]
                    else:
                        left.append((a, b))
                parts = left
        return [*found, *((None, a, b) for a, b in parts)]


def _boxes(ranges: Sequence[Range]) -> dict[tuple[str, int], tuple[int, int]]:
    boxes: dict[tuple[str, int], tuple[int, int]] = {}
    for r in ranges:
        a, b = boxes.get((r.space, r.bank), (r.offset, r.offset + r.size))
        boxes[r.space, r.bank] = min(a, r.offset), max(b, r.offset + r.size)
    return boxes


def chain(
    instruction_set: InstructionSet, device: Device, calls: Sequence[Call], seq: int, digests: Mapping[int, int],
    host: HostNames | None = None,
) -> tuple[OperandLink, ...]:  # fmt: skip
    """Return the links: the divergent instruction's own operands first, then those of the instructions that wrote them, and so on.

    digests: number of a commit -> digest that both engines agreed on. A writer with several readers is followed once.
    """
    if instruction_set.instructions[calls[seq].instruction].legal(device, calls[seq].fields):
        return ()  # what an illegal call reads is undefined, and asking for it may fail
    writers = _Writers(instruction_set, device, calls, seq)
    links: list[OperandLink] = []
    queue, seen = [(seq, 0)], {seq}
    while queue and len(links) < _LINKS:
        reader, depth = queue.pop(0)
        call = calls[reader]
        cls = instruction_set.instructions[call.instruction]
        names = (*field_of_read(instruction_set, device, call), *cls.uses)
        groups: dict[tuple[str, str, int | None, str], list[tuple[int, int, int]]] = {}
        for name, r in zip(names, reads_of(cls, device, call.fields), strict=True):
            for writer, start, end in writers.of(r, reader) if r.size else ():
                words = host(r.space, r.bank, start) if writer is None and host is not None else ""
                groups.setdefault((r.space, name, writer, words), []).append((r.bank, start, end))
        for (space, name, writer, given), parts in groups.items():
            bank, start, _ = min(parts)
            words = given or "memory at the start"
            if writer is not None:
                made = calls[writer]
                words = made.instruction + (f" of {made.ops[-1]}" if made.ops else "")
                if writer not in seen:
                    seen.add(writer)
                    queue.append((writer, depth + 1))
            banks = len({b for b, _, _ in parts})
            where = f"{space} {start:#x} of {banks} ports" if banks > 1 else device.place(space, bank, start)
            digest = f"{digests[writer]:016x}" if writer is not None and writer in digests else ""
            links.append(OperandLink(depth, reader, name, where, sum(b - a for _, a, b in parts), writer, words, digest))
    return tuple(links[:_LINKS])
