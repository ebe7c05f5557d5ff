"""Calls of NumPy's functions in operations of the IR: one table of all families, and the dispatcher."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from fleet.frontend.arrays.arguments import Arguments, Handler
from fleet.frontend.arrays.functions import (
    changes,
    composed,
    create,
    elementwise,
    layout,
    matrices,
    order,
    products,
    reductions,
    shapes,
)
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NumberValue, Value
from fleet.frontend.reading.wording import words

HANDLERS: Mapping[str, Handler] = {
    **elementwise.HANDLERS,
    **reductions.HANDLERS,
    **shapes.HANDLERS,
    **create.HANDLERS,
    **order.HANDLERS,
    **composed.HANDLERS,
    **matrices.HANDLERS,
    **products.HANDLERS,
    **changes.HANDLERS,
    **layout.HANDLERS,
}
"""Name in a signature (`Signature.handler`, before the colon) -> class that turns the call into operations."""


def handle(ev: Evaluator, node: ast.Call, handler: str, args: Arguments) -> Value:
    """Turn a call into the operations that its signature names ("reduce:mean", "where")."""
    kind, _, detail = handler.partition(":")
    _refuse_truth_values(ev, node, kind, args)
    return HANDLERS[kind](ev, node, {**args, "": detail})


_AXIS_FROM_PYTHON = frozenset(
    {"average", "sort", "median", "diff", "norm", "expand_dims", "stack", "split", "array_split", "flip", "roll"}
    | {"take_along_axis", "put_along_axis"}
)
"""Functions that take True as an axis, because they ask for an index; the others refuse it."""


def _refuse_truth_values(ev: Evaluator, node: ast.Call, kind: str, args: Arguments) -> None:
    one = kind in _AXIS_FROM_PYTHON and not (kind == "norm" and ev.sequence(args.get("axis")))
    for name in ("shape", *(("N", "M") if kind == "eye" else ()), *(() if one else ("axis", "axes"))):
        for part in ev.sequence(args.get(name)) or (args.get(name),):
            if isinstance(part, NumberValue) and part.truth:
                ev.fail("F404", node, f"{name} must be an integer, found {words(part)}")
