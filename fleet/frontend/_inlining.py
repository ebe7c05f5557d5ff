"""Calls of functions of the same file: their parameters, and where following them ends."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fleet.frontend._values import Value

if TYPE_CHECKING:
    from fleet.frontend._evaluator import Evaluator, Frame

MAX_CALL_DEPTH = 32
MAX_CALLS = 20_000
"""Functions that call others twice, 32 deep, would keep the front end busy for years."""


def inline(ev: Evaluator, node: ast.Call, callee: ast.FunctionDef) -> Value:
    """The value that the callee returns for the call's arguments. SourceError for recursion and calls too deep."""
    if callee.name in ev.calls:
        chain = " -> ".join([*ev.calls, callee.name])
        ev.source.fail(node, f"`{callee.name}` calls itself ({chain})", "recursion is not supported")
    if len(ev.calls) >= MAX_CALL_DEPTH:
        ev.source.fail(node, f"calls nested deeper than {MAX_CALL_DEPTH}")
    ev.inlined += 1
    if ev.inlined > MAX_CALLS:
        ev.source.fail(node, f"more than {MAX_CALLS} calls of functions are followed", "call fewer functions from functions")
    ev.module.check_function(callee)
    frame = ev.new_frame(callee)
    _bind_parameters(ev, node, callee, frame)
    ev.calls.append(callee.name)
    try:
        return ev.run(callee.body, frame)[1]
    finally:
        ev.calls.pop()


def plain(ev: Evaluator, args: Sequence[ast.expr]) -> Sequence[ast.expr]:
    """Positional arguments without `*`."""
    for a in args:
        if isinstance(a, ast.Starred):
            ev.source.fail(a, "* arguments are not supported", "write them out")
    return args


def keyword(ev: Evaluator, argument: ast.keyword) -> str:
    """The name of a keyword argument, which must not be `**`."""
    if argument.arg is None:
        ev.source.fail(argument.value, "** arguments are not supported", "write them out")
    return argument.arg


def _bind_parameters(ev: Evaluator, node: ast.Call, callee: ast.FunctionDef, frame: Frame) -> None:
    spec = callee.args
    positional = [*spec.posonlyargs, *spec.args]
    by_keyword = {a.arg for a in (*spec.args, *spec.kwonlyargs)}
    if len(node.args) > len(positional):
        ev.source.fail(node, f"`{callee.name}` takes {len(positional)} positional arguments, {len(node.args)} are given")
    for parameter, a in zip(positional, plain(ev, node.args), strict=False):
        frame.variables[parameter.arg] = ev.expression(a)
    for k in node.keywords:
        name = keyword(ev, k)
        if name not in by_keyword:
            ev.source.fail(k.value, f"`{callee.name}` has no argument `{name}`", f"it has {', '.join(sorted(by_keyword))}")
        if name in frame.variables:
            ev.source.fail(k.value, f"`{callee.name}` gets `{name}` twice")
        frame.variables[name] = ev.expression(k.value)
    bind_defaults(ev, callee, frame)
    missing = [a.arg for a in (*positional, *spec.kwonlyargs) if a.arg not in frame.variables]
    if missing:
        ev.source.fail(node, f"`{callee.name}` is called without {', '.join(missing)}")


def bind_defaults(ev: Evaluator, callee: ast.FunctionDef, frame: Frame) -> None:
    """Gives parameters without a value their default, evaluated among the module's names."""
    with ev.at_module_level():
        for name, default in defaults(callee).items():
            if name not in frame.variables:
                frame.variables[name] = ev.expression(default)


def defaults(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Parameter name -> the expression of its default."""
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args]
    found = {a.arg: d for a, d in zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True)}
    return found | {a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
