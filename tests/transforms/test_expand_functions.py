"""NumPy's functions expanded: the results stay, and so does what is told of the operations around them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fleet
from fleet.engines.interp import interpret
from fleet.errors import FleetError
from fleet.frontend.source import load
from fleet.transforms.passes import find_pass
from fleet.transforms.pipeline import run_pipeline

BODY = """import numpy as np


def forward(x: np.ndarray, w: np.ndarray, n: np.ndarray):
    y = np.clip(x @ w, 0, 6)
    z = np.maximum(x @ w, 0)
    t = np.log2(np.clip(x @ w, 1, 2)), np.log10(y + 1), np.exp2(y), np.sinh(y), np.cosh(y), np.tan(y), np.hypot(y, z)
    s = np.logaddexp(y, z), np.fmax(y, np.nan), np.fmin(y, z), np.nanmax(y, axis=0), np.nanmin(np.where(y > 1, y, np.nan), axis=1)
    return y, z, *t, *s, np.log2(n), np.hypot(n, 3), np.fmax(n, 2), np.clip(n, 1, 5)
"""


@pytest.fixture
def compiled(tmp_path: Path) -> fleet.Compiled:
    (tmp_path / "model.py").write_text(BODY)
    rng = np.random.default_rng(0)
    inputs = {"x": rng.standard_normal((6, 8)).astype(np.float32), "n": rng.integers(1, 100000, (4, 4)).astype(np.uint32)}
    weights = {"w": rng.standard_normal((8, 4)).astype(np.float32)}
    return fleet.compile(f"{tmp_path / 'model.py'}:forward", weights=weights, inputs=inputs)


@pytest.mark.parametrize("engine", ["riscv", "onnxruntime"])
def test_engines_that_expand_them_agree(compiled: fleet.Compiled, engine: str) -> None:
    golden, found = compiled.run("vm"), compiled.run(engine)
    for name, expected in golden.outputs.items():
        assert found.outputs[name].dtype == expected.dtype
        np.testing.assert_allclose(found.outputs[name], expected, rtol=2e-6, err_msg=name)


def test_a_product_fused_with_a_part_is_fused_with_the_function(compiled: fleet.Compiled) -> None:
    """`x @ w` and the maximum of the clip are one operation there; the trace has a value of every other operation of the model."""
    golden, found = compiled.run("vm"), compiled.run("riscv")
    missing = golden.tensors.keys() - found.tensors.keys()
    fates = found.meta["fates"]
    ids = golden.tensors.keys()
    assert missing
    for name in missing:
        assert fates[name].removeprefix("fused into ").removeprefix("the same as ") in ids, (name, fates[name])


def test_only_one_function(compiled: fleet.Compiled) -> None:
    done = find_pass("expand-functions{only=clip}").run(compiled.program)
    kinds = {op.name for op in done.operations()}
    assert "fleet.clip" not in kinds
    assert "fleet.log2" in kinds
    with pytest.raises(FleetError, match="knows no function add"):
        find_pass("expand-functions{only=add}")


MULTI_QUERY = """import numpy as np


def forward(x: "float32[32, 64]", wq: "float32[64, 64]", wk: "float32[64, 32]", wv: "float32[64, 32]", wo: "float32[64, 64]"):
    q = (x @ wq).reshape(32, 2, 32).transpose(1, 0, 2)
    k = np.repeat((x @ wk).reshape(32, 1, 32).transpose(1, 0, 2), 2, axis=0)
    v = np.repeat((x @ wv).reshape(32, 1, 32).transpose(1, 0, 2), 2, axis=0)
    s = q @ k.transpose(0, 2, 1) / np.float32(4)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    return (p @ v).transpose(1, 0, 2).reshape(32, 64) @ wo
"""


@pytest.mark.parametrize("name", ["accel", "riscv"])
def test_a_copy_for_numpys_memory_does_not_keep_attention_apart(tmp_path: Path, name: str) -> None:
    """One head of keys repeated for all queries: a new array in NumPy, nothing that a target would have to copy."""
    (tmp_path / "m.py").write_text(MULTI_QUERY)
    shapes = {"wq": (64, 64), "wk": (64, 32), "wv": (64, 32), "wo": (64, 64)}
    weights = {n: np.ones(shape, np.float32) for n, shape in shapes.items()}
    program = load(f"{tmp_path / 'm.py'}:forward", weights, {"x": np.ones((32, 64), np.float32)})
    assert "fleet.numpy" in {op.name for op in program.operations()}
    kinds = {op.name for op in run_pipeline(program, name).operations()}
    assert "fleet.numpy" not in kinds
    assert "fleet.attention" in kinds


QUANTILES = [
    f"np.{name}(x, {q}, axis=1{method})"
    for name, numbers in {
        "quantile": (0, 1, 0.0, 1.0, 0.5, 0.3, 0.75, [0, 1], [0, 0.5]),
        "percentile": (0, 100, 50, 30.0),
        "nanquantile": (0, 1.0, 0.5),
        "nanpercentile": (100, 25),
    }.items()
    for q in numbers
    for method in ("", *(f", method='{m}'" for m in ("lower", "higher", "nearest", "midpoint")))
]


def test_quantiles_beside_an_infinity_are_numpys(tmp_path: Path) -> None:
    """NaN at an element's own place, as NumPy adds 0 of the distance to the next; q of integers names places."""
    (tmp_path / "model.py").write_text(f"import numpy as np\n\n\ndef forward(x):\n    return {', '.join(QUANTILES)}\n")
    infinity = np.inf
    x = np.array([[1, infinity, infinity], [-infinity, 1, infinity], [-infinity] * 3, [3, 1, 2], [infinity, np.nan, 1]])
    program = load(f"{tmp_path / 'model.py'}:forward", {}, {"x": x})
    expanded = find_pass("expand-functions").run(program)
    assert not any(op.name == "fleet.numpy" for op in expanded.operations())
    golden, found = (interpret(p, {"x": x})[0] for p in (program, expanded))
    for call, name in zip(QUANTILES, program.outputs, strict=True):
        np.testing.assert_array_equal(found[name], golden[name], err_msg=call)
