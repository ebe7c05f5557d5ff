"""Names out of libraries: which are known, and what they stand for."""

from __future__ import annotations

import ast
import difflib
import importlib.util
import math
from collections.abc import Mapping

import numpy as np

from fleet.frontend.arrays import facts, foreign
from fleet.frontend.arrays.called import METHODS as CALLED
from fleet.frontend.arrays.functions import grids, iteration, mapped, polynomials, testing, texts
from fleet.frontend.arrays.signatures import FUNCTIONS, METHODS
from fleet.frontend.python.builtins.numbers import MATH
from fleet.frontend.python.complexes import CMATH
from fleet.frontend.python.containers.collections import COLLECTIONS
from fleet.frontend.python.containers.heaps import HEAPS
from fleet.frontend.python.containers.itertools import ITERTOOLS
from fleet.frontend.python.modules import INSTALLED, exists
from fleet.frontend.python.standard.aside import is_aside
from fleet.frontend.python.standard.operators import GETTERS, OPERATORS
from fleet.frontend.python.standard.table import CALLS, CONSTANTS, MODULES
from fleet.frontend.python.standard.written import WRITTEN, class_of
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import LIBRARY_ERRORS, Evaluator
from fleet.frontend.reading.values import Library, NumberValue, Value, scalar_type
from fleet.ir.library.call import callable_names, is_callable
from fleet.ir.types import DTYPES
from fleet.ir.weights import DISTRIBUTIONS

_NUMBERS: Mapping[str, float] = {
    "numpy.pi": math.pi, "numpy.euler_gamma": np.euler_gamma, "numpy.e": math.e, "numpy.inf": math.inf, "numpy.nan": math.nan,
    "cmath.pi": math.pi, "cmath.e": math.e, "cmath.inf": math.inf, "cmath.nan": math.nan,
    "math.pi": math.pi, "math.e": math.e, "math.inf": math.inf, "math.nan": math.nan, "math.tau": math.tau,
}  # fmt: skip
_OF_C = ("byte", "ubyte", "short", "ushort", "intc", "uintc", "long", "ulong", "longlong", "ulonglong", "int_", "uint", "intp",
         "uintp")  # fmt: skip
_DTYPES: Mapping[str, np.dtype] = {f"numpy.{n}": np.dtype(n) for n in DTYPES} | {
    "numpy.bool_": np.dtype(bool), "numpy.double": np.dtype(float), "numpy.single": np.dtype(np.float32),
    "numpy.half": np.dtype(np.float16),
    "numpy.cdouble": np.dtype(complex), "numpy.csingle": np.dtype(np.complex64),
    **{f"numpy.{n}": np.dtype(getattr(np, n)) for n in _OF_C},
}  # fmt: skip
_MODULES = frozenset(
    {
        *("numpy", "math", "numpy.typing", "numpy.random", "numpy.linalg", "numpy.fft", "numpy.lib", "numpy.lib.stride_tricks"),
        *("numpy.testing", "numpy.char", "numpy.strings", "numpy.ma", "numpy.rec", "numpy.emath", "numpy.polynomial", "os.path"),
        *(f"numpy.polynomial.{n}" for n in ("polynomial", "legendre", "chebyshev", "hermite", "hermite_e", "laguerre")),
    }
)
OTHER = frozenset(
    f"numpy.{n}"
    for n in (
        "ndarray",
        "dtype",
        "finfo",
        "iinfo",
        "typing.NDArray",
        "floating",
        "errstate",
        "seterr",
        "geterr",
        "printoptions",
        "set_printoptions",
        "get_printoptions",
        "str_",
        "void",
        "recarray",
    )
)
_PLAIN_DRAWS = "choice randn rand standard_normal random_sample random normal uniform randint permutation"
DRAWS = frozenset({*DISTRIBUTIONS, *_PLAIN_DRAWS.split()})
"""Functions of `np.random` that draw from the generator that `np.random.seed` seeds."""
STANDARD = frozenset(
    {
        *("dataclasses.dataclass", "dataclasses.field", "dataclasses.replace", "dataclasses.asdict", "collections.namedtuple"),
        *("dataclasses.fields", "dataclasses.astuple", "dataclasses.is_dataclass"),
        *("functools.partial", "functools.reduce", "functools.cache", "functools.lru_cache", "functools.wraps"),
        *("functools.partialmethod", "functools.partialmethod.called"),
        *("functools.cached_property", "functools.total_ordering", "enum.unique"),
        *("functools.update_wrapper", "typing.NamedTuple", "enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.auto"),
        *("abc.ABC", "abc.abstractmethod"),
        *ITERTOOLS,
        *HEAPS,
        *COLLECTIONS,
        *(f"operator.{n}" for n in (*OPERATORS, *GETTERS)),
        *(f"numbers.{n}" for n in ("Number", "Complex", "Real", "Rational", "Integral")),
        *CALLS,
    }
)
"""Functions of Python's library that are followed, besides `math`."""
SPECIAL = {**texts.TEXTS, **testing.TESTING, **iteration.ITERATION, **polynomials.POLYNOMIALS}
"""Functions of NumPy that are no operations."""
LIBRARIES = frozenset(
    {
        "numpy",
        "math",
        "cmath",
        "dataclasses",
        "collections",
        "functools",
        "heapq",
        "itertools",
        "typing",
        "abc",
        "enum",
        "operator",
        "numbers",
        *MODULES,
    }
)
"""Modules that a source may import and use."""
_RANDOM = frozenset(f"numpy.random.{n}" for n in ("seed", "shuffle", "default_rng", "RandomState", "PCG64", "Generator"))


