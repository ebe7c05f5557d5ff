"""MLIR as others write it: linalg on tensors, arith on scalars, loops of scf, windows of tensors; what is not taken says where."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fleet.cli.main import main
from fleet.engines.base import RunOptions
from fleet.engines.riscv import ENGINE as RISCV
from fleet.engines.vm import ENGINE as VM
from fleet.errors import FleetError
from fleet.frontend.source import load, sample_inputs, signature

MATMUL = """func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x3xf32>) -> tensor<4x3xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x3xf32>) outs(%init : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %c : tensor<4x3xf32>
}
"""
BITS = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %least = arith.constant dense<0xFF800000> : tensor<3xf32>
  %ones = arith.constant dense<[0x3F800000, 1.0, 0xBF800000]> : tensor<3xf32>
  %y = arith.maximumf %x, %least : tensor<3xf32>
  %z = arith.addf %y, %ones : tensor<3xf32>
  return %z : tensor<3xf32>
}
"""
"""Elements of floats by their bits."""
ADD_RELU = """#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
module {
  func.func @add_relu(%x: tensor<?x5xf32>, %b: tensor<5xf32>) -> tensor<?x5xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %n = tensor.dim %x, %c0 : tensor<?x5xf32>
    %out = tensor.empty(%n) : tensor<?x5xf32>
    %y = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
        ins(%x, %b : tensor<?x5xf32>, tensor<5xf32>) outs(%out : tensor<?x5xf32>) {
      ^bb0(%e: f32, %bias: f32, %old: f32):
        %s = arith.addf %e, %bias : f32
        %r = arith.maximumf %s, %zero : f32
        linalg.yield %r : f32
    } -> tensor<?x5xf32>
    return %y : tensor<?x5xf32>
  }
}
"""
SCALARS = """func.func @scalars(%a: f64, %b: f64, %n: i32) -> (f64, i32, i1) {
  %two = arith.constant 2.0 : f64
  %seven = arith.constant 7 : i32
  %p = arith.mulf %a, %b : f64
  %q = arith.divf %p, %two : f64
  %s = math.sqrt %q : f64
  %rest = arith.remsi %n, %seven : i32
  %less = arith.cmpf olt, %a, %b : f64
  %sum = scf.if %less -> (f64) {
    %t = arith.addf %s, %a : f64
    scf.yield %t : f64
  } else {
    scf.yield %s : f64
  }
  return %sum, %rest, %less : f64, i32, i1
}
"""
LOOP = """func.func @power(%m: tensor<3x3xf64>, %x: tensor<3xf64>) -> tensor<3xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f64
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %x) -> (tensor<3xf64>) {
    %e = tensor.empty() : tensor<3xf64>
    %z = linalg.fill ins(%zero : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
    %w = linalg.matvec ins(%m, %v : tensor<3x3xf64>, tensor<3xf64>) outs(%z : tensor<3xf64>) -> tensor<3xf64>
    scf.yield %w : tensor<3xf64>
  }
  return %r : tensor<3xf64>
}
"""
WINDOWS = """func.func @windows(%x: tensor<6x8xi32>, %at: index) -> (tensor<6x8xi32>, tensor<3xi32>, tensor<6x8xi32>) {
  %part = tensor.extract_slice %x[1, 2] [2, 3] [2, 1] : tensor<6x8xi32> to tensor<2x3xi32>
  %whole = tensor.insert_slice %part into %x[4, 0] [2, 3] [1, 1] : tensor<2x3xi32> into tensor<6x8xi32>
  %row = tensor.extract_slice %x[%at, 1] [1, 3] [1, 2] : tensor<6x8xi32> to tensor<3xi32>
  %moved = tensor.insert_slice %part into %x[%at, 1] [2, 3] [1, 2] : tensor<2x3xi32> into tensor<6x8xi32>
  return %whole, %row, %moved : tensor<6x8xi32>, tensor<3xi32>, tensor<6x8xi32>
}
"""
CONVOLUTION = """#in = affine_map<(o, k) -> (o * 2 + k)>
#kernel = affine_map<(o, k) -> (k)>
#out = affine_map<(o, k) -> (o)>
func.func @conv(%x: tensor<9xf32>, %w: tensor<3xf32>, %start: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {indexing_maps = [#in, #kernel, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<9xf32>, tensor<3xf32>) outs(%start : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
SOFTMAX = """func.func @softmax(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<2xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
  %m = linalg.reduce ins(%x : tensor<2x5xf32>) outs(%m0 : tensor<2xf32>) dimensions = [1] (%v: f32, %u: f32) {
    %w = arith.maximumf %v, %u : f32
    linalg.yield %w : f32
  }
  %e2 = tensor.empty() : tensor<2x5xf32>
  %mb = linalg.broadcast ins(%m : tensor<2xf32>) outs(%e2 : tensor<2x5xf32>) dimensions = [1]
  %d = linalg.sub ins(%x, %mb : tensor<2x5xf32>, tensor<2x5xf32>) outs(%e2 : tensor<2x5xf32>) -> tensor<2x5xf32>
  %p = linalg.exp ins(%d : tensor<2x5xf32>) outs(%e2 : tensor<2x5xf32>) -> tensor<2x5xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
  %s = linalg.reduce ins(%p : tensor<2x5xf32>) outs(%s0 : tensor<2xf32>) dimensions = [1] (%a: f32, %b: f32) {
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  }
  %sb = linalg.broadcast ins(%s : tensor<2xf32>) outs(%e2 : tensor<2x5xf32>) dimensions = [1]
  %y = linalg.div ins(%p, %sb : tensor<2x5xf32>, tensor<2x5xf32>) outs(%e2 : tensor<2x5xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
"""
BEST = """#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @best(%x: tensor<3x4xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3xf32>
  %n = tensor.empty() : tensor<3xi32>
  %v0 = linalg.fill ins(%low : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %i0 = linalg.fill ins(%zero : i32) outs(%n : tensor<3xi32>) -> tensor<3xi32>
  %v, %i = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x4xf32>) outs(%v0, %i0 : tensor<3xf32>, tensor<3xi32>) {
    ^bb0(%e0: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %here = arith.index_cast %j : index to i32
      %more = arith.cmpf ogt, %e0, %best : f32
      %nv = arith.select %more, %e0, %best : f32
      %ni = arith.select %more, %here, %at : i32
      linalg.yield %nv, %ni : f32, i32
  } -> (tensor<3xf32>, tensor<3xi32>)
  return %v, %i : tensor<3xf32>, tensor<3xi32>
}
"""
ALTERNATING = """#in = affine_map<(i) -> (i)>
#out = affine_map<(i) -> ()>
func.func @alternating(%x: tensor<6xi64>) -> tensor<i64> {
  %start = arith.constant dense<3> : tensor<i64>
  %y = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%x : tensor<6xi64>) outs(%start : tensor<i64>) {
    ^bb0(%e: i64, %acc: i64):
      %twice = arith.muli %acc, %acc : i64
      %s = arith.subi %twice, %e : i64
      linalg.yield %s : i64
  } -> tensor<i64>
  return %y : tensor<i64>
}
"""

RNG = np.random.default_rng(3)


def _drawn(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return RNG.integers(-9, 9, shape).astype(dtype) if np.dtype(dtype).kind == "i" else RNG.standard_normal(shape).astype(dtype)


def _windows(x: np.ndarray, at: int) -> list[np.ndarray]:
    part = x[1:5:2, 2:5]
    whole, moved = x.copy(), x.copy()
    whole[4:6, 0:3] = part
    moved[at : at + 2, 1:6:2] = part
    return [whole, x[at, 1:6:2], moved]


def _alternating(x: np.ndarray) -> list[np.ndarray]:
    total = np.int64(3)
    for e in x:
        total = total * total - e
    return [np.asarray(total)]


def _softmax(x: np.ndarray) -> list[np.ndarray]:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return [e / e.sum(axis=1, keepdims=True)]


NAN = np.array([[1, np.nan, 3, 3], [np.nan] * 4, [-np.inf, -2, -2, -5]], np.float32)
F64 = np.float64
TEXTS: dict[str, tuple[str, dict[str, np.ndarray], Callable[..., list[np.ndarray]]]] = {
    "matmul": (MATMUL, {"a": _drawn(4, 8), "b": _drawn(8, 3)}, lambda a, b: [a @ b]),
    "add and relu": (ADD_RELU, {"x": _drawn(7, 5), "b": _drawn(5)}, lambda x, b: [np.maximum(x + b, 0)]),
    "scalars": (
        SCALARS,
        {"a": np.asarray(1.5), "b": np.asarray(3.25), "n": np.asarray(-19, np.int32)},
        lambda a, b, n: [np.sqrt(a * b / 2) + a, np.int32(-5), np.asarray(a < b)],
    ),
    "scalars, the other way": (
        SCALARS,
        {"a": np.asarray(9.0), "b": np.asarray(2.0), "n": np.asarray(20, np.int32)},
        lambda a, b, n: [np.sqrt(a * b / 2), np.int32(6), np.asarray(a < b)],
    ),
    "loop": (
        LOOP,
        {"m": _drawn(3, 3, dtype=F64), "x": _drawn(3, dtype=F64)},
        lambda m, x: [(m @ (m @ (m @ (m @ x[:, None]))))[:, 0]],
    ),
    "windows": (WINDOWS, {"x": _drawn(6, 8, dtype=np.int32), "at": np.asarray(3)}, lambda x, at: _windows(x, int(at))),
    "convolution": (
        CONVOLUTION,
        {"x": np.arange(-4, 5).astype(np.float32), "w": np.array([1, 2, -3], np.float32), "start": np.full(4, 2, np.float32)},
        lambda x, w, start: [start + np.array([x[2 * o : 2 * o + 3] @ w for o in range(4)], np.float32)],
    ),
    "bits": (BITS, {"x": _drawn(3)}, lambda x: [x + np.array([1, 1, -1], np.float32)]),
    "softmax": (SOFTMAX, {"x": _drawn(2, 5)}, _softmax),
    "best": (BEST, {"x": NAN}, lambda x: [np.array([3, -np.inf, -2], np.float32), np.array([2, 0, 1], np.int32)]),
    "in order": (ALTERNATING, {"x": np.array([7, -2, 5, 11, 3, -8])}, _alternating),
}


@pytest.mark.parametrize("name", TEXTS)
def test_it_computes_what_it_says(name: str, tmp_path: Path) -> None:
    text, inputs, wanted = TEXTS[name]
    (tmp_path / "text.mlir").write_text(text)
    given = {n: np.asarray(a) for n, a in inputs.items()}
    program = load(str(tmp_path / "text.mlir"), {}, given)
    expected = wanted(**inputs)
    found = list(VM.run(program, given, RunOptions()).outputs.values())
    assert [(a.dtype, a.shape) for a in found] == [(np.asarray(e).dtype, np.asarray(e).shape) for e in expected]
    assert [a.tobytes() for a in found] == [np.asarray(e).tobytes() for e in expected]
    other = RISCV.run(program, given, RunOptions())
    for a, e in zip(other.outputs.values(), expected, strict=True):
        np.testing.assert_allclose(a, e, rtol=2e-6)


MLIR_OPT = shutil.which("mlir-opt-22")


@pytest.mark.skipif(
    MLIR_OPT is None and not os.environ.get("FLEET_REQUIRE_MLIR"), reason="mlir-opt-22 is missing: Debian's mlir-22-tools"
)
@pytest.mark.parametrize("name", TEXTS)
def test_it_is_mlir_and_its_generic_form_is_the_same_program(name: str, tmp_path: Path) -> None:
    """The texts above are MLIR in MLIR's own opinion; its generic form, and its named operations as loops, are read alike."""
    text, inputs, _ = TEXTS[name]
    given = {n: np.asarray(a) for n, a in inputs.items()}
    (tmp_path / "text.mlir").write_text(text)
    expected = VM.run(load(str(tmp_path / "text.mlir"), {}, given), given, RunOptions()).outputs.values()
    assert MLIR_OPT is not None
    for n, options in enumerate((["--mlir-print-op-generic"], ["--linalg-generalize-named-ops"])):
        done = subprocess.run([MLIR_OPT, *options], input=text, capture_output=True, text=True, check=True)
        path = tmp_path / f"other{n}.mlir"
        path.write_text(done.stdout)
        renamed = {a.name: array for a, array in zip(signature(str(path)), given.values(), strict=True)}
        found = VM.run(load(str(path), {}, renamed), renamed, RunOptions()).outputs.values()
        assert [a.tobytes() for a in found] == [a.tobytes() for a in expected]


FUNCTION = "func.func @f(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {\n  %c = arith.constant 0 : index\n"
TYPE = "tensor<4xf32>"
END = f"  return %y : {TYPE}\n}}\n"
PLAIN = f"func.func @f(%x: {TYPE}) -> {TYPE} {{\n"
REFUSED = {
    "another dialect": (FUNCTION + f'  %y = "mhlo.abs"(%x) : ({TYPE}) -> {TYPE}\n' + END, "3", "mhlo.abs is not read"),
    "a custom form that is not known": (FUNCTION + f"  %y = mhlo.abs %x : ({TYPE}) -> {TYPE}\n" + END, "3", "cannot be parsed"),
    "another type": ((PLAIN + END.replace("%y", "%x")).replace("f32", "f8E4M3FN"), "1", "values of type f8E4M3FN"),
    "does not verify": (
        FUNCTION + f"  %y = arith.addf %x, %x : {TYPE}\n  return %n : index\n}}\n", "4", "does not verify",
    ),
    "a bound that data decide": (
        FUNCTION + "  %one = arith.constant 1 : index\n"
        f"  %y = scf.for %i = %c to %n step %one iter_args(%v = %x) -> ({TYPE}) {{\n    scf.yield %v : {TYPE}\n  }}\n" + END,
        "4", "a bound of a loop depends on data",
    ),
    "a size that does not fit": (
        FUNCTION + f"  %y = tensor.extract_slice %x[2] [4] [1] : {TYPE} to {TYPE}\n" + END, "3", "a window from 2 of 4",
    ),
    "an unfinished text": (FUNCTION, "3", "cannot be parsed"),
    "a string without an end": ('module attributes {a = "b} {}\n', "1", "a string that does not end"),
    "no function": ("module {}\n", "", "0 public functions"),
    "recursion": (PLAIN + f"  %y = call @f(%x) : ({TYPE}) -> {TYPE}\n" + END, "2", "nested more than"),
    "a function of elsewhere": (
        f"func.func private @g({TYPE}) -> {TYPE}\n" + PLAIN + f"  %y = call @g(%x) : ({TYPE}) -> {TYPE}\n" + END,
        "3", "has no body",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_taken_says_where(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text, line, words = REFUSED[name]
    Path("text.mlir").write_text(text)
    with pytest.raises(FleetError) as found:
        load("text.mlir", {}, sample_inputs("text.mlir", {}))
    assert words in str(found.value)
    assert str(found.value).startswith(f"text.mlir:{line}:" if line else "text.mlir:")


def test_commands_take_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.mlir").write_text(MATMUL + MATMUL.replace("@main", "@second"))
    assert main(["run", "text.mlir"]) == 2
    assert "2 public functions; name one, text.mlir:NAME; its functions: main, second" in capsys.readouterr().err
    assert main(["cosim", "text.mlir:second", "--engines", "vm,riscv,llvm-cpu,interp"]) == 0
    assert "verdict: PASS" in capsys.readouterr().out
    assert main(["inspect", "text.mlir:main"]) == 0
    assert "matmul" in capsys.readouterr().out
    assert main(["cosim", "text.mlir:main", "--engines", "vm,cpython"]) != 0
    Path("bytes.mlir").write_bytes(b"ML\xefR\x0dMLIR22")
    assert main(["run", "bytes.mlir"]) == 2
    assert "is MLIR's bytecode; mlir-opt writes it as text" in capsys.readouterr().err
