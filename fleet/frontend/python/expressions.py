"""Expressions: operators, comparisons, comprehensions, calls. Python's numbers are computed here, arrays by the domain."""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fleet.frontend.arrays.functions import grids
from fleet.frontend.arrays.functions.shifts import shift
from fleet.frontend.arrays.handlers import array
from fleet.frontend.python import calls, comprehensions, generators, library
from fleet.frontend.python.classes import objects, records
from fleet.frontend.python.containers import builtin, sets
from fleet.frontend.python.flow.meeting import choose
from fleet.frontend.python.flow.regions import condition, number_of
from fleet.frontend.python.text import display
from fleet.frontend.python.values import (
    ELLIPSIS,
    Class,
    Dict,
    Function,
    Generator,
    Instance,
    Lazy,
    Library,
    List,
    Method,
    Named,
    Number,
    Range,
    Set,
    Slice,
    Super,
    Tensor,
    Text,
    Value,
    words,
)
from fleet.frontend.python.words import kind

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from fleet.frontend.python.evaluator import Evaluator

BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.FloorDiv: "floor_div", ast.Mod: "mod",
    ast.MatMult: "matmul", ast.BitAnd: "bit_and", ast.BitOr: "bit_or", ast.BitXor: "bit_xor", ast.LShift: "shift_left",
    ast.RShift: "shift_right",
}  # fmt: skip
COMPARE: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal", ast.NotEq: "not_equal",
}  # fmt: skip
_PYTHON: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "pow": operator.pow,
    "floor_div": operator.floordiv, "mod": operator.mod, "bit_and": operator.and_, "bit_or": operator.or_,
    "bit_xor": operator.xor, "shift_left": operator.lshift, "shift_right": operator.rshift, "less": operator.lt,
    "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge, "equal": operator.eq,
    "not_equal": operator.ne,
}  # fmt: skip
_FORMULAS = frozenset({"add", "sub", "mul", "div", "pow"})
_SYMBOLIC = frozenset({"add", "sub", "mul", "div", "floor_div", "mod"})
_MAX_BITS = 1024
_SUPPORTED = "operators, comparisons, calls, slices, containers, comprehensions, lambda and conditional expressions"


