"""Memory sizes and strides of a graph's tensors: features, index tensors, KV caches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from fleet.sdk import Device, DeviceError, Memory, Write
from fleet.sdk.symbols import dim
from fleet.sdk.tasks import OnChipRoom, Space, TaskOperand
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.numerics.mvm import to_fp16
from fleet.sets.hbm0923.operators.attention import cache_room
from fleet.sets.hbm0923.operators.operands import ONCHIP, ceil_div_of, most
from fleet.sets.hbm0923.units.feature import FeatureTensor
from fleet.sets.hbm0923.units.pos_emb import HEAD_CHANNELS
from fleet.sets.hbm0923.units.refusals import bank_bytes

INDEX_DTYPES = {"uint32", "int32"}


def spaces(device: Device) -> Mapping[str, Space]:
    """Return the spaces: DDR, a bank of HBM, and the two halves of the on-chip memory."""
    found = {"ddr": Space(device.memory["ddr"], PIXEL_BYTES), "hbm": Space(bank_bytes(device), PIXEL_BYTES)}
    if half := device.parameters.get("OnchipDepth", 0) * PIXEL_BYTES:
        found[ONCHIP] = Space(2 * half, PIXEL_BYTES, parts=2)
    return found


def room(device: Device, operand: TaskOperand, attrs: Mapping[str, object]) -> OnChipRoom:
    """Return an operand's size; see `fleet.sdk.tasks.GraphTasks`.

    Strides of features use the step's tokens, those of caches the maximum number of positions.
    """
    shape = ", ".join(str(d) for d in operand.shape)
    if operand.dtype in INDEX_DTYPES and operand.space == "ddr":
        count = 1
        for d in operand.shape:
            count *= most(device, d)
        return OnChipRoom(4 * count)
    if operand.dtype != "float16" or len(operand.shape) != 3:
        raise DeviceError(f"no layout for ({shape}) of {operand.dtype} in {operand.space}")
    if operand.space == "hbm":
        return _cache_room(device, operand, attrs)
    lines, tokens, channels = operand.shape
    surface = dim(tokens * PIXEL_BYTES)
    line = dim(ceil_div_of(channels, PIXEL_LANES) * surface)
    groups = ceil_div(most(device, channels), PIXEL_LANES)
    return OnChipRoom(most(device, lines) * groups * most(device, tokens) * PIXEL_BYTES, surface, line)


def _cache_room(device: Device, operand: TaskOperand, attrs: Mapping[str, object]) -> OnChipRoom:
    heads, positions, channels = operand.shape
    shape = ", ".join(str(d) for d in operand.shape)
    if "trp" not in attrs or channels not in HEAD_CHANNELS:
        raise DeviceError(f"no layout for ({shape}) in hbm, expected a cache (heads, positions, 64 or 128)")
    return cache_room(device, bool(attrs["trp"]), most(device, heads), most(device, positions), most(device, channels))


def numbers(operand: TaskOperand) -> tuple[int, ...]:
    """Return the operand's shape, address, surface and line stride; all must be numbers."""
    return tuple(int(v) for v in (*operand.shape, operand.address, operand.surface, operand.line))


def load(_device: Device, operand: TaskOperand, memory: Memory) -> np.ndarray:
    """Return the tensor of an operand: float16 (heads, tokens, channels), or uint32 indices of an argmax."""
    if operand.dtype in INDEX_DTYPES:
        shape = tuple(int(d) for d in operand.shape)
        return np.asarray(memory.view("ddr", int(operand.address), 4 * prod(shape))).view("<u4").reshape(shape).copy()
    lines, tokens, channels, address, surface, line = numbers(operand)
    place = FeatureTensor(address, surface, line, ceil_div(channels, PIXEL_LANES), lines, tokens, operand.space == ONCHIP)
    lanes = place.load(memory).transpose(0, 2, 1, 3).reshape(lines, tokens, -1)
    return lanes[..., :channels].copy().view(np.float16)


def store(_device: Device, operand: TaskOperand, array: np.ndarray) -> Sequence[Write]:
    """Round to FP16, pad with +0 and return the writes. Raises DeviceError if the array has another shape."""
    lines, tokens, channels, address, surface, line = numbers(operand)
    if array.shape != (lines, tokens, channels):
        raise DeviceError(f"an array of shape {list(array.shape)}, expected {[lines, tokens, channels]}")
    groups = ceil_div(channels, PIXEL_LANES)
    lanes = np.zeros((lines, tokens, groups * PIXEL_LANES), "<u2")
    lanes[..., :channels] = to_fp16(np.asarray(array, np.float32) if array.dtype != np.float64 else array)
    bits = lanes.reshape(lines, tokens, groups, PIXEL_LANES).transpose(0, 2, 1, 3)
    return FeatureTensor(address, surface, line, groups, lines, tokens, operand.space == ONCHIP).writes(bits)
