"""Ranges out of data, and the file that a calibration is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.errors import ModelError
from fleet.ir.calibration import RANGES, Calibration, calibration_of, largest


@given(st.integers(0, 100), st.sampled_from(RANGES), st.floats(0.01, 1e4))
def test_a_range_lies_within_the_data_and_scales_with_it(seed: int, method: str, scale: float) -> None:
    values = np.random.default_rng(seed).standard_normal(3000)
    found = largest(values, method)
    assert 0 < found <= np.abs(values).max()
    assert largest(values * scale, method) == pytest.approx(found * scale, rel=1e-6)


def test_one_far_value_moves_only_minmax() -> None:
    values = np.concatenate([np.random.default_rng(0).standard_normal(20_000), [400.0]])
    assert largest(values, "minmax") == 400
    assert largest(values, "percentile") == pytest.approx(3.29, abs=0.2)  # the normal distribution's 99.9 % of magnitudes
    assert largest(values, "entropy") < 60


def test_nothing_and_zeros() -> None:
    assert [largest(np.zeros(n), m) for n in (0, 5) for m in RANGES] == [0.0] * 6
    with pytest.raises(ModelError, match="choose among minmax"):
        largest(np.ones(3), "spam")


def test_a_calibration_is_its_content(tmp_path: Path) -> None:
    made = Calibration("minmax", 3, {"a": 1.5}, {"a": (-1.5, 0.5)}, {"w": np.eye(4, dtype=np.float32)})
    path = made.save(tmp_path)
    assert made.save(tmp_path) == path
    assert Calibration("minmax", 3, {"a": 1.25}, {"a": (-1.5, 0.5)}, {"w": np.eye(4, dtype=np.float32)}).save(tmp_path) != path
    read = calibration_of({"calibration": str(path)})
    assert read is not None
    assert (read.method, read.samples, read.ranges, read.seen) == ("minmax", 3, {"a": 1.5}, {"a": (-1.5, 0.5)})
    np.testing.assert_array_equal(read.moments["w"], np.eye(4))
    assert calibration_of({}) is None


@pytest.mark.parametrize("content", [b"", b"spam", b"PK\x03\x04 truncated"])
def test_a_file_that_is_none_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "c.npz"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="calibrate again"):
        calibration_of({"calibration": str(path)})
    with pytest.raises(ModelError, match="calibrate again"):
        calibration_of({"calibration": str(tmp_path / "gone.npz")})
