"""Statements. What decides over their flow must be known while the source is read."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.ir import SSAValue

from fleet.errors import SourceError
from fleet.frontend.arrays.truths import any_of, check, condition, negated
from fleet.frontend.python import assignment, imports, raising
from fleet.frontend.python.assignment import assign
from fleet.frontend.python.calls import defaults
from fleet.frontend.python.classes import definitions, objects
from fleet.frontend.python.containers import builtin
from fleet.frontend.python.flow import exceptions, guards
from fleet.frontend.python.flow.lost import lost, poison_whole
from fleet.frontend.python.flow.matching import match_
from fleet.frontend.python.flow.meeting import decide
from fleet.frontend.python.flow.rolling import Rounds, roll
from fleet.frontend.python.flow.series import Series, compared, series_of
from fleet.frontend.python.modules import exists
from fleet.frontend.python.names import LIBRARIES, is_module, resolve
from fleet.frontend.python.standard.aside import is_aside
from fleet.frontend.python.standard.table import CONSTANTS
from fleet.frontend.python.standard.written import WRITTEN
from fleet.frontend.python.words import kind
from fleet.frontend.reading.ending import Flow, Raised
from fleet.frontend.reading.evaluator import LIBRARY_ERRORS, Evaluator
from fleet.frontend.reading.findings import Poisoned
from fleet.frontend.reading.scopes import bound_names
from fleet.frontend.reading.values import (
    BoundMethod,
    Broken,
    Class,
    Library,
    List,
    NumberValue,
    ObjectInstance,
    Partial,
    Poison,
    SizeUsed,
    SourceFunction,
    Value,
)

_SUPPORTED = "assignments, if, for, while, functions, classes, with, try, assert, raise, print and return"


_END = Flow()
_CONSEQUENCES = frozenset({"F701", "F702"})
"""What the source raises by itself: behind an error it may be that error's consequence."""


def block(ev: Evaluator, body: Sequence[ast.stmt]) -> Flow:
    """Run statements until one of them leaves the block. An error is recorded, and the names of its statement are poisoned."""
    for number, statement in enumerate(body):
        ev.step(statement)
        before = ev.breaks
        rest = body[number + 1 :]
        try:
            flow = _followed(ev, statement, rest)
            if ev.tolerant and ev.frame is ev.globals and ev.breaks == before:
                ev.evaluated.append(statement)
        except Raised:
            return Flow("raise")
        except Poisoned:
            if ev.inside:
                raise
            _poison(ev, statement)
            flow = Flow("return", statement, Poison()) if isinstance(statement, ast.Return) else _END
        except SourceError as error:
            if ev.inside or (ev.catching and exceptions.thrown_by(ev, error) is not None):
                raise
            if exceptions.exits(ev, error):
                if ev.frame is not ev.globals:
                    raise
                return Flow("return")
            if ev.tolerant:
                if ev.frame is not ev.globals:
                    raise
                _break(ev, statement, error)
                continue
            if not (ev.errors and error.code in _CONSEQUENCES):
                ev.record(error)
            _poison(ev, statement)
            flow = Flow("return", statement, Poison()) if isinstance(statement, ast.Return) else _END
        if isinstance(flow, _Whole):
            return flow.flow
        if flow.flags and not flow.always and rest:
            return _rest(ev, statement, flow, rest)
        if flow.kind or flow.flags:
            return flow
    return _END


@dataclass(frozen=True)
class _Whole:
    """The end of a block by a statement that took those behind it into its ways."""

    flow: Flow


def _rest(ev: Evaluator, statement: ast.stmt, flow: Flow, body: Sequence[ast.stmt]) -> Flow:
    """The statements behind one that may have left the block."""
    left = any_of(ev, statement, flow.flags.values())
    return decide(ev, statement, left, [lambda: replace(flow, always=True), lambda: block(ev, body)])


