"""Objects of the file's own classes: attributes, methods, operators, and what else Python asks an object's class for."""

from __future__ import annotations

import ast
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from fleet.errors import SourceError
from fleet.frontend.arrays.truths import number_of
from fleet.frontend.python import calls
from fleet.frontend.python.classes import enums, records
from fleet.frontend.python.flow import exceptions
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import FROZEN_ERROR, Evaluator
from fleet.frontend.reading.values import (
    NOT_IMPLEMENTED,
    BoundMethod,
    Class,
    Descriptor,
    Dict,
    Initialiser,
    Library,
    NamedTupleValue,
    NumberValue,
    ObjectInstance,
    Partial,
    SourceFunction,
    Super,
    TracedArray,
    Value,
)
from fleet.frontend.reading.wording import words

OPERATORS: Mapping[str, str] = {
    "add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "floor_div": "floordiv", "mod": "mod", "pow": "pow",
    "matmul": "matmul", "bit_and": "and", "bit_or": "or", "bit_xor": "xor", "shift_left": "lshift", "shift_right": "rshift",
}  # fmt: skip
"""Operation -> the middle of the names of its methods: `__add__`, `__radd__`."""
COMPARISONS: Mapping[str, tuple[str, str]] = {
    "equal": ("__eq__", "__eq__"), "less": ("__lt__", "__gt__"), "less_equal": ("__le__", "__ge__"),
    "greater": ("__gt__", "__lt__"), "greater_equal": ("__ge__", "__le__"),
}  # fmt: skip
"""Operation -> method of the left side, method of the right side in its place."""
_FIRST_ARGUMENT: Mapping[str, str] = {"msg": "SyntaxError", "value": "StopIteration", "code": "SystemExit"}
"""Attribute that is an exception's first argument -> the exception."""
UNARY: Mapping[type[ast.unaryop], str] = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}


def kind_of(value: Value) -> Class | None:
    """The class of an object, or None if it is not of a class of the file."""
    return value.kind if isinstance(value, ObjectInstance | NamedTupleValue) else None


def inherits(kind: Class | None, other: Class) -> bool:
    """Return whether a class is another one, or inherits from it."""
    return kind is not None and any(k is other for k in kind.chain())


# ---- attributes


def mangled(ev: Evaluator, name: str) -> str:
    """An attribute's name as Python changes it inside of a class: `__w` is `_Linear__w`."""
    if not name.startswith("__") or name.endswith("__"):
        return name
    inside = ev.frame.within_class()
    return name if inside is None or not inside.name.strip("_") else f"_{inside.name.lstrip('_')}{name}"


def find(
    ev: Evaluator, node: ast.expr, owner: ObjectInstance | NamedTupleValue | Class | Super, name: str, *, quiet: bool = True
) -> tuple[Value] | None:
    """An attribute in Python's order: properties, the object's own, those of its class, what `__getattr__` answers.

    None if there is no such attribute; without `quiet`, an exception of `__getattr__` is raised in the source.
    """
    match owner:
        case Class():
            found = owner.find(name)
            if found is not None and _asked_for(found[1], "__get__"):
                return special(ev, node, found[1], "__get__", None, owner)
            return _of_class(owner, name)
        case Super():
            kind = owner.owner if isinstance(owner.owner, Class) else kind_of(owner.owner)
            order = list(owner.behind.chain() if kind is None else kind.chain())
            behind = order[order.index(owner.behind) + 1 :] if owner.behind in order else []
            found = next(((k, k.names[name]) for k in behind if name in k.names), None)
            if found is None and name == "__new__":
                return (Library(OBJECT_NEW),)
            if found is None and isinstance(owner.owner, NamedTupleValue):
                return (Partial(Library(f"builtins.tuple.{name}"), (owner.owner,)),)
            if found is None and name in ("__setattr__", "__delattr__"):
                return (Partial(Library(f"builtins.object.{name}"), (owner.owner,)),)
            if found is None:
                return (BoundMethod(None, owner.owner),) if name in ("__init__", "__init_subclass__") else None
            if name == "__init_subclass__" and isinstance(found[1], SourceFunction):
                return (BoundMethod(found[1], owner.owner),)
            if isinstance(owner.owner, Class) and not isinstance(found[1], Descriptor):
                return (found[1],)
            return (_bound(ev, node, owner.owner, name, found[1]),)
        case _:
            pass
    if name == "__class__":
        return (owner.kind,)
    found = owner.kind.find(name)
    if found is not None and isinstance(found[1], Descriptor) and found[1].kind == "property":
        return (ev.call(_as_call(node), found[1].function, [owner], {}),)
    if found is not None and isinstance(found[1], Descriptor) and found[1].kind == "cached_property":
        held = owner.attributes if isinstance(owner, ObjectInstance) else {}
        if name not in held:
            held[name] = ev.call(_as_call(node), found[1].function, [owner], {})
        return (held[name],)
    if found is not None and _asked_for(found[1], "__get__") and _asked_for(found[1], "__set__"):
        return (_bound(ev, node, owner, name, found[1]),)
    if isinstance(owner, NamedTupleValue):
        field = records.attribute(owner, name)
        if field is not None:
            return field
    elif name == "__dict__" and owner.itself:
        return (owner,)
    elif name == "__dict__":
        if not all(n.isidentifier() for n in owner.attributes):
            ev.fail("F206", node, f"the attributes of {words(owner)} as a dict are not supported", "name them")
        return (Dict(owner.attributes),)  # the same dict: what is done to it is done to the object
    elif name in owner.attributes:
        return (owner.attributes[name],)
    if found is not None:
        return (_bound(ev, node, owner, name, found[1]),)
    if isinstance(owner, ObjectInstance) and _FIRST_ARGUMENT.get(name) in {k.name for k in owner.kind.chain()}:
        args = owner.attributes.get("args", ())
        return (args[0] if isinstance(args, tuple) and args else None,)
    if name in ("__cause__", "__context__") and exceptions.is_exception(ev, owner.kind):
        return (None,)
    return _asked(ev, node, owner, name) if quiet else special(ev, node, owner, "__getattr__", name)


