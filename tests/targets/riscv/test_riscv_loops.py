"""How neighbours are done in lanes: every element, and only those that there are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.frontend.source import load
from fleet.ir.dialect import WhileOp, op_id
from fleet.targets.riscv.codegen import generate
from fleet.targets.riscv.kernels.loops import pieces


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 300), st.sampled_from([1, 2, 4, 8, 16, 64]), st.booleans())
def test_every_element_is_done(count: int, lanes: int, overlap: bool) -> None:
    done = [0] * count
    for first, width, times in pieces(count, lanes, overlap=overlap):
        assert 1 <= width <= lanes
        for step in range(times):
            assert first + step * width >= 0
            for i in range(first + step * width, first + (step + 1) * width):
                done[i] += 1  # IndexError behind the last element
    assert min(done, default=1) == 1
    assert overlap or max(done, default=1) == 1


@pytest.mark.parametrize(("factor", "functions"), [("0.5", 1), ("0.25", 2)])
def test_loops_that_do_the_same_share_their_code(tmp_path: Path, factor: str, functions: int) -> None:
    source = tmp_path / "m.py"
    source.write_text(
        "def forward(x, y):\n"
        "    while x.max() > 0.5:\n        x = x * 0.5\n"
        f"    while y.max() > 0.5:\n        y = y * {factor}\n"
        "    return x, y\n"
    )
    program = load(f"{source}:forward", {}, {"x": np.ones(8, np.float32), "y": np.ones(8, np.float32)})
    loops = {op_id(op) for op in program.operations() if isinstance(op, WhileOp)}
    assert len(loops) == 2
    assert len({o.body for o in generate(program).operations if o.id in loops}) == functions
