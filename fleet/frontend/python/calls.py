"""Calls of functions of the same file: their parameters, and where following them ends."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from fleet.errors import SourceError
from fleet.frontend.python import generators
from fleet.frontend.python.standard.functions import is_kernel
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.ending import Flow, Raised
from fleet.frontend.reading.errors import as_call
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Broken, CallFrame, Dict, Library, ObjectInstance, Set, SourceFunction, Value
from fleet.frontend.reading.wording import words

MAX_CALL_DEPTH = 200
_FRAMES = 60
"""Python's own frames that following one call takes at most, expressions inside of expressions included."""
MAX_CALLS = 20_000
"""Functions that call others twice, at that depth, would keep the front end busy for years."""


def default(ev: Evaluator, node: ast.expr) -> Value:
    """The value of a parameter's default; around the model's function, one that fails is an error when it is used.

    Elsewhere Python evaluates it with the rest of what is read, so it must be read like the rest.
    """
    try:
        return ev.expression(node)
    except SourceError as error:
        if not ev.tolerant or ev.frame is not ev.globals:
            raise
        ev.breaks += 1
        return Broken(error)


def defaults(ev: Evaluator, spec: ast.arguments) -> dict[str, Value]:
    """Values of a function's defaults, evaluated at its definition."""
    positional = [*spec.posonlyargs, *spec.args]
    pairs = [
        *zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True),
        *((a, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None),
    ]
    return {a.arg: default(ev, d) for a, d in pairs}


def _without_order(ev: Evaluator, node: ast.expr) -> Value:
    """The value of an argument whose order is nothing to the function: of `list(s)` of a set it is the set, which has none."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        return ev.expression(node)
    function = ev.expression(node.func)
    if function not in (Library("builtins.list"), Library("builtins.tuple")):
        return ev.call(node, function, [ev.expression(node.args[0])], {})
    value = ev.expression(node.args[0])
    return value if isinstance(value, Set) else ev.call(node, function, [value], {})


def merged(ev: Evaluator, node: ast.expr, value: Value) -> Dict:
    """A dict, or what an object with `keys` maps, for `**`. SourceError F408 for anything else."""
    if isinstance(value, ObjectInstance) and value.kind.find("keys") is not None:
        value = ev.call(as_call(node), Library("builtins.dict"), [value], {})
    return value if isinstance(value, Dict) else ev.fail("F408", node, f"** of {words(value)}", "it takes a dict")


def arguments(ev: Evaluator, node: ast.Call, *, unordered: bool = False) -> tuple[list[Value], dict[str, Value]]:
    """Evaluates a call's arguments, `*` and `**` included. unordered: whether the order of an argument's elements is nothing."""
    args: list[Value] = []
    for a in node.args:
        if isinstance(a, ast.Starred):
            several = ev.expression(a.value)
            args += stand_ins.iterated(ev, a.value, several, lambda _: None, sized=True)  # Python's words name the function
            ev.bounded(a, len(args), "an argument list")
        else:
            args.append(_without_order(ev, a) if unordered else ev.expression(a))
    keywords: dict[str, Value] = {}
    for k in node.keywords:
        value = ev.expression(k.value)
        if k.arg is not None:
            given: Mapping[object, Value] = {k.arg: value}
        else:
            given = merged(ev, k.value, value).items
        for name, v in given.items():
            if not isinstance(name, str):
                ev.fail("F208", k.value, "the keys of a dict passed with ** must be strings")
            if name in keywords:
                ev.fail("F208", k.value, f"`{name}` is given twice")
            keywords[name] = v
    return args, keywords


def inline(ev: Evaluator, node: ast.AST, callee: SourceFunction, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """The value that the callee returns. SourceError for calls too deep."""
    receiver = args[0] if callee.owner is not None and args else None
    if len(ev.calls) >= MAX_CALL_DEPTH:
        itself = sum(called is callee for called, _ in ev.calls) > 1
        who = f"`{callee.name}` calls itself" if itself else f"`{callee.name}` is called"
        hint = "how deep it goes must be known from the source; use a loop"
        ev.fail("F606", node, f"{who} more than {MAX_CALL_DEPTH} calls deep", hint)
    ev.inlined += 1
    if ev.inlined > MAX_CALLS:
        raise ev.stop(node, f"more than {MAX_CALLS} calls of functions are followed", "call fewer functions from functions")
    _check(ev, callee)
    if callee.owner is not None and callee.owner in ev.followed.values():
        callee = _placed(node, callee)
    frame = CallFrame(
        callee.label, ev.frame.depth + 1, ev.scope(callee.node), callee.frame, method_of=callee.owner, receiver=receiver,
        within=f"{callee.qualname}.<locals>.",
    )  # fmt: skip
    bind_parameters(ev, node, callee, frame, args, keywords)
    if not isinstance(callee.node, ast.Lambda) and generators.yields(callee.node):
        return generators.made(ev, callee, receiver, frame)
    ev.calls.append((callee, receiver))
    ev.kernels += is_kernel(callee)
    limit, depth, ev.depth = sys.getrecursionlimit(), ev.depth, 0
    if len(ev.calls) == 1:
        sys.setrecursionlimit(max(limit, _FRAMES * MAX_CALL_DEPTH))
    try:
        if isinstance(callee.node, ast.Lambda):
            with ev.within(frame):
                return ev.expression(callee.node.body)
        return returned(ev, callee.node, ev.run(callee.node.body, frame))
    finally:
        ev.calls.pop()
        ev.kernels -= is_kernel(callee)
        ev.depth = depth
        if not ev.calls:
            sys.setrecursionlimit(limit)


def _placed(node: ast.AST, callee: SourceFunction) -> SourceFunction:
    """A method of a library's class whose operations and errors have the place of the call."""
    function = copy.deepcopy(callee.node)
    for part in ast.walk(function):
        ast.copy_location(part, node)
    return replace(callee, node=function)