def _asked(ev: Evaluator, node: ast.expr, owner: ObjectInstance | NamedTupleValue, name: str) -> tuple[Value] | None:
    """Return what `__getattr__` of the class answers; None if it has none, or that raises AttributeError."""
    try:
        with ev.caught():
            return special(ev, node, owner, "__getattr__", name)
    except SourceError as error:
        if not exceptions.raises(ev, error, "AttributeError"):
            raise
        return None


def _of_class(owner: Class, name: str) -> tuple[Value] | None:
    if name in ("__name__", "__qualname__"):
        return (owner.name if name == "__name__" else owner.qualname,)
    if name == "__module__" and owner.module:
        return (owner.module,)
    if name in ("__mro__", "__bases__"):
        return ((*(owner.chain() if name == "__mro__" else owner.bases), Library("builtins.object")),)
    found = owner.find(name)
    if found is None and name == "__new__" and not owner.members and all(k.kind != "namedtuple" for k in owner.chain()):
        return (Library(OBJECT_NEW),)
    if found is None:
        return records.class_attribute(owner, name)
    value = found[1]
    if isinstance(value, Descriptor) and value.kind != "property" and isinstance(value.function, SourceFunction):
        return (value.function if value.kind == "staticmethod" else BoundMethod(value.function, owner),)
    return (value,)


def _bound(ev: Evaluator, node: ast.expr, owner: Value, name: str, value: Value) -> Value:
    """Return a class's attribute as one of its objects has it: functions become methods."""
    match value:
        case Descriptor(kind="staticmethod"):
            return value.function
        case Descriptor(kind="classmethod", function=SourceFunction() as function):
            return BoundMethod(function, owner if isinstance(owner, Class) else kind_of(owner))
        case Descriptor():
            return ev.call(_as_call(node), value.function, [owner], {})
        case SourceFunction() | Initialiser():
            return BoundMethod(value, owner)
        case ObjectInstance() if _asked_for(value, "__get__"):
            answer = special(ev, node, value, "__get__", owner, kind_of(owner))
            return None if answer is None else answer[0]
        case Partial() if value.binds:
            return BoundMethod(value, owner)
        case Library() if value.path.startswith("builtins.") and value.path.count(".") == 2 and name not in _OF_CLASSES:
            return BoundMethod(Partial(value), owner)
        case Library() if _is_method(value.path):
            what = f"`{name}` is {value.path} as an attribute of the class, which Python calls with the object as first argument"
            return ev.fail("F206", node, what, "use staticmethod(...), or set it in __init__")
        case _:
            return value


def _asked_for(value: Value, name: str) -> bool:
    """Return whether a class's attribute is a descriptor with a method."""
    return isinstance(value, ObjectInstance) and value.kind.find(name) is not None


_OF_CLASSES = frozenset({"__new__", "fromkeys", "maketrans", "from_bytes", "fromhex"})
"""Methods of builtin classes that are not called with an object."""


