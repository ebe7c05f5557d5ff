"""Names out of libraries: which are known, what calling them takes. What NumPy's calls do is the domain's business."""

from __future__ import annotations

import ast
import difflib
import importlib.util
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fleet.frontend.arrays import facts
from fleet.frontend.arrays.functions import grids, mapped
from fleet.frontend.python import calls
from fleet.frontend.python.builtins import registry
from fleet.frontend.python.builtins.numbers import MATH, math_call
from fleet.frontend.python.classes import objects, records
from fleet.frontend.python.containers import builtin, collections, heaps, itertools
from fleet.frontend.python.containers.collections import COLLECTIONS
from fleet.frontend.python.containers.heaps import HEAPS
from fleet.frontend.python.containers.itertools import ITERTOOLS
from fleet.frontend.python.flow import guards
from fleet.frontend.python.signatures import FUNCTIONS, Signature
from fleet.frontend.python.values import (
    Bound,
    Class,
    Function,
    Generator,
    Initialiser,
    Instance,
    Library,
    List,
    Marker,
    Method,
    Named,
    Number,
    Partial,
    Tensor,
    Value,
    words,
)
from fleet.ir.library.call import callable_names, is_callable
from fleet.ir.types import DTYPES
from fleet.ir.weights import DISTRIBUTIONS

if TYPE_CHECKING:
    from fleet.frontend.python.evaluator import Evaluator

_NUMBERS: Mapping[str, float] = {
    "numpy.pi": math.pi, "numpy.euler_gamma": np.euler_gamma, "numpy.e": math.e, "numpy.inf": math.inf, "numpy.nan": math.nan,
    "math.pi": math.pi, "math.e": math.e, "math.inf": math.inf, "math.nan": math.nan, "math.tau": math.tau,
}  # fmt: skip
_DTYPES: Mapping[str, np.dtype] = {f"numpy.{n}": np.dtype(n) for n in DTYPES} | {
    "numpy.bool_": np.dtype(bool), "numpy.double": np.dtype(float), "numpy.single": np.dtype(np.float32),
    "numpy.half": np.dtype(np.float16), "numpy.int_": np.dtype(np.int64), "numpy.intp": np.dtype(np.int64),
}  # fmt: skip
_MODULES = frozenset(
    {"numpy", "math", "numpy.typing", "numpy.random", "numpy.linalg", "numpy.fft", "numpy.lib", "numpy.lib.stride_tricks"}
)
_OTHER = frozenset(
    f"numpy.{n}"
    for n in ("ndarray", "dtype", "finfo", "iinfo", "typing.NDArray", "floating", "errstate", "printoptions", "set_printoptions")
)
_PLAIN_DRAWS = "choice randn rand standard_normal random_sample random normal uniform randint permutation"
DRAWS = frozenset({*DISTRIBUTIONS, *_PLAIN_DRAWS.split()})
"""Functions of `np.random` that draw from the generator that `np.random.seed` seeds."""
STANDARD = frozenset(
    {
        *("dataclasses.dataclass", "dataclasses.field", "dataclasses.replace", "dataclasses.asdict", "collections.namedtuple"),
        *("functools.partial", "functools.reduce", "functools.cache", "functools.lru_cache", "functools.wraps"),
        *("functools.update_wrapper", "typing.NamedTuple", "abc.ABC", "abc.abstractmethod"),
        *ITERTOOLS,
        *HEAPS,
        *COLLECTIONS,
    }
)
"""What is known of Python's library beside `math`."""
LIBRARIES = frozenset({"numpy", "math", "dataclasses", "collections", "functools", "heapq", "itertools", "typing", "abc"})
"""Modules that a source may import and use."""
_RANDOM = frozenset({"numpy.random.seed", "numpy.random.shuffle", "numpy.random.default_rng", "numpy.random.RandomState"})


def _known(path: str) -> bool:
    random = path.startswith("numpy.random.") and path.removeprefix("numpy.random.") in DRAWS
    in_math = path.startswith("math.") and path.removeprefix("math.") in MATH
    called = path.startswith("numpy.") and is_callable(path.removeprefix("numpy."))
    special = path in facts.FACTS or path in facts.ABSTRACT or path in mapped.MAPPED or path in grids.MAKERS
    return path in FUNCTIONS or called or special or path in _OTHER or path in _RANDOM or path in STANDARD or random or in_math


