"""The stream as text: memory, then every instruction disassembled with its register writes (`--emit accel-regs`), or with the
bytes of its binary form (`--emit accel-aux`)."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.ir.dialect import op_id
from fleet.isa import codec
from fleet.isa.codec_binary import TASKS
from fleet.isa.reading.cache import load
from fleet.targets.accel.plan import ActivationBuffer
from fleet.targets.accel.program import AccelProgram, HostStep

__all__ = ["aux_listing", "memory_map", "regs_listing"]


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
    yield from (f"# {line}" for line in _memory(compiled))
    for name, value in compiled.parameters.items():
        yield f"# register {name} = {value:#010x}"


def memory_map(compiled: AccelProgram) -> str:
    """Lines closed by newlines: what stands where, and from when to when (`--emit memory-map`)."""
    return "\n".join([f"{compiled.program.source_name} on {compiled.device.name}", *_memory(compiled)]) + "\n"


def _memory(compiled: AccelProgram) -> Iterator[str]:
    plan, moments = compiled.plan, compiled.moments
    for space, used in plan.used.items():
        yield f"{space}: {used:,} of {plan.device.memory[space]:,} bytes{' a port' if space == 'hbm' else ''}"
    if plan.lives:
        apart = sum(life.size for life in plan.lives.values())
        yield f"tensors share {plan.shared:,} bytes: {plan.live:,} are needed at once, {apart:,} if each had its own"
    yield "memory: space offset bytes what"

    def when(key: str) -> str:
        life = plan.lives.get(key)
        if life is None:
            return ""
        first = moments[life.first] if life.first < len(moments) else "the end"
        return f", {first} to {moments[life.last] if life.last < len(moments) else 'the end'}"

    places = [("ddr", b.offset, b.size, _words(b) + when(b.key)) for b in plan.buffers.values()]
    places += [(c.space, c.offset, c.size, f"constant {c.key}") for c in plan.constants.values()]
    places += [(a.space, a.offset, a.size, f"area {a.key}") for a in plan.areas.values()]
    for space, offset, size, what in sorted(places):
        yield f"  {space:4} {offset:#010x} {size:>10} {what}"


def _words(buffer: ActivationBuffer) -> str:
    return buffer.key if buffer.key.startswith("scratch of ") else f"tensor {buffer.key} {list(buffer.shape)}"


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
