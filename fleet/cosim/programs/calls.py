"""Calls in other spellings: arguments by keyword or by place."""

from __future__ import annotations

import ast
import inspect

import numpy as np

from fleet.cosim.programs.hand import Hand, Redraw

__all__ = ["respelled"]


def respelled(h: Hand, text: str) -> str:
    """Turn positional arguments of a call into keywords, or the reverse. Raise Redraw if the text has no call to change."""
    tree = ast.parse(text, mode="eval").body
    call = h.one([c for c in _calls(tree) if _parameters(c)])
    names = _parameters(call)
    if call.keywords and h.chance(0.4):
        while call.keywords and call.keywords[0].arg == names[min(len(call.args), len(names) - 1)]:
            call.args.append(call.keywords.pop(0).value)
    else:
        first = h.integer(0, len(call.args))
        if len(names) < len(call.args):
            raise Redraw
        call.keywords[:0] = [ast.keyword(n, a) for n, a in zip(names[first:], call.args[first:], strict=False)]
        del call.args[first:]
        if h.chance(0.5):
            call.keywords.reverse()
    return ast.unparse(tree)


def _calls(tree: ast.expr) -> list[ast.Call]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.Call) and not any(isinstance(a, ast.Starred) for a in n.args)]


def _parameters(call: ast.Call) -> tuple[str, ...]:
    """Names of a NumPy function's parameters; empty where it tells none."""
    function: object = np
    path = ast.unparse(call.func).split(".")
    if path[0] != "np":
        return ()
    for name in path[1:]:
        function = getattr(function, name, None)
    if not callable(function):
        return ()
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)
