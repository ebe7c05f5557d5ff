"""Calls with the extreme legal values of their fields, so that the hardware meets each value that description and model accept.

A field that is wider than what the hardware decodes, or one that it does not know at all, shows itself at its largest value alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from fleet.isa.codec import description_of
from fleet.isa.description import Field, Register
from fleet.isa.resolved import resolved_call, state_after
from fleet.sdk import Call, Device, Draw, InstructionSet
from fleet.streams.unwritten import Spans

_ENDS = 2
"""Legal values at each end of a field that run."""
_LONGER, _SPARE = 4, 4000
"""Calls that cost so many times the drawn one, and so many cycles, at most."""


def extreme_calls(instruction_set: InstructionSet, device: Device, draw: Draw) -> tuple[Call, ...]:
    """Return legal variants of a resolved draw's call, one field at an end of what is legal in each, and the call itself at last.

    They follow the calls before the draw; each is judged in the state that those before it leave. What reads a memory on chip that
    none of these has written, and what takes much longer than the call, is left out.
    """
    cls = instruction_set.instructions[draw.call.instruction]
    state = state_after(instruction_set, device, draw.before)
    limit = _LONGER * cls.cost(device, draw.call.fields) + _SPARE
    written: dict[tuple[str, int], Spans] = {}
    for call in draw.before:
        _note(instruction_set, device, call, written)
    found: dict[tuple[int, ...], Call] = {}
    for r in description_of(instruction_set).words(draw.call.instruction):
        for f in r.fields if r.role != "start" else ():

            def variant(value: int, r: Register = r, f: Field = f) -> Call:
                word = (draw.call.fields[r.name] & ~f.mask) | (value << f.low)
                return resolved_call(cls, device, replace(draw.call, fields={**draw.call.fields, r.name: word}), state)

            def legal(value: int, variant: Callable[[int], Call] = variant) -> bool:
                return not cls.legal(device, variant(value).fields)

            values = [v for v in _candidates(f) if legal(v)]
            for value in (*values[:_ENDS], *values[_ENDS:][-_ENDS:], *_largest(f, values, legal)):
                call = variant(value)
                if cls.cost(device, call.fields) <= limit and _reads_known(instruction_set, device, call, written):
                    found.setdefault(tuple(call.fields.values()), call)
    chosen: list[Call] = []
    for call in (*found.values(), draw.call):
        now = resolved_call(cls, device, call, state)
        if not cls.legal(device, now.fields):
            chosen.append(now)
            state |= cls.configures(device, now.fields)
    return tuple(chosen)


def _candidates(f: Field) -> Iterator[int]:
    """Yield values of a field ascending, densest at both of its ends."""
    top = (1 << f.width) - 1
    if f.allowed is not None:
        yield from sorted(f.allowed)
        return
    powers = {v * max(f.align, 1) for k in range(f.width) for v in ((1 << k) - 1, 1 << k, (1 << k) + 1)}
    yield from sorted(
        v for v in {0, top // max(f.align, 1) * max(f.align, 1), *powers, *(e.value for e in f.encode)} if 0 <= v <= top
    )


def _largest(f: Field, values: Sequence[int], legal: Callable[[int], bool]) -> Iterator[int]:
    """Yield a value beyond the largest legal one that was tried: bit by bit as many more as stay legal."""
    if f.allowed is None and values:
        value = values[-1]
        for bit in reversed(range(f.width)):
            more = value | 1 << bit
            value = more if more % max(f.align, 1) == 0 and legal(more) else value
        yield value


def _note(instruction_set: InstructionSet, device: Device, call: Call, written: dict[tuple[str, int], Spans]) -> None:
    for r in instruction_set.instructions[call.instruction].writes(device, call.fields):
        if r.size:
            written.setdefault((r.space, r.bank), Spans()).add(r.offset, r.offset + r.size)


def _reads_known(instruction_set: InstructionSet, device: Device, call: Call, written: dict[tuple[str, int], Spans]) -> bool:
    undefined = {m.name for m in device.state.memories if m.undefined}
    return all(
        r.space not in undefined or not written.get((r.space, r.bank), Spans()).missing(r.offset, r.offset + r.size)
        for r in instruction_set.instructions[call.instruction].reads(device, call.fields)
    )
