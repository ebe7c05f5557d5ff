"""Names of a live function: what Python has for them now, as values of the front end. Nothing is called or evaluated."""

from __future__ import annotations

import ast
import builtins
import copy
import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum, StrEnum
from functools import cache
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from fleet.errors import SourceError
from fleet.frontend import model_functions
from fleet.frontend.live.located import LocatedFile, locate_any
from fleet.frontend.live.records import fields_kind, is_enumeration, members_of, methods_of
from fleet.frontend.live.watch import (
    MISSING,
    Items,
    Live,
    LiveClass,
    LiveDescriptor,
    LiveObject,
    LivePartial,
    NamedItems,
    ObjectSnapshot,
    Record,
    TooDeep,
    Watched,
    WatchedArray,
    WatchedAtom,
    WatchedNames,
    of_descriptor,
    snapshot,
)
from fleet.frontend.python.builtins.registry import BUILTINS
from fleet.frontend.python.modules import INSTALLED
from fleet.frontend.python.names import STANDARD, resolve, supported
from fleet.frontend.python.reader import PYTHON
from fleet.frontend.python.standard.functions import KERNEL
from fleet.frontend.python.standard.table import CALLS
from fleet.frontend.reading.domain import Domain
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.module import SourceModule
from fleet.frontend.reading.places import SourcePlaces
from fleet.frontend.reading.scopes import Scope
from fleet.frontend.reading.static import Made, Static
from fleet.frontend.reading.values import (
    Broken,
    CallFrame,
    Class,
    ClassField,
    Descriptor,
    Dict,
    Initialiser,
    Library,
    List,
    NamedTupleValue,
    NumberValue,
    ObjectInstance,
    Partial,
    RangeValue,
    SourceFunction,
    Value,
)
from fleet.ir.types import DTYPES


