"""Layout of a graph's constants in memory: weights as INT4 in the ports, coefficients, tables and features in DDR."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np

from fleet.sdk import Device, ModelError
from fleet.sdk.lowering import Options
from fleet.sdk.tasks import OnChipRoom, Packing, Quantiser, TaskCall, TaskOperand
from fleet.sets.hbm0923.layout import FeatureLayout
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES, ceil_div, channel_bytes
from fleet.sets.hbm0923.numerics.act_tables import act_table
from fleet.sets.hbm0923.operators.operands import known, refused
from fleet.sets.hbm0923.operators.vectors import is_layer_norm
from fleet.sets.hbm0923.options import LEVELS, group_of, kept_of
from fleet.sets.hbm0923.tables import finite_half, pack_act, pack_norm, pack_rotary
from fleet.sets.hbm0923.units.act import SEGMENTS, TABLE_BYTES
from fleet.sets.hbm0923.weights import pack_bn, pack_matrix

Banks = Sequence[np.ndarray]


@dataclass(frozen=True)
class Use:
    """A constant as an argument of a call. shape: in the graph; options: of the compile."""

    device: Device
    call: TaskCall
    operand: TaskOperand
    shape: tuple[int, ...]
    options: Options

    @property
    def where(self) -> str:
        """Name of the constant for messages."""
        return f"constant '{self.operand.name}'"


def _weights(use: Use) -> Packing:
    if use.operand.space != "hbm" or len(use.shape) != 2:
        raise refused(use.call, f"weights {list(use.shape)} in {use.operand.space}, expected (CHin, CHout) in hbm")
    (chin, chout), device = use.shape, use.device
    group, kept = group_of(device, use.options), kept_of(device, use.options, use.operand.name)
    size = channel_bytes(device, chin, group, kept) * ceil_div(chout, device.parameters["Tout"])

    def pack(array: np.ndarray, quantised: Quantiser) -> Banks:
        if array.shape != (chin, chout):
            raise ModelError(f"shape {list(array.shape)}, expected {[chin, chout]}", where=use.where)
        codes, scales = quantised(array, group, LEVELS, kept)
        return pack_matrix(device, codes, scales, group, kept)

    what = f", {kept} of 8 kept" if kept else ""
    return Packing(f"int4 in groups of {group}{what}", OnChipRoom(size), (chin, chout), pack, group, kept=kept)


def _pairs(use: Use, kind: str, *, alone: bool) -> Packing:
    """Pack weights of all channels, then biases: [2 * C] in any shape. alone: biases may be missing."""
    channels = _channels(use.call)
    if prod(use.shape) != 2 * channels and not (alone and prod(use.shape) == channels):
        raise refused(use.call, f"{use.where} of {list(use.shape)}, expected [{2 * channels}]: weights, then biases")

    def pack(array: np.ndarray, _quantised: Quantiser) -> Banks:
        half = finite_half(array, use.where).reshape(-1)
        if half.size not in {channels, 2 * channels}:
            raise ModelError(f"{half.size} numbers, expected {2 * channels}", where=use.where)
        return (pack_norm(half) if half.size == channels else pack_bn(half[:channels].copy(), half[channels:].copy()),)

    size = 4 * PIXEL_LANES * ceil_div(channels, PIXEL_LANES)
    return Packing(kind, OnChipRoom(size), (2, channels), pack)


def _channels(call: TaskCall) -> int:
    """Return the number of channels with coefficients: outputs of a product, input channels of a norm."""
    if call.op.endswith("norm"):
        return known(call.args[0].shape[-1], call, "the number of channels")
    return known(call.args[1].shape[-1], call, "the number of output channels")


def _bn(use: Use) -> Packing:
    return _pairs(use, "bn", alone=False)


def _norm(use: Use) -> Packing:
    return _pairs(use, "norm", alone=not is_layer_norm(use.call))


def _rotary(use: Use) -> Packing:
    """Pack cosines of all positions, then sines: [..., 2 * positions, pairs]. Channels beyond the pairs are not rotated."""
    shape = use.shape
    channels = known(use.call.args[0].shape[2], use.call, "the number of channels of a head")
    pairs, positions = shape[-1], prod(shape[:-1]) // 2
    if prod(shape[:-1]) % 2 or 2 * pairs > channels:
        raise refused(use.call, f"{use.where} of {list(shape)}, expected [2 * positions, at most {channels // 2}]")

    def pack(array: np.ndarray, _quantised: Quantiser) -> Banks:
        if array.size != prod(shape):
            raise ModelError(f"{array.size} numbers, expected {list(shape)}", where=use.where)
        rows = np.zeros((2, positions, channels // 2), np.float16)
        rows[0] = 1
        rows[:, :, :pairs] = finite_half(array, use.where).reshape(2, positions, pairs)
        return (pack_rotary(rows[0], rows[1]),)

    groups, surface = ceil_div(channels, PIXEL_LANES), positions * PIXEL_BYTES
    room = OnChipRoom(groups * surface, surface, groups * surface)
    return Packing(f"rotary of {channels}", room, (1, positions, channels), pack)


def _feature(use: Use) -> Packing:
    """Pack [1, tokens, channels] or [tokens, channels]."""
    if len(use.shape) not in {2, 3} or (len(use.shape) == 3 and use.shape[0] != 1):
        raise refused(use.call, f"{use.where} of {list(use.shape)}, expected [tokens, channels]")
    tokens, channels = use.shape[-2:]

    def pack(array: np.ndarray, _quantised: Quantiser) -> Banks:
        if array.size != tokens * channels:
            raise ModelError(f"shape {list(array.shape)}, expected {[tokens, channels]}", where=use.where)
        return (FeatureLayout().pack(finite_half(array, use.where).reshape(tokens, channels)),)

    groups, surface = ceil_div(channels, PIXEL_LANES), tokens * PIXEL_BYTES
    return Packing("feature", OnChipRoom(groups * surface, surface, groups * surface), (1, tokens, channels), pack)


def _act(use: Use) -> Packing:
    """Pack x[16], k[16], b[16], given as numbers or as the bytes of FP16 numbers."""

    def pack(array: np.ndarray, _quantised: Quantiser) -> Banks:
        flat = np.ascontiguousarray(array).reshape(-1)
        flat = flat.view("<f2") if flat.dtype.itemsize == 1 and flat.size % 2 == 0 else flat
        if flat.size < 3 * SEGMENTS:
            raise ModelError(f"{flat.size} numbers, expected [3, {SEGMENTS}]", where=use.where)
        # The first x may be -infinity.
        return (pack_act(flat[: 3 * SEGMENTS].astype(np.float16).reshape(3, SEGMENTS)),)

    function = use.call.attrs.get("function")
    default = partial(act_table, str(function)) if function is not None else None
    return Packing("act", OnChipRoom(TABLE_BYTES), (3, SEGMENTS), pack, default=default)


_Packer = Callable[[Use], Packing]

_PACKERS: Mapping[str, Mapping[int, _Packer]] = {
    "mvm": {1: _weights},
    "mvm_bn": {1: _weights, 2: _bn},
    "mvm_bn_res": {1: _weights, 2: _bn, 3: _feature},
    "layer_norm": {1: _norm},
    "pos_emb": {1: _rotary},
    "rope": {1: _rotary},
    "activate": {1: _act},
    "add": {0: _feature, 1: _feature},
    "sub": {0: _feature, 1: _feature},
    "mul": {0: _feature, 1: _feature},
}
"""Operator -> index of the argument -> function that packs a constant there."""


def packing(prefix: str, device: Device, call: TaskCall, index: int, options: Options) -> Packing:
    """Pack a constant; see `fleet.sdk.tasks.GraphTasks`. prefix: of the operators' names."""
    packer = _PACKERS.get(call.op.removeprefix(prefix), {}).get(index)
    operand = call.args[index]
    if packer is None:
        raise refused(call, f"operand {index + 1} is the constant '{operand.name}', expected a computed tensor there")
    shape = tuple(known(d, call, f"a size of constant '{operand.name}'") for d in operand.shape)
    return packer(Use(device, call, operand, shape, options))


def packing_of(prefix: str) -> Callable[[Device, TaskCall, int, Options], Packing]:
    """Return `packing` for operators with that prefix."""
    return partial(packing, prefix)
