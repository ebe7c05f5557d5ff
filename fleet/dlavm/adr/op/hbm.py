"""Operators of an accelerator with HBM; see `fleet.ir.accel`: products, attention, pointwise."""

from fleet.ir.accel.attention import (
    attention,
    cache,
    dat2hbm,
    dat_hbm,
    f2w_mvm,
    feature2weight,
    kcache2hbm,
    mvm_afterF2W,
    mvm_afterTRP,
    pos_emb,
    rope_glm,
    rope_qwen,
    softmax,
    transpose,
    trp_mvm,
    vcache2hbm,
)
from fleet.ir.accel.pointwise import activate, add, argmax, gelu, layer_norm, mul, rms_norm, silu, sub
from fleet.ir.accel.products import const_ddr, const_hbm, conv2d, mvm, mvm_bn, mvm_bn_res, var_ddr
from fleet.ir.accel.views import gather

__all__ = [
    "activate", "add", "argmax", "attention", "cache", "const_ddr", "const_hbm", "conv2d", "dat2hbm", "dat_hbm", "f2w_mvm",
    "feature2weight",
    "gather", "gelu", "kcache2hbm", "layer_norm", "mul", "mvm", "mvm_afterF2W", "mvm_afterTRP", "mvm_bn", "mvm_bn_res", "pos_emb",
    "rms_norm", "rope_glm", "rope_qwen", "silu", "softmax", "sub", "transpose", "trp_mvm", "var_ddr", "vcache2hbm",
]  # fmt: skip
