from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_results import RAISE, assert_close, passed
from spelled import Model, kinds, the, trace

from fleet.ir.operations.operation import attributes_of
from fleet.ir.program import Program
from fleet.ir.weights import Creation, RandomStream, Weights
from fleet.transforms.raising.explain import explain

FOLD = RAISE.replace("cse,", "cse,fold-weights,") + ",drop-weights"


def softmax(m, x):
    e = m.exp(x - m.max(x, axis=-1, keepdims=True))
    return e / m.sum(e, axis=-1, keepdims=True)


def causal(n: int, value: float = -1e10, dtype: str = "float32") -> np.ndarray:
    return ((1 - np.tri(n)) * value).astype(dtype)


def head(m, q, k, v, mask=None, scale=0.5):
    scores = q @ k.T * scale
    return softmax(m, scores if mask is None else scores + mask) @ v


def gpt2(heads: int) -> Model:
    """As in GPT-2 in 60 lines of NumPy: split q k v, split heads, one head after the other, hstack."""

    def model(m, qkv, mask):
        parts = m.split(qkv, 3, axis=-1)
        split = [m.split(part, heads, axis=-1) for part in parts]
        d = parts[0].shape[-1] // heads
        return m.hstack([softmax(m, q @ k.T / m.sqrt(float(d)) + mask) @ v for q, k, v in zip(*split, strict=True)])

    return model


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("heads", [1, 2, 4])
def test_head_after_head_becomes_one(heads: int, dtype: str) -> None:
    model = gpt2(heads)
    before = trace(model, {"mask": causal(5, dtype=dtype)}, qkv=(5, 24), dtype=dtype)
    after = passed(before)
    found = [k for k in kinds(after) if k != "cast"]
    assert found == ["slice", "slice", "slice", "attention"]
    a = attributes_of(the(after, "attention"))
    assert (a["heads"], a["kv_heads"], a["causal"]) == (heads, heads, True)
    assert a["scale"] == pytest.approx((8 / heads) ** -0.5)
    assert_close(before, after, model)


def test_the_slices_that_the_source_has_are_used_again() -> None:
    before = trace(gpt2(2), {"mask": causal(5, dtype="float64")}, qkv=(5, 24), dtype="float64")
    after = passed(before)
    before_ids = {op.properties["id"].data for op in before.operations()}
    assert {op.properties["id"].data for op in after.operations()} <= before_ids


def batched(m, q, k, v, mask):
    n, h, d = q.shape[0], 2, q.shape[1] // 2
    q, k, v = (x.reshape(n, h, d).transpose(1, 0, 2) for x in (q, k, v))
    p = softmax(m, q @ k.transpose(0, 2, 1) / 2.0 + mask)
    return (p @ v).transpose(1, 0, 2).reshape(n, h * d)


def one_reshape(m, q, k, v, mask):
    qkv = m.concatenate([q, k, v], axis=1)
    n, h, d = q.shape[0], 2, q.shape[1] // 2
    x = qkv.reshape(n, 3, h, d).transpose(1, 2, 0, 3)
    p = softmax(m, x[0] @ x[1].transpose(0, 2, 1) / 2.0 + mask)
    return (p @ x[2]).transpose(1, 0, 2).reshape(n, h * d)


def keys_transposed_at_once(m, q, k, v, mask):
    n, h, d = q.shape[0], 2, q.shape[1] // 2
    p = softmax(m, q.reshape(n, h, d).transpose(1, 0, 2) @ k.reshape(n, h, d).transpose(1, 2, 0) / 2.0 + mask[None])
    return (p @ v.reshape(n, h, d).transpose(1, 0, 2)).transpose(1, 0, 2).reshape(n, -1)


def einsum(m, q, k, v, mask):
    n, h, d = q.shape[0], 2, q.shape[1] // 2
    q, k, v = (x.reshape(n, h, d) for x in (q, k, v))
    p = softmax(m, m.einsum("nhd,mhd->hnm", q, k) * 0.5 + mask)
    return m.einsum("hnm,mhd->nhd", p, v).reshape(n, h * d)


def einsum_the_other_way(m, q, k, v, mask):
    n, h, d = q.shape[0], 2, q.shape[1] // 2
    q, k, v = (x.reshape(n, h, d) for x in (q, k, v))
    p = softmax(m, m.einsum("mhd,nhd->hnm", k, q) * 0.5 + mask)
    return m.einsum("mhd,hnm->hnd", v, p).transpose(1, 0, 2).reshape(n, h * d)


