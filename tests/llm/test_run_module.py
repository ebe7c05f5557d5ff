"""`mod.run()`: a compiled graph from Python, its cache kept between runs."""

from __future__ import annotations

import numpy as np
import pytest

from fleet.dlavm import adr, ne
from fleet.dlavm import backend as dlavm_backend
from fleet.dlavm import runtime as dlavm_runtime
from fleet.errors import DeviceError, ModelError
from fleet.ir.accel.evaluate import evaluate
from fleet.llm.models import ModelOptions, build_model
from fleet.llm.sessions.run_module import ModuleRunner, RunnableModule, build
from fleet.llm.tiny import tiny_model
from fleet.transforms.conversion.to_program import to_program
from fleet.transforms.simplify.infer_types import infer_type


def module(*, aux: bool = False) -> RunnableModule:
    weights = tiny_model()
    model = build_model(weights.config, weights, ModelOptions(tokens=4, positions=16))
    typed = infer_type(model.root, "hbm_small", attrs={"last_token": model.last_token})
    return build(typed, name="tiny", aux=aux, build_config={"spill": True})


@pytest.mark.parametrize("aux", [False, True])
def test_steps_share_the_cache(aux: bool) -> None:
    mod = module(aux=aux)
    rows = np.asarray(tiny_model()["embedding"][[9, 30, 31, 9]])
    whole = mod.run({"x": rows[None]}, token=4, last_token=0)
    mod.reset()
    mod.run({"x": rows[None, :3]}, token=3, last_token=0)
    last = mod.run({"x": rows[None, 3:]}, token=1, last_token=3)
    mod.reset()
    np.testing.assert_array_equal(last["output0"], whole["output0"])
    assert last["output1"].reshape(-1)[-1] == whole["output0"].reshape(-1).argmax()
    assert whole["output0"].shape == (1, 1, 320)


def test_results_are_what_the_graph_means() -> None:
    weights = tiny_model()
    model = build_model(weights.config, weights, ModelOptions(tokens=4, positions=16))
    rows = np.asarray(weights["embedding"][[9, 30, 31]])
    mod = module()
    found = mod.run({"x": rows[None]}, token=3, last_token=0)["output0"]
    mod.reset()
    typed = infer_type(model.root, "hbm_small", attrs={"last_token": model.last_token})
    meant = evaluate(typed, {"x": rows[None]}, {"token": 3, "last_token": 0})
    first = meant.result[0]
    error = np.abs(np.asarray(first, np.float64) - found).max()
    assert error < 1 < np.abs(found).max() / 10  # INT4 weights
    assert to_program(typed, 3, 0).nodes  # the typed graph lowers too


def test_what_is_wrong_is_named() -> None:
    mod = module()
    row = np.zeros((1, 1, 128), np.float32)
    with pytest.raises(ModelError, match="input 'x' is missing"):
        mod.run({}, token=1)
    with pytest.raises(ModelError, match="no input 'y'"):
        mod.run({"x": row, "y": row}, token=1)
    with pytest.raises(ModelError, match=r"input 'x' is \[1, 1, 128\], expected \[1, 2, 128\]"):
        mod.run({"x": row}, token=2)
    with pytest.raises(ModelError):
        mod.run({"x": np.zeros((1, 5, 128), np.float32)}, token=5)
    with pytest.raises(DeviceError, match="no engine 'vm' runs instructions"):
        mod.run({"x": row}, engine="vm", token=1)
    mod.reset()


def test_dlavms_names() -> None:
    assert dlavm_backend.build is build
    assert dlavm_backend.Module is RunnableModule
    assert dlavm_runtime.Runner is ModuleRunner


def product(data: object) -> RunnableModule:
    x = adr.hbm.var_ddr("x", (1, ne.Var("token", 4), 64))
    return build(infer_type(adr.hbm.mvm(x, adr.hbm.const_hbm("w", data, (64, 32))), "hbm_small"))


def test_weights_without_data_do_not_count_as_zeros() -> None:
    with pytest.raises(ModelError, match="constant 'w': no data, only a shape; give the constant an array or a file"):
        product(None).run({"x": np.ones((1, 2, 64))}, token=2)


def test_inputs_that_are_no_arrays() -> None:
    mod = product(np.eye(64)[:, :32])
    rows = np.arange(128.0).reshape(1, 2, 64)
    np.testing.assert_array_equal(mod.run({"x": rows.tolist()}, token=2)["output"], mod.run({"x": rows}, token=2)["output"])
    for wrong in (np.full((1, 2, 64), "x"), [[1], [1, 2]], None, rows + 1j):
        with pytest.raises(ModelError, match="model 'model': input 'x' is no array of numbers"):
            mod.run({"x": wrong}, token=2)
    with pytest.raises(ModelError, match="inputs are None, expected a dict"):
        mod.run(None, token=2)
    mod.reset()
