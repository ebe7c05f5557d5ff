"""`random`: Python's own generator, once it is seeded. It draws while the source is read."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Mapping, Sequence

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import known, value_of
from fleet.frontend.reading.values import List, Value, words

__all__ = ["CALLS"]

_NUMBERS = (
    *("random", "randint", "uniform", "gauss", "normalvariate", "expovariate", "betavariate", "triangular", "randrange"),
    "getrandbits",
)


def _seed(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    _outside(ev, node)
    seed = known(ev, node, args[0], "a seed") if len(args) == 1 and not keywords else None
    if not isinstance(seed, int | str):
        ev.fail("F507", node, "random.seed needs a seed", "give an integer: other numbers on every run cannot be compared")
    ev.python_random = random.Random(seed)
    return None


def _outside(ev: Evaluator, node: ast.Call) -> None:
    if ev.inside:
        what = "Python's random draws in a part that only the run enters or repeats"
        ev.fail("F511", node, what, "draw before it, for all rounds at once")


def _generator(ev: Evaluator, node: ast.Call) -> random.Random:
    _outside(ev, node)
    if ev.python_random is None:
        ev.fail("F507", node, "random without a seed gives other numbers on every run", "call random.seed(0) before")
    return ev.python_random


def _number(name: str) -> Callable[..., Value]:
    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        given = [known(ev, node, a, f"an argument of random.{name}") for a in args]
        named = {k: known(ev, node, v, k) for k, v in keywords.items()}
        try:
            return value_of(getattr(_generator(ev, node), name)(*given, **named))
        except (ValueError, TypeError) as error:
            return ev.fail("F703", node, f"random.{name}: {error}")

    return run


def _of_sequence(name: str) -> Callable[..., Value]:
    """A draw of places in a sequence, whose elements stay what they are."""

    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        items = list(args[0]) if args and isinstance(args[0], str) else ev.collect(node, args[0]) if args else []
        places = list(range(len(items)))
        named = {k: known(ev, node, v, k) for k, v in keywords.items()}
        rest = [known(ev, node, a, f"an argument of random.{name}") for a in args[1:]]
        generator = _generator(ev, node)
        try:
            found = getattr(generator, name)(places, *rest, **named)
        except (ValueError, TypeError, IndexError) as error:
            ev.fail("F703", node, f"random.{name}: {error}")
        if name == "shuffle":
            if not isinstance(args[0], List):
                ev.fail("F408", node, f"random.shuffle of {words(args[0])}", "it changes a list")
            args[0].items[:] = [items[i] for i in places]
            return None
        return List([items[i] for i in found]) if isinstance(found, list) else items[found]

    return run


CALLS: Mapping[str, Callable[..., Value]] = {
    "random.seed": _seed,
    **{f"random.{n}": _number(n) for n in _NUMBERS},
    **{f"random.{n}": _of_sequence(n) for n in ("choice", "choices", "sample", "shuffle")},
}
"""Function -> what it does."""