def _is_method(path: str) -> bool:
    """Whether Python binds a library's function to the object on which it is found: plain functions and NumPy's dispatchers."""
    found: object = {"numpy": np, "math": math}.get(path.split(".", maxsplit=1)[0])
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    return found is not None and not isinstance(found, type) and hasattr(found, "__get__")


def load(ev: Evaluator, node: ast.expr, owner: ObjectInstance | NamedTupleValue | Class | Super, name: str) -> Value:
    """`owner.name`. SourceError F206 if there is no such attribute."""
    found = find(ev, node, owner, name, quiet=False)
    if found is not None:
        return found[0]
    kind = owner if isinstance(owner, Class) else kind_of(owner)
    names = sorted({n for k in (kind.chain() if kind is not None else ()) for n in k.names if not n.startswith("__")})
    names += sorted(owner.attributes) if isinstance(owner, ObjectInstance) else []
    what, hint = f"{words(owner)} has no attribute `{name}`", f"it has {', '.join(names[:30])}" if names else None
    if kind is None or isinstance(owner, Super):
        return ev.refuse("F206", node, what, AttributeError(f"'super' object has no attribute '{name}'"), hint)
    of = f"type object '{kind.name}'" if isinstance(owner, Class) else f"'{kind.name}' object"
    return ev.refuse("F206", node, what, AttributeError(f"{of} has no attribute '{name}'"), hint)


def store(ev: Evaluator, node: ast.expr, owner: Value, name: str, value: Value) -> None:
    """`owner.name = value`, by a property's setter if there is one."""
    match owner:
        case ObjectInstance() if special(ev, node, owner, "__setattr__", name, value) is not None:
            pass
        case ObjectInstance():
            if owner.kind.frozen:
                _frozen(ev, node, owner, name, "assign to")
            set_plainly(ev, node, owner, name, value)
        case Class():
            owner.names[name] = value
        case SourceFunction():
            owner.attributes[name] = value
            ev.bounded(node, len(owner.attributes), "a function")
        case TracedArray():
            ev.fail("F504", node, f"assignment to `.{name}` of an array is not supported", "make a new array: reshape, astype")
        case _:
            what = f"{words(owner)} has no attributes that can be assigned"
            stand_ins.refuse(ev, "F504", node, what, lambda v: setattr(v, name, None), owner)


def set_plainly(ev: Evaluator, node: ast.expr, owner: ObjectInstance, name: str, value: Value) -> None:
    """`object.__setattr__(owner, name, value)`: by a property's setter if there is one."""
    found = owner.kind.find(name)
    if found is not None and isinstance(found[1], Descriptor) and found[1].kind == "property":
        setter = found[1].setter
        if setter is None:
            what = f"the property `{name}` of `{owner.kind.name}` has no setter"
            cause = AttributeError(f"property '{name}' of '{owner.kind.name}' object has no setter")
            ev.refuse("F206", node, what, cause, f"write @{name}.setter")
        ev.call(_as_call(node), setter, [owner, value], {})
        return
    if found is not None and _asked_for(found[1], "__set__"):
        special(ev, node, found[1], "__set__", owner, value)
        return
    slots = [k.slots for k in owner.kind.chain()]
    if all(s is not None for s in slots) and not any(s is not None and name in s for s in slots):
        what = f"`{name}` is in no __slots__ of `{owner.kind.name}`"
        stand_ins.refuse(ev, "F206", node, what, lambda v: setattr(v, name, None), owner)
    if name == "__dict__" and not ev.inside:
        _set_all(ev, node, owner, value)
        return
    if name in ("__dict__", "__class__"):
        ev.fail("F504", node, f"assignment to `{name}` is not supported")
    owner.attributes[name] = value
    ev.bounded(node, len(owner.attributes), "an object")


ITEMS = "<items>"
"""The attribute that holds the items of an object that is a dict or a list; no source can name it."""


def _set_all(ev: Evaluator, node: ast.expr, owner: ObjectInstance, value: Value) -> None:
    """`owner.__dict__ = value`: from now on both are one dict, also where an object that is a dict becomes its own."""
    held = value.attributes.get(ITEMS, Dict({})) if isinstance(value, ObjectInstance) else value
    is_dict = any(k.name == "dict" and k.module == "builtins" for k in owner.kind.chain())
    if isinstance(value, ObjectInstance) and value is owner and is_dict and isinstance(held, Dict):
        owner.attributes, owner.itself = held.items, True
    elif isinstance(value, Dict) and value.kind == "dict" and ITEMS not in owner.attributes and not owner.itself:
        owner.attributes = value.items
    else:
        ev.fail("F504", node, f"assignment of {words(value)} to `__dict__` is not supported", "assign a dict")


