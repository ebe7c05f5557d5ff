"""The stream as text: memory, then every instruction disassembled with its register writes (`--emit accel-regs`)."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.ir.dialect import op_id
from fleet.isa import codec
from fleet.targets.accel.program import AccelProgram, HostStep

__all__ = ["regs_listing"]


def regs_listing(compiled: AccelProgram) -> str:
    """Lines closed by newlines; numbers are hexadecimal, addresses bytes."""
    return "\n".join(_lines(compiled)) + "\n"


def _lines(compiled: AccelProgram) -> Iterator[str]:
    s = compiled.instruction_set
    yield f"# {compiled.program.source_name} for {compiled.device.name} ({s.name})"
    yield f"# description {compiled.description_hash}"
    yield f"# stream      {compiled.stream_hash}"
    yield "# memory: space offset bytes what"
    places = [("ddr", b.offset, b.size, f"tensor {b.key} {list(b.shape)}") for b in compiled.plan.buffers.values()]
    places += [(c.space, c.offset, c.size, f"constant {c.key}") for c in compiled.plan.constants.values()]
    for space, offset, size, what in sorted(places):
        yield f"#   {space:4} {offset:#010x} {size:>10} {what}"
    seq = 0
    for step in compiled.steps:
        if isinstance(step, HostStep):
            yield f"host {op_id(step.op)}  # {step.op.name}"
            continue
        for call in step.calls:
            rows = "" if call.token_range is None else f", tokens {call.token_range[0]} to {call.token_range[1] - 1}"
            yield f"{seq}: {codec.disassemble(s, call)}  # {' '.join(call.ops)}{rows}"
            for address, value in codec.register_writes(s, call):
                yield f"  {address:#06x} <- {value:#010x}"
            seq += 1
