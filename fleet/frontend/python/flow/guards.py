"""`with` and `try`: settings of NumPy that change no value, and blocks whose exceptions are caught."""

from __future__ import annotations

import ast
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fleet.errors import ModelError, SourceError
from fleet.frontend.arrays.functions.print_options import formatter_of
from fleet.frontend.arrays.tracing import Tracing
from fleet.frontend.python import calls, imports
from fleet.frontend.python.flow import contexts, exceptions
from fleet.frontend.python.names import LIBRARIES
from fleet.frontend.reading.ending import Flow
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Dict, Library, NumberValue, ObjectInstance, Value
from fleet.ir.operations.program_ops import OPTIONS, read_options

_HANDLED = ("ignore", "warn")
_ERRORS = ("all", "divide", "over", "under", "invalid")


def with_(ev: Evaluator, node: ast.With) -> Flow:
    """`with`: settings of NumPy hold in the block (inside of `np.printoptions` arrays are printed alone); what else there is
    around it is a context manager."""
    return _within(ev, node, node.items)


def _within(ev: Evaluator, node: ast.With, items: Sequence[ast.withitem]) -> Flow:
    if not items:
        return ev.block(node.body)
    item = items[0]
    call = item.context_expr
    found = ev.expression(call.func) if isinstance(call, ast.Call) else None
    path = found.path if isinstance(found, Library) else ""
    if isinstance(call, ast.Call) and path in ("numpy.errstate", "numpy.printoptions"):
        before, printing, formatter, handled = ev.unprinted, ev.printing, ev.formatter, ev.fp_errors
        try:
            _enter(ev, item, call, path)
            return _within(ev, node, items[1:])
        finally:
            if path == "numpy.printoptions":
                ev.unprinted, ev.printing, ev.formatter = before, printing, formatter
            else:
                ev.fp_errors = handled
    if isinstance(call, ast.Call) and path == "fleet.device":
        with _placed(ev, item, call):
            return _within(ev, node, items[1:])
    if isinstance(call, ast.Call) and path == "contextlib.suppress":
        kinds = ast.copy_location(ast.Tuple(call.args, ast.Load()), call)
        handler = ast.copy_location(ast.ExceptHandler(kinds, None, [ast.copy_location(ast.Pass(), call)]), call)
        body: list[ast.stmt] = node.body if len(items) == 1 else [ast.copy_location(ast.With(list(items[1:]), node.body), node)]
        return try_(ev, ast.copy_location(ast.Try(body, [handler], [], []), node))
    return contexts.managed(ev, item, ev.expression(call), lambda: _within(ev, node, items[1:]))


@contextmanager
def _placed(ev: Evaluator, item: ast.withitem, call: ast.Call) -> Generator[None]:
    """`with fleet.device(name)`: operations of the block carry the name."""
    args, keywords = calls.arguments(ev, call)
    given = [*args, *keywords.values()]
    if item.optional_vars is not None or len(given) != 1 or not isinstance(given[0], str) or keywords.keys() - {"name"}:
        ev.fail("F502", call, "fleet.device takes the name of one device, and gives nothing", 'as `with fleet.device("gpu"):`')
    if not isinstance(ev.domain, Tracing):
        yield
        return
    builder = ev.domain.builder
    before, builder.device = builder.device, given[0]
    try:
        yield
    finally:
        builder.device = before


def _enter(ev: Evaluator, item: ast.withitem, call: ast.Call, path: str) -> None:
    if item.optional_vars is not None:
        ev.fail("F502", item.optional_vars, f"`as` after {path} is not supported", "leave it out")
    args, keywords = calls.arguments(ev, call)
    if path == "numpy.printoptions":
        set_options(ev, call, args, keywords)
        ev.unprinted = call
        return
    unheeded(ev, call, "np.errstate", args, keywords)