def _frozen(ev: Evaluator, node: ast.expr, owner: ObjectInstance, name: str, verb: str) -> None:
    what = f"`{owner.kind.name}` is frozen: `{name}` cannot be {'deleted' if verb == 'delete' else 'assigned'}"
    error = exceptions.made(ev, FROZEN_ERROR, f"cannot {verb} field '{name}'")
    exceptions.throw(ev, "F701", node, what, error, "use dataclasses.replace")


def remove(ev: Evaluator, node: ast.Attribute, owner: Value) -> None:
    """`del owner.name`."""
    name = mangled(ev, node.attr)
    if isinstance(owner, ObjectInstance) and special(ev, node, owner, "__delattr__", name) is not None:
        return
    if isinstance(owner, ObjectInstance) and owner.kind.frozen:
        _frozen(ev, node, owner, name, "delete")
    remove_plainly(ev, node, owner, name)


def remove_plainly(ev: Evaluator, node: ast.expr, owner: Value, name: str) -> None:
    """`object.__delattr__(owner, name)`."""
    found = owner.kind.find(name) if isinstance(owner, ObjectInstance) else None
    if found is not None and _asked_for(found[1], "__delete__"):
        special(ev, node, found[1], "__delete__", owner)
        return
    attributes = owner.attributes if isinstance(owner, ObjectInstance) else owner.names if isinstance(owner, Class) else {}
    if name not in attributes:
        what = f"{words(owner)} has no attribute `{name}` of its own to delete"
        stand_ins.refuse(ev, "F206", node, what, lambda v: delattr(v, name), owner)
    del attributes[name]


# ---- calls


