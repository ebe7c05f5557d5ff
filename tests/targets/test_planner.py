"""Lifetimes and places: what lives at the same time never shares a byte, held against brute force."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.core.records.address_map import live_bytes
from fleet.targets.liveness import FOREVER, Life, Lives
from fleet.targets.planner import SharedRoom, share

LIVES = st.lists(
    st.builds(
        lambda size, first, length, stays: Life(size, first, FOREVER if stays else first + length),
        st.integers(0, 700),
        st.integers(-2, 150),
        st.integers(0, 90),
        st.booleans(),
    ),
    max_size=40,
)


STEPS = 250


def overlaps(lives: Mapping[int, Life], places: Mapping[int, int]) -> list[int]:
    """What is put where something lives: every byte has an owner in every step."""
    held = np.zeros((STEPS + 2, max((at + lives[v].size for v, at in places.items()), default=0)), bool)
    found: list[int] = []
    for v, (size, first, last) in lives.items():
        mine = held[first + 2 : min(last, STEPS) + 3, places[v] : places[v] + size]
        found += [v] if mine.any() else []
        mine[...] = True
    return found


@settings(max_examples=60, deadline=None, derandomize=True)
@given(LIVES, st.sampled_from([1, 16, 64]))
def test_what_lives_together_never_overlaps(drawn: list[Life], align: int) -> None:
    lives = dict(enumerate(drawn))
    found = share(lives, align)
    assert overlaps(lives, found.offsets) == []
    assert all(at % align == 0 for at in found.offsets.values())
    assert found.size == max((at + lives[v].size for v, at in found.offsets.items()), default=0)
    assert live_bytes(lives.values()) <= found.size


@settings(max_examples=60, deadline=None, derandomize=True)
@given(LIVES, st.sampled_from([1, 64]))
def test_places_taken_one_by_one_never_overlap(drawn: list[Life], align: int) -> None:
    """In any order of steps, as on-chip memory is filled."""
    room, lives = SharedRoom(align), dict(enumerate(drawn))
    places = {v: room.place(life) for v, life in lives.items()}
    assert overlaps(lives, places) == []
    assert all(at % align == 0 for at in places.values())


def test_the_checker_finds_a_value_that_is_overwritten() -> None:
    lives = {0: Life(100, 0, 2), 1: Life(10, 2, 3), 2: Life(10, 3, 4)}
    assert overlaps(lives, {0: 0, 1: 90, 2: 0}) == [1]
    # A life that ends too early gives places that are wrong for the true one.
    early = share({**lives, 0: Life(100, 0, 1)}, 1).offsets
    assert overlaps(lives, early) == [1]


def test_a_chain_needs_two_places() -> None:
    assert share({i: Life(1000, i, i + 1) for i in range(20)}, 64).size <= 2 * 1024


@pytest.mark.parametrize(
    ("lives", "most"), [([], 0), ([Life(5, 0, 1), Life(7, 1, 2)], 12), ([Life(5, 0, 1), Life(7, 2, FOREVER)], 7)]
)
def test_live_bytes(lives: list[Life], most: int) -> None:
    assert live_bytes(lives) == most


def test_a_use_of_a_view_keeps_its_root() -> None:
    lives = Lives[str]()
    lives.use("weight", 0)
    lives.begin("x", 0)
    lives.begin("y", 1)
    lives.view("part", ["x"])
    lives.view("both", ["part", "y", "part"])
    assert lives.roots("both") == ("x", "y")
    lives.use("part", 3)
    lives.use("both", 2)
    assert lives.of == {"x": (0, 3), "y": (1, 2)}
    lives.use("both", FOREVER)
    assert lives.of == {"x": (0, FOREVER), "y": (1, FOREVER)}