def masked_by_where(m, q, k, v, mask):
    n, h, d = q.shape[0], 2, q.shape[1] // 2
    q, k, v = (x.reshape(n, h, d).transpose(1, 0, 2) for x in (q, k, v))
    seen = m.call("equal", mask, m.binary("mul", mask, 0.0)) if hasattr(m, "call") else mask == mask * 0.0
    p = softmax(m, m.where(seen, q @ k.transpose(0, 2, 1) / 2.0, -1e10))
    return (p @ v).transpose(1, 0, 2).reshape(n, h * d)


def scaled_queries(m, q, k, v, mask):
    return batched(m, q * 0.25, k, v, mask)


BATCHES = [batched, one_reshape, keys_transposed_at_once, einsum, einsum_the_other_way, masked_by_where, scaled_queries]


@pytest.mark.parametrize("model", BATCHES, ids=lambda f: f.__name__)
def test_a_batch_of_heads(model: Model) -> None:
    before = trace(model, {"mask": causal(5)}, q=(5, 8), k=(5, 8), v=(5, 8))
    after = passed(before)
    a = attributes_of(the(after, "attention"))
    assert (a["heads"], a["kv_heads"], a["causal"], a["scale"]) == (2, 2, True, 0.5)
    if model is not scaled_queries:
        assert set(kinds(after)) <= {"attention", "concat", "slice"}
    assert_close(before, after, model)


def test_queries_that_were_computed_head_by_head_are_put_together() -> None:
    def model(m, q, k, v):
        q, k, v = (x.reshape(5, 2, 4).transpose(1, 0, 2) for x in (m.exp(q), k, v))
        return (softmax(m, m.tanh(q) @ k.transpose(0, 2, 1)) @ v).transpose(1, 0, 2).reshape(5, 8)

    before = trace(model, q=(5, 8), k=(5, 8), v=(5, 8))
    after = passed(before)
    assert kinds(after).count("attention") == 1
    assert_close(before, after, model)