def attribute(ev: Evaluator, node: ast.Attribute, owner: Library) -> Value:
    """`np.maximum`, or an attribute of something that a library's call gave."""
    return resolve(ev, node, f"{owner.path}.{node.attr}")


def resolve(ev: Evaluator, node: ast.expr, path: str) -> Value:
    """What a dotted path stands for. SourceError, with what is near it, for what is not supported."""
    if path in _NUMBERS:
        return Number(_NUMBERS[path])
    if path in _DTYPES:
        return _DTYPES[path]
    if path == "numpy.newaxis":
        return None
    if path.startswith(_INFO):
        return _limit(ev, node, path)
    if path in _MODULES or path in LIBRARIES or _known(path):
        return Library(path)
    root = path.split(".", maxsplit=1)[0]
    if path == "builtins.object.__setattr__":
        return Library(path)
    if root not in ("numpy", "math"):
        ev.fail("F204", node, f"`{path}` is not supported", "a model uses numpy, math and functions of its own file")
    close = [] if exists(path) else difflib.get_close_matches(path, supported(), 1, 0.8)  # else it is no misspelling
    hint = f"did you mean {close[0]}? " if close else ""
    return ev.fail("F205", node, f"{path} is not supported", f"{hint}`fleet help numpy` lists what is")


def exists(path: str) -> bool:
    """Whether a dotted path that begins with `numpy` or `math` leads to an attribute."""
    found: object = {"numpy": np, "math": math}[path.split(".", maxsplit=1)[0]]
    for name in path.split(".")[1:]:
        found = getattr(found, name, None)
    return found is not None


def is_module(path: str) -> bool:
    """Whether a known library has a module of this dotted path; True of libraries that fleet does not know."""
    if path.split(".", maxsplit=1)[0] not in LIBRARIES:
        return True
    try:
        return importlib.util.find_spec(path) is not None
    except ModuleNotFoundError:
        return False


def supported() -> list[str]:
    """Every dotted path of NumPy and math that is known."""
    called = {f"numpy.{n}" for n in callable_names()}
    drawn = {f"numpy.random.{d}" for d in DRAWS}
    called = {f"numpy.{n}" for n in callable_names()}
    drawn = {f"numpy.random.{d}" for d in DRAWS}
    special = {*facts.FACTS, *facts.ABSTRACT, *mapped.MAPPED, *grids.MAKERS}
    functions = {*FUNCTIONS, *called, *special, *_OTHER, *_RANDOM, *drawn, *(f"math.{m}" for m in MATH)}
    return sorted({*functions, *_DTYPES, *_NUMBERS, "numpy.newaxis"})


_INFO = ("numpy.finfo:", "numpy.iinfo:")
_LIMITS = frozenset({"eps", "min", "max", "tiny", "bits", "smallest_normal", "resolution"})


def _limit(ev: Evaluator, node: ast.expr, path: str) -> Value:
    kind, _, rest = path.partition(":")
    name, _, field = rest.partition(".")
    dtype = np.dtype(name)
    if field not in _LIMITS:
        ev.fail("F206", node, f"{kind} has no supported attribute `{field}`", f"it has {', '.join(sorted(_LIMITS))}")
    if (dtype.kind == "f") != (kind == "numpy.finfo") or dtype.kind == "b":
        ev.fail("F403", node, f"{kind} of {name}", "finfo takes floats, iinfo integers")
    value = getattr(np.finfo(dtype) if kind == "numpy.finfo" else np.iinfo(dtype), field, None)
    if value is None:
        ev.fail("F206", node, f"{kind} has no attribute `{field}` for {name}")
    if isinstance(value, np.floating):
        return ev.domain.convert(node, Number(float(value)), dtype)
    return Number(int(value))


# ---- calls


