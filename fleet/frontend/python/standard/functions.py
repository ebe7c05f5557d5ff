"""`fleet`'s own names in a source: functions that are followed as if they stood where they are called, and marks."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from fleet.frontend import model_functions
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.scopes import Scope
from fleet.frontend.reading.values import CallFrame, Library, NumberValue, Partial, SourceFunction, Value

KERNEL = "__fleet_kernel__"
"""The attribute that `fleet.kernel` sets."""


def is_kernel(function: Value) -> bool:
    """Return True for a function that `fleet.kernel` marked."""
    return isinstance(function, SourceFunction) and KERNEL in function.attributes


@cache
def _sources() -> Mapping[str, ast.FunctionDef]:
    tree = ast.parse(Path(model_functions.__file__).read_text(encoding="utf-8"))
    return {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef)}


def _followed(name: str, ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """A call of one of the functions. Its operations and errors have the place of the call."""
    function = copy.deepcopy(_sources()[name])
    for part in ast.walk(function):
        ast.copy_location(part, node)
    frame = CallFrame("<fleet>", 1, Scope())
    frame.variables.update({"np": Library("numpy"), "math": Library("math")})
    defaults: dict[str, Value] = {}
    for parameter, default in zip(reversed(function.args.args), reversed(function.args.defaults), strict=False):
        value = ast.literal_eval(default)
        assert isinstance(value, int | float)
        defaults[parameter.arg] = NumberValue(value)
    return ev.call(node, SourceFunction(function, frame, defaults), list(args), keywords)


def _kernel(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if len(args) != 1 or keywords or not isinstance(args[0], SourceFunction):
        ev.fail("F208", node, "fleet.kernel takes a function")
    return replace(args[0], attributes={**args[0].attributes, KERNEL: NumberValue(True)})


def _jit(_ev: Evaluator, _node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    """`@jit` and `@jit(...)`: all of a source is compiled."""
    return args[0] if args and isinstance(args[0], SourceFunction) else Partial(Library("fleet.jit"))


def _device(ev: Evaluator, node: ast.Call, _args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    return ev.fail("F502", node, "fleet.device outside of a `with`", 'write `with fleet.device("gpu"):`')


CALLS: Mapping[str, Callable[..., Value]] = {
    **{f"fleet.{name}": partial(_followed, name) for name in model_functions.__all__ if name not in ("device", "kernel")},
    "fleet.device": _device,
    "fleet.kernel": _kernel,
    "fleet.jit": _jit,
}
"""Function -> what it does."""
