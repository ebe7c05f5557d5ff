"""Rotary embedding in its other forms: of the first channels of a head only, and of channels half a head apart."""

from __future__ import annotations

import numpy as np
import pytest

from fleet.ir.accel import attention, products
from fleet.symbols import expr as ne
from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.targets.bytecode.vm import VM
from fleet.transforms.conversion.to_program import to_program

TOKEN = ne.Var("token", max_data=16)


@pytest.mark.parametrize(("channels", "pairs", "mode"), [(16, 4, "glm"), (10, 4, "glm"), (8, 4, "glm"), (8, 4, "qwen")])
def test_the_first_channels_turn_and_the_others_stay(channels: int, pairs: int, mode: str) -> None:
    rng = np.random.default_rng(channels)
    n, first = 2, 3
    angle = rng.uniform(0, 6, (6, pairs))
    x = rng.standard_normal((2, n, channels)).astype(np.float32)
    data = products.var_ddr("x", (2, TOKEN, channels))
    table = products.const_ddr("rotary", np.stack([np.cos(angle), np.sin(angle)]), (2, 6, pairs))
    step = to_program(attention.rope_glm(data, table) if mode == "glm" else attention.rope_qwen(data, table), n, None)
    (rows,) = step.tables
    inputs = {"x": x, rows.cos: rows.cosines[first : first + n], rows.sin: rows.sines[first : first + n]}
    found = VM(ByteCodeConverter(step.program).convert()).run(inputs)["output"]
    one, two = (slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)) if mode == "glm" else (slice(0, pairs), slice(pairs, None))
    turned = (x[..., one] + 1j * x[..., two]) * np.exp(1j * angle[first : first + n])
    expected = x.copy()
    expected[..., one], expected[..., two] = turned.real, turned.imag
    np.testing.assert_allclose(found, expected, atol=1e-5)
