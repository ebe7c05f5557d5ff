"""Operands with one kind of special value among ordinary numbers, and none of another kind that would hide what it does.

The suite's data of kind "special" have NaN among them, and a NaN in a row makes all of it NaN. Here a row may hold an infinity, or
nothing but them, and no NaN: `docs/arithmetic.md` says of each instruction what then becomes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from chosen import devices

from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.sdk import Write
from fleet.streams.case import StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case, names

KINDS = {
    "+inf": (0x7C00,), "-inf": (0xFC00,), "both infinities": (0x7C00, 0xFC00), "NaN": (0x7E01,), "zeros": (0x0000, 0x8000),
    "subnormal": (0x0001, 0x83FF), "smallest normal": (0x0400, 0x8400), "largest": (0x7BFF, 0xFBFF), "ties": (0x3801, 0x3C01),
    "zeros and infinities": (0x0000, 0x8000, 0x7C00, 0xFC00),
}  # fmt: skip
SHARES = (1 / 40, 1.0)  # of all values that are special: about one in a row; all
FLOATS = [d for d in devices() if find_device(d)[0].name == "hbm0923"]
"""Devices whose operands are FP16, and whose memory may hold any bits."""


@cache
def _chosen(device: str) -> tuple[str, ...]:
    """Directed cases of every instruction, two with every value of each of its modes: what becomes of a value may depend on it."""
    description = find_device(device)[0].description
    modes = {r.name for r in load(description).registers for f in r.fields if f.kind == "mode"}
    found: dict[tuple[str, str, int], list[str]] = {}
    for name in names(device):
        instruction = name.split("/")[1]
        said = {w: v for w, v in make_case(name).calls[-1].fields.items() if w in modes} or {"": 0}
        for word, value in said.items():
            found.setdefault((instruction, word, value), []).append(name)
    return tuple(dict.fromkeys(name for group in found.values() for name in (group[0], group[len(group) // 2])))


def _with(case: StreamCase, values: tuple[int, ...], share: float) -> StreamCase:
    rng = np.random.default_rng(len(values) + int(1000 * share) + case.seed)

    def changed(b: Write) -> Write:
        halves = b.data.reshape(-1).view(np.uint8).copy().view(np.uint16)
        halves[(halves & 0x7C00) == 0x7C00] ^= 0x4000  # neither infinity nor NaN that the case had
        there = rng.random(halves.size) < share
        halves[there] = rng.choice(np.array(values, np.uint16), int(there.sum()))
        return replace(b, data=halves.view(np.uint8))

    return replace(case, blocks=tuple(changed(b) for b in case.blocks), causes=None)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("device", FLOATS)
def test_one_kind_of_special_value(device: str, kind: str, share: float, runners: Callable[[str], StreamRunner]) -> None:
    failed: list[str] = []
    for name in _chosen(device):
        (outcome,) = runners(device).run(_with(make_case(name), KINDS[kind], share))
        failed += [f"{name}: {r}" for r in outcome.reasons]
    assert not failed, "\n".join(failed)
