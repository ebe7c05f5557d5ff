"""Products of integers, compiled against NumPy's, to the bit, in every variant that this machine runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.sdk import native
from fleet.targets.bytecode.kernels import products
from fleet.targets.bytecode.kernels.products import matmul

VARIANTS = native.variants()
SIZES = st.one_of(st.integers(0, 9), st.integers(10, 150))


@pytest.fixture(autouse=True)
def everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small products too."""
    monkeypatch.setattr(products, "_LEAST", 1)
    monkeypatch.setattr(products, "_FEW", 1)


def equal(x: np.ndarray, y: np.ndarray) -> None:
    found, expected = matmul(x, y), np.matmul(x, y)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("variant", VARIANTS)
def test_products_of_any_size_are_numpys(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.VARIABLE, variant)

    @settings(max_examples=60, deadline=None)
    @given(SIZES, SIZES, SIZES, st.integers(0, 2**32 - 1), st.sampled_from([1, 128, 255, 1 << 15]))
    def check(rows: int, inputs: int, columns: int, seed: int, top: int) -> None:
        rng = np.random.default_rng(seed)
        equal(*(rng.integers(-top, top, shape, dtype=np.int32) for shape in ((rows, inputs), (inputs, columns))))

    check()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    "shapes",
    [((3, 2, 5, 12), (12, 70)), ((9, 20), (2, 3, 20, 40)), ((2, 1, 5, 40), (1, 3, 40, 70)), ((1, 12), (12, 1)), ((7, 0), (0, 6))],
)
def test_leading_dimensions_are_broadcast(
    variant: str, shapes: tuple[tuple[int, ...], tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(native.VARIABLE, variant)
    rng = np.random.default_rng(0)
    equal(*(rng.integers(-255, 256, shape, dtype=np.int32) for shape in shapes))


@pytest.mark.parametrize("variant", VARIANTS)
def test_few_rows_of_any_int32(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer rows than packing pays off for, as depthwise convolutions have them: sums wrap, whatever the numbers are."""
    monkeypatch.setenv(native.VARIABLE, variant)
    monkeypatch.setattr(products, "_FEW", 4)
    calls: list[int] = []
    original = products._few_rows  # pyright: ignore[reportPrivateUsage]

    def counted(for_target: native.Target, x: np.ndarray, y: np.ndarray, lead: tuple[int, ...]) -> np.ndarray:
        calls.append(1)
        return original(for_target, x, y, lead)

    monkeypatch.setattr(products, "_few_rows", counted)

    @settings(max_examples=60, deadline=None)
    @given(
        st.integers(0, 3), st.integers(1, 3), st.integers(0, 12), st.integers(4, 150), st.integers(0, 3), st.integers(0, 2**32 - 1)
    )
    def check(count: int, rows: int, inputs: int, columns: int, how: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        info = np.iinfo(np.int32)
        x = rng.integers(info.min, info.max, ((count, rows, inputs), (1, rows, inputs))[how % 2], np.int32, endpoint=True)
        y = rng.integers(info.min, info.max, (2, count, inputs, columns), np.int32, endpoint=True)
        equal(x, y if how < 2 else np.ascontiguousarray(y.swapaxes(2, 3)).swapaxes(2, 3))

    check()
    assert calls


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_least_numbers_and_sums_beyond_32_bits(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """-2^15 twice a pair is 2^31, the one sum of two products that leaves 32 bits: it wraps, as NumPy's sums do."""
    monkeypatch.setenv(native.VARIABLE, variant)
    least = np.full((8, 66), -(1 << 15), np.int32)
    equal(least, np.ascontiguousarray(least.T))
    equal(least, np.full((66, 9), (1 << 15) - 1, np.int32))


@pytest.mark.parametrize("variant", VARIANTS)
def test_views_that_are_not_contiguous(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.VARIABLE, variant)
    rng = np.random.default_rng(1)
    whole = rng.integers(-200, 200, (64, 96), dtype=np.int32)
    equal(whole[::2, 1:41], whole.T[5:45, ::3])
    equal(np.broadcast_to(whole[:1], (20, 96)), whole.T)


@pytest.mark.skipif(not VARIANTS, reason="nothing can be compiled here")
def test_what_16_bits_hold_is_compiled_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number beyond 16 bits takes NumPy's path: the compiled one would cut it off."""
    calls: list[tuple[int, ...]] = []
    original = products._product  # pyright: ignore[reportPrivateUsage]

    def counted(for_target: native.Target, x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
        found = original(for_target, x, y)
        if found is not None:
            calls.append((*x.shape, *y.shape))
        return found

    monkeypatch.setattr(products, "_product", counted)
    monkeypatch.delenv(native.VARIABLE, raising=False)
    x, y = np.full((20, 16), 7, np.int32), np.full((16, 20), -9, np.int32)
    equal(x, y)
    assert calls == [(20, 16, 16, 20)]
    y[3, 4] = 1 << 15
    equal(x, y)
    y[3, 4] = -(1 << 15) - 1
    equal(x, y)
    y[3, 4] = 0
    equal(y.T, x.T)
    assert len(calls) == 2
    y[3, 4] = 1 << 15
    equal(y.T, x.T)
    equal(x.astype(np.float32), x.T.astype(np.float32))
    assert len(calls) == 2
    monkeypatch.setenv(native.VARIABLE, "numpy")
    equal(x, x.T)
    assert len(calls) == 2
