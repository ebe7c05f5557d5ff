"""NumPy's functions between text and arrays: of what is known while the source is read."""

from __future__ import annotations

import ast
import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fleet.frontend.arrays import foreign
from fleet.frontend.arrays.arguments import dtype_of, to_array
from fleet.frontend.arrays.functions import print_options
from fleet.frontend.arrays.making import check_size
from fleet.frontend.reading.data_files import is_path, text_of, write
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import known
from fleet.frontend.reading.values import ForeignArray, Library, List, NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words

_FORMATS = frozenset(
    {"max_line_width", "precision", "suppress_small", "separator", "prefix", "suffix", "threshold", "edgeitems", "sign"}
    | {"floatmode", "formatter"}
)
_READERS = frozenset({"delimiter", "comments", "skiprows", "skip_header", "usecols", "dtype", "unpack", "ndmin", "missing_values",
                      "filling_values", "max_rows"})  # fmt: skip
_MOST_DIGITS = 1 << 12


def array_of(ev: Evaluator, node: ast.Call, value: Value, what: str) -> np.ndarray:
    """The elements of a known array. SourceError F404 for one of the run."""
    found = to_array(ev, node, value)
    plain = ev.domain.elements_of(found) if isinstance(found, TracedArray) else None
    if plain is None:
        ev.fail("F404", node, f"{what} of {words(value)}, whose elements only the run knows", "print the array itself")
    return plain


def _shown(path: str) -> Callable[..., Value]:
    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        if not args or keywords.keys() - _FORMATS or (len(args) > 1 and path == "array2string"):
            ev.fail("F506", node, f"{path} with these arguments is not supported", f"known are {', '.join(sorted(_FORMATS))}")
        x = args[0].array if isinstance(args[0], ForeignArray) else array_of(ev, node, args[0], path)
        rest = [known(ev, node, a, f"an argument of {path}") for a in args[1:]]
        options = {k: known(ev, node, v, k) for k, v in keywords.items() if k != "formatter"}
        if "formatter" in keywords:
            options["formatter"] = (
                print_options.callbacks(ev, node, print_options.formatter_of(ev, node, keywords["formatter"])) or None
            )
        try:
            with np.printoptions(**print_options.options(ev, node)):
                return str(getattr(np, path)(x, *rest, **options))
        except (TypeError, ValueError) as error:
            return ev.fail("F703", node, f"{path}: {error}")

    return run


def _digits(path: str) -> Callable[..., Value]:
    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        given = [known(ev, node, a, f"an argument of {path}") for a in args]
        named = {k: known(ev, node, v, k) for k, v in keywords.items()}
        if any(isinstance(g, int) and abs(g) > _MOST_DIGITS for g in (*given[1:], *named.values())):
            ev.fail("F607", node, f"{path} of more than {_MOST_DIGITS} digits")
        try:
            return getattr(np, path)(*given, **named)
        except (TypeError, ValueError) as error:
            return ev.fail("F703", node, f"{path}: {error}")

    return run


def _read(path: str) -> Callable[..., Value]:
    """`loadtxt` and `genfromtxt` of known lines, or of a file that is there."""

    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        given = args[0] if args else None
        lines = text_of(ev, node, given).splitlines() if is_path(given) else known(ev, node, given, f"the lines of {path}")
        if not isinstance(lines, list) or len(args) > 1 or keywords.keys() - _READERS:
            ev.fail("F506", node, f"{path} with these arguments is not supported", "give lines of text, or weights and inputs")
        named: dict[str, Any] = {k: known(ev, node, v, k) for k, v in keywords.items() if k != "dtype"}
        if "dtype" in keywords:
            named["dtype"] = dtype_of(ev, node, keywords["dtype"])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = getattr(np, path)(lines, **named)
        except (TypeError, ValueError, IndexError) as error:
            ev.fail("F703", node, f"{path}: {error}")
        return ev.domain.literal(ev, node, np.array(found, order="C"))

    return run


