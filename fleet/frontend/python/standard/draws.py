"""`random`: Python's own generator, once it is seeded. It draws while the source is read."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Mapping, Sequence

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import known, value_of
from fleet.frontend.reading.values import Class, Library, List, ObjectInstance, Partial, Value
from fleet.frontend.reading.wording import words

_NUMBERS = (
    *("random", "randint", "uniform", "gauss", "normalvariate", "expovariate", "betavariate", "triangular", "randrange"),
    "getrandbits",
)


_SEQUENCES = ("choice", "choices", "sample", "shuffle")


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


def _made(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`random.Random(seed)`: a generator of its own."""
    seed = known(ev, node, args[0], "a seed") if len(args) == 1 and not keywords else None
    if not isinstance(seed, int | str):
        ev.fail("F507", node, "random.Random needs a seed", "give an integer: other numbers on every run cannot be compared")
    made = ObjectInstance(Class("Random"))
    made.kind.names |= {n: Partial(Library(f"random.Random.{n}"), (made,)) for n in (*_NUMBERS, *_SEQUENCES)}
    ev.python_generators[made] = random.Random(seed)
    return made


def _own(call: Callable[..., Value]) -> Callable[..., Value]:
    """A method of such a generator: the function, which draws from it."""

    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        assert isinstance(args[0], ObjectInstance)
        shared, ev.python_random = ev.python_random, ev.python_generators[args[0]]
        try:
            return call(ev, node, args[1:], keywords)
        finally:
            ev.python_random = shared

    return run


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


_DRAWS: Mapping[str, Callable[..., Value]] = {
    **{n: _number(n) for n in _NUMBERS}, **{n: _of_sequence(n) for n in _SEQUENCES},
}  # fmt: skip
CALLS: Mapping[str, Callable[..., Value]] = {
    "random.seed": _seed,
    "random.Random": _made,
    **{f"random.{n}": call for n, call in _DRAWS.items()},
    **{f"random.Random.{n}": _own(call) for n, call in _DRAWS.items()},
}
"""Function -> what it does."""
