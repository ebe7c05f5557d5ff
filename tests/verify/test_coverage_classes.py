"""Classes of values, shapes and results against slow references that share no code with them."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.isa.description import Field, Register
from fleet.isa.registry import find_device
from fleet.sdk import Device, Limit, Range, Write
from fleet.verify.coverage.results import RESULTS, results_of
from fleet.verify.coverage.shapes import SHAPES, near_shape, offending, shape_of, shapes_left, stride_of
from fleet.verify.coverage.values import FieldPlace, class_of, examples, fitting, possible, remainder


def field(width: int, kind: str, *, align: int = 1, allowed: tuple[int, ...] | None = None, space: str | None = None) -> Field:
    return Field("f", 0, width - 1, kind, space, align, allowed, 0, (), "rw", "r", "", "", "here")


def place(f: Field, limit: Limit | None = None) -> FieldPlace:
    register = Register("r", 0, "operand", "u", 0, (f,), "", "", "here")
    return FieldPlace("r", register, f, True, limit)


@pytest.fixture(scope="module")
def device() -> Device:
    return find_device("vgemm_small")[1]


QUIET = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@QUIET
@given(
    width=st.integers(1, 32), align=st.sampled_from([1, 4, 32, 64]), kind=st.sampled_from(["size", "stride", "value", "address"]),
    number=st.integers(0, (1 << 32) - 1),
)  # fmt: skip
def test_every_value_that_fits_and_is_aligned_has_an_open_class(
    device: Device, width: int, align: int, kind: str, number: int
) -> None:
    p = place(field(width, kind, align=align, space="ddr" if kind == "address" else None))
    value = number % (1 << width) // align * align
    if kind != "address" or value < device.memory["ddr"]:
        assert possible(p, device)[class_of(p.field, value)] is None


@QUIET
@given(width=st.integers(2, 16), a=st.integers(0, 70000), b=st.integers(0, 70000))
def test_a_limit_leaves_exactly_the_classes_of_the_values_in_it(device: Device, width: int, a: int, b: int) -> None:
    top = (1 << width) - 1
    low, high = sorted((a % (top + 1), b % (top + 1)))
    p = place(field(width, "size"), Limit(low, high, "because"))
    inside = {class_of(p.field, v) for v in range(low, min(high, low + 4096) + 1)} | {class_of(p.field, high)}
    found = possible(p, device)
    assert {k for k, why in found.items() if why is None} == inside
    assert all(why and "because" in why for k, why in found.items() if k not in inside)
    assert all(low <= v <= high for values in examples(p, device).values() for v in values)


def test_what_is_not_allowed_has_no_bin_and_what_is_beyond_memory_a_reason(device: Device) -> None:
    assert possible(place(field(32, "mode", allowed=(1, 5))), device) == {"0x1": None, "0x5": None}
    found = possible(place(field(32, "address", space="ddr", align=4)), device)
    assert found["below_1_GiB"] is None
    assert found["1_GiB_and_up"] == "ddr ends at 0x1000000"


def test_fitting_has_a_value_of_every_class_of_a_narrow_field() -> None:
    for width in (1, 3, 4, 12):
        f = field(width, "size")
        assert {class_of(f, v) for v in fitting(f)} == {class_of(f, v) for v in range(1 << width)}


@QUIET
@given(st.integers(0, 10**6), st.sampled_from([2, 4, 8, 32, 128]))
def test_remainder(value: int, block: int) -> None:
    left = value - block * math.floor(value / block)
    expected = {0: "whole", 1: "over"}.get(left, "short" if left == block - 1 else "other")
    assert remainder(value, block) == expected


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((1, 1), "whole"), ((8, 64), "whole"), ((0, 128), "whole"), ((9, 64), "over"), ((33, 1), "over"), ((31, 9), "short"),
     ((7, 3), "short"), ((3, 9), "over"), ((3, 8), "other"), ((2, 1), "other"), ((127, 33), "short"), ((12, 8), "other")],
)  # fmt: skip
def test_shape_is_the_most_awkward_remainder(sizes: tuple[int, int], expected: str) -> None:
    fs = [field(16, "size"), field(16, "size")]
    found = [FieldPlace(n, Register(n, 4 * i, "operand", "u", i, (fs[i],), "", "", ""), fs[i], True) for i, n in enumerate("ab")]
    assert shape_of(found, dict(zip("ab", sizes, strict=True)), (8, 32, 64, 128)) == expected


def awkward(value: int, blocks: tuple[int, ...]) -> str:
    """The shape of one size, by trying the blocks from the largest."""
    for block in sorted(blocks, reverse=True):
        if value > 1 and (value - 1) % block == 0:
            return "over"
        if value > 1 and (value + 1) % block == 0:
            return "short"
    return "whole" if value <= 1 or value % min(blocks) == 0 else "other"


@QUIET
@given(
    values=st.lists(st.integers(0, 300), min_size=1, max_size=4), shape=st.sampled_from(SHAPES),
    blocks=st.sampled_from([(8, 32, 64, 128), (4,), (16,)]),
)  # fmt: skip
def test_what_keeps_sizes_from_a_shape_and_what_brings_them_there(
    values: list[int], shape: str, blocks: tuple[int, ...]
) -> None:  # fmt: skip
    f = field(16, "size")
    found = [
        FieldPlace(f"s{i}", Register(f"s{i}", 4 * i, "operand", "u", i, (f,), "", "", ""), f, True) for i in range(len(values))
    ]
    fields = {f"s{i}": v for i, v in enumerate(values)}
    wrong = offending(found, fields, blocks, shape)
    assert (not wrong) == (shape_of(found, fields, blocks) == shape)
    near = {p.label: near_shape(p, fields[p.label], blocks, shape) for p in found}
    assert all(awkward(v, blocks) == shape for pool in near.values() for v in pool)
    if wrong and all(near[p.label] for p in wrong):
        moved = fields | {p.label: near[p.label][0] for p in wrong}
        assert shape_of(found, moved, blocks) == shape


@QUIET
@given(low=st.integers(0, 40), span=st.integers(0, 40), align=st.sampled_from([1, 4]))
def test_shapes_that_a_limit_leaves(low: int, span: int, align: int) -> None:
    blocks = (8, 32)
    p = place(field(16, "size", align=align), Limit(low, low + span, "because"))
    inside = [v for v in range(low, low + span + 1) if v % align == 0]
    assert shapes_left(p, blocks) == {awkward(v, blocks) for v in inside}


def test_stride_looks_at_the_gaps_between_the_rows_of_one_operand() -> None:
    def rows(base: int, pitch: int, count: int, size: int = 64) -> list[Range]:
        return [Range("ddr", base + i * pitch, size) for i in range(count)]

    assert stride_of(rows(0, 64, 4), [0]) == "dense"
    assert stride_of(rows(0, 100, 4), [0]) == "padded"
    assert stride_of(rows(0, 128, 4), [0]) == "wider"
    assert stride_of([*rows(0, 64, 2), *rows(4096, 64, 2)], [0, 4096]) == "dense"  # the gap is between two operands
    assert stride_of([*rows(0, 64, 2), *rows(4096, 64, 2)], [0]) == "wider"
    assert stride_of([*rows(0, 64, 2), *rows(4096, 100, 2)], [0, 4096]) == "padded"
    assert stride_of([], [0]) is None
    assert stride_of([Range("hbm", 0, 32, 0), Range("hbm", 500, 32, 1)], [0]) == "dense"  # other banks hold the same


def slow_floats(halves: list[int]) -> set[str]:
    """Of FP16 patterns, by Python's own reading of them."""
    found: set[str] = set()
    for bits in halves:
        value = struct.unpack("<e", bits.to_bytes(2, "little"))[0]
        if math.isnan(value):
            found.add("nan")
        elif math.isinf(value):
            found.add("inf")
        elif abs(value) == 65504:
            found.add("largest")
        elif value == 0:
            found.add("zero")
        elif abs(value) < 2**-14:
            found.add("subnormal")
    return found or {"ordinary"}


