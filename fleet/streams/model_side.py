"""The functional model's side of a stream: commits of executed and of refused instructions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fleet.engines.execute import execute_calls
from fleet.isa.resolved import registers_in, resolved_call
from fleet.sdk import Call, Device, Instruction, InstructionSet, Memory, Write, contiguous
from fleet.streams.case import StreamCommit

UNKNOWN_CAUSE = -1
"""The functional model refuses the call without a cause: any cause of the hardware agrees."""


def refusal(cls: type[Instruction], device: Device, fields: Mapping[str, int]) -> int:
    """Return the cause for which the functional model refuses a call; 0 if it is legal."""
    judge = getattr(cls, "refusal", None)
    if judge is not None:
        found = judge(device, fields)
        return 0 if found is None else int(found[0])
    return UNKNOWN_CAUSE if cls.legal(device, fields) else 0


Watch = Callable[[int, Call, Sequence[Write]], None]
"""Called with number, call and writes (result registers included, contiguous blocks) of each executed instruction."""


def execute(
    instruction_set: InstructionSet, device: Device, memory: Memory, calls: Sequence[Call], watch: Watch | None = None
) -> list[StreamCommit]:
    """Execute the calls on `memory`, which changes, and return their commits. A refused call changes nothing and has a commit too.

    Raises DeviceError if an instruction does not exist or its semantics write outside their destination.
    """
    commits: list[StreamCommit] = []

    def told(seq: int, call: Call, writes: Sequence[Write]) -> None:
        if watch is not None:
            watch(seq, call, contiguous(writes))

    for seq, given in enumerate(calls):
        cls = instruction_set.instructions[given.instruction]
        call = resolved_call(cls, device, given, registers_in(device, memory))
        cause = refusal(cls, device, call.fields)
        if cause:
            commits.append(StreamCommit(call.instruction, cause, 0, 0, None))
            continue
        (c,) = execute_calls(instruction_set, device, memory, [call], seq, watch=told)
        commits.append(StreamCommit(call.instruction, 0, c.digest, c.bytes_written, c.result))
    return commits
