"""Assignments, augmented ones too: names, tuples, elements and attributes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from fleet.frontend.arrays import foreign
from fleet.frontend.arrays.complexes import beside
from fleet.frontend.arrays.functions import shifts
from fleet.frontend.arrays.reinterpreted import PARTS
from fleet.frontend.python.attributes import attribute
from fleet.frontend.python.classes import objects
from fleet.frontend.python.containers import builtin, byte_arrays
from fleet.frontend.python.operators import BINARY, binary
from fleet.frontend.python.standard.aside import is_aside
from fleet.frontend.python.subscripts import index_items
from fleet.frontend.python.words import kind
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.rounds import known_length
from fleet.frontend.reading.values import (
    ByteArray,
    ForeignArray,
    Library,
    List,
    Namespace,
    NumberValue,
    ObjectInstance,
    Poison,
    TracedArray,
    Value,
)
from fleet.frontend.reading.wording import words


def plain(ev: Evaluator, node: ast.Assign) -> None:
    """`a = b = value`."""
    value = ev.expression(node.value)
    for target in node.targets:
        assign(ev, target, value, alone=len(node.targets) == 1)


def annotated(ev: Evaluator, node: ast.AnnAssign) -> None:
    """`a: type = value`."""
    if node.value is not None:
        assign(ev, node.target, ev.expression(node.value))
    elif isinstance(node.target, ast.Attribute | ast.Subscript):
        ev.expression(node.target.value)  # Python evaluates it too, and assigns nothing
        if isinstance(node.target, ast.Subscript):
            ev.expression(node.target.slice)


def assign(ev: Evaluator, target: ast.expr, value: Value, *, alone: bool = False) -> None:
    """Binds a target: a name, a part of a container or array, or a pattern of them.

    alone: there is no other target, so that a part of an array gets what the value is at present.
    """
    match target:
        case ast.Name():
            ev.bind(target.id, value)
        case ast.Tuple() | ast.List():
            _unpack(ev, target, value)
        case ast.Subscript():
            owner = _shown(ev, ev.expression(target.value))
            if isinstance(owner, Library) and is_aside(owner.path):
                return
            if isinstance(owner, TracedArray):
                value = beside(ev, target, _apart(value) if alone else value, owner)
                ev.domain.store(ev, target, owner, index_items(ev, target.slice), value)
                _renamed(ev, target.value, owner)
            elif isinstance(owner, ForeignArray):
                foreign.store(ev, target, owner, index_items(ev, target.slice), value)
            else:
                builtin.store(ev, target, owner, ev.expression(target.slice), value)
        case ast.Attribute():
            _set_attribute(ev, target, ev.expression(target.value), value)
        case _:
            ev.fail("F504", target, f"assignment to {kind(target)} is not supported", "assign to a name")


def _shown(ev: Evaluator, owner: Value) -> Value:
    """Return what changes with an array: the records of which it shows a field, else itself."""
    records = foreign.shadowed(ev, owner) if isinstance(owner, TracedArray) else None
    return owner if records is None else records


def _set_attribute(ev: Evaluator, target: ast.Attribute, owner: Value, value: Value) -> None:
    if isinstance(owner, Library) and is_aside(owner.path):
        return
    if isinstance(owner, Namespace):
        owner.frame.variables[target.attr] = value
        return
    if isinstance(owner, TracedArray) and target.attr in PARTS:
        if owner.dtype.kind != "c" and target.attr == "imag":
            ev.fail("F703", target, "an array of real numbers has no imaginary part to set", "make it complex: x.astype(complex)")
        part = ev.domain.attribute(ev, target, owner)
        assert isinstance(part, TracedArray)
        whole = index_items(ev, ast.copy_location(ast.Constant(...), target))
        ev.domain.store(ev, target, part, whole, beside(ev, target, value, part))
        return
    objects.store(ev, target, owner, objects.mangled(ev, target.attr), value)
    if isinstance(value, TracedArray | NumberValue) and isinstance(owner, ObjectInstance):
        ev.domain.named(value, f"{owner.kind.name}.{target.attr}", ev.frame.depth + 1)


def _renamed(ev: Evaluator, node: ast.expr, owner: TracedArray) -> None:
    if isinstance(node, ast.Name):
        ev.bind(node.id, owner)


def _unpack(ev: Evaluator, target: ast.Tuple | ast.List, value: Value) -> None:
    iterable = stand_ins.iterated(ev, target, value, _unpacked)
    starred = [i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)]
    parts: list[Value] = []
    for part in iterable:
        parts.append(part)
        ev.bounded(target, len(parts), "a sequence")
        if not starred and len(parts) > len(target.elts) and not isinstance(value, tuple | List):
            break
    if not starred:
        if len(parts) != len(target.elts):
            what = f"{len(target.elts)} targets for {len(parts)} values"
            got = f"expected {len(target.elts)}"
            few = len(parts) < len(target.elts)
            said = f"not enough values to unpack ({got}, got {len(parts)})" if few else f"too many values to unpack ({got})"
            ev.refuse("F310", target, what, ValueError(said))
        for element, part in zip(target.elts, parts, strict=True):
            assign(ev, element, part)
        return
    place, after = starred[0], len(target.elts) - starred[0] - 1
    if len(parts) < place + after:
        what = f"{len(target.elts) - 1} targets and a starred one for {len(parts)} values"
        said = f"not enough values to unpack (expected at least {len(target.elts) - 1}, got {len(parts)})"
        ev.refuse("F310", target, what, ValueError(said))
    middle = List(parts[place : len(parts) - after])
    for element, part in zip(target.elts, [*parts[:place], middle, *parts[len(parts) - after :]], strict=True):
        assign(ev, element.value if isinstance(element, ast.Starred) else element, part)


def _unpacked(value: Iterable[object]) -> None:
    (_,) = value


def _apart(value: Value) -> Value:
    """The present value of an unnamed view (`x[1:] = x[:-1]`), apart from its array."""
    return TracedArray(value.ssa, scalar=value.scalar) if type(value) is TracedArray else value


def augmented(ev: Evaluator, node: ast.AugAssign) -> None:
    """`a += value`."""
    op = BINARY.get(type(node.op))
    match node.target:
        case ast.Name() as target:
            old = ev.lookup(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            if isinstance(old, Poison):
                ev.expression(target)
            ev.bind(target.id, _updated(ev, node, op, old, _apart(ev.expression(node.value))))
        case ast.Subscript() as target:
            owner = _shown(ev, ev.expression(target.value))
            place = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
            if isinstance(owner, TracedArray):
                items = index_items(ev, target.slice)
                old = ev.domain.load(ev, place, owner, items)
                right = ev.operand(node.value, _apart(beside(ev, node.value, ev.expression(node.value), old)))
                new = binary(ev, place, node.op, ev.operand(target, old), right)
                if isinstance(old, TracedArray) and isinstance(new, TracedArray) and len(new.shape) > len(old.shape) > 0:
                    ev.fail("F301", target, f"an array of shape {old.shape} cannot be changed in place to shape {new.shape}")
                del old
                ev.domain.store(ev, target, owner, items, new)
                _renamed(ev, target.value, owner)
                return
            if isinstance(owner, ForeignArray):
                items = index_items(ev, target.slice)
                old = foreign.load(ev, place, owner, items)
                foreign.store(ev, target, owner, items, binary(ev, place, node.op, old, ev.expression(node.value)))
                return
            index = ev.expression(target.slice)  # once: it may take the next of an iterator
            old = builtin.load(ev, place, owner, index)
            builtin.store(ev, target, owner, index, _updated(ev, node, op, old, ev.expression(node.value)))
        case ast.Attribute() as target:
            holder = ev.expression(target.value)
            old = attribute(ev, target, holder)
            _set_attribute(ev, target, holder, _updated(ev, node, op, old, ev.expression(node.value)))


def _updated(ev: Evaluator, node: ast.AugAssign, op: str | None, old: Value, right: Value) -> Value:
    if isinstance(old, List) and isinstance(node.op, ast.Add):
        added = ev.collect(node.value, right)
        ev.bounded(node, known_length(old.items) + len(added), "a list")
        old.items += added
        return old
    if isinstance(old, ByteArray) and isinstance(node.op, ast.Add):
        return byte_arrays.extended(ev, node, old, right)
    if isinstance(old, TracedArray) and not old.scalar and op is not None:
        operand = ev.operand(node.value, beside(ev, node.value, right, old))
        found: Value = old
        if op.startswith("shift") and isinstance(operand, TracedArray):
            return _shifted(ev, node, op, old, operand)
        for name, number in shifts.steps(ev, node, op, old, operand) if op.startswith("shift") else [(op, operand)]:
            assert isinstance(found, TracedArray)
            found = ev.domain.update(ev, node, name, found, number)
        return found
    if isinstance(old, ObjectInstance) and op is not None and op in objects.OPERATORS:
        found_in_place = objects.special(ev, node.value, old, f"__i{objects.OPERATORS[op]}__", right)
        if found_in_place is not None:
            return found_in_place[0]
    return binary(ev, node.value, node.op, old, right, augmented=True)


def _shifted(ev: Evaluator, node: ast.AugAssign, op: str, old: TracedArray, by: TracedArray) -> Value:
    made = shifts.shift(ev, node.value, op, old, by)
    assert isinstance(made, TracedArray)
    if made.dtype != old.dtype or made.shape != old.shape:
        ev.fail("F401", node, f"{words(made)} does not fit into {words(old)}", "shift by numbers of the array's own dtype")
    ev.domain.store(ev, node.value, old, [], made)
    return old