def _followed(ev: Evaluator, statement: ast.stmt, rest: Sequence[ast.stmt]) -> Flow | _Whole:
    try:
        return _if(ev, statement, rest) if isinstance(statement, ast.If) else _run(ev, statement)
    except SizeUsed:
        ev.unknown(statement)


def _poison(ev: Evaluator, statement: ast.stmt) -> None:
    for name in bound_names([statement]):
        ev.frame.target(name).variables[name] = Poison()
    for target in statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]:
        poison_whole(ev, target)
    if isinstance(statement, ast.For | ast.While | ast.If | ast.With | ast.Try) and any(
        isinstance(n, ast.Return) for n in ast.walk(statement)
    ):
        raise Poisoned  # it may have left the function: nothing after it is known


def _break(ev: Evaluator, statement: ast.stmt, error: SourceError) -> None:
    ev.breaks += 1
    for name in bound_names([statement]):
        ev.globals.variables[name] = Broken(error)
    names, random = lost(statement, ev.globals.variables)
    for name in names:
        ev.globals.variables[name] = Broken(error)
    if random:
        ev.lost = error


def _run(ev: Evaluator, node: ast.stmt) -> Flow:
    handler = _HANDLERS.get(type(node))
    if handler is None:
        ev.fail("F502", node, f"{kind(node)} is not supported", f"supported statements are {_SUPPORTED}")
    return handler(ev, node) or _END


# ---- binding


def _delete(ev: Evaluator, node: ast.Delete) -> None:
    for target in node.targets:
        match target:
            case ast.Name():
                ev.lookup(ast.copy_location(ast.Name(target.id, ast.Load()), target))
                ev.frame.target(target.id).variables.pop(target.id, None)
            case ast.Subscript():
                builtin.remove(ev, target, ev.expression(target.value), ev.expression(target.slice))
            case ast.Attribute():
                objects.remove(ev, target, ev.expression(target.value))
            case _:
                ev.fail("F502", target, f"`del` of {kind(target)} is not supported", "delete names and parts of lists and dicts")


# ---- definitions


def _function(ev: Evaluator, node: ast.FunctionDef) -> None:
    if ev.frame.body_of is not None:
        ev.bind(node.name, definitions.method(ev, node, ev.frame.body_of), quiet=True)
        return
    made: Value = SourceFunction(node, ev.frame, defaults(ev, node.args))
    for decorator in reversed(node.decorator_list):
        made = _decorated(ev, node, decorator, made)
    ev.bind(node.name, made, quiet=True)


_DECORATORS = frozenset(
    {
        *("functools.cache", "functools.lru_cache", "functools.singledispatch", "numpy.vectorize", "contextlib.contextmanager"),
        *("numba.njit", "numba.jit", "fleet.kernel", "fleet.jit"),
    }
)
"""Decorators of libraries that are followed: they make a cache or a context of a function, or leave it as it is."""


def _decorated(ev: Evaluator, node: ast.FunctionDef, decorator: ast.expr, made: Value) -> Value:
    """Return a decorated function: with a cache, or what a function of the file returns for it."""
    found = ev.expression(decorator)
    if found == Library("numpy.errstate()"):
        return made
    call = ast.copy_location(ast.Call(decorator, [], []), decorator)
    if isinstance(found, SourceFunction | Partial | BoundMethod | ObjectInstance | Class) or (
        isinstance(found, Library) and found.path in _DECORATORS
    ):
        return ev.call(call, found, [made], {})
    return ev.fail("F508", decorator, f"`{node.name}` is decorated, which may change what it means", "remove the decorator")


def _import(ev: Evaluator, node: ast.Import) -> None:
    for alias in node.names:
        name = alias.asname or alias.name.split(".")[0]
        if _foreign(alias.name) and (space := imports.import_module(ev, node, alias.name)) is not None:
            ev.bind(name, space if alias.asname else ev.imports.spaces[name], quiet=True)
            continue
        if not is_module(alias.name):
            ev.fail("F205", node, f"there is no module `{alias.name}`", "import numpy")
        ev.bind(name, Library(alias.name if alias.asname else name), quiet=True)


