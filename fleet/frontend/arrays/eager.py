"""Arrays computed by NumPy at once, while the source is read: the domain of the AST interpreter."""

from __future__ import annotations

import ast
import builtins
import io
import math
import operator
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Generator as Yields
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import numpy as np
from xdsl.ir import Block

from fleet.errors import SourceError
from fleet.frontend.arrays import called
from fleet.frontend.arrays.arguments import bind, dtype_of
from fleet.frontend.arrays.functions import create, draws, layout, print_options
from fleet.frontend.arrays.making import check_size
from fleet.frontend.arrays.signatures import FUNCTIONS, METHODS
from fleet.frontend.reading.domain import Domain, Index
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import ObjectKey, RecordKey, check_order
from fleet.frontend.reading.static import Made, Static
from fleet.frontend.reading.values import (
    ELLIPSIS,
    Complex,
    Dict,
    ForeignArray,
    Generator,
    Library,
    List,
    Method,
    NamedTupleValue,
    NumberValue,
    ObjectInstance,
    RangeValue,
    Set,
    Slice,
    Text,
    TracedArray,
    Value,
    ValueOperand,
    is_scalar_type,
)
from fleet.frontend.reading.wording import numbered, words
from fleet.ir.types import DTYPES, tensor_type

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "pow": operator.pow,
    "floor_div": operator.floordiv, "mod": operator.mod, "matmul": operator.matmul, "bit_and": operator.and_,
    "bit_or": operator.or_, "bit_xor": operator.xor, "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip
_IN_PLACE: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.iadd, "sub": operator.isub, "mul": operator.imul, "div": operator.itruediv, "pow": operator.ipow,
    "floor_div": operator.ifloordiv, "mod": operator.imod, "matmul": operator.imatmul, "bit_and": operator.iand,
    "bit_or": operator.ior, "bit_xor": operator.ixor,
}  # fmt: skip
_UNARY: Mapping[str, Callable[[Any], Any]] = {"neg": operator.neg, "pos": operator.pos, "invert": operator.invert, "abs": abs}
MAX_LIVE = 4 << 30
"""Bytes of all results that are in use at one time."""
_SMALL = 4096
_ATTRIBUTES = frozenset({"shape", "ndim", "size", "dtype", "T", "mT", "imag", "itemsize", "nbytes", "real", "strides"})
_CAUSES = (ValueError, TypeError, LookupError, ArithmeticError, MemoryError)


class Concrete(TracedArray):
    """An array or NumPy scalar that is there."""

    def __init__(self, array: np.ndarray | np.generic) -> None:
        super().__init__(None)
        self.array = array

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.array.shape

    @property
    def dtype(self) -> np.dtype:
        """Element type of the array."""
        return self.array.dtype

    @property
    def scalar(self) -> bool:
        """True for a NumPy scalar."""
        return isinstance(self.array, np.generic)