def evaluate(ev: Evaluator, node: ast.expr) -> Value:
    """The value of an expression; the caller counts depth."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        ev.fail("F503", node, f"{kind(node)} is not supported", f"supported expressions are {_SUPPORTED}")
    return handler(ev, node)


def _constant(ev: Evaluator, node: ast.Constant) -> Value:
    if isinstance(node.value, bool | int | float):
        return Number(node.value, place=node)
    if node.value is None or isinstance(node.value, str):
        return node.value
    if node.value is ...:
        return ELLIPSIS
    return ev.fail("F503", node, f"a {type(node.value).__name__} literal is not supported", "numbers are ints and floats")


# ---- operators


def _binop(ev: Evaluator, node: ast.BinOp) -> Value:
    return binary(ev, node, node.op, ev.expression(node.left), ev.expression(node.right))


def binary(ev: Evaluator, node: ast.expr, op: ast.operator, lhs: Value, rhs: Value) -> Value:
    """`lhs op rhs`."""
    name = BINARY[type(op)]
    if isinstance(lhs, Instance) or isinstance(rhs, Instance):
        return objects.binary(ev, node, name, lhs, rhs)
    if not isinstance(lhs, Tensor | Number) or not isinstance(rhs, Tensor | Number):
        found = builtin.binary(ev, node, name, lhs, rhs)
        if found is not None:
            return found
    left = node.left if isinstance(node, ast.BinOp) else node
    right = node.right if isinstance(node, ast.BinOp) else node
    a, b = ev.operand(left, _as_array(ev, node, lhs, rhs)), ev.operand(right, _as_array(ev, node, rhs, lhs))
    if isinstance(a, Number) and isinstance(b, Number):
        return _numbers(ev, node, name, a, b)
    if name.startswith("shift"):
        return shift(ev, node, name, a, b)
    return ev.domain.binary(node, name, a, b)


def _as_array(ev: Evaluator, node: ast.expr, value: Value, other: Value) -> Value:
    """A list or tuple beside an array is an array, as NumPy takes it."""
    if isinstance(other, Tensor) and isinstance(value, tuple | List):
        return library.to_array(ev, node, value)
    return value


def _numbers(ev: Evaluator, node: ast.expr, name: str, lhs: Number, rhs: Number) -> Value:
    if lhs.symbolic or rhs.symbolic:
        if name in _BITS and lhs.whole and rhs.whole and (name != "shift_right" or (not rhs.symbolic and (rhs.value or 0) >= 0)):
            return _bits(ev, node, name, lhs, rhs)
        if name not in _SYMBOLIC and not (name == "pow" and not rhs.symbolic and isinstance(rhs.value, float)):
            ev.unknown(node, f"{name} of a size that only the run knows")
        return ev.domain.arithmetic(node, name, [lhs, rhs], None)
    a, b = lhs.value, rhs.value
    if name == "matmul":
        ev.fail("F302", node, f"matmul of {words(lhs)} and {words(rhs)}", "both must be arrays of rank 1 or more")
    if isinstance(a, int) and isinstance(b, int):
        grows = {"pow": a.bit_length() * max(b, 0), "shift_left": a.bit_length() + max(b, 0)}.get(name, 0)
        if grows > _MAX_BITS and abs(a) > 1:
            ev.fail("F605", node, f"{a if a.bit_length() < 64 else 'a number'} {_SIGN[name]} {b} needs more than 64 bits")
    try:
        value = _PYTHON[name](a, b)
    except (ArithmeticError, ValueError, TypeError) as error:
        ev.fail("F703", node, f"{a!r} and {b!r}: {error}")
    if isinstance(value, complex):
        ev.fail("F403", node, f"{a!r} ** {b!r} is a complex number")
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        ev.fail("F605", node, "the result needs more than 64 bits")
    return ev.domain.arithmetic(node, name, [lhs, rhs], value) if name in _FORMULAS else Number(value)


_BITS = frozenset({"bit_and", "bit_or", "bit_xor", "shift_right"})
"""Operators of integers whose result is no larger than what they take: those of the run's 64 bits are Python's."""


def _bits(ev: Evaluator, node: ast.expr, name: str, lhs: Number, rhs: Number) -> Value:
    a, b = (array(ev, node, v) for v in (lhs, rhs))
    found = shift(ev, node, name, a, b) if name == "shift_right" else ev.domain.binary(node, name, a, b)
    return number_of(ev, node, found)


_SIGN = {"pow": "**", "shift_left": "<<"}


def _unary(ev: Evaluator, node: ast.UnaryOp) -> Value:
    found = ev.expression(node.operand)
    if isinstance(node.op, ast.Not):
        return negated(ev, node, condition(ev, node.operand, found))
    if isinstance(found, Instance):
        return objects.unary(ev, node, found)
    value = ev.operand(node.operand, found)
    if isinstance(value, Tensor):
        if isinstance(node.op, ast.UAdd):
            if value.dtype.kind == "b":
                ev.fail("F401", node, "unary + of an array of bool")
            return ev.domain.unary(node, "pos", value)
        return ev.domain.unary(node, "neg" if isinstance(node.op, ast.USub) else "invert", value)
    if value.symbolic:
        if isinstance(node.op, ast.Invert):
            ev.unknown(node, "~ of a size that only the run knows")
        return value if isinstance(node.op, ast.UAdd) else ev.domain.arithmetic(node, "neg", [value], None)
    number = value.value
    if isinstance(node.op, ast.UAdd):
        return Number(int(number)) if isinstance(number, bool) else value
    if isinstance(node.op, ast.Invert):
        if not isinstance(number, int):
            ev.fail("F408", node, f"~ of {words(value)}")
        return Number(-1 - number)
    if isinstance(node.operand, ast.Constant):
        return Number(-number, place=node)
    return ev.domain.arithmetic(node, "neg", [value], -number)


def _boolop(ev: Evaluator, node: ast.BoolOp) -> Value:
    stop_at = isinstance(node.op, ast.Or)
    value: Value = None
    for i, part in enumerate(node.values):
        value = ev.expression(part)
        if i == len(node.values) - 1:
            break
        held = condition(ev, part, value)
        if held is stop_at:
            break
        if not isinstance(held, bool):
            rest = (
                ast.copy_location(ast.BoolOp(node.op, node.values[i + 1 :]), node)
                if i + 2 < len(node.values)
                else node.values[i + 1]
            )
            keep, go_on = functools.partial(_truth, value, held), functools.partial(ev.expression, rest)
            return choose(ev, node, held, [keep, go_on] if stop_at else [go_on, keep])
    return value


def _truth(value: Value, held: SSAValue) -> Value:
    """What stands for a value that decided: a NumPy truth value as Python's, for what it is asked for is its truth."""
    return Number(None, held) if isinstance(value, Tensor) and value.scalar and value.dtype.kind == "b" else value


def negated(ev: Evaluator, node: ast.expr, held: bool | SSAValue) -> Number:
    """`not`."""
    return (
        Number(not held)
        if isinstance(held, bool)
        else ev.domain.arithmetic(node, "equal", [Number(None, held), Number(False)], None)
    )


