"""Products: quantise and pack the weights of a matched chain, place BN words, emit one instruction per tile of tokens.

`PATTERNS`, at the end, lists all patterns of the set, best first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fleet.sdk import Device, DeviceError
from fleet.sdk.ir import FleetOp, Program, op_id, shape_of
from fleet.sdk.lowering import EmitContext, Match, Missed, Options
from fleet.sets.hbm0923.lower.activation import ActivationPattern, store_table
from fleet.sets.hbm0923.lower.attention import AttentionPattern
from fleet.sets.hbm0923.lower.elementwise import ElementwisePattern
from fleet.sets.hbm0923.lower.features import stored_half
from fleet.sets.hbm0923.lower.norm import NormPattern
from fleet.sets.hbm0923.lower.rotary import RotaryPattern
from fleet.sets.hbm0923.lower.softmax import SoftmaxPattern
from fleet.sets.hbm0923.lower.unrolled import Unrolled, feature_at
from fleet.sets.hbm0923.lower.views import ViewPattern
from fleet.sets.hbm0923.matching import MvmChain, find_chain, no_product
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, MvmFields, ceil_div, channel_bytes
from fleet.sets.hbm0923.operands import ElementwiseMode
from fleet.sets.hbm0923.operators.products import emit_product, tile_tokens
from fleet.sets.hbm0923.operators.vectors import emit_elementwise, emit_table
from fleet.sets.hbm0923.options import LEVELS, group_of, kept_of
from fleet.sets.hbm0923.weights import pack_bn, pack_matrix


@dataclass(frozen=True)
class MvmData:
    """A product with its epilogue. group: inputs that share a scale. kept: stored weights of a block of 8, 0 for all."""

    chain: MvmChain
    group: int
    kept: int


class MvmPattern:
    """matmul by a weight [+ bias] [+ or * residual] [ReLU] [argmax]."""

    name = "mvm"

    def match(self, op: FleetOp, program: Program, device: Device, options: Options) -> Match[MvmData] | Missed | None:
        """Match a chain of `fleet.sets.hbm0923.matching`.

        options: "group" (32, 64, 128; default the device's Tblk), "sparse" (4, 2 or 1 of 8 weights; default all).
        """
        chain = find_chain(op, program)
        if not isinstance(chain, MvmChain):
            reason = chain or no_product(op, program)
            return None if reason is None else Missed(reason)
        chin = shape_of(chain.matrix.type)[0]
        argmax = chain.logits is not None
        # Two tiles with argmax need tiles of 16 tokens; if the buffer is too small for that, the host does the argmax.
        kept = kept_of(device, options, chain.weight)
        tile = max(tile_tokens(device, chin, kept, argmax=False), 1)
        if argmax and chain.tokens > tile and not tile_tokens(device, chin, kept, argmax=True):
            return None
        weights = (chain.weight,) if chain.bias is None else (chain.weight, chain.bias)
        activations = [v for v in (chain.source, chain.residual, chain.added) if v is not None]
        last = chain.ops[-1].results[0]
        results = (last,) if chain.logits is None else (chain.logits, last)
        data = MvmData(chain, group_of(device, options), kept)
        return Match(self, chain.ops, tuple(dict.fromkeys(activations)), weights, results, data)

    def emit(self, match: Match[MvmData], context: EmitContext) -> None:
        """Emit it. Raises DeviceError if one token or the weights do not fit, ModelError if weights are not finite."""
        chain, group, kept = match.data.chain, match.data.group, match.data.kept
        device = context.device
        chin, chout = shape_of(chain.matrix.type)
        _check_size(device, chain, channel_bytes(device, chin, group, kept) * ceil_div(chout, device.parameters["Tout"]))
        codes, scales = context.quantised(chain.weight, group=group, levels=LEVELS, kept=kept)
        _record_weight(context, chain.weight, codes, scales, group)
        ports = pack_matrix(device, codes, scales, group, kept)
        stored = f"{chain.weight}.int4g{group}" + (f"s{kept}" if kept else "")
        weights = context.store(stored, "hbm", ports, align=PIXEL_BYTES)
        bn = None
        if chain.bias is not None or chain.residual is not None or chain.logits is not None:
            bn = context.store(f"{chain.bias or chout}.bn", "ddr", _bn_words(context, chain.bias, chout))
        surface = chain.tokens * PIXEL_BYTES
        features = match.results[0]
        whole = MvmFields(
            chin=chin,
            chout=chout,
            tokens=chain.tokens,
            tblk=group,
            input=context.address(chain.source),
            weights=weights,
            output=context.address(features),
            in_surface=surface,
            in_line=surface,
            out_surface=surface,
            out_line=surface,
            bn=bn,
            residual=None if chain.residual is None else context.address(chain.residual),
            argmax=None if chain.logits is None else context.address(match.results[-1]),
            relu=chain.relu,
            mul=chain.mul,
            kept=kept,
        )
        unrolled = Unrolled(context, chain.ops, (0, chain.tokens))
        emit_product(unrolled, whole)
        y = feature_at(chain.tokens, chout, whole.output)
        if chain.activation is not None:
            emit_table(unrolled, y, y, store_table(context, chain.activation))
        if chain.added is not None:
            emit_elementwise(unrolled, ElementwiseMode.ADD, y, replace(y, address=context.address(chain.added)), y)


def _check_size(device: Device, chain: MvmChain, needed: int) -> None:
    """Check sizes before the weights are quantised, which takes long for a matrix that is too large."""
    chin, _ = shape_of(chain.matrix.type)
    words, depth = ceil_div(chin, device.parameters["Tin"]), device.parameters
    for name in ("WtDepth", "DatDepth"):
        if words > depth[name]:
            raise DeviceError(
                f"one token of {chin} inputs takes {words} words of {depth['Tin']}, the device has {depth[name]} ({name})",
                where=f"{device.name}, operation {op_id(chain.ops[0])}",
                hint="use a larger device",
            )
    if needed > device.memory["hbm"]:
        raise DeviceError(
            f"weight '{chain.weight}' needs {needed:,} bytes of hbm a port; the device has {device.memory['hbm']:,} a port",
            where=f"{device.name}, operation {op_id(chain.ops[0])}",
            hint="use a device with more memory",
        )


def _record_weight(context: EmitContext, name: str, codes: np.ndarray, scales: np.ndarray, group: int) -> None:
    model = context.weight(name)
    wide = np.repeat(scales.astype(np.float64), group, axis=0)[: codes.shape[0]]
    # + 0.0: a code 0 times a scale is +0 whatever the scale's sign.
    context.rounded(name, (codes * wide + 0.0).astype(model.dtype))


def _bn_words(context: EmitContext, bias: str | None, chout: int) -> np.ndarray:
    ones = np.ones(chout, np.float16)
    if bias is None:
        return pack_bn(ones, np.zeros(chout, np.float16))
    return pack_bn(ones, stored_half(context, bias).reshape(-1))


PATTERNS = (
    MvmPattern(),
    AttentionPattern(),
    NormPattern(),
    SoftmaxPattern(),
    ActivationPattern(),
    RotaryPattern(),
    ElementwisePattern(),
    ViewPattern(),
)

COMPOSITES = ("attention", "layer_norm", "rms_norm", "softmax", "gelu", "silu", "sigmoid", "rope")
"""Composites that the compiler must find in a program before these patterns run. Linear layers are matched product by product."""
