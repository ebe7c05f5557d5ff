"""Programs whose subexpressions serve several: what an engine makes of them agrees with the golden, and a wrong one is found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.compare.bounds.fates import fused_groups
from fleet.compare.bounds.shared_steps import alone, hidden_steps, shared
from fleet.compare.bounds.sides import FloatArithmetic
from fleet.cosim.campaign import cosim
from fleet.cosim.models.data import random_like
from fleet.cosim.options import CosimOptions
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.base import RunOptions
from fleet.engines.registry import find_engine
from fleet.engines.riscv import RiscvEngine
from fleet.engines.riscv_emulators.registry import EMULATORS
from fleet.engines.trace import Trace
from fleet.frontend.source import load
from fleet.ir.dialect import RegionOp, op_id
from fleet.ir.operations.composite import entering
from fleet.ir.program import Program
from fleet.transforms.pipeline import run_pipeline

HEAD = "import numpy as np\n\n\ndef forward({}):\n"
SHAPES = ((1, 5), (3, 7), (4, 8), (2, 16), (5, 33), (6, 64), (16, 32))
ISAS = [
    "rv64gc",
    pytest.param("rv64gcv", marks=pytest.mark.skipif(EMULATORS["qemu"].available() is not None, reason="qemu is not installed")),
]
KNOWN = {
    "softmax and its half": ("e = np.exp(x)", "t = np.sum(e, axis=-1, keepdims=True)", "return e / t, e / (2.0 * t), t"),
    "two of the same": (
        "e = np.exp(x)", "t = np.sum(e, axis=-1, keepdims=True)", "u = e / t", "return u, e / t * 3, np.var(t, axis=0)",
    ),
    "a sum that is written twice": (
        "e = np.exp(s - np.max(s, axis=-1, keepdims=True))", "t = np.sum(e, axis=-1, keepdims=True)",
        "return e / (2.0 * np.sum(e, axis=-1, keepdims=True)), e / t, t",
    ),
    "a named mean that a norm has too": (
        "y = (x - np.mean(x, axis=-1, keepdims=True)) / np.sqrt(np.var(x, axis=-1, keepdims=True) + 0.25)",
        "m = np.mean(x, axis=1, keepdims=True)", "return y, np.exp(np.minimum(m, 3.0))",
    ),
    "a sum whose twin alone the softmax has": (
        "e = np.exp(x - np.max(x, axis=-1, keepdims=True))", "t = np.sum(e, axis=-1, keepdims=True)",
        "y = e / np.sum(e, axis=-1, keepdims=True)", "z = (e / t) * 2.0 + x", "return y, z + x",
    ),
    "a softmax downwards": (
        "e = np.exp(x - np.max(x, axis=0, keepdims=True))", "t = np.sum(e, axis=0, keepdims=True)",
        "return (e / t) * 3, t / np.sqrt(np.mean(t * t, axis=-1, keepdims=True) + 0.5), g * e",
    ),
}  # fmt: skip


def drawn(random: Random) -> tuple[tuple[int, int], list[str]]:
    """A shape and the lines of a function: exponentials over their sums, reductions, broadcasts, each of what stands before."""
    rows, columns = random.choice(SHAPES)
    values = [("x", (rows, columns)), ("g", (columns,)), ("c", (rows, 1)), ("s", (rows, columns))]
    lines: list[str] = []

    def add(text: str, shape: tuple[int, ...]) -> str:
        name = f"v{len(lines)}"
        lines.append(f"{name} = {text}")
        values.append((name, shape))
        return name

    whole = random.choice(["x", "s"])
    axis = random.choice([-1, -1, 0])
    e = add(
        f"np.exp({whole} - np.max({whole}, axis={axis}, keepdims=True))" if random.random() < 0.6 else f"np.exp({whole})",
        (rows, columns),
    )
    t = add(f"np.sum({e}, axis={axis}, keepdims=True)", (rows, 1) if axis else (1, columns))
    forms = (
        "{e} / {t}",
        "{e} / ({k} * {t})",
        "{e} / np.sum({e}, axis={a}, keepdims=True)",
        "{e} * (1.0 / {t})",
        "({e} / {t}) * {k}",
    )
    for _ in range(random.randint(1, 3)):
        add(random.choice(forms).format(e=e, t=t, a=axis, k=random.choice(["2.0", "0.5", "3", "-1.0"])), (rows, columns))
    for _ in range(random.randint(1, 7)):
        (a, shape), (b, other) = random.choice(values), random.choice(values)
        kind = random.randint(0, 3)
        if kind == 0:
            try:
                add(f"{a} {random.choice('+-*')} {b}", np.broadcast_shapes(shape, other))
            except ValueError:
                continue
        elif kind == 1 and len(shape) == 2:
            along = random.choice([0, 1])
            name = random.choice(["sum", "mean", "max", "min", "var"])
            add(f"np.{name}({a}, axis={along}, keepdims=True)", (1, shape[1]) if along == 0 else (shape[0], 1))
        elif kind == 2:
            add(
                random.choice(["np.tanh({})", "np.abs({})", "np.exp(np.minimum({}, 3.0))", "{} * 2.0", "{} - 1.0"]).format(a), shape
            )
        elif len(shape) == 2:
            text = "({0} - np.mean({0}, axis=-1, keepdims=True)) / np.sqrt(np.var({0}, axis=-1, keepdims=True) + 0.25)"
            add(text.format(a), shape)
    made = [line.split()[0] for line in lines]
    returned = dict.fromkeys([*random.sample(made, min(len(made), random.randint(1, 4))), made[-1]])
    return (rows, columns), [*lines, f"return {', '.join(returned)}"]


class Wrong(RiscvEngine):
    """Leaves one tensor a part in ten thousand too large."""

    def __init__(self, name: str) -> None:
        self.wrong = name

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        trace = super().run(program, inputs, options)
        trace.tensors[self.wrong] = trace.tensors[self.wrong] * np.float32(1.0001)
        trace.outputs = {n: trace.tensors[self.wrong] if n == self.wrong else v for n, v in trace.outputs.items()}
        return trace


def compared(
    folder: Path, shape: tuple[int, int], lines: list[str] | tuple[str, ...], isa: str = "rv64gc", wrong: str = ""
) -> CosimResult:
    rows, columns = shape
    sizes = {"x": shape, "g": (columns,), "c": (rows, 1), "s": shape}
    head = HEAD.format(", ".join(f'{n}: "float32[{", ".join(map(str, s))}]"' for n, s in sizes.items()))
    path = folder / "model.py"
    path.write_text(head + "".join(f"    {line}\n" for line in lines))
    inputs = random_like({n: (s, np.dtype(np.float32)) for n, s in sizes.items()}, 3)
    engines = {"vm": find_engine("vm").engine, "riscv": Wrong(wrong) if wrong else find_engine("riscv").engine}
    options = CosimOptions("m", DataProvenance("random", rows, None, None, None), riscv={"isa": isa}, engines=engines)
    program = load(f"{path}:forward", {}, inputs)
    return cosim(program, {a.name: inputs[a.name] for a in program.inputs}, None, ("vm", "riscv"), options)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", KNOWN)
def test_steps_that_others_need_too(tmp_path: Path, name: str, isa: str) -> None:
    for shape in ((4, 8), (6, 64), (5, 33)):
        result = compared(tmp_path, shape, KNOWN[name], isa)
        assert result.verdict == "pass", (shape, result.reasons)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(random=st.randoms(use_true_random=False))
def test_small_programs_agree(tmp_path: Path, isa: str, random: Random) -> None:
    shape, lines = drawn(random)
    result = compared(tmp_path, shape, lines, isa)
    assert result.verdict == "pass", (shape, "\n".join(lines), result.reasons)


def test_a_wrong_composite_is_still_found(tmp_path: Path) -> None:
    lines = ("e = np.exp(x)", "t = np.sum(e, axis=-1, keepdims=True)", "u = e / t", "return np.tanh(u), np.var(t, axis=0)")
    assert compared(tmp_path, (4, 8), lines).verdict == "pass"
    result = compared(tmp_path, (4, 8), lines, wrong="u")
    assert result.verdict == "fail"
    assert result.divergence is not None
    assert result.divergence.ops == ("u",)


def test_what_an_engine_states_counts_in_a_composite_alone(tmp_path: Path) -> None:
    """Absolute errors of functions, and dtypes that it does not round in between."""
    path = tmp_path / "model.py"
    path.write_text(HEAD.format('x: "float32[4, 8]"') + "    e = np.exp(x)\n    t = e + 1.0\n    u = e / t\n    return u\n")
    inputs = {"x": np.linspace(-2, 2, 32, dtype=np.float32).reshape(4, 8)}
    program = load(f"{path}:forward", {}, inputs)
    tensors = dict(find_engine("vm").engine.run(program, inputs, RunOptions()).tensors)

    def largest(side: FloatArithmetic) -> float:
        _, bound = alone(program, inputs, tensors, {"u": ("e", "t")}, side)["u"]
        return float(np.max(bound.array))

    plain = largest(FloatArithmetic())
    assert largest(FloatArithmetic(absolute={"exp": 1e-3})) > 10 * plain
    assert largest(FloatArithmetic(unrounded=frozenset({"float32"}))) > plain


HEADS = """import numpy as np


