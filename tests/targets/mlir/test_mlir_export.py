"""The exported function as a whole: what it returns, what it must not touch, unknown sizes, and mlir-opt's judgement."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from mlir_models import draw, model, needs_tools, results, same
from xdsl.dialects.builtin import f64, i64

from fleet.cosim.campaign import cosim
from fleet.cosim.models.loaded import load_model
from fleet.cosim.options import CosimOptions
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.base import RunOptions
from fleet.engines.mlir import ENGINE
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as VM
from fleet.errors import DeviceError, FleetError, ModelError, SetupError
from fleet.ir.program import Program
from fleet.targets.mlir import lower
from fleet.targets.mlir.export import export_mlir
from fleet.targets.mlir.run import compile_mlir, run_mlir

ROOT = Path(__file__).parents[3]
EXAMPLES = [
    ("examples/add_sample.py", None, None),
    ("examples/digits/model.py:forward", "examples/digits/weights.npz", "examples/digits/test.npz"),
    ("examples/mvm4096/model.py:forward", None, None),
    ("examples/gpt2_attention.py", None, None),
    ("examples/gpt2_block/model.py:narrow", None, None),
    ("examples/smollm2_block/model.py:forward", None, None),
    ("examples/heterogeneous/model.py:forward", None, None),
]
NIGHTLY = ["examples/gpt2_attention.py", "examples/gpt2_block/model.py:narrow"]
"""Those whose compilation takes longest; the block of SmolLM2 has their operations."""
LONG = ["examples/gpt2.py", "examples/picogpt.py"]
"""Not run here: drawing the first one's weights and compiling it take half a minute, the second's 3,800 operations more."""


def test_the_tools_are_here_where_they_must_be() -> None:
    """The continuous integration sets the variable when it installed them: there, nothing of this folder may be skipped."""
    if os.environ.get("FLEET_REQUIRE_MLIR"):
        assert lower.missing() is None


@needs_tools
@pytest.mark.parametrize(
    ("spec", "weights", "inputs"),
    [pytest.param(*e, id=e[0], marks=[pytest.mark.nightly] if e[0] in NIGHTLY else []) for e in EXAMPLES],
)
def test_every_example_is_lowered_and_gives_the_golden_numbers(spec: str, weights: str | None, inputs: str | None) -> None:
    """Every operation within its derived bound, through the comparison that campaigns use."""
    if not Path(spec.split(":", maxsplit=1)[0]).exists():
        pytest.skip("not in this checkout")
    loaded = load_model(spec, Path(weights) if weights else None, Path(inputs) if inputs else None, 0, None)
    traces: dict[str, Trace] = {}
    data = DataProvenance("real", 1, None, None, None)
    options = CosimOptions(spec, data, engines={"vm": VM, "mlir": ENGINE}, on_trace=traces.__setitem__)
    result = cosim(loaded.program, loaded.inputs, None, ["vm", "mlir"], options)
    assert result.verdict == "pass", result
    (comparison,) = result.comparisons
    assert comparison.elements > 0
    assert traces["mlir"].meta["stdout"] == traces["vm"].meta["stdout"]


def test_every_example_is_among_them() -> None:
    """Scripts, and functions whose arguments are declared; what drives simulations is no model."""
    listed = {spec.split(":")[0] for spec, _, _ in EXAMPLES} | set(LONG)
    found = {
        str(p.relative_to(ROOT)) for p in (ROOT / "examples").rglob("*.py") if p.parent == ROOT / "examples" or p.stem == "model"
    }
    assert found == listed


@needs_tools
def test_gpt2_is_lowered() -> None:
    """Its 2,530 operations; `fleet run examples/gpt2.py --engines mlir` prints the seed's logits."""
    export = export_mlir(load_model(LONG[0], None, None, 0, None).program)
    functions = [op for op in export.module.ops if op.name == "func.func"]
    assert 20 < len(functions) < 200
    assert f"@_mlir_ciface_{export.entry}(" in lower.lower(export.text())


def test_the_tables_of_the_page_are_current() -> None:
    from fleet.targets.mlir.listing import main

    assert main(["--check"]) == 0


@needs_tools
def test_mlir_opt_prints_what_it_read() -> None:
    """The text is MLIR's own: parsed, verified, printed and parsed again without a change."""
    loaded = load_model("examples/digits/model.py:forward", None, None, 0, 4)
    once = lower.optimise(export_mlir(loaded.program).text())
    assert "linalg.generic" in once
    assert lower.optimise(once) == once


def test_the_text_names_only_upstream_dialects() -> None:
    loaded = load_model("examples/digits/model.py:forward", None, None, 0, 4)
    export = export_mlir(loaded.program)
    export.module.verify()
    names = {op.name.split(".")[0] for op in export.module.walk()}
    assert names <= {"builtin", "func", "tensor", "linalg", "arith", "math", "scf"}


