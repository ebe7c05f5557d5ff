"""`assert` and `raise`: what they throw, and the check of the run where that is not known while the source is read."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from fleet.errors import SourceError
from fleet.frontend.arrays.truths import check, condition
from fleet.frontend.python import expressions
from fleet.frontend.python.flow import exceptions
from fleet.frontend.reading.ending import Flow
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import ObjectInstance, Value


def assert_(ev: Evaluator, node: ast.Assert) -> Flow | None:
    """`assert`. The message is read once, and only if the assertion fails, as in Python."""
    holds = condition(ev, node.test, ev.expression(node.test))
    if holds is True:
        return None
    if holds is False and (not ev.inside or exceptions.catchable(ev)):
        args: list[Value] = []
        shown = "" if node.msg is None else _text(node.msg, lambda m: _kept(ev, ev.expression(m), args))
        said = f"the assertion is false{': ' if shown else ''}{shown}"
        exceptions.throw(ev, "F702", node, said, exceptions.made(ev, "AssertionError", *args))
    check(ev, node, holds, f"the source raises AssertionError{_foretold(ev, node.msg)}")
    return Flow("raise") if holds is False else None


def _kept(ev: Evaluator, value: Value, kept: list[Value]) -> str:
    kept.append(value)
    return expressions.shown(ev, value)


def _foretold(ev: Evaluator, message: ast.expr | None) -> str:
    """The message of a check that may fail in the run: its source text if reading it could change anything."""
    if message is None:
        return ""
    acts = any(isinstance(n, ast.Call | ast.NamedExpr | ast.Yield | ast.YieldFrom) for n in ast.walk(message))
    return f": {ast.unparse(message) if acts else _text(message, lambda m: expressions.shown(ev, ev.expression(m)))}"


def raise_(ev: Evaluator, node: ast.Raise) -> Flow:
    """`raise`: to the `except` that takes it; else the error of the source, or a check of the run that always fails."""
    exiting = isinstance(node.exc, ast.Call | ast.Name) and ast.unparse(node.exc).startswith("SystemExit")
    if exceptions.catchable(ev) or (exiting and not ev.inside):
        exceptions.raised(ev, node, partial(_said_of, ev, node))
    if not ev.inside:
        ev.fail("F701", node, f"the source raises {said(ev, node)}")
    check(ev, node, False, f"the source raises {said(ev, node)}")
    return Flow("raise")


def said(ev: Evaluator, node: ast.Raise) -> str:
    """Return the exception that is raised, for messages."""
    return ("" if node.exc is None else _text(node.exc, lambda e: expressions.exception(ev, e))) or "an exception"


def _said_of(ev: Evaluator, node: ast.Raise, value: ObjectInstance) -> str:
    """The same of an exception that is made: its expression is read once, as Python reads it."""
    args = value.attributes.get("args", ())
    if node.exc is None or not isinstance(args, tuple):
        return value.kind.name
    shown = _text(node.exc, lambda _: ", ".join(expressions.shown(ev, a) for a in args))
    return f"{value.kind.name}: {shown}" if shown else value.kind.name


def _text(node: ast.expr, read: Callable[[ast.expr], str]) -> str:
    """The exception's message, or its source text if the message cannot be computed here."""
    try:
        return read(node)
    except SourceError:
        return ast.unparse(node)
