"""NumPy's functions that programs call as they are (`fleet.ir.library`)."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from fleet.errors import SourceError
from fleet.frontend.arrays.arguments import dtype_of, to_array
from fleet.frontend.arrays.emitting import builder_of, known_array
from fleet.frontend.arrays.making import static
from fleet.frontend.arrays.memory import change, check_writable
from fleet.frontend.arrays.operands import array
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import (
    Class,
    ClassField,
    Complex,
    Library,
    List,
    NamedTupleValue,
    NumberValue,
    RangeValue,
    TracedArray,
    Value,
)
from fleet.frontend.reading.wording import words
from fleet.ir.library.call import CallOperand, LibraryCall, is_callable
from fleet.ir.library.expand import has_sequence
from fleet.ir.library.inference import CallError, ResultLeaf, results
from fleet.ir.shapes import UNKNOWN, InferenceError
from fleet.ir.types import DTYPES

ARRAYS_ALONE: Mapping[str, int] = {
    **dict.fromkeys(("diag_indices_from", "dsplit", "fill_diagonal", "hsplit", "rollaxis", "split", "tril_indices_from"), 1),
    **dict.fromkeys(("triu_indices_from", "unstack", "vsplit"), 1), "put_along_axis": 2, "take_along_axis": 2,
}  # fmt: skip
"""Functions of NumPy that ask their first arguments for attributes of an array, so that no number and no list takes its place."""
_INSTEAD = frozenset({"F208", "F302", "F401", "F404", "F405", "F501", "F506"})
"""Errors of a rule that covers less than NumPy's function: the function itself may take the call."""
_CODES: Sequence[tuple[type[Exception], str]] = (
    (np.exceptions.AxisError, "F305"), (IndexError, "F306"), (OverflowError, "F402"), (MemoryError, "F603"), (TypeError, "F401"),
    (Exception, "F301"),
)  # fmt: skip
"""Exception of NumPy -> code of the error."""
_MOST_WORDS = 512
"""Numbers of a list that stand in the call itself; longer ones are weights."""


def check_arrays(ev: Evaluator, node: ast.expr, path: str, args: Sequence[Value], named: Mapping[str, Value]) -> None:
    """SourceError F206 for a number or a list where NumPy takes an array alone. named: the arguments that are given by name."""
    name = path.removeprefix("numpy.")
    if not (count := ARRAYS_ALONE.get(name, 0)):
        return
    first = list(inspect.signature(getattr(np, name)).parameters)[:count]
    for value in (*args[:count], *(named[n] for n in first if n in named)):
        if value is None or isinstance(value, NumberValue | Complex | List | RangeValue | tuple):
            ev.fail("F206", node, f"{words(value)} has no ndim", "make it an array: np.asarray(...)")


def takes(path: str) -> bool:
    """Return whether the program may call the library's function as it is."""
    return path.startswith("numpy.") and is_callable(path.removeprefix("numpy."))


def instead(error: SourceError, path: str) -> bool:
    """Return whether NumPy's own function may take what a rule of the front end refuses."""
    return error.code in _INSTEAD and takes(path)


_METHODS = """all any argmax argmin argpartition argsort choose clip compress conj conjugate cumprod cumsum diagonal dot flatten max
    mean min nonzero prod ravel repeat reshape round searchsorted squeeze std sum swapaxes take trace transpose var"""
METHODS = frozenset(_METHODS.split())
"""Methods of arrays that are functions of NumPy with the array as the first argument."""


def function_of(name: str, owner: TracedArray, args: Sequence[Value]) -> tuple[str, list[Value]]:
    """The function that does what a method does, and its arguments."""
    if name in ("reshape", "transpose") and len(args) > 1:
        args = [tuple(args)]
    if name == "compress" and args:  # the function's array is its second argument
        return "numpy.compress", [args[0], owner, *args[1:]]
    return f"numpy.{'ravel' if name == 'flatten' else name}" if name in METHODS else "", [owner, *args]


_DEFAULTS: Mapping[str, tuple[Any, ...]] = {
    "out": (None,), "where": (True,), "subok": (True, False), "keepdims": (False,), "dtype": (None,), "copy": (True, None),
    "like": (None,), "device": (None, "cpu"), "overwrite_input": (False,), "optimize": (False,), "ndmin": (0,), "order": (None,),
    "wrap": (False,), "unique": (False,), "assume_unique": (False,),
}  # fmt: skip
"""Values of arguments that say what would be done without them."""
_IN_C_ORDER = frozenset({"zeros", "ones", "full", "empty", "eye", "identity", "reshape", "ravel", "flatten"})


