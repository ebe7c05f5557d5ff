"""One case an operation: operands and attributes, and what NumPy (or the definition written out in NumPy) gives.

Shared by the tests of inference, of the VM's operators and of the error rules. `tests/ir/test_operations.py` holds that no
operation of the dialect is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fleet.ir.types import element_type

RNG = np.random.default_rng(7)


def floats(*shape: int, low: float = -3.0, high: float = 3.0) -> np.ndarray:
    return RNG.uniform(low, high, shape).astype(np.float32)


@dataclass(frozen=True)
class Case:
    name: str
    operands: tuple[Any, ...]
    expected: Callable[..., Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    exact: bool = True

    @property
    def by_numpy_alone(self) -> bool:
        """A call without a sequence of operations: vm and interp compute it, other targets refuse it by name."""
        return "linalg" in self.attributes.get("call", "")

    def arrays(self) -> dict[str, np.ndarray]:
        """The operands that are arrays, as arguments of a program."""
        return {f"x{i}": np.asarray(v) for i, v in enumerate(self.operands) if not isinstance(v, bool | int | float)}

    def emit(self, m: Any, *values: Any) -> Any:
        """The operation on these arguments, and on constants for the operands that are numbers; m makes operations."""
        given = iter(values)
        operands: list[Any] = []
        for v in self.operands:
            if isinstance(v, bool | int | float):
                operands.append(m.constant(v, element_type("float64" if isinstance(v, float) else "int64")))
            else:
                operands.append(next(given))
        return m(self.name, *operands, **self.attributes)


def _erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf)(x.astype(np.float64)).astype(x.dtype)


def _softmax(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def _gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _heads(q: np.ndarray, k: np.ndarray, v: np.ndarray, heads: int, kv: int, scale: float, mask: Any = None) -> np.ndarray:
    """Head by head, as a textbook writes it."""
    d = q.shape[1] // heads
    out = []
    for h in range(heads):
        g = h * kv // heads
        scores = q[:, h * d : (h + 1) * d] @ k[:, g * d : (g + 1) * d].T * scale
        out.append(_softmax(scores if mask is None else scores + mask, -1) @ v[:, g * d : (g + 1) * d])
    return np.hstack(out)


def _rope(x: np.ndarray, cos: np.ndarray, sin: np.ndarray, interleaved: bool) -> np.ndarray:
    """By complex numbers."""
    half = x.shape[-1] // 2
    z = x[..., 0::2] + 1j * x[..., 1::2] if interleaved else x[..., :half] + 1j * x[..., half:]
    z = z * (cos + 1j * sin)
    if interleaved:
        return np.stack([z.real, z.imag], -1).reshape(x.shape).astype(x.dtype)
    return np.concatenate([z.real, z.imag], -1).astype(x.dtype)


def _scatter(x, indices, updates, reduction):
    out = x.copy()
    steps = {"none": lambda a, b: b, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    for i, row in zip(indices, updates, strict=True):
        out[i] = steps[reduction](out[i], row)
    return out


A, B = floats(3, 4), floats(4)
INTS, OTHERS = RNG.integers(-5, 6, (3, 4)), RNG.integers(1, 4, (3, 4))
P = floats(2, 3, low=0.1)
BOOL = RNG.random((3, 4)) < 0.5
N = np.array([[1.0, np.nan, -0.0], [np.inf, -np.inf, 2.5]], np.float32)
X = floats(5, 8)
CAUSAL = np.where(np.tri(3, 5, 2) > 0, 0.0, -np.inf).astype(np.float32)

CASES = [
    *(Case(n, (A, B), f) for n, f in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide))),
    *(Case(n, (A, B), f) for n, f in (("maximum", np.maximum), ("minimum", np.minimum), ("floor_div", np.floor_divide))),
    *(Case(n, (INTS, OTHERS), f) for n, f in (("floor_div", np.floor_divide), ("mod", np.remainder), ("less", np.less))),
    *(Case(n, (A, B), f) for n, f in (("mod", np.remainder), ("less", np.less), ("greater", np.greater))),
    *(Case(n, (INTS, OTHERS), f) for n, f in (("less_equal", np.less_equal), ("greater_equal", np.greater_equal))),
    *(Case(n, (INTS, OTHERS), f) for n, f in (("equal", np.equal), ("not_equal", np.not_equal), ("logical_and", np.logical_and))),
    *(Case(n, (N, 2.5), f) for n, f in (("less", np.less), ("equal", np.equal), ("not_equal", np.not_equal))),
    Case("pow", (P, 3), np.power),
    Case("pow", (P, 0.5), np.power),
    Case("logical_or", (BOOL, INTS), np.logical_or),
    Case("logical_not", (INTS,), np.logical_not),
    Case("isnan", (N,), np.isnan),
    *(Case(n, (N,), f) for n, f in (("neg", np.negative), ("abs", np.abs), ("sign", np.sign), ("sqrt", np.sqrt))),
    *(Case(n, (A,), f) for n, f in (("exp", np.exp), ("expm1", np.expm1), ("tanh", np.tanh), ("sin", np.sin), ("cos", np.cos))),
    *(Case(n, (P,), f) for n, f in (("log", np.log), ("log1p", np.log1p))),
    *(Case(n, (A * 2,), f) for n, f in (("floor", np.floor), ("ceil", np.ceil), ("rint", np.rint))),
    *(Case(n, (INTS,), f) for n, f in (("floor", np.floor), ("ceil", np.ceil), ("rint", np.rint), ("sign", np.sign))),
    *(Case(n, (A,), f) for n, f in (("exp2", np.exp2), ("sinh", np.sinh), ("cosh", np.cosh), ("tan", np.tan))),
    *(Case(n, (P,), f) for n, f in (("log2", np.log2), ("log10", np.log10))),
    *(Case(n, (A, B), f) for n, f in (("hypot", np.hypot), ("logaddexp", np.logaddexp))),
    *(Case(n, (N, N[::-1]), f) for n, f in (("fmax", np.fmax), ("fmin", np.fmin))),
    Case("clip", (A, -0.5, 0.5), np.clip),
    Case("nan_max", (N,), lambda x: np.nanmax(x, 0), {"axes": [0], "keepdims": False}),
    Case("nan_min", (N,), lambda x: np.nanmin(x, 1), {"axes": [1], "keepdims": False}),
    Case("numpy", (A, B), np.arctan2, {"call": "arctan2(x0, x1)"}),
    Case("numpy", (A,), lambda x: np.pad(x, 1, mode="edge"), {"call": "pad(x0, 1, mode='edge')"}),
    Case("numpy", (P,), lambda x: np.linalg.svd(x)[1], {"call": "linalg.svd(x0)", "output": 1}),
    Case("rsqrt", (P,), lambda x: 1 / np.sqrt(x)),
    Case("erf", (A,), _erf, exact=False),
    Case("cast", (A,), lambda x: x.astype(np.int32), {"dtype": np.int32}),
    Case("where", (BOOL, A, B), np.where),
    Case("where", (BOOL, A, 0.0), np.where),
    Case("where", (INTS, 1, OTHERS), np.where),
    Case("matmul", (floats(2, 3, 4), floats(4, 5)), np.matmul),
    Case("einsum", (A, floats(4, 2)), lambda a, b: np.einsum("ij,jk->ki", a, b), {"subscripts": "ij,jk->ki"}),
    Case("einsum", (A,), lambda a: np.einsum("ij->j", a), {"subscripts": "ij->j"}),
    *(
        Case(n, (A,), lambda x, f=f: f(x, axis=(0, 1), keepdims=True), {"axes": [0, 1], "keepdims": True})
        for n, f in (("reduce_sum", np.sum), ("reduce_prod", np.prod), ("reduce_max", np.max), ("reduce_min", np.min))
    ),
    *(
        Case(n, (x,), lambda x, f=f: f(x, axis=1), {"axes": [1], "keepdims": False})
        for n, f, x in (
            *(("reduce_sum", np.sum, INTS), ("reduce_prod", np.prod, INTS.astype(np.int32)), ("reduce_any", np.any, BOOL)),
            *(("reduce_all", np.all, INTS), ("mean", np.mean, A), ("var", np.var, A), ("mean", np.mean, INTS)),
        )
    ),
    Case("argmax", (A,), lambda x: np.argmax(x, 1), {"axis": 1}),
    Case("argmin", (A,), lambda x: np.argmin(x, 0), {"axis": 0}),
    Case("cumsum", (A,), lambda x: np.cumsum(x, 1), {"axis": 1}),
    Case("cumsum", (BOOL,), lambda x: np.cumsum(x, 0), {"axis": 0}),
    Case("transpose", (A,), np.transpose, {"permutation": [1, 0]}),
    Case("reshape", (A,), lambda x: x.reshape(2, 6), {"shape": [2, 6]}),
    Case("broadcast_to", (A,), lambda x: np.broadcast_to(x, (2, 3, 4)), {"shape": [2, 3, 4]}),
    Case("slice", (A,), lambda x: x[1:, 1:3], {"start": [1, 1], "size": [2, 2]}),
    Case("slice", (A,), lambda x: x[::-1, 3:0:-2], {"start": [2, 3], "size": [3, 2], "step": [-1, -2]}),
    Case("slice", (A,), lambda x: x[0:3:2, 4:], {"start": [0, 4], "size": [2, 0], "step": [2, 1]}),
    Case("gather", (A, np.array([[0, -1]])), lambda x, i: x[i]),
    Case("gather", (A, np.array([3, 0, -2])), lambda x, i: np.take(x, i, 1), {"axis": 1}),
    *(
        Case("scatter", (A, np.array([2, -3, 2]), floats(3, 4)), lambda x, i, u, r=r: _scatter(x, i, u, r), {"reduction": r})
        for r in ("none", "add", "mul", "max", "min")
    ),
    Case("scatter", (INTS, np.array([1]), OTHERS[:1]), lambda x, i, u: _scatter(x, i, u, "add"), {"reduction": "add"}),
    Case("argsort", (INTS,), lambda x: np.argsort(x, 1, kind="stable"), {"axis": 1}),
    Case("argsort", (N,), lambda x: np.argsort(x, 0, kind="stable"), {"axis": 0}),
    *(
        Case(f"bitwise_{n}", (INTS, OTHERS), f)
        for n, f in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor))
    ),
    Case("concat", (A, floats(2, 4)), lambda a, b: np.concatenate([a, b]), {"axis": 0}),
    Case("pad", (A, 1.5), lambda x, v: np.pad(x, ((1, 0), (0, 2)), constant_values=v), {"low": [1, 0], "high": [0, 2]}),
    Case("dim", (A,), lambda x: x.shape[1], {"axis": 1}),
    Case("dynamic_reshape", (A, 2, -1), lambda x, a, b: x.reshape(a, 3, b), {"shape": [-1, 3, -1]}),
    Case("dynamic_broadcast", (A, 2), lambda x, n: np.broadcast_to(x, (n, 3, 4)), {"shape": [-1, 3, 4]}),
    Case("dynamic_broadcast", (np.asarray(np.float32(1.5)), 2), lambda x, n: np.full((n, 3), x), {"shape": [-1, 3]}),
    Case("dynamic_slice", (A, -2, 9, 3, -9), lambda x, a, b, c, d: x[a:b, c:d:-1], {"axes": [0, 1], "step": [1, -1]}),
    Case("arange", (1, 8, 3), np.arange),
    Case("tri", (3, 4, 1), np.tri, {"dtype": np.dtype(float)}),
    Case("softmax", (A,), lambda x: _softmax(x, 0), {"axis": 0}, False),
    Case(
        "layer_norm",
        (X, floats(8), floats(8)),
        lambda x, g, b: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * g + b,
        {"eps": 1e-5},
        False,
    ),
    Case(
        "rms_norm",
        (X, floats(8)),
        lambda x, g: x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * g,
        {"eps": 1e-6},
        False,
    ),
    Case("gelu", (A,), _gelu, {"approximate": "tanh"}, False),
    Case("gelu", (A,), lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2))), {"approximate": "erf"}, False),
    Case("silu", (A,), lambda x: x / (1 + np.exp(-x)), exact=False),
    Case("sigmoid", (A,), lambda x: 1 / (1 + np.exp(-x)), exact=False),
    Case("rope", (X, floats(5, 4), floats(5, 4)), lambda x, c, s: _rope(x, c, s, False), exact=False),
    Case("rope", (X, floats(5, 4), floats(4)), lambda x, c, s: _rope(x, c, s, True), {"interleaved": True}, False),
    Case("linear", (X, floats(8, 3)), lambda x, w: x @ w, exact=False),
    Case("linear", (X, floats(8, 3), floats(3)), lambda x, w, b: np.maximum(x @ w + b, 0), {"activation": "relu"}, False),
    Case(
        "linear",
        (X, floats(8, 3), floats(3), floats(5, 3)),
        lambda x, w, b, r: _gelu(x @ w + b) + r,
        {"activation": "gelu_tanh", "residual": True},
        False,
    ),
    Case(
        "linear",
        (X, floats(8, 3), floats(5, 3)),
        lambda x, w, r: x @ w / (1 + np.exp(-(x @ w))) + r,
        {"activation": "silu", "residual": True},
        False,
    ),
    Case(
        "attention",
        (floats(3, 8), floats(5, 4), floats(5, 4)),
        lambda q, k, v: _heads(q, k, v, 4, 2, 0.7, CAUSAL),
        {"heads": 4, "kv_heads": 2, "scale": 0.7, "causal": True},
        False,
    ),
    Case(
        "attention",
        (floats(3, 8), floats(5, 8), floats(5, 8), floats(3, 5)),
        lambda q, k, v, m: _heads(q, k, v, 2, 2, 0.5, m),
        {"heads": 2, "kv_heads": 2, "scale": 0.5, "causal": False},
        False,
    ),
    Case(
        "attention",
        (floats(2, 3, 8), floats(2, 5, 4), floats(2, 5, 4)),
        lambda q, k, v: np.stack([_heads(*qkv, 4, 2, 0.7, CAUSAL) for qkv in zip(q, k, v, strict=True)]),
        {"heads": 4, "kv_heads": 2, "scale": 0.7, "causal": True},
        False,
    ),
    Case(
        "attention",
        (floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8), floats(2, 1, 5)),
        lambda q, k, v, m: np.stack([_heads(*of, 2, 2, 0.25, mask) for *of, mask in zip(q, k, v, m, strict=True)]),
        {"heads": 2, "kv_heads": 2, "scale": 0.25, "causal": False},
        False,
    ),
]
