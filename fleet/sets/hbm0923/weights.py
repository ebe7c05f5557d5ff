"""Weights in HBM: packing of codes and scales per port, and unpacking with a cache by content."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fleet.sdk import Device, Memory
from fleet.sets.hbm0923.mvm_operands import BEAT_BYTES, PIXEL_LANES, MvmFields, ceil_div, channel_bytes
from fleet.sets.hbm0923.numerics.mvm import MvmWeights

_CACHE_BYTES = 1 << 30
"""Bytes of unpacked weights kept: 8 bytes per weight, so a 4096 x 4096 matrix takes 128 MiB."""
_NIBBLE = np.array([0, 1, 2, 3, 4, 5, 6, 7, 0, -1, -2, -3, -4, -5, -6, -7], np.float64)
_PAIRS = np.stack([np.tile(_NIBBLE, 16), np.repeat(_NIBBLE, 16)], axis=1)
"""Byte -> its two codes, low nibble first."""


def pack_weights(device: Device, codes: npt.NDArray[np.int8], scales: npt.NDArray[np.float16], group: int) -> list[np.ndarray]:
    """Pack one matrix for the HBM ports.

    Args:
        device: provides Tin, Tout, TgroupCh.
        codes: [CHin, CHout], -7 ... 7.
        scales: [ceil(CHin / group), CHout].
        group: inputs that share a scale.

    Returns:
        One flat uint8 array per port, all of one size.
    """
    tin, tout, tgroup = (device.parameters[k] for k in ("Tin", "Tout", "TgroupCh"))
    chin, chout = codes.shape
    padded = ceil_div(chout, tout) * tout
    size = channel_bytes(device, chin, group)
    nibbles = np.where(codes < 0, 8 - codes, codes).astype(np.uint8)
    out = np.zeros((padded, size), np.uint8)
    at = 0
    for first in range(0, chin, tgroup):
        n = min(tgroup, chin - first)
        s = np.ascontiguousarray(scales[first // group : ceil_div(first + n, group)].T).astype("<f2").view(np.uint8)
        out[:chout, at : at + s.shape[1]] = s
        at += BEAT_BYTES * ceil_div(s.shape[1], BEAT_BYTES)
        lanes = np.zeros((chout, ceil_div(n, tin) * tin), np.uint8)
        lanes[:, :n] = nibbles[first : first + n].T
        out[:chout, at : at + lanes.shape[1] // 2] = lanes[:, 0::2] | lanes[:, 1::2] << 4
        at += BEAT_BYTES * ceil_div(lanes.shape[1] // 2, BEAT_BYTES)
    # Channel c is number c / Tout of port c % Tout.
    by_port = out.reshape(padded // tout, tout, size).transpose(1, 0, 2)
    return [np.ascontiguousarray(by_port[port]).reshape(-1) for port in range(tout)]


def unpack_weights(device: Device, ports: npt.NDArray[np.uint8], chin: int, chout: int, group: int) -> MvmWeights:
    """Unpack ports into the form that the array computes with: the inverse of `pack_weights`.

    Args:
        device: provides Tin, Tout, TgroupCh.
        ports: [ports, bytes per port].
        chin, chout: exact sizes.
        group: inputs that share a scale.
    """
    tin, tout, tgroup = (device.parameters[k] for k in ("Tin", "Tout", "TgroupCh"))
    size = channel_bytes(device, chin, group)
    per_port = ceil_div(chout, tout)
    channels = ports.reshape(tout, per_port, size).transpose(1, 0, 2).reshape(per_port * tout, size)[:chout]
    groups = ceil_div(chin, group)
    codes = np.zeros((chout, groups * group), np.float64)
    scales = np.zeros((groups, chout, 1), np.float32)
    at = 0
    for first in range(0, chin, tgroup):
        n = min(tgroup, chin - first)
        g0, g1 = first // group, ceil_div(first + n, group)
        raw = np.ascontiguousarray(channels[:, at : at + 2 * (g1 - g0)])
        scales[g0:g1, :, 0] = raw.view("<f2").astype(np.float32).T
        at += BEAT_BYTES * ceil_div(raw.shape[1], BEAT_BYTES)
        width = ceil_div(n, tin) * tin // 2
        pairs = _PAIRS[channels[:, at : at + width]].reshape(chout, 2 * width)
        codes[:, first : first + n] = pairs[:, :n]
        at += BEAT_BYTES * ceil_div(width, BEAT_BYTES)
    return MvmWeights(np.ascontiguousarray(codes.reshape(chout, groups, group).transpose(1, 0, 2)), scales)


@dataclass(frozen=True)
class _Entry:
    raw: tuple[bytes, ...]
    weights: MvmWeights

    @property
    def nbytes(self) -> int:
        return self.weights.codes.nbytes + self.weights.scales.nbytes + sum(map(len, self.raw))


_Key = tuple[tuple[int, ...], int, int, int, int]
_cache: OrderedDict[_Key, _Entry] = OrderedDict()


def load_weights(device: Device, o: MvmFields, memory: Memory) -> MvmWeights:
    """Return the weights of an instruction, unpacked once and cached as long as memory holds exactly the same bytes.

    The bytes are compared in place, port by port: neither a hash nor the address is trusted. If an instruction or the host has
    changed a weight, it is unpacked again. All devices share the bounded cache; the key holds what the unpacking depends on.
    """
    size = o.channels_per_port(device) * channel_bytes(device, o.chin, o.tblk)
    views = [memory.view("hbm", o.weights, size, port) for port in range(device.parameters["HbmPorts"])]
    key = (tuple(device.parameters[k] for k in ("Tin", "Tout", "TgroupCh")), o.chin, o.chout, o.tblk, o.weights)
    entry = _cache.get(key)
    # Sizes are equal because of the key. `startswith` compares with a view's memory directly (memcmp); `==` would copy it.
    if entry is not None and all(kept.startswith(view.data) for kept, view in zip(entry.raw, views, strict=True)):
        _cache.move_to_end(key)
        return entry.weights
    ports = np.stack(views)
    # Unpack the stored bytes, so that the two cannot differ.
    entry = _Entry(tuple(port.tobytes() for port in ports), unpack_weights(device, ports, o.chin, o.chout, o.tblk))
    _cache[key] = entry
    total = sum(e.nbytes for e in _cache.values())
    while total > _CACHE_BYTES and len(_cache) > 1:
        total -= _cache.popitem(last=False)[1].nbytes
    return entry.weights


def pack_bn(weight: npt.NDArray[np.float16], bias: npt.NDArray[np.float16]) -> npt.NDArray[np.uint8]:
    """Return BN words of CHout channels, zero-filled to a multiple of 32: uint32 (weight << 16) | bias as bytes."""
    words = np.zeros(ceil_div(weight.size, PIXEL_LANES) * PIXEL_LANES, "<u4")
    words[: weight.size] = weight.view(np.uint16).astype("<u4") << 16 | bias.view(np.uint16)
    return words.view(np.uint8)
