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


_OPERATORS = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power, "And": np.logical_and,
    "Or": np.logical_or, "Xor": np.logical_xor, "Equal": np.equal, "Greater": np.greater, "Less": np.less,
}  # fmt: skip


def placed(a: np.ndarray, b: np.ndarray, axis: int | None) -> np.ndarray:
    """The second operand by the definition of opsets 1 to 6: the element of each place is that of its axes' places."""
    first = a.ndim - b.ndim if axis is None else axis
    found = np.empty(a.shape, b.dtype)
    for place in np.ndindex(*a.shape):
        found[place] = b[tuple(i if size > 1 else 0 for i, size in zip(place[first:], b.shape, strict=False))]
    return found


@pytest.mark.parametrize("opset", [1, 6])
@pytest.mark.parametrize("op", _OPERATORS)
def test_an_operand_that_begins_at_an_axis(op: str, opset: int) -> None:
    """onnx's converter puts the dimensions elsewhere, which may fit by chance, or has no rule for the operator."""
    rng = np.random.default_rng([opset, len(op), ord(op[0])])
    for case in range(12):
        shape = tuple(int(n) for n in rng.integers(1, 4, rng.integers(1, 5)))
        axis = int(rng.integers(0, len(shape)))
        rank = int(rng.integers(1, len(shape) - axis + 1))
        wanted = None if case % 4 == 3 else axis
        other = shape[len(shape) - rank :] if wanted is None else shape[axis : axis + rank]
        kind = np.bool_ if op in ("And", "Or", "Xor") else np.int32 if op == "Equal" else np.float32
        a, b = ((np.abs(rng.standard_normal(s)) + 0.5 if kind == np.float32 else rng.integers(0, 2, s)) for s in (shape, other))
        inputs = {"a": a.astype(kind), "b": b.astype(kind)}
        attributes = {"broadcast": 1} | ({} if wanted is None else {"axis": wanted})
        if case % 4 == 2:  # a result of which the converter knows no shape, and a product of it
            inputs["a"] = a = inputs["a"][None].repeat(2, 0)
            attributes["axis"] = axis + 1
        made = old(
            model([node(op, ["a", "b"], ["y"], **attributes)], {n: (kind, *v.shape) for n, v in inputs.items()}, ["y"], opset=opset)
        )
        want = _OPERATORS[op](inputs["a"], placed(inputs["a"], inputs["b"], attributes.get("axis")))
        np.testing.assert_allclose(run(made, inputs)[0], want, rtol=1e-6, err_msg=f"{shape} {other} {attributes}")


def test_an_operand_that_does_not_fit_from_its_axis_on() -> None:
    made = old(
        model([node("Add", ["x", "b"], ["y"], "bias", broadcast=1, axis=1)], {"x": (np.float32, 3, 2)}, ["y"], {"b": floats(3)}, 6)
    )
    with pytest.raises(ModelError, match=r"the shape \[3\] does not fit \[3, 2\] from axis 1 on") as caught:
        program(made, {"x": floats(3, 2)})
    assert "Add bias" in str(caught.value)


def test_a_bias_of_a_convolution_and_a_gemm_behind_it() -> None:
    """As Caffe2 wrote it: the bias of a channel is added with an axis, and the Gemm has the attribute broadcast."""
    nodes = [
        node("Add", ["x", "b"], ["a"], broadcast=1, axis=1),
        node("GlobalAveragePool", ["a"], ["p"]),
        node("Flatten", ["p"], ["f"]),
        node("Gemm", ["f", "w", "c"], ["y"], broadcast=1, transB=1),
    ]
    b, w, c, x = floats(3), floats(4, 3), floats(4), floats(1, 3, 4, 4)
    made = old(model(nodes, {"x": (np.float32, 1, 3, 4, 4)}, ["y"], {"b": b, "w": w, "c": c}, 6))
    np.testing.assert_allclose(run(made, {"x": x})[0], (x.mean((2, 3)) + b) @ w.T + c, rtol=1e-5)


def test_a_cast_to_a_name_and_pads_of_opset_1() -> None:
    x = floats(2, 3) * 5
    nodes = [node("Pad", ["x"], ["p"], paddings=[0, 1, 1, 0], value=0.5), node("Cast", ["p"], ["y"], to="INT32")]
    want = np.pad(x, ((0, 1), (1, 0)), constant_values=0.5).astype(np.int32)
    np.testing.assert_array_equal(run(old(model(nodes, {"x": (np.float32, 2, 3)}, ["y"], opset=1)), {"x": x})[0], want)
    bad = old(model([node("Cast", ["x"], ["y"], to="INTEGER")], {"x": (np.float32, 2, 3)}, ["y"], opset=1))
    with pytest.raises(ModelError, match="a cast to 'INTEGER', which is no type"):
        program(bad, {"x": x})


def test_the_recurrent_layers_of_opset_6() -> None:
    x, w, r = floats(4, 2, 3), floats(1, 20, 3), floats(1, 20, 5)
    layer = [node("LSTM", ["x", "w", "r"], ["y", "h"], hidden_size=5, output_sequence=1)]
    before, after = (
        model(layer if opset < 7 else [node("LSTM", ["x", "w", "r"], ["y", "h"], hidden_size=5)], {"x": (np.float32, 4, 2, 3)},
              ["y", "h"], {"w": w, "r": r}, opset)
        for opset in (6, 14)
    )  # fmt: skip
    for got, want in zip(run(old(before), {"x": x}), run(after, {"x": x}), strict=True):
        np.testing.assert_array_equal(got, want)


def test_an_operator_that_the_converter_does_not_know_is_one_plain_line() -> None:
    made = old(
        model(
            [node("Tile", ["x", "n", "a"], ["y"])], {"x": (np.float32, 2), "n": (np.float32,), "a": (np.float32,)}, ["y"], opset=1
        )
    )
    with pytest.raises(ModelError) as caught:
        program(made, {"x": floats(2), "n": floats(), "a": floats()})
    assert caught.value.what == "is of opset 1, which onnx cannot convert to 11: it has no rule for the operator Tile"


def test_a_result_of_another_shape_than_declared_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    made = model([node("Add", ["x", "b"], ["y"])], {"x": (np.float32, 1, 3)}, [], {"b": floats(4, 3)})
    made.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, "N"]))
    program(made, {"x": floats(1, 3)})
    line = "fleet: m.onnx: the output y has the shape [4, 3], and the file declares [1, N]: "
    assert capsys.readouterr().err.startswith(line)
    made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, "N"]))
    program(made, {"x": floats(1, 3)})
    assert not capsys.readouterr().err


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
        (node("Scan", ["", "x"], ["y"], body=helper.make_graph([], "b", [], []), num_scan_inputs=1), "a batch of sequences"),
    ],
)
def test_what_the_converter_must_not_see(made: onnx.NodeProto, what: str) -> None:
    with pytest.raises(ModelError, match=what) as caught:
        program(old(model([made], {"x": (np.float32, 2, 3)}, ["y"], opset=8 if made.op_type == "Scan" else 7)), {"x": floats(2, 3)})
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
