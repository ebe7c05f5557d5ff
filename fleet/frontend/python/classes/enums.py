"""Enumerations: classes that inherit from `enum.Enum`, whose names are their members."""

from __future__ import annotations

import ast

from fleet.frontend.python.flow import exceptions
from fleet.frontend.reading.errors import as_call, expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import key
from fleet.frontend.reading.values import BoundMethod, Class, Descriptor, Marker, NumberValue, ObjectInstance, SourceFunction, Value
from fleet.frontend.reading.wording import words

AUTO = Marker("auto")
"""`enum.auto()`."""


def fill(ev: Evaluator, node: ast.ClassDef, kind: Class) -> None:
    """Make the members out of what the class's body bound; a second name of a value is another name of its member."""
    last = 0
    for name, bound in list(kind.names.items()):
        if name.startswith("_") or isinstance(bound, SourceFunction | Descriptor):
            continue
        value = NumberValue(last + 1) if bound == AUTO else bound
        number = ev.static(value)
        last = number if isinstance(number, int) else last
        plain = key(ev, node, value)
        known = [m for m in kind.members.values() if key(ev, node, m.attributes["value"]) == plain]
        member = known[0] if known else ObjectInstance(kind, {"name": name, "value": value, "_name_": name, "_value_": value})
        kind.names[name] = member
        if known:
            continue
        kind.members[name] = member
        found = kind.find("__init__")
        if found is not None and isinstance(found[1], SourceFunction):
            args: list[Value] = [*value] if isinstance(value, tuple) else [value]
            ev.call(as_call(expression_at(node)), BoundMethod(found[1], member), args, {})


def by_value(ev: Evaluator, node: ast.AST, kind: Class, value: Value) -> Value:
    """`State(2)`: the member of a value. SourceError F704 if there is none."""
    plain = key(ev, node, value)
    for member in kind.members.values():
        if member is value or key(ev, node, member.attributes["value"]) == plain:
            return member
    what = f"{words(value)} is not a value of `{kind.name}`"
    return ev.refuse("F704", node, what, ValueError(f"{plain!r} is not a valid {kind.name}"), f"it has {', '.join(kind.members)}")


def by_name(ev: Evaluator, node: ast.AST, kind: Class, name: Value) -> Value:
    """`State["RED"]`. SourceError F704 if there is no such member."""
    if not isinstance(name, str) or name not in kind.members:
        what, hint = f"{words(name)} is not a name in `{kind.name}`", f"it has {', '.join(kind.members)}"
        if isinstance(name, str):
            exceptions.throw(ev, "F704", node, what, exceptions.made(ev, "KeyError", name), hint)
        return ev.fail("F704", node, what, hint)
    return kind.members[name]


def shown(owner: ObjectInstance) -> tuple[str, Value] | None:
    """`State.RED` and the value of a member that has no text of its own; None for other objects."""
    name = owner.attributes.get("_name_")
    if not any(k.kind == "enum" for k in owner.kind.chain()) or not isinstance(name, str):
        return None
    return f"{owner.kind.name}.{name}", owner.attributes["_value_"]