class LiveEvaluator(Evaluator):
    """Follows live functions: names that are not their own are looked up in their globals and closures.

    Attributes:
        watched: what was looked up, and what it was.
    """

    def __init__(
        self, function: FunctionType, made: Made, domain: Domain[Evaluator], places: SourcePlaces, file: LocatedFile
    ) -> None:
        super().__init__(SourceModule(places, file.module.tree), domain, PYTHON)
        self.watched = Watched()
        self._made = made
        self._places = places
        self._spaces: dict[CallFrame, WatchedNames] = {}
        self._modules: dict[int, CallFrame] = {}
        self._functions: dict[int, SourceFunction] = {}
        self._nodes: set[int] = set()
        self._seen_modules: set[tuple[int, str]] = set()
        self._absent: set[tuple[int, str]] = set()
        self._held: list[tuple[ast.AST, List | Dict | Class | ObjectInstance, list[Any]]] = []
        self._classes: dict[type, Class] = {}
        self._objects: dict[int, ObjectInstance] = {}
        self.globals = self._module(function, file)
        self.frame = self.globals

    # ---- functions

    def function(self, function: FunctionType, defaults: dict[str, Value]) -> SourceFunction:
        """A live function, with the frame that it was defined in. SourceError if its source cannot be followed."""
        found = self._functions.get(id(function))
        if found is None:
            file, node = locate_any(function)
            self._places.files[id(file)] = file
            if id(node) in self._nodes:  # another function of the same definition: calling one from the other is no recursion
                node = copy.deepcopy(node)
                file.adopt(node)
            self._nodes.add(id(node))
            if isinstance(node, ast.FunctionDef):
                self.module.check_function(node)
            self._outer_names(node, function.__code__.co_freevars)
            frame = self._module(function, file)
            if function.__code__.co_freevars:
                names = function.__code__.co_freevars
                frame = CallFrame(frame.function, 1, Scope(frozenset(names)), frame)
                self._spaces[frame] = WatchedNames(dict(zip(names, function.__closure__ or (), strict=True)))
            marked: dict[str, Value] = {name: NumberValue(True) for name in (KERNEL,) if name in vars(function)}
            found = self._functions[id(function)] = SourceFunction(node, frame, defaults, attributes=marked)
        return found

    def _module(self, function: FunctionType, file: LocatedFile) -> CallFrame:
        frame = self._names(function.__globals__, "<module>")
        self.imports.texts.setdefault(frame, file.source)
        return frame

    def _names(self, names: Mapping[str, object], called: str) -> CallFrame:
        """The frame of a module's names."""
        if id(names) not in self._modules:
            frame = self._modules[id(names)] = CallFrame(called, 1, Scope())
            self._spaces[frame] = WatchedNames(names)
        return self._modules[id(names)]

    def _outer_names(self, node: ast.FunctionDef | ast.Lambda, free: Sequence[str]) -> None:
        """Refuses assignments to variables that outlive the call."""
        for inner in ast.walk(node):
            outer = inner.names if isinstance(inner, ast.Global) else []
            if isinstance(inner, ast.Nonlocal):
                outer = [n for n in inner.names if n in free]
            if outer:
                what = f"`{outer[0]}` outlives the call, and compiled code cannot assign to it"
                self.fail("F504", inner, what, "return the new value")

    # ---- names

    def lookup(self, node: ast.Name) -> Value:
        """A variable as `Evaluator` finds it; a live name is watched from its first use on."""
        frame = self.frame.owner(node.id) or self.frame.module()
        space = self._spaces.get(frame)
        if space is not None and node.id not in frame.variables and (id(space), node.id) not in self._absent:
            found = self._watch(node, space, node.id)
            if found is MISSING:
                self._absent.add((id(space), node.id))
            else:
                frame.variables[node.id] = self.value(node, f"`{node.id}`", found)
        return super().lookup(node)

    def _watch(self, node: ast.AST, space: WatchedNames, name: str) -> Any:
        """The snapshot of a name's object, which is watched from now on, or MISSING."""
        found = space.find(name)
        try:
            kept = snapshot(found)
        except TooDeep:
            self.fail("F602", node, f"`{name}` holds itself, or nests too deeply", "keep less in it")
        self.watched.entries.append((lambda: space.find(name), kept))
        return MISSING if found is MISSING else kept

    def argument(self, node: ast.AST, name: str, kept: ObjectSnapshot) -> Value:
        """Return an argument that is not an array. Functions, classes and their objects are watched."""
        match kept:
            case Live():
                self.watched.entries.append((lambda: kept.function, kept))
            case LiveObject():
                self.watched.entries.append((lambda: kept.value, kept))
            case LiveClass():
                self.watch_class(kept)
            case _:
                pass
        return self.value(node, f"the argument `{name}`", kept)

    def expression(self, node: ast.expr) -> Value:
        """As `Evaluator`; names of other modules (`layers.relu`) are found here."""
        if isinstance(node, ast.Attribute):
            module = self._foreign(node.value)
            if module is not None:
                self.step(node)
                return self._attribute(node, module)
        return super().expression(node)

    def _attribute(self, node: ast.Attribute, module: ModuleType) -> Value:
        if module.__name__ == "fleet" and node.attr in model_functions.__all__:
            module = model_functions  # the package loads them when they are asked for, and nothing is asked here
        frame = self._names(vars(module), module.__name__)
        if node.attr not in frame.variables:
            found = self._watch(node, self._spaces[frame], node.attr)
            if found is MISSING:
                self.fail("F206", node, f"the module `{module.__name__}` has no `{node.attr}`")
            frame.variables[node.attr] = self.value(node, f"`{module.__name__}.{node.attr}`", found)
        return frame.variables[node.attr]

    def roots(self, first: Mapping[str, Value]) -> dict[str, Value]:
        """Everything that was looked up, by name; `first` come first. The second of a name is called `name.1`."""
        found = dict(first)
        for frame in self._spaces:
            for name, value in frame.variables.items():
                unique, count = name, 0
                while unique in found:
                    count += 1
                    unique = f"{name}.{count}"
                found[unique] = value
        return found

    def _foreign(self, node: ast.expr) -> ModuleType | None:
        """The module that a dotted name refers to, or None if the handler tables cover it."""
        found: Any = MISSING
        space: WatchedNames | None = None
        if isinstance(node, ast.Name):
            space = self._spaces.get(self.frame.owner(node.id) or self.frame.module())
            found = MISSING if space is None else space.find(node.id)
        elif isinstance(node, ast.Attribute) and (outer := self._foreign(node.value)) is not None:
            found = vars(outer).get(node.attr)
        if isinstance(found, ModuleType) and found.__name__.split(".")[0] not in INSTALLED:
            key = (id(space), node.id) if isinstance(node, ast.Name) else None
            if key is not None and space is not None and key not in self._seen_modules:
                self._seen_modules.add(key)
                self._watch(node, space, key[1])
            return found
        return None

    # ---- objects

    def value(self, node: ast.AST, what: str, kept: ObjectSnapshot) -> Value:
        """An object as a value; arrays become weights when they are used. SourceError for what cannot be compiled."""
        match kept:
            case WatchedArray():
                if kept.array.dtype.name not in DTYPES or not kept.array.dtype.isnative:
                    supported = ", ".join(DTYPES)
                    self.fail("F403", node, f"{what} is an array of {kept.array.dtype}", f"supported are {supported}")
                return self._array(kept.array, scalar=False)
            case Items():
                return self.container(node, kept, [self.value(node, f"part of {what}", part) for part in kept.parts])
            case Live() if kept.function is model_functions.device:
                return Library("fleet.device")
            case Live() if (path := _paths().get(_key(kept.function))) is not None:
                return Library(path)
            case LivePartial():
                function, *parts = (self.value(node, f"part of {what}", part) for part in kept.parts)
                plain = len(parts) - len(kept.names)
                return Partial(function, tuple(parts[:plain]), dict(zip(kept.names, parts[plain:], strict=True)))
            case Live():
                defaults = {n: self.value(node, f"the default of `{n}`", part) for n, part in kept.defaults.items()}
                return self.function(kept.function, defaults)
            case LiveClass():
                return self._class(node, kept)
            case LiveObject():
                return self._object(node, what, kept)
            case WatchedAtom():
                return self._atom(node, what, kept.value)
            case _:
                raise AssertionError(kept)

    def _class(self, node: ast.AST, kept: LiveClass) -> Class:
        """Return a live class; its methods are followed in their own source."""
        found = self._classes.get(kept.kind)
        if found is not None:
            return found
        bases = [self._class(node, base) for base in kept.bases]
        made = Class(kept.kind.__name__, bases[0] if bases else None, others=tuple(bases[1:]), python=kept.kind)
        self._classes[kept.kind] = made
        for name, part in kept.names.items():
            if isinstance(part, Live | LiveDescriptor):
                made.names[name] = self._bound(node, made, part)
            else:
                made.names[name] = self.value(node, f"`{made.name}.{name}`", part)
        self._list_fields(node, made, kept.kind)
        self._held.append((node, made, list(made.names.items())))
        return made

    def _enumeration(self, node: ast.AST, kind: type[Enum]) -> Class:
        """Return a live enumeration."""
        found = self._classes.get(kind)
        if found is None:
            numbers, texts = issubclass(kind, int | StrEnum), issubclass(kind, str) and not issubclass(kind, StrEnum)
            found = self._classes[kind] = Class(kind.__name__, kind="enum", numbers=numbers, texts=texts, python=kind)
            for name, member in members_of(kind).items():
                value = self.value(node, f"`{kind.__name__}.{name}`", snapshot(member.value))
                shown = {"name": member.name, "value": value, "_name_": member.name, "_value_": value}
                found.names[name] = found.members.setdefault(member.name, ObjectInstance(found, shown))
            for name, made in methods_of(kind).items():
                part = snapshot(made) if isinstance(made, FunctionType) else of_descriptor(made)
                assert isinstance(part, Live | LiveDescriptor)
                found.names[name] = self._bound(node, found, part)
        return found

    def _list_fields(self, node: ast.AST, made: Class, kind: Any) -> None:
        """Let a dataclass or named tuple have its fields, as `classes.records` gives them to one of the source."""
        made.kind = fields_kind(kind)
        if made.kind == "namedtuple":
            defaults = {n: self.value(node, f"the default of `{n}`", snapshot(v)) for n, v in kind._field_defaults.items()}
            made.fields = {n: ClassField(n in defaults, defaults.get(n)) for n in kind._fields}
        elif made.kind == "dataclass":
            options = kind.__dataclass_params__
            made.frozen, made.compared, made.ordered = options.frozen, options.eq, options.order
            made.fields = {f.name: self._field(node, f) for f in dataclasses.fields(kind)}
            if options.init and "__init__" not in made.names:
                made.names["__init__"] = Initialiser(made)

    def _field(self, node: ast.AST, of: dataclasses.Field[Any]) -> ClassField:
        def known(value: Any) -> Value:
            if value is dataclasses.MISSING:
                return None
            try:
                return self.value(node, f"the default of `{of.name}`", snapshot(value))
            except SourceError as error:  # an error of what makes an object without the field
                return Broken(error)

        given = of.default is not dataclasses.MISSING
        return ClassField(given, known(of.default), known(of.default_factory), of.init, of.repr, bool(of.compare), bool(of.kw_only))

    def _bound(self, node: ast.AST, owner: Class, part: Live | LiveDescriptor) -> SourceFunction | Descriptor:
        """Return what a class's body binds a function to."""
        if isinstance(part, Live):
            return self._method(node, owner, part)
        function, setter = (None if p is None else self._method(node, owner, p) for p in (part.function, part.setter))
        assert function is not None, "a descriptor has a function"
        return Descriptor(part.kind, function, setter)

    def _method(self, node: ast.AST, owner: Class, kept: ObjectSnapshot) -> SourceFunction:
        found = self.value(node, f"a method of `{owner.name}`", kept)
        assert isinstance(found, SourceFunction), "functions of classes are functions of source"
        return replace(found, owner=owner)

    def _object(self, node: ast.AST, what: str, kept: LiveObject) -> ObjectInstance:
        """Return a live object; what is done to it is refused by `check_outside`. One object is one value."""
        found = self._objects.get(id(kept.value))
        if found is None:
            found = self._objects[id(kept.value)] = ObjectInstance(self._class(node, kept.of))
            for name, part in kept.attributes.items():
                found.attributes[name] = self.value(node, f"`{name}` of {what}", part)
            self._held.append((node, found, list(found.attributes.items())))
        return found

    def of_record(self, node: ast.AST, kept: Record, parts: list[Value]) -> ObjectInstance:
        """Return an object of a dataclass with these attributes; what is done to it later is refused by `check_outside`."""
        made = ObjectInstance(self._class(node, kept.of), dict(zip(kept.attributes, parts, strict=True)))
        self._held.append((node, made, list(made.attributes.items())))
        return made

    def watch_class(self, kept: LiveClass) -> None:
        """Compile anew if the class of an argument changes."""
        self.watched.entries.append((lambda: kept.kind, kept))

    def container(self, node: ast.AST, kept: Items, parts: list[Value]) -> Value:
        """A list, tuple or dict of these parts; what is done to a list or dict later is refused by `check_outside`."""
        if isinstance(kept, NamedItems):
            return NamedTupleValue.of(self._class(node, kept.of), parts)
        if kept.kind is tuple:
            return tuple(parts)
        if kept.kind is list:
            made: List | Dict = List(parts)
            self._held.append((node, made, list(parts)))
            return made
        made = Dict({self._dict_key(node, key): part for key, part in zip(kept.keys, parts, strict=True)})
        self._held.append((node, made, list(made.items.items())))
        return made

    def _dict_key(self, node: ast.AST, key: object) -> Any:
        if not _plain_key(key):
            hint = "keys are numbers, strings and tuples of them"
            self.fail("F408", node, f"an object of type {type(key).__name__} cannot be a dict's key here", hint)
        return key

    def check_outside(self) -> None:
        """Refuses a list or dict that Python would have changed for good. SourceError F504."""
        for node, held, before in self._held:
            now = _contents(held)
            same = len(now) == len(before) and all(_is(a, b) for a, b in zip(now, before, strict=True))
            if not same:
                name = f"`{ast.unparse(node)}`" if isinstance(node, ast.expr) else "among the arguments"
                kind = _HELD[type(held)]
                self.fail("F504", node, f"the {kind} {name} outlives the call, and compiled code cannot change it", "change a copy")

    def _array(self, array: np.ndarray, *, scalar: bool) -> Static:
        found = Static(self._made, array, "array", scalar=scalar)
        found.storage.outside = True
        return found

    def _atom(self, node: ast.AST, what: str, value: Any) -> Value:
        if value is None or type(value) is str:
            return value
        if type(value) in (bool, int, float):
            return NumberValue(value)
        if type(value) is range:
            return RangeValue(value)
        if value is Ellipsis:
            return self.expression(ast.copy_location(ast.Constant(...), node))
        if isinstance(value, np.dtype) and value.name in DTYPES:
            return value
        if isinstance(value, np.generic) and value.dtype.name in DTYPES:
            return self._array(np.asarray(value), scalar=True)
        if is_enumeration(value):
            return self._enumeration(node, value)
        if isinstance(value, Enum) and is_enumeration(type(value)):
            return self._enumeration(node, type(value)).members[value.name]
        path = _paths().get(_key(value))
        if path is not None:
            name = expression_at(node)
            return Library(path) if path.startswith("builtins.") else resolve(self, name, path)
        kind = type(value).__name__
        hint = "use arrays, numbers, strings, lists, tuples, dicts, and functions of NumPy, math and Python source"
        if isinstance(value, ModuleType):
            if value.__name__.split(".")[0] in INSTALLED:
                return resolve(self, ast.copy_location(ast.Name("x"), node), value.__name__)
            return self.fail("F204", node, f"the module `{value.__name__}` by itself is not supported", "use one of its names")
        if isinstance(value, BuiltinFunctionType | np.ufunc):
            return self.fail("F203", node, f"{what} is the function `{value.__name__}`, which is not supported", hint)
        return self.fail("F408", node, f"{what} is an object of type {kind}, which cannot be compiled", hint)


