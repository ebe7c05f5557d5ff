"""Calls of every kind of value: functions, classes, methods, partials, dtypes, and functions of libraries."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fleet.frontend.arrays import facts, foreign
from fleet.frontend.arrays.arguments import dtype_of
from fleet.frontend.arrays.complexes import beside, scalars
from fleet.frontend.arrays.functions import grids, mapped
from fleet.frontend.python import calls, complexes
from fleet.frontend.python.attributes import attribute, docstring
from fleet.frontend.python.builtins import registry
from fleet.frontend.python.builtins.numbers import math_call
from fleet.frontend.python.classes import objects, records
from fleet.frontend.python.classes.enums import AUTO
from fleet.frontend.python.containers import builtin, byte_arrays, collections, heaps, itertools
from fleet.frontend.python.containers.collections import COLLECTIONS
from fleet.frontend.python.containers.heaps import HEAPS
from fleet.frontend.python.containers.itertools import ITERTOOLS
from fleet.frontend.python.expressions import subscript
from fleet.frontend.python.flow import guards
from fleet.frontend.python.names import OTHER, SPECIAL, STANDARD, UNBOUND, known, resolve
from fleet.frontend.python.operators import binary, compared
from fleet.frontend.python.standard import aside, inherited
from fleet.frontend.python.standard.operators import GETTERS, OPERATORS
from fleet.frontend.python.standard.table import CALLS
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import any_order, key, shuffled, shuffling
from fleet.frontend.reading.plain import check_size
from fleet.frontend.reading.values import (
    BoundMethod,
    Broken,
    Class,
    Complex,
    Dict,
    ForeignArray,
    Generator,
    Initialiser,
    Lazy,
    Library,
    Marker,
    Method,
    NamedTupleValue,
    NumberValue,
    ObjectInstance,
    Partial,
    SourceFunction,
    TracedArray,
    Value,
    plain_dtype,
)
from fleet.frontend.reading.wording import words


def call(ev: Evaluator, node: ast.Call, function: Value, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """Calls a function of the file or of a library, a method, or a dtype (`np.float32(x)`)."""
    match function:
        case Broken():
            raise function.error
        case SourceFunction():
            return calls.inline(ev, node, function, args, keywords)
        case Class():
            return objects.instantiate(ev, node, function, args, keywords)
        case BoundMethod():
            return objects.call_bound(ev, node, function, args, keywords)
        case Initialiser():
            return objects.call_bound(ev, node, BoundMethod(function, args[0] if args else None), args[1:], keywords)
        case ObjectInstance() | NamedTupleValue():
            found = function.kind.find("__call__")
            if found is None:
                hint = f"define __call__ in `{function.kind.name}`"
                stand_ins.refuse(ev, "F408", node.func, f"{words(function)} cannot be called", lambda v: v(), function, hint=hint)
            return ev.call(node, objects.load(ev, node.func, function, "__call__"), args, dict(keywords))
        case Method(owner=NamedTupleValue() as owner) if function.name in records.NAMED_METHODS:
            return records.named_method(ev, node, owner, function.name, keywords)
        case Method(owner=SourceFunction() | Library() as owner, name="vectorized"):
            return mapped.vectorized(ev, node, owner, args, keywords)
        case Method(owner=ForeignArray() as owner):
            return foreign.method(ev, node, owner, function.name, args, keywords)
        case Method(owner=TracedArray() as owner, name="tobytes"):
            return foreign.method(ev, node, owner, "tobytes", args, keywords)
        case Method(owner=TracedArray() as owner) if foreign.converts(ev, node, function.name, [*args, *keywords.values()]):
            return foreign.method(ev, node, owner, function.name, args, keywords)
        case Method(owner=TracedArray() as owner):
            args, keywords = scalars(ev, node, args, keywords)
            return ev.domain.method(ev, node, owner, function.name, args, keywords)
        case Method(owner=Complex() as owner):
            return complexes.method(ev, node, owner, function.name, args)
        case Method(owner=Generator() as owner, name="choice") if args and foreign.holds(args[0]):
            return _chosen(ev, node, lambda places: ev.domain.draw(ev, node, owner, "choice", places, keywords), args)
        case Method(owner=Generator() as owner):
            return ev.domain.draw(ev, node, owner, function.name, args, keywords)
        case Method(owner=Partial() as owner) if owner.results is not None and not args and not keywords:
            return _of_cache(ev, node, owner, owner.results, clear=function.name == "cache_clear")
        case Method():
            return builtin.call(ev, node, function.owner, function.name, args, keywords)
        case Partial() if function.results is not None:
            return _remembered(ev, node, function, function.results, args, keywords)
        case Partial():
            return ev.call(node, function.function, [*function.args, *args], {**function.keywords, **keywords})
        case np.dtype():
            if len(args) != 1 or keywords:
                ev.fail("F208", node, f"{function.name}(...) takes one argument")
            return ev.domain.convert(ev, node, beside(ev, node, args[0]), plain_dtype(function))
        case Library():
            return _of_library(ev, node, function.path, args, keywords)
        case _:
            return stand_ins.refuse(ev, "F408", node.func, f"{words(function)} cannot be called", lambda v: v(), function)


_WRITTEN_OUT = frozenset({"builtins.print", "builtins.str", "builtins.repr"})


def _of_library(ev: Evaluator, node: ast.Call, path: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    root, _, name = path.partition(".")
    if root == "numpy" or path in _WRITTEN_OUT:
        for value in (*args, *keywords.values()):
            check_size(ev, node, value)
    if path.startswith(UNBOUND) and args:
        method = attribute(ev, ast.copy_location(ast.Attribute(node, name.rpartition(".")[2], ast.Load()), node), args[0])
        return ev.call(node, method, args[1:], keywords)
    if path in ("builtins.object.__setattr__", "builtins.object.__delattr__"):
        return _set_plainly(ev, node, args, deletes=path.endswith("__delattr__"))
    if path in (objects.OBJECT_NEW, "builtins.tuple.__new__"):
        kind = args[0] if args else None
        if not isinstance(kind, Class):
            ev.fail("F408", node, f"{name} takes a class")
        made = objects.new(ev, node, kind, args[1:], keywords)
        if isinstance(made, ObjectInstance) and (len(args) > 1 or keywords):
            cause = TypeError("object.__new__() takes exactly one argument (the type to instantiate)")
            ev.refuse("F208", node, "object.__new__ takes a class alone", cause)
        return made
    if path in facts.FACTS:
        return facts.call(ev, node, path, args, keywords)
    if path in SPECIAL:
        return SPECIAL[path](ev, node, args, keywords)
    if path in mapped.MAPPED:
        return mapped.call(ev, node, path, args, keywords)
    if path in STANDARD or path.startswith("operator."):
        return _standard(ev, node, path, args, keywords)
    if aside.is_aside(path):
        return aside.call(ev, node, path, args, keywords)
    if path == "collections.OrderedDict.fromkeys":
        found = _unbound(ev, node, "dict.fromkeys", args, keywords)
        return Dict(found.items, "OrderedDict") if isinstance(found, Dict) else found
    if root == "builtins" and "." in name:
        return _unbound(ev, node, name, args, keywords)
    if root == "builtins":
        return registry.call(ev, node, name, args, keywords)
    if not known(path):
        resolve(ev, node.func, path)
        ev.fail("F408", node, f"`{path}` cannot be called")
    if root == "cmath":
        return complexes.cmath_call(ev, node, name, args, keywords)
    if root == "math":
        return math_call(ev, node, name, args, keywords)
    if path in ("numpy.finfo", "numpy.iinfo"):
        value = args[0] if args else None
        dtype = value.dtype if isinstance(value, TracedArray) else dtype_of(ev, node, value)
        return Library(f"{path}:{dtype.name}")
    if path == "numpy.errstate":
        handled = ev.fp_errors
        guards.unheeded(ev, node, "np.errstate", args, keywords)
        ev.fp_errors = handled  # as a decorator it holds in the function
        return Library("numpy.errstate()")
    if path in ("numpy.seterr", "numpy.geterr"):
        before = guards.handled(ev)
        guards.unheeded(ev, node, path.replace("numpy", "np"), args, keywords)
        return before
    if path == "numpy.get_printoptions" and not args and not keywords:
        return guards.options(ev)
    if path == "numpy.set_printoptions":
        return guards.set_options(ev, node, args, keywords)
    if path == "numpy.dtype":
        made = foreign.dtype(ev, node, args[0] if args else None)
        return dtype_of(ev, node, args[0] if args else None) if made is None else made
    if foreign.takes(ev, node, path, args, keywords):
        return foreign.call(ev, node, path, args, keywords)
    if path == "numpy.random.choice" and args and foreign.holds(args[0]):
        return _chosen(ev, node, lambda places: ev.domain.call(ev, node, path, places, keywords), args)
    if path in OTHER or path in facts.ABSTRACT or path in grids.MAKERS:
        ev.fail("F408", node, f"`{path}` cannot be called")
    if path in _ITERATED:
        args = [tuple(ev.collect(node, a)) if i == _ITERATED[path] and isinstance(a, Lazy) else a for i, a in enumerate(args)]
    args, keywords = scalars(ev, node, args, keywords)
    return ev.domain.call(ev, node, path, args, keywords)


_ITERATED: Mapping[str, int] = {"numpy.indices": 0, "numpy.tile": 1}
"""Function -> its argument that may be an iterator."""


def _chosen(ev: Evaluator, node: ast.Call, draw: Callable[[list[Value]], Value], args: Sequence[Value]) -> Value:
    """`choice` of text: NumPy draws places."""
    of = foreign.call(ev, node, "numpy.asarray", args[:1], {})
    if not isinstance(of, ForeignArray) or of.array.ndim != 1:
        ev.fail("F506", node, f"choice of {words(of)} is not supported", "choose from a list")
    return foreign.load(ev, node, of, [draw([NumberValue(len(of.array)), *args[1:]])])


def _unbound(ev: Evaluator, node: ast.Call, name: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """A method as a function of its object, `str.upper`, or one that needs no object: `dict.fromkeys`."""
    kind, _, method = name.partition(".")
    if name == "dict.fromkeys" and args and not keywords:
        keys = [key(ev, node, k) for k in ev.collect(node, any_order(ev, node, args[0]))]
        return shuffled(Dict(dict.fromkeys(keys, args[1] if len(args) > 1 else None)), shuffling(ev, node, args[0]))
    if method == "fromhex" and len(args) == 1 and isinstance(args[0], str) and not keywords:
        function = bytes.fromhex if kind == "bytes" else bytearray.fromhex
        return byte_arrays.done(ev, node, name, lambda: function(str(args[0])))
    if name == "str.maketrans":
        return builtin.call(ev, node, "", method, args, keywords)
    owner = ev.settled(args[0]) if args else None
    owner = tuple(owner) if isinstance(owner, NamedTupleValue) else owner  # without the methods of its class
    if isinstance(owner, ObjectInstance) and (found := inherited.unbound(owner, method)) is not None:
        return ev.call(node, found, args, keywords)
    if builtin.kind_of(owner) != kind and not (kind == "dict" and isinstance(owner, Dict)):
        ev.fail("F408", node, f"{name} of {words(owner)}", f"it takes a {kind}")
    return builtin.call(ev, node, owner, method, args[1:], keywords)


def _operator(ev: Evaluator, node: ast.Call, name: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """Call a function of `operator`, or one that `itemgetter` or `attrgetter` made, on its first argument."""
    if keywords or not args:
        ev.fail("F208", node, f"operator.{name} with these arguments is not supported")
    if name in GETTERS:
        return Partial(Library(f"operator.{name}.made"), (tuple(args),))
    place = ast.copy_location(ast.Name("x", ast.Load()), node)
    if name.endswith(".made"):
        wanted, owner = args[0], args[1] if len(args) > 1 else None
        assert isinstance(wanted, tuple)
        found = [_got(ev, node, place, name, owner, w) for w in wanted]
        return found[0] if len(found) == 1 else tuple(found)
    if len(args) != 2:
        ev.fail("F208", node, f"operator.{name} takes two arguments, {len(args)} are given")
    symbol = OPERATORS[name]()
    if isinstance(symbol, ast.cmpop):
        return compared(ev, ast.copy_location(ast.Compare(place, [symbol], [place]), node), symbol, args[0], args[1])
    return binary(ev, node, symbol, args[0], args[1])


def _got(ev: Evaluator, node: ast.Call, place: ast.expr, name: str, owner: Value, wanted: Value) -> Value:
    if name.startswith("itemgetter"):
        return subscript(ev, ast.copy_location(ast.Subscript(place, place, ast.Load()), node), owner, wanted)
    for part in str(wanted).split("."):
        owner = attribute(ev, ast.copy_location(ast.Attribute(place, part, ast.Load()), node), owner)
    return owner


def _set_plainly(ev: Evaluator, node: ast.Call, args: Sequence[Value], *, deletes: bool) -> Value:
    """`object.__setattr__(self, "name", value)`, by which a frozen dataclass sets its own fields, and `object.__delattr__`."""
    if len(args) != (2 if deletes else 3) or not isinstance(args[0], ObjectInstance) or not isinstance(args[1], str):
        takes = "an object and a name" if deletes else "an object, a name and a value"
        return ev.fail("F408", node, f"object.{'__delattr__' if deletes else '__setattr__'} takes {takes}")
    if deletes:
        objects.remove_plainly(ev, node, args[0], args[1])
    else:
        objects.set_plainly(ev, node, args[0], args[1], args[2])
    return None


def _standard(ev: Evaluator, node: ast.Call, path: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    if path in CALLS:
        return CALLS[path](ev, node, args, keywords)
    if path.startswith("operator."):
        return _operator(ev, node, path.removeprefix("operator."), args, keywords)
    if path in COLLECTIONS:
        return collections.call(ev, node, path, args, keywords)
    if path in HEAPS:
        return heaps.call(ev, node, path, args, keywords)
    if path in ITERTOOLS:
        return itertools.call(ev, node, path, args, keywords)
    match path:
        case "enum.auto" if not args and not keywords:
            return AUTO
        case "dataclasses.field":
            return records.field(ev, node, args, keywords)
        case "dataclasses.replace" if len(args) == 1:
            return records.replaced(ev, node, args[0], keywords)
        case "dataclasses.asdict" if len(args) == 1 and not keywords:
            if not isinstance(args[0], ObjectInstance) or args[0].kind.kind != "dataclass":
                ev.fail("F408", node, f"asdict of {words(args[0])}", "it takes an object of a dataclass")
            return records.as_dict(ev, node, args[0])
        case "dataclasses.astuple" if len(args) == 1 and not keywords and isinstance(args[0], ObjectInstance):
            return records.as_tuple(ev, node, args[0])
        case "dataclasses.fields" if len(args) == 1 and not keywords:
            return records.fields(ev, node, args[0])
        case "dataclasses.is_dataclass" if len(args) == 1 and not keywords:
            return NumberValue(records.of_dataclass(args[0]) is not None)
        case "functools.partial" if args:
            return Partial(args[0], tuple(args[1:]), dict(keywords))
        case "functools.partialmethod" if args and isinstance(args[0], SourceFunction):
            return Partial(Library("functools.partialmethod.called"), (args[0], tuple(args[1:]), Dict(dict(keywords))), binds=True)
        case "functools.partialmethod.called":
            function, early, named, own, *rest = args
            assert isinstance(early, tuple)
            assert isinstance(named, Dict)
            return ev.call(node, function, [own, *early, *rest], {**named.items, **keywords})
        case "functools.wraps" if len(args) == 1 and not keywords:
            return Partial(Library("functools.update_wrapper"), keywords={"wrapped": args[0]})
        case "functools.update_wrapper" if len(args) == 1 and isinstance(args[0], SourceFunction):
            wrapped = keywords.get("wrapped")
            if not isinstance(wrapped, SourceFunction):
                return args[0]
            args[0].attributes.update({"__doc__": docstring(wrapped), **wrapped.attributes})
            return replace(args[0], title=wrapped.title or wrapped.name, path=wrapped.qualname)
        case "functools.cache" if len(args) == 1 and isinstance(args[0], SourceFunction) and not keywords:
            return Partial(args[0], results={}, binds=True)
        case "functools.lru_cache" if args and isinstance(args[0], SourceFunction) and keywords.keys() <= {"maxsize"}:
            size = keywords.get("maxsize", NumberValue(128))
            most = None if size is None else max(ev.integer(node, size, "maxsize"), 0)
            return Partial(args[0], results={}, most=most, binds=True)
        case "functools.lru_cache" if len(args) + len(keywords) <= 1 and keywords.keys() <= {"maxsize"}:
            return Partial(Library(path), keywords={"maxsize": args[0]} if args else keywords)
        case "functools.reduce" if 2 <= len(args) <= 3 and not keywords:
            return _reduced(ev, node, args)
        case "collections.namedtuple":
            return records.named_class(ev, node, args, keywords)
        case _:
            return ev.fail("F408", node, f"`{path}` cannot be called like this")


def _remembered(
    ev: Evaluator, node: ast.Call, cached: Partial, results: dict[Any, Value], args: list[Value], keywords: Mapping[str, Value]
) -> Value:
    """A call of a function with a cache: followed if the cache lacks the arguments. The least recently used result goes first."""
    plain = key(ev, node, tuple(args))
    alone = len(args) == 1 and not keywords and type(plain[0]) in (int, str)  # as CPython does: f(1) and f(True) are two entries
    place = plain[0] if alone else (plain, key(ev, node, tuple(keywords.items())))
    cached.counts[place not in results] += 1
    found = results.pop(place) if place in results else ev.call(node, cached.function, args, keywords)
    if cached.most != 0:
        results[place] = found
    if cached.most is not None and len(results) > cached.most:
        del results[next(iter(results))]
    return found


def _of_cache(ev: Evaluator, node: ast.Call, cached: Partial, results: dict[Any, Value], *, clear: bool) -> Value:
    """`cache_clear()` and `cache_info()` of a function with a cache."""
    if clear:
        results.clear()
        cached.counts[:] = [0, 0]
        return None
    kind = records.named_class(ev, node, ["CacheInfo", "hits misses maxsize currsize"], {})
    most = None if cached.most is None else NumberValue(cached.most)
    return ev.call(node, kind, [*map(NumberValue, cached.counts), most, NumberValue(len(results))], {})


def _reduced(ev: Evaluator, node: ast.Call, args: Sequence[Value]) -> Value:
    values = iter([*args[2:], *ev.collect(node, args[1])])
    found = next(values, _NOTHING)
    if found is _NOTHING:
        ev.fail("F703", node, "reduce of nothing, without an initial value")
    for value in values:
        found = ev.call(node, args[0], [found, value], {})
    return found


_NOTHING: Value = Marker("nothing")
