"""Activation tables over all 65,536 inputs, and the packers of constants byte by byte."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from fleet.errors import DeviceError
from fleet.sets.hbm0923.numerics import act_fit
from fleet.sets.hbm0923.numerics.act_tables import ERRORS, act_table
from fleet.sets.hbm0923.tables import pack_act, pack_norm, pack_rotary, rotary_angles
from fleet.sets.hbm0923.units.act import piecewise

BITS = np.arange(1 << 16, dtype=np.uint16)
NAMES = ["silu", "gelu", "gelu_tanh", "sigmoid", "tanh", "relu"]
LIMITS = dict.fromkeys(("silu", "gelu", "gelu_tanh", "relu"), (0x0000, 0x7C00))
LIMITS |= {"sigmoid": (0x0000, 0x3C00), "tanh": (0xBC00, 0x3C00)}


def true_values(name: str, x: np.ndarray) -> np.ndarray:
    """By the vectorised functions of NumPy, apart from erf, which mpmath has; |x| > 12 is the asymptote."""
    inner = np.clip(x, -12, 12)
    if name == "gelu":
        unique, place = np.unique(inner, return_inverse=True)
        y = np.array([float(mpmath.ncdf(v)) for v in unique.tolist()])[place] * x
    elif name == "gelu_tanh":
        y = inner / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (inner + 0.044715 * inner**3)))
    elif name == "relu":
        y = np.maximum(inner, 0)
    elif name == "tanh":
        y = np.tanh(inner)
    else:
        y = 1 / (1 + np.exp(-inner)) * (x if name == "silu" else 1)
    above = x if LIMITS[name][1] == 0x7C00 else np.ones_like(x)
    return np.where(x > 12, above, np.where(x < -12, -1 if name == "tanh" else 0, y))


@pytest.mark.parametrize("name", NAMES)
def test_errors_over_all_inputs(name: str) -> None:
    y = piecewise(BITS, act_table(name)).view(np.float16).astype(np.float64)
    x = BITS.view(np.float16).astype(np.float64)
    finite = np.isfinite(x)
    error = np.abs(y[finite] - true_values(name, x[finite])).max()
    assert 0.99 * ERRORS[name] - 1e-5 < error <= ERRORS[name]
    assert np.isnan(y[np.isnan(x)]).all()
    below, above = LIMITS[name]
    assert int(piecewise(np.array([0xFC00], np.uint16), act_table(name))[0]) == below
    assert int(piecewise(np.array([0x7C00], np.uint16), act_table(name))[0]) == above


@pytest.mark.parametrize("name", NAMES)
def test_tails(name: str) -> None:
    """Beyond +-12 the asymptotes are met exactly."""
    x = BITS[(BITS & 0x7FFF) < 0x7C00]
    y = piecewise(x, act_table(name))
    low, high = x.view(np.float16) < -12, x.view(np.float16) > 12
    assert (y[low] == LIMITS[name][0]).all()
    assert (y[high] == (x[high] if LIMITS[name][1] == 0x7C00 else LIMITS[name][1])).all()


def test_tables_are_in_order() -> None:
    for name in NAMES:
        x, k, b = act_table(name)
        assert x[0] == -np.inf
        assert (np.diff(x[1:]) >= 0).all()
        assert np.isfinite(k).all()
        assert np.isfinite(b).all()


def test_the_fit_gives_these_tables() -> None:
    """Up to the last bit of FP16, which a mathematical library may turn."""
    for name in ("silu", "tanh"):
        again = act_fit.fit(name)
        assert np.abs(again.view(np.int16)[:, 1:] - act_table(name).view(np.int16)[:, 1:]).max() <= 1
        assert abs(act_fit.error(name, again) - ERRORS[name]) < 3e-5


def test_unknown_table() -> None:
    with pytest.raises(DeviceError, match="known are silu, gelu, gelu_tanh, sigmoid, tanh, relu"):
        act_table("swish")


def test_act_bytes() -> None:
    data = pack_act(act_table("sigmoid"))
    assert data.size == 128
    assert data[:4].tobytes() == bytes.fromhex("00fc63c6")
    assert data[62:64].tobytes() == bytes.fromhex("0000")  # the last slope
    assert data[94:96].tobytes() == bytes.fromhex("003c")  # the last offset
    assert not data[96:].any()
    with pytest.raises(DeviceError):
        pack_act(np.zeros((16, 3), np.float16))


def test_norm_words() -> None:
    words = pack_norm(np.array([1, 0.5], np.float16), np.array([-2, 0], np.float16))
    assert words.size == 128
    assert words[:8].tobytes() == bytes.fromhex("00c0003c 00000038")
    assert not words[8:].any()
    assert pack_norm(np.ones(33, np.float16)).size == 256
    assert pack_norm(np.ones(1, np.float16))[:4].tobytes() == bytes.fromhex("0000003c")


def test_rotary_tables() -> None:
    """Lanes 2i and 2i + 1 are cosine and sine of pair i: byte by byte."""
    cos, sin = rotary_angles(5, 64)
    data = pack_rotary(cos, sin)
    assert data.size == 2 * 5 * 64
    for p in range(5):
        for c in range(64):
            at = c // 32 * 5 * 64 + p * 64 + c % 32 * 2
            angle = mpmath.mpf(p) * mpmath.mpf(10000) ** (-mpmath.mpf(c // 2 * 2) / 64)
            want = np.float16(float(mpmath.sin(angle) if c % 2 else mpmath.cos(angle)))
            assert data[at : at + 2].view("<f2")[0] == want
    with pytest.raises(DeviceError, match=r"expected \[positions, multiple of 16\]"):
        pack_rotary(cos[:, :5], sin[:, :5])
