"""Masks of attention that are known: how large they may be, and what of them stays."""

from __future__ import annotations

import numpy as np
from same_results import assert_close, passed
from spelled import kinds, the, trace
from test_raise_attention import causal, head

from fleet.ir.dialect import op_id
from fleet.ir.operations.operation import attributes_of
from fleet.transforms.raising.explain import explain

LONGEST = 2048
"""Positions whose causal mask is looked at: as many as 2^22 numbers."""


def test_a_causal_mask_of_the_longest_sequence_is_seen() -> None:
    before = trace(head, {"mask": causal(LONGEST)}, q=(LONGEST, 4), k=(LONGEST, 4), v=(LONGEST, 4))
    assert attributes_of(the(passed(before), "attention"))["causal"]


def test_a_mask_that_is_added_as_it_is_costs_no_product() -> None:
    before = trace(head, q=(5, 4), k=(6, 4), v=(6, 4), mask=(5, 6))
    after = passed(before)
    assert [k for k in kinds(after) if k != "cast"] == ["attention"]
    assert_close(before, after, head)


def test_a_mask_times_a_number_is_multiplied() -> None:
    def model(m, q, k, v, mask):
        return head(m, q, k, v, mask * 3.0)

    before = trace(model, q=(5, 4), k=(6, 4), v=(6, 4), mask=(5, 6))
    after = passed(before)
    assert kinds(after).count("attention") == 1
    assert_close(before, after, model)


def test_two_heads_with_a_gap_between_them_are_no_window() -> None:
    """Their columns do not lie side by side: taking as many columns from the first on would be other heads'."""

    def model(m, x):
        parts = m.split(x, 12, axis=1)
        heads = [head(m, parts[i], parts[4 + i], parts[8 + i]) for i in (0, 2)]
        return m.hstack(heads)

    before = trace(model, x=(5, 36))
    after = passed(before)
    assert kinds(after).count("attention") == 1
    assert attributes_of(the(after, "attention"))["heads"] == 2
    assert_close(before, after, model)


def test_masks_are_numbers_of_any_kind() -> None:
    """What is added below every score hides a key, whatever its size."""
    for value in (-1e9, -np.inf):
        before = trace(head, {"mask": causal(5, value if np.isfinite(value) else -3e38)}, q=(5, 4), k=(5, 4), v=(5, 4))
        assert attributes_of(the(passed(before), "attention"))["causal"]


def test_heads_one_above_the_other_are_no_attention_of_several_heads() -> None:
    def model(m, x):
        parts = m.split(x, 6, axis=1)
        return m.concatenate([head(m, parts[i], parts[2 + i], parts[4 + i]) for i in (0, 1)], axis=0)

    before = trace(model, x=(5, 24))
    after = passed(before)
    found = [op for op in after.operations() if op.name == "fleet.attention"]
    assert all(attributes_of(op)["heads"] == 1 for op in found)
    assert_close(before, after, model)
    stacked = next(op for op in before.operations() if op.name == "fleet.concat")
    assert not [m for m in explain(before) if m.idiom == "attention" and m.op == op_id(stacked)], "nobody meant them as one"