@needs_tools
def test_weights_are_arguments_and_stay_as_they_are() -> None:
    x, w = draw((3, 4), "float32", 1), draw((3, 4), "float32", 2)
    w.flags.writeable = False
    program = model({"x": x, "w": w}, lambda m, a, b: [m("add", a, b), m("neg", b)], weights=["w"])
    before = w.copy()
    found = run_mlir(program, {"x": x})
    same(found["out0"], x + w)
    same(found["out1"], -w)
    same(w, before)


@needs_tools
def test_arguments_and_one_value_twice_can_be_returned() -> None:
    x = draw((3, 4), "float32", 3)

    def body(m, a):
        total = m("add", a, a)
        return [a, total, total, a, m("reshape", a, shape=[12]), m("reshape", total, shape=[4, 3])]

    for got, want in zip(results(body, x), [x, x + x, x + x, x, x.reshape(12), (x + x).reshape(4, 3)], strict=True):
        same(got, want)


@needs_tools
def test_python_numbers_are_returned_and_printed() -> None:
    x = draw((2,), "float64", 4)

    def body(m, a):
        third = m("div", m.constant(1, i64), m.constant(3, i64))
        m.print(third, a)
        m.print(m.constant(2.5, f64))
        return third

    program = model({"x": x}, body)
    run = compile_mlir(program).run({"x": x})
    assert run.stdout == f"{1 / 3} {x}\n2.5\n"
    same(run.outputs["out0"], np.asarray(1 / 3))


@needs_tools
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_unknown_sizes(rows: int) -> None:
    """One compiled function, any number of rows; a size of 1 broadcasts."""
    x, y = draw((rows, 4), "float32", 5), draw((1, 4), "float32", 6)
    w = draw((4, 3), "float32", 7)

    def body(m, a, b, c):
        h = m("maximum", m("matmul", a, c), m.constant(0.0, f64))
        return [
            h,
            m("mean", a, axes=[0], keepdims=False),
            m("sub", a, m("mean", a, axes=[1], keepdims=True)),
            m("transpose", a, permutation=[1, 0]),
            m("argmax", h, axis=1),
            m("concat", a, b, axis=1) if rows == 1 else m("concat", a, a, axis=1),
            m("add", a, b),
            m("cast", a, dtype="float64"),
        ]

    names = {"x0": (-1, 4), "x1": (-1, 4), "x2": (4, 3)}
    program = model({"x0": x, "x1": y, "x2": w}, body, shapes=names)
    program.module.verify()
    found = list(run_mlir(program, {"x0": x, "x1": y, "x2": w}).values())
    golden = list(VM.run(model({"x0": x, "x1": y, "x2": w}, body), {"x0": x, "x1": y, "x2": w}, RunOptions()).outputs.values())
    for got, want in zip(found, golden, strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-3)


@needs_tools
def test_an_input_that_does_not_fit() -> None:
    x = draw((3, 4), "float32", 8)
    compiled = compile_mlir(model({"x": x}, lambda m, a: m("neg", a)))
    for wrong in ({}, {"x": x[:2]}, {"x": x.astype(np.float64)}):
        with pytest.raises(ModelError, match='input "x"'):
            compiled.run(wrong)
    same(compiled.run({"x": np.asfortranarray(x)}).outputs["out0"], -x)


@needs_tools
def test_text_that_mlir_opt_refuses_is_told_in_one_line() -> None:
    with pytest.raises(FleetError, match=r"mlir-opt.* refuses the export: export:1:") as caught:
        lower.lower("func.func @f() { nonsense }")
    assert "\n" not in str(caught.value)


def test_missing_tools_are_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lower, "tools", lambda: None)
    assert "apt-get install mlir-22-tools" in str(lower.missing())
    with pytest.raises(SetupError, match="mlir-opt"):
        lower.lower("")


def test_tools_of_another_generation_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mlir-opt", "mlir-translate"):
        tool = tmp_path / name
        tool.write_text("#!/bin/sh\necho 'LLVM version 19.1.7'\n")
        tool.chmod(0o755)
    monkeypatch.setenv("FLEET_LLVM_BIN", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    lower.tools.cache_clear()
    try:
        found = lower.tools()
        assert found is None or not any(path.startswith(str(tmp_path)) for path in found)
    finally:
        lower.tools.cache_clear()


def test_an_operation_that_the_export_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from fleet.ir.dialect import NegOp
    from fleet.targets.mlir import export

    rules = {k: v for k, v in export.RULES.items() if k is not NegOp}
    monkeypatch.setattr(export, "RULES", rules)
    x = draw((2,), "float32", 9)
    program: Program = model({"x": x}, lambda m, a: m("neg", a))
    with pytest.raises(DeviceError, match=r"model\.py:1:4: operation neg\.1 .*not supported"):
        export_mlir(program)
