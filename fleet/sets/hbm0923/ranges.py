"""The byte ranges that an MVM instruction reads and writes."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.sdk import Device, Range
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES, MvmFields, ceil_div


def _feature(space: str, base: int, surfaces: int, stride: int, tokens: int) -> Iterator[Range]:
    """Yield one range per surface, or a single one if the surfaces are adjacent."""
    size = tokens * PIXEL_BYTES
    if surfaces == 1 or stride == size:
        yield Range(space, base, surfaces * size)
    else:
        yield from (Range(space, base + s * stride, size) for s in range(surfaces))


def bn_bytes(chout: int) -> int:
    """Return the bytes of the BN words, zero-filled to a multiple of 32 channels."""
    return 4 * PIXEL_LANES * ceil_div(chout, PIXEL_LANES)


def read_ranges(device: Device, o: MvmFields) -> list[Range]:
    """Return the ranges of features, BN words and residual, and of the channels' streams in every HBM port."""
    ranges = list(_feature(o.spaces[0], o.input, o.in_surfaces, o.in_surface, o.tokens))
    size = o.channels_per_port(device) * o.channel_bytes(device)
    ranges += (Range("hbm", o.weights, size, port) for port in range(device.parameters["HbmPorts"]))
    if o.bn is not None:
        ranges.append(Range("ddr", o.bn, bn_bytes(o.chout)))
    if o.residual is not None:
        ranges += _feature(o.spaces[2], o.residual, o.out_surfaces, o.out_surface, o.tokens)
    return ranges


def write_ranges(o: MvmFields) -> list[Range]:
    """Return the ranges of the output's pixels and of the argmax indices."""
    ranges = list(_feature(o.spaces[1], o.output, o.out_surfaces, o.out_surface, o.tokens))
    if o.argmax is not None:
        ranges.append(Range("ddr", o.argmax, 4 * o.tokens))
    return ranges


def feature_hull(base: int, surfaces: int, stride: int, tokens: int) -> tuple[int, int]:
    """Return the hull of a feature tensor's ranges, without listing them."""
    return base, base + (surfaces - 1) * stride + tokens * PIXEL_BYTES