def _compare(ev: Evaluator, node: ast.Compare, first: int = 0, left: Value = None) -> Value:
    """The comparisons from number `first` on; left: what stands before them, where that is not the first of all."""
    left = ev.expression(node.left) if first == 0 else left
    result: Value = Number(True)
    for i, (op, right_node) in enumerate(zip(node.ops[first:], node.comparators[first:], strict=True), first):
        right = ev.expression(right_node)
        result = _compared(ev, node, op, left, right)
        if i == len(node.ops) - 1:
            break
        held = condition(ev, node, result)
        if held is False:
            return result
        if not isinstance(held, bool):
            keep = functools.partial(_truth, result, held)
            rest = functools.partial(_compare, ev, node, i + 1, right)
            return choose(ev, node, held, [rest, keep])
        left = right
    return result


def _compared(ev: Evaluator, node: ast.Compare, op: ast.cmpop, left: Value, right: Value) -> Value:
    if isinstance(op, ast.Is | ast.IsNot):
        return Number(_identical(left, right) is isinstance(op, ast.Is))
    if isinstance(op, ast.In | ast.NotIn):
        return Number(builtin.contains(ev, node, right, left) is isinstance(op, ast.In))
    name = COMPARE[type(op)]
    if isinstance(left, Instance) or isinstance(right, Instance):
        found = objects.compared(ev, node, name, left, right)
        if found is not None:
            return found[0]
    a, b = _as_array(ev, node, left, right), _as_array(ev, node, right, left)
    if isinstance(a, Tensor | Number) and isinstance(b, Tensor | Number):
        if isinstance(a, Number) and isinstance(b, Number):
            if a.sized or b.sized:
                ev.unknown(node, "a size that only the run knows is compared")
            if a.symbolic or b.symbolic:
                return ev.domain.arithmetic(node, name, [a, b], None)
            return Number(bool(_PYTHON[name](a.value, b.value)))
        return ev.domain.binary(node, name, a, b)
    return Number(builtin.compare(ev, node, name, left, right))


def _identical(left: Value, right: Value) -> bool:
    if isinstance(left, Number) and isinstance(right, Number):
        return left is right or (
            not left.symbolic and not right.symbolic and isinstance(left.value, bool) and left.value is right.value
        )
    if isinstance(left, str | Library | np.dtype) or left is None or left is ELLIPSIS:
        return type(left) is type(right) and left == right
    return left is right


def _conditional(ev: Evaluator, node: ast.IfExp) -> Value:
    held = condition(ev, node.test, ev.expression(node.test))
    if isinstance(held, bool):
        return ev.expression(node.body if held else node.orelse)
    return choose(ev, node, held, [lambda: ev.expression(node.body), lambda: ev.expression(node.orelse)])


def _named(ev: Evaluator, node: ast.NamedExpr) -> Value:
    value = ev.expression(node.value)
    frame = ev.frame
    while frame.parent is not None and node.target.id in frame.scope.local and frame.function.endswith("<comprehension>"):
        frame = frame.parent
    target = frame
    while target.function.endswith("<comprehension>") and target.parent is not None:
        target = target.parent
    with ev.within(target):
        ev.bind(node.target.id, value)
    return value


# ---- containers


def _elements(ev: Evaluator, nodes: list[ast.expr]) -> list[Value]:
    found: list[Value] = []
    for e in nodes:
        if isinstance(e, ast.Starred):
            found += ev.collect(e.value, ev.expression(e.value))
            ev.bounded(e, len(found), "a sequence")
        else:
            found.append(ev.expression(e))
    return found


def _dict(ev: Evaluator, node: ast.Dict) -> Value:
    items: dict[Any, Value] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            other = ev.expression(value)
            if not isinstance(other, Dict):
                ev.fail("F408", value, f"** of {words(other)} in a dict", "only dicts can be merged")
            items.update(other.items)
        else:
            plain = builtin.key(ev, key, ev.expression(key))
            items[plain] = ev.expression(value)
    return Dict(items)


def _set(ev: Evaluator, node: ast.Set) -> Value:
    return sets.made(ev, node, _elements(ev, node.elts))


def _lambda(ev: Evaluator, node: ast.Lambda) -> Value:
    return Function(node, ev.frame.around, defaults(ev, node.args), ev.frame.body_of)


def defaults(ev: Evaluator, spec: ast.arguments) -> dict[str, Value]:
    """Values of a function's defaults, evaluated where it is defined."""
    positional = [*spec.posonlyargs, *spec.args]
    pairs = [
        *zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True),
        *((a, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None),
    ]
    return {a.arg: calls.default(ev, d) for a, d in pairs}


# ---- subscripts, attributes, calls


def _subscript(ev: Evaluator, node: ast.Subscript) -> Value:
    owner = ev.expression(node.value)
    if isinstance(owner, Tensor):
        return ev.domain.load(node, owner, index_items(ev, node.slice))
    if isinstance(owner, Library) and owner.path in grids.MAKERS:
        return grids.load(ev, node, owner.path, index_items(ev, node.slice))
    return builtin.load(ev, node, owner, ev.expression(node.slice))


