"""Results of the model's function: values and their names."""

from __future__ import annotations

import ast

from xdsl.ir import SSAValue

from fleet.frontend.arrays.emitting import builder_of
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Dict, List, NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words


def returned_values(
    ev: Evaluator, function: ast.FunctionDef, statement: ast.Return | None, value: Value
) -> tuple[list[str], list[SSAValue]]:
    """Names ("logits", or "out1" for the unnamed second; a dict's keys) and values. SourceError when nothing is returned."""
    if statement is None or statement.value is None or value is None:
        ev.fail("F509", statement or function, f"`{function.name}` returns nothing", "return an array or a tuple of arrays")
    given = _names(ev, statement, value) if isinstance(value, Dict) else None
    value = tuple(value.items.values()) if isinstance(value, Dict) else tuple(value.items) if isinstance(value, List) else value
    parts: tuple[Value, ...] = value if isinstance(value, tuple) else (value,)
    nodes: list[ast.expr | None] = [None] * len(parts)
    if isinstance(statement.value, ast.Tuple | ast.List) and isinstance(value, tuple) and _plain(statement.value, parts):
        nodes = list(statement.value.elts)
    elif not isinstance(value, tuple):
        nodes = [statement.value]
    names: list[str] = []
    values: list[SSAValue] = []
    for i, (part, node) in enumerate(zip(parts, nodes, strict=True)):
        if not isinstance(part, TracedArray | NumberValue):
            ev.fail("F509", node or statement, f"{words(part)} is returned", "return an array or a tuple of arrays")
        name = given[i] if given is not None else node.id if isinstance(node, ast.Name) else f"out{i}"
        names.append(name if name not in names else f"out{i}")
        values.append(part.ssa if isinstance(part, TracedArray) else builder_of(ev).number(statement, part))
    return names, values


def _names(ev: Evaluator, statement: ast.Return, value: Dict) -> list[str]:
    if not value.items or not all(isinstance(k, str) and k.isidentifier() for k in value.items):
        ev.fail("F509", statement, f"{words(value)} is returned", "return an array, a tuple of arrays, or a dict of arrays by name")
    return [str(k) for k in value.items]


def _plain(node: ast.Tuple | ast.List, parts: tuple[Value, ...]) -> bool:
    return len(node.elts) == len(parts) and not any(isinstance(e, ast.Starred) for e in node.elts)
