"""Definitions of classes: their bodies, decorators and base, by Python's rules. What is left out is refused by its name."""

from __future__ import annotations

import ast

from fleet.frontend.python.calls import defaults
from fleet.frontend.python.classes import enums, objects, records
from fleet.frontend.python.standard import inherited, written
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import (
    BoundMethod,
    CallFrame,
    Class,
    Descriptor,
    Library,
    ObjectInstance,
    Partial,
    SourceFunction,
    Value,
)  # fmt: skip
from fleet.frontend.reading.wording import words

_NO_BASE = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"})
_PLAIN = frozenset({"typing.final", "typing.runtime_checkable", "enum.unique"})
"""Decorators of classes that change nothing but what others are told."""
_CALLED = SourceFunction | Partial | BoundMethod | ObjectInstance | Class
_DESCRIPTORS = frozenset({"builtins.staticmethod", "builtins.classmethod", "builtins.property"})
_ARITHMETIC = frozenset(f"__{r}{m}__" for m in objects.OPERATORS.values() for r in ("", "r", "i"))
_SPECIAL = frozenset(
    {
        *("__new__", "__init__", "__call__", "__len__", "__bool__", "__getitem__", "__setitem__", "__iter__", "__contains__"),
        *("__enter__", "__exit__", "__hash__", "__next__", "__format__", "__getattr__", "__missing__", "__reversed__"),
        *("__setattr__", "__delattr__", "__set_name__", "__get__", "__set__", "__delete__"),
        *("__abs__", "__float__", "__int__", "__round__", "__index__", "__delitem__"),
        *("__init_subclass__", "__str__", "__repr__", "__post_init__", "__slots__", "__match_args__", "__array_ufunc__", "__doc__"),
        *("__array_priority__", "__module__", "__qualname__", "__annotations__"),
        *objects.UNARY.values(), *(m for pair in objects.COMPARISONS.values() for m in pair), *_ARITHMETIC,
    }
)  # fmt: skip
"""Names that mean something to Python and are followed; others of this form would change what the class does."""


_HOOK = "__init_subclass__"
"""Method by which a class of the file is told of the classes that inherit from it."""


def define(ev: Evaluator, node: ast.ClassDef) -> None:
    """A `class` statement."""
    if node.bases and all(_of_dicts(ev.expression(b)) for b in node.bases):
        ev.bind(node.name, Partial(Library("builtins.dict")), quiet=True)  # its objects are plain dicts
        return
    kind = Class(node.name, path="" if node.name in ev.frame.scope.of_module else f"{ev.frame.within}{node.name}")
    kind.module = str(ev.frame.module().variables.get("__name__", ""))
    _base(ev, node, kind)
    hook = next((k.names[_HOOK] for k in list(kind.chain())[1:] if _HOOK in k.names), None)
    for keyword in node.keywords:
        if keyword.arg in (None, "metaclass") or hook is None:
            what = f"a class with `{keyword.arg or '**'}=` is not supported"
            ev.fail("F502", keyword.value, what, "metaclasses are not followed")
    frame = CallFrame(f"{_within(ev)}{node.name}", ev.frame.depth + 1, ev.scope(node), ev.frame.around, body_of=kind)
    frame.within = f"{kind.qualname}."
    ev.run(node.body, frame)
    if any(n == "__qualname__" for n in frame.variables):
        ev.fail("F502", node, "assignment to __qualname__ is not supported")
    with ev.within(frame):
        kind.names = {objects.mangled(ev, n): v for n, v in frame.variables.items()}
    _check_names(ev, node, kind)
    for name, value in list(kind.names.items()):
        if isinstance(value, ObjectInstance):
            objects.special(ev, expression_at(node), value, "__set_name__", kind, name)
    if kind.kind == "namedtuple":
        records.named_fields(ev, node, kind)
    if any(k.kind == "enum" for k in kind.chain()):
        enums.fill(ev, node, kind)
    hook = hook.function if isinstance(hook, Descriptor) else hook
    if isinstance(hook, SourceFunction):
        given = {k.arg: ev.expression(k.value) for k in node.keywords if k.arg is not None}
        place = ast.copy_location(ast.Name(node.name, ast.Load()), node)
        ev.call(ast.copy_location(ast.Call(place, [], []), node), BoundMethod(hook, kind), [], given)
    made: Value = kind
    for decorator in reversed(node.decorator_list):
        made = _decorate(ev, node, made, decorator)
    ev.bind(node.name, made, quiet=True)


def _of_dicts(base: Value) -> bool:
    """Return whether a class inherits from `typing.TypedDict`, or from a class that does."""
    return base == Library("typing.TypedDict") or (isinstance(base, Partial) and base.function == Library("builtins.dict"))


def _within(ev: Evaluator) -> str:
    return "" if ev.frame.parent is None else f"{ev.frame.function}."


def _of_enumeration(ev: Evaluator, node: ast.ClassDef) -> bool:
    """Return whether it is a `class Colour(str, Enum)`."""
    return len(node.bases) == 2 and ev.expression(node.bases[1]) == Library("enum.Enum")


