"""How constants of a graph stand in memory: weights as INT4 in the ports, coefficients, tables and features in DDR."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fleet.errors import ModelError
from fleet.isa.contract import Device
from fleet.isa.hbm0923.act import SEGMENTS, TABLE_BYTES
from fleet.isa.hbm0923.layout import FeatureLayout
from fleet.isa.hbm0923.legality import TBLKS
from fleet.isa.hbm0923.operands import PIXEL_BYTES, PIXEL_LANES, ceil_div, channel_bytes
from fleet.isa.hbm0923.patterns import LEVELS
from fleet.isa.hbm0923.tables import pack_act, pack_norm
from fleet.isa.hbm0923.tasks.operands import known, refused
from fleet.isa.hbm0923.tasks.vectors import is_layer_norm
from fleet.isa.hbm0923.weights import pack_bn, pack_weights
from fleet.isa.tasks import Operand, Packing, Quantiser, Room, TaskCall

Banks = Sequence[np.ndarray]
Packer = Callable[[Device, TaskCall, Operand, tuple[int, ...], Mapping[str, Any]], Packing]


def group_of(device: Device, options: Mapping[str, Any]) -> int:
    """Inputs that share a scale. Raises ModelError for a number that there is not."""
    group = options.get("group", device.parameters["Tblk"])
    if group not in TBLKS:
        raise ModelError(f"group is {group!r}, expected 32, 64 or 128", where="quantisation")
    return int(group)


def finite_half(array: np.ndarray, name: str) -> np.ndarray:
    """As FP16. Raises ModelError for what FP16 cannot hold."""
    if not np.isfinite(array).all():
        raise ModelError("NaN or infinity, expected finite numbers", where=f"constant '{name}'")
    with np.errstate(over="ignore"):
        half = np.asarray(array).astype(np.float16)
    if not np.isfinite(half).all():
        raise ModelError(f"a number of magnitude {np.abs(array).max():g} is beyond FP16 (65504)", where=f"constant '{name}'")
    return half


def _weights(device: Device, call: TaskCall, operand: Operand, shape: tuple[int, ...], options: Mapping[str, Any]) -> Packing:
    if operand.space != "hbm" or len(shape) != 2:
        raise refused(call, f"weights {list(shape)} in {operand.space}, expected (CHin, CHout) in hbm")
    chin, chout = shape
    group = group_of(device, options)
    size = channel_bytes(device, chin, group) * ceil_div(chout, device.parameters["Tout"])

    def pack(array: np.ndarray, quantised: Quantiser) -> Banks:
        if array.shape != (chin, chout):
            raise ModelError(f"shape {list(array.shape)}, expected {[chin, chout]}", where=f"constant '{operand.name}'")
        codes, scales = quantised(array, group, LEVELS)
        return pack_weights(device, codes, scales, group)

    return Packing(f"int4 in groups of {group}", Room(size), (chin, chout), pack, group)


def _pairs(kind: str, layer: bool, device: Device, call: TaskCall, operand: Operand, shape: tuple[int, ...]) -> Packing:
    """(weight, bias) or (gamma, beta) a channel: [2, C], or interleaved [2 * C]; [C] without the second for an RMS norm."""
    channels = _channels(call)
    if not (np.prod(shape) == 2 * channels or (kind == "norm" and not layer and np.prod(shape) == channels)):
        raise refused(call, f"constant '{operand.name}' of {list(shape)}, expected [2, {channels}]")

    def pack(array: np.ndarray, quantised: Quantiser) -> Banks:
        half = finite_half(array, operand.name)
        if half.size == channels:
            return (pack_norm(half.reshape(-1)),)
        rows = half.reshape(2, channels) if half.ndim >= 2 and half.shape[-2] == 2 else half.reshape(channels, 2).T
        return (pack_bn(np.ascontiguousarray(rows[0]), np.ascontiguousarray(rows[1])),)

    size = 4 * PIXEL_LANES * ceil_div(channels, PIXEL_LANES)
    return Packing(kind, Room(size), (2, channels), pack)


def _channels(call: TaskCall) -> int:
    """Channels that a call has coefficients for: outputs of a product, those of the input of a norm."""
    if call.op.endswith("norm"):
        return known(call.args[0].shape[-1], call, "the number of channels")
    return known(call.args[1].shape[-1], call, "the number of output channels")


def _bn(device: Device, call: TaskCall, operand: Operand, shape: tuple[int, ...], options: Mapping[str, Any]) -> Packing:
    return _pairs("bn", True, device, call, operand, shape)


def _norm(device: Device, call: TaskCall, operand: Operand, shape: tuple[int, ...], options: Mapping[str, Any]) -> Packing:
    return _pairs("norm", is_layer_norm(call), device, call, operand, shape)


def _feature(device: Device, call: TaskCall, operand: Operand, shape: tuple[int, ...], options: Mapping[str, Any]) -> Packing:
    """[heads, tokens, channels] or [tokens, channels] as a feature; a rotary table is one, too."""
    if len(shape) not in {2, 3} or (len(shape) == 3 and shape[0] != 1):
        raise refused(call, f"constant '{operand.name}' of {list(shape)}, expected [tokens, channels]")
    tokens, channels = shape[-2:]

    def pack(array: np.ndarray, quantised: Quantiser) -> Banks:
        half = finite_half(array, operand.name).reshape(tokens, channels)
        return (FeatureLayout().pack(half),)

    groups = ceil_div(channels, PIXEL_LANES)
    surface = tokens * PIXEL_BYTES
    return Packing("feature", Room(groups * surface, surface, groups * surface), (1, tokens, channels), pack)


def _act(device: Device, call: TaskCall, operand: Operand, shape: tuple[int, ...], options: Mapping[str, Any]) -> Packing:
    def pack(array: np.ndarray, quantised: Quantiser) -> Banks:
        if array.size < 3 * SEGMENTS:
            raise ModelError(f"{array.size} numbers, expected [3, {SEGMENTS}]", where=f"constant '{operand.name}'")
        # The table is FP16 already; its first x may be -infinity.
        table = np.asarray(array).reshape(-1)[: 3 * SEGMENTS].astype(np.float16).reshape(3, SEGMENTS)
        return (pack_act(table),)

    return Packing("act", Room(TABLE_BYTES), (3, SEGMENTS), pack)


_PACKERS: Mapping[str, Mapping[int, Packer]] = {
    "mvm": {1: _weights},
    "mvm_bn": {1: _weights, 2: _bn},
    "mvm_bn_res": {1: _weights, 2: _bn, 3: _feature},
    "layer_norm": {1: _norm},
    "rms_norm": {1: _norm},
    "pos_emb": {1: _feature},
    "activate": {1: _act},
    "add": {0: _feature, 1: _feature},
    "sub": {0: _feature, 1: _feature},
    "mul": {0: _feature, 1: _feature},
}
"""Operator -> index of the argument -> how a constant there is packed."""


def packing(prefix: str, device: Device, call: TaskCall, index: int, options: Mapping[str, Any]) -> Packing:
    """See `fleet.isa.tasks.GraphTasks`; prefix: of the operators' names."""
    packer = _PACKERS.get(call.op.removeprefix(prefix), {}).get(index)
    operand = call.args[index]
    if packer is None:
        raise refused(call, f"operand {index + 1} is the constant '{operand.name}', expected a computed tensor there")
    shape = tuple(known(d, call, f"a size of constant '{operand.name}'") for d in operand.shape)
    return packer(device, call, operand, shape, options)


def packing_of(prefix: str) -> Callable[[Device, TaskCall, int, Mapping[str, Any]], Packing]:
    """`packing` for operators of that prefix."""
    return partial(packing, prefix)
