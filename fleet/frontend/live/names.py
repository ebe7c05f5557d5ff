"""Names of a live function: what Python has for them now, as values of the front end. Nothing is called or evaluated."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fleet.frontend import model_functions
from fleet.frontend.live.located import LocatedFile, locate
from fleet.frontend.live.watch import (
    MISSING,
    Items,
    Live,
    LiveClass,
    LiveDescriptor,
    LiveObject,
    ObjectSnapshot,
    TooDeep,
    Watched,
    WatchedArray,
    WatchedAtom,
    WatchedNames,
    snapshot,
)
from fleet.frontend.python.builtins.registry import BUILTINS
from fleet.frontend.python.modules import INSTALLED
from fleet.frontend.python.names import resolve, supported
from fleet.frontend.python.reader import PYTHON
from fleet.frontend.python.standard.functions import KERNEL
from fleet.frontend.reading.domain import Domain
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.module import SourceModule
from fleet.frontend.reading.places import SourcePlaces
from fleet.frontend.reading.scopes import Scope
from fleet.frontend.reading.static import Made, Static
from fleet.frontend.reading.values import (
    CallFrame,
    Class,
    Descriptor,
    Dict,
    Library,
    List,
    NumberValue,
    ObjectInstance,
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
            file, node = locate(function)
            self._places.files[id(file)] = file
            if id(node) in self._nodes:  # another function of the same definition: calling one from the other is no recursion
                node = copy.deepcopy(node)
                file.adopt(node)
            self._nodes.add(id(node))
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

    def _outer_names(self, node: ast.FunctionDef, free: Sequence[str]) -> None:
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
                self.watched.entries.append((lambda: kept.kind, kept))
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
        made = self._classes[kept.kind] = Class(kept.kind.__name__, bases[0] if bases else None, others=tuple(bases[1:]))
        for name, part in kept.names.items():
            if isinstance(part, LiveDescriptor):
                function, setter = (None if p is None else self._method(node, made, p) for p in (part.function, part.setter))
                assert function is not None, "a descriptor has a function"
                made.names[name] = Descriptor(part.kind, function, setter)
            elif isinstance(part, Live):
                made.names[name] = self._method(node, made, part)
            else:
                made.names[name] = self.value(node, f"`{made.name}.{name}`", part)
        self._held.append((node, made, list(made.names.items())))
        return made

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

    def container(self, node: ast.AST, kept: Items, parts: list[Value]) -> Value:
        """A list, tuple or dict of these parts; what is done to a list or dict later is refused by `check_outside`."""
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


@cache
def _paths() -> dict[Any, str]:
    """Identity of a function, dtype or module of the libraries -> the name under which the front end knows it."""
    found: dict[Any, str] = {}
    for path in supported():
        value = _resolve(path)
        if callable(value):
            found.setdefault(_key(value), path)
    for name in (*INSTALLED, "numpy.random", "numpy.linalg", "numpy.typing"):
        value = _resolve(name)
        if value is not None:
            found[_key(value)] = name
    for name in BUILTINS:
        found.setdefault(_key(getattr(builtins, name)), f"builtins.{name}")
    return found


def _resolve(path: str) -> Any:
    value: Any = INSTALLED[path.split(".", maxsplit=1)[0]]
    for part in path.split(".")[1:]:
        value = getattr(value, part, None)
    return value
