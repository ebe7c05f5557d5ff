"""Opsets before 11: the model files that the package onnx brings, and what its converter gets wrong, beside onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import model, node, program, reference, run

from fleet.errors import ModelError
from fleet.frontend.onnx.reader import read_model

DATA = Path(onnx.__file__).parent / "backend/test/data"
RNG = np.random.default_rng(11)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def old(made: onnx.ModelProto) -> onnx.ModelProto:
    made.ir_version = 4
    return made


def stored(path: Path) -> np.ndarray:
    return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


@pytest.mark.parametrize("kind", ["pytorch-operator", "pytorch-converted"])
def test_the_models_that_pytorch_wrote(kind: str) -> None:
    """All of them, with the results that PyTorch had."""
    count = 0
    for folder in sorted((DATA / kind).iterdir()):
        made = onnx.load(folder / "model.onnx")
        weights = {w.name for w in made.graph.initializer}
        names = [p.name for p in made.graph.input if p.name not in weights]
        for given in sorted(folder.glob("test_data_set_*")):
            inputs = {n: stored(given / f"input_{i}.pb") for i, n in enumerate(names)}
            for i, got in enumerate(run(made, inputs)):
                want = stored(given / f"output_{i}.pb")
                assert (got.dtype, got.shape) == (want.dtype, want.shape), folder.name
                np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-5, err_msg=folder.name)
            count += 1
    assert count == {"pytorch-operator": 35, "pytorch-converted": 82}[kind]


def test_weights_that_are_no_inputs_in_the_oldest_format() -> None:
    """The format wanted them among the inputs until version 4; onnxruntime takes such a file as it is."""
    made = model([node("Mul", ["x", "w"], ["y"])], {"x": (np.float32, 3, 2)}, ["y"], {"w": floats(3, 2)}, 7)
    made.ir_version = 3
    inputs = {"x": floats(3, 2)}
    np.testing.assert_array_equal(run(made, inputs)[0], reference(made, inputs)[0])


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize(
    ("op", "scales"), [(op, s) for op in ("Upsample", "Resize") for s in ((2.0, 2.0), (1.5, 2.5))] + [("Resize", (0.5, 0.6))]
)
def test_upsample_and_the_first_resize(op: str, mode: str, scales: tuple[float, float]) -> None:
    """The converter leaves the defaults of later opsets: half pixels, and another nearest."""
    weights = {"s": np.array([1, 1, *scales], np.float32)}
    made = old(
        model([node(op, ["x", "s"], ["y"], mode=mode)], {"x": (np.float32, 1, 2, 5, 6)}, ["y"], weights, 9 + (op == "Resize"))
    )
    inputs = {"x": floats(1, 2, 5, 6)}
    np.testing.assert_allclose(run(made, inputs)[0], reference(made, inputs)[0], rtol=1e-5, atol=1e-6)


def test_attributes_that_became_inputs_and_the_line_that_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [
        node("Clip", ["x"], ["c"], min=-0.5, max=0.75),
        node("Pad", ["c"], ["p"], pads=[0, 1, 0, 2], mode="reflect"),
        node("Slice", ["p"], ["s"], axes=[1], starts=[1], ends=[6]),
        node("TopK", ["s"], ["y", "i"], k=2),
        node("Dropout", ["y"], ["z"], ratio=0.5),
        node("MatMul", ["z", "w"], ["m"]),
    ]
    made = old(model(nodes, {"x": (np.float32, 3, 5)}, ["z", "i", "m"], {"w": floats(2, 900)}, 9))
    inputs = {"x": floats(3, 5)}
    for got, want in zip(run(made, inputs), reference(made, inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["fleet: m.onnx: opset 9 was converted to 11 by onnx's version converter; nodes are numbered as converted"]


def test_a_slope_a_channel() -> None:
    """As PyTorch wrote it: [C], also where the last dimension has that size; opset 7 and later broadcast it there."""
    x, slope = floats(2, 3, 4, 3), floats(3)
    declared = {"x": (np.float32, 2, 3, 4, 3)}
    made = old(model([node("PRelu", ["x", "s"], ["y"])], declared, ["y"], {"s": slope}, 6))
    np.testing.assert_array_equal(run(made, {"x": x})[0], np.where(x < 0, x * slope[:, None, None], x))
    later = model([node("PRelu", ["x", "s"], ["y"])], declared, ["y"], {"s": slope})
    np.testing.assert_array_equal(run(later, {"x": x})[0], reference(later, {"x": x})[0])
    odd = model([node("PRelu", ["x", "s"], ["y"])], {"x": (np.float32, 2, 3, 4, 5)}, ["y"], {"s": slope})
    np.testing.assert_array_equal(run(odd, {"x": (z := floats(2, 3, 4, 5))})[0], np.where(z < 0, z * slope[:, None, None], z))


def test_bodies_are_converted_too() -> None:
    def branch(op: str, **attributes: float) -> onnx.GraphProto:
        result = helper.make_tensor_value_info("z", TensorProto.FLOAT, [2])
        return helper.make_graph([node(op, ["x"], ["z"], **attributes)], op, [], [result])

    made = model(
        [node("If", ["c"], ["y"], then_branch=branch("Clip", min=0.0, max=1.0), else_branch=branch("Neg"))],
        {"x": (np.float32, 2), "c": (np.bool_,)}, ["y"], opset=9,
    )  # fmt: skip
    x = floats(2) * 3
    np.testing.assert_array_equal(run(old(made), {"x": x, "c": np.array(True)})[0], np.clip(x, 0, 1))


@pytest.mark.parametrize(
    ("made", "what"),
    [
        (node("Clip", [], ["y"]), "has 0 inputs"),
        (node("Upsample", ["x"], ["y"]), "has no attribute scales"),
        (node("Mish", ["x"], ["y"]), "is no operator of opset 7"),
        (node("Upsample", ["x"], ["y"], scales=3), "of another kind"),
        (node("BatchNormalization", ["x", "x", "x", "x", "x"], ["y"], spatial=0), "spatial=0"),
    ],
)
def test_what_the_converter_must_not_see(made: onnx.NodeProto, what: str) -> None:
    with pytest.raises(ModelError, match=what) as caught:
        program(old(model([made], {"x": (np.float32, 2, 3)}, ["y"], opset=7)), {"x": floats(2, 3)})
    assert "\n" not in str(caught.value)


def test_changed_bytes_of_old_models_end_in_an_error_of_fleet() -> None:
    for kind in ("test_PixelShuffle", "test_ZeroPad2d", "test_Conv2d"):
        raw = (DATA / "pytorch-converted" / kind / "model.onnx").read_bytes()
        for _ in range(60):
            bad = bytearray(raw)
            for place in RNG.integers(0, len(raw), 3):
                bad[place] = RNG.integers(0, 256)
            try:
                read_model(bytes(bad), "m.onnx")
            except ModelError:
                continue