def index_items(ev: Evaluator, node: ast.expr) -> list[Value]:
    """The items of an index, one a comma."""
    if isinstance(node, ast.Tuple):
        return [_index_item(ev, e) for e in node.elts]
    item = _index_item(ev, node)
    return list(item) if isinstance(item, tuple) else [item]


def _index_item(ev: Evaluator, node: ast.expr) -> Value:
    return _slice(ev, node) if isinstance(node, ast.Slice) else ev.expression(node)


def _slice(ev: Evaluator, node: ast.Slice) -> Slice:
    step = _bound(ev, node.step, "a slice's step")
    if isinstance(step, Number):
        ev.unknown(node, "a slice's step that only the run knows")
    if step == 0:
        ev.fail("F306", node, "a slice's step cannot be zero")
    return Slice(_bound(ev, node.lower), _bound(ev, node.upper), step)


def _bound(ev: Evaluator, node: ast.expr | None, what: str = "a slice's bound") -> int | Number | None:
    value = None if node is None else ev.expression(node)
    if node is None or value is None:
        return None
    if isinstance(value, Number) and value.symbolic and value.whole:
        return value
    return ev.integer(node, value, what)


def _attribute(ev: Evaluator, node: ast.Attribute) -> Value:
    return attribute(ev, node, ev.expression(node.value))


def attribute(ev: Evaluator, node: ast.Attribute, owner: Value) -> Value:
    """`owner.name`."""
    match owner:
        case Instance() | Class() | Super():
            return objects.load(ev, node, owner, objects.mangled(ev, node.attr))
        case Named() if not builtin.has_method(owner, node.attr):
            return Method(owner, node.attr) if node.attr in records.NAMED_METHODS else objects.load(ev, node, owner, node.attr)
        case Library():
            return library.attribute(ev, node, owner)
        case Tensor():
            return ev.domain.attribute(node, owner)
        case np.dtype() if node.attr in ("itemsize", "name"):
            return Number(owner.itemsize) if node.attr == "itemsize" else owner.name
        case List() | Dict() | Set() | str() | Generator() | tuple() | Range():
            if builtin.has_method(owner, node.attr) or isinstance(owner, Generator):
                return Method(owner, node.attr)
            names = ", ".join(builtin.methods(owner))
            return ev.fail("F206", node, f"{words(owner)} has no supported attribute `{node.attr}`", f"it has {names}")
        case Function() if node.attr == "__name__":
            return owner.title or (owner.node.name if isinstance(owner.node, ast.FunctionDef) else "<lambda>")
        case Number() if node.attr in ("real",):
            return owner
        case _:
            return ev.fail("F206", node, f"{words(owner)} has no attribute `{node.attr}` here")


def _call(ev: Evaluator, node: ast.Call) -> Value:
    function = ev.expression(node.func)
    args, keywords = calls.arguments(ev, node)
    return ev.call(node, function, args, keywords)


# ---- text


def _joined(ev: Evaluator, node: ast.JoinedStr) -> Value:
    return display.joined(ev, node)


def shown(ev: Evaluator, value: Value) -> str:
    """A value as `print` shows it, for messages."""
    parts = display.parts(ev, value)
    return "".join(p if isinstance(p, str) else "<array>" for p in parts)[:200]


def exception(ev: Evaluator, node: ast.expr) -> str:
    """What `raise` shows."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        said = ", ".join(shown(ev, ev.expression(a)) for a in node.args)
        return f"{node.func.id}{': ' if said else ''}{said}"
    return ast.unparse(node)[:200]


def _starred(ev: Evaluator, node: ast.Starred) -> Value:
    return ev.fail("F503", node, "a starred expression is not supported here")


_HANDLERS: Mapping[type[ast.expr], Callable[[Evaluator, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: lambda ev, node: ev.lookup(node),
    ast.BinOp: _binop,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolop,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.NamedExpr: _named,
    ast.Yield: generators.yield_,
    ast.YieldFrom: generators.yield_,
    ast.Tuple: lambda ev, node: tuple(_elements(ev, node.elts)),
    ast.List: lambda ev, node: List(_elements(ev, node.elts)),
    ast.Dict: _dict,
    ast.Set: _set,
    ast.SetComp: comprehensions.set_,
    ast.ListComp: comprehensions.list_,
    ast.DictComp: comprehensions.dict_,
    ast.GeneratorExp: lambda ev, node: Lazy(comprehensions.generated(ev, node), "generator"),
    ast.Lambda: _lambda,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.JoinedStr: _joined,
    ast.FormattedValue: lambda ev, node: Text(display.formatted(ev, node)),
    ast.Starred: _starred,
}
EXPRESSIONS = tuple(sorted(t.__name__ for t in _HANDLERS if t not in (ast.Starred, ast.FormattedValue)))
"""Names of the expressions that are supported."""
