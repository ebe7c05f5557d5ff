"""The passes on the GPT-2 examples: everything is raised, nothing is drawn, results stay."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from fleet.frontend.source import load, sample_inputs
from fleet.ir.operations.operation import attributes_of, kind_of
from fleet.ir.text import parse_ir, print_ir
from fleet.ir.weights import Weights
from fleet.transforms.pipeline import PassHooks, pipeline
from fleet.transforms.raising.explain import explain
from fleet.verify.bisect import bisect_pass

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_every_idiom_of_gpt2_is_found_and_no_weight_is_drawn() -> None:
    program = load(str(EXAMPLES / "gpt2.py"), {}, {})
    after, _ = pipeline("riscv").run(program)
    found = Counter(kind_of(op) for op in after.operations())
    assert (found["attention"], found["layer_norm"], found["linear"]) == (12, 25, 48)
    assert not {"exp", "tanh", "mean", "var", "softmax", "gelu", "concat"} & found.keys()
    assert not explain(program)
    assert isinstance(after.weights, Weights)
    assert not after.weights.made("wte")
    linear = [attributes_of(op) for op in after.operations() if op.name == "fleet.linear"]
    assert sum(a["activation"] == "gelu_tanh" for a in linear) == 12
    assert sum(a["residual"] for a in linear) == 24
    # The seed's mask is -1e-10: it hides nothing, so it is added and not taken for a causal one.
    assert all(len(op.operands) == 4 for op in after.operations() if op.name == "fleet.attention")


def test_one_block_keeps_its_results_through_every_pass() -> None:
    spec = f"{EXAMPLES / 'gpt2_attention.py'}:forward"
    inputs = sample_inputs(spec, {})
    program = load(spec, {}, inputs)
    found = bisect_pass(program, {a.name: np.ascontiguousarray(inputs[a.name]) for a in program.inputs}, pipeline("riscv"))
    assert found.fault is None
    assert found.stages[-1].compared >= 8
    after, _ = pipeline("riscv").run(program, PassHooks(verify_each=True))
    (attention,) = (op for op in after.operations() if op.name == "fleet.attention")
    assert attributes_of(attention) == {"heads": 12, "kv_heads": 12, "scale": 0.125, "causal": True}
    text = print_ir(program.module)
    assert print_ir(parse_ir(text)) == text