def _foreign(path: str) -> bool:
    """True of a module that is no library that fleet knows: it may lie beside the file."""
    return path.split(".", maxsplit=1)[0] not in LIBRARIES and not is_aside(path)


def _import_from(ev: Evaluator, node: ast.ImportFrom) -> None:
    parent = imports.parent_of(ev, node)
    if (node.level or _foreign(parent)) and (space := imports.import_module(ev, node, parent)) is not None:
        for alias in node.names:
            if alias.name == "*":
                for name, value in imports.everything(space).items():
                    ev.bind(name, value, quiet=True)
            else:
                ev.bind(alias.asname or alias.name, imports.member(ev, node, space, alias.name), quiet=True)
        return
    if node.level:
        what, cause = f"there is no module `{parent}` beside the file", ModuleNotFoundError(f"No module named '{parent}'")
        ev.refuse("F205", node, what, cause, "import by the full name, or define it here")
    for alias in node.names:
        path = f"{parent}.{alias.name}"
        value: Value = Library(path)
        if path in CONSTANTS or path in WRITTEN or path in LIBRARY_ERRORS or path == "sys.argv":
            value = resolve(ev, ast.copy_location(ast.Name(alias.name), node), path)
        if path.startswith(("numpy.", "math.", "cmath.")):
            try:
                value = resolve(ev, ast.copy_location(ast.Name(alias.name), node), path)
            except SourceError:
                if not exists(path):
                    raise  # Python refuses the import; what fleet alone lacks is an error where it is used
        ev.bind(alias.asname or alias.name, value, quiet=True)


# ---- flow


def _if(ev: Evaluator, node: ast.If, rest: Sequence[ast.stmt]) -> Flow | _Whole:
    taken = condition(ev, node.test, ev.expression(node.test))
    if isinstance(taken, bool):
        return block(ev, node.body if taken else node.orelse)
    ways: list[Sequence[ast.stmt]] = [node.body, node.orelse]
    if any(_only_raises(w) for w in ways):
        return _guard(ev, node, taken, ways)
    if any(w and isinstance(w[-1], _LEAVES) for w in ways):
        # What stands behind is the other way's alone: it sees that way's values, not what both have in common.
        whole = [w if w and isinstance(w[-1], _LEAVES) else [*w, *rest] for w in ways]
        return _Whole(decide(ev, node, taken, [lambda: block(ev, whole[0]), lambda: block(ev, whole[1])]))
    return decide(ev, node, taken, [lambda: block(ev, node.body), lambda: block(ev, node.orelse)])


def _only_raises(way: Sequence[ast.stmt]) -> bool:
    """Return whether it has no way out but an exception."""
    return (
        bool(way)
        and isinstance(way[-1], ast.Raise)
        and not any(isinstance(n, ast.Return | ast.Break | ast.Continue) for s in way for n in ast.walk(s))
    )


def _guard(ev: Evaluator, node: ast.If, flag: SSAValue, ways: Sequence[Sequence[ast.stmt]]) -> Flow:
    """An `if` whose one branch raises becomes a check; its other branch and what follows are not conditional."""
    thrown, other = ways if _only_raises(ways[0]) else reversed(ways)
    raises = flag if thrown is ways[0] else negated(ev, node, flag)
    if len(thrown) > 1:
        decide(ev, node, raises, [lambda: block(ev, thrown), lambda: _END])
    else:
        (statement,) = thrown
        assert isinstance(statement, ast.Raise)
        check(ev, statement, negated(ev, node, raises), f"the source raises {raising.said(ev, statement)}")
    return block(ev, other)


def _plain_flow(flow: Flow | _Whole) -> Flow:
    return flow.flow if isinstance(flow, _Whole) else flow


_LEAVES = (ast.Return, ast.Break, ast.Continue)


