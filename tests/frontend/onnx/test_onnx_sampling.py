"""GridSample, RoiAlign, MaxUnpool, transforms and angles beside onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from onnx_models import model, node, program, reference, run

from fleet.errors import ModelError

RNG = np.random.default_rng(12)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def agree(made: onnx.ModelProto, inputs: dict[str, np.ndarray], rtol: float = 1e-4, atol: float = 1e-5) -> None:
    for got, want in zip(run(made, inputs), reference(made, inputs), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
def test_grid_sample(mode: str, padding: str, align: int) -> None:
    """Places far outside too, so that a reflection folds several times."""
    one = node("GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=padding, align_corners=align)
    made = model([one], {"x": (np.float32, 2, 3, 5, 6), "g": (np.float32, 2, 4, 7, 2)}, ["y"], opset=20)
    agree(made, {"x": floats(2, 3, 5, 6), "g": floats(2, 4, 7, 2) * 1.5})


def test_grid_sample_of_volumes_and_old_names() -> None:
    one = node("GridSample", ["x", "g"], ["y"], mode="linear")
    made = model([one], {"x": (np.float32, 1, 2, 4, 5, 6), "g": (np.float32, 1, 3, 3, 3, 3)}, ["y"], opset=20)
    agree(made, {"x": floats(1, 2, 4, 5, 6), "g": floats(1, 3, 3, 3, 3)})
    old = node("GridSample", ["x", "g"], ["y"], mode="bicubic")
    made = model([old], {"x": (np.float32, 1, 2, 5, 6), "g": (np.float32, 1, 3, 3, 2)}, ["y"], opset=16)
    agree(made, {"x": floats(1, 2, 5, 6), "g": floats(1, 3, 3, 2)})


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("sizes", [(1, 3, 5, 6), (2, 3, 4, 1), (1, 2, 3, 4, 5)])
def test_affine_grid(sizes: tuple[int, ...], align: int) -> None:
    """One image, and an axis of one place."""
    rank = len(sizes) - 2
    one = node("AffineGrid", ["t", "s"], ["y"], align_corners=align)
    made = model([one], {"t": (np.float32, sizes[0], rank, rank + 1)}, ["y"], {"s": np.array(sizes)}, opset=20)
    theta = {"t": floats(sizes[0], rank, rank + 1)}
    if align and 1 in sizes[2:]:
        with np.errstate(divide="ignore"):  # onnxruntime puts such a place at 1, the standard's reference at -1
            (want,) = ReferenceEvaluator(made).run(None, theta)
        np.testing.assert_allclose(run(made, theta)[0], want, rtol=1e-5, atol=1e-6)
    else:
        agree(made, theta)


def test_roi_align_rounds_places_as_the_standard_does() -> None:
    extra = {"output_height": 3, "output_width": 3, "sampling_ratio": 2, "spatial_scale": 0.5}
    rois = np.array([[0, 0, 10, 12], [3, 2, 18, 18], [5, 5, 6, 6]], np.float32)
    made = model(
        [node("RoiAlign", ["x", "r", "b"], ["y"], **extra)], {"x": (np.float32, 1, 4, 10, 10)}, ["y"],
        {"r": rois, "b": np.zeros(3, np.int64)},
    )  # fmt: skip
    agree(made, {"x": np.random.default_rng(0).standard_normal((1, 4, 10, 10)).astype(np.float32)}, 3e-7, 6e-8)


@pytest.mark.parametrize("attributes", [
    {}, {"mode": "max"}, {"coordinate_transformation_mode": "output_half_pixel"}, {"spatial_scale": 0.5},
])  # fmt: skip
def test_roi_align(attributes: dict[str, Any]) -> None:
    extra = {"output_height": 3, "output_width": 4, "sampling_ratio": 2, **attributes}
    made = model(
        [node("RoiAlign", ["x", "r", "b"], ["y"], **extra)],
        {"x": (np.float32, 2, 3, 9, 10), "r": (np.float32, 4, 4), "b": (np.int64, 4)},
        ["y"],
    )
    rois = np.array([[0, 0, 5, 6], [1.3, 2.2, 8.9, 7.7], [-3, -2, 4, 4], [6, 6, 14, 13]], np.float32)
    agree(made, {"x": np.abs(floats(2, 3, 9, 10)), "r": rois, "b": np.array([0, 1, 1, 0])})


def test_roi_align_of_as_many_samples_as_data_say() -> None:
    made = model(
        [node("RoiAlign", ["x", "r", "b"], ["y"], "roi")],
        {"x": (np.float32, 1, 1, 4, 4), "r": (np.float32, 1, 4), "b": (np.int64, 1)},
        ["y"],
    )
    with pytest.raises(ModelError, match=r"RoiAlign roi\): takes as many samples as a region is large.*give it a sampling_ratio"):
        program(made, {"x": floats(1, 1, 4, 4), "r": floats(1, 4), "b": np.zeros(1, np.int64)})


def test_a_pooling_undone_by_the_indices_of_the_run() -> None:
    nodes = [
        node("MaxPool", ["x"], ["p", "i"], kernel_shape=[2, 2], strides=[2, 2]),
        node("MaxUnpool", ["p", "i"], ["y"], kernel_shape=[2, 2], strides=[2, 2]),
    ]
    made = model(nodes, {"x": (np.float32, 2, 3, 6, 8)}, ["y"])
    agree(made, {"x": floats(2, 3, 6, 8)})


@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("length", [12, 16, 21])
def test_transforms(length: int, onesided: int) -> None:
    weights = {"n": np.array(length), "a": np.array(1)}
    made = model([node("DFT", ["x", "n", "a"], ["y"], onesided=onesided)], {"x": (np.float32, 2, 16, 1)}, ["y"], weights, 20)
    agree(made, {"x": floats(2, 16, 1)}, 1e-4, 1e-4)
    if not onesided:
        back = node("DFT", ["x", "n", "a"], ["y"], inverse=1)
        agree(model([back], {"x": (np.float32, 2, 16, 2)}, ["y"], weights, 20), {"x": floats(2, 16, 2)}, 1e-4, 1e-5)


@pytest.mark.parametrize("onesided", [0, 1])
def test_short_time_transforms(onesided: int) -> None:
    weights = {"step": np.array(4), "w": np.hanning(10).astype(np.float32), "n": np.array(10)}
    one = node("STFT", ["x", "step", "w", "n"], ["y"], onesided=onesided)
    agree(model([one], {"x": (np.float32, 2, 40, 1)}, ["y"], weights, 17), {"x": floats(2, 40, 1)}, 1e-4, 1e-4)


def test_mel_weights() -> None:
    weights = {"b": np.array(8), "n": np.array(64), "r": np.array(8000), "l": np.float32(20), "h": np.float32(3800)}
    made = model(
        [node("MelWeightMatrix", list("bnrlh"), ["m"]), node("MatMul", ["x", "m"], ["y"])],
        {"x": (np.float32, 2, 33)},
        ["y"],
        weights,
    )
    agree(made, {"x": floats(2, 33)})


@pytest.mark.parametrize("op", ["Asin", "Acos", "Atan"])
def test_angles(op: str) -> None:
    made = model([node(op, ["x"], ["y"])], {"x": (np.float32, 400)}, ["y"])
    agree(made, {"x": np.linspace(-1, 1, 400, dtype=np.float32)}, 2e-6, 1e-6)


@pytest.mark.parametrize(
    ("given", "to"), [(np.float32, np.int32), (np.int64, np.float64), (np.int8, np.uint8), (np.float16, np.int16)]
)
def test_bits_as_another_type(given: Any, to: Any) -> None:
    code = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(to))
    made = model([node("BitCast", ["x"], ["y"], to=code)], {"x": (given, 2, 3)}, ["y"], opset=26)
    x = RNG.integers(-100, 100, (2, 3)).astype(given)
    np.testing.assert_array_equal(run(made, {"x": x})[0].view(given), x)
    with pytest.raises(ModelError, match="the bits of"):
        program(model([node("BitCast", ["x"], ["y"], to=9)], {"x": (np.int32, 2)}, ["y"], opset=26), {"x": np.zeros(2, np.int32)})
