"""Constants that instructions read from DDR: norm coefficients, rotary tables, activation tables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fleet.sdk import DeviceError, ModelError
from fleet.sets.hbm0923.layout import FeatureLayout
from fleet.sets.hbm0923.units.act import SEGMENTS, TABLE_BYTES
from fleet.sets.hbm0923.weights import pack_bn

Bytes = npt.NDArray[np.uint8]
F16 = npt.NDArray[np.float16]


def finite_half(array: np.ndarray, where: str) -> F16:
    """Return the array as FP16. Raises ModelError if FP16 cannot hold it."""
    if not np.isfinite(array).all():
        raise ModelError("NaN or infinity, expected finite numbers", where=where)
    with np.errstate(over="ignore"):
        half = np.asarray(array).astype(np.float16)
    if not np.isfinite(half).all():
        what = f"a number of magnitude {np.abs(array).max():g} is beyond FP16 (65504)"
        raise ModelError(what, where=where, hint="rescale the model")
    return half


def pack_norm(gamma: F16, beta: F16 | None = None) -> Bytes:
    """Pack the coefficients of a norm, [channels] each: uint32 (gamma << 16) | beta, zero-filled to whole groups of 32 channels.

    beta: None for 0, as in an RMS norm.
    """
    return pack_bn(gamma, np.zeros_like(gamma) if beta is None else beta)


def pack_rotary(cos: np.ndarray, sin: np.ndarray) -> Bytes:
    """Pack a rotary table [positions, pairs] of cosines and sines as `pos_emb` reads it.

    It is interleaved to channels (cos 0, sin 0, cos 1, ...) and laid out as a feature [2 * pairs / 32, positions, 32], rounded to
    FP16. The table's surface stride is 64 * positions, and position p starts at 64 * p.

    Raises:
        DeviceError: the shapes differ, or the channels are not a multiple of 32.
    """
    if cos.ndim != 2 or cos.shape != sin.shape or cos.shape[1] % 16:
        raise DeviceError(f"rotary tables of shapes {list(cos.shape)} and {list(sin.shape)}, expected [positions, multiple of 16]")
    return FeatureLayout().pack(np.stack([cos, sin], axis=-1).reshape(cos.shape[0], -1))


def rotary_angles(positions: int, channels: int, base: float = 10000.0) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return cosines and sines [positions, channels / 2] of the usual rotary embedding: angle position * base^(-2 i / channels)."""
    angles = np.arange(positions)[:, None] * base ** (-2 * np.arange(channels // 2) / channels)
    return np.cos(angles), np.sin(angles)


def pack_act(table: F16) -> Bytes:
    """Pack an activation table [3, 16] (x, k, b) into 128 bytes."""
    if table.shape != (3, SEGMENTS):
        raise DeviceError(f"an activation table of shape {list(table.shape)}, expected [3, {SEGMENTS}]")
    data = np.zeros(TABLE_BYTES, np.uint8)
    data[: table.size * 2] = np.ascontiguousarray(table, "<f2").reshape(-1).view(np.uint8)
    return data