@QUIET
@given(
    st.lists(st.one_of(st.integers(0, 65535), st.sampled_from([0x7C00, 0xFC00, 0x7BFF, 0, 0x8000, 1, 0x3FF, 0x400])), min_size=1)
)
def test_results_of_floats(halves: list[int]) -> None:
    data = np.array(halves, "<u2").view(np.uint8)
    assert results_of([Write("ddr", 0, data, dtype="<f2")], "") == slow_floats(halves)
    assert results_of([Write("ddr", 0, data)], "<f2") == slow_floats(halves)
    assert results_of([Write("ddr", 0, data)], "") == set()


@QUIET
@given(st.lists(st.one_of(st.integers(-128, 127), st.sampled_from([-128, 127, 0, -1])), min_size=1))
def test_results_of_integers(values: list[int]) -> None:
    expected = {name for name, hit in (
        ("least", -128 in values), ("largest", 127 in values), ("zero", 0 in values), ("negative", min(values) < 0),
    ) if hit}  # fmt: skip
    data = np.array(values, np.int8).view(np.uint8)
    assert results_of([Write("onchip", 0, data)], "|i1") == (expected or {"ordinary"})
    assert set(RESULTS["i"]) >= expected


def test_result_registers_do_not_count() -> None:
    assert results_of([Write("reg", 0, np.full(4, 255, np.uint8), dtype="<u4")], "") == set()
