"""Recipes: the numbers of NumPy, drawn once and in order, and not before they are needed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fleet.ir.weights import Creation, Derived, RandomStream, RecipeError, Weights, recipe_from_plain, recipe_to_plain

F64 = np.dtype(float)
I64 = np.dtype(np.int64)


def legacy(seed: int = 42):
    stream = RandomStream("RandomState", seed)
    draws = {
        "a": stream.draw("randn", (3, 1), {}, (3, 1), F64),
        "b": stream.draw("randn", (2, 5), {}, (2, 5), F64),
        "c": stream.draw("randint", (), {"low": 0, "high": 10, "size": (4,)}, (4,), I64),
        "d": stream.draw("uniform", (), {"low": -1, "high": 1, "size": (2, 2)}, (2, 2), F64),
        "e": stream.draw("normal", (), {"loc": 0.0, "scale": 0.02, "size": (7,)}, (7,), F64),
    }
    np.random.seed(seed)
    expected = {
        "a": np.random.randn(3, 1),
        "b": np.random.randn(2, 5),
        "c": np.random.randint(0, 10, size=4),
        "d": np.random.uniform(-1, 1, (2, 2)),
        "e": np.random.normal(0.0, 0.02, size=7),
    }
    return draws, expected


@pytest.mark.parametrize("order", ["abcde", "edcba", "caebd"])
def test_draws_are_numpys_in_whatever_order_they_are_asked_for(order: str) -> None:
    draws, expected = legacy()
    w = Weights(draws)
    assert not any(w.made(n) for n in w)
    for name in order:
        assert (w[name] == expected[name]).all()
        assert w[name] is w[name]


def test_a_draw_made_on_the_way_is_kept_only_where_somebody_holds_it() -> None:
    draws, expected = legacy()
    stream = draws["a"].stream
    del draws["b"]
    assert (draws["e"].array == expected["e"]).all()
    assert draws["a"].made
    assert (stream.taken(1, (2, 5), F64).array == expected["b"]).all()


def test_the_modern_generator() -> None:
    stream = RandomStream("default_rng", 7)
    a = stream.draw("standard_normal", ((2, 3),), {"dtype": "float32"}, (2, 3), np.dtype(np.float32))
    b = stream.draw("integers", (0, 5), {"size": (6,), "endpoint": True}, (6,), I64)
    rng = np.random.default_rng(7)
    assert (a.array == rng.standard_normal((2, 3), dtype="float32")).all()
    assert (b.array == rng.integers(0, 5, size=6, endpoint=True)).all()


def test_digests_say_what_is_drawn_without_drawing() -> None:
    first, second, other = legacy()[0], legacy()[0], legacy(43)[0]
    assert [d.digest for d in first.values()] == [d.digest for d in second.values()]
    digests = {d.digest for d in (*first.values(), *other.values())}
    assert len(digests) == 10
    assert not any(d.made for d in (*first.values(), *other.values()))


def test_creations_and_derived_weights() -> None:
    tri = Creation("tri", (4, 4, 0), (4, 4), F64)
    assert (tri.array == np.tri(4)).all()
    assert tri.digest == Creation("tri", (4, 4, 0), (4, 4), F64).digest
    assert tri.digest != Creation("tri", (4, 4, 0), (4, 4), np.dtype(np.float32)).digest
    mask = Derived("mul(sub(1, %0), %1)", (1, tri, -1e10), (4, 4), F64, lambda one, t, big: (one - t) * big)
    assert (mask.array == (1 - np.tri(4)) * -1e10).all()
    assert mask.digest != Derived("add", (1, tri, -1e10), (4, 4), F64, lambda *a: a[1]).digest
    with pytest.raises(RecipeError, match="gave float64"):
        _ = Derived("x", (tri,), (4, 4), np.dtype(np.float32), lambda t: t).array
    with pytest.raises(RecipeError):
        Creation("system", (), (), F64)


def test_recipes_travel_as_json() -> None:
    draws, expected = legacy()
    plain = json.loads(json.dumps({n: recipe_to_plain(d) for n, d in draws.items()}))
    streams: dict[str, RandomStream] = {}
    back = Weights({n: recipe_from_plain(p, streams) for n, p in plain.items()})
    assert len(streams) == 1
    assert [back.digest(n) for n in back] == [d.digest for d in draws.values()]
    assert all((back[n] == expected[n]).all() for n in "dbace")
    eye = Creation("eye", (3, 3, 1), (3, 3), I64)
    again = recipe_from_plain(json.loads(json.dumps(recipe_to_plain(eye))), {})
    assert again.digest == eye.digest
    assert (again.array == np.eye(3, k=1, dtype=int)).all()


@pytest.mark.parametrize(
    "data",
    [{}, {"creation": "system", "arguments": [], "keywords": [], "shape": [], "dtype": "float64"}, {"generator": "x", "seed": 1},
     {"generator": "RandomState", "seed": 1, "calls": [["__class__", [], [], [], "float64"]]},
     {"creation": "tri", "arguments": [1e9, 4, 0], "keywords": [], "shape": [4, 4], "dtype": "float64"},
     {"creation": "arange", "arguments": [1e12], "keywords": [], "shape": [1000000000000], "dtype": "float64"},
     {"generator": "RandomState", "seed": 1, "calls": [["randn", [1 << 20, 1 << 20], [], [4], "float64"]]},
     {"generator": "RandomState", "seed": 1, "calls": []}, {"generator": "RandomState", "seed": 1, "calls": [[1]]}],
)  # fmt: skip
def test_other_data_are_no_recipe(data) -> None:
    with pytest.raises(RecipeError):
        recipe_from_plain(data, {})


def test_the_data_are_not_writable_and_can_be_dropped() -> None:
    draws, expected = legacy()
    with pytest.raises(ValueError, match="read-only"):
        draws["a"].array[0] = 1
    draws["a"].forget()
    assert not draws["a"].made
    assert (draws["a"].array == expected["a"]).all()


def test_calls_that_are_taken_back_leave_the_stream_as_it_was() -> None:
    stream, plain = RandomStream("default_rng", 3), np.random.default_rng(3)
    first = stream.draw("random", (), {"size": (2,)}, (2,), F64)
    taken_back = stream.draw("random", (), {"size": (5,)}, (5,), F64)
    assert taken_back.array.shape == (5,)
    stream.take_back(1)
    assert (len(stream.calls), stream.elements) == (1, 2)
    second = stream.draw("normal", (), {"size": (3,)}, (3,), F64)
    np.testing.assert_array_equal(first.array, plain.random(2))
    np.testing.assert_array_equal(second.array, plain.normal(size=3))
