"""Input rows as small pictures: an 8-bit greyscale PNG in a data URI, written without a library."""

from __future__ import annotations

import base64
import math
import struct
import zlib

import numpy as np

_LEAST_SIDE, _MOST_SIDE = 4, 256


def image_shape(row_shape: tuple[int, ...], stated: tuple[int, ...] | None) -> tuple[int, int] | None:
    """Return the (height, width) in which a sample is shown, or None if it is no picture.

    In this order: as the result states; the shape of a two-dimensional sample; the square of a flat one (64 -> 8 x 8).
    """
    size = math.prod(row_shape)
    shapes = [tuple(n for n in s if n != 1) for s in (stated or (), row_shape)]
    side = math.isqrt(size)
    shapes.append((side, side))
    for candidate in shapes:
        if len(candidate) == 2 and math.prod(candidate) == size and all(_LEAST_SIDE <= n <= _MOST_SIDE for n in candidate):
            return candidate[0], candidate[1]
    return None


def row_image(row: np.ndarray, shape: tuple[int, int]) -> str:
    """Return one sample as a data URI: dark on white, the sample's own range stretched to all greys; NaN is mid-grey."""
    values = np.nan_to_num(np.asarray(row, np.float64).reshape(shape), nan=math.nan, posinf=math.nan, neginf=math.nan)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    scaled = (values - low) / ((high - low) or 1.0)
    pixels = np.where(np.isfinite(scaled), 255 - 255 * scaled, 128).round().astype(np.uint8)
    return "data:image/png;base64," + base64.b64encode(grey_png(pixels)).decode()


def grey_png(pixels: np.ndarray) -> bytes:
    """Encode uint8 [height, width] as a PNG file (ISO/IEC 15948), colour type 0, no filter."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape
    lines = b"".join(b"\x00" + pixels[y].tobytes() for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
