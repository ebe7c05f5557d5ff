"""Loops and decisions of the run as scf: lowered by mlir-opt and run, and read back, against the VM; texts that others write."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bodies_models import drawn_programs, golden
from mlir_models import needs_tools

from fleet.errors import DeviceError, ModelError
from fleet.frontend.source import load
from fleet.ir.dialect import IfOp, WhileOp, all_operations
from fleet.targets.mlir.export import export_mlir
from fleet.targets.mlir.run import compile_mlir, run_mlir


def test_random_models_come_back(tmp_path: Path) -> None:
    seen = 0
    for text, program, inputs in drawn_programs(tmp_path, range(60)):
        (tmp_path / "model.mlir").write_text(export_mlir(program).text())
        again = load(str(tmp_path / "model.mlir"), {}, inputs)
        assert any(isinstance(op, WhileOp) for op in again.operations())
        for found, expected in zip(golden(again, inputs).values(), golden(program, inputs).values(), strict=True):
            np.testing.assert_array_equal(found, expected, err_msg=text)
        seen += 1
    assert seen > 30


@needs_tools
@pytest.mark.parametrize("first", [100, 104, 108])
def test_random_models_are_lowered(first: int, tmp_path: Path) -> None:
    seen = 0
    for text, program, inputs in drawn_programs(tmp_path, range(first, first + 4)):
        found, expected = run_mlir(program, inputs), golden(program, inputs)
        assert found.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_allclose(found[name], array, rtol=1e-12, err_msg=text)
        seen += 1
    assert seen


SWAPPED = "def forward(x, y):\n    k = 0\n    while k < x.argmax():\n        x, y, k = y, x, k + 1\n    return x, y, x\n"


@needs_tools
@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
def test_what_a_loop_carries_may_change_places(rounds: int, tmp_path: Path) -> None:
    """Also where there is no round: the results are the arguments, which the caller keeps."""
    (tmp_path / "m.py").write_text(SWAPPED)
    inputs = {"x": np.eye(4)[rounds], "y": np.eye(4)[rounds] * 2}
    program = load(f"{tmp_path}/m.py:forward", {}, inputs)
    before = {name: array.copy() for name, array in inputs.items()}
    found = run_mlir(program, inputs)
    for name, expected in golden(program, inputs).items():
        np.testing.assert_array_equal(found[name], expected)
    for name, array in inputs.items():
        np.testing.assert_array_equal(array, before[name])


@needs_tools
def test_rounds_free_what_they_no_longer_need(tmp_path: Path) -> None:
    """20,000 rounds that make 200 kB each."""
    import resource

    text = "def forward(x):\n    k = 0\n    while k < 20000 and x[0] > -1:\n        x, k = x * 0.5 + 1, k + 1\n    return x\n"
    (tmp_path / "m.py").write_text(text)
    inputs = {"x": np.ones(25_000)}
    compiled = compile_mlir(load(f"{tmp_path}/m.py:forward", {}, inputs))
    assert compiled.address
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    np.testing.assert_array_equal(compiled.run(inputs).outputs["x"], np.full(25_000, 2.0))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB, of 4,000,000 that were made


def test_a_print_in_a_loop_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def forward(x):\n    while x[0] > 1:\n        x = x * 0.5\n        print(x)\n    return x\n")
    program = load(f"{tmp_path}/m.py:forward", {}, {"x": np.ones(2)})
    with pytest.raises(DeviceError, match=r"m\.py:4:.*take the print out of it"):
        export_mlir(program)


# ---- texts of others

COUNTED = """func.func @f(%x: tensor<4xf64>, %n: i64) -> (tensor<4xf64>, i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r:2 = scf.while (%i = %c0, %v = %x) : (i64, tensor<4xf64>) -> (tensor<4xf64>, i64) {
    %w = tensor.empty() : tensor<4xf64>
    %d = linalg.add ins(%v, %x : tensor<4xf64>, tensor<4xf64>) outs(%w : tensor<4xf64>) -> tensor<4xf64>
    %again = arith.cmpi slt, %i, %n : i64
    scf.condition(%again) %d, %i : tensor<4xf64>, i64
  } do {
  ^bb0(%v: tensor<4xf64>, %i: i64):
    %j = arith.addi %i, %c1 : i64
    scf.yield %j, %v : i64, tensor<4xf64>
  }
  return %r#0, %r#1 : tensor<4xf64>, i64
}
"""


@pytest.mark.parametrize("rounds", [0, 1, 5, 100_000])
def test_what_the_test_computes_goes_on(rounds: int, tmp_path: Path) -> None:
    """A loop as others write it: its test computes what the body and the results get, of other kinds than it carries."""
    (tmp_path / "f.mlir").write_text(COUNTED)
    inputs = {"x": np.arange(4.0), "n": np.array(rounds)}
    program = load(f"{tmp_path}/f.mlir", {}, inputs)
    assert sum(isinstance(op, WhileOp) for op in program.operations()) == 1
    first, second = golden(program, inputs).values()
    np.testing.assert_array_equal(first, np.arange(4.0) * (rounds + 2))
    assert second == rounds


STAIRS = """func.func @f(%x: tensor<8xf64>) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant ROUNDS : index
  %r:2 = scf.while (%i = %c0, %v = %x) : (index, tensor<8xf64>) -> (index, tensor<8xf64>) {
    %again = arith.cmpi slt, %i, %n : index
    scf.condition(%again) %i, %v : index, tensor<8xf64>
  } do {
  ^bb0(%i: index, %v: tensor<8xf64>):
    %m = arith.remsi %i, %c2 : index
    %w = scf.for %k = %c0 to %m step %c1 iter_args(%u = %v) -> (tensor<8xf64>) {
      %e = tensor.empty() : tensor<8xf64>
      %d = linalg.add ins(%u, %x : tensor<8xf64>, tensor<8xf64>) outs(%e : tensor<8xf64>) -> tensor<8xf64>
      scf.yield %d : tensor<8xf64>
    }
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %w : index, tensor<8xf64>
  }
  return %r#1 : tensor<8xf64>
}
"""


def test_rounds_that_must_be_known_are_followed(tmp_path: Path) -> None:
    (tmp_path / "f.mlir").write_text(STAIRS.replace("ROUNDS", "5"))
    inputs = {"x": np.arange(8.0)}
    program = load(f"{tmp_path}/f.mlir", {}, inputs)
    assert not any(isinstance(op, WhileOp) for op in program.operations())
    (found,) = golden(program, inputs).values()
    np.testing.assert_array_equal(found, 3 * np.arange(8.0))


def test_what_cannot_be_followed_is_told(tmp_path: Path) -> None:
    (tmp_path / "f.mlir").write_text(STAIRS.replace("ROUNDS", "5000"))
    with pytest.raises(
        ModelError, match=r"f\.mlir:6.*more than 4,096 rounds, which must be followed one by one: a bound of a loop"
    ):
        load(f"{tmp_path}/f.mlir", {}, {"x": np.arange(8.0)})


FOR = """func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> {
  %c0 = arith.constant 3 : index
  %c1 = arith.constant 2 : index
  %n = arith.constant 50000 : index
  %h = arith.constant dense<0.5> : tensor<2xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<2xf64>) {
    %e = tensor.empty() : tensor<2xf64>
    %p = linalg.mul ins(%v, %h : tensor<2xf64>, tensor<2xf64>) outs(%e : tensor<2xf64>) -> tensor<2xf64>
    %w = linalg.add ins(%p, %x : tensor<2xf64>, tensor<2xf64>) outs(%e : tensor<2xf64>) -> tensor<2xf64>
    scf.yield %w : tensor<2xf64>
  }
  return %r : tensor<2xf64>
}
"""


def test_more_rounds_than_are_followed_are_a_loop_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "f.mlir").write_text(FOR)
    inputs = {"x": np.array([1.0, -3.0])}
    program = load(f"{tmp_path}/f.mlir", {}, inputs)
    assert sum(isinstance(op, WhileOp) for op in program.operations()) == 1
    (found,) = golden(program, inputs).values()
    np.testing.assert_array_equal(found, [2.0, -6.0])


CHOSEN = """func.func @f(%x: f64) -> f64 {
  %one = arith.constant 1.0 : f64
  %big = arith.cmpf ogt, %x, %one : f64
  %r = scf.if %big -> (f64) {
    %s = scf.while (%v = %x) : (f64) -> f64 {
      %again = arith.cmpf une, %v, %one : f64
      scf.condition(%again) %v : f64
    } do {
    ^bb0(%v: f64):
      %w = math.sqrt %v : f64
      scf.yield %w : f64
    }
    scf.yield %s : f64
  } else {
    scf.yield %x : f64
  }
  return %r : f64
}
"""


@pytest.mark.parametrize(("x", "expected"), [(3.0, 1.0), (-1.0, -1.0)])
def test_a_loop_in_a_branch_runs_where_it_is_chosen(x: float, expected: float, tmp_path: Path) -> None:
    """Of a negative number the loop would have no end."""
    (tmp_path / "f.mlir").write_text(CHOSEN)
    inputs = {"x": np.array(x)}
    program = load(f"{tmp_path}/f.mlir", {}, inputs)
    assert sum(isinstance(op, IfOp) for op in all_operations(program.function.body.block)) == 1
    (found,) = golden(program, inputs).values()
    assert found == expected


ARRAYS_OF_ONE = """func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %step = stablehlo.constant dense<1.5> : tensor<4xf32>
  %n = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.while(%x = %arg0) : tensor<4xf32>
    cond {
      %s = stablehlo.reduce(%x init: %n) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      %c = stablehlo.compare GT, %s, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %y = stablehlo.subtract %x, %step : tensor<4xf32>
      stablehlo.return %y : tensor<4xf32>
    }
  return %0 : tensor<4xf32>
}
"""


@needs_tools
def test_a_condition_may_be_an_array_of_one_element(tmp_path: Path) -> None:
    """As in StableHLO, which has no numbers beside arrays."""
    (tmp_path / "m.mlir").write_text(ARRAYS_OF_ONE)
    inputs = {"arg0": np.array([1, 2, 3, 4], np.float32)}
    program = load(str(tmp_path / "m.mlir"), {}, inputs)
    (found,), (expected,) = run_mlir(program, inputs).values(), golden(program, inputs).values()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found, inputs["arg0"] - 3)
