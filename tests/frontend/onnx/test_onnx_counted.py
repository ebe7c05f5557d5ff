"""Operators whose results' sizes data decide, beside onnxruntime; a run that leads to other sizes ends with the node's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_models import model, node, program, reference, run
from strangers_torch import torch_boolean_index

from fleet.cli.main import main
from fleet.engines.base import RunOptions
from fleet.engines.registry import find_engine
from fleet.errors import FleetError

RNG = np.random.default_rng(11)


def boxes(batch: int, count: int, *, centre: bool = False) -> np.ndarray:
    """Boxes that overlap; corners of half of them are exchanged, as the operator allows."""
    middle, size = RNG.uniform(0, 4, (batch, count, 2)), RNG.uniform(1, 3, (batch, count, 2))
    if centre:
        return np.concatenate([middle, size], 2).astype(np.float32)
    corners = np.stack([middle - size / 2, middle + size / 2], 2)
    corners[:, ::2] = corners[:, ::2, ::-1]
    return corners.reshape(batch, count, 4).astype(np.float32)


@pytest.mark.parametrize("most", [None, 0, 2, 100])
@pytest.mark.parametrize(("centre", "limits"), [(0, (0.3, 0.2)), (1, (0.5,)), (0, ()), (1, (0.0, 0.6))])
def test_boxes_that_are_left(most: int | None, centre: int, limits: tuple[float, ...]) -> None:
    weights = {f"l{i}": np.array([v], np.float32) for i, v in enumerate(limits)}
    if most is not None:
        weights["most"] = np.array([most], np.int64)
    made = model(
        [node("NonMaxSuppression", ["b", "s", "most" if most is not None else "", *(f"l{i}" for i in range(len(limits)))], ["kept"],
              center_point_box=centre), node("Identity", ["b"], ["same"])],
        {"b": (np.float32, 2, 17, 4), "s": (np.float32, 2, 3, 17)}, ["kept", "same"], weights,
    )  # fmt: skip
    scores = RNG.uniform(0, 1, (2, 3, 17)).astype(np.float32)
    scores[0, 1, 3:6] = scores[0, 1, 2]  # the first of equal ones is taken first
    given = {"b": boxes(2, 17, centre=bool(centre)), "s": scores}
    found, wanted = run(made, given)[0], reference(made, given)[0]
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_a_class_without_boxes_and_empty_boxes() -> None:
    made = model(
        [node("NonMaxSuppression", ["b", "s", "most", "iou", "low"], ["kept"])],
        {"b": (np.float32, 1, 40, 4), "s": (np.float32, 1, 2, 40)}, ["kept"],
        {"most": np.array([9], np.int64), "iou": np.array([0.1], np.float32), "low": np.array([0.5], np.float32)},
    )  # fmt: skip
    given = {"b": boxes(1, 40), "s": RNG.uniform(0, 1, (1, 2, 40)).astype(np.float32)}
    given["b"][0, 5:15, 2:] = given["b"][0, 5:15, :2]
    given["s"][0, 0] = 0.4
    np.testing.assert_array_equal(run(made, given)[0], reference(made, given)[0])


def scores_above() -> Any:
    return model(
        [node("Greater", ["x", "limit"], ["m"]), node("NonZero", ["m"], ["at"]), node("Transpose", ["at"], ["rows"], perm=[1, 0]),
         node("GatherND", ["x", "rows"], ["kept"])],
        {"x": (np.float32, 6, 50)}, ["at", "kept"], {"limit": np.array(0.8, np.float32)},
    )  # fmt: skip


def test_elements_that_are_not_zero(capsys: pytest.CaptureFixture[str]) -> None:
    x = RNG.uniform(0, 1, (6, 50)).astype(np.float32)
    for found, wanted in zip(run(scores_above(), {"x": x}), reference(scores_above(), {"x": x}), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    count = np.count_nonzero(x > 0.8)
    assert f"(NonZero at): {count} of 300 elements are not 0 for the given inputs (x -> " in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["vm", "riscv"])
def test_other_inputs_of_the_same_number_run_and_of_another_number_end(engine: str) -> None:
    x = RNG.uniform(0, 1, (6, 50)).astype(np.float32)
    made, other = program(scores_above(), {"x": x}), RNG.permutation(x.reshape(-1)).reshape(6, 50)
    found = find_engine(engine).engine.run(made, {"x": other}, RunOptions()).outputs
    np.testing.assert_array_equal(found["at"], np.nonzero(other > 0.8))
    np.testing.assert_array_equal(found["kept"], other[other > 0.8])
    fewer = x.copy()
    fewer[x.argmax() // 50, x.argmax() % 50] = 0
    with pytest.raises(FleetError, match=r"m\.onnx:node 1 \(NonZero at\): not \d+ elements are not 0, for which"):
        find_engine(engine).engine.run(made, {"x": fewer}, RunOptions())


def test_a_run_beside_onnxruntime_has_a_value_of_every_operation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = torch_boolean_index(tmp_path)
    np.savez(tmp_path / "x.npz", **file.inputs)
    code = main(["cosim", str(file.path), "--input", str(tmp_path / "x.npz"), "--engines", "vm,onnxruntime"])
    assert code == 0, capsys.readouterr().out


def range_of_data(dtype: Any, step: float) -> Any:
    """A range whose end is computed of the input, as a length regulator has it."""
    code = 1 if dtype == np.float32 else 7
    return model(
        [node("ReduceSum", ["x"], ["s"], keepdims=0), node("Cast", ["s"], ["end"], to=code),
         node("Range", ["start", "end", "step"], ["r"], "steps"), node("Add", ["r", "end"], ["y"])],
        {"x": (np.float32, 3, 50)}, ["r", "y"], {"start": np.array(2, dtype), "step": np.array(step, dtype)},
    )  # fmt: skip


@pytest.mark.parametrize(("dtype", "step"), [(np.int64, 1), (np.int64, 7), (np.int64, -1), (np.float32, 0.5), (np.float32, 3)])
def test_a_range_whose_end_data_decide(dtype: Any, step: float, capsys: pytest.CaptureFixture[str]) -> None:
    x = {"x": RNG.uniform(0, 1, (3, 50)).astype(np.float32)}
    made = range_of_data(dtype, step)
    for found, wanted in zip(run(made, x), reference(made, x), strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert "(Range steps): a range of " in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["vm", "riscv", "llvm-cpu"])
def test_a_range_of_another_number_of_elements_ends(engine: str) -> None:
    x = RNG.uniform(0, 1, (3, 50)).astype(np.float32)
    made = program(range_of_data(np.int64, 10), {"x": x})
    total = int(x.sum(dtype=np.float32))
    same = x * np.float32((2 + (total - 2) // 10 * 10 + 5.5) / x.sum())  # as many steps of 10, another end
    found = find_engine(engine).engine.run(made, {"x": same}, RunOptions()).outputs
    np.testing.assert_array_equal(found["r"], np.arange(2, int(same.sum()), 10))
    np.testing.assert_array_equal(found["y"], found["r"] + int(same.sum()))
    with pytest.raises(FleetError, match=r"m\.onnx:node 2 \(Range steps\): not \d+ elements, for which"):
        find_engine(engine).engine.run(made, {"x": x * 2}, RunOptions())


def test_what_cannot_be_known_names_its_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [
        node("Cast", ["x"], ["i"], to=7),
        node("ReduceMax", ["i"], ["n"], keepdims=0),
        node("ConstantOfShape", ["n"], ["y"], "fill"),
    ]
    (tmp_path / "m.onnx").write_bytes(model(nodes, {"x": (np.float32, 2, 3)}, ["y"], opset=17).SerializeToString())
    monkeypatch.chdir(tmp_path)
    np.savez("x.npz", x=np.ones((2, 3), np.float32))
    assert main(["run", "m.onnx", "--input", "x.npz"]) == 2
    line = capsys.readouterr().err
    assert line.startswith("fleet: m.onnx:node 2 (ConstantOfShape fill) and x.npz: a shape depends on data: ")
    assert "--from" in line


@pytest.mark.parametrize("axis", [None, 1])
def test_parts_that_are_kept(axis: int | None) -> None:
    how = {} if axis is None else {"axis": axis}
    made = model(
        [node("Less", ["x", "zero"], ["m"]), node("Cast", ["m"], ["n"], to=6),
         node("ReduceMax", ["n"], ["c"], keepdims=0, axes=[0]),
         node("Cast", ["c"], ["b"], to=9), node("Compress", ["x", "b"], ["y"], **how)],
        {"x": (np.float32, 2, 40)}, ["y"], {"zero": np.array(-0.5, np.float32)}, opset=17,
    )  # fmt: skip
    given = {"x": RNG.standard_normal((2, 40)).astype(np.float32)}
    np.testing.assert_array_equal(run(made, given)[0], reference(made, given)[0])


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
@pytest.mark.parametrize("inorder", [0, 1])
def test_values_that_stand_once(inorder: int, dtype: Any) -> None:
    made = model(
        [node("Mul", ["x", "two"], ["d"]), node("Unique", ["d"], ["values", "first", "inverse", "counts"], sorted=inorder)],
        {"x": (dtype, 70)}, ["values", "first", "inverse", "counts"], {"two": np.array(2, dtype)},
    )  # fmt: skip
    given = {"x": RNG.integers(-5, 9, 70).astype(dtype)}
    for found, wanted in zip(run(made, given), reference(made, given), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
