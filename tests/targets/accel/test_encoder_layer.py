"""An encoder layer as ONNX exporters write it is found as attention, and its narrow heads are filled for the device."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "frontend/onnx"))
from onnx_models import encoder_layer, reference

from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.iss import IssEngine
from fleet.ir.operations import composite as c
from fleet.ir.operations.operation import attributes_of
from fleet.ir.program import Program
from fleet.isa.registry import find_device
from fleet.targets.accel.compile import compile_accel, lowered_program
from fleet.targets.accel.raising import raised
from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.targets.bytecode.vm import VM
from fleet.transforms.products.widen_heads import widen_heads

SET, DEVICE = find_device("hbm_small")
ATTENTION = ("dat2hbm", "trp_mvm", "softmax", "f2w_mvm")


def loaded(
    folder: Path, *, channels: int = 64, heads: int = 2, mask: str | None = "input", seen: int = 6, batch: int = 1, query: str = ""
):
    made = encoder_layer(6, channels, heads, 128, mask=mask, batch=batch)
    path = folder / "layer.onnx"
    path.write_bytes(made.SerializeToString())
    x = np.random.default_rng(9).standard_normal((batch, 6, channels)).astype(np.float32)
    arrays = {"x": x}
    if mask is not None:
        arrays["mask"] = np.repeat((np.arange(6) < seen).astype(np.int64)[None], batch, axis=0)
    np.savez(folder / "in.npz", **arrays)
    return load_model(f"{path}{query}", None, folder / "in.npz", 0, None), reference(made, arrays)[0]


def run(program: Program, inputs) -> np.ndarray:
    return next(iter(VM(ByteCodeConverter(program).convert()).run(dict(inputs)).values()))


@pytest.mark.parametrize(("mask", "query"), [(None, ""), ("input", "?known=mask")])
def test_the_whole_layer_runs_on_the_device(tmp_path: Path, mask: str | None, query: str) -> None:
    model, expected = loaded(tmp_path, mask=mask, query=query)
    lowered = lowered_program(model.program, SET)
    attention = [attributes_of(op) for op in lowered.operations() if isinstance(op, c.AttentionOp)]
    assert [(a["heads"], a["kv_heads"], a["causal"]) for a in attention] == [(2, 2, False)]
    compiled = compile_accel(model.program, SET, DEVICE)
    assert not compiled.missed
    assert [call.instruction for call in compiled.calls].count("softmax") == 1
    np.testing.assert_allclose(run(lowered, model.inputs), expected, atol=2e-5)


@pytest.mark.parametrize("heads", [1, 2, 4, 8])
def test_filled_heads_change_nothing(tmp_path: Path, heads: int) -> None:
    model, expected = loaded(tmp_path, heads=heads, mask=None)
    found = raised(model.program, SET.composites)
    widened = widen_heads(found, (64, 128))
    width = 64 // heads
    (op,) = [op for op in widened.operations() if isinstance(op, c.AttentionOp)]
    assert attributes_of(op)["heads"] == heads
    assert op.q.type.get_shape()[-1] == heads * 64
    assert (widened is found) == (width == 64)
    np.testing.assert_allclose(run(widened, model.inputs), expected, atol=2e-5)
    filled = [n for n in widened.weights if n.endswith(".heads_of_64")]
    assert len(filled) == (0 if width == 64 else 7)
    for name in filled:  # three products with biases, and the rows of the one behind
        kept = np.asarray(widened.weights[name])
        assert np.count_nonzero(kept) == np.count_nonzero(np.asarray(model.program.weights[name.removesuffix(".heads_of_64")]))


def test_heads_wider_than_all_stay(tmp_path: Path) -> None:
    model, _ = loaded(tmp_path, heads=1, mask=None)
    found = raised(model.program, SET.composites)
    assert widen_heads(found, (16, 32)) is found


def test_a_mask_at_run_time_is_told(tmp_path: Path) -> None:
    """The heads are one attention with a mask; the device says why it does not take it."""
    model, expected = loaded(tmp_path, seen=4)
    lowered = lowered_program(model.program, SET)
    (op,) = [op for op in lowered.operations() if isinstance(op, c.AttentionOp)]
    assert op.mask is not None
    np.testing.assert_allclose(run(lowered, model.inputs), expected, atol=2e-5)
    missed = compile_accel(model.program, SET, DEVICE).missed
    assert any("mask is computed at run time" in why for why in missed.values())


def test_a_known_mask_that_hides_is_no_causal_one(tmp_path: Path) -> None:
    model, expected = loaded(tmp_path, seen=4, query="?known=mask")
    lowered = lowered_program(model.program, SET)
    np.testing.assert_allclose(run(lowered, model.inputs), expected, atol=2e-5)
    assert any("not causal" in why for why in compile_accel(model.program, SET, DEVICE).missed.values())


@pytest.mark.parametrize(("mask", "query"), [(None, ""), ("input", "?known=mask")])
def test_several_sequences_run_on_the_device(tmp_path: Path, mask: str | None, query: str) -> None:
    model, expected = loaded(tmp_path, batch=3, mask=mask, query=query)
    compiled = compile_accel(model.program, SET, DEVICE)
    assert not compiled.missed
    assert Counter(c.instruction for c in compiled.calls if c.instruction in ATTENTION) == dict.fromkeys(ATTENTION, 3) | {
        "dat2hbm": 6
    }
    np.testing.assert_allclose(run(compiled.program, model.inputs), expected, atol=2e-5)
    (found,) = IssEngine().run(model.program, dict(model.inputs), RunOptions(device="hbm_small")).outputs.values()
    stored = run(compiled.rounded, model.inputs)
    assert np.sqrt(np.mean((found - stored) ** 2)) < 4e-3 * np.sqrt(np.mean(stored**2))


def test_a_length_of_each_sequence_is_a_mask(tmp_path: Path) -> None:
    """Known masks that hide are no causal ones, and those of the run are not known; both stay with the host."""
    for query, why in (("?known=mask", "not causal"), ("", "computed at run time")):
        model, expected = loaded(tmp_path, batch=3, seen=4, query=query)
        compiled = compile_accel(model.program, SET, DEVICE)
        assert any(why in said for said in compiled.missed.values())
        np.testing.assert_allclose(run(compiled.program, model.inputs), expected, atol=2e-5)
