"""Coverage hints beside the description: the dtype of results, and bins that no stream can meet."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from fleet.sdk import CoverageHints, Device, Limit
from fleet.sets.hbm0923.numerics.float32 import fp20_word

_FP16 = (
    "mvm", "mvm_bn", "mvm_bn_res", "trp_mvm", "f2w_mvm", "norm", "pos_emb", "softmax", "act", "elementwise", "dat2hbm",
)  # fmt: skip

_BYTES = "a whole number of bytes, and at least one"
_ONE_BLOCK = "it copies one block"
_SHARE = "a share of a sum is at most 1, or NaN"

_FILLED = "what it reads on chip an earlier instruction wrote: nothing else reaches that memory, and it is undefined before"

_IMPOSSIBLE: tuple[tuple[str, str], ...] = (
    ("*:refused:busy", "the bench waits for a unit before it starts it again; sim/slow_port starts a busy one"),
    ("*:refused:bus_error", "every address of a legal call is inside memory, which then does not answer with an error"),
    ("*:refused:bad_binary", "binaries are encoded from legal calls; tests/rtl_models feeds broken ones"),
    ("wt2hbm:field:aux_bits:*[+-]1", _BYTES),
    ("wt2hbm:field:aux_bits:0", _BYTES),
    ("wt2hbm:field:aux_bits:1", _BYTES),
    ("wt2hbm:field:aux_bits:all_ones", _BYTES),
    ("wt2hbm:remainder:aux_bits/*:over", _BYTES),
    ("wt2hbm:remainder:aux_bits/*:short", _BYTES),
    ("wt2hbm:remainder:aux_bits/8:other", _BYTES),
    ("wt2hbm:stride:*:padded", _ONE_BLOCK),
    ("wt2hbm:stride:*:wider", _ONE_BLOCK),
    ("wt2hbm:cross:*:padded:*", _ONE_BLOCK),
    ("wt2hbm:cross:*:wider:*", _ONE_BLOCK),
    ("*:cross:*_onchip.in=0x1:*:none", _FILLED),
    ("*:cross:*_onchip.b=0x1:*:none", _FILLED),
    ("*:cross:*_onchip.res=0x1:*:none", _FILLED),
    ("softmax:result:inf", _SHARE),
    ("softmax:result:largest", _SHARE),
)


def _limits(device: Device) -> Mapping[str, Limit]:
    """Return limits by pattern; the first matching pattern applies."""
    p = device.parameters
    tokens = Limit(1, p["MaxToken"], "MaxToken positions at most, and at least one")
    lines = Limit(1, 255, "at most 255 lines or heads, and at least one")
    pixels = Limit(1, 255 * p["MaxToken"], "lines times tokens")
    groups = p["MaxChannels"] // 32
    outputs = Limit(1, (1 << 19) - 1, "output channels fit into 19 bits")
    row = "a group of channels is at least one pixel after the one before"
    lsb = 20 if p["ScaleFp20"] else 16
    scale = Limit(p["Log2BankStep"] << lsb, (p["Log2BankStep"] << lsb) + (1 << lsb) - 1, "the bank step stands above the scale")
    no_residual = Limit(0, 0, "the instruction has no residual")
    slices = Limit(0, (1 << 19) // p["Tout"] - 1, "slices of whole Tout channels, which fit into 19 bits")
    return {
        **({} if p["Sparse"] else {"mvm*:mvm_sparse": Limit(0, 0, "the device has no sparse weights")}),
        "mvm:mvm_argmax_addr": slices,
        "mvm*:mvm_splits_m1": slices,
        "mvm:*.res": no_residual,
        "mvm_bn:*.res": no_residual,
        "mvm:mvm_res_mode.mul": no_residual,
        "mvm_bn:mvm_res_mode.mul": no_residual,
        "*:*_win": tokens,
        "*:*_wout": tokens,
        "*:*_win_dup": tokens,
        "*:*_tokens": tokens,
        "*:*_total": tokens,
        "softmax:softmax_chin": tokens,
        "softmax:softmax_last": Limit(0, p["MaxToken"] - 1, "with the tokens at most MaxToken positions"),
        "dat2hbm:dat2hbm_last": Limit(0, p["MaxToken"] - 1, "with the tokens at most MaxToken positions"),
        "softmax:softmax_surfaces": Limit(1, p["MaxToken"] // 32, "groups of at most MaxToken positions"),
        "act:act_hin": lines,
        "norm:norm_hin": lines,
        "elementwise:elementwise_hin": lines,
        "*:*_heads": lines,
        "*:*_heads.kv": lines,
        "*:*_heads.query": lines,
        "*:*_heads.ratio_m1": Limit(0, 254, "255 query heads at most"),
        "*:*_pixels": pixels,
        "act:act_surfaces*": Limit(1, 65535, "groups of channels fit into 16 bits"),
        "act:act_chout": Limit(1, 32 * 65535, "groups of channels fit into 16 bits"),
        "*:*_surfaces.lanes": Limit(0, 31, "of 32 channels of the last group"),
        "norm:norm_surfaces.count": Limit(1, groups, "MaxChannels in groups of 32"),
        "norm:norm_recip_channels.value": Limit(
            fp20_word(Fraction(1, p["MaxChannels"])) - 1,
            (31 << 13) + 1,
            "1 / C of up to MaxChannels channels, or a step beside it",
        ),
        "norm:norm_burst_m1": Limit(0, groups - 1, "MaxChannels in groups of 32"),
        "elementwise:elementwise_surfaces.count": Limit(1, 65535, "at least one group of channels"),
        "mvm*:mvm_chin": Limit(32, p["Tin"] * p["WtDepth"], "Tin * WtDepth inputs at most, and at least one group"),
        "mvm*:mvm_chin_last": Limit(1, p["TgroupCh"], "inputs of the last weight group"),
        "mvm*:mvm_chout_last": outputs,
        "mvm*:mvm_chout_slice": Limit(1, (1 << 32) - 1, "at least the channels of the last slice"),  # with one slice it is unused
        "mvm*:mvm_wt_bits": Limit(256, 1 << 20, "a channel has a beat of scales and codes at least"),
        "dat2hbm:*_in_surface": Limit(64, (1 << 32) - 64, row),
        "trp_mvm:*_in_surface": Limit(64, (1 << 32) - 64, row),
        "f2w_mvm:*_out_surface": Limit(64, (1 << 32) - 64, row),
        "pos_emb:*_surface": Limit(64, (1 << 32) - 64, row),
        "*_mvm:*_scale": scale,
        "wt2hbm:aux_port": Limit(0, p["HbmPorts"] - 1, "a port that there is"),
    }


COVERAGE = CoverageHints(dtypes=dict.fromkeys(_FP16, "<f2"), limits=_limits, impossible=_IMPOSSIBLE)
