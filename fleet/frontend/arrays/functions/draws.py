"""`np.random`: a draw is a recipe at its position in the stream; the numbers are made on first use."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fleet.frontend.arrays.arguments import dtype_of
from fleet.frontend.arrays.functions import texts
from fleet.frontend.arrays.making import check_size, check_total, static
from fleet.frontend.arrays.parts import late_element
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.rounds import RoundDraw
from fleet.frontend.reading.static import Static
from fleet.frontend.reading.values import Generator, List, NumberValue, RangeValue, TracedArray, Value
from fleet.frontend.reading.wording import words
from fleet.ir.weights import VECTORS, RandomStream, StreamDraw, draw_method

_WHOLE = ("randint", "integers", "permutation", "choice", "poisson", "binomial", "geometric", "negative_binomial", "multinomial",
          "hypergeometric", "zipf", "logseries")  # fmt: skip
"""Methods that draw integers."""
_OTHERS = "other draws are made beforehand and given as weights"


def call(ev: Evaluator, node: ast.Call, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`np.random.NAME(...)`: seed, make a generator, or draw from the seeded one."""
    if name == "Generator" and len(args) == 1 and not keywords and isinstance(args[0], Generator):
        return args[0]  # what `default_rng` makes of the same seed
    if name in ("seed", "RandomState", "default_rng", "PCG64"):
        seed = _seed(ev, node, name, args, keywords)
        stream = RandomStream("default_rng" if name in ("default_rng", "PCG64") else "RandomState", seed)
        if name != "seed":
            ev.streams.add(stream)
            return Generator(stream)
        ev.random, ev.lost = stream, None
        return None
    if ev.lost is not None:
        raise ev.lost
    if ev.random is None:
        ev.fail("F507", node, f"np.random.{name} without a seed gives other numbers on every run", "call np.random.seed(0) before")
    return draw(ev, node, ev.random, name, args, keywords)


