"""Dataclasses and named tuples: classes whose fields are listed, and what Python makes of the list."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Mapping, Sequence

from fleet.frontend.python import calls
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.scopes import Scope
from fleet.frontend.reading.values import (
    CallFrame,
    Class,
    ClassField,
    Dict,
    Initialiser,
    List,
    NamedTupleValue,
    NumberValue,
    ObjectInstance,
    SourceFunction,
    TracedArray,
    Value,
)
from fleet.frontend.reading.wording import words

_OPTIONS = ("init", "repr", "eq", "frozen", "kw_only", "order", "slots", "unsafe_hash", "match_args")
_FIELD = ("default", "default_factory", "init", "repr", "compare", "kw_only", "hash", "metadata")
_REFUSED = ("ClassVar", "InitVar", "KW_ONLY")


def annotated(ev: Evaluator, body: Sequence[ast.stmt]) -> dict[str, ast.AnnAssign]:
    """The fields that a class's body declares, in order."""
    found: dict[str, ast.AnnAssign] = {}
    for s in body:
        if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name):
            text = ast.unparse(s.annotation)
            for word in _REFUSED:
                if word in text:
                    ev.fail("F502", s, f"{word} in a class of fields is not supported", "set it outside of the class's fields")
            found[s.target.id] = s
    return found


# ---- dataclasses


def dataclass(ev: Evaluator, node: ast.ClassDef, place: ast.expr, kind: Class, options: Mapping[str, Value]) -> None:
    """Return a class as the decorator `dataclass` makes it."""
    for name in options:
        if name not in _OPTIONS:
            ev.fail("F506", place, f"dataclass with `{name}=` is not supported", f"its arguments are {', '.join(_OPTIONS)}")
    on = {name: ev.flag(place, value, name) for name, value in options.items()}
    if not on.get("init", True):
        ev.fail("F506", place, "dataclass with init=False is not supported", "write a plain class with __init__")
    kind.kind, kind.frozen, kind.compared = "dataclass", on.get("frozen", False), on.get("eq", True)
    kind.ordered = on.get("order", False)
    bases = [k for k in kind.chain() if k is not kind and k.kind == "dataclass"]
    for other in bases:
        if other.frozen is not kind.frozen:
            ev.fail("F701", place, f"`{kind.name}` and `{other.name}`: a frozen dataclass inherits from frozen ones only")
    kind.fields = {n: f for base in reversed(bases) for n, f in base.fields.items()}
    for name, statement in annotated(ev, node.body).items():
        kind.fields[name] = _field(ev, statement, kind, name, on.get("kw_only", False))
    defaulted = ""
    for name, f in kind.fields.items():
        if f.init and not f.by_keyword:
            if not f.given and f.factory is None and defaulted:
                ev.fail("F701", place, f"the field `{name}` without a default follows `{defaulted}`, which has one")
            defaulted = name if f.given or f.factory is not None else defaulted
    if "__init__" not in kind.names:
        kind.names["__init__"] = Initialiser(kind)
    if on.get("slots"):
        kind.slots = frozenset(kind.fields)


def _field(ev: Evaluator, statement: ast.AnnAssign, kind: Class, name: str, by_keyword: bool) -> ClassField:
    if statement.value is None or name not in kind.names:
        return ClassField(by_keyword=by_keyword)
    value = kind.names[name]
    if isinstance(value, ClassField):
        found = ClassField(
            value.given, value.default, value.factory, value.init, value.shown, value.compared, value.by_keyword or by_keyword
        )
        if found.given:
            kind.names[name] = found.default
        else:
            del kind.names[name]
    else:
        found = ClassField(True, value, by_keyword=by_keyword)
    default = found.default
    if isinstance(default, List | Dict) or (isinstance(default, TracedArray) and not default.scalar):
        hint = "use field(default_factory=lambda: ...)"
        ev.fail("F701", statement, f"the default of `{name}` is {words(default)}, which all objects would share", hint)
    return found