@cache
def _keywords(name: str) -> frozenset[str] | None:
    """The parameters of a function of NumPy; None if they are unknown, or it takes any keyword."""
    try:
        parameters = inspect.signature(attrgetter(name)(np)).parameters
    except (AttributeError, TypeError, ValueError):
        return None
    return None if any(p.kind is p.VAR_KEYWORD for p in parameters.values()) else frozenset(parameters)


def is_default(path: str, name: str, value: Value) -> bool:
    """Return whether an argument of a function or method is one that it has, and says nothing."""
    parameters = _keywords(path.removeprefix("numpy."))  # a method has those of the function of its name
    if parameters is not None and name not in parameters:
        return False
    plain = value.value if isinstance(value, NumberValue) and not value.symbolic else value
    if name == "order" and isinstance(plain, str):
        return plain == ("C" if path.rpartition(".")[2] in _IN_C_ORDER else "K")
    return any(plain is d or (isinstance(d, str) and plain == d) for d in _DEFAULTS.get(name, ()))


class _Arguments:
    """A call's arguments as `LibraryCall` has them, and the arrays among them."""

    def __init__(self, ev: Evaluator, node: ast.expr) -> None:
        self.ev, self.node = ev, node
        self.operands: list[TracedArray] = []

    def of(self, value: Value) -> Any:
        """An operand, a number, a text, or a sequence of them."""
        match value:
            case TracedArray():
                return self._operand(value)
            case NumberValue():
                if value.symbolic:
                    self.ev.unknown(self.node, "a call of NumPy's function with a size that only the run knows")
                if isinstance(value.value, int) and value.value.bit_length() > 63:
                    self.ev.fail("F605", self.node, "an integer of more than 64 bits")
                return value.value
            case List() | RangeValue() | tuple():
                parts = self.ev.sequence(value) or ()
                whole = len(parts) > _MOST_WORDS and not any(isinstance(p, TracedArray) for p in parts)
                if whole or any(isinstance(p, Complex) for p in parts):
                    made = to_array(self.ev, self.node, value)
                    assert isinstance(made, TracedArray)
                    return self._operand(made)
                made = [self.of(v) for v in parts]
                return tuple(made) if isinstance(value, tuple) else made
            case None | str():
                return value
            case np.dtype() | Library(path="builtins.float" | "builtins.int" | "builtins.bool" | "builtins.complex"):
                return dtype_of(self.ev, self.node, value).name
            case _:
                return self.ev.fail("F408", self.node, f"an argument that is {words(value)}", "pass arrays and numbers")

    def _operand(self, value: TracedArray) -> CallOperand:
        for i, known in enumerate(self.operands):
            if known is value:
                return CallOperand(i)
        self.operands.append(value)
        return CallOperand(len(self.operands) - 1)


