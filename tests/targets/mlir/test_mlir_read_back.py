"""What is exported as MLIR is read back as the same program: its results on the VM are equal to the bit."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from mlir_models import Maker, model, needs_tools

from fleet.cli.main import main
from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.vm import ENGINE as VM
from fleet.frontend.source import load, signature
from fleet.ir.program import Program
from fleet.targets.mlir import lower
from fleet.targets.mlir.export import export_mlir

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests" / "frontend"))
from helpers_corpus import corpus  # noqa: E402

EXAMPLES = (
    ("examples/add_sample.py", None, None),
    ("examples/digits/model.py:forward", "examples/digits/weights.npz", "examples/digits/test.npz"),
    ("examples/gpt2_attention.py", None, None),
    ("examples/gpt2_block/model.py:narrow", None, None),
    ("examples/smollm2_block/model.py:forward", None, None),
    ("examples/heterogeneous/model.py:forward", None, None),
)
SAMPLE = (
    "a_star_grid", "advection_upwind", "ar_filter", "caesar_vigenere", "descriptive_report", "dijkstra", "fenwick_tree",
    "gradient_descent", "gru_sequence", "hmm_forward", "interp_table", "kd_tree", "lstm_cell", "max_pool", "pca",
    "quicksort", "transformer_encoder", "wave_equation",
)  # fmt: skip


def read_back(program: Program, inputs: dict[str, np.ndarray], folder: Path) -> Program:
    """Export a program, read the text, and require equal outputs of both, which is returned."""
    export = export_mlir(program)
    path = folder / "model.mlir"
    path.write_text(export.text())
    again = load(str(path), dict(program.weights), inputs)
    assert [a.name for a in signature(str(path))] == [a.name for a in program.arguments]
    options = RunOptions(keep_tensors=False)
    expected, found = VM.run(program, inputs, options).outputs, list(VM.run(again, inputs, options).outputs.values())
    assert len(export.outputs) == len(expected)
    for name, number in export.outputs.items():
        one, other = np.asarray(expected[name]), found[number]
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes()), name
    return again


@pytest.mark.parametrize(("spec", "weights", "inputs"), EXAMPLES, ids=[e[0] for e in EXAMPLES])
def test_examples_come_back(spec: str, weights: str | None, inputs: str | None, tmp_path: Path) -> None:
    loaded = load_model(spec, Path(weights) if weights else None, Path(inputs) if inputs else None, 0, None)
    again = read_back(loaded.program, dict(loaded.inputs), tmp_path)
    kinds = [op.name for op in again.operations() if op.name != "fleet.constant"]
    made = [op.name for op in loaded.program.operations() if op.name not in ("fleet.constant", "fleet.print")]
    assert len(kinds) <= len(made) + 2 * kinds.count("fleet.reshape") + kinds.count("fleet.broadcast_to")
    assert kinds.count("fleet.matmul") == made.count("fleet.matmul")


@pytest.mark.parametrize("program", [p for p in corpus() if p.path.stem in SAMPLE], ids=lambda p: p.path.stem)
def test_programs_of_strangers_come_back(program, tmp_path: Path) -> None:
    read_back(load(program.spec, {}, program.inputs), dict(program.inputs), tmp_path)


RNG = np.random.default_rng(7)
F = RNG.standard_normal((3, 4, 5)).astype(np.float32)
INTEGERS = RNG.integers(-9, 9, (3, 4)).astype(np.int32)
UNUSUAL = {
    "sums over the middle": lambda m, x, i: m("reduce_sum", x, axes=[1], keepdims=True),
    "mean of the first": lambda m, x, i: m("mean", x, axes=[0, 2], keepdims=False),
    "variance": lambda m, x, i: m("var", x, axes=[2], keepdims=True),
    "maximum": lambda m, x, i: m("reduce_max", x, axes=[0], keepdims=False),
    "integers' sum": lambda m, x, i: m("reduce_sum", i, axes=[0], keepdims=False),
    "integers' product": lambda m, x, i: m("reduce_prod", i, axes=[1], keepdims=False),
    "argmax": lambda m, x, i: m("argmax", x, axis=1),
    "argmin of integers": lambda m, x, i: m("argmin", i, axis=1),
    "cumsum": lambda m, x, i: m("cumsum", x, axis=1),
    "argsort": lambda m, x, i: m("argsort", x, axis=2),
    "any": lambda m, x, i: m("reduce_any", m("greater", x, x), axes=[1], keepdims=False),
    "einsum": lambda m, x, i: m("einsum", x, x, subscripts="abc,adc->bad"),
    "einsum that is a product": lambda m, x, i: m(
        "einsum", m("reshape", x, shape=(12, 5)), m("reshape", x, shape=(5, 12)), subscripts="ab,bc->ac"
    ),
    "product of batches": lambda m, x, i: m("matmul", x, m("transpose", x, permutation=(0, 2, 1))),
    "batch of one": lambda m, x, i: m("matmul", m("slice", x, start=[0, 0, 0], size=[1, 4, 5], step=[1, 1, 1]),
                                      m("transpose", x, permutation=(0, 2, 1))),
    "every second, backwards": lambda m, x, i: m("slice", x, start=[2, 0, 4], size=[3, 2, 3], step=[-1, 2, -2]),
    "gather": lambda m, x, i: m("gather", x, m("mod", i, m.constant(5, i.type.element_type)), axis=2),
    "pad": lambda m, x, i: m("pad", i, m.constant(3, i.type.element_type), low=[1, 0], high=[0, 2]),
    "concat": lambda m, x, i: m("concat", x, x, axis=1),
    "scatter": lambda m, x, i: m("scatter", x, m("reshape", m("slice", i, start=[0, 0], size=[1, 2], step=[1, 1]), shape=(2,)),
                                 m("slice", x, start=[0, 0, 0], size=[2, 4, 5], step=[1, 1, 1]), reduction="add"),
    "powers of integers": lambda m, x, i: m("pow", i, m("abs", i)),
    "floor and rest": lambda m, x, i: m(
        "add", m("floor_div", i, m("add", m("abs", i), i)), m("mod", i, m.constant(-4, i.type.element_type))
    ),
    "rest of floats": lambda m, x, i: m("mod", x, m.constant(0.7, x.type.element_type)),
    "floor of floats": lambda m, x, i: m("floor_div", x, m.constant(-0.3, x.type.element_type)),
    "sign": lambda m, x, i: m("sign", x),
    "to integers and back": lambda m, x, i: m(
        "cast", m("cast", m("mul", x, m.constant(50.0, x.type.element_type)), dtype="int8"), dtype="float64"
    ),
    "a number repeated": lambda m, x, i: m("broadcast_to", m("reshape", x, shape=(1, 3, 4, 5)), shape=(2, 3, 4, 5)),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSUAL)
def test_operations_come_back(name: str, tmp_path: Path) -> None:
    indices = np.array([[0, 2, -1, 1]] * 3, np.int32) if name == "scatter" else INTEGERS
    inputs = {"x": F, "i": indices}

    def body(m: Maker, x, i):
        return UNUSUAL[name](m, x, i)

    read_back(model(inputs, body), inputs, tmp_path)


@needs_tools
def test_mlir_opts_own_text_is_read(tmp_path: Path) -> None:
    """What mlir-opt prints of the export, its canonical form, is the same program, too."""
    loaded = load_model("examples/digits/model.py:forward", None, None, 0, 4)
    text = lower.optimise(export_mlir(loaded.program).text())
    assert "#map" in text
    (tmp_path / "model.mlir").write_text(text)
    names = {a.name: f"arg{n}" for n, a in enumerate(loaded.program.arguments)}
    weights = {names[n]: w for n, w in loaded.program.weights.items()}
    inputs = {names[n]: x for n, x in loaded.inputs.items()}
    again = load(str(tmp_path / "model.mlir"), weights, inputs)
    options = RunOptions(keep_tensors=False)
    expected, found = VM.run(loaded.program, loaded.inputs, options), VM.run(again, inputs, options)
    assert [a.tobytes() for a in found.outputs.values()] == [a.tobytes() for a in expected.outputs.values()]


def test_commands_write_and_run_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A source that makes arrays itself: they come in a file beside the text."""
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(
        "import numpy as np\ndef f(x_1: 'float32[3]', x: 'float32[3]'):\n    mask = np.tri(3)\n    return (mask @ x_1) - x, x_1\n"
    )
    np.savez("x.npz", x_1=np.array([1, 2, 4], np.float32), x=np.array([7, 5, 3], np.float32))
    assert main(["compile", "--emit", "mlir", "m.py:f", "--input", "x.npz", "-o", "mlir.mlir"]) == 0
    assert main(["run", "mlir.mlir", "--weights", "mlir.npz", "--input", "x.npz"]) == 0
    assert "[-6. -2.  4.]" in capsys.readouterr().out
    assert main(["compile", "--emit", "ir", "m.py:f", "--input", "x.npz", "-o", "ir.mlir"]) == 0
    assert main(["run", "ir.mlir", "--weights", "ir.npz", "--input", "x.npz"]) == 2
    assert "does not say which argument %x_1 is" in capsys.readouterr().err
    assert main(["cosim", "mlir.mlir", "--weights", "mlir.npz", "--input", "x.npz", "--engines", "vm,riscv"]) == 0
    assert "PASS" in capsys.readouterr().out
