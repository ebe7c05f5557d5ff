"""A program's weights: arrays, or recipes for arrays that are computed once, on demand.

A recipe knows shape, dtype and a content hash without the data, so compiling a model whose source draws a
gigabyte of random numbers takes only the time for its text. Draws of one generator happen in the order of the source,
whichever is needed first, so they are the numbers that NumPy draws in the same script.
"""

from __future__ import annotations

import hashlib
import json
import math
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

WeightNumber: TypeAlias = "bool | int | float"
_MAX_ELEMENTS = 1 << 27
"""Largest number of elements of an array computed by a recipe from a file: 1 GiB of float64."""


class RecipeError(ValueError):
    """A recipe that cannot be read; the message says why."""


class Recipe(ABC):
    """Computes an array when it is needed. `shape` and `dtype` are the array's; equal digests mean equal arrays."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    @abstractmethod
    def digest(self) -> str:
        """SHA-256 (hex) that identifies the computed array."""

    @abstractmethod
    def compute(self) -> np.ndarray:
        """Compute the array; each call returns a new one."""

    @cached_property
    def array(self) -> np.ndarray:
        """The array: computed on the first access, C-contiguous, not writable."""
        array = np.asarray(self.compute(), order="C").reshape(self.shape)
        if array.dtype != self.dtype:
            raise RecipeError(f"a recipe for {self.dtype}{list(self.shape)} gave {array.dtype}{list(array.shape)}")
        array.flags.writeable = False
        return array

    @property
    def made(self) -> bool:
        """True once the data are there."""
        return "array" in vars(self)

    def forget(self) -> None:
        """Drop the data; the next access recomputes it."""
        vars(self).pop("array", None)


# ---- random draws


def _legacy(seed: int | None) -> np.random.RandomState:
    return np.random.RandomState(seed)


def _modern(seed: int | None) -> np.random.Generator:
    return np.random.default_rng(seed)


GENERATORS: Mapping[str, Callable[[int | None], Any]] = {"RandomState": _legacy, "default_rng": _modern}
"""Kinds of generators: the legacy one behind `np.random.seed`, and `np.random.default_rng`."""

DISTRIBUTIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("exponential", "rayleigh"), ("scale", "size")), "poisson": ("lam", "size"), "binomial": ("n", "p", "size"),
    "gamma": ("shape", "scale", "size"), "beta": ("a", "b", "size"), "geometric": ("p", "size"), "chisquare": ("df", "size"),
    "lognormal": ("mean", "sigma", "size"), "triangular": ("left", "mode", "right", "size"), "weibull": ("a", "size"),
    **dict.fromkeys(("laplace", "logistic", "gumbel"), ("loc", "scale", "size")),
    **dict.fromkeys(("standard_exponential", "standard_cauchy"), ("size",)), "standard_t": ("df", "size"),
    **dict.fromkeys(("pareto", "power"), ("a", "size")), "vonmises": ("mu", "kappa", "size"), "standard_gamma": ("shape", "size"),
    "negative_binomial": ("n", "p", "size"), "wald": ("mean", "scale", "size"), "f": ("dfnum", "dfden", "size"),
    "multivariate_normal": ("mean", "cov", "size"), "dirichlet": ("alpha", "size"), "multinomial": ("n", "pvals", "size"),
    "hypergeometric": ("ngood", "nbad", "nsample", "size"), "zipf": ("a", "size"), "logseries": ("p", "size"),
    "noncentral_chisquare": ("df", "nonc", "size"),
}  # fmt: skip
"""Draws of both kinds of generators, with the same parameters."""
VECTORS: Mapping[str, str] = {"multivariate_normal": "mean", "dirichlet": "alpha", "multinomial": "pvals"}
"""Draws of vectors -> the parameter that has their length."""
_METHODS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "RandomState": {
        "randn": (), "rand": (), "standard_normal": ("size",), "random_sample": ("size",), "random": ("size",),
        "normal": ("loc", "scale", "size"), "uniform": ("low", "high", "size"), "randint": ("low", "high", "size", "dtype"),
        "permutation": ("x",), "choice": ("a", "size", "replace"), **DISTRIBUTIONS,
    },
    "default_rng": {
        "standard_normal": ("size", "dtype"), "random": ("size", "dtype"), "normal": ("loc", "scale", "size"),
        "uniform": ("low", "high", "size"), "integers": ("low", "high", "size", "dtype", "endpoint"), "permutation": ("x",),
        "choice": ("a", "size", "replace"), **DISTRIBUTIONS,
    },
}  # fmt: skip


def draw_method(generator: str, method: str) -> tuple[str, ...] | None:
    """Return parameter names of a drawing method, in order; () takes dimensions one by one; None if it is not supported."""
    return _METHODS.get(generator, {}).get(method)


@dataclass(frozen=True)
class _Call:
    """One call of a generator's method: plain numbers, tuples of them, and dtype names."""

    method: str
    arguments: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]
    shape: tuple[int, ...]
    dtype: str

    def plain(self) -> list[Any]:
        return [self.method, list(self.arguments), [list(k) for k in self.keywords], list(self.shape), self.dtype]