def field(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> ClassField:
    """`dataclasses.field(...)`."""
    if args:
        ev.fail("F208", node, "field takes keyword arguments only")
    for name in keywords:
        if name not in _FIELD:
            ev.fail("F506", node, f"field with `{name}=` is not supported", f"its arguments are {', '.join(_FIELD)}")
    on = {n: ev.flag(node, keywords.get(n, NumberValue(True)), n) for n in ("init", "repr", "compare")}
    late = ev.flag(node, keywords.get("kw_only", NumberValue(False)), "kw_only")
    given = "default" in keywords
    return ClassField(given, keywords.get("default"), keywords.get("default_factory"), on["init"], on["repr"], on["compare"], late)


def initialise(
    ev: Evaluator, node: ast.Call, kind: Class, owner: Value, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """The `__init__` of a dataclass: fields out of the call's arguments, then `__post_init__`."""
    assert isinstance(owner, ObjectInstance)
    taken = {n: f for n, f in kind.fields.items() if f.init}
    bound = _bind(ev, node, kind, "__init__", taken, [owner, *args], keywords)
    for name, f in kind.fields.items():
        value: Value = bound.get(name, f if f.factory is not None else f.default)
        if name not in bound and not f.given and f.factory is None:
            continue
        owner.attributes[name] = ev.call(node, f.factory, [], {}) if value is f else value
    found = owner.kind.find("__post_init__")
    if found is not None and isinstance(found[1], SourceFunction):
        ev.call(node, found[1], [owner], {})
    return None


def _bind(
    ev: Evaluator, node: ast.Call, kind: Class, method: str, fields: Mapping[str, ClassField], args: Sequence[Value],
    keywords: Mapping[str, Value],
) -> dict[str, Value]:  # fmt: skip
    """A call's arguments by field; a field with a factory that is not given stands for itself. args: with the object or class."""
    spec = ast.arguments(
        posonlyargs=[ast.arg("")], args=[ast.arg(n) for n, f in fields.items() if not f.by_keyword], vararg=None, kwarg=None,
        defaults=[], kwonlyargs=[ast.arg(n) for n, f in fields.items() if f.by_keyword], kw_defaults=[],
    )  # fmt: skip
    stub = ast.copy_location(ast.FunctionDef(kind.name, spec, [], [], None, None), node)
    defaults: dict[str, Value] = {n: f if f.factory is not None else f.default for n, f in fields.items() if f.given or f.factory}
    frame = CallFrame(kind.name, ev.frame.depth + 1, Scope())
    path = f"{kind.qualname if method == '__init__' else kind.name}.{method}"
    calls.bind_parameters(ev, node, SourceFunction(stub, frame, defaults, path=path), frame, args, keywords)
    del frame.variables[""]
    return frame.variables


def replaced(ev: Evaluator, node: ast.Call, owner: Value, changes: Mapping[str, Value]) -> Value:
    """`dataclasses.replace(owner, name=value)`."""
    if not isinstance(owner, ObjectInstance) or owner.kind.kind != "dataclass":
        return ev.fail("F408", node, f"replace of {words(owner)}", "it takes an object of a dataclass")
    values = {n: owner.attributes[n] for n, f in owner.kind.fields.items() if f.init and n in owner.attributes}
    return ev.call(node, owner.kind, [], {**values, **changes})


def of_dataclass(value: Value) -> Class | None:
    """The dataclass that a value is or is an object of; None for another value."""
    kind = value.kind if isinstance(value, ObjectInstance) else value
    return kind if isinstance(kind, Class) and any(k.kind == "dataclass" for k in kind.chain()) else None


def fields(ev: Evaluator, node: ast.Call, value: Value) -> Value:
    """`dataclasses.fields(value)`: objects with the fields' names and what `init`, `repr` and `compare` are."""
    kind = of_dataclass(value)
    if kind is None:
        return ev.fail("F408", node, f"fields of {words(value)}", "it takes a dataclass or an object of one")
    of = Class("Field")
    return tuple(
        ObjectInstance(
            of, {"name": n, "init": NumberValue(f.init), "repr": NumberValue(f.shown), "compare": NumberValue(f.compared)}
        )
        for n, f in kind.fields.items()
    )


def as_tuple(ev: Evaluator, node: ast.Call, value: ObjectInstance) -> Value:
    """`dataclasses.astuple(value)`, containers included; arrays are copied."""

    def plain(v: Value) -> Value:
        match v:
            case ObjectInstance() if v.kind.kind == "dataclass":
                return tuple(plain(v.attributes[n]) for n in v.kind.fields)
            case List():
                return List([plain(i) for i in v.items])
            case Dict():
                return Dict({k: plain(i) for k, i in v.items.items()})
            case tuple() if not isinstance(v, NamedTupleValue):
                return tuple(plain(i) for i in v)
            case _:
                return as_dict(ev, node, v)

    if value.kind.kind != "dataclass":
        return ev.fail("F408", node, f"astuple of {words(value)}", "it takes an object of a dataclass")
    return plain(value)


def as_dict(ev: Evaluator, node: ast.Call, value: Value) -> Value:
    """`dataclasses.asdict(value)`, containers included; arrays are copied."""
    ev.step(node)
    match value:
        case ObjectInstance() if value.kind.kind == "dataclass":
            return Dict({n: as_dict(ev, node, value.attributes[n]) for n in value.kind.fields})
        case NamedTupleValue():
            return NamedTupleValue.of(value.kind, (as_dict(ev, node, v) for v in value))
        case tuple():
            return tuple(as_dict(ev, node, v) for v in value)
        case List():
            return List([as_dict(ev, node, v) for v in value.items])
        case Dict():
            return Dict({k: as_dict(ev, node, v) for k, v in value.items.items()})
        case TracedArray() if not value.scalar:
            return ev.domain.method(ev, node, value, "copy", [], {})
        case _:
            return value


def compared(lhs: Value, rhs: Value) -> list[tuple[Value, Value]] | None:
    """The fields by which two objects of one dataclass are compared; None if they are compared by identity."""
    if not isinstance(lhs, ObjectInstance) or not isinstance(rhs, ObjectInstance) or lhs.kind is not rhs.kind:
        return None
    if not any(k.compared for k in lhs.kind.chain() if k.kind == "dataclass"):
        return None
    names = [n for n, f in lhs.kind.fields.items() if f.compared]
    return [(lhs.attributes.get(n), rhs.attributes.get(n)) for n in names]


def shown(owner: ObjectInstance | NamedTupleValue) -> list[tuple[str, Value]] | None:
    """Names and values that the text of a dataclass's object or a named tuple shows; None for any other object."""
    for kind in owner.kind.chain():
        if kind.kind == "namedtuple" and isinstance(owner, NamedTupleValue):
            return list(zip(kind.fields, owner, strict=True))
        if kind.kind == "dataclass" and isinstance(owner, ObjectInstance):
            return [(n, owner.attributes.get(n)) for n, f in kind.fields.items() if f.shown]
        if kind.kind == "namespace" and isinstance(owner, ObjectInstance):
            return list(owner.attributes.items())
    return None


# ---- named tuples


def named_class(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Class:
    """`collections.namedtuple(name, fields, defaults=...)`."""
    given = dict(zip(("typename", "field_names"), args, strict=False)) | dict(keywords)
    name, listed = given.pop("typename", None), given.pop("field_names", None)
    defaults = ev.sequence(given.pop("defaults", ())) or ()
    if given:
        ev.fail(
            "F506", node, f"namedtuple with `{next(iter(given))}=` is not supported", "its arguments are a name, fields, defaults"
        )
    parts = listed.replace(",", " ").split() if isinstance(listed, str) else ev.sequence(listed)
    names = [p for p in parts or () if isinstance(p, str)]
    if not isinstance(name, str) or parts is None or len(names) != len(parts):
        ev.fail("F408", node, "namedtuple takes a name and the names of its fields")
    wrong = [n for n in names if not n.isidentifier() or keyword.iskeyword(n) or n.startswith("_")]
    if wrong or len(set(names)) != len(names) or len(defaults) > len(names):
        ev.fail(
            "F701", node, f"namedtuple with the fields {', '.join(names)}", "names of fields are different, and defaults no more"
        )
    first = len(names) - len(defaults)
    fields = {n: ClassField(i >= first, defaults[i - first] if i >= first else None) for i, n in enumerate(names)}
    return Class(name, kind="namedtuple", fields=fields, module=str(ev.frame.module().variables.get("__name__", "")))


def named_fields(ev: Evaluator, node: ast.ClassDef, kind: Class) -> None:
    """The fields of a `class Pair(NamedTuple)`."""
    kind.kind = "namedtuple"
    for name, statement in annotated(ev, node.body).items():
        given = statement.value is not None
        kind.fields[name] = ClassField(given, kind.names.pop(name) if given else None)


def named(ev: Evaluator, node: ast.Call, kind: Class, args: Sequence[Value], keywords: Mapping[str, Value]) -> NamedTupleValue:
    """A call of a named tuple's class."""
    fields = _fields(kind)
    bound = _bind(ev, node, kind, "__new__", fields, [kind, *args], keywords)
    return NamedTupleValue.of(kind, (bound[n] for n in fields))


def _fields(kind: Class) -> Mapping[str, ClassField]:
    return next((k.fields for k in kind.chain() if k.kind == "namedtuple"), {})


def attribute(owner: NamedTupleValue, name: str) -> tuple[Value] | None:
    """An element by its name."""
    fields = list(_fields(owner.kind))
    return (owner[fields.index(name)],) if name in fields else class_attribute(owner.kind, name)


def class_attribute(kind: Class, name: str) -> tuple[Value] | None:
    """`_fields` of a named tuple's class."""
    if name == "_fields" and any(k.kind == "namedtuple" for k in kind.chain()):
        return (tuple(_fields(kind)),)
    return None


NAMED_METHODS = ("_replace", "_asdict")


def named_method(ev: Evaluator, node: ast.Call, owner: NamedTupleValue, name: str, keywords: Mapping[str, Value]) -> Value:
    """`pair._replace(first=1)` and `pair._asdict()`."""
    values: dict[str, Value] = dict(zip(_fields(owner.kind), owner, strict=True))
    if name == "_asdict":
        return Dict(dict(values))
    unknown = [k for k in keywords if k not in values]
    if unknown:
        ev.fail("F208", node, f"`{owner.kind.name}` has no field `{unknown[0]}`", f"it has {', '.join(values)}")
    return NamedTupleValue.of(owner.kind, {**values, **keywords}.values())
