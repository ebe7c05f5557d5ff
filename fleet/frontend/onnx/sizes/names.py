"""Dimensions whose names are expressions of others, such as "past_sequence_length + 1"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fleet.symbols.expr import Expr, Var
from fleet.symbols.expr_evaluate import evaluate
from fleet.symbols.expr_parse import parse_python
from fleet.symbols.expr_tree import ExprError

_NAME = re.compile(r"[^\W\d]\w*")


def stated(dim: str, names: Sequence[str]) -> Expr | None:
    """A dimension's name as an expression of the names of other dimensions ("past + 1"); None if it is only a name."""
    used = [name for name in dict.fromkeys(_NAME.findall(dim)) if name in names]
    if not used or any(name not in names for name in _NAME.findall(dim)):
        return None
    try:
        return parse_python(dim, {name: Var(name) for name in used})
    except ExprError:
        return None


def size_of(dim: str, sizes: Mapping[str, int]) -> int | None:
    """The size of a dimension whose name is an expression of these; None if it is none, or has no value from 0 on."""
    expression = stated(dim, list(sizes))
    try:
        found = evaluate([expression], sizes)[0] if expression is not None else -1
    except ExprError:
        return None
    return found if found >= 0 else None


def with_sizes(dim: int | str, sizes: Mapping[str, int], names: Sequence[str]) -> int | str:
    """A dimension when some names have sizes: of an expression the rest. names: of all dimensions."""
    if not isinstance(dim, str) or dim in sizes:
        return dim if isinstance(dim, int) else sizes[dim]
    if stated(dim, [name for name in names if name != dim]) is None:
        return dim
    rest = _NAME.sub(lambda m: str(sizes.get(m[0], m[0])), dim)
    found = None if _NAME.search(rest) else size_of(dim, sizes)
    return rest if found is None else found


def input_sizes(dims: Sequence[str], demanded: Mapping[str, int], usual: int) -> dict[str, int]:
    """Sizes of all unknown dimensions of drawn inputs: those demanded, expressions of others, else the usual one."""
    sizes = {name: demanded.get(name, usual) for name in dims}
    plain = {name: size for name, size in sizes.items() if stated(name, [n for n in dims if n != name]) is None}
    for name in sizes:
        if name not in plain and (found := size_of(name, plain)) is not None:
            sizes[name] = found
    return sizes
