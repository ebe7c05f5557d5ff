"""The stream as text: memory, then every instruction disassembled with its register writes (`--emit accel-regs`), or with the
bytes of its binary form (`--emit accel-aux`)."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.ir.dialect import op_id
from fleet.isa import codec
from fleet.isa.codec_binary import TASKS
from fleet.isa.description import load
from fleet.targets.accel.program import AccelProgram, HostStep

__all__ = ["aux_listing", "regs_listing"]


def regs_listing(compiled: AccelProgram) -> str:
    """Lines closed by newlines; numbers are hexadecimal, addresses bytes."""
    return "\n".join(_lines(compiled)) + "\n"


def aux_listing(compiled: AccelProgram) -> str:
    """The same of a stream that was compiled with issue "aux": per binary its cfg_ids, then every task and its words."""
    return "\n".join(_aux_lines(compiled)) + "\n"


def _aux_lines(compiled: AccelProgram) -> Iterator[str]:
    yield from _head(compiled)
    d = load(compiled.instruction_set.description)
    seq = 0
    for step in compiled.steps:
        if isinstance(step, HostStep):
            yield f"host {op_id(step.op)}  # {step.op.name}: {compiled.missed[op_id(step.op)]}"
            continue
        binaries = {b.first: b for b in step.binaries}
        inside = 0
        for n, call in enumerate(step.calls):
            binary = binaries.get(n)
            if binary is not None:
                inside = binary.count
                blocks = -(-binary.count // TASKS)
                yield f"binary at {binary.space} {binary.offset:#010x}: {binary.count} tasks, {blocks} blocks, {binary.beats} beats"
            word = d.instructions[call.instruction]
            words = " ".join(f"{v:08x}" for v in codec.words_of(d, call))
            yield f"{seq}: {codec.disassemble(d, call)}  # {' '.join(call.ops)}"
            yield f"  {word.opcode:02x} ({word.beats} beats): {words}" if inside else f"  by registers: {words}"
            inside, seq = max(0, inside - 1), seq + 1


def _head(compiled: AccelProgram) -> Iterator[str]:
    s = compiled.instruction_set
    yield f"# {compiled.program.source_name} for {compiled.device.name} ({s.name})"
    yield f"# description {compiled.description_hash}"
    yield f"# stream      {compiled.stream_hash}"
    yield "# memory: space offset bytes what"
    places = [("ddr", b.offset, b.size, f"tensor {b.key} {list(b.shape)}") for b in compiled.plan.buffers.values()]
    places += [(c.space, c.offset, c.size, f"constant {c.key}") for c in compiled.plan.constants.values()]
    places += [(a.space, a.offset, a.size, f"area {a.key}") for a in compiled.plan.areas.values()]
    for space, offset, size, what in sorted(places):
        yield f"#   {space:4} {offset:#010x} {size:>10} {what}"
    for name, value in compiled.parameters.items():
        yield f"# register {name} = {value:#010x}"


def _lines(compiled: AccelProgram) -> Iterator[str]:
    yield from _head(compiled)
    s, seq = compiled.instruction_set, 0
    for step in compiled.steps:
        if isinstance(step, HostStep):
            yield f"host {op_id(step.op)}  # {step.op.name}: {compiled.missed[op_id(step.op)]}"
            continue
        for call in step.calls:
            rows = "" if call.token_range is None else f", tokens {call.token_range[0]} to {call.token_range[1] - 1}"
            yield f"{seq}: {codec.disassemble(s, call)}  # {' '.join(call.ops)}{rows}"
            for address, value in codec.register_writes(s, call):
                yield f"  {address:#06x} <- {value:#010x}"
            seq += 1
