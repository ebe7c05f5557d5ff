"""Every pass on small random programs: exact passes keep every bit, the others stay within the bound; a failure names the pass.

Programs are drawn from spellings that passes look for, so that each pass finds something to do; some of them in a loop that stays
one, and in the branches of a decision.
"""

from __future__ import annotations

import random
import textwrap
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from same_results import assert_close

from fleet.frontend.source import load
from fleet.ir.program import Program
from fleet.transforms.edit import Edit
from fleet.transforms.passes import find_pass, pass_names
from fleet.transforms.pipeline import PIPELINES, Pipeline, pipeline
from fleet.transforms.products.widen_heads import widen_heads
from fleet.verify.bisect import bisect_pass

SOFTMAX = "e = np.exp(x - x.max(-1, keepdims=True))\n    x = e / e.sum(-1, keepdims=True)"
STATEMENTS = (
    "x = x @ w0 + b0",
    "x = np.maximum(x @ w1 + b0, 0)",
    "x = x @ w0 + first",
    "x = (w1.T @ x.T).T",
    "x = x @ (w0 * 2)",
    "x = x @ w1.T + b0[::-1]",
    SOFTMAX,
    "x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * b0 + b1",
    "x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * b1",
    "x = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))",
    "x = x / (1 + np.exp(-x))",
    "x = 1 / (1 + np.exp(-x))",
    "x = np.concatenate([x[:, :4] * c - x[:, 4:] * s, x[:, 4:] * c + x[:, :4] * s], 1)",
    "q, k, v = np.hsplit(x @ wq, 3)\n    x = q @ k.T / np.sqrt(8)\n    " + SOFTMAX + "\n    x = x @ v",
    "x = np.clip(x, -3, 3)",
    "x = np.where(x > 0, x, 0.1 * x)",
    "x = x * 1",
    "x = x.reshape(-1).reshape(4, 8)",
    "x = x.T.T[:, ::-1][:, ::-1]",
    "x = np.tanh(x) + np.tanh(x)",
    "x = x * (3 - 2.5)",
    "unused = np.exp(x @ w0)",
    "x = np.stack([x, first]).sum(0)",
)
WEIGHTS = {"w0": (8, 8), "w1": (8, 8), "w2": (8, 8), "wq": (8, 24), "b0": (8,), "b1": (8,), "c": (4, 4), "s": (4, 4)}
DECLARED = ", ".join(f'{name}: "float32{list(shape)}"' for name, shape in {"x": (4, 8), **WEIGHTS}.items())
SEEDS, LOOPS = range(24), range(5)
IDLE = {"inline", "infer-shapes", "split-groups", "integer-products", "widen-halves"}
"""Passes for what no such program has: calls of functions, unknown sizes, groups of channels, quantised tensors, float16."""


def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    found = {name: (rng.standard_normal(shape) / 3).astype(np.float32) for name, shape in WEIGHTS.items()}
    angles = rng.uniform(0, 6, (4, 4))
    return {**found, "c": np.cos(angles).astype(np.float32), "s": np.sin(angles).astype(np.float32)}


X = {"x": np.random.default_rng(1).standard_normal((4, 8)).astype(np.float32)}
ROUNDS = {**X, "n": np.array(2)}


def looped(seed: int) -> str:
    """A loop whose rounds the run decides, with a decision in it."""
    draw = random.Random(seed)
    lines = [STATEMENTS[(3 * seed + i) % len(STATEMENTS)] for i in range(2)]
    yes, no = draw.choice(STATEMENTS), draw.choice(STATEMENTS)

    def block(depth: int, *statements: str) -> str:
        text = "\n    ".join(f"{s}\n    x = x.astype(np.float32)" for s in statements)
        return textwrap.indent(text.replace("\n    ", "\n"), depth * "    ")

    return f"""import numpy as np


def forward({DECLARED}, n: "int64"):
    i = 0
    while i < n:
        first = x
{block(2, *lines)}
        if x.sum() > 0:
{block(3, yes)}
        else:
{block(3, no)}
        i = i + 1
    return x
"""


def source(seed: int) -> str:
    draw = random.Random(seed)
    chosen = [draw.choice(STATEMENTS) for _ in range(draw.randint(2, 6))]
    chosen[0] = STATEMENTS[seed % len(STATEMENTS)]  # each at least once
    body = "\n    ".join(["first = x", *chosen, "return x"])
    return f"import numpy as np\n\n\ndef forward({DECLARED}):\n    {body}\n"


