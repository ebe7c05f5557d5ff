from __future__ import annotations

import numpy as np

from fleet.frontend.source import load
from fleet.ir.dialect import ConstantOp, kind_of, op_id
from fleet.ir.text import parse_ir, print_ir
from fleet.transforms.simplify.canonicalise import canonicalise

TEXT = """import numpy as np
def forward(x: "f32[2, 3]"):
    dead = np.exp(x) * 3
    k = 0.5
    a = x * 2.0 + 2.0
    print(x.sum())
    return a * 2 + k * x
"""


def test_dead_code_goes_and_effects_stay(tmp_path) -> None:
    (tmp_path / "m.py").write_text(TEXT)
    program = load(f"{tmp_path / 'm.py'}:forward", {}, {"x": np.zeros((2, 3), np.float32)})
    kinds = [kind_of(op) for op in program.operations()]
    assert "exp" not in kinds
    assert kinds.count("print") == kinds.count("reduce_sum") == 1
    constants = [op for op in program.operations() if isinstance(op, ConstantOp)]
    assert len(constants) == 2  # 2.0 once, and k
    assert "k" in {op_id(op) for op in constants}


def test_it_is_idempotent_and_leaves_its_input_alone(tmp_path) -> None:
    (tmp_path / "m.py").write_text(TEXT)
    program = load(f"{tmp_path / 'm.py'}:forward", {}, {"x": np.zeros((2, 3), np.float32)})
    before = print_ir(program.module)
    again = canonicalise(program)
    assert print_ir(again.module) == before == print_ir(program.module)
    assert again.module is not program.module
    parse_ir(before)
