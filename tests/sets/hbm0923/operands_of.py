"""Operands of feature instructions in one order: sizes, what is read beside, then (address, surface, line) of input and output."""

from __future__ import annotations

from typing import Any

from fleet.sdk import Device, Operands
from fleet.sets.hbm0923.operands import ElementwiseMode
from fleet.sets.hbm0923.units.act import ActTensors
from fleet.sets.hbm0923.units.attention import AttentionOperands, F2wMvmTensors, TrpMvmTensors, with_bank_step
from fleet.sets.hbm0923.units.dat2hbm import Dat2HbmOperands
from fleet.sets.hbm0923.units.elementwise import ElementwiseTensors
from fleet.sets.hbm0923.units.feature import groups_of
from fleet.sets.hbm0923.units.norm import NormTensors
from fleet.sets.hbm0923.units.pos_emb import PosEmbTensors
from fleet.sets.hbm0923.units.softmax import SoftmaxTensors

_ENDS = ("in_addr", "in_surface", "in_line", "out_addr", "out_surface", "out_line")


def ends(places: tuple[int, ...]) -> dict[str, int]:
    return dict(zip(_ENDS, places, strict=True))


def act(channels: int, lines: int, tokens: int, table: int, *places: int, **flags: bool) -> ActTensors:
    return ActTensors(channels=channels, lines=lines, tokens=tokens, table_addr=table, **ends(places), **flags)


def elementwise(
    mode: int, channels: int, lines: int, tokens: int, a: int, b: int, *places: int, **flags: bool
) -> ElementwiseTensors:
    in_surface, in_line, out, surface, line = places
    sizes = {**groups_of(channels), "lines": lines, "tokens": tokens}
    at = {"a_addr": a, "b_addr": b, "a_surface": in_surface, "a_line": in_line, "out_addr": out}
    return ElementwiseTensors(mode=ElementwiseMode(mode), **sizes, **at, out_surface=surface, out_line=line, **flags)


def norm(
    channels: int, lines: int, tokens: int, weights: int, *places: int, recip: int, layer: bool = False, **flags: bool
) -> NormTensors:  # fmt: skip
    sizes = {**groups_of(channels), "lines": lines, "tokens": tokens}
    return NormTensors(**sizes, wt_addr=weights, recip=recip, layer=layer, **ends(places), **flags)


def pos_emb(
    channels: int, heads: int, tokens: int, last: int, table: tuple[int, int, int], *places: int, **flags: bool
) -> PosEmbTensors:  # fmt: skip
    at = dict(zip(("table_addr", "table_surface", "table_line"), table, strict=True))
    return PosEmbTensors(channels=channels, heads=heads, tokens=tokens, last=last, **at, **ends(places), **flags)


def attention(
    device: Device, scores: bool, channels: int, heads: int, kv_heads: int, total: int, tokens: int, cache: tuple[int, int, int],
    *places: int, scale: int, **flags: bool,
) -> AttentionOperands:  # fmt: skip
    sizes = {"channels": channels, "heads": heads, "kv_heads": kv_heads, "total": total, "tokens": tokens}
    at = dict(zip(("wt_addr", "wt_head", "wt_line"), cache, strict=True))
    operands = TrpMvmTensors if scores else F2wMvmTensors
    return operands(**sizes, **at, **ends(places), scale=with_bank_step(device, scale), **flags)


def dat2hbm(keys: bool, channels: int, heads: int, tokens: int, last: int, *places: int) -> Dat2HbmOperands:
    names = "in_addr", "in_surface", "in_line", "out_addr", "wt_head", "wt_line"
    at = dict(zip(names, places, strict=True))
    return Dat2HbmOperands(keys=keys, channels=channels, heads=heads, tokens=tokens, last=last, **at)


def softmax(heads: int, tokens: int, last: int, mask: bool, *places: int, **flags: bool) -> SoftmaxTensors:
    return SoftmaxTensors(heads=heads, tokens=tokens, last=last, mask=mask, **ends(places), **flags)


def encoded(o: Any, device: Device) -> dict[str, int]:
    """Fields of a call, of generated operands and of those that need the device."""
    return o.encode() if isinstance(o, Operands) else o.encode(device)
