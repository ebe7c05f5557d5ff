"""Support vector machines of ai.onnx.ml beside onnxruntime: kernels, classes, probabilities, labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_models import model, node, program, reference, run

from fleet.errors import ModelError

RNG = np.random.default_rng(8)
LEARNING = "ai.onnx.ml"


def numbers(*shape: int, scale: float = 1.0) -> list[float]:
    return (RNG.standard_normal(shape) * scale).astype(np.float32).reshape(-1).tolist()


def classifier(classes: int, *, kernel: str, probabilities: bool, transform: str = "NONE", **other: Any) -> Any:
    counts = [2 + c % 2 for c in range(classes)]
    total, pairs = sum(counts), classes * (classes - 1) // 2
    how: dict[str, Any] = {
        "kernel_type": kernel, "kernel_params": [0.4, 0.3, 2.0], "vectors_per_class": counts, "support_vectors": numbers(total, 4),
        "coefficients": numbers(classes - 1, total), "rho": numbers(pairs, scale=0.3), "post_transform": transform,
        "classlabels_ints": [3 * c + 1 for c in range(classes)],
    }  # fmt: skip
    if probabilities:
        how |= {"prob_a": (-np.abs(np.array(numbers(pairs))) - 0.5).tolist(), "prob_b": numbers(pairs, scale=0.2)}
    how = {name: value for name, value in (how | other).items() if value is not None}
    made = model(
        [node("SVMClassifier", ["x"], ["label", "scores"], "svm", domain=LEARNING, **how)], {"x": (np.float32, 23, 4)},
        ["label", "scores"], domains=(LEARNING,),
    )  # fmt: skip
    made.opset_import[1].version = 1
    return made


def same(made: Any) -> None:
    x = {"x": RNG.standard_normal((23, 4)).astype(np.float32)}
    (label, scores), (wanted, expected) = run(made, x), reference(made, x)
    assert (label.dtype, scores.dtype, scores.shape) == (wanted.dtype, expected.dtype, expected.shape)
    np.testing.assert_array_equal(label, wanted)
    np.testing.assert_allclose(scores, expected, 2e-5, 2e-6)


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("probabilities", [False, True])
@pytest.mark.parametrize("kernel", ["RBF", "LINEAR", "POLY", "SIGMOID"])
def test_classes_by_vectors(classes: int, probabilities: bool, kernel: str) -> None:
    same(classifier(classes, kernel=kernel, probabilities=probabilities))


@pytest.mark.parametrize("transform", ["LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize(("classes", "probabilities"), [(2, False), (3, False), (3, True)])
def test_scores_that_are_transformed(transform: str, classes: int, probabilities: bool) -> None:
    same(classifier(classes, kernel="RBF", probabilities=probabilities, transform=transform))


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("positive", [False, True])
def test_linear_scores_without_vectors(classes: int, positive: bool) -> None:
    factors = np.array(numbers(classes, 4), np.float32)
    factors = np.abs(factors) if positive else factors
    bare = {"vectors_per_class": None, "support_vectors": None, "coefficients": factors.reshape(-1).tolist(), "rho": [0.1]}
    same(classifier(classes, kernel="LINEAR", probabilities=False, **bare))


@pytest.mark.parametrize(
    ("attribute", "value", "what"),
    [("coefficients", [1.0], "do not fit 3 classes of 4 features"), ("prob_a", [1.0], "1 and 3 numbers in prob_a and prob_b"),
     ("kernel_type", "OTHER", "its kernel OTHER is not supported"), ("classlabels_ints", [1], "labels of 1 classes")],
)  # fmt: skip
def test_machines_that_do_not_fit(attribute: str, value: Any, what: str) -> None:
    made = classifier(3, kernel="RBF", probabilities=True, **{attribute: value})
    with pytest.raises(ModelError, match=what):
        program(made, {"x": np.zeros((23, 4), np.float32)})


def test_a_machine_of_one_class() -> None:
    made = model(
        [node("SVMRegressor", ["x"], ["y"], "one", domain=LEARNING, one_class=1, n_supports=5, rho=[-0.05],
              support_vectors=numbers(5, 4),
              coefficients=[0.6, -0.5, 0.4, -0.3, 0.2], kernel_type="RBF", kernel_params=[0.4, 0.0, 3.0])],
        {"x": (np.float32, 40, 4)}, ["y"], domains=(LEARNING,),
    )  # fmt: skip
    x = {"x": RNG.standard_normal((40, 4)).astype(np.float32)}
    (found,), (wanted,) = run(made, x), reference(made, x)
    assert set(wanted.reshape(-1)) == {-1.0, 1.0}
    np.testing.assert_array_equal(found, wanted)