def returned(ev: Evaluator, node: ast.AST, flow: Flow) -> Value:
    """The value that a function returns.

    Raised for an exception of the source; SourceError F511 if only the run knows whether it gives anything.
    """
    if flow.kind == "raise":
        raise Raised
    if flow.flags and not flow.always and flow.value is not None:
        ev.fail("F511", flow.statement or node, "whether a value is returned the run decides", "return one on every way")
    return flow.value


def _check(ev: Evaluator, callee: SourceFunction) -> None:
    if isinstance(callee.node, ast.FunctionDef):
        ev.module.check_function(callee.node)


def bind_parameters(
    ev: Evaluator, node: ast.AST, callee: SourceFunction, frame: CallFrame, args: Sequence[Value], keywords: Mapping[str, Value]
) -> None:
    """Bind a call's arguments in the frame by Python's rules. SourceError F208 if they do not fit."""
    spec, name = callee.node.args, callee.name
    positional = [*spec.posonlyargs, *spec.args]
    bound = frame.variables

    def refuse(what: str, said: str, hint: str | None = None) -> NoReturn:
        ev.refuse("F208", node, f"`{name}` {what}", TypeError(f"{callee.qualname}() {said}"), hint)

    for parameter, value in zip(positional, args, strict=False):
        bound[parameter.arg] = value
    if spec.vararg is not None:
        bound[spec.vararg.arg] = tuple(args[len(positional) :])
    by_keyword = {a.arg for a in (*spec.args, *spec.kwonlyargs)}
    rest: dict[object, Value] = {}
    for key, value in keywords.items():
        if key in by_keyword:
            if key in bound:
                refuse(f"gets `{key}` twice", f"got multiple values for argument '{key}'")
            bound[key] = value
        elif spec.kwarg is not None:
            rest[key] = value
        else:
            hint = f"it has {', '.join(sorted(by_keyword))}" if by_keyword else "it takes no keyword arguments"
            if any(a.arg in keywords for a in spec.posonlyargs):
                ev.fail("F208", node, f"`{name}` has no argument `{key}` that is given by its name", hint)
            refuse(f"has no argument `{key}`", f"got an unexpected keyword argument '{key}'", hint)
    if spec.kwarg is not None:
        bound[spec.kwarg.arg] = Dict(rest)
    if len(args) > len(positional) and spec.vararg is None:
        what = f"takes {len(positional)} positional arguments, {len(args)} are given"
        refuse(what, _too_many(callee, len(args), sum(a.arg in bound for a in spec.kwonlyargs)))
    bind_defaults(callee, frame)
    missing = [a.arg for a in (*positional, *spec.kwonlyargs) if a.arg not in bound]
    if missing:
        first = [a.arg for a in positional if a.arg in missing]
        said = f"missing {_counted(first, 'positional')}" if first else f"missing {_counted(missing, 'keyword-only')}"
        refuse(f"is called without {', '.join(missing)}", said)


def _too_many(callee: SourceFunction, given: int, by_keyword: int) -> str:
    """Python's words for too many positional arguments. by_keyword: how many keyword-only ones are given."""
    positional = [a.arg for a in (*callee.node.args.posonlyargs, *callee.node.args.args)]
    least, most = sum(p not in callee.defaults for p in positional), len(positional)
    takes = f"takes {most}" if least == most else f"takes from {least} to {most}"
    plural = "" if most == least == 1 else "s"
    if by_keyword:
        others = f"{by_keyword} keyword-only argument{'' if by_keyword == 1 else 's'}"
        also = f"{given} positional argument{'' if given == 1 else 's'} (and {others})"
        return f"{takes} positional argument{plural} but {also} were given"
    return f"{takes} positional argument{plural} but {given} {'was' if given == 1 else 'were'} given"


def _counted(names: Sequence[str], kind: str) -> str:
    """Python's words for arguments that are missing."""
    quoted = [f"'{n}'" for n in names]
    comma = "," if len(quoted) > 2 else ""
    listed = quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])}{comma} and {quoted[-1]}"
    return f"{len(quoted)} required {kind} argument{'' if len(quoted) == 1 else 's'}: {listed}"


def bind_defaults(callee: SourceFunction, frame: CallFrame) -> None:
    """Bind the defaults of parameters without a value."""
    for name, value in callee.defaults.items():
        frame.variables.setdefault(name, value)


def default_expressions(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Parameter name -> the expression of its default."""
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args]
    found = {a.arg: d for a, d in zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True)}
    return found | {a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
