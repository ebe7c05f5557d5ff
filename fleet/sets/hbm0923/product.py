"""The MVM's product of an instruction: compiled code, what it leaves undecided from integers, or NumPy alone."""

from __future__ import annotations

import numpy as np

from fleet.sdk import Device, Memory
from fleet.sets.hbm0923.kernel import compiled_product
from fleet.sets.hbm0923.kernel._sizes import UNDECIDED
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES, MvmFields, channel_bytes
from fleet.sets.hbm0923.numerics.mvm import F32, F64, accumulate, exact_pairs, in_blocks, is_finite
from fleet.sets.hbm0923.ranges import feature_hull
from fleet.sets.hbm0923.weights import dense_ports, load_weights, unpack_channels


def product(device: Device, o: MvmFields, memory: Memory) -> F32:
    """Return the exact sums over all groups, each rounded once to binary32: [channels, tokens]."""
    found = compiled_product(device, o, memory)
    if found is None:
        return numpy_product(device, o, memory)
    sums, undecided = found
    if undecided:
        _decide(device, o, memory, sums)
    return sums


def numpy_product(device: Device, o: MvmFields, memory: Memory) -> F32:
    """Return what `product` returns, computed by NumPy: for any values, on any machine."""
    features = _input(o, memory)
    return accumulate(_grouped(features, o), load_weights(device, o, memory), finite=is_finite(features[:, : o.chin]))


def _decide(device: Device, o: MvmFields, memory: Memory, sums: F32) -> None:
    """Compute what is `UNDECIDED` in sums, [channels, tokens]."""
    undecided = np.nonzero(sums.view(np.uint32) == UNDECIDED)
    size, tout, tgroup = channel_bytes(device, o.chin, o.tblk), device.parameters["Tout"], device.parameters["TgroupCh"]
    ports, features = dense_ports(device, o, memory), _input(o, memory)
    for channels, tokens in in_blocks(*undecided):
        streams: list[np.ndarray] = [ports[c % tout][c // tout * size :][:size] for c in channels.tolist()]
        weights = unpack_channels(tgroup, np.stack(streams), o.chin, o.tblk)
        sums[channels, tokens] = exact_pairs(_grouped(features[tokens], o), weights)


def feature(memory: Memory, space: str, base: int, surfaces: int, stride: int, tokens: int) -> np.ndarray:
    """Return [tokens, surfaces * 32] FP16 from DDR or the on-chip memory."""
    start, end = feature_hull(base, surfaces, stride, tokens)
    raw = np.asarray(memory.view(space, start, end - start)).view("<f2")
    pixels = np.lib.stride_tricks.as_strided(raw, (tokens, surfaces, PIXEL_LANES), (PIXEL_BYTES, stride, 2), writeable=False)
    return pixels.reshape(tokens, surfaces * PIXEL_LANES)


def _input(o: MvmFields, memory: Memory) -> np.ndarray:
    return feature(memory, o.spaces[0], o.input, o.in_surfaces, o.in_surface, o.tokens)


def _grouped(x: np.ndarray, o: MvmFields) -> F64:
    """Return [groups, Tblk, tokens] float64 of features, [tokens, channels]: +0 in the lanes at or beyond CHin."""
    lanes = np.empty((x.shape[0], o.groups * o.tblk), np.float64)
    lanes[:, : o.chin] = x[:, : o.chin]
    lanes[:, o.chin :] = 0
    return lanes.reshape(-1, o.groups, o.tblk).transpose(1, 2, 0)
