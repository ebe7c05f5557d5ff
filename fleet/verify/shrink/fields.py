"""Simplifies operands: small sizes, counts and strides, flags and modes 0. Changes one field at a time, or all equal ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fleet.isa.codec import description_of
from fleet.isa.description import Description, Field, Register
from fleet.sdk import Call
from fleet.verify.shrink.oracle import Attempt, ShrinkOracle

_SIZES = frozenset({"size", "count", "stride"})


@dataclass(frozen=True)
class _Spot:
    """A field of a call."""

    call: int
    register: Register
    field: Field

    def get(self, calls: Sequence[Call]) -> int:
        """Return the field's value."""
        return self.field.get(calls[self.call].fields[self.register.name])


def simpler_fields(oracle: ShrinkOracle) -> None:
    """Simplify sizes first: all equal ones at once (often one dimension), then each alone. Then every other field towards 0."""
    description = description_of(oracle.runner.set)
    for wanted in (True, False):
        for together in (True, False) if wanted else (False,):
            groups = list(_groups(description, oracle.best, sizes=wanted, together=together))
            for group in groups:
                _smaller(oracle, group)


def _groups(description: Description, attempt: Attempt, *, sizes: bool, together: bool) -> Iterator[list[_Spot]]:
    spots = [
        _Spot(i, r, f)
        for i, call in enumerate(attempt.case.calls)
        for r in description.words(call.instruction)
        for f in r.fields
        if r.role != "start" and f.kind not in {"constant", "address"} and (f.kind in _SIZES) == sizes
    ]
    if not together:
        yield from ([s] for s in spots)
        return
    equal: dict[tuple[str, int], list[_Spot]] = {}
    for s in spots:
        equal.setdefault((s.field.kind, s.get(attempt.case.calls)), []).append(s)
    # Largest first: values that depend on it may then shrink too.
    yield from (group for (_, value), group in sorted(equal.items(), key=lambda e: -e[0][1]) if len(group) > 1 and value > 1)


def _smaller(oracle: ShrinkOracle, group: Sequence[_Spot]) -> None:
    """Find the smallest value that still fails: the smallest ones in turn, then halves, then one less."""
    while True:
        now = group[0].get(oracle.best.case.calls)
        for value in _values(group[0].field, now):
            calls = _with(oracle.best.case.calls, group, value)
            if calls is not None and oracle.improves(replace(oracle.best, case=replace(oracle.best.case, calls=calls))):
                break
        else:
            return


def _values(field: Field, now: int) -> list[int]:
    if field.allowed is not None:
        return [v for v in sorted(field.allowed) if v < now]
    if field.kind not in _SIZES:
        named = sorted(e.value for e in field.encode if e.value < now)
        return [*dict.fromkeys([0, *named, *([1] if now > 1 else [])])] if now else []
    step = field.align
    tries = [0, step, 2 * step, 32, 64, now // 8, now // 4, now // 2, now - now // 4, now - 64, now - 32, now - step]
    return [v for v in dict.fromkeys(t // step * step for t in tries if t >= 0) if v < now]


def _with(calls: Sequence[Call], group: Sequence[_Spot], value: int) -> tuple[Call, ...] | None:
    """Return the calls with another value of a field; None if it does not fit."""
    changed = list(calls)
    for s in group:
        if value >> s.field.width:
            return None
        call = changed[s.call]
        word = (call.fields[s.register.name] & ~s.field.mask) | (value << s.field.low)
        changed[s.call] = replace(call, fields={**call.fields, s.register.name: word})
    return tuple(changed)
