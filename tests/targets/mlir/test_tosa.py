"""TOSA read in: every operation beside NumPy, and beside what MLIR's own lowering to linalg gives through the other reader."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fleet
from fleet.errors import ModelError
from fleet.frontend.mlir.tosa import RULES

RNG = np.random.default_rng(7)
X = RNG.standard_normal((2, 3)).astype(np.float32)
POSITIVE = np.abs(X) + np.float32(0.5)
IMAGE = RNG.standard_normal((1, 6, 7, 3)).astype(np.float32)
INTEGERS = np.array([[7, -7, 9], [-8, 5, 0]], np.int32)
DIVISORS = np.array([[2, 2, -4], [-3, 5, 7]], np.int32)
TRUTHS = X > 0
ZERO = '"tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>'
ZERO_SHIFT = '"tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>'

WORDS = {"float32": "f32", "int32": "i32", "bool": "i1"}


def spelled(a: np.ndarray) -> str:
    return "tensor<" + "x".join([*map(str, a.shape), WORDS[a.dtype.name]]) + ">"


def shape(*sizes: int) -> str:
    return f"tosa.const_shape {{values = dense<{list(sizes)}> : tensor<{len(sizes)}xindex>}} : () -> !tosa.shape<{len(sizes)}>"


def written(name: str, arrays: tuple[np.ndarray, ...], extra: tuple[str, ...], attributes: str, result: np.ndarray) -> str:
    """A function of one operation. extra: operations that give its last operands."""
    given = [f"%a{n}" for n in range(len(arrays))]
    types = [spelled(a) for a in arrays]
    lines = [f"  %e{n} = {text}" for n, text in enumerate(extra)]
    operands = ", ".join(given + [f"%e{n}" for n in range(len(extra))])
    all_types = ", ".join(types + [text.rpartition("-> ")[2] for text in extra])
    head = ", ".join(f"{g}: {t}" for g, t in zip(given, types, strict=True))
    body = f"  %r = tosa.{name} {operands}{f' {{{attributes}}}' if attributes else ''} : ({all_types}) -> {spelled(result)}"
    return "\n".join(["func.func @f(" + head + f") -> {spelled(result)} {{", *lines, body, f"  return %r : {spelled(result)}", "}"])


def conv(x: np.ndarray, w: np.ndarray, stride: int, dilation: int) -> np.ndarray:
    """w: [out, y, x, in]; x without margins."""
    ky, kx = w.shape[1:3]
    rows, columns = ((x.shape[n + 1] - (k - 1) * dilation - 1) // stride + 1 for n, k in enumerate((ky, kx)))
    out = np.zeros((x.shape[0], rows, columns, w.shape[0]), np.float64)
    for i in range(rows):
        for j in range(columns):
            part = x[:, i * stride : i * stride + ky * dilation : dilation, j * stride : j * stride + kx * dilation : dilation]
            out[:, i, j] = np.einsum("nyxc,oyxc->no", part[:, :ky, :kx].astype(np.float64), w.astype(np.float64))
    return out


W = RNG.standard_normal((4, 3, 2, 3)).astype(np.float32)
BIAS = RNG.standard_normal(4).astype(np.float32)
DEPTHWISE = RNG.standard_normal((3, 2, 3, 2)).astype(np.float32)
PADDED = np.pad(IMAGE, ((0, 0), (1, 0), (0, 1), (0, 0)))


def depthwise(x: np.ndarray) -> np.ndarray:
    parts = [conv(x[..., c : c + 1], DEPTHWISE[:, :, c].transpose(2, 0, 1)[..., None], 1, 1) for c in range(3)]
    return np.concatenate(parts, -1)


def pooled(x: np.ndarray, how: str) -> np.ndarray:
    rows, columns = (x.shape[1] - 2) // 2 + 1, (x.shape[2] - 3) // 2 + 1
    parts = [[getattr(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 3], how)((1, 2)) for j in range(columns)] for i in range(rows)]
    return np.stack([np.stack(row, 1) for row in parts], 1)


CASES: dict[str, tuple[tuple[np.ndarray, ...], tuple[str, ...], str, Any]] = {
    "add": ((X, X[:1]), (), "", X + X[:1]),
    "sub": ((X, X[:, :1]), (), "", X - X[:, :1]),
    "mul": ((X, X), (ZERO_SHIFT,), "", X * X),
    "maximum": ((X, -X), (), "", np.maximum(X, -X)),
    "minimum": ((X, -X), (), "", np.minimum(X, -X)),
    "pow": ((POSITIVE, X), (), "", POSITIVE**X),
    "equal": ((INTEGERS, DIVISORS), (), "", INTEGERS == DIVISORS),
    "greater": ((X, -X), (), "", X > -X),
    "greater_equal": ((INTEGERS, DIVISORS), (), "", INTEGERS >= DIVISORS),
    "logical_and": ((TRUTHS, TRUTHS[:1]), (), "", TRUTHS & TRUTHS[:1]),
    "logical_or": ((TRUTHS, TRUTHS[:1]), (), "", TRUTHS | TRUTHS[:1]),
    "logical_xor": ((TRUTHS, TRUTHS[:1]), (), "", TRUTHS ^ TRUTHS[:1]),
    "logical_not": ((TRUTHS,), (), "", ~TRUTHS),
    "bitwise_and": ((INTEGERS, DIVISORS), (), "", INTEGERS & DIVISORS),
    "bitwise_or": ((INTEGERS, DIVISORS), (), "", INTEGERS | DIVISORS),
    "bitwise_xor": ((INTEGERS, DIVISORS), (), "", INTEGERS ^ DIVISORS),
    "bitwise_not": ((INTEGERS,), (), "", ~INTEGERS),
    "intdiv": ((INTEGERS, DIVISORS), (), "", np.trunc(INTEGERS / DIVISORS).astype(np.int32)),
    "abs": ((X,), (), "", np.abs(X)),
    "ceil": ((X,), (), "", np.ceil(X)),
    "floor": ((X,), (), "", np.floor(X)),
    "exp": ((X,), (), "", np.exp(X)),
    "log": ((POSITIVE,), (), "", np.log(POSITIVE)),
    "rsqrt": ((POSITIVE,), (), "", 1 / np.sqrt(POSITIVE)),
    "reciprocal": ((POSITIVE,), (), "", 1 / POSITIVE),
    "sigmoid": ((X,), (), "", 1 / (1 + np.exp(-X))),
    "tanh": ((X,), (), "", np.tanh(X)),
    "erf": ((np.zeros((2, 3), np.float32),), (), "", np.zeros((2, 3), np.float32)),
    "sin": ((X,), (), "", np.sin(X)),
    "cos": ((X,), (), "", np.cos(X)),
    "negate": ((X,), (ZERO, ZERO), "", -X),
    "select": ((TRUTHS, X, -X), (), "", np.where(TRUTHS, X, -X)),
    "clamp": ((X,), (), "min_val = -0.5 : f32, max_val = 0.5 : f32", np.clip(X, -0.5, 0.5)),
    "cast": ((X * 3,), (), "", np.rint(X * 3).astype(np.int32)),
    "identity": ((X,), (), "", X),
    "reshape": ((X,), (shape(3, 2),), "", X.reshape(3, 2)),
    "transpose": ((IMAGE,), (), "perms = array<i32: 0, 3, 1, 2>", IMAGE.transpose(0, 3, 1, 2)),
    "concat": ((X, X[:, :1]), (), "axis = 1 : i32", np.concatenate([X, X[:, :1]], 1)),
    "slice": ((IMAGE,), (shape(0, 1, 2, 0), shape(1, 4, 3, 3)), "", IMAGE[:, 1:5, 2:5]),
    "pad": ((X,), (shape(1, 0, 2, 1), ZERO), "", np.pad(X, ((1, 0), (2, 1)))),
    "tile": ((X,), (shape(2, 3),), "", np.tile(X, (2, 3))),
    "reverse": ((X,), (), "axis = 1 : i32", X[:, ::-1]),
    "gather": ((IMAGE[0], INTEGERS[:1].repeat(6, 0) % 7), (), "", np.stack([IMAGE[0][n][(INTEGERS[:1] % 7)[0]] for n in range(6)])),
    "reduce_sum": ((X,), (), "axis = 1 : i32", X.sum(1, keepdims=True)),
    "reduce_max": ((X,), (), "axis = 0 : i32", X.max(0, keepdims=True)),
    "reduce_min": ((X,), (), "axis = 1 : i32", X.min(1, keepdims=True)),
    "reduce_product": ((X,), (), "axis = 1 : i32", X.prod(1, keepdims=True)),
    "reduce_all": ((TRUTHS,), (), "axis = 1 : i32", TRUTHS.all(1, keepdims=True)),
    "reduce_any": ((TRUTHS,), (), "axis = 1 : i32", TRUTHS.any(1, keepdims=True)),
    "argmax": ((X,), (), "axis = 1 : i32", X.argmax(1).astype(np.int32)),
    "matmul": ((X[None], X.T[None].copy()), (ZERO, ZERO), "", X[None] @ X.T[None]),
    "conv2d": (
        (IMAGE, W, BIAS), (ZERO, ZERO),
        "acc_type = f32, pad = array<i64: 1, 0, 0, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>",
        conv(PADDED, W, 2, 1).astype(np.float32) + BIAS,
    ),
    "depthwise_conv2d": (
        (IMAGE, DEPTHWISE, np.zeros(6, np.float32)), (ZERO, ZERO),
        "acc_type = f32, pad = array<i64: 1, 0, 0, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>",
        depthwise(PADDED).astype(np.float32),
    ),
    "max_pool2d": (
        (IMAGE,), (), "kernel = array<i64: 2, 3>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>", pooled(IMAGE, "max"),
    ),
    "avg_pool2d": (
        (IMAGE,), (ZERO, ZERO),
        "acc_type = f32, kernel = array<i64: 2, 3>, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 2, 2>",
        pooled(np.pad(IMAGE, ((0, 0), (1, 1), (0, 0), (0, 0))), "sum")
        / pooled(np.pad(np.ones_like(IMAGE), ((0, 0), (1, 1), (0, 0), (0, 0))), "sum"),
    ),
}  # fmt: skip


def ran(path: Path, arrays: tuple[np.ndarray, ...]) -> np.ndarray:
    inputs = {f"a{n}": a for n, a in enumerate(arrays)}
    (found,) = fleet.compile(str(path), inputs=inputs).run("vm", inputs).outputs.values()
    return found


def close(found: np.ndarray, expected: np.ndarray) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=3e-6, atol=3e-6)


@pytest.mark.parametrize("name", CASES)
def test_an_operation_is_numpys(name: str, tmp_path: Path) -> None:
    arrays, extra, attributes, expected = CASES[name]
    path = tmp_path / "one.mlir"
    path.write_text(written(name, arrays, extra, attributes, expected))
    close(ran(path, arrays), expected)


def test_every_operation_that_is_read_has_a_case() -> None:
    assert {f"tosa.{name}" for name in CASES} == RULES.keys() - {"tosa.const", "tosa.const_shape"}


PASSES = (
    "tosa-infer-shapes,tosa-make-broadcastable,tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor,"
    "linalg-generalize-named-ops,canonicalize"
)
OTHER_TEXT = {"pad"}
"""What MLIR lowers to a form that xDSL does not parse."""


@pytest.mark.skipif(shutil.which("mlir-opt-22") is None, reason="mlir-opt-22 is not installed")
@pytest.mark.parametrize("name", CASES)
def test_mlirs_own_lowering_gives_the_same(name: str, tmp_path: Path) -> None:
    """MLIR takes the text, writes it in its generic form, which is read too, and lowers it to linalg."""
    arrays, extra, attributes, expected = CASES[name]
    path = tmp_path / "one.mlir"
    path.write_text(written(name, arrays, extra, attributes, expected))

    def changed(*options: str) -> Path:
        done = subprocess.run(["mlir-opt-22", *options, str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        out = tmp_path / "changed.mlir"
        out.write_text(done.stdout.replace("%arg", "%a"))
        return out

    close(ran(changed("--mlir-print-op-generic", "--mlir-print-local-scope"), arrays), expected)
    lowered = changed(f"--pass-pipeline=builtin.module(func.func({PASSES}))", "--mlir-print-op-generic")
    assert "tosa." not in lowered.read_text()
    if name in OTHER_TEXT:
        with pytest.raises(ModelError):
            ran(lowered, arrays)
    else:
        close(ran(lowered, arrays), expected)


def test_a_network_runs_on_engines(tmp_path: Path) -> None:
    """Convolution, activation, pooling, a layer and softmax, on the VM and in machine code."""
    path = tmp_path / "net.mlir"
    path.write_text(NETWORK)
    draw = np.random.default_rng(1)
    inputs = {
        "x": draw.standard_normal((1, 6, 6, 2)).astype(np.float32),
        "w": draw.standard_normal((3, 3, 3, 2)).astype(np.float32),
    }
    compiled = fleet.compile(str(path), inputs=inputs)
    golden, other = (compiled.run(engine, inputs).outputs["p"] for engine in ("vm", "llvm-cpu"))
    np.testing.assert_allclose(golden, other, rtol=1e-5)
    np.testing.assert_allclose(golden.sum(-1), 1, rtol=1e-5)


NETWORK = """
func.func @net(%x: tensor<1x6x6x2xf32>, %w: tensor<3x3x3x2xf32>) -> tensor<1x1x12xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %bias = "tosa.const"() <{values = dense<[0.1, -0.2, 0.3]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %c = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>,
    dilation = array<i64: 1, 1>} : (tensor<1x6x6x2xf32>, tensor<3x3x3x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>)
    -> tensor<1x4x4x3xf32>
  %r = tosa.clamp %c {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %m = tosa.max_pool2d %r {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
    : (tensor<1x4x4x3xf32>) -> tensor<1x2x2x3xf32>
  %s = tosa.const_shape {values = dense<[1, 1, 12]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %f = tosa.reshape %m, %s : (tensor<1x2x2x3xf32>, !tosa.shape<3>) -> tensor<1x1x12xf32>
  %top = tosa.reduce_max %f {axis = 2 : i32} : (tensor<1x1x12xf32>) -> tensor<1x1x1xf32>
  %d = tosa.sub %f, %top : (tensor<1x1x12xf32>, tensor<1x1x1xf32>) -> tensor<1x1x12xf32>
  %e = tosa.exp %d : (tensor<1x1x12xf32>) -> tensor<1x1x12xf32>
  %t = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x1x12xf32>) -> tensor<1x1x1xf32>
  %i = tosa.reciprocal %t : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %p = tosa.mul %e, %i, %shift : (tensor<1x1x12xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x12xf32>
  return %p : tensor<1x1x12xf32>
}
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%r = tosa.fft2d %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>", "tosa.fft2d is not read"),
        ("%r = tosa.reduce_sum %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>", "tosa.reduce_sum without axis, a number"),
        ("%r = tosa.add %a0, %a0 : tensor<2x3xf32>", "expected the types of operands and results"),
        (
            f"%z = {ZERO.replace('dense<0.0>', 'dense<1.0>')}\n"
            "%r = tosa.negate %a0, %z, %z : (tensor<2x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3xf32>",
            "a zero point other than 0",
        ),
        ("%r = tosa.reduce_sum %a0 {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>", r"gives float32\[2, 1\]; its text"),
        ("%r = tosa.reverse %a0 {axis = 7 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>", "tosa.reverse does not verify"),
        ("%r = tosa.add %a0 : (tensor<2x3xf32>) -> tensor<2x3xf32>", "add of 2x3xf32"),
        ("%r = tosa.sub %a0, %a0, %a0 : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>", "sub of 2x3xf32"),
        (
            "%r = tosa.max_pool2d %a0 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 0, 1>} : "
            "(tensor<2x3xf32>) -> tensor<2x3xf32>",
            "tosa.max_pool2d does not verify",
        ),
        (
            '%r = "tosa.maximum"(%a0, %a0) <{nan_mode = #tosa.nan_mode<IGNORE>}> : '
            "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
            "nan_mode IGNORE",
        ),
    ],
)
def test_what_is_not_read_is_refused_with_its_line(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(f"func.func @f(%a0: tensor<2x3xf32>) -> tensor<2x3xf32> {{\n{line}\nreturn %r : tensor<2x3xf32>\n}}\n")
    with pytest.raises(ModelError, match=said) as caught:
        ran(path, (X,))
    assert "bad.mlir:" in str(caught.value)
