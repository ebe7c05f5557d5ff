"""Intervals of indices: what they say holds in each round, and an index that is not inside is checked by the run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fleet
from fleet.errors import FleetError
from fleet.ir.dialect import GatherOp, WhereOp, all_operations

HEAD = "import numpy as np\nimport fleet\n\n\n@fleet.kernel\ndef forward(x, n):\n    out = np.zeros(8)\n"


def compiled(folder: Path, body: str) -> fleet.Compiled:
    path = folder / "m.py"
    path.write_text(HEAD + body)
    return fleet.compile(f"{path}:forward", inputs={"x": np.arange(48.0).reshape(8, 6), "n": np.array([3])})


@pytest.mark.parametrize(
    ("index", "proved"),
    [
        ("x[i, i]", True),
        ("x[i + 1, 5 - i]", True),
        ("x[7 - i, 2 * i - i * 1]", False),
        ("x[7 - i, i * 1 + 0]", True),
        ("x[i, -1]", True),
        ("x[i - 1, i]", False),
        ("x[i + 3, i + 1]", True),
        ("x[n[0] + i, i]", False),
    ],
)
def test_what_is_proved_is_one_gather_without_a_check(tmp_path: Path, index: str, proved: bool) -> None:
    made = compiled(tmp_path, f"    for i in range(5):\n        out[i] = {index}\n    return out\n")
    inside = [op for op in all_operations(made.program.function.body.block) if op.parent_op() is not made.program.function]
    gathers = sum(isinstance(op, GatherOp) for op in inside)
    assert (gathers == 1) == proved
    assert not any(isinstance(op, WhereOp) for op in inside), "out[i] is proved"
    x, n = made.inputs["x"], made.inputs["n"]
    expected = np.zeros(8)
    for i in range(5):
        expected[i] = eval(index, {"x": x, "n": n, "i": i})
    for engine in ("vm", "riscv"):
        np.testing.assert_array_equal(made.run(engine).outputs["out"], expected)


@pytest.mark.parametrize("engine", ["vm", "riscv"])
@pytest.mark.parametrize("index", ["x[i + 4, i]", "x[i, i + 2]", "x[i - 9, i]"])
def test_an_index_outside_ends_the_run(tmp_path: Path, index: str, engine: str) -> None:
    made = compiled(tmp_path, f"    for i in range(5):\n        out[i] = {index}\n    return out\n")
    with pytest.raises(FleetError, match="index"):
        made.run(engine)
