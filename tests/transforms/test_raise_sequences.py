"""Attention of several sequences, each attending to itself: one operation with an axis of sequences in front."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from same_results import assert_close, passed
from spelled import Model, kinds, the, trace
from test_raise_attention import causal, softmax

from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import shape_of
from fleet.transforms.raising.explain import explain

S, N, HEADS, WIDTH = 3, 5, 2, 4


def split(x):
    return x.reshape(S, N, -1, WIDTH).transpose(0, 2, 1, 3)


def joined(x):
    return x.transpose(0, 2, 1, 3).reshape(S, N, HEADS * WIDTH)


def as_exporters_write_it(m, q, k, v):
    return joined(softmax(m, split(q) @ split(k).transpose(0, 1, 3, 2) / 2.0) @ split(v))


def turned_with_heads_merged(m, q, k, v):
    """PyTorch's SDPA: both factors scaled, keys turned as [sequences * heads, ...]."""
    keys = split(k).reshape(S * HEADS, N, WIDTH).transpose(0, 2, 1).reshape(S, HEADS, WIDTH, N)
    return joined(softmax(m, (split(q) * 0.5) @ (keys * 0.5)) @ split(v))


def einsum(m, q, k, v):
    q, k, v = (x.reshape(S, N, HEADS, WIDTH) for x in (q, k, v))
    p = softmax(m, m.einsum("bqhd,bkhd->bhqk", q, k) / 2.0)
    return m.einsum("bhqk,bkhd->bqhd", p, v).reshape(S, N, HEADS * WIDTH)


def to_rows(m, q, k, v):
    """For a Gemm: all sequences' rows in one matrix."""
    return as_exporters_write_it(m, q, k, v).reshape(S * N, HEADS * WIDTH)


def straight_to_rows(m, q, k, v):
    p = softmax(m, split(q) @ split(k).transpose(0, 1, 3, 2) / 2.0)
    return (p @ split(v)).transpose(0, 2, 1, 3).reshape(S * N, HEADS * WIDTH)


SPELLED = [as_exporters_write_it, turned_with_heads_merged, einsum, to_rows, straight_to_rows]


@pytest.mark.parametrize("model", SPELLED, ids=lambda f: f.__name__)
def test_sequences_of_heads(model: Model) -> None:
    before = trace(model, q=(S, N, HEADS * WIDTH), k=(S, N, HEADS * WIDTH), v=(S, N, HEADS * WIDTH))
    after = passed(before)
    attention = the(after, "attention")
    a = attributes_of(attention)
    assert (a["heads"], a["kv_heads"], a["causal"]) == (HEADS, HEADS, False)
    assert a["scale"] == pytest.approx(0.25 if model is turned_with_heads_merged else 0.5)
    assert shape_of(attention.results[0].type) == (S, N, HEADS * WIDTH)
    assert set(kinds(after)) <= {"attention", "reshape"}, "nothing is moved"
    assert_close(before, after, model)


def test_parts_of_one_product_are_slices() -> None:
    def model(m, x):
        return as_exporters_write_it(m, *m.split(x, 3, axis=-1))

    before = trace(model, x=(S, N, 3 * HEADS * WIDTH))
    after = passed(before)
    assert sorted(kinds(after)) == ["attention", "slice", "slice", "slice"]
    assert_close(before, after, model)


def test_queries_that_were_computed_head_by_head_are_moved() -> None:
    def model(m, q, k, v):
        return joined(softmax(m, m.tanh(split(q)) @ split(k).transpose(0, 1, 3, 2)) @ split(v))

    before = trace(model, q=(S, N, HEADS * WIDTH), k=(S, N, HEADS * WIDTH), v=(S, N, HEADS * WIDTH))
    after = passed(before)
    assert kinds(after).count("attention") == 1
    assert_close(before, after, model)


def test_heads_that_share_keys_and_values() -> None:
    def model(m, q, k, v):
        k, v = (m.repeat(x.reshape(S, N, 1, WIDTH), HEADS, axis=2).transpose(0, 2, 1, 3) for x in (k, v))
        return joined(softmax(m, split(q) @ k.transpose(0, 1, 3, 2)) @ v)

    before = trace(model, q=(S, N, HEADS * WIDTH), k=(S, N, WIDTH), v=(S, N, WIDTH))
    after = passed(before)
    a = attributes_of(the(after, "attention"))
    assert (a["heads"], a["kv_heads"]) == (HEADS, 1)
    assert_close(before, after, model)


def test_sequences_of_one_head() -> None:
    def model(m, q, k, v, mask):
        return softmax(m, q @ k.transpose(0, 2, 1) / 2.0 + mask) @ v

    before = trace(model, {"mask": causal(N)}, q=(S, N, WIDTH), k=(S, N, WIDTH), v=(S, N, WIDTH))
    after = passed(before)
    assert kinds(after) == ["attention"]
    a = attributes_of(the(after, "attention"))
    assert (a["heads"], a["causal"], a["scale"]) == (1, True, 0.5)
    assert_close(before, after, model)


def masked(m, q, k, v, mask):
    return joined(softmax(m, split(q) @ split(k).transpose(0, 1, 3, 2) / 2.0 + mask) @ split(v))


PADDED = np.where(np.arange(N) < np.array([5, 3, 4])[:, None], 0.0, -1e10).astype(np.float32)
ONE_OFF = np.stack([causal(N), causal(N), causal(N) + PADDED[1]]).astype(np.float32)
MASKS = {
    "causal": (causal(N), True, None),
    "causal in all": (np.broadcast_to(causal(N), (S, 1, N, N)).copy(), True, None),
    "zero": (np.zeros((S, 1, 1, N), np.float32), False, None),
    "a length of each": (PADDED[:, None, None], False, (S, 1, N)),
    "the same of all": (PADDED[1][None, None, None], False, (1, N)),
    "causal in all but one": (ONE_OFF[:, None], False, (S, N, N)),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks(name: str) -> None:
    mask, is_causal, kept = MASKS[name]
    before = trace(masked, {"mask": mask}, **dict.fromkeys("qkv", (S, N, HEADS * WIDTH)))
    after = passed(before)
    attention = the(after, "attention")
    assert attributes_of(attention)["causal"] is is_causal
    assert (shape_of(attention.operands[3].type) if len(attention.operands) == 4 else None) == kept
    assert_close(before, after, masked)


def test_a_mask_of_heads_is_told() -> None:
    mask = np.where(np.arange(prod((S, HEADS, N, N))).reshape(S, HEADS, N, N) % 3, 0, -1e10).astype(np.float32)
    before = trace(masked, {"mask": mask}, **dict.fromkeys("qkv", (S, N, HEADS * WIDTH)))
    after = passed(before)
    assert "attention" not in kinds(after)
    assert any(miss.why == "its mask differs from head to head" for miss in explain(before))
    assert_close(before, after, masked)