def instantiate(ev: Evaluator, node: ast.Call, kind: Class, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """`Class(...)`."""
    if kind.members and len(args) == 1 and not keywords:
        return enums.by_value(ev, node, kind, args[0])
    creator, found = kind.find("__new__"), kind.find("__init__")
    if creator is not None:
        function = creator[1].function if isinstance(creator[1], Descriptor) else creator[1]
        made = ev.call(node, function, [kind, *args], keywords)
        if not inherits(kind_of(made), kind):
            return made
    else:
        made = new(ev, node, kind, args, keywords)
    raised = exceptions.is_exception(ev, kind)
    if raised and isinstance(made, ObjectInstance):
        made.attributes["args"] = tuple(args)
    if found is not None:
        returned = ev.call(node, _bound(ev, node.func, made, "__init__", found[1]), args, keywords)
        if returned is not None:
            ev.fail("F408", node, f"`{kind.name}.__init__` returns {words(returned)}", "it must return None")
    elif creator is None and isinstance(made, ObjectInstance) and ((args and not raised) or keywords):
        what = f"`{kind.name}` has no __init__ and takes no arguments"
        which = "keyword " if raised else ""  # an exception takes any, but none by keyword
        ev.refuse("F208", node, what, TypeError(f"{kind.name}() takes no {which}arguments"))
    return made


OBJECT_NEW = "builtins.object.__new__"


def new(ev: Evaluator, node: ast.Call, kind: Class, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """What Python's own `__new__` gives for a class: a tuple of a class that is one, else an object that no `__init__` has seen."""
    if any(k.kind == "namedtuple" for k in kind.chain()):
        return records.named(ev, node, kind, args, keywords)
    if any(k is TUPLE for k in kind.chain()):
        elements = ev.call(node, Library("builtins.tuple"), [*args], keywords)
        assert isinstance(elements, tuple)
        return NamedTupleValue.of(kind, elements)
    return bare(ev, node, kind)


TUPLE = Class("tuple", module="builtins")
"""Stands for `tuple` among the classes that a class of the file inherits from."""


def bare(ev: Evaluator, node: ast.Call, kind: Class) -> ObjectInstance:
    """An object that no `__init__` has seen. SourceError F701 if the class is abstract."""
    strict = any(k.strict for k in kind.chain())
    if strict and (missing := [n for k in kind.chain() for n in sorted(k.abstract) if (f := kind.find(n)) and f[0] is k]):
        what = f"`{kind.name}` is abstract: `{missing[0]}` is not defined"
        ev.refuse("F701", node, what, _abstract(kind.name, missing), "define it in a class that inherits")
    return ObjectInstance(kind)


def _abstract(name: str, missing: Sequence[str]) -> Exception:
    """Return Python's error for an object of an abstract class."""
    try:
        type(name, (ABC,), {n: abstractmethod(lambda _: None) for n in missing})()
    except TypeError as error:
        return error
    raise AssertionError(name)


def call_bound(ev: Evaluator, node: ast.Call, method: BoundMethod, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """Calls a method with its object before the other arguments."""
    match method.function:
        case SourceFunction():
            return calls.inline(ev, node, method.function, [method.owner, *args], keywords)
        case Partial():
            return ev.call(node, method.function, [method.owner, *args], keywords)
        case Initialiser():
            return records.initialise(ev, node, method.function.kind, method.owner, args, keywords)
        case None:
            owner = method.owner
            if isinstance(owner, ObjectInstance) and exceptions.is_exception(ev, owner.kind) and not keywords:
                owner.attributes["args"] = tuple(args)
            elif args or keywords:
                ev.fail("F208", node, "object.__init__ takes no arguments")
            return None


def special(ev: Evaluator, node: ast.expr, owner: Value, name: str, *args: Value) -> tuple[Value] | None:
    """Return the result of a method like `__len__` of `owner`'s class; None if the class lacks it or it returns NotImplemented."""
    kind = kind_of(owner)
    found = None if kind is None else kind.find(name)
    if found is None:
        return None
    value = ev.call(_as_call(node), _bound(ev, node, owner, name, found[1]), list(args), {})
    return None if value == NOT_IMPLEMENTED else (value,)


def _as_call(node: ast.expr) -> ast.Call:
    return node if isinstance(node, ast.Call) else ast.copy_location(ast.Call(func=node, args=[], keywords=[]), node)


def super_of(ev: Evaluator, node: ast.Call, args: list[Value]) -> Value:
    """`super()` inside of a method, or `super(Class, self)`."""
    if not args:
        if ev.frame.method_of is None:
            ev.fail("F503", node, "super() is supported directly inside of a method", "write super(Class, self)")
        return Super(ev.frame.method_of, ev.frame.receiver)
    kind, owner = args[0], args[1] if len(args) == 2 else None
    if not isinstance(kind, Class) or not inherits(owner if isinstance(owner, Class) else kind_of(owner), kind):
        ev.fail("F408", node, "super(...) takes a class and one of its objects")
    return Super(kind, owner)


# ---- operators


def binary(ev: Evaluator, node: ast.expr, op: str, lhs: Value, rhs: Value, *, augmented: bool = False) -> Value:
    """`lhs op rhs` of an object, by its methods. SourceError F408 if it has no such method."""
    middle = OPERATORS[op]
    if isinstance(lhs, TracedArray):
        return _beside_array(ev, node, middle, lhs, rhs)
    found = answered(ev, node, op, lhs, rhs)
    if found is not None:
        return found[0]
    operation = (stand_ins.IN_PLACE if augmented else stand_ins.OPERATORS)[op]
    what, hint = f"{words(lhs)} and {words(rhs)} have no {op}", f"define __{middle}__"
    return stand_ins.refuse(ev, "F408", node, what, operation, lhs, rhs, hint=hint)


def overloads(value: Value, *methods: str) -> bool:
    """Return whether it is a named tuple whose class has a method that a tuple has, too, or one of an operator."""
    return isinstance(value, NamedTupleValue) and any(value.kind.find(m) is not None for m in methods)


def answered(ev: Evaluator, node: ast.expr, op: str, lhs: Value, rhs: Value) -> tuple[Value] | None:
    """`lhs op rhs` by the methods of their classes; None if these have none, or give NotImplemented."""
    middle = OPERATORS[op]
    left, right = kind_of(lhs), kind_of(rhs)
    sides = [(lhs, f"__{middle}__", rhs), (rhs, f"__r{middle}__", lhs)]
    if left is not right and left is not None and right is not None and inherits(right, left):
        own, inherited = right.find(f"__r{middle}__"), left.find(f"__r{middle}__")
        if own is not None and (inherited is None or inherited[1] is not own[1]):
            sides.reverse()  # a class that inherits and has its own method comes first
    elif left is right:
        sides = sides[:1]
    for owner, method, other in sides:
        found = special(ev, node, owner, method, other)
        if found is not None:
            return found
    return None


def _beside_array(ev: Evaluator, node: ast.expr, middle: str, lhs: TracedArray, rhs: Value) -> Value:
    """An array and an object: NumPy leaves it to classes that say so, and hands the numbers of a NumPy scalar to all others."""
    kind = kind_of(rhs)
    said, before = (None if kind is None else kind.find(n) for n in ("__array_ufunc__", "__array_priority__"))
    deferred = said[1] is None if said is not None else before is not None and (ev.static(before[1]) or 0) > 0
    if deferred or (lhs.scalar and lhs.dtype.name in ("float64", "int64", "bool")):
        found = special(ev, node, rhs, f"__r{middle}__", lhs if deferred else number_of(ev, node, lhs))
        return found[0] if found is not None else ev.fail("F408", node, f"{words(rhs)} has no __r{middle}__", "define it")
    what = f"an operator of {words(lhs)} and, on its right, {words(rhs)}, which NumPy applies element by element"
    return ev.fail("F408", node, what, "put the object on the left, or write `__array_ufunc__ = None` in its class")


def unary(ev: Evaluator, node: ast.UnaryOp, owner: Value) -> Value:
    """`-owner`."""
    found = special(ev, node, owner, UNARY[type(node.op)])
    if found is not None:
        return found[0]
    what = f"{words(owner)} has no {UNARY[type(node.op)]}"
    return stand_ins.refuse(ev, "F408", node, what, stand_ins.UNARY[type(node.op)], owner)


def _total(ev: Evaluator, node: ast.expr, op: str, lhs: Value, rhs: Value) -> tuple[Value] | None:
    """A comparison out of another one and equality, as `functools.total_ordering` makes it."""
    for given, method in (("less", "__lt__"), ("less_equal", "__le__"), ("greater", "__gt__"), ("greater_equal", "__ge__")):
        answer = special(ev, node, lhs, method, rhs)
        if answer is None:
            continue
        held = ev.truth(node, answer[0])
        if given.split("_")[0] == op.split("_", maxsplit=1)[0]:  # the same direction, with or without equality
            equal = ev.truth(node, (compared(ev, node, "equal", lhs, rhs) or (NumberValue(lhs is rhs),))[0])
            return (NumberValue(held or equal if op.endswith("equal") else held and not equal),)
        if given.endswith("equal") is not op.endswith("equal"):
            return (NumberValue(not held),)
        equal = ev.truth(node, (compared(ev, node, "equal", lhs, rhs) or (NumberValue(lhs is rhs),))[0])
        return (NumberValue(not held or equal if op.endswith("equal") else not held and not equal),)
    return None


_SHORT = {"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}


def compared(ev: Evaluator, node: ast.expr, op: str, lhs: Value, rhs: Value) -> tuple[Value] | None:
    """A comparison by the objects' methods; None if they lack them and Python compares identities."""
    if op == "not_equal":
        same = compared(ev, node, "equal", lhs, rhs)
        return None if same is None else (NumberValue(not ev.truth(node, same[0])),)
    if isinstance(lhs, TracedArray):
        ev.fail("F408", node, f"{words(lhs)} compared with {words(rhs)}, which NumPy does element by element")
    first, second = COMPARISONS[op]
    sides = [(lhs, first, rhs), (rhs, second, lhs)]
    left, right = kind_of(lhs), kind_of(rhs)
    if isinstance(lhs, tuple) and isinstance(rhs, tuple):  # which have every comparison by themselves
        inner = right is not None and right is not left and (left is None or inherits(right, left))
        found = special(ev, node, rhs, second, lhs) if inner else None
        return special(ev, node, lhs, first, rhs) if found is None else found
    if left is not right and right is not None and left is not None and inherits(right, left):
        sides.reverse()
    for owner, method, other in sides:
        found = special(ev, node, owner, method, other)
        if found is not None:
            return found
    if op == "equal" or all(not isinstance(v, ObjectInstance) for v in (lhs, rhs)):
        return None
    if left is not None and any(k.totally for k in left.chain()) and (total := _total(ev, node, op, lhs, rhs)) is not None:
        return total
    fields = records.compared(lhs, rhs) if left is not None and left.ordered else None
    if fields is not None:
        sides_of: list[Value] = [tuple(pair[i] for pair in fields) for i in (0, 1)]
        return (ev.call(_as_call(node), Library(f"operator.{_SHORT[op]}"), sides_of, {}),)
    what = f"{words(lhs)} and {words(rhs)} have no order"
    return stand_ins.refuse(ev, "F408", node, what, stand_ins.OPERATORS[op], lhs, rhs, hint=f"define {first}")
