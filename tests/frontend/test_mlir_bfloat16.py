"""bf16 in MLIR: every rounding against ml_dtypes and xDSL's own packing, in arith, linalg, TOSA and StableHLO."""

from __future__ import annotations

import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import bf16

from fleet.engines.base import Engine, RunOptions
from fleet.engines.llvm_cpu import ENGINE as LLVM_CPU
from fleet.engines.riscv import ENGINE as RISCV
from fleet.engines.vm import ENGINE as VM
from fleet.frontend.source import load


def run(folder: Path, text: str, *arguments: np.ndarray, engine: Engine = VM) -> np.ndarray:
    path = folder / "model.mlir"
    path.write_text(text)
    given = {f"arg{n}": a for n, a in enumerate(arguments)}
    program = load(str(path), {}, given)
    (found,) = engine.run(program, given, RunOptions(keep_tensors=False)).outputs.values()
    return found


def narrow(array: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # NaN
        return array.astype(ml_dtypes.bfloat16).astype(np.float32)


def convert(source: str, count: int) -> str:
    return f"""func.func @main(%arg0: tensor<{count}x{source}>) -> tensor<{count}xbf16> {{
  %0 = stablehlo.convert %arg0 : (tensor<{count}x{source}>) -> tensor<{count}xbf16>
  return %0 : tensor<{count}xbf16>
}}"""


@pytest.mark.parametrize("engine", [VM, LLVM_CPU, RISCV], ids=lambda e: e.name)
def test_every_upper_half_with_lower_halves_around_the_tie(tmp_path: Path, engine: Engine) -> None:
    lower = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    every = (np.arange(1 << 16, dtype=np.uint32)[:, None] << 16 | lower).reshape(-1).view(np.float32)
    found = run(tmp_path, convert("f32", every.size), every, engine=engine)
    np.testing.assert_array_equal(found, narrow(every))
    assert not (found.view(np.uint32) & 0xFFFF).any()
    np.testing.assert_array_equal(np.signbit(found), np.signbit(every))


def test_float64_is_rounded_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    near = rng.standard_normal(500).astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)
    tie = near * (1 + 2.0**-8 / (np.abs(np.frexp(near)[0]) * 2))  # half a step beside them
    small, large = 2.0**-134 * (1 + 2.0**-40), 2.0**128 * (1 - 2.0**-9)
    array = np.concatenate([
        near, tie, tie * (1 + 2.0**-40), tie * (1 - 2.0**-40), rng.standard_normal(500) * 2.0 ** rng.integers(-140, 130, 500),
        [small, -small, 2.0**-134, 5e-324, large, large * (1 - 2.0**-50), 1e300, -np.inf, np.inf, 0, -0.0],
    ])  # fmt: skip
    wanted = [struct.unpack("<f", b"\0\0" + bf16.pack([float(x)]))[0] for x in array]
    found = run(tmp_path, convert("f64", array.size), array)
    np.testing.assert_array_equal(found, np.array(wanted, np.float32))
    assert np.isnan(run(tmp_path, convert("f64", 1), np.array([np.nan]))).all()


def test_what_is_given_is_rounded(tmp_path: Path) -> None:
    text = "func.func @main(%arg0: tensor<3xbf16>) -> tensor<3xbf16> {\n  return %arg0 : tensor<3xbf16>\n}"
    given = np.array([1.001, 3.14159, -7], np.float32)
    path = tmp_path / "weights.mlir"
    path.write_text(text)
    np.testing.assert_array_equal(run(tmp_path, text, given), narrow(given))
    program = load(str(path), {"arg0": given}, {})
    np.testing.assert_array_equal(program.weights["arg0"], narrow(given))


def test_each_step_of_a_body_of_linalg_is_rounded_and_a_product_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x, y = (narrow(rng.standard_normal((4, 4)).astype(np.float32)) for _ in range(2))
    text = """#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%arg0: tensor<4x4xbf16>, %arg1: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
  %c = arith.constant 1.1 : bf16
  %e = tensor.empty() : tensor<4x4xbf16>
  %zero = arith.constant 0.0 : bf16
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %m = linalg.matmul ins(%arg0, %arg1 : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%f : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %arg1 : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%e : tensor<4x4xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %p = arith.mulf %a, %b : bf16
    %q = arith.addf %p, %c : bf16
    linalg.yield %q : bf16
  } -> tensor<4x4xbf16>
  return %0 : tensor<4x4xbf16>
}"""
    product = narrow(x @ y)
    wanted = narrow(narrow(product * y) + narrow(np.array(1.1, np.float32)))
    np.testing.assert_array_equal(run(tmp_path, text, x, y), wanted)


def test_operations_of_tosa(tmp_path: Path) -> None:
    x, y = (narrow(np.random.default_rng(n).standard_normal(8).astype(np.float32)) for n in range(2))
    text = """func.func @main(%arg0: tensor<8xbf16>, %arg1: tensor<8xbf16>) -> tensor<8xbf16> {
  %0 = tosa.add %arg0, %arg1 : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  %1 = tosa.exp %0 : (tensor<8xbf16>) -> tensor<8xbf16>
  return %1 : tensor<8xbf16>
}"""
    np.testing.assert_array_equal(run(tmp_path, text, x, y), narrow(np.exp(narrow(x + y))))


def test_bits_in_arith(tmp_path: Path) -> None:
    text = """func.func @main(%arg0: tensor<4xi16>) -> tensor<4xi16> {
  %0 = arith.bitcast %arg0 : tensor<4xi16> to tensor<4xbf16>
  %1 = arith.negf %0 : tensor<4xbf16>
  %2 = arith.bitcast %1 : tensor<4xbf16> to tensor<4xi16>
  return %2 : tensor<4xi16>
}"""
    bits = np.array([0x3F80, 1, -1, 0x7F80], np.int16)
    np.testing.assert_array_equal(run(tmp_path, text, bits), bits ^ np.int16(-0x8000))
