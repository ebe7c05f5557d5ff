"""`with` and `try`: settings of NumPy that change no value, and blocks whose exceptions are caught."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fleet.errors import SourceError
from fleet.frontend import _calls, _exceptions, _library
from fleet.frontend._exceptions import Thrown
from fleet.frontend._values import Instance, Library, words

if TYPE_CHECKING:
    from fleet.frontend._evaluator import Evaluator
    from fleet.frontend._flow import Flow

_HANDLED = ("ignore", "warn")
_ERRORS = ("all", "divide", "over", "under", "invalid")


def with_(ev: Evaluator, node: ast.With) -> Flow:
    """`with np.errstate(...)` and `with np.printoptions(...)`: the block as it stands, in which the latter prints no array."""
    from fleet.frontend._statements import block

    before = ev.unprinted
    try:
        for item in node.items:
            _enter(ev, item)
        return block(ev, node.body)
    finally:
        ev.unprinted = before


def _enter(ev: Evaluator, item: ast.withitem) -> None:
    call = item.context_expr
    hint = "np.errstate and np.printoptions are read"
    if not isinstance(call, ast.Call):
        ev.fail("F502", call, "`with` is supported around calls only", hint)
    found = ev.expression(call.func)
    path = found.path if isinstance(found, Library) else ""
    if path not in ("numpy.errstate", "numpy.printoptions"):
        ev.fail("F502", call, f"`with` of {words(found)} is not supported", hint)
    if item.optional_vars is not None:
        ev.fail("F502", item.optional_vars, f"`as` after {path} is not supported", "leave it out")
    args, keywords = _calls.arguments(ev, call)
    if path == "numpy.printoptions":
        ev.unprinted = call
        return
    for name, value in keywords.items():
        if name not in _ERRORS:
            ev.fail("F506", call, f"np.errstate with `{name}=` is not supported", f"its arguments are {', '.join(_ERRORS)}")
        if value is not None and value not in _HANDLED:
            ev.fail(
                "F506", call, f"np.errstate that does other than ignore or warn ({name}) is not supported", "an error would decide"
            )
    if args:
        ev.fail("F208", call, "np.errstate takes keyword arguments only")


# ---- try


def try_(ev: Evaluator, node: ast.Try) -> Flow:
    """`try`: its block, and the `except` that takes what reading shows to be raised; what only the run knows is not caught."""
    from fleet.frontend._statements import block

    for statement in _statements(node.body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            _check_import(ev, statement)
    try:
        flow = _guarded(ev, node) if node.handlers else block(ev, node.body)
        if flow.flags and (node.orelse or node.finalbody):
            ev.fail("F511", node, "a `try` with `else` or `finally` that is left where the run decides", "leave behind it")
    except Thrown:
        last = block(ev, node.finalbody)
        if last.kind:
            return last
        raise
    last = block(ev, node.finalbody)
    return last if last.kind or last.flags else flow


def _guarded(ev: Evaluator, node: ast.Try) -> Flow:
    """The block with its `except` and `else`."""
    from fleet.frontend._statements import block

    errors, breaks, checks = len(ev.errors), ev.breaks, ev.checks
    ev.catching.append(ev.inside)
    try:
        flow = block(ev, node.body)
    except SourceError as error:
        value = None if ev.decided is error or ev.checks > checks else _exceptions.thrown_by(ev, error)
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
    return flow if flow.leaves or flow.flags else block(ev, node.orelse)


def _handled(ev: Evaluator, node: ast.Try, error: SourceError, value: Instance) -> Flow:
    """The `except` that takes the exception; where none does, it goes on."""
    from fleet.frontend._statements import block

    handler = next((h for h in node.handlers if _exceptions.matches(ev, h, value)), None)
    if handler is None:
        raise error
    if handler.name is not None:
        ev.bind(handler.name, value)
    ev.handled.append(value)
    try:
        return block(ev, handler.body)
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
        if name.split(".")[0] not in _library.LIBRARIES or (isinstance(node, ast.ImportFrom) and node.level):
            what = f"whether `{name}` can be imported depends on the machine, and this `try` decides by it"
            ev.fail("F502", node, what, "import NumPy without `try`")