class RandomStream:
    """A seeded generator and the calls made on it so far. The front end appends; drawing follows later.

    Args:
        generator: a key of `GENERATORS`.
        seed: as in the source.
    """

    def __init__(self, generator: str, seed: int) -> None:
        if generator not in GENERATORS:
            raise RecipeError(f"no generator {generator}; there are {', '.join(GENERATORS)}")
        self.generator = generator
        self.seed = seed
        self.calls: list[_Call] = []
        self.elements = 0
        """Number of elements of all draws so far."""
        self._digests = [hashlib.sha256(json.dumps([generator, seed]).encode()).hexdigest()]
        self._draws: list[weakref.ref[StreamDraw]] = []
        self._state: Any = None
        self._position = 0

    def draw(
        self, method: str, arguments: Sequence[Any], keywords: Mapping[str, Any], shape: tuple[int, ...], dtype: np.dtype
    ) -> StreamDraw:
        """Return the recipe of the generator's next call. Nothing is drawn yet."""
        if draw_method(self.generator, method) is None:
            raise RecipeError(f"{self.generator} has no draw {method}")
        call = _Call(method, tuple(arguments), tuple(sorted(keywords.items())), shape, dtype.name)
        self.calls.append(call)
        self.elements += math.prod(shape)
        self._digests.append(hashlib.sha256((self._digests[-1] + json.dumps(call.plain())).encode()).hexdigest())
        draw = StreamDraw(self, len(self.calls) - 1, shape, dtype)
        self._draws.append(weakref.ref(draw))
        return draw

    def taken(self, index: int, shape: tuple[int, ...], dtype: np.dtype) -> StreamDraw:
        """Return the draw of call `index`, which must have been appended."""
        draw = self._draws[index]()
        if draw is None:
            draw = StreamDraw(self, index, shape, dtype)
            self._draws[index] = weakref.ref(draw)
        return draw

    def take_back(self, calls: int) -> None:
        """Forget all but the first `calls` calls; the draws of the others are not needed."""
        self.elements -= sum(math.prod(call.shape) for call in self.calls[calls:])
        del self.calls[calls:], self._draws[calls:], self._digests[calls + 1 :]
        if self._position > calls:
            self._state, self._position = None, 0

    def digest(self, index: int) -> str:
        """Hash of call `index` and of everything before it, which decides the generator's state."""
        return self._digests[index + 1]

    def advance(self, index: int) -> np.ndarray:
        """Make all calls up to `index`; draws that are still referenced keep their arrays. Return the array of `index`."""
        if self._state is None or index < self._position:
            self._state, self._position = GENERATORS[self.generator](self.seed), 0
        array: np.ndarray | None = None
        while self._position <= index:
            call = self.calls[self._position]
            value = np.asarray(getattr(self._state, call.method)(*call.arguments, **dict(call.keywords)))
            draw = self._draws[self._position]()
            if self._position == index:
                array = value
            elif draw is not None:
                draw.keep(value)
            del value
            self._position += 1
        assert array is not None
        return array