def _for(ev: Evaluator, node: ast.For) -> Flow:
    iterable = ev.expression(node.iter)
    series = series_of(ev, node.iter, iterable)
    bound = frozenset(bound_names([node.target, *node.body]))

    def round_(value: Value) -> Flow:
        ev.step(node)
        assign(ev, node.target, value)
        return block(ev, node.body)

    turns: set[int] = set()

    def rolled(series: Series, first: int, end: NumberValue, entered: Flow, may_print: Callable[[], bool] | None = None) -> Flow:
        """A loop of the run. may_print: whether its rounds may print, and none may return; None where the loop must be one."""

        def test(number: NumberValue) -> bool | SSAValue:
            return condition(ev, node, compared(ev, node, "less", number, end))

        def numbered(number: NumberValue) -> Flow:
            if number.ssa is not None and not end.symbolic:
                ev.rounds[number.ssa] = (first, int(end.value) - 1)
                ev.turns[number.ssa] = turns
            return round_(series.at(number))

        count = None if end.symbolic else int(end.value) - first
        told = may_print or (lambda: True)
        return roll(ev, node, Rounds(test, numbered, bound, first, count, told, may_return=may_print is None), entered)

    # A kernel's loop over what a tuple or list enumerates is no loop over indices.
    kept = ev.kernels and not isinstance(iterable, tuple | List)
    refused: SourceError | None = None
    if series is not None and (series.count.symbolic or (kept and series.count.value > 1)):
        try:
            return _behind(ev, node, rolled(series, 0, series.count, _END))
        except SourceError as error:
            # A Python number may be NumPy's after a round or two: these stay apart.
            if error.code != "F511" or series.count.symbolic:
                raise
            refused = error
    tried = False
    count = int(series.count.value) if series is not None else 0
    repeats, before = ev.repeats, ev.domain.operations()
    values = enumerate(ev.iterate(node.iter, iterable), 1)
    tries = 0
    for number, value in values:
        ev.repeats = repeats * max(count, 1)
        try:
            flow = round_(value)
        finally:
            ev.repeats = repeats
        if flow.kind == "break":
            return _END
        if flow.kind in _OUT:
            return flow
        left = count - number
        if flow.kinds & _LEAVING:
            if series is None:
                what = "a loop over these values has no way to end where the run decides"
                ev.fail("F511", node, what, "loop over range(...), an array, or a list of numbers")
            return _behind(ev, node, rolled(series, number, series.count, flow))
        if series is None or left < 2:
            continue
        if refused is not None:
            try:
                return _behind(ev, node, rolled(series, number, series.count, _END))
            except SourceError:
                tried = True
                if number == _ROUNDS_APART:
                    raise refused from None
            continue
        # What begins as Python's number may be NumPy's after a round or two: it is tried again.
        times = -(-left // number) * repeats
        if number <= _ROUNDS_APART and ev.domain.too_many(before, times, parted=True):
            whole = ev.domain.too_many(before, times)
            tries = _TRIES
            try:
                return _behind(ev, node, rolled(series, number, series.count, _END, lambda w=whole: w and not turns))
            except SourceError as error:
                ev.domain.stays_unrolled(error)
        if not turns or not tries or len(turns) * _ROUNDS_A_TURN > count:
            continue
        # Rounds that decide otherwise than most of them, by their number alone, stay apart: what they print, or a list that grows.
        end = min((t for t in turns if t > number), default=count)
        if end - number < _ROUNDS_APART:
            continue
        try:
            flow = rolled(series, number, NumberValue(end), _END, lambda: False)
        except SourceError as error:
            ev.domain.stays_unrolled(error)
            tries -= 1
            continue
        if flow.kinds & _LEAVING:
            return _behind(ev, node, rolled(series, end, series.count, flow))
        for _ in range(number, end):
            next(values)
    if refused is not None and tried:
        raise refused
    return block(ev, node.orelse)


_TRIES = 4
"""Parts of a loop that are tried in vain before all of it stays unrolled."""
_ROUNDS_A_TURN = 4
"""Rounds of a loop, at least, for each in which a decision turns."""
_ROUNDS_APART = 3
"""Rounds behind each of which a long loop may become one of the run."""
_LEAVING = frozenset({"break", "return"})
_OUT = frozenset({"return", "raise"})


def _behind(ev: Evaluator, node: ast.For | ast.While, flow: Flow) -> Flow:
    """Follow a loop's `else`, unless a break left the loop. Returns how the whole ends."""
    rest = {k: v for k, v in flow.flags.items() if k == "return"}
    ending = replace(flow, flags=rest) if rest else _END
    if not node.orelse:
        return ending
    if not flow.flags:
        return block(ev, node.orelse)
    return decide(ev, node, any_of(ev, node, flow.flags.values()), [lambda: ending, lambda: block(ev, node.orelse)])


def _while(ev: Evaluator, node: ast.While) -> Flow:
    def rolled(entered: Flow, may_return: bool = True) -> Flow:
        names = frozenset(bound_names(node.body))

        def test(_: NumberValue) -> bool | SSAValue:
            return condition(ev, node.test, ev.expression(node.test))

        rounds = Rounds(test, lambda _: round_(), names, may_return=may_return)
        return _behind(ev, node, roll(ev, node, rounds, entered))

    def round_() -> Flow:
        ev.step(node)
        return block(ev, node.body)

    before, tried, repeats, done = ev.domain.operations(), 0, ev.repeats, 0
    while True:
        taken = condition(ev, node.test, ev.expression(node.test))
        if not isinstance(taken, bool):
            return rolled(_END)
        if not taken:
            return block(ev, node.orelse)
        if ev.kernels:
            return rolled(_END)
        if tried < _ROUNDS_APART and ev.domain.too_many(before, 1):
            tried += 1
            try:
                return rolled(_END, may_return=False)
            except SourceError as error:
                ev.domain.stays_unrolled(error)
        done += 1
        ev.repeats = repeats * done  # what has had so many rounds is expected to have as many more
        try:
            flow = round_()
        finally:
            ev.repeats = repeats
        if flow.kind == "break":
            return _END
        if flow.kind in _OUT:
            return flow
        if flow.kinds & _LEAVING:
            return rolled(flow)
        if ev.errors:
            return block(ev, node.orelse)  # what the condition depends on may be poisoned


def _return(ev: Evaluator, node: ast.Return) -> Flow:
    return Flow("return", node, None if node.value is None else ev.expression(node.value))


def _expression(ev: Evaluator, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        ev.expression(node.value)


def _nothing(_ev: Evaluator, _node: ast.stmt) -> None:
    pass


_HANDLERS: Mapping[type[ast.stmt], Callable[[Evaluator, Any], Flow | None]] = {
    ast.Assign: assignment.plain,
    ast.AnnAssign: assignment.annotated,
    ast.AugAssign: assignment.augmented,
    ast.Delete: _delete,
    ast.FunctionDef: _function,
    ast.ClassDef: definitions.define,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.If: lambda ev, node: _plain_flow(_if(ev, node, ())),
    ast.For: _for,
    ast.While: _while,
    ast.With: guards.with_,
    ast.Try: guards.try_,
    ast.Match: lambda ev, node: match_(ev, node, lambda body: block(ev, body)),
    ast.Return: _return,
    ast.Break: lambda _ev, _node: Flow("break"),
    ast.Continue: lambda _ev, _node: Flow("continue"),
    ast.Assert: raising.assert_,
    ast.Raise: raising.raise_,
    ast.Expr: _expression,
    ast.Pass: _nothing,
    ast.Global: _nothing,
    ast.Nonlocal: _nothing,
}
STATEMENTS = tuple(sorted(t.__name__ for t in _HANDLERS))
"""Names of the statements that are supported."""
