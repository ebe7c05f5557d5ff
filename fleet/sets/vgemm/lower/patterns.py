"""Patterns for products of INT8 and of real tensors, convolutions, and views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain as concatenation
from math import prod

import numpy as np

from fleet.sdk import Device
from fleet.sdk.ir import FleetOp, Program, numpy_dtype, op_id, shape_of
from fleet.sdk.ir import dialect as d
from fleet.sdk.lowering import EmitContext, Match, Missed, Options
from fleet.sets.vgemm.error_model import calibrated_bits
from fleet.sets.vgemm.layout import FRACTION, GROUP, channels
from fleet.sets.vgemm.lower import emit
from fleet.sets.vgemm.lower.emit import Uops
from fleet.sets.vgemm.lower.matching import ProductChain, find_chain
from fleet.sets.vgemm.lower.schedule import FINISH, ScheduledStep, synchronised
from fleet.sets.vgemm.lower.tiles import Epilogue, dense, quantise
from fleet.sets.vgemm.lower.windows import Image, convolution, unfit
from fleet.sets.vgemm.numbers import ACTIVATION_BITS, fixed, narrow_channels, narrow_weight, weight_limit
from fleet.sets.vgemm.operands import MemoryType

_LARGEST = 2.0 ** (31 - FRACTION)


@dataclass(frozen=True)
class ProductData:
    """A product with its epilogue. bits: fraction bits of its input if a calibration covers it, else None."""

    chain: ProductChain
    bits: int | None


class ProductPattern:
    """A matmul or a convolution by a weight, with its epilogue."""

    name = "product"

    def match(self, op: FleetOp, program: Program, device: Device, options: Options) -> Match[ProductData] | Missed | None:
        """Match a chain of `fleet.sets.vgemm.lower.matching`."""
        chain = find_chain(op, program)
        if chain is None:
            return _why(op)
        bits = calibrated_bits(chain.ops, options) if chain.real else None
        if wrong := self._unfit(chain, program, device, ACTIVATION_BITS if bits is None else bits):
            return Missed(wrong)
        residual = () if chain.residual is None else (chain.residual,)
        return Match(
            pattern=self,
            ops=chain.ops,
            activations=tuple(dict.fromkeys((chain.source, *residual))),
            weights=(chain.weight,) if chain.bias is None else (chain.weight, chain.bias),
            results=(chain.ops[-1].results[0],),
            data=ProductData(chain, bits),
            scratch=_rows(chain) * channels(shape_of(chain.source.type)[-1]) if chain.real else 0,  # the source as INT8
        )

    def _unfit(self, chain: ProductChain, program: Program, device: Device, bits: int) -> str | None:
        shapes = (shape_of(chain.source.type), shape_of(chain.ops[-1].results[0].type))
        if any(n <= 0 for shape in shapes for n in shape):
            return "a dimension is unknown or 0"
        if chain.window is not None:
            inputs, outputs = _blocks(device, shapes[0][-1]), _blocks(device, shapes[1][-1])
            if wrong := unfit(device, _image(chain), inputs, outputs, residual=chain.residual is not None):
                return wrong
        if chain.real:
            bias = None if chain.bias is None else program.weights[chain.bias]
            limit = weight_limit(program.weights[chain.weight], bias, bits)
            if not limit < _LARGEST:
                return f"its sums may reach {limit:g}, fixed point ends at {_LARGEST:g}"
        return None

    def emit(self, match: Match[ProductData], context: EmitContext) -> None:
        """Quantise real inputs first, then compute tile by tile."""
        chain = match.data.chain
        device = context.device
        source, target = shape_of(chain.source.type), chain.ops[-1].results[0]
        inputs, outputs = _blocks(device, source[-1]), _blocks(device, shape_of(target.type)[-1])
        uops, ops = Uops(device.parameters["UopDepth"]), tuple(op_id(op) for op in match.ops)
        steps: list[Iterator[ScheduledStep]] = []
        at, rows, shift = context.address(chain.source), _rows(chain), 0
        shifts: int | None = None
        weight = context.weight(chain.weight)
        if chain.real:
            known = match.data.bits
            taken = ACTIVATION_BITS if known is None else known
            if known is None:
                codes, bits = narrow_weight(weight)
                shift = FRACTION - taken - bits
            else:
                codes, bits = narrow_channels(weight, taken)
                shifts = self._shifts(chain, context, bits - (FRACTION - taken))
            context.rounded(chain.weight, (codes / 2.0**bits).astype(weight.dtype))
            narrow = context.scratch()
            steps.append(quantise(device, uops, at, narrow, rows * inputs, taken))
            at = narrow
        else:
            codes = weight
            context.rounded(chain.weight, weight)
        taps = 1 if chain.window is None else prod(chain.window.taps)
        packed = context.store(f"weight {chain.weight}", "ddr", _packed(device, codes, taps))
        epilogue = Epilogue(
            context.address(target),
            self._bias(chain, context),
            None if chain.residual is None else context.address(chain.residual),
            shift,
            chain.steps,
            chain.narrow,
            shifts,
        )
        if chain.window is None:
            used = -(-source[-1] // device.parameters["Block"])
            steps.append(dense(device, uops, at, packed, rows, inputs, used, outputs, epilogue))
        else:
            steps.append(convolution(device, uops, at, packed, _image(chain), inputs, outputs, epilogue))
        for call in synchronised([FINISH, *self._with_uops(concatenation.from_iterable(steps), uops, context, ops[-1])], ops):
            context.emit(call)

    def _with_uops(self, steps: Iterable[ScheduledStep], uops: Uops, context: EmitContext, name: str) -> Iterator[ScheduledStep]:
        """Yield the steps, with the load of a table's micro-operations before its first step."""
        # Steps are made one by one, so each uses the table that is the last one when it is made.
        tagged = [(uops.table, step) for step in steps]
        loaded = -1
        for table, step in tagged:
            if table != loaded:
                words = uops.tables[loaded := table]
                at = context.store(f"micro-operations {table} of {name}", "ddr", emit.uop_bytes(words))
                yield emit.load(context.device, MemoryType.UOP, 0, at, 1, len(words))
            yield step

    def _shifts(self, chain: ProductChain, context: EmitContext, each: np.ndarray) -> int:
        """Store the amounts by which SHR shifts each channel's sums, and return their address. Negative amounts shift left."""
        padded = np.zeros(channels(each.size), "<i4")
        padded[: each.size] = each
        return context.store(f"shifts of {chain.weight}", "ddr", padded.view(np.uint8))

    def _bias(self, chain: ProductChain, context: EmitContext) -> int | None:
        if chain.bias is None:
            return None
        bias = context.weight(chain.bias)
        numbers = fixed(bias) if chain.real else bias.astype(np.int32)
        context.rounded(chain.bias, (numbers / 2.0**FRACTION).astype(bias.dtype) if chain.real else bias)
        padded = np.zeros(channels(bias.size), "<i4")
        padded[: bias.size] = numbers
        return context.store(f"bias {chain.bias}", "ddr", padded.view(np.uint8))