def unheeded(ev: Evaluator, call: ast.Call, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> None:
    """`np.errstate(...)` or `np.seterr(...)`: warnings change nothing. SourceError F506 for errors that NumPy would raise."""
    if args and name == "np.errstate":
        ev.fail("F208", call, "np.errstate takes keyword arguments only")
    if len(args) > len(_ERRORS):
        ev.fail("F208", call, f"{name} takes {len(_ERRORS)} arguments, {len(args)} are given")
    given = {**dict(zip(_ERRORS, args, strict=False)), **keywords}
    for key, value in given.items():
        if key not in _ERRORS:
            ev.fail("F506", call, f"{name} with `{key}=` is not supported", f"its arguments are {', '.join(_ERRORS)}")
        if value is not None and value not in _HANDLED:
            ev.fail("F506", call, f"{name} that does other than ignore or warn ({key}) is not supported", "an error would decide")
    set_ = {k: str(v) for k, v in given.items() if v is not None}
    every = set_.pop("all", None)
    ev.fp_errors = {k: set_.get(k, every or v) for k, v in ev.fp_errors.items()}


def handled(ev: Evaluator) -> Value:
    """`np.geterr()`."""
    return Dict(dict(ev.fp_errors))


def set_options(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> None:
    """`np.set_printoptions(...)`, or `np.printoptions(...)` at the beginning of its block. SourceError F506."""
    names = ("precision", "threshold", "edgeitems", "linewidth", "suppress", "nanstr", "infstr", "formatter")
    given = {**dict(zip(names, args, strict=False)), **keywords}
    formatter = formatter_of(ev, node, given.pop("formatter", None))  # one that is not given again is gone
    plain = {k: v if isinstance(v, str) else ev.static(v) for k, v in given.items()}
    if ev.inside:
        ev.fail("F511", node, "print options that the run decides", "set them before")
    if ev.worded:
        ev.fail("F506", node, "print options behind a text that holds an array", "set them first")
    text = json.dumps({**(json.loads(ev.printing) if ev.printing else {}), **plain}, sort_keys=True)
    try:
        read_options(text)
    except ModelError as error:
        ev.fail("F506", node, error.what, f"known are {', '.join(OPTIONS)}, of values that are known")
    ev.printing, ev.formatter = text, formatter


def options(ev: Evaluator) -> Value:
    """`np.get_printoptions()`."""
    with np.printoptions(**(read_options(ev.printing) if ev.printing else {})):
        found = np.get_printoptions()
    made: dict[Any, Value] = {}
    for name, value in found.items():
        made[name] = NumberValue(value) if isinstance(value, bool | int) else value if isinstance(value, str) else None
    if ev.formatter:
        made["formatter"] = Dict(dict(ev.formatter))
    return Dict(made)


# ---- try


def try_(ev: Evaluator, node: ast.Try) -> Flow:
    """`try`: its block, and the `except` that takes what reading shows to be raised; what only the run knows is not caught."""
    for statement in _statements(node.body):
        if isinstance(statement, ast.Import | ast.ImportFrom) and not imports.lies_beside(ev, statement):
            _check_import(ev, statement)
    try:
        if node.handlers:
            flow = _guarded(ev, node)
        else:
            with ev.caught():
                flow = ev.block(node.body)
        if flow.flags and (node.orelse or node.finalbody):
            ev.fail("F511", node, "a `try` with `else` or `finally` that is left where the run decides", "leave behind it")
    except SourceError as error:
        if exceptions.thrown_by(ev, error) is None:
            raise
        last = ev.block(node.finalbody)
        if last.kind:
            return last
        raise
    last = ev.block(node.finalbody)
    return last if last.kind or last.flags else flow


def _guarded(ev: Evaluator, node: ast.Try) -> Flow:
    """The block with its `except` and `else`."""
    errors, breaks, checks = len(ev.errors), ev.breaks, ev.checks
    ev.catching.append(ev.inside)
    try:
        flow = ev.block(node.body)
    except SourceError as error:
        value = None if ev.decided is error or ev.checks > checks else exceptions.thrown_by(ev, error)
        if value is None:
            raise
        ev.catching.pop()
        try:
            return _handled(ev, node, error, value)
        finally:
            ev.catching.append(ev.inside)
    finally:
        ev.catching.pop()
    if ev.checks > checks:
        hint = "test the condition with `if` instead of catching the exception"
        ev.fail("F502", node, "whether something inside of this `try` raises, only the run knows", hint)
    if len(ev.errors) > errors or ev.breaks > breaks:
        what = ev.errors[errors].what if len(ev.errors) > errors else "a statement that cannot be read"
        del ev.errors[errors:]
        hint = "what Python raises there is not known; test the condition with `if`"
        ev.fail("F502", node, f"inside of this `try` something fails: {what}", hint)
    return flow if flow.leaves or flow.flags else ev.block(node.orelse)


def _handled(ev: Evaluator, node: ast.Try, error: SourceError, value: ObjectInstance) -> Flow:
    """Follow the `except` that takes the exception; if none does, raise it again."""
    handler = next((h for h in node.handlers if exceptions.matches(ev, h, value)), None)
    if handler is None:
        raise error
    ev.handlers.add(ev.source.at(handler).rpartition(":")[0])
    if handler.name is not None:
        ev.bind(handler.name, value)
    ev.handled.append(value)
    try:
        return ev.block(handler.body)
    finally:
        ev.handled.pop()
        if handler.name is not None:
            ev.frame.target(handler.name).variables.pop(handler.name, None)


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements and those inside of them, but not those of functions and classes."""
    for statement in body:
        yield statement
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield from _statements([s for s in ast.iter_child_nodes(statement) if isinstance(s, ast.stmt)])


def _check_import(ev: Evaluator, node: ast.Import | ast.ImportFrom) -> None:
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    for name in names:
        if name.split(".")[0] not in LIBRARIES:
            what = f"whether `{name}` can be imported depends on the machine, and this `try` decides by it"
            ev.fail("F502", node, what, "import NumPy without `try`")
