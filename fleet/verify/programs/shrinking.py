"""Shrinks a failing program: fewer statements, simpler expressions, smaller inputs, as long as it fails in the same way."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from fleet.verify.programs.drawing import FUNCTION
from fleet.verify.programs.oracle import ComparedProgram
from fleet.verify.programs.parts.values import ProgramArray


def shrink(model: ComparedProgram, fails: Callable[[ComparedProgram], bool], seconds: float = 20.0) -> ComparedProgram:
    """Return the smallest model found in so many seconds that still `fails`; `model` itself must fail."""
    until = time.monotonic() + seconds
    changed = True
    while changed and time.monotonic() < until:
        changed = False
        for smaller in _smaller(model):
            if time.monotonic() > until:
                break
            if fails(smaller):
                model, changed = smaller, True
                break
    return model


def _smaller(model: ComparedProgram) -> Iterator[ComparedProgram]:
    tree = ast.parse(model.source)
    for text in _texts(tree):
        if text != model.source:
            with suppress(SyntaxError):  # a slice alone is not an expression
                yield _declared(replace(model, source=text))
    for name, array in model.arrays.items():
        for other in _arrays(array):
            yield _declared(replace(model, arrays={**model.arrays, name: other}))


def _function(tree: ast.Module) -> ast.FunctionDef:
    return next(s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == FUNCTION)


def _texts(tree: ast.Module) -> Iterator[str]:
    """Yield sources with one thing less: a result, a statement, a block around its body, a call around its argument."""
    function = _function(tree)
    returned = function.body[-1]
    if isinstance(returned, ast.Return) and isinstance(returned.value, ast.Tuple) and len(returned.value.elts) > 1:
        for i in range(len(returned.value.elts)):
            other = copy.deepcopy(tree)
            last = _function(other).body[-1]
            assert isinstance(last, ast.Return)
            assert isinstance(last.value, ast.Tuple)
            last.value.elts = [last.value.elts[i]]
            yield ast.unparse(other) + "\n"
    for i in reversed(range(len(tree.body))):
        if tree.body[i] is not function and isinstance(tree.body[i], ast.FunctionDef):
            other = copy.deepcopy(tree)
            del other.body[i]
            yield ast.unparse(other) + "\n"
    count = sum(1 for _ in _blocks(function))
    for at in range(count):
        length = len(list(_blocks(function))[at])
        for i in reversed(range(length)):
            yield from _without(tree, at, i)
    places = sum(1 for _ in _slots(function))
    for at in range(places):
        yield from _simpler(tree, at)


def _blocks(function: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(function):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and not isinstance(node, ast.Lambda):
                yield block


def _without(tree: ast.Module, at: int, i: int) -> Iterator[str]:
    """Yield the source without a statement, and with the statement replaced by its body."""
    other = copy.deepcopy(tree)
    block = list(_blocks(_function(other)))[at]
    if isinstance(block[i], ast.Return):
        return
    inside = getattr(block[i], "body", [])
    del block[i]
    if block:
        yield ast.unparse(other) + "\n"
    if inside:
        block[i:i] = inside
        yield ast.unparse(other) + "\n"


def _slots(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Yield the places of expressions: (node, field, index in a list)."""
    for statement in function.body:
        for node in ast.walk(statement):
            for name, value in ast.iter_fields(node):
                if isinstance(value, ast.expr) and name not in {"func", "target", "annotation"}:
                    yield node, name, None
                elif isinstance(value, list) and name in {"args", "elts", "keywords"}:
                    for i, item in enumerate(value):
                        if isinstance(item, ast.expr | ast.keyword):
                            yield node, name, i


def _simpler(tree: ast.Module, at: int) -> Iterator[str]:
    """Yield sources with an expression replaced by one of its parts or a smaller number, or without a keyword argument."""
    node, name, index = list(_slots(_function(tree)))[at]
    now = getattr(node, name) if index is None else getattr(node, name)[index]
    if isinstance(now, ast.keyword):
        yield _with(tree, at, None)
        return
    parts: list[ast.expr] = []
    for child in ast.iter_child_nodes(now):
        if isinstance(child, ast.expr) and not isinstance(now, ast.Attribute):
            parts.append(child)
    if isinstance(now, ast.Call) and isinstance(now.func, ast.Attribute):
        parts.append(now.func.value)
    if isinstance(now, ast.Constant) and type(now.value) in (int, float) and now.value not in (0, 1):
        parts.append(ast.Constant(1))
    for part in parts:
        if not (isinstance(part, ast.Name) and part.id == "np"):
            yield _with(tree, at, part)


def _with(tree: ast.Module, at: int, part: ast.expr | None) -> str:
    other = copy.deepcopy(tree)
    node, name, index = list(_slots(_function(other)))[at]
    if index is None:
        setattr(node, name, part)
    elif part is None:
        del getattr(node, name)[index]
    else:
        getattr(node, name)[index] = copy.deepcopy(part)
    return ast.unparse(ast.fix_missing_locations(other)) + "\n"


def _arrays(array: ProgramArray) -> Iterator[ProgramArray]:
    """Yield smaller and simpler arrays."""
    for axis, n in enumerate(array.shape):
        for size in sorted({1, 2, n // 2, n - 1}):
            if 0 < size < n:
                yield np.ascontiguousarray(np.take(array, range(size), axis))
                yield np.ascontiguousarray(np.take(array, range(n - size, n), axis))
    for axis, n in enumerate(array.shape):
        if n == 1 and array.ndim > 1:
            yield np.ascontiguousarray(np.squeeze(array, axis))
    for value in (0, 1):
        if array.size and np.any(array != value):
            yield np.full_like(array, value)
    flat = array.reshape(-1)
    for i in range(min(flat.size, 8)):
        if flat[i] not in (0, 1):
            for value in (0, 1):
                other = flat.copy()
                other[i] = value
                yield other.reshape(array.shape)


def _declared(model: ComparedProgram) -> ComparedProgram:
    """Remove unused arguments, and declare the others as the arrays are."""
    tree = ast.parse(model.source)
    function = _function(tree)
    used = {n.id for s in function.body for n in ast.walk(s) if isinstance(n, ast.Name)}
    arrays: Mapping[str, ProgramArray] = {n: a for n, a in model.arrays.items() if n in used} or dict(
        list(model.arrays.items())[:1]
    )
    names = {a.arg: _named(a) for a in function.args.args}
    dims = {
        n: [d if d.isidentifier() else str(s) for d, s in zip(names[n], a.shape, strict=True)]
        if len(names.get(n, ())) == a.ndim
        else list(map(str, a.shape))
        for n, a in arrays.items()
    }
    function.args.args = [ast.arg(n, ast.Constant(f"{a.dtype.name}[{', '.join(dims[n])}]")) for n, a in arrays.items()]
    weights = tuple(n for n in model.weights if n in arrays)
    return replace(model, source=ast.unparse(ast.fix_missing_locations(tree)) + "\n", arrays=arrays, weights=weights)


def _named(argument: ast.arg) -> list[str]:
    """Return the declared sizes, numbers or names."""
    text = argument.annotation.value if isinstance(argument.annotation, ast.Constant) else ""
    inside = str(text).partition("[")[2].rstrip("]")
    return [d.strip() for d in inside.split(",")] if inside else []