def prepared(
    ev: Evaluator, node: ast.expr, path: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> tuple[TracedArray | None, LibraryCall, list[TracedArray]]:
    """The array that takes the result (`out`), the call, and its operands."""
    into = keywords.get("out")
    if isinstance(into, tuple) and len(into) == 1:
        (into,) = into
    if into is not None and (not isinstance(into, TracedArray) or into.scalar):
        ev.fail("F506", node, f"out={words(into)} is not supported", "give an array")
    arguments = _Arguments(ev, node)
    plain = tuple(arguments.of(a) for a in args)
    given = {**keywords, "out": into} if into is not None else keywords
    named = tuple((k, arguments.of(v)) for k, v in given.items())
    return into, LibraryCall(path.removeprefix("numpy."), plain, named), arguments.operands


def call(ev: Evaluator, node: ast.expr, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """The function's result: one operation an array of it. SourceError if NumPy refuses such operands."""
    if path == "numpy.trim_zeros" and args and not isinstance(args[0], TracedArray):
        return _trimmed(ev, node, args[0], args[1] if len(args) > 1 else keywords.get("trim", "fb"))
    into, found, operands = prepared(ev, node, path, args, keywords)
    if not operands:
        operands, found = _constants(ev, node, found)
    text = str(found)
    try:
        structure = checked(ev, node, found, [o.ssa.type for o in operands])
    except SourceError:
        known = [known_array(ev, o) for o in operands]
        if into is not None or any(k is None for k in known) or (value := decided(found, known)) is None:
            raise
        return _made(ev, node, value)
    caught = bool(ev.catching) and found.function.startswith("linalg.")  # whether it raises decides what is computed
    if into is None and (caught or not has_sequence(found.function) or any(UNKNOWN in leaf.shape for leaf in _leaves(structure))):
        known = [known_array(ev, o) for o in operands]
        arrays = [k for k in known if k is not None]
        if len(arrays) == len(operands):  # so is what they decide, and what not every target computes
            return _made(ev, node, _run(ev, node, found, arrays))
    if into is not None:
        check_writable(ev, node, into)
        change(ev, node, into, _emitted(ev, node, text, operands, 0))
        return into
    return _built(ev, node, text, operands, structure, [0])


def _trimmed(ev: Evaluator, node: ast.expr, value: Value, trim: Value) -> Value:
    """`trim_zeros` of a list, which stays one."""
    plain = [ev.static(v) for v in value.items] if isinstance(value, List) else [None]
    if not isinstance(value, List) or None in plain:
        ev.fail("F506", node, f"trim_zeros of {words(value)} is not supported", "make it an array")
    kept = [i for i, n in enumerate(plain) if n]
    first, last = (kept[0], kept[-1] + 1) if kept else (len(plain), 0)
    sides = str(trim).lower()
    return List(value.items[first if "f" in sides else 0 : last if "b" in sides else None])


def _run(ev: Evaluator, node: ast.expr, found: LibraryCall, arrays: Sequence[object]) -> Any:
    """Return NumPy's result for known values. Raises SourceError F703 with NumPy's exception."""
    try:
        return found.run(arrays)
    except (ArithmeticError, ValueError, LookupError, TypeError) as error:
        return ev.fail("F703", node, f"{found.function}: {error}")


def decided(found: LibraryCall, arrays: Sequence[object]) -> Any:
    """Return the result of a call whose type these values decide; None if NumPy refuses them or returns no array."""
    try:
        found.check(len(arrays))
        value = found.run(arrays)
    except Exception:  # the error of `checked` says it with its place
        return None
    parts = value if isinstance(value, tuple | list) else [value]
    carried = all(np.asarray(p).dtype.name in DTYPES for p in parts)  # pyright: ignore[reportUnknownVariableType]
    return value if carried else None


def checked(ev: Evaluator, node: ast.expr, found: LibraryCall, types: Sequence[Attribute]) -> Any:
    """The structure of what the call gives. SourceError if NumPy refuses such operands."""
    try:
        return results(str(found), types)
    except InferenceError as error:
        refusal = error.refusal if isinstance(error, CallError) else None
        code = next(code for kind, code in _CODES if isinstance(refusal or TypeError(), kind))
        return ev.fail(code, node, str(error)) if refusal is None else ev.refuse(code, node, str(error), refusal)


def _constants(ev: Evaluator, node: ast.expr, found: LibraryCall) -> tuple[list[TracedArray], LibraryCall]:
    """A call of numbers alone gets its first one as a constant: an operation without operands would be no part of the program."""
    if not found.arguments or not isinstance(found.arguments[0], bool | int | float | list | tuple):
        ev.fail("F506", node, f"{found.function} without an array is not supported")
    parts = _as_value(found.arguments[0])
    constant = array(ev, node, parts)
    return [constant], LibraryCall(found.function, (CallOperand(0), *found.arguments[1:]), found.keywords)


def _as_value(plain: Any) -> Value:
    if isinstance(plain, list | tuple):
        return tuple(_as_value(p) for p in plain)  # pyright: ignore[reportUnknownVariableType]
    return NumberValue(plain)


def _leaves(structure: Any) -> Iterator[ResultLeaf]:
    if isinstance(structure, ResultLeaf):
        yield structure
    else:
        for part in structure:
            yield from _leaves(part)


def _made(ev: Evaluator, node: ast.expr, value: object) -> Value:
    """Return the result of a call while the source is read."""
    if isinstance(value, tuple | list):
        parts = [_made(ev, node, v) for v in value]  # pyright: ignore[reportUnknownVariableType]
        return List(parts) if isinstance(value, list) else as_tuple(parts, value)
    found = np.asarray(value)
    return static(ev, node, np.array(found, order="C"), "array", scalar=not isinstance(value, np.ndarray))


def _built(ev: Evaluator, node: ast.AST, text: str, operands: Sequence[TracedArray], structure: Any, count: list[int]) -> Value:
    if isinstance(structure, ResultLeaf):
        ssa = _emitted(ev, node, text, operands, count[0])
        count[0] += 1
        if structure.shares is not None:
            return operands[structure.shares].view(ssa)
        return TracedArray(ssa, scalar=structure.scalar)
    parts = [_built(ev, node, text, operands, part, count) for part in structure]
    if isinstance(structure, list):
        return List(parts)
    return as_tuple(parts, structure)


def as_tuple(parts: Sequence[Value], like: object) -> Value:
    """A tuple, or a named one with the fields of NumPy's."""
    names = getattr(like, "_fields", None)
    if names is None:
        return tuple(parts)
    return NamedTupleValue.of(Class(type(like).__name__, kind="namedtuple", fields={n: ClassField() for n in names}), parts)


def _emitted(ev: Evaluator, node: ast.AST, text: str, operands: Sequence[TracedArray], output: int) -> Any:
    return builder_of(ev).emit(node, "numpy", [o.ssa for o in operands], call=text, output=output)
