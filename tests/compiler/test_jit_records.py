"""Dataclasses, named tuples, enumerations, partial functions and lambdas of a running program, as `@jit` follows them."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
import pytest

from fleet import jit
from fleet.errors import FleetError
from tests.compiler import records_elsewhere

X = np.random.default_rng(3).standard_normal((2, 3)).astype(np.float32)


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return x @ self.w + self.b

    @property
    def width(self) -> int:
        return self.w.shape[1]


class Doubled(Layer):
    def __call__(self, x: np.ndarray) -> np.ndarray:
        return super().__call__(x) * 2


@dataclass(frozen=True, order=True)
class Config:
    n: int = 3
    scale: float = 0.5
    act: str = "relu"
    names: list[str] = field(default_factory=list)
    table: dict[str, int] = field(default_factory=lambda: {"a": 4}, compare=False)


@dataclass
class Model:
    layers: list[Layer]
    config: Config = Config()


class Moments(NamedTuple):
    m: np.ndarray
    v: np.ndarray
    step: int = 0

    def bias(self) -> np.ndarray:
        return self.m / (1 + self.step)


Pair = collections.namedtuple("Pair", "x y", defaults=(2.0,))  # pyright: ignore[reportUntypedNamedTuple]


class Act(Enum):
    RELU = 1
    TANH = "tanh"

    def of(self, x: np.ndarray) -> np.ndarray:
        return np.maximum(x, 0) if self is Act.RELU else np.tanh(x)


class Mode(IntEnum):
    TRAIN = 1
    EVAL = 2


def layer(k: int = 0) -> Layer:
    return Layer(np.random.default_rng(k).standard_normal((3, 3)).astype(np.float32), np.ones(3, np.float32))


GLOBAL = Model([layer(1), layer(2)])
FIRST, SECOND = (lambda x: x + 1), (lambda x: x * 2)
clipped = partial(np.clip, a_min=0, a_max=1)
added = np.add.reduce


def step(of: Layer, x: np.ndarray, lr: float = 0.5) -> Layer:
    return Layer(of.w - lr * x.sum(0)[:, None], of.b - lr)


def forward(model: Model, x: np.ndarray) -> np.ndarray:
    for one in model.layers:
        x = one(x)
        if model.config.act == "relu":
            x = np.maximum(x, 0)
    return x * model.config.scale


def global_model(x: np.ndarray) -> np.ndarray:
    return forward(GLOBAL, x)


def moments(o: Moments, g: np.ndarray) -> tuple[Moments, np.ndarray]:
    o = o._replace(m=0.75 * o.m + 0.25 * g, v=o.v + g * g)
    return Moments(o.m, o.v, o.step + 1), o.bias()


def pairs(p: Any) -> Any:
    x, y = p
    return Pair(x * 2), Pair(*p), p.x + p[1], len(p), y


def replaced(c: Config, x: np.ndarray) -> Any:
    d = replace(c, scale=2.0)
    return x * d.scale + Config(4).n, c < d, c == Config(), Config().table["a"], d.names


def kinds(of: Layer | np.ndarray, x: np.ndarray) -> np.ndarray:
    return x + of.width if isinstance(of, Layer) else x * 3


def nested(model: Model) -> Model:
    return Model([Layer(one.w + 1, one.b) for one in model.layers], model.config)


def as_dict(of: Layer) -> Any:
    return dataclasses.asdict(of)["w"].sum(), [f.name for f in dataclasses.fields(of)]


def modes(x: np.ndarray, act: Act = Act.TANH, mode: Mode = Mode.EVAL) -> np.ndarray:
    return act.of(x) * mode + (1 if mode is Mode.TRAIN else 0)


def lambdas(x: np.ndarray) -> np.ndarray:
    return FIRST(x) - SECOND(x) + records_elsewhere.times(3)(x) + records_elsewhere.TABLE["square"](x)


def parts_of_library(x: np.ndarray) -> Any:
    q = collections.deque([x, x + 1])
    q.rotate(1)
    grid = sum(i * j for i, j in itertools.product(range(2), range(3)))
    return clipped(x) + added(x, axis=0), reduce(operator.add, [x, x]), functools.reduce(operator.mul, [x, x]), q[0], grid


CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (step, (layer(), X)), (forward, (Model([layer(), layer(1)]), X)), (forward, (Model([layer()], Config(act="id")), X)),
    (forward, (Model([Doubled(*vars(layer()).values())]), X)), (global_model, (X,)), (moments, (Moments(X, X * X), X)),
    (moments, (Moments(X, X, 4), X)), (pairs, (Pair(X, X + 1),)), (replaced, (Config(), X)), (kinds, (layer(), X)), (kinds, (X, X)),
    (nested, (Model([layer(), layer(1)]),)), (as_dict, (layer(),)), (modes, (X,)), (modes, (X, Act.RELU, Mode.TRAIN)),
    (lambdas, (X,)), (parts_of_library, (X,)),
]  # fmt: skip


def same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if dataclasses.is_dataclass(a):
        return same(vars(a), vars(b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype


@pytest.mark.parametrize("call", CALLS, ids=lambda c: c[0].__name__)
def test_results_are_pythons(call: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
    function, arguments = call
    assert same(jit(target="vm")(function)(*arguments), function(*arguments))


def test_arrays_of_a_dataclass_are_inputs_and_the_rest_is_known() -> None:
    trained, ran = jit(target="vm")(step), layer()
    expected = layer()
    for _ in range(4):
        ran, expected = trained(ran, X), step(expected, X)
    assert same(ran, expected)
    assert [len(trained.programs), [a.name for a in trained.programs[0].inputs]] == [1, ["of.w", "of.b", "x"]]
    model = jit(target="vm")(forward)
    for one in (Model([layer()]), Model([layer(5)]), Model([layer()], Config(scale=1.0))):
        assert same(model(one, X), forward(one, X))
    assert len(model.programs) == 2


def test_what_is_done_to_a_dataclass_outside_is_seen_and_inside_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = jit(target="vm")(global_model)
    before = compiled(X)
    monkeypatch.setattr(GLOBAL.layers[0], "w", GLOBAL.layers[0].w * 2)
    assert same(compiled(X), global_model(X))
    assert not same(compiled(X), before)
    GLOBAL.layers[0].b[0] += 1
    assert same(compiled(X), global_model(X))
    width = jit(target="vm")(kinds)
    assert same(width(layer(), X), X + 3)
    monkeypatch.setattr(Layer, "width", property(lambda self: 7))
    assert same(width(layer(), X), X + 7)

    @jit(target="vm")
    def changes(of: Layer, x: np.ndarray) -> np.ndarray:
        of.b = of.b + 1
        return x

    with pytest.raises(FleetError, match="F504 the object among the arguments outlives the call"):
        changes(layer(), X)

    @jit(target="vm")
    def assigns(c: Config, x: np.ndarray) -> np.ndarray:
        c.n = 4  # pyright: ignore[reportAttributeAccessIssue]
        return x

    with pytest.raises(FleetError, match="F701 `Config` is frozen"):
        assigns(Config(), X)
