"""`@jit` follows classes and their objects: among globals, in closures, as arguments, `self` of a method."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag

import numpy as np
import pytest

from fleet import jit
from fleet.errors import ModelError, SourceError

X = np.arange(6.0).reshape(2, 3)


class Layer:
    scale = 2

    def __init__(self, w, b=1.0):
        self.w, self.b = w, b

    def __call__(self, x):
        return x @ self.w + self.b

    @staticmethod
    def twice(x):
        return x * 2

    @classmethod
    def scaled(cls, x):
        return x * cls.scale

    @property
    def size(self):
        return self.w.size


class Narrow(Layer):
    scale = 3

    def __init__(self, w):
        super().__init__(w)
        self.parts = [Layer(w, 0.5), {"last": Layer(w, 0.25)}]

    def __call__(self, x):
        x = np.tanh(super().__call__(x)) * self.scale
        return self.parts[1]["last"](self.parts[0](x)) + self.size

    @jit
    def run(self, x, times=1):
        for _ in range(times):
            x = self(x)
        return x

    @jit
    def count(self, x):
        self.calls = 1
        return x

    @jit
    def poison(self, x):
        self.w[0, 0] = 1
        return x


LAYER = Layer(np.eye(3))
NARROW = Narrow(np.eye(3) * 2)


def of_globals(x):
    return LAYER(x) * Layer.scale + Layer.twice(x) + Narrow.scaled(x) + NARROW(x) + isinstance(NARROW, Layer)


def made_inside(x):
    inner = Narrow(np.ones((3, 3)))
    inner.b = 4.0
    return inner(x), inner.size


def same(function, *arguments, target="cpu"):
    found, expected = jit(target=target)(function)(*arguments), function(*arguments)
    for got, want in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("target", ["vm", "cpu"])
def test_objects_and_classes_around_a_function(target: str) -> None:
    same(of_globals, X, target=target)
    found, size = jit(target=target)(made_inside)(X)
    expected, wanted = made_inside(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert size == wanted


def test_methods_and_objects_as_arguments() -> None:
    np.testing.assert_allclose(NARROW.run(X, 2), NARROW(NARROW(X)), rtol=1e-12)

    @jit
    def apply(model, x):
        return model(x)

    for model in (LAYER, NARROW, Layer(np.ones((3, 3)))):
        np.testing.assert_allclose(apply(model, X), model(X), rtol=1e-12)
    assert len(apply.programs) == 3
    assert {a.name.rpartition(".")[2] for a in apply.programs[0].arguments if a.kind == "weight"}


def test_what_changes_is_compiled_again() -> None:
    layer = Layer(np.eye(3))

    @jit
    def apply(x):
        return layer(x) * layer.scale

    def check() -> None:
        np.testing.assert_array_equal(apply(X), apply.python(X))

    check()
    layer.b = 7.0
    check()
    layer.w[0, 1] = 5
    check()
    layer.scale = 9
    check()
    Layer.scale = 4
    try:
        del layer.scale
        check()
    finally:
        Layer.scale = 2
    check()
    layer = Layer(np.ones((3, 3)))
    check()


def test_compiled_code_changes_no_object() -> None:
    with pytest.raises(SourceError, match="F504 the object among the arguments outlives the call"):
        NARROW.count(X)
    with pytest.raises(SourceError, match="F504"):
        NARROW.poison(X)
    assert not hasattr(NARROW, "calls")
    assert NARROW.w[0, 0] == 2

    @jit
    def counted(x):
        Layer.scale = 5
        return x

    with pytest.raises(SourceError, match="F504 the class `Layer` outlives the call"):
        counted(X)


@dataclass(slots=True)
class Pair:
    left: float
    right: float


class Colour(Flag):
    RED = 1


class Slots:
    __slots__ = ("w",)

    def __init__(self) -> None:
        self.w = 1.0


def test_other_objects_are_refused_by_name() -> None:
    for value, kind in ((Pair(1, 2), "Pair"), (Colour.RED, "Colour"), (Slots(), "Slots"), (object(), "object")):

        @jit
        def apply(model, x):
            return x * model.w

        with pytest.raises(ModelError, match=f'argument "model" is an object of type {kind}, which cannot be compiled'):
            apply(value, X)


def test_an_object_that_holds_itself_is_refused() -> None:
    layer = Layer(np.eye(3))
    layer.b = layer

    @jit
    def apply(model, x):
        return x * model.scale

    with pytest.raises(ModelError, match='argument "model" holds itself, or nests too deeply'):
        apply(layer, X)
