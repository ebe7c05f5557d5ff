"""Reasons of survivors that can be gone through: each test tries all that its reason speaks of (sim/mutants/survivors.toml)."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from fleet.errors import DeviceError
from fleet.ir.build import make
from fleet.ir.shapes import InferenceError
from fleet.isa.registry import find_device
from fleet.sets.vgemm.pads import check_device


def test_no_binary32_of_exponent_90_becomes_anything_but_zero_in_fp16() -> None:
    """60397ad41e: the short way out ends one exponent earlier or later; all 2^24 numbers between, by IEEE arithmetic."""
    bits = np.arange(1 << 23, dtype=np.uint32) | np.uint32(90 << 23)
    for sign in (0, 1 << 31):
        halves = (bits | np.uint32(sign)).view(np.float32).astype(np.float16).view(np.uint16)
        assert (halves == sign >> 16).all()


def test_two_buffers_in_turn_are_the_same_counted_up_or_down() -> None:
    """f3370877ea: a counter that is only taken modulo 2."""
    assert [n % 2 for n in range(64)] == [-n % 2 for n in range(64)]


def test_the_smaller_of_two_equal_numbers_is_either() -> None:
    """fd9faf1ddc: `<` or `<=` chooses between numbers that are one and the same where it matters."""
    assert all((a if a < b else b) == (a if a <= b else b) for a, b in product(range(-128, 128), repeat=2))


def test_33_steps_back_and_one_forward_meet_at_32() -> None:
    """a1dbba5754: six bits counted by 33 reach 32 after as many steps as counted by 1, and not before."""
    by_one, by_33 = ([step * n % 64 for n in range(64)] for step in (1, 33))
    assert [n for n in range(33) if by_one[n] == 32] == [n for n in range(33) if by_33[n] == 32] == [32]


@pytest.mark.parametrize("name", ["uop", "inp", "wgt", "acc"])
def test_no_depth_is_a_power_of_two_between_a_limit_and_one_more(name: str) -> None:
    """02bfb5563e: all depths up to twice the limit; the limit plus one is refused whether it is the limit or not."""
    _, chip = find_device("vgemm_small")

    def accepted(depth: int) -> bool:
        try:
            check_device([replace(chip, arrays={**chip.arrays, name: replace(chip.arrays[name], depth=depth)})])
        except DeviceError:
            return False
        return True

    limit = 1024 if name == "wgt" else 2048
    assert [d for d in range(2 * limit + 1) if accepted(d)] == [1 << i for i in range(6, limit.bit_length())]


def test_no_slice_has_a_step_of_zero() -> None:
    """76307daf94: a stride of 0 never reaches the compiler."""
    from fleet.ir.constants import constant
    from fleet.ir.types import tensor_type

    image = constant(1.0, tensor_type((1, 4, 4, 2), np.float32)).results[0]
    assert make("slice", [image], start=[0, 0, 0, 0], size=[1, 2, 2, 2], step=[1, 2, 2, 1])
    for size, step in product(range(5), repeat=2):
        if step == 0:
            with pytest.raises(InferenceError):
                make("slice", [image], start=[0, 0, 0, 0], size=[1, size, size, 2], step=[1, step, step, 1])


def test_rows_between_a_tile_s_first_and_last_are_never_none() -> None:
    """338b91fc99: before the correction that the mutant turns off there is a row already, wherever the tile stands."""
    for size, low, rows in product(range(1, 8), range(-12, 12), range(1, 12)):
        begin, end = min(max(low, 0), size - 1), max(min(low + rows, size), 1)
        assert begin < end
