"""Sparse weights in HBM: of each block of 8 inputs 4, 2 or 1 are stored, with their places.

docs/arithmetic.md defines the stream. `expand` turns it into the dense stream of the same weights, in which those that are not
stored are 0: the arithmetic of a sparse product is that of the dense one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from fleet.sdk import Device, DeviceError
from fleet.sets.hbm0923.mvm_operands import (
    BEAT_BYTES,
    BEAT_CODES,
    BLOCK,
    SPARSE,
    SPARSE_TBLK,
    ceil_div,
    channel_bytes,
    code_beats,
    covered,
)

Bytes = npt.NDArray[np.uint8]
_PLACE = np.array([1, 2, 4], np.uint8)
_QUAD = 4
"""Beats of codes whose places, 3 bits a code, fill three beats."""


def fewest_kept(codes: npt.NDArray[np.int8]) -> int:
    """Return the smallest number of `SPARSE` that holds all codes [CHin, channels] other than 0; 0 if none does."""
    chin, channels = codes.shape
    padded = np.zeros((ceil_div(chin, BLOCK) * BLOCK, channels), bool)
    padded[:chin] = codes != 0
    most = int(padded.reshape(-1, BLOCK, channels).sum(axis=1).max(initial=0))
    return min((kept for kept in SPARSE if kept >= most), default=0)


def _order(codes: int, kept: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return where the beats of codes and those of places stand in a group's stream."""
    with_places = [i % 2 == 0 if kept == SPARSE[0] else i % _QUAD != _QUAD - 1 for i in range(codes)]
    at_codes = np.cumsum([1 + p for p in with_places]) - 1
    return at_codes.astype(np.intp), (at_codes[with_places] - 1).astype(np.intp)