def head(q, k, v, mask):
    s = q @ k.T / np.sqrt(16) + mask
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True) @ v


def forward(x: "float32[6, 32]", w: "float32[32, 96]", u: "float32[32, 96]"):
    mask = (1 - np.tri(6, dtype=x.dtype)) * -1e10
    for weight in (w, u):
        heads = [np.split(part, 2, axis=-1) for part in np.split(x @ weight, 3, axis=-1)]
        x = x + np.hstack([head(q, k, v, mask) for q, k, v in zip(*heads)])
    return x
"""


def test_an_attention_over_heads_begins_at_what_its_heads_are_split_from(tmp_path: Path) -> None:
    """Scores are float64 here, so raising widens what the heads are split from, by a cast that no operation of the program is."""
    path = tmp_path / "m.py"
    path.write_text(HEADS)
    shapes = {"x": (6, 32), "w": (32, 96), "u": (32, 96)}
    program = load(f"{path}:forward", {}, {name: np.zeros(shape, np.float32) for name, shape in shapes.items()})
    raised = run_pipeline(program, "raise")
    composites = entering(raised.operations(), program.operations())
    products = [op_id(op) for op in program.operations() if op.name == "fleet.matmul"]
    found = shared(program, composites, fused_groups(program, raised.fates))
    of_heads = [set(products) & set(steps) for steps in found.values() if set(products) & set(steps)]
    assert of_heads
    assert all(len(inside) == 4 for inside in of_heads), "two products a head, no product before the heads"


def test_a_loop_is_no_step_of_anything(tmp_path: Path) -> None:
    """Its results are several arrays, of several shapes: neither it nor what only it leads to is computed again alone."""
    path = tmp_path / "m.py"
    text = "x, s = x * 2, x.sum()\n    while s > 1:\n        x, s = x / 2, (x / 2).sum()\n    return np.exp(x), s"
    path.write_text(HEAD.format("x") + f"    {text}\n")
    inputs = {"x": np.linspace(1, 9, 5)}
    program = load(f"{path}:forward", {}, inputs)
    names = [op_id(op) for op in program.operations() if op.results]
    loop = next(op_id(op) for op in program.operations() if isinstance(op, RegionOp))
    assert loop in names
    for found in (hidden_steps(program, [], names), shared(program, dict.fromkeys(names, ()), {})):
        assert loop not in found
        assert all(loop not in steps for steps in found.values())
        alone(program, inputs, {}, found, FloatArithmetic())