UNBOUND = "numpy.ndarray."
"""Before the name of a method that is given its array: `map(np.ndarray.sum, rows)`."""
_METHODS = METHODS.keys() | CALLED


def known(path: str) -> bool:
    """Return whether a dotted path is a function or another object of a library that is known."""
    random = path.startswith("numpy.random.") and path.removeprefix("numpy.random.") in DRAWS
    in_cmath = path.startswith("cmath.") and path.removeprefix("cmath.") in CMATH
    in_math = path.startswith("math.") and path.removeprefix("math.") in MATH
    called = path.startswith("numpy.") and is_callable(path.removeprefix("numpy."))
    known_math = in_math or in_cmath
    special = path in facts.FACTS or path in facts.ABSTRACT or path in mapped.MAPPED or path in grids.MAKERS or path in SPECIAL
    unbound = path.startswith(UNBOUND) and path.removeprefix(UNBOUND) in _METHODS
    special = special or path in foreign.FUNCTIONS or unbound
    special = special or path in OTHER or path in _RANDOM or path in STANDARD or is_aside(path)
    return path in FUNCTIONS or called or special or random or known_math


def resolve(ev: Evaluator, node: ast.expr, path: str) -> Value:
    """Return the meaning of a dotted path. Raises SourceError F204 to F206, with close names, if it is not supported."""
    if path in _NUMBERS:
        return NumberValue(_NUMBERS[path])
    if path in _DTYPES:
        return scalar_type(_DTYPES[path])
    if path in CONSTANTS:
        return CONSTANTS[path]
    if path == "sys.argv":
        return ev.argv
    if path == "numpy.newaxis":
        return None
    if path in LIBRARY_ERRORS:
        return ev.exception_class(path)
    if path in WRITTEN:
        return class_of(ev, node, path)
    if path.startswith(_INFO):
        return _limit(ev, node, path)
    if (found := _of_ufunc(path)) is not None:
        return found[0]
    if path in _MODULES or path in LIBRARIES or known(path) or stand_ins.abstract(path) is not None:
        return Library(path)
    root = path.split(".", maxsplit=1)[0]
    if path in ("builtins.object.__setattr__", "builtins.object.__delattr__", "builtins.object.__new__", "builtins.tuple.__new__"):
        return Library(path)
    if root not in INSTALLED:
        ev.fail("F204", node, f"`{path}` is not supported", "a model uses numpy, math, its own file and modules beside it")
    close = [] if exists(path) else difflib.get_close_matches(path, supported(), 1, 0.8)  # else it is no misspelling
    hint = f"did you mean {close[0]}? " if close else ""
    return ev.fail("F205", node, f"{path} is not supported", f"{hint}`fleet help numpy` lists what is")


def _of_ufunc(path: str) -> tuple[Value] | None:
    """An attribute of a ufunc, `np.add.identity`; None for any other path."""
    room, _, name = path.rpartition(".")
    if not room.startswith("numpy.") or name not in ("identity", "nin", "nout", "nargs", "ntypes", "signature"):
        return None
    function = getattr(np, room.removeprefix("numpy."), None)
    if not isinstance(function, np.ufunc):
        return None
    found = getattr(function, name)
    return (NumberValue(found) if isinstance(found, bool | int | float) else found,)


def is_module(path: str) -> bool:
    """Return whether a known library has a module of this dotted path; True of libraries that fleet does not know."""
    root = path.split(".", maxsplit=1)[0]
    if root not in LIBRARIES or is_aside(path) or any(call.startswith(f"{path}.") for call in CALLS):
        return True
    try:
        return importlib.util.find_spec(path) is not None
    except ModuleNotFoundError:
        return False


def supported() -> list[str]:
    """Every dotted path of NumPy, math and cmath that is known."""
    called = {f"numpy.{n}" for n in callable_names()}
    drawn = {f"numpy.random.{d}" for d in DRAWS}
    special = {*SPECIAL, *facts.FACTS, *facts.ABSTRACT, *mapped.MAPPED, *grids.MAKERS, *foreign.FUNCTIONS}
    of_numbers = {*(f"math.{m}" for m in MATH), *(f"cmath.{m}" for m in CMATH)}
    functions = {*FUNCTIONS, *called, *special, *OTHER, *_RANDOM, *drawn, *of_numbers}
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
        return ev.domain.convert(ev, node, NumberValue(float(value)), dtype)
    return NumberValue(int(value))