def call(ev: Evaluator, node: ast.Call, function: Value, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """Calls a function of the file or of a library, a method, or a dtype (`np.float32(x)`)."""
    match function:
        case Function():
            return calls.inline(ev, node, function, args, keywords)
        case Class():
            return objects.instantiate(ev, node, function, args, keywords)
        case Bound():
            return objects.call_bound(ev, node, function, args, keywords)
        case Initialiser():
            return objects.call_bound(ev, node, Bound(function, args[0] if args else None), args[1:], keywords)
        case Instance():
            found = function.kind.find("__call__")
            if found is None:
                ev.fail("F408", node.func, f"{words(function)} cannot be called", f"define __call__ in `{function.kind.name}`")
            return ev.call(node, objects.load(ev, node.func, function, "__call__"), args, dict(keywords))
        case Method(owner=Named() as owner) if function.name in records.NAMED_METHODS:
            return records.named_method(ev, node, owner, function.name, keywords)
        case Method(owner=Function() as owner):
            return mapped.vectorized(ev, node, owner, args, keywords)
        case Method(owner=Tensor() as owner):
            return ev.domain.method(node, owner, function.name, args, keywords)
        case Method(owner=Generator() as owner):
            return ev.domain.draw(node, owner, function.name, args, keywords)
        case Method():
            return builtin.call(ev, node, function.owner, function.name, args, keywords)
        case Partial() if function.results is not None:
            return _remembered(ev, node, function, function.results, args, keywords)
        case Partial():
            return ev.call(node, function.function, [*function.args, *args], {**function.keywords, **keywords})
        case np.dtype():
            if len(args) != 1 or keywords:
                ev.fail("F208", node, f"{function.name}(...) takes one argument")
            return ev.domain.convert(node, args[0], function)
        case Library():
            return _of_library(ev, node, function.path, args, keywords)
        case _:
            return ev.fail("F408", node.func, f"{words(function)} cannot be called")


def _of_library(ev: Evaluator, node: ast.Call, path: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    root, _, name = path.partition(".")
    if path == "builtins.object.__setattr__":
        return _set_plainly(ev, node, args)
    if path in facts.FACTS:
        return facts.call(ev, node, path, args, keywords)
    if path in mapped.MAPPED:
        return mapped.call(ev, node, path, args, keywords)
    if path in STANDARD:
        return _standard(ev, node, path, args, keywords)
    if root == "builtins":
        return registry.call(ev, node, name, args, keywords)
    if not _known(path):
        resolve(ev, node.func, path)
        ev.fail("F408", node, f"`{path}` cannot be called")
    if root == "math":
        return math_call(ev, node, name, args, keywords)
    if path in ("numpy.finfo", "numpy.iinfo"):
        value = args[0] if args else None
        dtype = value.dtype if isinstance(value, Tensor) else dtype_of(ev, node, value)
        return Library(f"{path}:{dtype.name}")
    if path == "numpy.set_printoptions":
        return guards.set_options(ev, node, args, keywords)
    if path == "numpy.dtype":
        return dtype_of(ev, node, args[0] if args else None)
    if path in _OTHER or path in facts.ABSTRACT or path in grids.MAKERS:
        ev.fail("F408", node, f"`{path}` cannot be called")
    return ev.domain.call(node, path, args, keywords)


def _set_plainly(ev: Evaluator, node: ast.Call, args: Sequence[Value]) -> Value:
    """`object.__setattr__(self, "name", value)`, by which a frozen dataclass sets its own fields."""
    if len(args) != 3 or not isinstance(args[0], Instance) or not isinstance(args[1], str):
        return ev.fail("F408", node, "object.__setattr__ takes an object, a name and a value")
    args[0].attributes[args[1]] = args[2]
    return None


def _standard(ev: Evaluator, node: ast.Call, path: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    if path in COLLECTIONS:
        return collections.call(ev, node, path, args, keywords)
    if path in HEAPS:
        return heaps.call(ev, node, path, args, keywords)
    if path in ITERTOOLS:
        return itertools.call(ev, node, path, args, keywords)
    match path:
        case "dataclasses.field":
            return records.field(ev, node, args, keywords)
        case "dataclasses.replace" if len(args) == 1:
            return records.replaced(ev, node, args[0], keywords)
        case "dataclasses.asdict" if len(args) == 1 and not keywords:
            if not isinstance(args[0], Instance) or args[0].kind.kind != "dataclass":
                ev.fail("F408", node, f"asdict of {words(args[0])}", "it takes an object of a dataclass")
            return records.as_dict(ev, node, args[0])
        case "functools.partial" if args:
            return Partial(args[0], tuple(args[1:]), dict(keywords))
        case "functools.wraps" if len(args) == 1 and not keywords:
            return Partial(Library("functools.update_wrapper"), keywords={"wrapped": args[0]})
        case "functools.update_wrapper" if len(args) == 1 and isinstance(args[0], Function):
            wrapped = keywords.get("wrapped")
            name = (wrapped.title or wrapped.name) if isinstance(wrapped, Function) else ""
            return replace(args[0], title=name)
        case "functools.cache" if len(args) == 1 and isinstance(args[0], Function) and not keywords:
            return Partial(args[0], results={})
        case "functools.lru_cache" if args and isinstance(args[0], Function) and keywords.keys() <= {"maxsize"}:
            size = keywords.get("maxsize", Number(128))
            return Partial(args[0], results={}, most=None if size is None else max(ev.integer(node, size, "maxsize"), 0))
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
    plain = builtin.key(ev, node, tuple(args))
    alone = len(args) == 1 and not keywords and type(plain[0]) in (int, str)  # as CPython does: f(1) and f(True) are two entries
    key = plain[0] if alone else (plain, builtin.key(ev, node, tuple(keywords.items())))
    found = results.pop(key) if key in results else ev.call(node, cached.function, args, keywords)
    if cached.most != 0:
        results[key] = found
    if cached.most is not None and len(results) > cached.most:
        del results[next(iter(results))]
    return found


def _reduced(ev: Evaluator, node: ast.Call, args: Sequence[Value]) -> Value:
    values = iter([*args[2:], *ev.collect(node, args[1])])
    found = next(values, _NOTHING)
    if found is _NOTHING:
        ev.fail("F703", node, "reduce of nothing, without an initial value")
    for value in values:
        found = ev.call(node, args[0], [found, value], {})
    return found


_NOTHING: Value = Marker("nothing")


def dtype_of(ev: Evaluator, node: ast.AST, value: Value) -> np.dtype:
    """`value` as a dtype: numpy.float32, "float32", float, x.dtype."""
    found: np.dtype | None = None
    if isinstance(value, np.dtype):
        found = value
    elif isinstance(value, Library) and value.path in _PYTHON_DTYPES:
        found = _PYTHON_DTYPES[value.path]
    elif isinstance(value, str):
        try:
            found = np.dtype(value) if len(value) < 16 else None
        except TypeError:
            found = None
    if found is None or found.name not in DTYPES or not found.isnative:
        ev.fail("F403", node, f"expected a dtype, found {words(value)}", f"supported are {', '.join(DTYPES)}")
    return found


_PYTHON_DTYPES = {"builtins.float": np.dtype(float), "builtins.int": np.dtype(np.int64), "builtins.bool": np.dtype(bool)}


def to_array(ev: Evaluator, node: ast.expr, value: Value) -> Value:
    """A list or tuple as the array that NumPy makes of it."""
    return ev.domain.call(as_call(node), "numpy.array", [value], {}) if isinstance(value, tuple | List) else value


def as_call(node: ast.expr) -> ast.Call:
    """The node as a call, for what is called on its behalf."""
    return node if isinstance(node, ast.Call) else ast.copy_location(ast.Call(func=node, args=[], keywords=[]), node)


def bind(
    ev: Evaluator, node: ast.Call, name: str, signature: Signature, args: Sequence[Value], keywords: Mapping[str, Value]
) -> dict[str, Value]:
    """A call's arguments by parameter name. SourceError F208 or F506 where they do not fit."""
    bound: dict[str, Value] = {}
    rest = list(args)
    for parameter in signature.positional:
        if parameter.startswith("*"):
            if rest or parameter[1:] not in keywords:
                bound[parameter[1:]], rest = tuple(rest), []
        elif rest:
            bound[parameter] = rest.pop(0)
    if rest:
        ev.fail("F208", node, f"{name} with {len(args)} positional arguments is not supported")
    allowed = [p.removeprefix("*") for p in signature.positional] + list(signature.keywords)
    places = {k.arg: k.value for k in node.keywords}
    for key, value in keywords.items():
        if key not in allowed:
            ev.fail(
                "F506", places.get(key, node), f"{name} with `{key}=` is not supported", f"its arguments are {', '.join(allowed)}"
            )
        if key in bound:
            ev.fail("F208", places.get(key, node), f"{name} gets `{key}` twice")
        bound[key] = value
    missing = [p for p in signature.required if p.removeprefix("*") not in bound]
    if missing:
        ev.fail("F208", node, f"{name} needs {', '.join(missing)}")
    return bound