def _plain_key(key: object) -> bool:
    return key is None or type(key) in (bool, int, float, str) or (type(key) is tuple and all(_plain_key(k) for k in key))


_HELD: Mapping[type, str] = {List: "list", Dict: "dict", Class: "class", ObjectInstance: "object"}


def _contents(held: List | Dict | Class | ObjectInstance) -> list[Any]:
    match held:
        case List():
            return held.items
        case Dict():
            return list(held.items.items())
        case Class():
            return list(held.names.items())
        case ObjectInstance():
            return list(held.attributes.items())


def _is(a: object, b: object) -> bool:
    return a is b or (isinstance(a, tuple) and isinstance(b, tuple) and a[0] == b[0] and a[1] is b[1])


def _key(value: object) -> Any:
    """Return a key of a library's function: a bound method is made anew at every access."""
    owner = getattr(value, "__self__", None)
    if isinstance(value, BuiltinFunctionType) and not isinstance(owner, ModuleType | None):
        return (id(owner), value.__name__)
    return id(value)


def _paths() -> Mapping[Any, str]:
    """Identity of a function, dtype or module of the libraries -> the name under which the front end knows it."""
    return _known(frozenset(sys.modules.keys() & _parents()))


@cache
def _parents() -> frozenset[str]:
    """Modules of the libraries of which something is known."""
    return frozenset(".".join(path.split(".")[:n]) for path in _named() for n in range(1, path.count(".") + 1))


@cache
def _named() -> tuple[str, ...]:
    """Known functions of the libraries; not those of Python's that do another thing at each call."""
    return (*supported(), *sorted(STANDARD - CALLS.keys()))


@cache
def _known(loaded: frozenset[str]) -> Mapping[Any, str]:
    """As `_paths`, of these modules: nobody has a function of one that is not loaded, and loading it here would take time."""
    found: dict[Any, str] = {}
    for path in _named():
        value = _resolve(path, loaded)
        if callable(value):
            found.setdefault(_key(value), path)
    for name in (*INSTALLED, "numpy.random", "numpy.linalg", "numpy.typing"):
        if name in sys.modules:
            found[_key(sys.modules[name])] = name
    for name in BUILTINS:
        found.setdefault(_key(getattr(builtins, name)), f"builtins.{name}")
    return found


def _resolve(path: str, loaded: frozenset[str]) -> Any:
    """Return what a dotted path leads to, or None; of modules what they have now, since asking them loads their parts."""
    root, *parts = path.split(".")
    value: Any = sys.modules[root] if root in loaded else None
    for part in parts:
        value = vars(value).get(part) if isinstance(value, ModuleType) else getattr(value, part, None)
    return None if isinstance(value, MethodType) else value