class Eager(Domain[Evaluator]):
    """Calls NumPy. `printed` collects what the source prints."""

    deferred = False

    def __init__(self) -> None:
        self.printed = io.StringIO()
        self.made = Made(Block(), 2 << 30)
        self.live = 0
        self._known: weakref.WeakValueDictionary[int, Concrete] = weakref.WeakValueDictionary()

    # ---- values of the source as NumPy takes them, and back

    def plain(self, ev: Evaluator, node: ast.AST, value: Value) -> Any:
        """A value as a plain object of Python or NumPy. SourceError F408 if it has no such form."""
        match value:
            case Concrete():
                return value.array
            case NumberValue() | Complex():
                return value.value
            case List():
                items = [self.plain(ev, node, v) for v in value.items]
                return deque(items, value.most) if value.kind == "deque" else items
            case tuple():
                return tuple(self.plain(ev, node, v) for v in value)
            case Dict():
                return _as_kind(value, {k: self.plain(ev, node, v) for k, v in value.items.items()})
            case Set():
                check_order(ev, node, value)
                return frozenset(value.items) if value.frozen else value.items
            case RangeValue():
                ev.bounded(node, len(value.values), "a range")
                return value.values
            case Slice():
                return value.plain
            case Text():
                template, values = numbered(value.parts)
                return template.format(*(self.plain(ev, node, v) for v in values))
            case ForeignArray():
                return value.array
            case None | str() | bytes():
                return value
            case np.dtype():
                return value.type if is_scalar_type(value) else value
            case Library() if value.path in ("builtins.float", "builtins.int", "builtins.bool", "builtins.complex"):
                return dtype_of(ev, node, value)
            case _ if value is ELLIPSIS:
                return ...
            case _:
                return ev.fail("F408", node, f"expected an array or a number, found {words(value)}")

    def concrete(self, array: np.ndarray | np.generic) -> Concrete:
        """The one value that this array is: `x.squeeze()` may be x."""
        return self._known.get(id(array)) or self._known.setdefault(id(array), Concrete(array))

    def wrapped(self, ev: Evaluator, node: ast.AST, value: Any) -> Value:
        """Return a result of NumPy as a value of the source."""
        if isinstance(value, np.ndarray | np.generic):
            if value.dtype.name not in DTYPES:
                ev.fail("F403", node, f"an array of {value.dtype}", "arrays hold numbers and truth values")
            self._account(ev, node, value)
            return self.concrete(value)
        if isinstance(value, list):
            return List([self.wrapped(ev, node, v) for v in value])  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, tuple):
            return called.as_tuple([self.wrapped(ev, node, v) for v in value], value)  # pyright: ignore[reportUnknownVariableType]
        return (
            Complex(value) if isinstance(value, complex) else NumberValue(value) if isinstance(value, bool | int | float) else value
        )

    def _account(self, ev: Evaluator, node: ast.AST, value: np.ndarray | np.generic) -> None:
        """Refuses results that together would exhaust memory: a system that lends more than it has kills the process instead."""
        if value.nbytes <= _SMALL or not isinstance(value, np.ndarray) or value.base is not None or id(value) in self._known:
            return
        check_size(ev, node, value.shape, value.dtype)
        self.live += value.nbytes
        weakref.finalize(value, self._release, value.nbytes).atexit = False
        if self.live > MAX_LIVE:
            what = f"the arrays in use take more than {MAX_LIVE / (1 << 30):.3g} GiB"
            ev.fail("F603", node, what, "give large arrays as weights")

    def _release(self, size: int) -> None:
        self.live -= size

    @contextmanager
    def numpy_errors(self, ev: Evaluator, node: ast.AST) -> Yields[None]:
        """Turn NumPy's exceptions into errors with a place."""
        try:
            with np.errstate(all="ignore"):
                yield
        except _CAUSES as error:
            code = "F306" if isinstance(error, IndexError) else "F401" if isinstance(error, TypeError) else "F301"
            code = "F402" if isinstance(error, OverflowError) else "F603" if isinstance(error, MemoryError) else code
            ev.refuse(code, node, str(error).splitlines()[0] if str(error) else type(error).__name__, error)

    def fits(self, ev: Evaluator, node: ast.AST, *shapes: tuple[int, ...]) -> None:
        """Refuses a result that would exhaust memory."""
        for s in shapes:
            check_size(ev, node, s, np.dtype(float))
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            return  # NumPy says it better
        check_size(ev, node, shape, np.dtype(float))

    # ---- operators

    def binary(self, ev: Evaluator, node: ast.expr, op: str, lhs: ValueOperand, rhs: ValueOperand) -> Value:
        """NumPy's operator, if the result is not too large."""
        shapes = [v.shape for v in (lhs, rhs) if isinstance(v, TracedArray)]
        if op == "matmul" and all(len(s) > 1 for s in shapes) and len(shapes) == 2:
            self.fits(ev, node, (*shapes[0][:-1], shapes[1][-1]))
        elif op != "matmul":
            self.fits(ev, node, *shapes)
        with self.numpy_errors(ev, node):
            return self.wrapped(ev, node, _OPERATORS[op](self.plain(ev, node, lhs), self.plain(ev, node, rhs)))

    @property
    def spent(self) -> str:
        """Return "": everything is computed at once, without a limit."""
        return ""

    def elements_of(self, value: TracedArray) -> np.ndarray | None:
        """The array itself."""
        assert isinstance(value, Concrete)
        return np.asarray(value.array)

    def literal(self, ev: Evaluator, node: ast.AST, value: np.ndarray | np.generic) -> TracedArray:
        """The array itself."""
        return self.concrete(value)

    def replace(self, owner: TracedArray, array: np.ndarray) -> None:
        """The elements, in place."""
        assert isinstance(owner, Concrete)
        assert isinstance(owner.array, np.ndarray)
        owner.array[...] = array

    def unary(self, ev: Evaluator, node: ast.expr, op: str, value: TracedArray) -> Value:
        """NumPy's operator."""
        with self.numpy_errors(ev, node):
            return self.wrapped(ev, node, _UNARY[op](self.plain(ev, node, value)))

    def arithmetic(self, node: ast.expr, op: str, operands: Sequence[NumberValue], value: bool | int | float | None) -> NumberValue:
        """The number that Python computed."""
        return NumberValue(value)

    def update(self, ev: Evaluator, node: ast.AugAssign, op: str, owner: TracedArray, value: ValueOperand) -> Value:
        """Change the array in place."""
        assert isinstance(owner, Concrete)
        with self.numpy_errors(ev, node):
            result = _IN_PLACE[op](owner.array, self.plain(ev, node, value))
        return owner if result is owner.array else self.wrapped(ev, node, result)

    # ---- calls

    def call(self, ev: Evaluator, node: ast.Call, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """Call NumPy's function, after the checks that the compiler makes."""
        if path.startswith("numpy.random."):
            return draws.call(ev, node, path.removeprefix("numpy.random."), args, keywords)
        if path == "numpy.where" and len(args) == 1:
            path = "numpy.nonzero"
        keywords = {k: v for k, v in keywords.items() if not called.is_default(path, k, v)}
        if path not in FUNCTIONS:
            return self._directly(ev, node, path, args, keywords)
        try:
            bound = bind(ev, node, path.replace("numpy", "np", 1), FUNCTIONS[path], args, keywords)
        except SourceError as error:
            if not called.instead(error, path):
                raise
            return self._directly(ev, node, path, args, keywords)
        self._size(ev, node, path.removeprefix("numpy."), bound)
        if path == "numpy.lib.stride_tricks.as_strided":
            self._reaches(ev, node, bound)
        return self._called(ev, node, attrgetter(path.removeprefix("numpy."))(np), args, keywords)

    def _reaches(self, ev: Evaluator, node: ast.AST, bound: Mapping[str, Value]) -> None:
        """Refuse what `as_strided` would read outside of the memory of its array."""
        x = np.asarray(self.plain(ev, node, bound["x"]))
        whole = x
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        shape, steps = (ev.integers(node, bound[n], n) if bound.get(n) is not None else getattr(x, n) for n in ("shape", "strides"))
        first = (x.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) // x.itemsize
        layout.elements(ev, node, first, whole.size, shape, steps, x.itemsize)

    def _directly(self, ev: Evaluator, node: ast.expr, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """A function that programs call as it is: the same refusals, and the same results."""
        into, found, operands = called.prepared(ev, node, path, args, keywords)
        arrays = [self.plain(ev, node, o) for o in operands]
        try:
            called.checked(ev, node, found, [tensor_type(o.shape, o.dtype) for o in operands])
        except SourceError:
            result = called.decided(found, arrays)  # where values decide the type, NumPy knows it
            if result is None:
                raise
        else:
            with self.numpy_errors(ev, node):
                result = found.run(arrays)
        if not isinstance(into, Concrete):
            return self.wrapped(ev, node, result)
        self.store(ev, node, into, [ELLIPSIS], self.wrapped(ev, node, result))
        return into

    def _size(self, ev: Evaluator, node: ast.AST, name: str, bound: Mapping[str, Value]) -> None:
        """Refuses calls whose arguments alone make an array too large."""
        if name in create.MADE_SIZE:
            self.fits(ev, node, (create.made_size(name, {k: self.plain(ev, node, v) for k, v in bound.items()}),))
        elif "shape" in bound and name in ("zeros", "ones", "empty", "full", "broadcast_to"):
            self.fits(ev, node, ev.integers(node, bound["shape"], "shape"))
        elif name in ("tri", "eye", "identity"):
            rows = ev.integer(node, bound["N"], "N")
            self.fits(ev, node, (rows, rows if bound.get("M") is None else ev.integer(node, bound["M"], "M")))
        elif name == "linspace" and "num" in bound:
            self.fits(ev, node, (ev.integer(node, bound["num"], "num"),))
        elif name == "arange":
            numbers = [float(ev.static(v) or 0) for v in bound.values() if isinstance(v, NumberValue)]
            step = numbers[2] if len(numbers) > 2 else 1.0
            self.fits(ev, node, (int(min(abs(max(numbers) - min(0.0, *numbers)) / (abs(step) or 1), 2.0**40)),))
        elif name.endswith("split") and isinstance(bound["indices_or_sections"], NumberValue):
            ev.bounded(node, ev.integer(node, bound["indices_or_sections"], "the number of parts"), "a list")
        elif name == "diag":
            v = np.asarray(self.plain(ev, node, bound["v"]))
            self.fits(ev, node, (v.size + abs(int(ev.static(bound.get("k", NumberValue(0))) or 0)),) * (2 if v.ndim == 1 else 1))
        elif name in ("kron", "tensordot") or name.endswith(".outer"):
            self.fits(
                ev, node, tuple(np.asarray(self.plain(ev, node, v)).size for k, v in bound.items() if k in ("a", "b", "A", "B"))
            )
        elif name in ("tile", "repeat", "outer", "pad"):
            sizes = [np.asarray(self.plain(ev, node, v)) for k, v in bound.items() if k not in ("axis", "mode")]
            counts = [s.size if k in ("a", "b") else max(1, int(np.abs(s).max(initial=1))) ** s.size
                      for s, k in zip(sizes, [k for k in bound if k not in ("axis", "mode")], strict=True)]  # fmt: skip
            self.fits(ev, node, (min(math.prod(counts), 1 << 40),))

    def _called(self, ev: Evaluator, node: ast.AST, function: Any, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        with self.numpy_errors(ev, node):
            positional = [self.plain(ev, node, a) for a in args]
            return self.wrapped(ev, node, function(*positional, **{k: self.plain(ev, node, v) for k, v in keywords.items()}))

    def method(
        self, ev: Evaluator, node: ast.Call, owner: TracedArray, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value:
        """Call NumPy's method, after the checks that the compiler makes."""
        assert isinstance(owner, Concrete)
        path, owned = called.function_of(name, owner, args)
        keywords = {k: v for k, v in keywords.items() if not called.is_default(name, k, v)}
        if name not in METHODS:
            return self._directly(ev, node, path, owned, keywords)
        try:
            bound = bind(ev, node, f"`.{name}`", METHODS[name], [owner, *args], keywords)
        except SourceError as error:
            if not called.instead(error, path):
                raise
            return self._directly(ev, node, path, owned, keywords)
        self._size(ev, node, name, bound)
        return self._called(ev, node, getattr(owner.array, name), args, keywords)

    def draw(
        self, ev: Evaluator, node: ast.Call, owner: Generator, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value:
        """Draw by the recipe that the compiler would keep."""
        return draws.draw(ev, node, owner.stream, name, args, keywords)

    def single(self, ev: Evaluator, node: ast.AST, value: TracedArray) -> Value:
        """The drawn number itself."""
        known = ev.static(value)
        assert known is not None
        return NumberValue(known)

    def drawn(self, made: Static) -> TracedArray:
        """Draw the array by its recipe."""
        assert made.entry is not None
        if isinstance(made.entry, np.ndarray):
            return self.concrete(made.entry)
        array = np.array(made.entry.array)
        made.entry.forget()
        return self.concrete(array)

    def attribute(self, ev: Evaluator, node: ast.Attribute, owner: TracedArray) -> Value:
        """The attribute's value, or a method."""
        assert isinstance(owner, Concrete)
        if node.attr == "flat":
            return self.wrapped(ev, node, owner.array.reshape(-1))
        if node.attr in METHODS.keys() | called.METHODS | {"tobytes"}:
            return Method(owner, node.attr)
        if node.attr not in _ATTRIBUTES:
            supported = ", ".join(sorted({*METHODS, *called.METHODS, *_ATTRIBUTES}))
            ev.fail("F206", node, f"arrays have no supported attribute `{node.attr}`", f"supported are {supported}")
        return self.wrapped(ev, node, getattr(owner.array, node.attr))

    def convert(self, ev: Evaluator, node: ast.expr, value: Value, dtype: np.dtype) -> Value:
        """A NumPy scalar of the dtype."""
        with self.numpy_errors(ev, node):
            return self.wrapped(ev, node, dtype.type(self.plain(ev, node, value)))

    # ---- parts

    def load(self, ev: Evaluator, node: ast.Subscript, owner: TracedArray, index: Index) -> Value:
        """NumPy's view or copy."""
        assert isinstance(owner, Concrete)
        with self.numpy_errors(ev, node):
            return self.wrapped(
                ev, node, np.ndarray.__getitem__(np.asarray(owner.array), tuple(self.plain(ev, node, i) for i in index))
            )

    def store(self, ev: Evaluator, node: ast.expr, owner: TracedArray, index: Index, value: Value) -> None:
        """Assign to the part in place."""
        assert isinstance(owner, Concrete)
        if not isinstance(owner.array, np.ndarray):
            ev.fail("F504", node, "a NumPy scalar cannot be changed in place")
        with self.numpy_errors(ev, node):
            owner.array[tuple(self.plain(ev, node, i) for i in index)] = self.plain(ev, node, value)

    def elements(self, ev: Evaluator, node: ast.expr, owner: TracedArray) -> Iterator[Value]:
        """NumPy's rows, as views."""
        assert isinstance(owner, Concrete)
        return (self.wrapped(ev, node, v) for v in owner.array)  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]

    def known(self, owner: TracedArray) -> bool | int | float | None:
        """The value of an array of one element: it is there."""
        return owner.array.item() if isinstance(owner, Concrete) and owner.array.size == 1 else None

    # ---- effects and names

    def print(self, ev: Evaluator, node: ast.expr, parts: Sequence[Value], separator: str, end: str) -> None:
        """Print as Python does, under NumPy's options of now."""
        with np.printoptions(**print_options.options(ev, node)):
            shown: list[Any] = []
            for p in parts:
                if not isinstance(p, TracedArray):
                    ev.parts(node, p)  # the same refusals as everywhere
                shown.append(self._text(ev, node, p) if _holds_objects(p) else self.plain(ev, node, p))
            print(*shown, sep=separator, end=end, file=self.printed)
        ev.bounded(node, self.printed.tell(), "an output")

    def _text(self, ev: Evaluator, node: ast.AST, value: Value) -> str:
        """The text of what holds objects of the file's classes."""
        template, values = numbered(ev.parts(node, value))
        return template.format(*(self.plain(ev, node, v) for v in values))

    def named(self, value: Value, variable: str, depth: int) -> None:
        """Do nothing: nobody asks for names."""


def _as_kind(value: Dict, items: dict[Any, Any]) -> dict[Any, Any]:
    """The value as a Python dict, defaultdict or Counter, for printing."""
    if value.kind == "Counter":
        return Counter(items)
    if value.kind == "OrderedDict":
        return OrderedDict(items)
    if value.kind == "defaultdict":
        name = value.default.path.removeprefix("builtins.") if isinstance(value.default, Library) else ""
        return defaultdict(getattr(builtins, name, None), items)
    return items


def _holds_objects(value: Value) -> bool:
    if isinstance(value, ObjectInstance | NamedTupleValue | Library | Slice | RecordKey | ObjectKey):
        return True
    if isinstance(value, Set):
        return any(isinstance(p, RecordKey | ObjectKey | ObjectInstance) for p in value.items)
    if isinstance(value, Dict):
        return any(_holds_objects(v) for pair in value.items.items() for v in pair)
    parts = value.items if isinstance(value, List) else value
    return isinstance(parts, list | tuple) and any(_holds_objects(v) for v in parts)