def _seed(ev: Evaluator, node: ast.Call, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> int:
    values = [*args, *keywords.values()]
    if len(values) != 1 or values[0] is None:
        ev.fail("F507", node, f"np.random.{name} needs one seed", "give an integer: other numbers on every run cannot be compared")
    seed = ev.integer(node, values[0], "a seed")
    if not 0 <= seed < 1 << (32 if name not in ("default_rng", "PCG64") else 128):
        ev.fail("F402", node, f"the seed {seed} is out of range")
    return seed


def draw(
    ev: Evaluator, node: ast.Call, stream: RandomStream, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """Read one draw. The result is an array made on first use, or a number if no size is given."""
    if name not in ("shuffle", "permutation", "choice"):
        return _drawn(ev, node, stream, name, args, keywords)
    of, given = _asked(ev, node, name, args, keywords)
    several = isinstance(of, TracedArray | List | tuple | RangeValue) and not (isinstance(of, TracedArray) and not of.shape)
    if name != "choice" and several:
        return _in_order(ev, node, stream, name, of)
    if several or given.get("p") is not None:
        count = _length(ev, node, of) if several else ev.integer(node, of, "choice: a")
        rest = {k: v for k, v in given.items() if k != "p"}
        weights = given.get("p")
        places = (
            _drawn(ev, node, stream, "choice", [NumberValue(count)], rest)
            if weights is None
            else _weighted(ev, node, stream, count, weights, rest)
        )
        return _elements(ev, node, of, places) if several else places
    return _drawn(ev, node, stream, name, args, keywords)


def _asked(
    ev: Evaluator, node: ast.Call, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> tuple[Value, dict[str, Value]]:
    """Split the arguments into the population and the options."""
    names = ("a", "size", "replace", "p") if name == "choice" else ("x",)
    given = dict(zip(names, args, strict=False)) | dict(keywords)
    unknown = [k for k in given if k not in names]
    if unknown or len(args) > len(names) or names[0] not in given:
        ev.fail("F506", node, f"{name} with these arguments is not supported", f"its arguments are {', '.join(names)}")
    return given.pop(names[0]), given


def _elements(ev: Evaluator, node: ast.Call, of: Value, places: Value) -> Value:
    whole = of if isinstance(of, TracedArray) else ev.domain.call(ev, node, "numpy.asarray", [of], {})
    assert isinstance(whole, TracedArray)
    return ev.domain.load(ev, _subscript(node), whole, [places])


def _length(ev: Evaluator, node: ast.AST, value: Value) -> int:
    if isinstance(value, TracedArray):
        if value.shape[0] < 0:
            ev.unknown(node, "a draw of an array whose length only the run knows")
        return value.shape[0]
    return len(ev.sequence(value) or ())


def _in_order(ev: Evaluator, node: ast.Call, stream: RandomStream, name: str, of: Value) -> Value:
    """`shuffle` and `permutation` of a sequence: permute it by NumPy's permutation of its length."""
    places, _ = _made(ev, node, stream, "permutation", [NumberValue(_length(ev, node, of))], {})
    if name == "shuffle" and isinstance(of, List):
        if not isinstance(places, Static) or not isinstance(places.entry, StreamDraw):
            ev.fail("F511", node, "a list is shuffled in a loop whose rounds the run repeats", "shuffle an array")
        of.items[:] = [of.items[int(i)] for i in places.entry.array]
        return None
    moved = _elements(ev, node, of, _array(ev, places))
    if name == "permutation":
        return moved
    if not isinstance(of, TracedArray):
        ev.fail("F408", node, f"shuffle of {words(of)}", "it changes an array or a list")
    ev.domain.store(ev, node, of, [], moved)
    return None


def _weighted(ev: Evaluator, node: ast.Call, stream: RandomStream, count: int, weights: Value, rest: Mapping[str, Value]) -> Value:
    """`choice` with probabilities, by NumPy's algorithm: search uniform draws in the cumulative sums."""
    if _length(ev, node, weights) != count:
        ev.fail("F301", node, f"{count} things to choose of, with {_length(ev, node, weights)} probabilities")
    if "replace" in rest and not ev.flag(node, rest["replace"], "replace"):
        ev.fail("F506", node, "choice with p= and replace=False is not supported", "draw with replacement")
    method = "random" if stream.generator == "default_rng" else "random_sample"
    sums = ev.domain.call(ev, node, "numpy.cumsum", [weights], {"dtype": np.dtype(float)})
    assert isinstance(sums, TracedArray)
    last = ev.domain.load(ev, _subscript(node), sums, [NumberValue(-1)])
    assert isinstance(last, TracedArray)
    scaled = ev.domain.binary(ev, node, "div", sums, last)
    size = rest.get("size")
    uniform = _drawn(ev, node, stream, method, [], {"size": NumberValue(1) if size is None else size})
    found = ev.domain.call(ev, node, "numpy.searchsorted", [scaled, uniform], {"side": "right"})
    return found if size is not None else _number(ev, node, found)


def _subscript(node: ast.Call) -> ast.Subscript:
    """A subscript node at the call's position, for error messages."""
    zero = ast.copy_location(ast.Constant(0), node)
    return ast.copy_location(ast.Subscript(node.func, zero, ast.Load()), node)


def _number(ev: Evaluator, node: ast.Call, row: Value) -> Value:
    """The element of a one-element array as a Python number."""
    element = _element(ev, node, row)
    assert isinstance(element, TracedArray)
    return ev.domain.single(ev, node, element)


def _element(ev: Evaluator, node: ast.Call, row: Value) -> Value:
    assert isinstance(row, TracedArray)
    return ev.domain.load(ev, _subscript(node), row, [NumberValue(0)])


def _drawn(
    ev: Evaluator, node: ast.Call, stream: RandomStream, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """Draw numbers: an array, or one number if no size is given."""
    made, single = _made(ev, node, stream, name, args, keywords)
    found = _array(ev, made)
    if not single:
        return found
    numpy_s = (stream.generator == "default_rng" and name == "integers") or "dtype" in keywords
    return _element(ev, node, found) if numpy_s else _number(ev, node, found)


def _made(
    ev: Evaluator, node: ast.Call, stream: RandomStream, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> tuple[TracedArray, bool]:
    """Return the numbers that are drawn, and whether a single one was asked for."""
    parameters = draw_method(stream.generator, name)
    if stream in ev.spent:
        raise ev.spent[stream]
    outside = ev.inside and stream not in ev.streams
    if outside and ev.drawing is None:
        what = "a generator from outside draws in a part that only the run enters or repeats"
        ev.fail("F511", node, what, "draw before it, as many numbers as it can need, and take them by a counter")
    if parameters is None:
        ev.fail("F205", node, f"drawing with `{name}` is not supported", _OTHERS)
    if parameters == ():
        if keywords:
            ev.fail("F506", node, f"{name} takes dimensions only")
        shape = tuple(ev.integer(node, a, "a dimension") for a in args)
        plain: list[Any] = list(shape)
        options: dict[str, Any] = {}
    else:
        plain, options, shape = _bound(ev, node, name, parameters, args, keywords)
    single = not shape and (not plain if parameters == () else "size" in parameters and options.get("size") is None)
    if single:
        shape = (1,)
        if parameters:
            options["size"] = shape
        else:
            plain = [1]
    _check(ev, node, shape)
    if name == "choice":
        check_size(ev, node, (ev.integer(node, NumberValue(options.get("a", 0)), "a"),), np.dtype(np.int64))
    dtype = np.dtype(options.get("dtype") or ("int64" if name in _WHOLE else "float64"))
    _bounds(ev, node, name, plain, options, dtype)
    made = ev.domain.made  # pyright: ignore[reportAttributeAccessIssue]
    if outside:
        return _in_round(ev, node, RoundDraw(stream, name, plain, options, shape, dtype)), single
    recipe = stream.draw(name, plain, options, shape, dtype)
    made.total += math.prod(shape) * dtype.itemsize
    check_total(ev, node)
    return Static(made, recipe, name), single


def _array(ev: Evaluator, made: TracedArray) -> TracedArray:
    """The numbers of a draw, or of the round that draws."""
    return ev.domain.drawn(made) if isinstance(made, Static) else made


def _in_round(ev: Evaluator, node: ast.Call, draw: RoundDraw) -> TracedArray:
    """Return the draws of this round of a loop of the run: its part of the numbers of all rounds."""
    assert ev.drawing is not None
    made = static(ev, node, ev.drawing.array(draw), draw.method, scalar=False)
    place = ev.domain.arithmetic(node, "sub", [ev.drawing.number, NumberValue(ev.drawing.first)], None)
    return late_element(ev, node, made, place)


def _bound(
    ev: Evaluator, node: ast.Call, name: str, parameters: tuple[str, ...], args: Sequence[Value], keywords: Mapping[str, Value]
) -> tuple[list[Any], dict[str, Any], tuple[int, ...]]:
    if len(args) > len(parameters):
        ev.fail("F208", node, f"{name} takes at most {len(parameters)} arguments")
    options: dict[str, Any] = {}
    shape: tuple[int, ...] = ()
    for parameter, value in [*zip(parameters, args, strict=False), *keywords.items()]:
        if parameter not in parameters:
            ev.fail("F506", node, f"{name} with `{parameter}=` is not supported", f"its arguments are {', '.join(parameters)}")
        if parameter in options:
            ev.fail("F208", node, f"{name} gets `{parameter}` twice")
        if parameter == "size":
            if value is not None:
                shape = options["size"] = ev.integers(node, value, "size")
        elif parameter == "dtype":
            options["dtype"] = dtype_of(ev, node, value).name
        elif parameter == "x":
            options["x"] = ev.integer(node, value, "the argument of permutation")
            shape = (options["x"],)
        elif parameter == "high" and value is None:
            continue
        else:
            options[parameter] = _parameter(ev, node, name, parameter, value)
    return [], options, _shape(ev, node, name, options, shape)


def _parameter(ev: Evaluator, node: ast.Call, name: str, parameter: str, value: Value) -> Any:
    """A number, or tuples of numbers for an array of them."""
    number = ev.static(value)
    if number is not None and (parameter != VECTORS.get(name) or not isinstance(value, TracedArray)):
        return number
    several = isinstance(value, TracedArray | List | tuple | RangeValue) and name not in (
        "permutation",
        "choice",
        "randint",
        "integers",
    )
    array = texts.array_of(ev, node, value, f"{name}: {parameter}") if several else None
    if array is None or array.size > _MOST_PARAMETERS or array.dtype.kind not in "iuf":
        ev.fail("F404", node, f"{name}: {parameter} must be a number known from the source, found {words(value)}", _OTHERS)
    return _nested(array.tolist())


def _nested(plain: object) -> Any:
    return tuple(_nested(p) for p in plain) if isinstance(plain, list) else plain  # pyright: ignore[reportUnknownVariableType]


_MOST_PARAMETERS = 1 << 12


def _shape(ev: Evaluator, node: ast.Call, name: str, options: dict[str, Any], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a draw. Without a size it is that of its parameters, which the recipe then names."""
    arrays = {k: np.shape(v) for k, v in options.items() if k != "size" and isinstance(v, tuple)}
    if name in VECTORS:
        options["size"] = shape
        sizes = arrays.get(VECTORS[name], ())
        if len(sizes) != 1:
            ev.fail("F404", node, f"{name}: {VECTORS[name]} must be a vector known from the source")
        return (*shape, *sizes)
    if arrays and "size" not in options:
        try:
            shape = options["size"] = np.broadcast_shapes(*arrays.values())
        except ValueError as error:
            ev.fail("F301", node, f"{name}: {error}")
    return shape


def _bounds(ev: Evaluator, node: ast.Call, name: str, plain: list[Any], options: Mapping[str, object], dtype: np.dtype) -> None:
    """SourceError F402 or F403 for arguments that NumPy refuses, found by drawing zero elements."""
    several = any(isinstance(v, tuple) for k, v in options.items() if k != "size")
    small = (
        {k: v for k, v in options.items() if k != "size"} if several else {**options, **({"size": 0} if "size" in options else {})}
    )
    if "x" in small:
        return
    kind = np.random.RandomState if draw_method("default_rng", name) is None or "endpoint" not in small else np.random.default_rng
    method = getattr(kind(0), name, None) or getattr(np.random.default_rng(0), name)
    try:
        method(
            *(0 for _ in plain[:1]),
            **({k: v for k, v in small.items() if not (k == "dtype" and name not in ("randint", "integers"))}),
        )
    except (ValueError, TypeError, OverflowError) as error:
        ev.fail("F402", node, f"{name}: {error}")
    if name in ("standard_normal", "random") and dtype.kind != "f":
        ev.fail("F403", node, f"{name} of {dtype}", "it draws float64 or float32")
    if name in ("standard_normal", "random") and dtype == np.float16:
        ev.fail("F403", node, f"{name} of {dtype}", "it draws float64 or float32")


def _check(ev: Evaluator, node: ast.AST, shape: tuple[int, ...]) -> None:
    if any(d < 0 for d in shape):
        ev.fail("F303", node, f"an array of shape {shape}: dimensions are not negative")
    check_size(ev, node, shape, np.dtype(float))
