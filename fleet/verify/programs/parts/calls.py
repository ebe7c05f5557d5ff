"""Calls with other arguments, right and wrong: by keyword or by position, omitted, given twice, or of another kind."""

from __future__ import annotations

import ast
import inspect

import numpy as np

from fleet.verify.programs.parts.hand import Hand, Redraw

_OTHERS = (
    *(
        "None",
        "True",
        "False",
        "0",
        "1",
        "-1",
        "2",
        "99",
        "-0.0",
        "1.5",
        "np.nan",
        "'a'",
        "''",
        "()",
        "[]",
        "(0,)",
        "[1, 0]",
        "(0, 1)",
    ),
    *("(-1,)", "np.int64(1)", "np.float32(2)", "np.zeros(2)", "np.array(1)", "np.float64", "'float32'", "int", "[[1, 2], [3, 4]]"),
    *("slice(1)", "..."),
)
"""Replacements for an argument."""


def respelled(h: Hand, text: str) -> str:
    """Turn positional arguments of a call into keywords, or the reverse. Raises Redraw if the text has no call to change."""
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


def misspelled(h: Hand, text: str) -> str:
    """Draw a call with missing, doubled or misspelt arguments. Raises Redraw if none can be drawn."""
    tree = ast.parse(text, mode="eval").body
    call = h.one(_calls(tree))
    kind = h.integer(0, 7)
    if kind == 0 and call.args:
        del call.args[h.integer(0, len(call.args)) :]
    elif kind == 1:
        call.args += [_other(h)] * h.integer(1, 4)
    elif kind == 2:
        call.keywords.append(ast.keyword(h.one(("axes", "axis", "keepdims", "dtype", "out", "k", "order")), _other(h)))
    elif kind == 3 and call.args and _parameters(call):
        call.keywords.append(ast.keyword(_parameters(call)[0], call.args[-1]))
    elif kind == 4 and call.keywords:
        call.keywords[-1].arg = h.one(("foo", "axes", "dim"))
    elif call.keywords and h.chance(0.6):
        h.one(call.keywords).value = _other(h)
    elif call.args:
        call.args[h.integer(0, len(call.args))] = _other(h)
    return ast.unparse(tree)


def _other(h: Hand) -> ast.expr:
    return ast.parse(h.one(_OTHERS), mode="eval").body


def _calls(tree: ast.expr) -> list[ast.Call]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.Call) and not any(isinstance(a, ast.Starred) for a in n.args)]


def _parameters(call: ast.Call) -> tuple[str, ...]:
    """Return the parameter names of a NumPy function; empty if it has no signature."""
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
