"""Every two instructions behind each other in a binary, in both orders, on data of their own: what the second one does ahead of its
turn must not touch the first one, and shows only where nothing makes it wait."""

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
    """Draws that meet in no byte of memory, of each instruction up to `most`: small ones, whose kinds differ."""
    instruction_set, chip = find_device(device)
    words = load(instruction_set.description).instructions
    rng = np.random.default_rng(7)
    place = Place(chip, rng)
    found: list[Draw] = []
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
            if kind not in kinds and all(found[0].parameters.get(k, v) == v for k, v in draw.parameters.items() if found):
                kinds.add(kind)
                found.append(draw)
    return found


def _pairs(count: int) -> list[int]:
    """Numbers below `count` in an order in which each follows each, itself too: a cycle of de Bruijn."""
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
