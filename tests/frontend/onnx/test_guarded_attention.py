"""PyTorch's attention as torch.export writes it: rows of NaN, of keys that are all hidden, become zeros."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from strangers_torch import exported_attention

from fleet.engines.base import RunOptions
from fleet.engines.registry import find_engine
from fleet.frontend.onnx.load import load
from fleet.ir.dialect import kind_of
from fleet.ir.operations.operation import attributes_of
from fleet.transforms.pipeline import run_pipeline


@pytest.mark.parametrize("sequences", [1, 3])
def test_a_causal_mask_hides_no_whole_row(tmp_path: Path, sequences: int) -> None:
    """So nothing is NaN, and the guard goes: all of the layer is the device's own, nothing is moved."""
    file = exported_attention(tmp_path, sequences, 16, 2, 64)
    before = load(str(file.path), {}, file.inputs)
    after = run_pipeline(before, "accel")
    (attention,) = (op for op in after.operations() if kind_of(op) == "attention")
    assert attributes_of(attention)["causal"]
    assert not {"isnan", "where", "softmax", "transpose"} & {kind_of(op) for op in after.operations()}
    found, wanted = (find_engine("vm").engine.run(p, file.inputs, RunOptions()).outputs["layer_norm"] for p in (after, before))
    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)


def test_a_mask_of_the_run_may_hide_a_row(tmp_path: Path) -> None:
    file = exported_attention(tmp_path, 1, 16, 2, 64, mask_given=True)
    inputs = {**file.inputs, "mask": file.inputs["mask"].copy()}
    inputs["mask"][3] = -np.inf
    before = load(str(file.path), {}, inputs)
    after = run_pipeline(before, "accel")
    assert "isnan" in {kind_of(op) for op in after.operations()}
    found, wanted = (find_engine("vm").engine.run(p, inputs, RunOptions()).outputs["layer_norm"] for p in (after, before))
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)