def pack_sparse(device: Device, codes: npt.NDArray[np.int8], scales: npt.NDArray[np.float16], kept: int) -> list[Bytes]:
    """Pack one matrix for the HBM ports.

    Args:
        device: provides Tout, TgroupCh.
        codes: [CHin, CHout], -7 ... 7.
        scales: [ceil(CHin / 128), CHout].
        kept: stored codes of a block of 8 inputs, one of `SPARSE`.

    Returns:
        One flat array per port, all of one size.

    Raises:
        DeviceError: a block has more codes other than 0.
    """
    tout = device.parameters["Tout"]
    chin, chout = codes.shape
    if not 0 < fewest_kept(codes) <= kept:
        raise DeviceError(f"a block of {BLOCK} inputs has more than {kept} weights other than 0, expected at most {kept}")
    padded = ceil_div(chout, tout) * tout
    out = np.zeros((padded, channel_bytes(device, chin, SPARSE_TBLK, kept)), np.uint8)
    for part, first, n in _groups(device, chin, kept):
        s = np.ascontiguousarray(scales[first // SPARSE_TBLK : ceil_div(first + n, SPARSE_TBLK)].T).astype("<f2").view(np.uint8)
        out[:chout, part.start : part.start + s.shape[1]] = s
        out[:chout, part.start + BEAT_BYTES : part.stop] = _pack_group(codes[first : first + n].T, kept)
    by_port = out.reshape(padded // tout, tout, -1).transpose(1, 0, 2)
    return [np.ascontiguousarray(by_port[port]).reshape(-1) for port in range(tout)]


def _groups(device: Device, chin: int, kept: int) -> Iterator[tuple[slice, int, int]]:
    """Yield (bytes of the stream, first input, inputs) of every weight group. Its scales are one beat."""
    tgroup, at = device.parameters["TgroupCh"], 0
    for first in range(0, chin, tgroup):
        n = min(tgroup, chin - first)
        size = BEAT_BYTES * (1 + sum(code_beats(n, kept)))
        yield slice(at, at + size), first, n
        at += size


def _pack_group(codes: npt.NDArray[np.int8], kept: int) -> Bytes:
    """Return the beats of codes [channels, inputs] of a group and of their places, [channels, bytes]."""
    channels, n = codes.shape
    beats = ceil_div(n, covered(kept))
    dense = np.zeros((channels, beats * covered(kept)), np.int8)
    dense[:, :n] = codes
    blocks = dense.reshape(channels, -1, BLOCK)
    # Codes other than 0 first, then the first zeros; in ascending places.
    places = np.sort(np.argsort(blocks == 0, axis=2, kind="stable")[..., :kept], axis=2)
    values = np.take_along_axis(blocks, places, axis=2)
    nibbles = np.where(values < 0, 8 - values, values).astype(np.uint8).reshape(channels, beats, BEAT_CODES)
    at_codes, at_places = _order(beats, kept)
    out = np.zeros((channels, beats + len(at_places), BEAT_BYTES), np.uint8)
    out[:, at_codes] = nibbles[..., 0::2] | nibbles[..., 1::2] << 4
    bits = np.zeros((channels, len(at_places), 8 * BEAT_BYTES), np.uint8)
    if kept == SPARSE[0]:
        mask = np.zeros(blocks.shape, np.uint8)
        np.put_along_axis(mask, places, 1, axis=2)
        bits.reshape(channels, -1)[:, : mask[0].size] = mask.reshape(channels, -1)
    else:
        split = (places.reshape(channels, beats, BEAT_CODES)[..., None] // _PLACE % 2).astype(np.uint8)
        for i in range(beats):
            quad, turn = divmod(i, _QUAD)
            if turn < _QUAD - 1:
                bits[:, 3 * quad + turn, : 3 * BEAT_CODES] = split[:, i].reshape(channels, -1)
            else:
                bits[:, 3 * quad : 3 * quad + 3, 3 * BEAT_CODES :] = split[:, i].transpose(0, 2, 1)
    out[:, at_places] = np.packbits(bits, axis=2, bitorder="little")
    return out.reshape(channels, -1)


def expand(device: Device, stream: Bytes, chin: int, kept: int) -> Bytes:
    """Return the dense streams of channels [channels, bytes] from their sparse ones, in quantisation blocks of 128.

    Any bits are a legal stream: of a mask the first `kept` places count, and of equal places in a block the last one.
    """
    channels, size = stream.shape[0], channel_bytes(device, chin, SPARSE_TBLK)
    out, at = np.zeros((channels, size), np.uint8), 0
    for part, _, n in _groups(device, chin, kept):
        scales = 2 * ceil_div(n, SPARSE_TBLK)
        out[:, at : at + scales] = stream[:, part.start : part.start + scales]
        at += BEAT_BYTES
        lanes = _expand_group(stream[:, part.start + BEAT_BYTES : part.stop], n, kept)[:, :n]
        lanes = np.pad(lanes, ((0, 0), (0, n % 2)))
        out[:, at : at + lanes.shape[1] // 2] = lanes[:, 0::2] | lanes[:, 1::2] << 4
        at += BEAT_BYTES * code_beats(n, 0)[0]
    return out


def _expand_group(data: Bytes, n: int, kept: int) -> Bytes:
    """Return the nibbles [channels, at least n] of a group from its beats of codes and places."""
    channels, beats = data.shape[0], ceil_div(n, covered(kept))
    stream = data.reshape(channels, -1, BEAT_BYTES)
    at_codes, at_places = _order(beats, kept)
    pairs = stream[:, at_codes]
    nibbles = np.stack([pairs & 15, pairs >> 4], axis=3).reshape(channels, -1, kept)
    bits = np.unpackbits(stream[:, at_places], axis=2, bitorder="little")
    if kept == SPARSE[0]:
        mask = bits.reshape(channels, -1, BLOCK)[:, : nibbles.shape[1]].astype(bool)
        number = np.cumsum(mask, axis=2) - 1
        taken = np.take_along_axis(nibbles, np.clip(number, 0, kept - 1), axis=2)
        return np.where(mask & (number < kept), taken, 0).reshape(channels, -1)
    places = np.empty((channels, beats, BEAT_CODES), np.uint8)
    for i in range(beats):
        quad, turn = divmod(i, _QUAD)
        if turn < _QUAD - 1:
            places[:, i] = bits[:, 3 * quad + turn, : 3 * BEAT_CODES].reshape(channels, BEAT_CODES, 3) @ _PLACE
        else:
            places[:, i] = np.einsum("cbl,b->cl", bits[:, 3 * quad : 3 * quad + 3, 3 * BEAT_CODES :], _PLACE)
    dense = np.zeros((*nibbles.shape[:2], BLOCK), np.uint8)
    places = places.reshape(nibbles.shape)
    for j in range(kept):
        np.put_along_axis(dense, places[..., j : j + 1], nibbles[..., j : j + 1], axis=2)
    return dense.reshape(channels, -1)