class FlattenPattern:
    """A reshape that keeps the bytes: all axes except the first become channels, and rows have no padding."""

    name = "flatten"

    def match(self, op: FleetOp, program: Program, device: Device, options: Options) -> Match[None] | Missed | None:
        """Match the reshape."""
        if not isinstance(op, d.ReshapeOp) or numpy_dtype(op.operand.type).name not in {"int8", "int32", "float32"}:
            return None
        before, after = shape_of(op.operand.type), shape_of(op.results[0].type)
        if not before or not after or min(*before, *after) <= 0:
            return None
        if before[-1] % GROUP or after[-1] % GROUP:
            return Missed(f"rows of {before[-1]} and {after[-1]} channels, expected multiples of {GROUP}")
        return Match(self, (op,), (op.operand,), (), (op.results[0],), None, view=True)

    def emit(self, match: Match[None], context: EmitContext) -> None:
        """Emit no instruction; the result is a view."""
        context.view(match.results[0], match.activations[0], 0)


PATTERNS = (ProductPattern(), FlattenPattern())


def _why(op: FleetOp) -> Missed | None:
    if isinstance(op, d.MatmulOp):
        return Missed("it is no product of float32 or of INT8 that was cast to INT32, by a weight")
    return None


def _blocks(device: Device, count: int) -> int:
    return channels(count) // device.parameters["Block"]


def _rows(chain: ProductChain) -> int:
    return prod(shape_of(chain.source.type)[:-1])


def _image(chain: ProductChain) -> Image:
    assert chain.window is not None
    n, rows, columns, count = shape_of(chain.source.type)
    _, out_rows, out_columns, _ = shape_of(chain.ops[-1].results[0].type)
    return Image(n, rows, columns, count, chain.window, out_rows, out_columns)


def _packed(device: Device, codes: np.ndarray, taps: int) -> np.ndarray:
    """Return INT8 weights [taps * channels, outputs] as blocks [outputs, taps, channels] of [output, input], padded with zeros."""
    block = device.parameters["Block"]
    count, outputs = codes.shape[0] // taps, codes.shape[1]
    whole = np.zeros((taps, channels(count), channels(outputs)), np.int8)
    whole[:, :count, :outputs] = codes.reshape(taps, count, outputs)
    parts = whole.reshape(taps, -1, block, channels(outputs) // block, block).transpose(3, 0, 1, 4, 2)
    return np.ascontiguousarray(parts).reshape(-1).view(np.uint8)