ATTENTION = f"q, k, v = x @ w0, x @ w1 + b0, x @ w2\n    x = q @ k.T * 0.375\n    {SOFTMAX}\n    x = (x @ v) @ w1"


def attending(seed: int) -> str:
    """An attention of products with weights of their own before the statements of a program."""
    return source(seed).replace("    first = x\n", f"    first = x\n    {ATTENTION}\n")


@cache
def program(seed: int, folder: Path) -> Program:
    path = folder / f"random_{seed}.py"
    path.write_text(source(seed))
    return load(f"{path}:forward", arrays(), X)


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> list[Program]:
    folder = tmp_path_factory.mktemp("loops")
    found: list[Program] = []
    for seed in LOOPS:
        (path := folder / f"loop_{seed}.py").write_text(looped(seed))
        found.append(load(f"{path}:forward", arrays(), ROUNDS))
        kinds = {op.name for op in found[-1].module.walk()}
        assert {"fleet.while", "fleet.if"} <= kinds
    return found


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[Program]:
    folder = tmp_path_factory.mktemp("programs")
    return [program(seed, folder) for seed in SEEDS]


def told(seed: int, name: str, fault: object, text: str | None = None) -> str:
    return f"seed {seed}, {name}: {fault}\n{text or source(seed)}"


@pytest.mark.parametrize("name", pass_names())
def test_a_pass_keeps_what_programs_compute(name: str, programs: list[Program]) -> None:
    """Behind the passes that go before it, as what it looks for may be what they leave."""
    one, changed = find_pass(name), 0
    accel = PIPELINES["accel"]
    first = Pipeline("first", tuple(find_pass(n) for n in accel[: accel.index(name)])) if name in accel else None
    for seed, drawn in zip(SEEDS, programs, strict=True):
        given = first.run(drawn)[0] if first is not None else drawn
        found = bisect_pass(given, X, Pipeline("one", (one,)))
        assert found.fault is None, told(seed, name, found.fault)
        changed += str(one.run(given).module) != str(given.module)
    assert name in IDLE or changed > 0


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_keep_it_too(name: str, programs: list[Program]) -> None:
    for seed, drawn in zip(SEEDS, programs, strict=True):
        found = bisect_pass(drawn, X, pipeline(name))
        assert found.fault is None, told(seed, name, found.fault)


@pytest.mark.parametrize("name", pass_names())
def test_a_pass_keeps_what_loops_and_branches_compute(name: str, loops: list[Program]) -> None:
    accel = PIPELINES["accel"]
    first = Pipeline("first", tuple(find_pass(n) for n in accel[: accel.index(name)])) if name in accel else None
    for seed, drawn in zip(LOOPS, loops, strict=True):
        given = first.run(drawn)[0] if first is not None else drawn
        found = bisect_pass(given, ROUNDS, Pipeline("one", (find_pass(name),)))
        assert found.fault is None, told(seed, name, found.fault, looped(seed))


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_change_bodies_and_keep_what_they_compute(name: str, loops: list[Program]) -> None:
    changed = 0
    for seed, drawn in zip(LOOPS, loops, strict=True):
        found = bisect_pass(drawn, ROUNDS, pipeline(name))
        assert found.fault is None, told(seed, name, found.fault, looped(seed))
        after = pipeline(name).run(drawn)[0]
        changed += [str(b) for op in after.operations() for b in op.regions] != [
            str(b) for op in drawn.operations() for b in op.regions
        ]
    assert changed > len(LOOPS) // 2


def test_widened_heads_keep_what_programs_compute(tmp_path: Path) -> None:
    """It is no pass of a pipeline: the lowering of a set runs it between two parts of one."""
    accel = PIPELINES["accel"]
    first = Pipeline("first", tuple(find_pass(n) for n in accel[: accel.index("raise-attention") + 1]))
    changed = 0
    for seed in SEEDS:
        (path := tmp_path / f"attention_{seed}.py").write_text(attending(seed))
        given = first.run(load(f"{path}:forward", arrays(), X))[0]
        after = widen_heads(given, (16, 64))
        after.module.verify()
        Edit(after).check()
        assert_close(given, after, seed=seed)
        changed += after is not given
    assert changed > len(SEEDS) // 2
