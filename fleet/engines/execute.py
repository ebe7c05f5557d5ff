"""Executes instructions by their functional model, one after the other, with one commit each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from fleet.engines.trace import Commit
from fleet.errors import ComparisonFailure, DeviceError
from fleet.isa.digest import digest_writes
from fleet.isa.resolved import effects, registers_in, resolved_call
from fleet.sdk import Call, Device, Instruction, InstructionSet, Memory, Range, Write, contiguous
from fleet.sdk.hardware.state import REGISTERS


def execute_calls(
    instruction_set: InstructionSet,
    device: Device,
    memory: Memory,
    calls: Sequence[Call],
    first_seq: int,
    *,
    commit_refused: bool = False,
    watch: Callable[[int, Call, Sequence[Write]], None] | None = None,
) -> Iterator[Commit]:
    """Execute calls in order and apply the writes; yield one commit per call.

    Args:
        instruction_set, device, memory: what the calls run on; space "reg" holds the parameter registers.
        calls: in program order.
        first_seq: number of the first commit.
        commit_refused: an illegal instruction writes nothing and commits with its cause, as in hardware.
        watch: called with the number, the call and the writes of each executed call, blocks at regular distances as one write.

    Raises:
        DeviceError: an instruction is unknown or (without `commit_refused`) illegal.
        ComparisonFailure: the semantics of an instruction write outside its destination.
    """
    for seq, given in enumerate(calls, first_seq):
        where = f"instruction {seq} ({given.instruction}{', ' + given.ops[-1] if given.ops else ''})"
        cls = instruction_set.instructions.get(given.instruction)
        if cls is None:
            raise DeviceError(f"'{instruction_set.name}' has no such instruction", where=where)
        call = resolved_call(cls, device, given, registers_in(device, memory))
        if commit_refused:
            refusal = cls.refusal(device, call.fields)
            if refusal is not None:
                yield Commit(seq, call.instruction, call.ops, 0, 0, token_range=call.token_range, error=refusal[0])
                continue
        elif wrong := cls.legal(device, call.fields):
            raise DeviceError("illegal: " + "; ".join(wrong), where=where)
        writes = effects(cls, device, call.fields, memory)
        result = _result(writes)
        stored = [w for w in writes if w.space != "reg"]
        _check_inside(cls, device, call, stored, where)
        for w in stored:
            w.put(memory)
        if watch is not None:
            watch(seq, call, writes)
        size = sum(w.data.size for w in stored)
        yield Commit(seq, call.instruction, call.ops, digest_writes(device, stored), size, result, token_range=call.token_range)


def _result(writes: Sequence[Write]) -> int | None:
    registers = [w for w in writes if w.space == "reg"]
    return int.from_bytes(registers[-1].data.tobytes(), "little") if registers else None


def _check_inside(cls: type[Instruction], device: Device, call: Call, writes: Sequence[Write], where: str) -> None:
    ranges = cls.destination(device, call.fields)
    if len(ranges) == len(writes) and all(map(_exactly, writes, ranges)):
        return
    # For each write, the range with the last end among those that start at or before it: there may be thousands of both.
    starts: dict[tuple[str, int], list[int]] = {}
    ends: dict[tuple[str, int], list[int]] = {}
    for r in sorted(contiguous(ranges), key=lambda r: r.offset):
        behind = ends.setdefault((r.space, r.bank), [])
        starts.setdefault((r.space, r.bank), []).append(r.offset)
        behind.append(max(r.offset + r.size, behind[-1] if behind else 0))
    for w in contiguous(writes):
        if w.space == REGISTERS:  # derived from what it configures, so there is no second statement to check
            continue
        begin, end, key = w.offset, w.offset + w.data.size, (w.space, w.bank)
        at = bisect_right(starts.get(key, []), begin)
        if at == 0 or ends[key][at - 1] < end:
            bank = f" bank {w.bank}" if w.bank else ""
            raise ComparisonFailure(f"writes bytes [{begin:#x}, {end:#x}) of {w.space}{bank} outside its destination", where=where)


def _exactly(w: Write, r: Range) -> bool:
    """Return whether a write covers exactly the bytes of a range."""
    if w.strides or r.strides:
        if (w.counts, w.strides, w.data.shape[-1]) != (r.counts, r.strides, r.size):
            return False
    elif w.data.size != r.size:
        return False
    return (w.offset, w.bank, w.space) == (r.offset, r.bank, r.space)
