"""The GPT-2 examples: what they print, that nothing is drawn while compiling, and that the attention one can fail."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.sides import NUMPY_ULP, FloatArithmetic
from fleet.compare.bounds.tolerance import cumulative_bounds
from fleet.compare.traces import ValueComparison, compare_values
from fleet.engines.base import RunOptions
from fleet.engines.vm import ENGINE
from fleet.frontend.source import load
from fleet.ir.weights import StreamDraw
from fleet.targets.bytecode import VM, ByteCodeConverter

EXAMPLES = Path(__file__).parents[2] / "examples"
SEED_000 = """
[[-4.21660253e-04  7.29883815e-04 -4.33100290e-05 ...  5.03254805e-04 -3.66641127e-04  2.89550343e-04]
 [-4.19659544e-04  7.24772203e-04 -4.58018037e-05 ...  5.08032994e-04 -3.70418946e-04  2.88506467e-04]
 [-4.21276194e-04  7.27972861e-04 -4.24837327e-05 ...  5.01558398e-04 -3.71175064e-04  2.93489106e-04]
 ...
 [-4.18536527e-04  7.23852492e-04 -4.42954715e-05 ...  5.02633920e-04 -3.65614700e-04  2.87673096e-04]
 [-4.17000882e-04  7.26545760e-04 -4.21995092e-05 ...  5.04763755e-04 -3.64839513e-04  2.91270895e-04]
 [-4.18463483e-04  7.26882803e-04 -4.55622031e-05 ...  5.04293242e-04 -3.67897237e-04  2.88245682e-04]]
"""


def numbers(text: str) -> np.ndarray:
    words = text.replace("[", " ").replace("]", " ").split()
    return np.array([float(w) for w in words if w != "..."])


def test_gpt2_prints_the_numbers_of_seed_000() -> None:
    program = load(str(EXAMPLES / "gpt2.py"), {}, {})
    module = ByteCodeConverter(program).convert()
    drawn = [n for n, w in program.weights.entries.items() if isinstance(w, StreamDraw)]
    assert len(drawn) == 98
    assert not any(program.weights.made(n) for n in drawn), "something was drawn while compiling"
    assert [a.name for a in program.arguments if a.name.startswith("w")] == ["wte", "wpe"]
    assert "blocks.11.ffn.down_bias" in program.weights
    printed = io.StringIO()
    VM(module, echo=lambda *v, end="\n": print(*v, end=end, file=printed)).run()
    np.testing.assert_allclose(numbers(printed.getvalue()), numbers(SEED_000), rtol=1e-6)
    by_python = subprocess.run(
        [sys.executable, str(EXAMPLES / "gpt2.py")], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert by_python.stdout == printed.getvalue()


FAULTS = {
    "none": ("", ""),
    "mask dropped": ("/ 8.0 + mask", "/ 8.0"),
    "uniform attention": ("q @ k.T / 8.0", "q @ k.T * 0.0"),
    "no 1/sqrt(d)": ("q @ k.T / 8.0", "q @ k.T"),
    "mask off by one, sees the next token": ("np.tri(x.shape[0])", "np.tri(x.shape[0], k=1)"),
    "mask off by one, does not see its own": ("np.tri(x.shape[0])", "np.tri(x.shape[0], k=-1)"),
}


@pytest.fixture(scope="module")
def attention():
    """Program, golden, inputs and bounds of the example."""
    x = {"x": np.random.default_rng(3).standard_normal((8, 768))}
    program = load(f"{EXAMPLES / 'gpt2_attention.py'}:forward", {}, x)
    golden = ENGINE.run(program, x, RunOptions(keep_tensors=True))
    bounds = cumulative_bounds(Values(program, x, golden.tensors), FloatArithmetic(NUMPY_ULP))
    return program, golden, x, bounds


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_attention_fail_the_comparison(attention, tmp_path, fault: str) -> None:
    program, golden, x, bounds = attention
    text = (EXAMPLES / "gpt2_attention.py").read_text()
    old, new = FAULTS[fault]
    assert old in text
    (tmp_path / "gpt2_attention.py").write_text(text.replace(old, new) if old else text)
    planted = load(f"{tmp_path / 'gpt2_attention.py'}:forward", {}, x)
    trace = ENGINE.run(planted, x, RunOptions())
    trace = replace(trace, engine="planted", program_hash=golden.program_hash, tensors={"y": trace.outputs["y"]})
    spec = ValueComparison("planted-vs-vm", "bound", "Is it found?", bounds={"y": bounds["y"]}, missing_is_failure=False)
    result, _ = compare_values(spec, golden, trace, program, same_program=True)
    assert result.verdict == ("pass" if fault == "none" else "fail"), result.reasons
    assert np.isfinite(bounds["y"].array).all()
    (row,) = [r for r in result.operations if r.op == "y"]
    assert row.cumulative.elements == 8 * 768


def test_the_attention_example_is_what_python_computes() -> None:
    namespace: dict = {"__name__": "example"}
    exec(compile((EXAMPLES / "gpt2_attention.py").read_text(), "gpt2_attention.py", "exec"), namespace)
    x = np.random.default_rng(3).standard_normal((5, 768))
    program = load(f"{EXAMPLES / 'gpt2_attention.py'}:forward", {}, {"x": x})
    (found,) = VM(ByteCodeConverter(program).convert()).run({"x": x}).values()
    assert (found == namespace["forward"](x)).all()
    assert {"w_qkv", "b_qkv", "w_out", "w_up", "w_down"} <= set(program.weights)