def _base(ev: Evaluator, node: ast.ClassDef, kind: Class) -> None:
    """Notes what the class inherits from."""
    for expression in node.bases:
        base = ev.expression(expression)
        match base:
            case Library() if base.path in _NO_BASE:
                kind.strict = kind.strict or base.path in ("abc.ABC", "typing.Protocol")
            case Library(path="enum.Enum" | "enum.IntEnum" | "enum.StrEnum"):
                kind.kind = "enum"
                kind.numbers = base.path != "enum.Enum"
            case Library(path="builtins.str") if _of_enumeration(ev, node):
                kind.texts = True
            case Library(path="typing.NamedTuple"):
                kind.kind = "namedtuple"
            case Library(path="builtins.tuple") if kind.base is None:
                kind.base = objects.TUPLE
            case Library() if base.path in inherited.BASES and kind.base is None:
                kind.base = inherited.BASES[base.path]
            case Library() if base.path in written.BASES:
                _inherit(kind, written.class_of(ev, expression, base.path))
            case Class():
                _inherit(kind, base)
            case _:
                ev.fail(
                    "F502",
                    expression,
                    f"a class that inherits from {words(base)} is not supported",
                    "inherit from classes of the file",
                )
    try:
        kind.chain()
    except ValueError as error:
        ev.fail("F701", node, f"`{node.name}`: {error}", "name a class behind those that inherit from it")
    if kind.kind == "namedtuple" and len(node.bases) > 1:
        ev.fail("F502", node, "a NamedTuple that inherits from more is not supported", "use a dataclass")


def _inherit(kind: Class, base: Class) -> None:
    if kind.base is None:
        kind.base = base
    else:
        kind.others = (*kind.others, base)


def _check_names(ev: Evaluator, node: ast.ClassDef, kind: Class) -> None:
    places = {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}
    for name, value in kind.names.items():
        if name.startswith("__") and name.endswith("__") and name not in _SPECIAL:
            what = f"`{name}` of a class is not supported"
            ev.fail("F502", places.get(name, node), what, "it changes how Python treats the class or its objects")
        if name == "__init__" and isinstance(value, Descriptor):
            ev.fail("F502", places.get(name, node), "a decorated __init__ is not supported", "remove the decorator")
    for name in ("__init__", "__new__"):
        if kind.kind == "namedtuple" and name in kind.names:
            ev.fail("F502", places.get(name, node), f"{name} of a NamedTuple is not supported", "use a dataclass")
    slots = ev.sequence(kind.names["__slots__"]) if "__slots__" in kind.names else None
    if slots is not None:
        kind.slots = frozenset(s for s in slots if isinstance(s, str))
    kind.abstract = frozenset(s.name for s in places.values() if any(_last(d) == "abstractmethod" for d in s.decorator_list))


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _decorate(ev: Evaluator, node: ast.ClassDef, made: Value, decorator: ast.expr) -> Value:
    """Return what a decorator makes of a class: the class itself, or what a function of the file returns for it."""
    call = decorator if isinstance(decorator, ast.Call) else None
    found = ev.expression(decorator if call is None else call.func)
    if isinstance(found, Library) and isinstance(made, Class):
        if found.path in _PLAIN and call is None:
            return made
        if found.path == "functools.total_ordering" and call is None:
            made.totally = True
            return made
        if found.path == "dataclasses.dataclass" and not (call is not None and call.args):
            options: dict[str, Value] = {}
            for k in call.keywords if call is not None else ():
                if k.arg is None:
                    ev.fail("F506", decorator, "dataclass with ** is not supported")
                options[k.arg] = ev.expression(k.value)
            records.dataclass(ev, node, decorator, made, options)
            return made
    if call is not None and isinstance(found, _CALLED):
        found = ev.expression(decorator)
    if isinstance(found, _CALLED):
        return ev.call(ast.copy_location(ast.Call(decorator, [], []), decorator), found, [made], {})
    hint = "followed are functions of the file, dataclass, total_ordering, final, runtime_checkable and unique"
    return ev.fail("F508", decorator, f"the class `{node.name}` is decorated by {words(found)}", hint)


# ---- methods

_WRAPPERS = ("functools.cache", "functools.lru_cache", "contextlib.contextmanager")


def method(ev: Evaluator, node: ast.FunctionDef, kind: Class) -> Value:
    """A function of a class's body, with its decorators."""
    made: Value = SourceFunction(node, ev.frame.around, defaults(ev, node.args), kind)
    for decorator in reversed(node.decorator_list):
        made = _decorated(ev, node, decorator, made)
    return made


def _decorated(ev: Evaluator, node: ast.FunctionDef, decorator: ast.expr, made: Value) -> Value:
    if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "getter", "deleter"):
        found = ev.expression(decorator.value)
        if (
            isinstance(found, Descriptor)
            and found.kind == "property"
            and isinstance(made, SourceFunction)
            and decorator.attr == "setter"
        ):
            return Descriptor("property", found.function, made)
        ev.fail("F508", decorator, f"`{node.name}` is decorated by .{decorator.attr}", "a property's setter is followed")
    found = ev.expression(decorator)
    if isinstance(found, Library) and found.path in ("abc.abstractmethod", "numpy.errstate()"):
        return made
    if isinstance(found, Library) and found.path in _DESCRIPTORS and isinstance(made, SourceFunction):
        return Descriptor(found.path.removeprefix("builtins."), made)
    if isinstance(found, Library) and found.path == "functools.cached_property" and isinstance(made, SourceFunction):
        return Descriptor("cached_property", made)
    if isinstance(found, _CALLED) or (isinstance(found, Library) and found.path in _WRAPPERS):
        return ev.call(ast.copy_location(ast.Call(decorator, [], []), decorator), found, [made], {})
    hint = "followed are functions of the file, staticmethod, classmethod, property, its setter, abstractmethod and caches"
    return ev.fail("F508", decorator, f"`{node.name}` is decorated, which may change what it means", hint)
