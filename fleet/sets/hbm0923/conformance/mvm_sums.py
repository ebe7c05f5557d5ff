"""Data whose sums over groups need the whole window of the exact sum (docs/arithmetic.md, "Everything fits")."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fleet.sdk import halves
from fleet.sets.hbm0923.mvm_operands import BEAT_CODES, PIXEL_LANES

U8, U16 = npt.NDArray[np.uint8], npt.NDArray[np.uint16]

OPPOSED, TIE = "opposed groups", "tie of groups"
SUMS = (OPPOSED, TIE)
"""Groups of any magnitude that cancel, a beat or a group apart, and leave small ones; the smallest product beside a tie of binary32
that is next to one of FP16: 2049 + 2^-13 + (0 or +-2^-48)."""
_SMALL = 0x0600
_TIE = {0: 0x6800, 1: 0x3C00}, {0: 0x0800}, {0: 0x0001}
"""Lane -> FP16 of the three groups: 2048 and 1, 2^-13, 2^-24."""
_TIE_SCALES = (0x3C00, 0x3C00, 0x0001)


def _half(tblk: int) -> int:
    """Return the inputs after which groups come again with the other sign: whole groups and whole beats."""
    return max(tblk, BEAT_CODES)


def sum_inputs(kind: str, tblk: int) -> int:
    """Return a number of inputs for a kind of `SUMS`."""
    return 8 * _half(tblk) if kind == OPPOSED else 3 * tblk


def sum_features(rng: np.random.Generator, kind: str, surfaces: int, rows: int, tblk: int) -> U16:
    """Return features of a kind of `SUMS`: FP16 patterns [surfaces, rows, 32]."""
    if kind == TIE:
        flat = np.zeros((rows, 3 * tblk), np.uint16)
        for group, lanes in enumerate(_TIE):
            for lane, bits in lanes.items():
                flat[:, group * tblk + lane] = bits
        return flat.reshape(rows, surfaces, PIXEL_LANES).transpose(1, 0, 2)
    units = surfaces * PIXEL_LANES // (2 * _half(tblk))
    x = rng.integers(0, 0x7C00, (units, 1, _half(tblk), rows), dtype=np.uint16)
    x = np.concatenate([x, x ^ np.uint16(0x8000)], axis=1)
    small = halves(rng, x.size, "scale").reshape(x.shape) & np.uint16(0x8000) | rng.integers(0, _SMALL, x.shape, dtype=np.uint16)
    x = np.where(rng.random((units, 1, 1, rows)) < 0.25, small, x)
    return np.ascontiguousarray(x.reshape(surfaces, PIXEL_LANES, rows).transpose(0, 2, 1)).astype(np.uint16)


def set_sum_weights(rng: np.random.Generator, kind: str, codes: U8, scales: U16, tblk: int) -> None:
    """Change the random weights of one weight group to a kind of `SUMS`. codes: [channels, bytes]; scales: [channels, groups]."""
    if kind == TIE:
        codes[:, : 3 * tblk // 2] = 0
        codes[:, 0], codes[:, tblk // 2] = 0x11, 0x01
        codes[:, tblk] = rng.choice(np.array([0, 1, 9], np.uint8), codes.shape[0])
        scales[:, :3] = _TIE_SCALES
        return
    scales[:] = rng.integers(0, 0x7C00, scales.shape, dtype=np.uint16) | rng.integers(0, 2, scales.shape, dtype=np.uint16) << 15
    for part, length in ((codes, _half(tblk) // 2), (scales, _half(tblk) // tblk)):
        pairs = part[:, : part.shape[1] // (2 * length) * 2 * length].reshape(part.shape[0], -1, 2, length)
        pairs[:, :, 1] = pairs[:, :, 0]
