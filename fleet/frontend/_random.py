"""`np.random`: draws become recipes at their place of the stream. Nothing is drawn here."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fleet.core.room import limit
from fleet.frontend import _library
from fleet.frontend._static import Made, Static
from fleet.frontend._values import Generator, Number, Value, words
from fleet.ir.weights import Stream, draw_method

if TYPE_CHECKING:
    from fleet.frontend._evaluator import Evaluator

_MAX_RANK = 32
_SMALL = 1 << 20
_WHOLE = ("randint", "integers", "permutation", "choice", "poisson", "binomial", "geometric")
"""Draws of integers."""
_OTHERS = "other draws are made beforehand and given as weights"


def call(ev: Evaluator, node: ast.Call, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`np.random.NAME(...)`: seeding, making a generator, or a draw from the seeded one."""
    if name in ("seed", "RandomState", "default_rng"):
        seed = _seed(ev, node, name, args, keywords)
        stream = Stream("default_rng" if name == "default_rng" else "RandomState", seed)
        if name != "seed":
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
    if not 0 <= seed < 1 << (32 if name != "default_rng" else 128):
        ev.fail("F402", node, f"the seed {seed} is out of range")
    return seed


def draw(ev: Evaluator, node: ast.Call, stream: Stream, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """One draw: a static array whose numbers are made when they are needed."""
    parameters = draw_method(stream.generator, name)
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
    if not shape and (parameters == () or "size" in parameters):
        ev.fail("F507", node, f"{name} of a single number is not supported: what a model computes must not hang on it",
                "draw an array: size=1")  # fmt: skip
    _check(ev, node, shape)
    if name == "choice":
        check_size(ev, node, (ev.integer(node, Number(options.get("a", 0)), "a"),), np.dtype(np.int64))
    dtype = np.dtype(options.get("dtype") or ("int64" if name in _WHOLE else "float64"))
    _bounds(ev, node, name, plain, options, dtype)
    made = ev.domain.made  # pyright: ignore[reportAttributeAccessIssue]
    recipe = stream.draw(name, plain, options, shape, dtype)
    made.total += math.prod(shape) * dtype.itemsize
    check_total(ev, node)
    return Static(made, recipe, name)


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
            shape = () if value is None else ev.integers(node, value, "size")
            options["size"] = shape
        elif parameter == "dtype":
            options["dtype"] = _library.dtype_of(ev, node, value).name
        elif parameter == "x":
            options["x"] = ev.integer(node, value, "the argument of permutation")
            shape = (options["x"],)
        elif parameter == "high" and value is None:
            continue
        else:
            number = ev.static(value)
            if number is None:
                ev.fail("F404", node, f"{name}: {parameter} must be a number known from the source, found {words(value)}", _OTHERS)
            options[parameter] = number
    return [], options, shape


def _bounds(ev: Evaluator, node: ast.Call, name: str, plain: list[Any], options: Mapping[str, Any], dtype: np.dtype) -> None:
    """What NumPy would refuse when it draws, said here: a draw of no elements with these arguments."""
    small = {**options, **({"size": 0} if "size" in options else {})}
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


def check_size(ev: Evaluator, node: ast.AST, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Refuses an array that the source makes beyond what a program may hold."""
    from fleet.frontend._static import MAX_BYTES

    if any(d < 0 for d in shape):
        ev.fail("F303", node, f"an array of shape {shape}: dimensions are not negative")
    if len(shape) > _MAX_RANK:
        ev.fail("F303", node, f"an array of {len(shape)} dimensions, at most {_MAX_RANK} are possible")
    size = math.prod(shape) * dtype.itemsize
    if size > MAX_BYTES:
        what = f"an array of shape {shape} ({size / (1 << 30):.3g} GiB); at most 2^30 bytes may be made by the source"
        ev.fail("F603", node, what, "give large arrays as weights or inputs")
    _check_room(ev, node, size, f"an array of shape {shape}")


def _check_room(ev: Evaluator, node: ast.AST, size: int, what: str) -> None:
    if size > _SMALL and size > (most := limit()):
        ev.fail("F603", node, f"{what} needs {size:,} bytes; the limit is {most:,}", "make it smaller, or set FLEET_MEMORY")


def check_total(ev: Evaluator, node: ast.AST) -> None:
    """Refuses more arrays than a program may hold."""
    from fleet.frontend._static import MAX_TOTAL

    made: Made = ev.domain.made  # pyright: ignore[reportAttributeAccessIssue]
    most = min(MAX_TOTAL, made.limit)
    if made.total > most:
        ev.fail("F603", node, f"the source makes more than {most / (1 << 30):.3g} GiB of arrays", "give large arrays as weights")
    _check_room(ev, node, made.total, "what the source makes")