def _savetxt(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`savetxt` of known numbers into an `io.StringIO`; a file is not written."""
    into = args[0] if args else None
    if is_path(into):
        write(ev, node, into)
        return None
    if not isinstance(into, List) or into.kind != "StringIO" or len(args) < 2 or keywords.keys() - _WRITERS:
        ev.fail("F506", node, "savetxt with these arguments is not supported", "write into an io.StringIO, or print")
    x = array_of(ev, node, args[1], "savetxt")
    given = dict(zip(("fmt", "delimiter", "newline"), args[2:], strict=False)) | dict(keywords)
    written = io.StringIO()
    try:
        np.savetxt(written, x, **{k: known(ev, node, v, k) for k, v in given.items()})
    except (TypeError, ValueError, AttributeError) as error:
        ev.fail("F703", node, f"savetxt: {error}")
    into.items += written.getvalue().splitlines(keepends=True)
    ev.bounded(node, len(into.items), "a text")
    return None


_WRITERS = frozenset({"fmt", "delimiter", "newline", "header", "footer", "comments"})


def _fromstring(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """Numbers of a known text."""
    given = dict(zip(("string", "dtype"), args, strict=False)) | dict(keywords)
    text, separator = given.get("string"), given.get("sep")
    if not isinstance(text, str) or not isinstance(separator, str) or not separator or given.keys() - {"string", "dtype", "sep"}:
        ev.fail("F506", node, "fromstring with these arguments is not supported", "give a text, and sep=' '")
    dtype = dtype_of(ev, node, given["dtype"]) if "dtype" in given else np.dtype(float)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            found = np.fromstring(text, dtype, sep=separator)
    except (TypeError, ValueError, DeprecationWarning) as error:
        ev.fail("F703", node, f"fromstring: {error}")
    return ev.domain.literal(ev, node, found)


def _frombuffer(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """Numbers out of known bytes."""
    given = dict(zip(("buffer", "dtype", "count", "offset"), args, strict=False)) | dict(keywords)
    data = given.get("buffer")
    if not isinstance(data, bytes) or given.keys() - {"buffer", "dtype", "count", "offset"}:
        ev.fail("F506", node, "frombuffer with these arguments is not supported", "give bytes and a dtype")
    named = given.get("dtype", Library("builtins.float"))
    dtype = foreign.dtype(ev, node, named) or dtype_of(ev, node, named)  # also of records, and of another byte order
    try:
        count, offset = (ev.integer(node, given.get(k, NumberValue(n)), k) for k, n in (("count", -1), ("offset", 0)))
        found = np.frombuffer(data, dtype if dtype.names else np.dtype(dtype.str), count, offset)
    except ValueError as error:
        ev.fail("F703", node, f"frombuffer: {error}")
    return foreign.value(ev, node, found.copy())


def _fromiter(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """An array of what an iterator gives."""
    given = dict(zip(("iter", "dtype", "count"), args, strict=False)) | dict(keywords)
    if given.keys() - {"iter", "dtype", "count"} or not {"iter", "dtype"} <= given.keys():
        ev.fail("F506", node, "fromiter with these arguments is not supported", "np.fromiter(values, dtype)")
    values = ev.collect(node, given["iter"])
    count = ev.integer(node, given["count"], "count") if "count" in given else -1
    if count > len(values):
        ev.fail("F703", node, f"fromiter of {len(values)} values, {count} are asked for")
    check_size(ev, node, (len(values),), np.dtype(float))
    return ev.domain.call(ev, node, "numpy.array", [List(values if count < 0 else values[:count])], {"dtype": given["dtype"]})


TEXTS: Mapping[str, Callable[..., Value]] = {
    **{f"numpy.{n}": _shown(n) for n in ("array2string", "array_str", "array_repr")},
    **{f"numpy.{n}": _digits(n) for n in ("binary_repr", "base_repr", "format_float_positional", "format_float_scientific")},
    **{f"numpy.{n}": _read(n) for n in ("loadtxt", "genfromtxt")},
    "numpy.fromstring": _fromstring,
    "numpy.savetxt": _savetxt,
    "numpy.frombuffer": _frombuffer,
    "numpy.fromiter": _fromiter,
}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
