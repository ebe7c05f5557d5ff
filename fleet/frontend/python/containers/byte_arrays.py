"""`bytearray`: bytes that are known while the source is read, and can be changed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import known, value_of
from fleet.frontend.reading.values import ByteArray, List, Slice, Value
from fleet.frontend.reading.wording import words

_Method = Callable[..., Value]
_ERRORS = (ValueError, TypeError, LookupError, OverflowError)


def plain(ev: Evaluator, node: ast.AST, value: Value, what: str) -> Any:
    """A value as Python has it; an index or slice, too."""
    return value.plain if isinstance(value, Slice) else known(ev, node, value, what)


def done(ev: Evaluator, node: ast.AST, what: str, operation: Callable[[], object], *, changes: bool = False) -> Value:
    """What Python does with known bytes. SourceError F703 for what it refuses, F511 for a change that only the run makes."""
    if changes and ev.inside:
        ev.fail("F511", node, "a bytearray is changed in a part that only the run enters or repeats", "change it before")
    try:
        found = operation()
    except _ERRORS as error:
        ev.refuse("F703", node, f"{what}: {error}", error)
    if isinstance(found, bytes | bytearray | str):
        ev.bounded(node, len(found), "bytes")
    return ByteArray(found) if isinstance(found, bytearray) else value_of(found)


def binary(ev: Evaluator, node: ast.expr, op: str, lhs: Value, rhs: Value) -> Value:
    """`+` and `*` beside bytes and numbers; None for other operators."""
    if op not in ("add", "mul"):
        return None
    a, b = (plain(ev, node, v, "an operand of a bytearray") for v in (lhs, rhs))
    times = next((v for v in (a, b) if isinstance(v, int)), 0)
    ev.bounded(node, times * max(len(v) for v in (a, b) if isinstance(v, bytes | bytearray)), "bytes")
    return done(ev, node, words(lhs), lambda: stand_ins.OPERATORS[op](a, b))


def extended(ev: Evaluator, node: ast.AST, owner: ByteArray, value: Value) -> Value:
    """`owner += value`."""
    added = plain(ev, node, value, "what is added to a bytearray")
    done(ev, node, "a bytearray", lambda: stand_ins.IN_PLACE["add"](owner.data, added) and None, changes=True)
    ev.bounded(node, len(owner.data), "bytes")
    return owner


def compared(ev: Evaluator, node: ast.AST, op: str, lhs: Value, rhs: Value) -> bool | None:
    """A comparison with bytes; None with anything else."""
    if not all(isinstance(v, ByteArray | bytes) for v in (lhs, rhs)):
        return None
    a, b = (known(ev, node, v, "bytes") for v in (lhs, rhs))
    return bool(stand_ins.OPERATORS[op](a, b))


def load(ev: Evaluator, node: ast.Subscript, owner: ByteArray, index: Value) -> Value:
    """`owner[index]`."""
    at = plain(ev, node.slice, index, "an index")
    return done(ev, node, "a bytearray", lambda: owner.data[at])


def store(ev: Evaluator, node: ast.Subscript, owner: ByteArray, index: Value, value: Value) -> None:
    """`owner[index] = value`."""
    at, new = plain(ev, node.slice, index, "an index"), plain(ev, node, value, "a byte")
    done(ev, node, "a bytearray", lambda: owner.data.__setitem__(at, new), changes=True)
    ev.bounded(node, len(owner.data), "bytes")


def remove(ev: Evaluator, node: ast.Subscript, owner: ByteArray, index: Value) -> None:
    """`del owner[index]`."""
    at = plain(ev, node.slice, index, "an index")
    done(ev, node, "a bytearray", lambda: owner.data.__delitem__(at), changes=True)


def _method(name: str) -> _Method:
    changes = name in _CHANGE.split()

    def method(ev: Evaluator, node: ast.Call, owner: ByteArray, args: list[Value]) -> Value:
        if name == "extend":
            args = [List(ev.collect(node, args[0]))] if args else args
        given = [plain(ev, node, a, f"an argument of `.{name}`") for a in args]
        if name in ("center", "ljust", "rjust", "zfill", "replace"):
            ev.bounded(node, (len(owner.data) + 1) * max((v if isinstance(v, int) else len(v) for v in given), default=0), "bytes")
        return done(ev, node, f"`.{name}`", lambda: getattr(owner.data, name)(*given), changes=changes)

    return method


_CHANGE = "append insert pop remove clear reverse extend"
_ASK = "copy count find rfind index rindex startswith endswith hex decode upper lower strip lstrip rstrip replace join isdigit"
METHODS: Mapping[str, tuple[_Method, int, int]] = {name: (_method(name), 0, 3) for name in f"{_CHANGE} {_ASK}".split()}
"""Method -> (what it does, fewest arguments, most)."""