class StreamDraw(Recipe):
    """Call `index` of a stream."""

    def __init__(self, stream: RandomStream, index: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.stream, self.index, self.shape, self.dtype = stream, index, shape, dtype

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of what determines the array."""
        return self.stream.digest(self.index)

    def compute(self) -> np.ndarray:
        """Compute the array."""
        return self.stream.advance(self.index)

    def keep(self, array: np.ndarray) -> None:
        """Store the array that was drawn on the way to a later one."""
        if not self.made:
            array.flags.writeable = False
            vars(self)["array"] = np.asarray(array, order="C").reshape(self.shape)


# ---- creation


_CREATIONS: Mapping[str, Callable[..., np.ndarray]] = {
    "tri": np.tri, "arange": np.arange, "linspace": np.linspace, "eye": np.eye,
}  # fmt: skip


@dataclass(frozen=True)
class Creation(Recipe):
    """A NumPy call that creates an array from numbers: tri, arange, linspace, eye, with plain arguments and a dtype."""

    function: str
    arguments: tuple[WeightNumber, ...]
    shape: tuple[int, ...]
    dtype: np.dtype
    keywords: tuple[tuple[str, WeightNumber], ...] = ()

    def __post_init__(self) -> None:
        if self.function not in _CREATIONS:
            raise RecipeError(f"no creation {self.function}; there are {', '.join(_CREATIONS)}")

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of what determines the array."""
        plain = [self.function, [repr(a) for a in self.arguments], [[k, repr(v)] for k, v in self.keywords], list(self.shape)]
        return hashlib.sha256(json.dumps(["creation", *plain, self.dtype.name]).encode()).hexdigest()

    def compute(self) -> np.ndarray:
        """Compute the array."""
        return _CREATIONS[self.function](*self.arguments, **dict(self.keywords), dtype=self.dtype)


# ---- derived


@dataclass(frozen=True, eq=False)
class Derived(Recipe):
    """A pure expression of other weights, made by passes that fold weights.

    Attributes:
        expression: text that describes the computation (an operation's name and attributes); part of the hash.
        operands: weights, numbers or recipes from which it is computed.
        function: computes it from the operands' arrays.
    """

    expression: str
    operands: tuple[Entry | WeightNumber, ...]
    shape: tuple[int, ...]
    dtype: np.dtype
    function: Callable[..., np.ndarray] = field(repr=False)

    @cached_property
    def digest(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        """SHA-256 (hex) of what determines the array."""
        parts = [_digest(o) if isinstance(o, np.ndarray | Recipe) else repr(o) for o in self.operands]
        plain = ["derived", self.expression, parts, list(self.shape), self.dtype.name]
        return hashlib.sha256(json.dumps(plain).encode()).hexdigest()

    def compute(self) -> np.ndarray:
        """Compute the array."""
        return np.asarray(self.function(*(o.array if isinstance(o, Recipe) else o for o in self.operands)))


Entry: TypeAlias = "np.ndarray | Recipe"


def _digest(entry: Entry) -> str:
    if isinstance(entry, Recipe):
        return entry.digest
    h = hashlib.sha256(f"{entry.dtype.str}:{entry.shape}".encode())
    h.update(np.ascontiguousarray(entry).data)
    return h.hexdigest()


# ---- the mapping


class Weights(Mapping[str, np.ndarray]):
    """Name -> array; a recipe is computed on the first access and kept.

    >>> stream = Stream("RandomState", 0)
    >>> w = Weights({"w": stream.draw("randn", (2, 3), {}, (2, 3), np.dtype(float))})
    >>> w.shape("w"), w.made("w")
    ((2, 3), False)
    >>> bool((w["w"] == np.random.RandomState(0).randn(2, 3)).all())
    True
    """

    def __init__(self, entries: Mapping[str, Entry] | None = None) -> None:
        source = entries.entries if isinstance(entries, Weights) else entries
        self.entries: dict[str, Entry] = dict(source or {})

    def __getitem__(self, name: str) -> np.ndarray:
        entry = self.entries[name]
        return entry.array if isinstance(entry, Recipe) else entry

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, name: object) -> bool:  # Mapping's own method would compute the array
        return name in self.entries

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape without computing the array."""
        return tuple(self.entries[name].shape)

    def dtype(self, name: str) -> np.dtype:
        """Element type, without the data."""
        return self.entries[name].dtype

    def made(self, name: str) -> bool:
        """False as long as the data has not been computed."""
        entry = self.entries[name]
        return entry.made if isinstance(entry, Recipe) else True

    def digest(self, name: str) -> str:
        """Content hash (hex): of the recipe if there is one, else of dtype, shape and bytes."""
        return _digest(self.entries[name])

    def with_entries(self, changed: Mapping[str, Entry], keep: Sequence[str] | None = None) -> Weights:
        """Return these weights (only `keep`, if given) updated with `changed`. No array is computed."""
        names = self.entries if keep is None else keep
        return Weights({**{n: self.entries[n] for n in names if n in self.entries}, **changed})


# ---- recipes in files


def recipe_to_plain(recipe: Recipe) -> dict[str, Any] | None:
    """Return a recipe as JSON data; None for one that can only be stored as its array (`Derived`)."""
    match recipe:
        case Creation():
            return {
                "creation": recipe.function, "arguments": list(recipe.arguments), "keywords": [list(k) for k in recipe.keywords],
                "shape": list(recipe.shape), "dtype": recipe.dtype.name,
            }  # fmt: skip
        case StreamDraw():
            calls = [c.plain() for c in recipe.stream.calls[: recipe.index + 1]]
            return {"generator": recipe.stream.generator, "seed": recipe.stream.seed, "calls": calls}
        case _:
            return None


def recipe_from_plain(data: Mapping[str, Any], streams: dict[str, RandomStream]) -> Recipe:
    """Read the output of `recipe_to_plain`. `streams` (start with {}) lets draws of one generator share it.

    Raises RecipeError for anything else; nothing is computed.
    """
    try:
        if "creation" in data:
            recipe = Creation(
                str(data["creation"]), tuple(data["arguments"]), tuple(int(d) for d in data["shape"]), np.dtype(str(data["dtype"])),
                tuple((str(k), v) for k, v in data["keywords"]),
            )  # fmt: skip
            if recipe.shape != _creation_shape(recipe) or math.prod(recipe.shape) > _MAX_ELEMENTS:
                raise RecipeError(f"a creation of shape {recipe.shape}")
            return recipe
        return _draw_from_plain(data, streams)
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise RecipeError(f"not a recipe ({type(error).__name__}: {error})") from error


def _draw_from_plain(data: Mapping[str, Any], streams: dict[str, RandomStream]) -> StreamDraw:
    key = json.dumps([data["generator"], data["seed"]])
    calls = [_call(c) for c in data["calls"]]
    stream = streams.get(key)
    if stream is None or stream.calls[: len(calls)] != calls[: len(stream.calls)]:
        stream = streams[key] = RandomStream(str(data["generator"]), int(data["seed"]))
    for call in calls[len(stream.calls) :]:
        stream.draw(call.method, call.arguments, dict(call.keywords), call.shape, np.dtype(call.dtype))
    last = calls[-1]
    return stream.taken(len(calls) - 1, last.shape, np.dtype(last.dtype))


def _creation_shape(recipe: Creation) -> tuple[int, ...]:
    numbers = recipe.arguments
    given: list[Any] = [*numbers, *(v for _, v in recipe.keywords)]
    if not all(isinstance(n, bool | int | float) for n in given):
        raise RecipeError("a creation takes numbers")
    if recipe.function in ("tri", "eye"):
        return tuple(int(n) for n in numbers[:2])
    if recipe.function == "linspace":
        return (int(numbers[2]),)
    start, stop, step = (0, numbers[0], 1) if len(numbers) == 1 else (*numbers, 1) if len(numbers) == 2 else numbers
    return (max(0, math.ceil((stop - start) / step)),)


def _frozen(value: Any) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]


def _call(plain: Sequence[Any]) -> _Call:
    method, arguments, keywords, shape, dtype = plain
    frozen = tuple(_frozen(a) for a in arguments)
    pairs = tuple((str(k), _frozen(v)) for k, v in keywords)
    call = _Call(str(method), frozen, pairs, tuple(int(d) for d in shape), str(dtype))
    given = dict(pairs)
    drawn: Any = given.get("size", (given["x"],) if "x" in given else frozen)
    if call.method in VECTORS:
        drawn = (*drawn, len(given[VECTORS[call.method]]))
    if call.method == "choice" and not 0 < int(str(given.get("a", 0))) <= _MAX_ELEMENTS:
        raise RecipeError("a choice of too many")
    if drawn != call.shape or min(call.shape, default=0) < 0 or math.prod(call.shape) > _MAX_ELEMENTS:
        raise RecipeError(f"a draw of shape {call.shape} by {call.method} of {drawn}")
    return call