def test_heads_that_share_keys_and_values() -> None:
    def model(m, q, k, v, mask):
        qs, ks, vs = m.split(q, 4, axis=1), m.split(k, 2, axis=1), m.split(v, 2, axis=1)
        return m.hstack([head(m, qs[i], ks[i // 2], vs[i // 2], mask) for i in range(4)])

    before = trace(model, {"mask": causal(5)}, q=(5, 8), k=(5, 4), v=(5, 4))
    after = passed(before)
    assert kinds(after) == ["attention"]
    a = attributes_of(the(after, "attention"))
    assert (a["heads"], a["kv_heads"]) == (4, 2)
    assert_close(before, after, model)


@pytest.mark.parametrize("where", [0, 1])
def test_keys_and_values_that_are_repeated(where: int) -> None:
    def model(m, q, k, v, mask):
        q = q.reshape(5, 4, 2).transpose(1, 0, 2)
        k, v = k.reshape(5, 2, 2), v.reshape(5, 2, 2)
        if where == 1:
            k, v = (m.repeat(x, 2, axis=1).transpose(1, 0, 2) for x in (k, v))
        else:
            k, v = (m.repeat(x.transpose(1, 0, 2), 2, axis=0) for x in (k, v))
        return (softmax(m, q @ k.transpose(0, 2, 1) + mask) @ v).transpose(1, 0, 2).reshape(5, 8)

    before = trace(model, {"mask": causal(5)}, q=(5, 8), k=(5, 4), v=(5, 4))
    after = passed(before)
    a = attributes_of(the(after, "attention"))
    assert (a["heads"], a["kv_heads"]) == (4, 2)
    assert set(kinds(after)) == {"attention"}
    assert_close(before, after, model)


def test_a_llama_s_attention_with_rotated_queries_and_keys() -> None:
    def rotated(m, x, c, s):
        a, b = x[..., :2], x[..., 2:]
        return m.concatenate([a * c - b * s, a * s + b * c], axis=-1)

    def model(m, q, k, v, c, s, mask):
        q, k, v = q.reshape(5, 4, 4), k.reshape(5, 2, 4), v.reshape(5, 2, 4)
        q, k = rotated(m, q, c[:, None], s[:, None]), rotated(m, k, c[:, None], s[:, None])
        k, v = m.repeat(k, 2, axis=1), m.repeat(v, 2, axis=1)
        q, k, v = (x.transpose(1, 0, 2) for x in (q, k, v))
        return (softmax(m, q @ k.transpose(0, 2, 1) / m.sqrt(4.0) + mask) @ v).transpose(1, 0, 2).reshape(5, 16)

    shapes = {"q": (5, 16), "k": (5, 8), "v": (5, 8), "c": (5, 2), "s": (5, 2)}
    before = trace(model, {"mask": causal(5)}, **shapes)
    after = passed(before)
    assert kinds(after).count("rope") == 2
    assert set(kinds(after)) == {"reshape", "rope", "attention"} | ({"cast"} & set(kinds(after)))
    a = attributes_of(the(after, "attention"))
    assert (a["heads"], a["kv_heads"], a["scale"], a["causal"]) == (4, 2, 0.5, True)
    assert_close(before, after, model)


def test_one_query_against_all_keys() -> None:
    def model(m, q, k, v):
        return head(m, q[-1:], k, v)

    before = trace(model, q=(5, 8), k=(5, 8), v=(5, 8))
    after = passed(before)
    assert kinds(after) == ["slice", "attention"]
    assert_close(before, after, model)


MASKS = {
    "causal": (causal(5), True, False),
    "minus infinity": (np.where(np.tri(5) > 0, 0, -np.inf).astype(np.float32), True, False),
    "of the smallest number": (causal(5, float(np.finfo(np.float32).min)), True, False),
    "tiny, as the seed has it": (causal(5, -1e-10), False, True),
    "off by one": (((1 - np.tri(5, 5, 1)) * -1e10).astype(np.float32), False, True),
    "of strictly earlier keys": (((1 - np.tri(5, 5, -1)) * -1e10).astype(np.float32), False, True),
    "transposed": (causal(5).T.copy(), False, True),
    "zero": (np.zeros((5, 5), np.float32), False, False),
    "a bias below": (causal(5) + np.tri(5, k=-1).astype(np.float32), False, True),
}


@pytest.mark.parametrize("name", MASKS)
def test_only_a_causal_mask_is_taken_for_one(name: str) -> None:
    mask, is_causal, kept = MASKS[name]
    before = trace(head, {"mask": mask}, q=(5, 4), k=(5, 4), v=(5, 4))
    after = passed(before)
    attention = the(after, "attention")
    assert attributes_of(attention)["causal"] is is_causal
    assert (len(attention.operands) == 4) is kept
    if name != "minus infinity":
        assert_close(before, after, head)


def test_a_mask_that_is_an_input_is_added() -> None:
    before = trace(head, q=(5, 4), k=(6, 4), v=(6, 4), mask=(5, 6))
    after = passed(before)
    assert not attributes_of(the(after, "attention"))["causal"]
    assert len(the(after, "attention").operands) == 4
    assert_close(before, after, head)


def test_a_mask_scaled_with_the_scores() -> None:
    def model(m, q, k, v, mask):
        return softmax(m, (q @ k.T + mask) / 2.0) @ v

    before = trace(model, q=(5, 4), k=(5, 4), v=(5, 4), mask=(5, 5))
    after = passed(before)
    assert kinds(after) == ["mul", "attention"]
    assert_close(before, after, model)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [-65504.0, -np.inf])
@pytest.mark.parametrize("factor", [1.0, 0.5, 3.0])
def test_a_mask_of_halves_gives_no_warning(value: float, factor: float) -> None:
    """-65504, the least float16, may be outweighed, so that only minus infinity is a causal mask; -1e8 is no float16."""

    def model(m, q, k, v, mask):
        return softmax(m, (q @ k.T + mask) * np.float16(factor)) @ v

    mask = np.where(np.tri(5) > 0, 0, value).astype(np.float16)
    after = passed(trace(model, {"mask": mask}, q=(5, 4), k=(5, 4), v=(5, 4), dtype="float16"))
    assert attributes_of(the(after, "attention"))["causal"] == np.isinf(value)


def with_weights(program: Program, weights: Weights) -> Program:
    from dataclasses import replace

    return replace(program, weights=weights)


def test_a_mask_of_tri_is_found_and_gone_without_drawing_anything() -> None:
    def model(m, q, k, v, tri, w):
        return head(m, q @ w, k, v, (1 - tri) * -1e10)

    before = trace(model, {"tri": np.tri(5, dtype=np.float32), "w": np.eye(4, dtype=np.float32)}, q=(5, 4), k=(5, 4), v=(5, 4))
    tri = Creation("tri", (5,), (5, 5), np.dtype(np.float32))
    draw = RandomStream("RandomState", 1).draw("standard_normal", ((4, 4),), {}, (4, 4), np.dtype(np.float32))
    after = passed(with_weights(before, Weights({"tri": tri, "w": draw})), FOLD)
    assert kinds(after) == ["matmul", "attention"]
    assert attributes_of(the(after, "attention"))["causal"]
    assert [a.name for a in after.arguments] == ["q", "k", "v", "w"]
    assert not draw.made


def test_a_drawn_mask_is_not_looked_at() -> None:
    draw = RandomStream("RandomState", 1).draw("standard_normal", ((5, 5),), {}, (5, 5), np.dtype(np.float32))
    before = trace(head, {"mask": causal(5)}, q=(5, 4), k=(5, 4), v=(5, 4))
    after = passed(with_weights(before, Weights({"mask": draw})), FOLD)
    assert not attributes_of(the(after, "attention"))["causal"]
    assert not draw.made


def two_heads(m, q, k, v, first=None, second=None, order=(0, 1)):
    qs, ks, vs = (m.split(x, 2, axis=1) for x in (q, k, v))
    one, two = head(m, qs[0], ks[0], vs[0], **(first or {})), head(m, qs[1], ks[1], vs[1], **(second or {}))
    return m.hstack([(one, two)[i] for i in order])


def of_sequences(m, q, k, v):
    """Two sequences of two heads of two columns, left apart: [sequences, heads, n, columns]."""
    q, k, v = (x.reshape(5, 2, 2, 2).transpose(1, 2, 0, 3) for x in (q, k, v))
    return softmax(m, q @ k.transpose(0, 1, 3, 2)) @ v


NEAR = {
    "another scale in the second head": (lambda m, q, k, v: two_heads(m, q, k, v, second={"scale": 0.25}), "different scales"),
    "one head without mask": (lambda m, q, k, v: two_heads(m, q, k, v, first={"mask": q @ k.T}), "different scales or masks"),
    "softmax along the queries": (
        lambda m, q, k, v: m.exp(q @ k.T) / m.sum(m.exp(q @ k.T), axis=0, keepdims=True) @ v, "along the keys",
    ),
    "the softmax transposed": (lambda m, q, k, v: softmax(m, (k @ q.T).T) @ v, "no product"),
    "two batches not put together": (of_sequences, "not put side by side"),
    "put together without transposing": (lambda m, q, k, v: of_sequences(m, q, k, v).reshape(5, 8), "not put side by side"),
    "values of another width": (lambda m, q, k, v: softmax(m, q @ k.T) @ v[:, :3], "3 columns"),
}  # fmt: skip


@pytest.mark.parametrize("name", NEAR)
def test_near_misses_are_explained_and_keep_their_results(name: str) -> None:
    model, why = NEAR[name]
    before = trace(model, q=(5, 8), k=(5, 8), v=(5, 8))
    after = passed(before)
    assert_close(before, after, model)
    wide = [op for op in after.operations() if op.name == "fleet.attention" and attributes_of(op)["heads"] > 1]
    assert not wide
    assert any(miss.idiom == "attention" and why in miss.why for miss in explain(before)), explain(before)


def test_heads_in_another_order_keep_their_order() -> None:
    model = lambda m, q, k, v: two_heads(m, q, k, v, order=(1, 0))  # noqa: E731
    before = trace(model, q=(5, 8), k=(5, 8), v=(5, 8))
    assert_close(before, passed(before), model)


def test_without_the_scale_the_scale_is_one() -> None:
    model = lambda m, q, k, v: softmax(m, q @ k.T) @ v  # noqa: E731
    before = trace(model, q=(5, 8), k=(5, 8), v=(5, 8))
    after = passed(before)
    assert attributes_of(the(after, "attention"))["scale"] == 1.0
    assert_close(before, after, model)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 6),
    heads=st.integers(1, 4),
    d=st.integers(1, 5),
    how=st.sampled_from(["one by one", "batch", "einsum"]),
    seed=st.integers(0, 99),
)
def test_the_result_is_the_same_for_any_shape(n: int, heads: int, d: int, how: str, seed: int) -> None:
    def model(m, q, k, v, mask):
        if how == "one by one":
            parts = [m.split(x, heads, axis=1) for x in (q, k, v)]
            return m.hstack([head(m, *three, mask) for three in zip(*parts, strict=True)])
        q, k, v = (x.reshape(n, heads, d) for x in (q, k, v))
        if how == "einsum":
            p = softmax(m, m.einsum("nhd,mhd->hnm", q, k) * 0.5 + mask)
            return m.einsum("hnm,mhd->nhd", p, v).reshape(n, heads * d)
        q, k, v = (x.transpose(1, 0, 2) for x in (q, k, v))
        return (softmax(m, q @ k.transpose(0, 2, 1) * 0.5 + mask) @ v).transpose(1, 0, 2).reshape(n, heads * d)

    before = trace(model, {"mask": causal(n)}, q=(n, heads * d), k=(n, heads * d), v=(n, heads * d))
    after = passed(before)
    assert attributes_of(the(after, "attention"))["heads"] == heads
    assert_close(before, after, model, seed=seed)
