"""Weights in HBM: packing of codes and scales per port, and unpacking with caches by content."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from fleet.sdk import Device, Memory
from fleet.sets.hbm0923.mvm_operands import BEAT_BYTES, BEAT_CODES, PIXEL_LANES, MvmFields, ceil_div, channel_bytes
from fleet.sets.hbm0923.numerics.mvm import MvmWeights
from fleet.sets.hbm0923.sparse import expand, pack_sparse

_CACHE_BYTES = 1 << 30
"""Bytes of unpacked weights kept: 8 bytes per weight, so a 4096 x 4096 matrix takes 128 MiB."""
_NIBBLE = np.array([0, 1, 2, 3, 4, 5, 6, 7, 0, -1, -2, -3, -4, -5, -6, -7], np.float64)
_PAIRS = np.stack([np.tile(_NIBBLE, 16), np.repeat(_NIBBLE, 16)], axis=1)
"""Byte -> its two codes, low nibble first."""


def pack_weights(device: Device, codes: npt.NDArray[np.int8], scales: npt.NDArray[np.float16], group: int) -> list[np.ndarray]:
    """Pack one matrix for the HBM ports.

    Args:
        device: provides Tout, TgroupCh.
        codes: [CHin, CHout], -7 ... 7.
        scales: [ceil(CHin / group), CHout].
        group: inputs that share a scale.

    Returns:
        One flat uint8 array per port, all of one size.
    """
    tout, tgroup = device.parameters["Tout"], device.parameters["TgroupCh"]
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
        lanes = np.zeros((chout, ceil_div(n, BEAT_CODES) * BEAT_CODES), np.uint8)
        lanes[:, :n] = nibbles[first : first + n].T
        out[:chout, at : at + lanes.shape[1] // 2] = lanes[:, 0::2] | lanes[:, 1::2] << 4
        at += lanes.shape[1] // 2
    # Channel c is number c / Tout of port c % Tout.
    by_port = out.reshape(padded // tout, tout, size).transpose(1, 0, 2)
    return [np.ascontiguousarray(by_port[port]).reshape(-1) for port in range(tout)]


def pack_matrix(
    device: Device, codes: npt.NDArray[np.int8], scales: npt.NDArray[np.float16], group: int, kept: int
) -> list[np.ndarray]:
    """Pack one matrix, dense (kept: 0) or sparse: `pack_weights` or `fleet.sets.hbm0923.sparse.pack_sparse`."""
    return pack_sparse(device, codes, scales, kept) if kept else pack_weights(device, codes, scales, group)


def unpack_weights(device: Device, ports: npt.NDArray[np.uint8], chin: int, chout: int, group: int) -> MvmWeights:
    """Unpack ports into the form that the array computes with: the inverse of `pack_weights`.

    Args:
        device: provides Tout, TgroupCh.
        ports: [ports, bytes per port].
        chin, chout: exact sizes.
        group: inputs that share a scale.
    """
    tout, size = device.parameters["Tout"], channel_bytes(device, chin, group)
    per_port = ceil_div(chout, tout)
    channels = ports.reshape(tout, per_port, size).transpose(1, 0, 2).reshape(per_port * tout, size)[:chout]
    return unpack_channels(device.parameters["TgroupCh"], channels, chin, group)


def unpack_channels(tgroup: int, channels: np.ndarray, chin: int, group: int) -> MvmWeights:
    """Unpack the streams of channels, [channels, bytes per channel]; see `unpack_weights`."""
    chout, groups = channels.shape[0], ceil_div(chin, group)
    codes = np.zeros((chout, groups * group), np.float64)
    scales = np.zeros((groups, chout, 1), np.float64)
    at = 0
    for first in range(0, chin, tgroup):
        n = min(tgroup, chin - first)
        g0, g1 = first // group, ceil_div(first + n, group)
        raw = np.ascontiguousarray(channels[:, at : at + 2 * (g1 - g0)])
        scales[g0:g1, :, 0] = raw.view("<f2").T
        at += BEAT_BYTES * ceil_div(raw.shape[1], BEAT_BYTES)
        width = ceil_div(n, BEAT_CODES) * BEAT_BYTES
        pairs = _PAIRS[channels[:, at : at + width]].reshape(chout, 2 * width)
        codes[:, first : first + n] = pairs[:, :n]
        at += width
    return MvmWeights(np.ascontiguousarray(codes.reshape(chout, groups, group).transpose(1, 0, 2)), scales)


_T = TypeVar("_T")


@dataclass(frozen=True)
class _Entry(Generic[_T]):
    raw: tuple[bytes, ...]
    made: _T
    nbytes: int


_Key = tuple[int | tuple[int, ...], ...]


class _Kept(Generic[_T]):
    """What was made of the ports' bytes, as long as memory holds exactly the same ones; the oldest go first.

    The bytes are compared in place, port by port: neither a hash nor the address is trusted. If an instruction or the host has
    changed a weight, it is made again.
    """

    def __init__(self) -> None:
        self._entries: OrderedDict[_Key, _Entry[_T]] = OrderedDict()

    def get(self, key: _Key, views: Sequence[np.ndarray], make: Callable[[np.ndarray], tuple[_T, int]]) -> _T:
        """Return what `make` makes of [ports, bytes], and its bytes. All devices share it; the key holds all else that counts."""
        entry = self._entries.get(key)
        # Sizes are equal because of the key. `startswith` compares with a view's memory directly (memcmp); `==` would copy it.
        if entry is not None and all(kept.startswith(view.data) for kept, view in zip(entry.raw, views, strict=True)):
            self._entries.move_to_end(key)
            return entry.made
        ports = np.stack(views)
        # Make it of the stored bytes, so that the two cannot differ.
        made, nbytes = make(ports)
        self._entries[key] = _Entry(tuple(port.tobytes() for port in ports), made, nbytes + ports.nbytes)
        total = sum(e.nbytes for e in self._entries.values())
        while total > _CACHE_BYTES and len(self._entries) > 1:
            total -= self._entries.popitem(last=False)[1].nbytes
        return made


_unpacked: _Kept[MvmWeights] = _Kept()
_expanded: _Kept[tuple[np.ndarray, ...]] = _Kept()


def _key(device: Device, o: MvmFields) -> _Key:
    return (device.parameters["Tout"], device.parameters["TgroupCh"], o.chin, o.chout, o.tblk, o.weights, o.kept)


def dense_ports(device: Device, o: MvmFields, memory: Memory) -> Sequence[np.ndarray]:
    """Return the ports' streams of an instruction: views of memory; sparse ones expanded to dense ones, and kept."""
    per_port, ports = o.channels_per_port(device), range(device.parameters["HbmPorts"])
    size = per_port * o.channel_bytes(device)
    views = [memory.view("hbm", o.weights, size, port) for port in ports]
    if not o.kept:
        return views

    def make(raw: np.ndarray) -> tuple[tuple[np.ndarray, ...], int]:
        dense = expand(device, raw.reshape(len(ports) * per_port, -1), o.chin, o.kept).reshape(len(ports), -1)
        return tuple(dense), dense.nbytes

    return _expanded.get(_key(device, o), views, make)


def load_weights(device: Device, o: MvmFields, memory: Memory) -> MvmWeights:
    """Return the weights of an instruction, unpacked once and cached as long as memory holds exactly the same bytes."""

    def make(raw: np.ndarray) -> tuple[MvmWeights, int]:
        made = unpack_weights(device, raw, o.chin, o.chout, o.tblk)
        return made, made.codes.nbytes + made.scales.nbytes

    return _unpacked.get(_key(device, o), dense_ports(device, o, memory), make)


def pack_bn(weight: npt.NDArray[np.float16], bias: npt.NDArray[np.float16]) -> npt.NDArray[np.uint8]:
    """Return BN words of CHout channels, zero-filled to a multiple of 32: uint32 (weight << 16) | bias as bytes."""
    words = np.zeros(ceil_div(weight.size, PIXEL_LANES) * PIXEL_LANES, "<u4")
    words[: weight.size] = weight.view(np.uint16).astype("<u4") << 16 | bias.view(np.uint16)
    return words.view(np.uint8)
