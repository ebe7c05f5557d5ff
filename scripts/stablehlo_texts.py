"""Writes tests/frontend/stablehlo: the StableHLO of functions of JAX as JAX prints it, and what JAX computes of them.

    pip install jax==0.10.2 && python scripts/stablehlo_texts.py

With --check nothing is written: exit code 1 if JAX prints other texts. `tests/frontend/test_stablehlo.py` reads the files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_allow_excess_precision=false"  # else XLA leaves roundings out that the text has

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

FOLDER = Path(__file__).resolve().parents[1] / "tests/frontend/stablehlo"
RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    """Draw standard normal numbers, float32."""
    return RNG.standard_normal(shape).astype(np.float32)


X, IMAGE, KERNEL, ROWS = floats(3, 8), floats(1, 8, 8, 3), floats(3, 3, 3, 4), np.array([0, 2], np.int32)
NHWC, NCHW = ("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")
CASES: dict[str, tuple[Callable, tuple[np.ndarray, ...]]] = {}


def case(name: str, function: Callable, *arguments: np.ndarray) -> None:
    """Add a function and its arguments."""
    assert name not in CASES, name
    CASES[name] = function, arguments


def convolved(x, w, strides=(1, 1), padding="SAME", **more):
    """Convolve an image [batch, row, column, channel] unless `more` says otherwise."""
    return lax.conv_general_dilated(x, w, strides, padding, **{"dimension_numbers": NHWC, **more})


case("gather", lambda t, i: t[i], X, ROWS)
case("gather_window", lambda t, i: lax.dynamic_slice_in_dim(t, i[1], 2, 1) + jnp.take(t, i, axis=1, mode="clip").sum(), X, ROWS)
case("gather_batch", jax.vmap(lambda t, i: t[i]), X, np.array([1, 2, 7], np.int32))
case("gather_along", lambda t, i: jnp.take_along_axis(t, i, axis=1), X, np.array([[1, 2], [0, 7], [3, 3]], np.int32))
case("scatter_add", lambda t, i, v: t.at[i].add(v), X, ROWS, floats(2, 8))
case("scatter_outside", lambda t, i, v: t.at[i].set(v, mode="drop"), X, np.array([1, 5], np.int32), floats(2, 8))
case("scatter_set", lambda t, v: t.at[1, 2:5].set(v), X, floats(3))
case("scatter_max", lambda t, i, v: t.at[i].max(v), X, ROWS, floats(2, 8))
case("segments", lambda x, i: jax.ops.segment_sum(x, i, 4), floats(6, 2), np.array([0, 3, 0, 1, 1, 3], np.int32))
case("convolution", lambda x, w: convolved(x, w, (2, 2)), IMAGE, KERNEL)
case(
    "convolution_dilated", lambda x, w: convolved(x, w, padding="VALID", rhs_dilation=(2, 2), dimension_numbers=NCHW),
    floats(2, 3, 9, 9), floats(4, 3, 3, 3),
)  # fmt: skip
case("convolution_by_channel", lambda x, w: convolved(x, w, feature_group_count=3), IMAGE, floats(3, 3, 1, 6))
case("convolution_in_groups", lambda x, w: convolved(x, w, feature_group_count=2), floats(1, 6, 6, 4), floats(3, 3, 2, 6))
case("convolution_transposed", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), IMAGE, KERNEL)
case(
    "convolution_1d", lambda x, w: convolved(x, w, (2,), [(1, 2)], dimension_numbers=("NWC", "WIO", "NWC")),
    floats(2, 10, 3), floats(3, 3, 5),
)  # fmt: skip
case("max_pool", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), IMAGE)
case("mean_pool", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9, IMAGE)
case("sort", lambda x: (jnp.sort(x, axis=-1), jnp.sort(x, axis=0, descending=True), jnp.argsort(-x, axis=1)), X)
case("search", lambda x: jnp.searchsorted(jnp.sort(x[0]), x[1]), X)
case("top_k", lambda x: lax.top_k(x, 3), X)
case("extremes", lambda x: (jnp.argmax(x, axis=-1), jnp.argmin(x, axis=0), x.max(0), x.min()), X)
case("statistics", lambda x: jnp.std(x, 0) + jnp.prod(x) + jnp.any(x > 0) + jnp.all(x > -9) + jnp.median(x), X)
case("own_reducer", lambda x: lax.reduce(x, np.float32(0.5), lambda a, b: a * 0.5 + b, (1,)), X)
case("running", lambda x: jnp.cumsum(x, axis=1) + lax.cummax(x, axis=1) + lax.cumprod(x, axis=0), X)
case("rounds", lambda x: lax.fori_loop(0, 5, lambda i, c: c * 2 + i, x), X)
case("scan", lambda x: lax.scan(lambda c, t: (c + t, c * t), jnp.zeros(8), x), X)
case("until", lambda x: lax.while_loop(lambda s: s[0].sum() > 1e-3, lambda s: (s[0] * 0.5, s[1] + 1), (jnp.abs(x), 0)), X)
case("many_rounds", lambda x: lax.fori_loop(0, 1000, lambda i, c: jnp.where(i % 3 == 0, c * 0.99 + 0.01, c), x), X)
case("two_ways", lambda x: lax.cond(x[0, 0] > 0, lambda v: v + 1, lambda v: v * 2, x), X)
case("ways", lambda x: lax.switch(jnp.int32(x[:, 0].sum() * 3), [lambda v: v + 1, lambda v: v * 2, lambda v: v - 3], x), X)
case(
    "way_with_an_end",
    lambda x: lax.cond(x[0, 0] > 5, lambda v: lax.while_loop(lambda s: s.sum() != 0, lambda s: s * 0.5, v), lambda v: v * 2, x), X,
)  # fmt: skip
case("known_way", lambda x: lax.switch(jnp.int32(1), [lambda v: v + 1, lambda v: v * 2], x), X)
case("margins", lambda x: (jnp.pad(x, ((1, 2), (0, 1)), constant_values=3.0), lax.pad(x, 2.0, ((1, -1, 2), (0, 1, 1)))), X)
case("windows", lambda x, s: (x[1:3, ::2][::-1], lax.dynamic_slice(x, (s, 0), (2, 8))), X, np.int32(5))
case("written", lambda x, u, s: lax.dynamic_update_slice(x, u, (s, 3)), X, floats(2, 2), np.int32(0))
case("moved", lambda x: jnp.roll(x, 2, axis=1) + jnp.flip(x, 0) + jnp.tile(x[:1], (3, 1)) + jnp.repeat(x[:, :4], 2, axis=1), X)
case(
    "functions",
    lambda x: (
        jax.scipy.special.erf(x) + lax.rsqrt(jnp.abs(x)) + jnp.arctan2(x, x + 1) + jnp.expm1(x) + jnp.log1p(jnp.abs(x))
        + jnp.cbrt(x) + jnp.sign(x) + jnp.floor(x) + jnp.round(x) + jnp.sinh(x) + jax.nn.sigmoid(x) + jnp.tan(x) + jnp.abs(x) ** 0.3
    ), X,
)  # fmt: skip
case(
    "activations",
    lambda x: jax.nn.relu6(x) + jax.nn.elu(x) + jax.nn.softplus(x) + jax.nn.silu(x) + jax.nn.leaky_relu(x) + jax.nn.gelu(x), X,
)  # fmt: skip
case(
    "integers", lambda x: (x // 3, x % 5, lax.rem(x, np.int32(3)), x << 2, x >> 1, x & 6, x | 1, x ^ 3, ~x, jnp.abs(x)),
    RNG.integers(-20, 20, (4, 5)).astype(np.int32),
)  # fmt: skip
case("unsigned", lambda x: (x // 3, x % 5, x >> 1, ~x, x > 7), RNG.integers(0, 200, (4, 5)).astype(np.uint8))
case(
    "shifted", lambda x, n: (lax.shift_right_logical(x, n), lax.shift_right_arithmetic(x, n), lax.shift_left(x, n)),
    np.array([-1, -8, 7, 1 << 30, -5, 9], np.int32), np.array([0, 1, 31, 32, 40, 33], np.int32),
)  # fmt: skip
case("rounded", lambda x: (lax.round(x), jnp.round(x)), np.array([0.49999997, 0.5, -2.5, 8388609.0, -0.3, 1.5, np.inf], np.float32))
case("first_truth", lambda x: (jnp.argmax(x > 0, axis=1), jnp.argmin(x > 9, axis=0)), X)
case("chosen", lambda x: jnp.where(jnp.isnan(x) | (x > 0) & ~(x < 3), x, 0) + jnp.clip(x, 0, 1) + x.astype(jnp.int32) % 3, X)
case("bits", lambda x: lax.bitcast_convert_type(x, jnp.int32) >> 23, X)
case("uniform", lambda x: jax.random.uniform(jax.random.PRNGKey(0), (4,)) + x[0, :4], X)
case("half", lambda x: (x.astype(jnp.float16) @ x.T.astype(jnp.float16)).astype(jnp.float32), X)
case(
    "products", lambda a, b, c: (jnp.einsum("bij,bjk->bik", a, b), jnp.einsum("abc,dc->adb", a, c)),
    floats(2, 3, 4), floats(2, 4, 5), floats(5, 4),
)  # fmt: skip
case("softmax", lambda x, w: jax.nn.softmax(jax.nn.gelu(x @ w)), X, floats(8, 4))
case("gradient", jax.grad(lambda w, x: jnp.sum(jnp.tanh(x @ w) ** 2)), floats(8, 4), X)
case("gradient_of_convolution", jax.grad(lambda w, x: jnp.sum(jax.nn.relu(convolved(x, w)))), KERNEL, IMAGE)
case("triangles", lambda x: jnp.tril(x @ x.T) + jnp.triu(x @ x.T, 1) + jnp.eye(3), X)
case("interpolated", lambda x: jnp.interp(jnp.linspace(0, 1, 10), jnp.linspace(0, 1, 8), x[0]) + jnp.convolve(x[1], jnp.ones(3)), X)

KEYS = RNG.integers(0, 3, (2, 8)).astype(np.int32)
case("sort_by_two", lambda x: (jnp.lexsort((x[0], x[1])), lax.sort((x[0], x[1], x[0] * 2), num_keys=2)), KEYS)
case("unique", lambda x: jnp.unique(x, size=4, fill_value=0), KEYS[0])
case(
    "gradient_of_pool",
    jax.grad(lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2).sum()),
    floats(1, 5, 6, 2),
)  # fmt: skip
case("normal", lambda x: jax.random.normal(jax.random.PRNGKey(1), (5,)) + x, floats(5))
case("permutation", lambda x: jax.random.permutation(jax.random.PRNGKey(1), x), floats(6))
case("own_windows", lambda x: lax.cumlogsumexp(x) + lax.associative_scan(jnp.add, x), floats(8))
case("counted_bits", lax.population_count, np.array([-1, 0, 7, 1 << 20], np.int32))
case("less_precise", lambda x: lax.reduce_precision(x, 5, 10), X * 100)
case("hessian", jax.hessian(lambda v: jnp.sum(jnp.sin(v) * v[::-1])), floats(4))
case("resized", lambda x: jax.image.resize(x, (1, 8, 8, 2), "bilinear"), floats(1, 4, 4, 2))


def kalman(measured):
    """Positions and speeds of a filter of two states."""
    move, seen = jnp.array([[1.0, 1.0], [0.0, 1.0]]), jnp.array([[1.0, 0.0]])

    def step(state, z):
        mean, spread = state
        mean, spread = move @ mean, move @ spread @ move.T + 0.01 * jnp.eye(2)
        gain = (spread @ seen.T)[:, 0] / ((seen @ spread @ seen.T)[0, 0] + 1.0)
        mean, spread = mean + gain * (z - mean[0]), (jnp.eye(2) - gain[:, None] @ seen) @ spread
        return (mean, spread), mean

    return lax.scan(step, (jnp.zeros(2), jnp.eye(2)), measured)[1]


def attention(x, w):
    """Causal attention of two heads, queries and keys rotated by their positions."""
    q, k, v = jnp.split(x @ w, 3, axis=-1)
    angle = jnp.arange(6.0)[:, None] / 100 ** (jnp.arange(0, 4, 2) / 4)

    def heads(a, turned):
        a = a.reshape(6, 2, 4).transpose(1, 0, 2)
        even, odd = a[..., ::2], a[..., 1::2]
        parts = even * jnp.cos(angle) - odd * jnp.sin(angle), even * jnp.sin(angle) + odd * jnp.cos(angle)
        return jnp.stack(parts, -1).reshape(a.shape) if turned else a

    scores = jnp.einsum("hqd,hkd->hqk", heads(q, True), heads(k, True)) / 2
    scores = jnp.where(jnp.tril(jnp.ones((6, 6), bool)), scores, -jnp.inf)
    return jnp.einsum("hqk,hkd->qhd", jax.nn.softmax(scores), heads(v, False)).reshape(6, 8)


def trained(w1, w2, x, y):
    """One step of gradient descent of a classifier."""

    def loss(w):
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(jax.nn.relu(x @ w[0]) @ w[1]) * jax.nn.one_hot(y, 4), -1))

    value, (g1, g2) = jax.value_and_grad(loss)((w1, w2))
    return value, w1 - 0.1 * g1, w2 - 0.1 * g2


case("kalman", kalman, floats(12))
case("attention", attention, floats(6, 8), floats(8, 24))
case("trained", trained, floats(6, 16), floats(16, 4), floats(8, 6), RNG.integers(0, 4, 8).astype(np.int32))


# what lies behind the first of these draws no numbers before those above

NUMBERS = np.array([[1, np.nan, 3, 3], [0.0, -0.0, 0.0, -1.0], [-np.inf, np.copysign(np.nan, -1), np.inf, 2]], np.float32)
case("top_k_in_total_order", lambda x: (lax.top_k(x, 4), lax.top_k(x.astype(jnp.float16), 2)), NUMBERS)
case(
    "divided_by_zero", lambda x, y: (lax.div(x, y), lax.rem(x, y), x // y, x % y),
    np.array([5, -5, 0, -(2**31), -(2**31), 7], np.int32), np.array([0, 0, 0, -1, 0, -2], np.int32),
)  # fmt: skip
case(
    "divided_unsigned", lambda x, y: (lax.div(x, y), lax.rem(x, y)), np.array([5, 0, 200], np.uint8), np.array([0, 0, 7], np.uint8)
)
case(
    "divided_by_constants",
    lambda x: (lax.div(x, np.int8(0)), lax.rem(x, np.int8(-1)), lax.div(x, np.int8(-1))),
    np.array([5, -128], np.int8),
)

PLACES = np.array([[0, 7], [1, 1], [9, 2]], np.int32)
LABELS = np.array([0, 4, 2], np.int32)


def cross_entropy(w, x, y):
    """Mean loss of a classifier: its gradient scatters into the rows of a batch."""
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(jnp.tanh(x @ w)), y[:, None], 1))


case("scatter_batch", jax.vmap(lambda t, i, v: (t.at[i].add(v), t.at[i].set(v), t.at[i].max(v))), X, PLACES, floats(3, 2))
case(
    "written_batch", jax.vmap(lambda t, i, v: lax.dynamic_update_slice(t, v, (i,))), X, np.array([0, 7, -3], np.int32), floats(3, 2)
)
case("gradient_of_cross_entropy", jax.grad(cross_entropy), floats(8, 5), X, LABELS)
case("gradient_of_sort", jax.grad(lambda x: (jnp.cumsum(jnp.sort(x, axis=1), axis=1) ** 2).sum()), X)
case(
    "gradient_of_convolution_by_channel",
    jax.grad(lambda w, x: (convolved(x, w, feature_group_count=3) ** 2).sum()), floats(3, 3, 1, 6), floats(2, 5, 6, 3),
)  # fmt: skip
case(
    "gradient_of_convolution_in_groups",
    jax.grad(
        lambda w, x: jnp.sin(convolved(x, w, (2, 1), "VALID", rhs_dilation=(2, 2), feature_group_count=2)).sum(), argnums=(0, 1)
    ), floats(2, 2, 2, 4), floats(2, 7, 6, 4),
)  # fmt: skip
case(
    "convolution_in_groups_of_the_batch", lambda x, w: convolved(x, w, padding="VALID", batch_group_count=2),
    floats(4, 5, 5, 3), floats(2, 2, 3, 6),
)  # fmt: skip

FAR = np.array([-9, -2.5, -1, -0.3, -0.0, 0, 0.5, 1, 1.5, 3, 7, 9, 20, np.nan, np.inf, -np.inf], np.float32)
case("complement", lambda x: (lax.erfc(x), jax.nn.gelu(x, approximate=False), lax.erfc(x.astype(jnp.float16))), FAR)
case(
    "gamma", lambda x: (lax.lgamma(x), lax.digamma(x), jax.scipy.special.factorial(x), jax.scipy.special.betainc(x, 2.0, 0.3)),
    np.array([0.1, 0.5, 1, 1.5, 2, 2.5, 7, 20, 3.25], np.float32),
)  # fmt: skip
case("gamma_of_negatives", lambda x: (lax.lgamma(x), lax.digamma(x)), np.array([-0.5, -3, 0, -2.25, np.inf, np.nan], np.float32))
case("neighbours", lax.nextafter, FAR, FAR[::-1].copy())
case("truncated_normal", lambda x: jax.random.truncated_normal(jax.random.PRNGKey(3), -1.0, 1.0, (5,)) + x, floats(5))
case("leading_zeros", lambda x: (lax.clz(x), lax.clz(x.astype(jnp.uint8))), np.array([0, 1, -1, 7, 1 << 20, -(2**31)], np.int32))

NUMBERED = np.arange(24, dtype=np.int32).reshape(3, 8) % 5
case(
    "reduced_bits",
    lambda x: (
        lax.reduce(x, np.int32(0), lax.bitwise_xor, (0,)), lax.reduce(x, np.int32(-1), lax.bitwise_and, (1,)),
        lax.reduce(x, np.int32(9), lax.bitwise_or, (0, 1)), lax.reduce(x > 2, np.bool_(True), lax.bitwise_xor, (1,)),
    ),
    NUMBERED * 37 - 50,
)  # fmt: skip
case(
    "own_reducer_of_two",
    lambda x, i: lax.reduce(
        (x, i), (np.float32(-np.inf), np.int32(0)),
        lambda a, b: (jnp.maximum(a[0], b[0]), jnp.where(a[0] >= b[0], a[1], jnp.minimum(b[1], 3))), (1,),
    ), X, NUMBERED,
)  # fmt: skip
case("scatter_own", lambda t, i: t.at[i].apply(lambda v: jnp.sin(v) * 2), X, np.array([1, 1, 7, 2], np.int32))
case("scatter_truths", lambda t, i, v: (t.at[i].max(v), t.at[i].min(v)), X > 0, ROWS, floats(2, 8) > 0)
case(
    "bits_of_other_sizes",
    lambda x: (
        lax.bitcast_convert_type(x, jnp.uint8), lax.bitcast_convert_type(x, jnp.float16),
        lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.int16), jnp.float32),
    ), X,
)  # fmt: skip


BF16 = jnp.bfloat16


def perceptron(x, w, v):
    """Two layers in bfloat16: GELU, a root mean square and softmax."""
    x, w, v = (a.astype(BF16) for a in (x, w, v))
    h = jax.nn.gelu(x @ w)
    h = h / jnp.sqrt(jnp.mean(h * h, -1, keepdims=True) + 1e-5)
    return jax.nn.softmax(h @ v, -1)


def ways_to_bits(x, y):
    """What looks at single bits of bfloat16."""
    z, bits = x.astype(BF16), lax.bitcast_convert_type
    pairs = bits(bits(z.reshape(-1, 2), jnp.int32), BF16)
    near = jnp.nextafter(z, jnp.zeros_like(z))
    return bits(z, jnp.uint16), bits(y, BF16), pairs, near, lax.reduce_precision(x, 8, 7), bits(z, jnp.int16)


def counted(x):
    """What neither adds nor multiplies, and a loop whose every round does."""
    z = x.astype(BF16)
    summed = lax.fori_loop(0, 9, lambda n, a: a + z * n.astype(BF16), z)
    return jnp.sort(z, -1), lax.top_k(z, 3), jnp.argmax(z, -1), summed, z.astype(jnp.int32), jnp.max(z, 0)


EDGES = np.array(
    [0, -0.0, np.inf, -np.inf, np.nan, 1 + 2**-8, 1 + 3 * 2**-8, 3.3961775e38, 9e-41, 4.6e-41, 1e-45, -7.5], np.float32
)
case("bfloat16_layers", perceptron, floats(4, 16), floats(16, 32), floats(32, 8))
case(
    "bfloat16_slope", jax.grad(lambda x, w, v: jnp.log(perceptron(x, w, v)).sum(), (0, 2)), floats(2, 8), floats(8, 6), floats(6, 4)
)
case(
    "bfloat16_convolution",
    lambda x, w: lax.reduce_window(
        jax.nn.relu(convolved(x.astype(BF16), w.astype(BF16))), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"
    ), IMAGE, KERNEL,
)  # fmt: skip
case(
    "bfloat16_attention",
    lambda q, k: jax.nn.dot_product_attention(q.astype(BF16), k.astype(BF16), q[::-1].astype(BF16), is_causal=True),
    floats(2, 6, 2, 8), floats(2, 6, 2, 8),
)  # fmt: skip
case("bfloat16_sums", lambda x: (jnp.cumsum(x.astype(BF16), 1), lax.reduce(x.astype(BF16), BF16(0), lax.add, (1,))), floats(3, 40))
case("bfloat16_bits", ways_to_bits, EDGES, np.array([0x3F80, 0x8001, 0x7F80, 0], np.uint16))
case("bfloat16_counted", counted, X)
case(
    "bfloat16_in_and_out",
    lambda x, y: (x.astype(BF16) * y, (x + y).astype(jnp.float16)),
    jnp.asarray(X, BF16),
    jnp.asarray(X[::-1], BF16),
)
case("bfloat16_drawn", lambda k: jax.random.normal(k, (40,), BF16), np.array([3, 5], np.uint32))


def definite(x):
    """A symmetric matrix whose eigenvalues are above 0."""
    return x @ jnp.swapaxes(x, -1, -2) + 2 * jnp.eye(x.shape[-1], dtype=x.dtype)


SQUARE, SIDES = floats(4, 4), floats(4, 2)
case("cholesky", lambda x: (jnp.linalg.cholesky(definite(x)), jnp.linalg.cholesky(definite(x), upper=True)), SQUARE)
case("cholesky_slope", jax.grad(lambda x: jnp.log(jnp.diagonal(jnp.linalg.cholesky(definite(x)))).sum()), SQUARE)
case("solved", lambda x, y: (jnp.linalg.solve(x, y), jnp.linalg.inv(x), jnp.linalg.slogdet(x)), SQUARE, SIDES)
case("solved_in_batches", lambda x, y: (jnp.linalg.solve(x, y), jnp.linalg.det(x)), floats(3, 4, 4), floats(3, 4, 2))
case("factors", jax.scipy.linalg.lu, floats(5, 3))
case("exponential_of_a_matrix", jax.scipy.linalg.expm, SQUARE)
case(
    "triangular_solves",
    lambda x, y: [
        jax.scipy.linalg.solve_triangular(definite(x), y, lower=lower, trans=trans, unit_diagonal=unit)
        for lower in (False, True) for trans in (0, 1) for unit in (False, True)
    ] + [lax.linalg.triangular_solve(definite(x), y.T, left_side=False, lower=True)],
    SQUARE, SIDES,
)  # fmt: skip


def texts() -> Mapping[str, str]:
    """Return the text of every case."""
    return {name: jax.jit(function).lower(*arguments).as_text() for name, (function, arguments) in CASES.items()}


def arrays() -> Mapping[str, np.ndarray]:
    """Return arguments and results, "CASE/arg0" and "CASE/out0"; those of bfloat16 as float32."""
    found: dict[str, np.ndarray] = {}
    for name, (function, arguments) in CASES.items():
        results = jax.tree.leaves(jax.jit(function)(*arguments))
        for kind, values in (("arg", arguments), ("out", results)):
            found |= {f"{name}/{kind}{n}": np.asarray(v, np.float32 if v.dtype == BF16 else None) for n, v in enumerate(values)}
    return found


def main() -> int:
    """Write the folder anew."""
    if "--check" in sys.argv[1:]:
        stored = {path.stem: path.read_text() for path in FOLDER.glob("*.mlir")}
        printed = texts()
        differ = sorted(n for n in {*stored, *printed} if stored.get(n) != printed.get(n))
        print(f"other texts: {', '.join(differ)}" if differ else f"{len(stored)} texts are as JAX prints them")
        return int(bool(differ))
    printed, computed = texts(), arrays()
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.mlir"):
        old.unlink()
    for name, text in printed.items():
        (FOLDER / f"{name}.mlir").write_text(text)
    np.savez_compressed(FOLDER / "arrays.npz", **computed)
    print(f"{len(CASES)} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
