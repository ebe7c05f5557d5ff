"""Random graphs of sums, products and views: every bit as NumPy's FP16 has it, so no tensor is overwritten while it is needed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as s
from small import Machine

from fleet.dlavm import adr, ne, transform
from fleet.ir.accel.nodes import Node
from fleet.targets.accel.build import build
from fleet.targets.liveness import Lives

HEADS, CHANNELS = 4, 128


class Drawn:
    """A graph, and what NumPy says of every node, in FP16."""

    def __init__(self, data: s.DataObject, tokens: int) -> None:
        self.data, self.tokens = data, tokens
        token = ne.Var("token", max_data=9)
        rng = np.random.default_rng(data.draw(s.integers(0, 1 << 20)))
        self.inputs = {n: rng.normal(size=(1, tokens, CHANNELS)).astype(np.float16) for n in "ab"}
        self.whole: list[tuple[Node, np.ndarray]] = [
            (adr.hbm.var_ddr(n, (1, token, CHANNELS)), array) for n, array in self.inputs.items()
        ]
        for _ in range(data.draw(s.integers(1, 14))):
            self.step()

    def step(self) -> None:
        a, b = (self.data.draw(s.sampled_from(self.whole)) for _ in range(2))
        kind = self.data.draw(s.sampled_from(["add", "sub", "mul", "heads", "parts", "join"]))
        if kind in {"add", "sub", "mul"}:
            self.whole.append(self.both(kind, a, b))
        elif kind == "heads":
            views = [self.heads(*v) for v in (a, b)]
            node, array = self.both("add", *views)
            flat = adr.reshape(node, (1, -1, CHANNELS))
            self.whole.append((flat, array.transpose(1, 0, 2).reshape(1, self.tokens, CHANNELS)))
        elif kind == "parts":
            cut = 32 * self.data.draw(s.integers(1, 3))
            parts = [adr.split(v[0], 2, (cut, CHANNELS - cut)) for v in (a, b)]
            halves = [self.both("add", (parts[0][i], a[1][..., c]), (parts[1][i], b[1][..., c]))
                      for i, c in enumerate((slice(0, cut), slice(cut, None)))]  # fmt: skip
            if halves[0][0].prefix == halves[1][0].prefix:  # else they do not stand in one memory
                joined = adr.concat([h[0] for h in halves], dim=2)
                joined.prefix = halves[0][0].prefix
                self.whole.append((joined, np.concatenate([h[1] for h in halves], axis=2)))
        else:
            self.whole.append((adr.reshape(adr.reshape(a[0], (HEADS, -1, 32)), (1, -1, CHANNELS)), a[1]))

    def heads(self, node: Node, array: np.ndarray) -> tuple[Node, np.ndarray]:
        split = array.reshape(self.tokens, HEADS, CHANNELS // HEADS).transpose(1, 0, 2)
        return adr.reshape(node, (HEADS, -1, CHANNELS // HEADS)), split

    def both(self, kind: str, a: tuple[Node, np.ndarray], b: tuple[Node, np.ndarray]) -> tuple[Node, np.ndarray]:
        made = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[kind](a[1].astype(np.float32), b[1].astype(np.float32))
        with np.errstate(over="ignore"):
            array = np.where(np.isnan(made), np.float16(np.nan), made.astype(np.float16)).astype(np.float16)
        node = getattr(adr.hbm, kind)(a[0], b[0])
        if self.data.draw(s.booleans()):
            node.prefix = "onchip"
        return node, array


@settings(max_examples=40, deadline=None)
@given(s.data())
def test_random_graphs(data: s.DataObject) -> None:
    drawn = Drawn(data, data.draw(s.integers(1, 9)))
    results = [drawn.whole[-1], *(data.draw(s.lists(s.sampled_from(drawn.whole[2:] or drawn.whole), max_size=2)))]
    results = [r for r in results if type(r[0]).__name__ != "Var"] or [drawn.both("add", *drawn.whole[:2])]
    # What is returned does not stand on chip, where no host can read it.
    kept = [(adr.hbm.add(node, node), drawn.both("add", (node, array), (node, array))[1]) for node, array in results]
    graph = transform.infer_type(adr.tuple([node for node, _ in kept]), "hbm_small")
    module = build(graph, build_config={"align": data.draw(s.sampled_from([16, 64, 0x1000])), "spill": True})
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(module, Path(folder))
        found = machine.step({n: a for n, a in drawn.inputs.items() if n in module.inputs}, token=drawn.tokens)
        for i, (_, array) in enumerate(kept):
            np.testing.assert_array_equal(found[f"output{i}"], array)


@pytest.mark.parametrize("short", [False, True])
def test_a_life_that_ends_too_early_is_seen(short: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hasty(lives: Lives[Node], value: Node, _step: int) -> None:
        lives.of |= {root: (lives.of[root][0], lives.of[root][0] + 1) for root in lives.roots(value) if root in lives.of}

    if short:
        monkeypatch.setattr(Lives, "use", hasty)
    x = adr.hbm.var_ddr("x", (1, ne.Var("token", max_data=9), CHANNELS))
    first = adr.hbm.add(x, x)
    y = adr.hbm.add(adr.hbm.mul(adr.hbm.mul(first, first), x), first)
    module = build(transform.infer_type(adr.hbm.sub(adr.hbm.mul(y, y), first), "hbm_small"))
    array = np.full((1, 3, CHANNELS), 0.5, np.float16)
    found = Machine(module, tmp_path).step({"x": array}, token=3)["output"]
    assert np.array_equal(found, np.full_like(array, 1.25)) is not short
