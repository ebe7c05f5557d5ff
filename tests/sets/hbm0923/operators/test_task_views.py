"""Operands that are views: a part keeps the strides of what it is a part of."""

from __future__ import annotations

import pytest
from test_task_registers import ROW, compiled, hbm, x

from fleet.dlavm import adr, ne
from fleet.errors import FleetError


def test_a_part_of_the_channels_of_one_head_is_added_to_a_tensor_of_its_size() -> None:
    """Of one head the stride between heads means nothing, and differs: that of the part is the whole's."""
    part = adr.split(x("a", 128), 2, (64, 64))[1]
    (found,) = compiled(hbm.add(part, x("b", 64)))
    assert found[129 + 2] == 0x20000 + 2 * ROW
    assert found[129 + 3] == ROW


def test_a_part_of_several_heads_is_not() -> None:
    part = adr.split(x("a", 128, 2), 2, (64, 64))[1]
    with pytest.raises(FleetError, match="different strides"):
        compiled(hbm.add(part, x("b", 64, 2)))


def test_some_tokens_of_a_single_row_are_added_to_a_tensor_of_their_number() -> None:
    """One head of 32 channels is one row: neither stride means anything."""
    token = ne.Var("token", 8, 3)
    whole = hbm.var_ddr("a", (1, token, 32))
    part = adr.split(whole, 1, (2, token - 2))[1]
    (found,) = compiled(hbm.add(part, hbm.var_ddr("b", (1, token - 2, 32))))
    assert found[129 + 2] == 0x20000 + 2 * 64, "behind two tokens"


def test_some_tokens_of_several_rows_are_not() -> None:
    token = ne.Var("token", 8, 3)
    part = adr.split(hbm.var_ddr("a", (1, token, 64)), 1, (2, token - 2))[1]
    with pytest.raises(FleetError, match="different strides"):
        compiled(hbm.add(part, hbm.var_ddr("b", (1, token - 2, 64))))
