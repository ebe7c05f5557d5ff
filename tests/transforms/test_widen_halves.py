"""float16 computed in float32: numbers of float16 beside no tensor as well."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fleet.engines.base import RunOptions
from fleet.engines.riscv import ENGINE as RISCV
from fleet.engines.vm import ENGINE as VM
from fleet.frontend.source import load


def test_a_number_that_a_composite_asks_about_is_widened(tmp_path: Path) -> None:
    """`fmax(1, x)` becomes `isnan(1)` and more: a comparison of a float16 number alone."""
    path = tmp_path / "model.py"
    path.write_text(
        'import numpy as np\ndef forward(x: "float16[4]"):\n    return np.fmax(1, x), np.fmin(x, 0.1), np.fmax(np.nan, x)\n'
    )
    x = np.array([-2, 0.5, np.nan, 3], np.float16)
    program = load(f"{path}:forward", {}, {"x": x})
    expected = VM.run(program, {"x": x}, RunOptions()).outputs
    found = RISCV.run(program, {"x": x}, RunOptions()).outputs
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)
