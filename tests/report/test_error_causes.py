"""The sentences follow the measured figures: a cause that is made larger is the one that they name."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "targets" / "accel"))
from blocks import Builder, gpt2_block, inputs

from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import DataProvenance
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.program import Program
from fleet.report.run.error_causes import classes_of_operations, sentences
from fleet.report.run.page import write_report


def run(program: Program, x: dict[str, np.ndarray], **lowering: object) -> CosimResult:
    data = DataProvenance("random", 8, None, None, None)
    options = CosimOptions(model="m", data=data, device="hbm_small", lowering=LoweringOptions.of(lowering))
    return cosim(program, x, None, ["vm", "iss"], options)


@pytest.fixture(scope="module")
def block() -> CosimResult:
    return run(gpt2_block(), inputs())


def test_every_class_of_a_block_has_its_own_cause(block: CosimResult) -> None:
    largest = {c.title: max(c.shares, key=c.shares.__getitem__) for c in classes_of_operations(block)}
    assert largest["Products by weights"] == "weights"
    assert largest["Activations"] == "unit"
    assert largest.keys() == {"Products by weights", "Norms", "Attention", "Activations"}
    text = sentences(block)
    assert len(text) == 5
    assert "INT4" in next(t for t in text if t.startswith("Products"))
    assert "16 straight lines for gelu_tanh" in next(t for t in text if t.startswith("Activations"))
    assert text[-1].startswith("What reaches out, the last operation: 100% of the error's power from weights")


def test_shares_are_those_of_the_figures(block: CosimResult) -> None:
    """The parts of an operation's error add up to what was measured of the operation alone."""
    arithmetic = next(c for c in block.comparisons if c.name == "iss-vs-vm-rounded")
    rows = [row for row in arithmetic.operations if row.parts]
    assert {row.op for row in rows} == {"ln1", "qkv", "mix", "attn", "ln2", "fc", "act", "out"}
    for row in rows:
        assert row.local is not None
        power = sum(v * v for v in row.parts.values())
        assert 0.5 * row.local.rms**2 < power < 2 * row.local.rms**2
    for c in classes_of_operations(block):
        assert sum(c.shares.values()) == pytest.approx(1.0)
        said = [int(n) for n in re.findall(r"(\d+)%", c.sentence())]
        assert said == sorted(said, reverse=True)
        assert abs(sum(said) - 100) <= 3


def test_weights_that_are_stored_exactly_cost_nothing() -> None:
    b = Builder({"x": (8, 64)}, {"w": np.eye(64, dtype=np.float32) * 7})
    b("y", "matmul", "x", "w")
    result = run(b.done("y"), {"x": np.linspace(-3, 3, 512, dtype=np.float32).reshape(8, 64)})
    (found,) = classes_of_operations(result)
    assert found.shares["weights"] == 0.0
    assert "stored" not in found.sentence()
    assert found.shares["operands"] + found.shares["result"] > 0.99


def test_an_exact_program_says_so() -> None:
    b = Builder({"x": (8, 64), "z": (8, 64)}, {})
    b("y", "add", "x", "z")
    x = np.arange(512, dtype=np.float32).reshape(8, 64)
    result = run(b.done("y"), {"x": x, "z": x})
    assert sentences(result) == ("Elementwise operations (y): no error at all.",)


def test_the_page_has_sentences_and_reasons(tmp_path: Path) -> None:
    b = Builder({"x": (8, 64)}, {"w": np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)})
    b("h", "matmul", "x", "w")
    b("y", "exp", b("n", "neg", b("t", "tanh", "h")))
    result = run(b.done("y"), {"x": np.ones((8, 64), np.float32)})
    page = write_report(result, tmp_path).html.read_text()
    assert "Where the error comes from" in page
    assert "16 straight lines for tanh" in page
    assert all(f'<small class="soft">hbm_small has no instruction for {kind}<' in page for kind in ("neg", "exp"))
