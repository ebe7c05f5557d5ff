"""From NumPy to whole operations: only what a set asks for is raised, and digits stay what they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.errors import DeviceError
from fleet.frontend.source import load
from fleet.ir.dialect import kind_of
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.operations.composite import AttentionOp, CompositeOp
from fleet.ir.program import Program
from fleet.isa.registry import find_device
from fleet.targets.accel.compile import compile_accel
from fleet.targets.accel.raising import raised

EXAMPLES = Path(__file__).parents[3] / "examples"
SET, DEVICE = find_device("hbm_small")


def block(tokens: int = 8) -> Program:
    rng = np.random.default_rng(0)
    shapes = {
        "g1": (128,), "b1": (128,), "wqkv": (128, 384), "bqkv": (384,), "wo": (128, 128), "bo": (128,), "g2": (128,), "b2": (128,),
        "wup": (128, 512), "bup": (512,), "wdown": (512, 128), "bdown": (128,),
    }  # fmt: skip
    weights = {name: rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}
    return load(f"{EXAMPLES}/gpt2_block/model.py:narrow", weights, {"x": np.zeros((tokens, 128), np.float32)})


def digits() -> Program:
    weights = dict(np.load(EXAMPLES / "digits" / "weights.npz"))
    return load(f"{EXAMPLES}/digits/model.py:forward", weights, {"x": np.zeros((4, 64), np.float32)})


def composites(program: Program) -> list[str]:
    return [kind_of(op) for op in program.operations() if isinstance(op, CompositeOp)]


def test_a_block_in_numpy_is_twelve_instructions() -> None:
    compiled = compile_accel(block(), SET, DEVICE)
    assert compiled.missed == {}
    assert [c.instruction for c in compiled.calls] == [
        "norm", "mvm_bn", "dat2hbm", "dat2hbm", "trp_mvm", "softmax", "f2w_mvm", "mvm_bn_res", "norm", "mvm_bn", "act",
        "mvm_bn_res",
    ]  # fmt: skip
    assert next(c for c in compiled.calls if c.instruction == "softmax").fields["softmax_mask"] == 1
    assert composites(compiled.program) == ["layer_norm", "attention", "layer_norm", "gelu"]
    assert not composites(compiled.model)
    (attention,) = (op for op in compiled.program.operations() if isinstance(op, AttentionOp))
    assert float(attention.scale.value.data) == 0.125


def test_the_stored_weights_are_those_of_the_raised_program() -> None:
    compiled = compile_accel(block(), SET, DEVICE)
    assert compiled.rounded.hash != compiled.program.hash
    assert np.array_equal(compiled.rounded.weights["g1"], compiled.program.weights["g1"].astype(np.float16).astype(np.float32))
    assert compiled.model.hash == block().hash


def test_only_what_is_asked_for() -> None:
    assert composites(raised(block(), ("layer_norm",))) == ["layer_norm", "layer_norm"]
    assert composites(raised(block(), ("softmax", "gelu"))) == ["softmax", "softmax", "gelu"]


def test_nothing_asked_for_or_nothing_found_is_the_very_program() -> None:
    program, plain = block(), digits()
    assert raised(program, ()) is program
    assert raised(plain, SET.composites) is plain
    assert compile_accel(plain, SET, DEVICE).program is plain


def test_a_composite_that_nobody_finds() -> None:
    with pytest.raises(DeviceError, match="no composite operation is called convolution"):
        compile_accel(block(), replace(SET, composites=("convolution",)), DEVICE, LoweringOptions(group=64))
