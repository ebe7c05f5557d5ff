"""Moves operands to round addresses: connected memory moves as one piece, to the next multiple of 4 KiB."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from fleet.isa.codec import description_of
from fleet.sdk import Call, Write
from fleet.streams.model_side import refusal
from fleet.verify.shrink.oracle import Attempt, ShrinkOracle

_STEP = 4096


@dataclass(frozen=True)
class _Piece:
    """Bytes [start, end) of a space, in all its banks."""

    space: str
    start: int
    end: int


def tidier_addresses(oracle: ShrinkOracle) -> None:
    """Move all pieces at once; if that does not fail, one after the other."""
    pieces = _pieces(oracle)
    moves: dict[_Piece, int] = {}
    free: dict[str, int] = {}
    for p in pieces:
        at = free.get(p.space, 0)
        moves[p] = at - p.start
        free[p.space] = -(-(at + p.end - p.start) // _STEP) * _STEP
    moves = {p: by for p, by in moves.items() if by < 0}
    if not moves or _try(oracle, moves):
        return
    for p, by in moves.items():
        _try(oracle, {p: by})


def _pieces(oracle: ShrinkOracle) -> list[_Piece]:
    """Return the ranges that instructions read and write and blocks fill, merged where they overlap or touch; ascending."""
    case = oracle.best.case
    outside = oracle.runner.device.memory
    spans = [(b.space, b.offset, b.offset + b.data.size) for b in case.blocks if b.space in outside]
    for call in case.calls:
        unit = oracle.runner.set.instructions[call.instruction]
        if not refusal(unit, oracle.runner.device, call.fields):
            ranges = (*unit.reads(oracle.runner.device, call.fields), *unit.writes(oracle.runner.device, call.fields))
            spans += [(r.space, r.offset, r.offset + r.size) for r in ranges if r.space in outside and r.size]
    merged: list[_Piece] = []
    for space, start, end in sorted(spans):
        last = merged[-1] if merged else None
        if last is not None and last.space == space and start < last.end:
            merged[-1] = _Piece(space, last.start, max(last.end, end))
        else:
            merged.append(_Piece(space, start, end))
    return merged


def _try(oracle: ShrinkOracle, moves: dict[_Piece, int]) -> bool:
    moved = _moved(oracle, oracle.best, moves)
    return moved is not None and oracle.improves(moved)


def _moved(oracle: ShrinkOracle, attempt: Attempt, moves: dict[_Piece, int]) -> Attempt | None:
    """Return the attempt with blocks and address fields moved; None if two blocks would overlap."""
    case = attempt.case
    blocks = tuple(replace(b, offset=b.offset + _by(moves, b.space, b.offset)) for b in case.blocks)
    if _meet(blocks):
        return None
    description = description_of(oracle.runner.set)
    calls: list[Call] = []
    for call in case.calls:
        fields = dict(call.fields)
        for r in description.words(call.instruction):
            for f in r.fields:
                if f.kind == "address" and f.space is not None:
                    value = f.get(fields[r.name])
                    value += _by(moves, f.space, value)
                    fields[r.name] = (fields[r.name] & ~f.mask) | (value << f.low)
        calls.append(replace(call, fields=fields))
    return replace(attempt, case=replace(case, calls=tuple(calls), blocks=blocks))


def _by(moves: dict[_Piece, int], space: str, offset: int) -> int:
    return next((by for p, by in moves.items() if p.space == space and p.start <= offset < p.end), 0)


def _meet(blocks: tuple[Write, ...]) -> bool:
    spans = sorted((b.space, b.bank, b.offset, b.offset + b.data.size) for b in blocks)
    return any(a[:2] == b[:2] and b[2] < a[3] for a, b in pairwise(spans))
