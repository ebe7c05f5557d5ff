"""Small calls in a binary, every ordered pair of them adjacent, on disjoint data: prefetches of the second call must not disturb
the first one. A dependence through memory would make the second one wait, and hide such a fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from chosen import devices

from fleet.isa.conformance import sources
from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.isa.resolved import resolved
from fleet.sdk import Draw, NoRoomError, Place
from fleet.streams.case import Setting
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.settings import ways_of_issue
from fleet.verify.conformance.suite import make_case, names, suite_devices

QUICK = [d for d in dict.fromkeys((*devices(), "hbm_small_sparse")) if "aux" in ways_of_issue(find_device(d)[0])]
ALL = [d for d in suite_devices(all_devices=True) if "aux" in ways_of_issue(find_device(d)[0])]


def _draws(device: str, most: int) -> list[Draw]:
    """Up to `most` small draws of each instruction, of different classes, on disjoint memory, with one set of parameters."""
    instruction_set, chip = find_device(device)
    words = load(instruction_set.description).instructions
    rng = np.random.default_rng(7)
    place = Place(chip, rng)
    found: list[Draw] = []
    parameters: dict[int, int] = {}
    for name, source in sources(instruction_set).items():
        kinds: set[str] = set()
        for _ in range(6 * most):
            if not words[name].beats or len(kinds) == most:
                break
            try:
                draw = source.draw(chip, rng, place, small=True)
            except NoRoomError:
                break
            kind = f"{draw.classes}"
            if kind not in kinds and all(parameters.get(k, v) == v for k, v in draw.parameters.items()):
                kinds.add(kind)
                parameters |= draw.parameters
                found.append(draw)
    assert found, f"nothing that a binary of {device} may hold was drawn"
    return found


def _pairs(count: int) -> list[int]:
    """A de Bruijn sequence of order 2 over the numbers below `count`: each ordered pair is adjacent once."""
    left = {i: list(range(count)) for i in range(count)}
    path, stack = list[int](), [0]
    while stack:
        if left[stack[-1]]:
            stack.append(left[stack[-1]].pop())
        else:
            path.append(stack.pop())
    return path[::-1]


def test_each_follows_each() -> None:
    order = _pairs(5)
    assert {*pairwise(order)} == {(a, b) for a in range(5) for b in range(5)}
    assert len(order) == 26


def _parts(order: Sequence[int], most: int) -> list[Sequence[int]]:
    """Parts that begin where the one before ends."""
    return [order[i : i + most + 1] for i in range(0, len(order) - 1, most)]


def _run(device: str, memory: str, runner: StreamRunner, most: int) -> None:
    instruction_set, chip = find_device(device)
    draws = _draws(device, most)
    base = make_case(names(device)[0])
    blocks = tuple(block for draw in draws for block in draw.blocks)
    parameters = {k: v for draw in draws for k, v in draw.parameters.items()}
    for part in _parts(_pairs(len(draws)), 200):
        calls = resolved(instruction_set, chip, [call for i in part for call in (*draws[i].before, draws[i].call)])
        case = replace(base, calls=calls, causes=None, blocks=blocks, parameters=parameters)
        (outcome,) = runner.run(case, [Setting(memory, "aux")])
        assert outcome.passed, outcome.reasons
        assert len(outcome.found) == len(calls)


@pytest.mark.parametrize("memory", ["ideal", "timed:3"])
@pytest.mark.parametrize("device", QUICK)
def test_neighbours_in_a_binary(device: str, memory: str, runners: Callable[[str], StreamRunner]) -> None:
    _run(device, memory, runners(device), 3)


@pytest.mark.nightly
@pytest.mark.parametrize("memory", ["ideal", "timed:3"])
@pytest.mark.parametrize("device", ALL)
def test_more_neighbours_in_a_binary(device: str, memory: str, runners: Callable[[str], StreamRunner]) -> None:
    _run(device, memory, runners(device), 10)
