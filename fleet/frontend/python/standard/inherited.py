"""Classes that inherit from `dict`, `list`, `OrderedDict` or `defaultdict`: an object has a container, on which the methods act."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from fleet.frontend.python.classes.objects import ITEMS
from fleet.frontend.python.containers import builtin
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Class, Dict, Library, List, NumberValue, ObjectInstance, Partial, Value

_SPECIAL = ("__init__", "__getitem__", "__setitem__", "__delitem__", "__contains__", "__len__", "__iter__", "__eq__")


def _base(path: str, empty: Value) -> Class:
    kind = builtin.kind_of(empty)
    shown = () if kind in ("OrderedDict", "defaultdict") else ("__repr__",)  # these are shown with their class's name
    names = [*_SPECIAL, *shown, *builtin.methods(empty)]
    return Class(
        kind,
        module=path.rpartition(".")[0],
        names={n: Partial(Library("builtins.inherited"), (path, n), binds=True) for n in names},
    )


_EMPTY: Mapping[str, Callable[[], List | Dict]] = {
    "builtins.list": lambda: List([]),
    "builtins.dict": lambda: Dict({}),
    **{f"collections.{kind}": partial(Dict, {}, kind) for kind in ("OrderedDict", "defaultdict")},
}
BASES: Mapping[str, Class] = {path: _base(path, empty()) for path, empty in _EMPTY.items()}
"""Path of a class -> the class that stands for it among those that a class of the file inherits from."""


def _items(own: ObjectInstance, path: str) -> List | Dict:
    if own.itself:
        return Dict(own.attributes, _EMPTY[path]().kind)
    held = own.attributes.setdefault(ITEMS, None)
    if not isinstance(held, List | Dict):
        held = own.attributes[ITEMS] = _EMPTY[path]()
    return held


def _called(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """A method of the container. args: the base's path, the method's name, the object, its arguments."""
    path, name, own, *rest = args
    assert isinstance(path, str)
    assert isinstance(name, str)
    assert isinstance(own, ObjectInstance)
    items = _items(own, path)
    place = expression_at(node)
    at = ast.copy_location(ast.Subscript(place, place, ast.Load()), node)
    match name:
        case "__init__":
            made = ev.call(node, Library(path), rest, keywords)
            assert isinstance(made, List | Dict)
            if own.itself and isinstance(made, Dict):
                own.attributes.update(made.items)
            else:
                own.attributes[ITEMS] = made
            return None
        case "__getitem__":
            missing = own.kind.find("__missing__") if isinstance(items, Dict) else None
            if missing is not None and not builtin.contains(ev, place, items, rest[0]):
                return ev.call(node, missing[1], [own, *rest], {})
            return builtin.load(ev, at, items, rest[0])
        case "__setitem__":
            builtin.store(ev, at, items, rest[0], rest[1])
            return None
        case "__delitem__":
            builtin.remove(ev, at, items, rest[0])
            return None
        case "__contains__":
            return NumberValue(builtin.contains(ev, place, items, rest[0]))
        case "__eq__":
            other = rest[0]
            if isinstance(other, ObjectInstance) and (other.itself or ITEMS in other.attributes):
                other = _items(other, path)
            return NumberValue(builtin.compare(ev, node, "equal", items, other))
        case "__len__" | "__iter__" | "__repr__":
            return ev.call(node, Library(f"builtins.{name.strip('_')}"), [items], {})
        case _:
            return builtin.call(ev, node, items, name, rest, keywords)


def unbound(own: ObjectInstance, name: str) -> Value:
    """The method of the container that an object is, `dict.__getitem__`, as a function of the object; None if there is none."""
    base = next((k for k in own.kind.chain() if k in BASES.values()), None)
    return None if base is None else base.names.get(name)


CALLS: Mapping[str, Callable[..., Value]] = {"builtins.inherited": _called}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
