"""Chains as long as a program: no pass, target or comparison recurses over operands."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import fleet
from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.what_ran import DataProvenance
from fleet.errors import FleetError
from fleet.ir.walk import operands_first

LONG = 760
BODIES = {
    "sums": ("x: 'float32[4]', w: 'float32[4]'", "x = x + w"),
    "weights": ("x: 'float32[4]', w: 'float32[4]'", "w = w * np.float32(1.0001)"),
    "products": ("x: 'float32[2, 2]', w: 'float32[2, 2]'", "x = w @ x"),
    "weight products": ("x: 'float32[2, 2]', w: 'float32[2, 2]'", "w = w @ w"),
    "views": ("x: 'float32[2, 3]', w: 'float32[2, 3]'", "x = x.T.reshape(2, 3)"),
    "integers": ("x: 'int32[4]', w: 'int32[4]'", "x = np.maximum(x + w, 3)"),
    "masks": ("x: 'float32[4]', w: 'float32[4]'", "x = np.where(x > 0, x, w)"),
}
PASSES = ("riscv", "accel")


@pytest.fixture
def shallow() -> Iterator[None]:
    """No deeper than what a pass needs by itself: what recurses over a chain of LONG fails."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(700)
    yield
    sys.setrecursionlimit(before)


def model(kind: str, count: int, folder: Path, pipeline: str | None) -> tuple[fleet.Compiled, dict[str, np.ndarray]]:
    arguments, body = BODIES[kind]
    path = folder / "chain.py"
    path.write_text(f"import numpy as np\n\ndef f({arguments}):\n    for i in range({count}):\n        {body}\n    return x + w\n")
    dtype = np.int32 if "int32" in arguments else np.float32
    shape = {"products": (2, 2), "weight products": (2, 2), "views": (2, 3)}.get(kind, (4,))
    x, w = (np.zeros(shape, dtype) + np.array(v, dtype) for v in (0.5, 1))
    if "products" in kind:
        w = np.eye(2, dtype=dtype)
    return fleet.compile(f"{path}:f", weights={"w": w}, inputs={"x": x}, pipeline=pipeline), {"x": x}


@pytest.mark.parametrize("pipeline", PASSES)
@pytest.mark.parametrize("kind", BODIES)
def test_a_long_chain_is_compiled(kind: str, pipeline: str, tmp_path: Path, shallow: None) -> None:
    compiled, inputs = model(kind, LONG, tmp_path, pipeline)
    (out,) = compiled.run("vm", inputs).outputs.values()
    assert np.isfinite(out).all()


def test_a_long_chain_is_run_and_compared(tmp_path: Path, shallow: None) -> None:
    compiled, inputs = model("sums", LONG, tmp_path, None)
    options = CosimOptions(model="chain", data=DataProvenance("random", 1, None, None, ""))
    result = cosim(compiled.program, inputs, None, ["vm", "cpython", "interp"], options)
    assert result.verdict == "pass", result.reasons


def nested(count: int, folder: Path) -> fleet.Compiled:
    path = folder / "deep.py"
    path.write_text("import numpy as np\n\ndef f(x: 'float32[4]'):\n    return x" + " + x" * count + "\n")
    return fleet.compile(f"{path}:f", inputs={"x": np.ones(4, np.float32)})


@pytest.mark.parametrize("count", [300, 3_000, 20_000])
def test_a_line_that_nests_too_deeply_is_bad_input(count: int, tmp_path: Path) -> None:
    assert nested(150, tmp_path).run("vm", {"x": np.ones(4, np.float32)}).outputs
    with pytest.raises(FleetError, match=r"F602 nested .*; split it over several assignments") as caught:
        nested(count, tmp_path)
    assert caught.value.exit_code == 2


def test_operands_come_first_and_once() -> None:
    made_of = {1: (2, 3), 2: (4, 4), 3: (4, 2), 4: ()}
    assert operands_first(1, lambda n: made_of[n]) == [4, 2, 3, 1]
    chain = operands_first(100_000, lambda n: (n - 1,) if n else ())
    assert chain == list(range(100_001))
