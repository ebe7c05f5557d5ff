"""`argmax` rides on the product before it along the channels only; along anything else it is the host's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fleet

MODEL = """
import numpy as np


def forward(x: "float32[6, 64]", w: "float32[64, 6]"):
    return np.argmax(x @ w, axis={axis})
"""


@pytest.mark.parametrize(("axis", "place"), [(-1, "device"), (1, "device"), (0, "host")])
def test_the_axis_of_argmax_decides_where_it_runs(axis: int, place: str, tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(axis=axis))
    rng = np.random.default_rng(3)
    w = np.eye(64, 6, dtype=np.float32)  # exact in four bits
    x = rng.permutation(6 * 64).reshape(6, 64).astype(np.float32) / 64  # every value once, exact in FP16
    compiled = fleet.compile(f"{path}:forward", weights={"w": w}, inputs={"x": x})
    trace = compiled.run("iss", {"x": x}, device="hbm_small")
    placed = {name.partition(".")[0]: where for name, where in trace.placement.items()}
    assert placed["argmax"] == place, trace.placement
    (found,) = trace.outputs.values()
    np.testing.assert_array_equal(found, np.argmax(x[:, :6], axis=axis))
