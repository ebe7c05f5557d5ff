"""The stream as text: memory, then every instruction disassembled with its register writes (`--emit accel-regs`), or with the
bytes of its binary form (`--emit accel-aux`)."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.isa import codec
from fleet.isa.codec_binary import TASKS
from fleet.isa.reading.cache import load
from fleet.targets.accel.stream import DeviceStream


def regs_listing(stream: DeviceStream) -> str:
    """Return lines that end with newlines; numbers are hexadecimal, addresses in bytes."""
    return "\n".join(_lines(stream)) + "\n"


def aux_listing(stream: DeviceStream) -> str:
    """List a stream issued as binaries: for each binary its cfg_ids, then every task and its words."""
    return "\n".join(_aux_lines(stream)) + "\n"


def memory_map(stream: DeviceStream) -> str:
    """Return lines that end with newlines: contents of memory with addresses and lifetimes (`--emit memory-map`)."""
    return "\n".join([f"{stream.title} on {stream.device.name}", *stream.memory]) + "\n"


def _head(stream: DeviceStream) -> Iterator[str]:
    yield f"# {stream.title} for {stream.device.name} ({stream.instruction_set.name})"
    yield f"# description {stream.description_hash}"
    yield f"# stream      {stream.stream_hash}"
    yield from (f"# {line}" for line in stream.memory)
    for name, value in stream.parameters.items():
        yield f"# register {name} = {value:#010x}"


def _aux_lines(stream: DeviceStream) -> Iterator[str]:
    yield from _head(stream)
    d = load(stream.instruction_set.description)
    seq = 0
    for step in stream.steps:
        if isinstance(step, str):
            yield f"host {step}"
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


def _lines(stream: DeviceStream) -> Iterator[str]:
    yield from _head(stream)
    s, seq = stream.instruction_set, 0
    for step in stream.steps:
        if isinstance(step, str):
            yield f"host {step}"
            continue
        for call in step.calls:
            rows = "" if call.token_range is None else f", tokens {call.token_range[0]} to {call.token_range[1] - 1}"
            yield f"{seq}: {codec.disassemble(s, call)}  # {' '.join(call.ops)}{rows}"
            for address, value in codec.register_writes(s, call):
                yield f"  {address:#06x} <- {value:#010x}"
            seq += 1
