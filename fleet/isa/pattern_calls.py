"""Calls a set's patterns and tasks, its author's code: what they raise, and what is no match, becomes one error with its line."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from pathlib import Path

from xdsl.ir import SSAValue

from fleet.core.plugins import all_of
from fleet.errors import DeviceError, FleetError
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program
from fleet.sdk import Device
from fleet.sdk.lowering import EmitContext, Match, Missed, Options, Pattern


def matched(pattern: Pattern, op: FleetOp, program: Program, device: Device, options: Options) -> Match | Missed | None:
    """Return the pattern's answer for an operation. Raises DeviceError if it fails or answers something else."""
    found: object = _called(pattern, "match", op, lambda: pattern.match(op, program, device, options))
    if found is None or isinstance(found, Missed):
        return found
    if not isinstance(found, Match):
        wrong = f"answers {_short(found)}, expected a Match, Missed or None"
    elif not (wrong := _wrong(found, op)):
        return found
    raise DeviceError(f"pattern {_name(pattern)}, operation {op_id(op)}: match {wrong}", where=_place(pattern.match))


def emitted(match: Match, context: EmitContext) -> None:
    """Lets the pattern emit its match. Raises DeviceError where it fails."""
    pattern, op = match.pattern, match.ops[-1]
    _called(pattern, "emit", op, lambda: pattern.emit(match, context))


def _called(pattern: Pattern, method: str, op: FleetOp, call: Callable[[], object]) -> object:
    try:
        return call()
    except FleetError:
        raise
    except (Exception, SystemExit) as error:  # whatever the author's code raises
        raise failed(f"pattern {_name(pattern)}, operation {op_id(op)}: {method}", getattr(pattern, method), error) from error


def failed(what: str, code: Callable[..., object], error: BaseException) -> DeviceError:
    """Return what an author's code raised as an error with its line. what: names the code."""
    code = getattr(code, "func", code)  # of a partial
    own = inspect.getsourcefile(code)
    folder = Path(own).parent if own else None
    frames = [f for f in traceback.extract_tb(error.__traceback__) if folder and Path(f.filename).is_relative_to(folder)]
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else _place(code)
    return DeviceError(f"{what} fails: {' '.join(f'{type(error).__name__}: {error}'.split())}", where=where)


def _wrong(found: Match, op: FleetOp) -> str:
    """Return what is wrong with a match, as a clause; "" if it is right."""
    if not all_of(found.ops, FleetOp, tuple) or op not in found.ops:
        return "has `ops` that are no tuple of operations with this one among them"
    for name, values in (("results", found.results), ("activations", found.activations)):
        if not all_of(values, SSAValue, tuple):
            return f"has `{name}` that are no tuple of values"
    return "" if found.results else "has no `results`: nothing would see what it computes"


def _name(pattern: Pattern) -> str:
    return str(getattr(pattern, "name", type(pattern).__name__))


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"a {type(value).__name__}"


def _place(method: Callable[..., object]) -> str | None:
    try:
        return f"{inspect.getsourcefile(method)}:{inspect.getsourcelines(method)[1]}"
    except (OSError, TypeError):
        return None
