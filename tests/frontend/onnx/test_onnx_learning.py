"""Operators of ai.onnx.ml beside onnxruntime: linear models, preparation of features, trees; labels that are text, ZipMap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx_models import model, node, program, reference, run

from fleet.engines.base import RunOptions
from fleet.engines.registry import find_engine
from fleet.errors import ModelError
from fleet.frontend.onnx.load import load

RNG = np.random.default_rng(5)
LEARNING = "ai.onnx.ml"
X = RNG.standard_normal((7, 4)).astype(np.float32)
WHOLE = RNG.integers(-1, 4, (7, 4))


def made(op: str, x: np.ndarray, outputs: int = 1, version: int = 3, **attributes: Any) -> onnx.ModelProto:
    names = [f"o{i}" for i in range(outputs)]
    found = model(
        [node(op, ["x"], names, op, domain=LEARNING, **attributes)], {"x": (x.dtype, *x.shape)}, names, domains=(LEARNING,)
    )
    found.opset_import[1].version = version
    return found


def same(found: onnx.ModelProto, x: np.ndarray) -> None:
    for got, want in zip(run(found, {"x": x}), reference(found, {"x": x}), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, 1e-5, 1e-6)


def numbers(*shape: int) -> list[float]:
    return RNG.standard_normal(shape).astype(np.float32).reshape(-1).tolist()


MISSING = np.where(X > 1, np.float32(np.nan), X)
COUNTED = {"keys_int64s": [0, 2, 3], "values_floats": [0.5, 2.5, 3.5], "default_float": -7.0}
HEARD = {"keys_floats": [float("nan"), 1.0], "values_int64s": [4, 5], "default_int64": 6}


@pytest.mark.parametrize(
    ("op", "x", "version", "attributes"),
    [
        ("Scaler", X, 1, {"offset": [0.5], "scale": [2.0]}),
        ("Scaler", WHOLE, 1, {"offset": numbers(4), "scale": numbers(4)}),
        *[("Normalizer", X, 1, {"norm": norm}) for norm in ("MAX", "L1", "L2")],
        ("Normalizer", X * 0, 1, {"norm": "L2"}),
        ("Imputer", MISSING, 1, {"imputed_value_floats": numbers(4), "replaced_value_float": float("nan")}),
        ("Imputer", WHOLE, 1, {"imputed_value_int64s": [9], "replaced_value_int64": -1}),
        ("LinearRegressor", X, 1, {"coefficients": numbers(3, 4), "intercepts": numbers(3), "targets": 3}),
        ("OneHotEncoder", WHOLE, 1, {"cats_int64s": [0, 1, 3], "zeros": 1}),
        ("LabelEncoder", WHOLE, 2, COUNTED),
        *[("LabelEncoder", np.array([1, np.nan, 3], np.float32), version, HEARD) for version in (2, 4)],
        ("Binarizer", X, 1, {"threshold": 0.25}),
        *[
            (
                "SVMRegressor",
                X,
                1,
                {
                    "kernel_type": kernel,
                    "kernel_params": [0.3, 0.2, 3.0],
                    "support_vectors": numbers(5, 4),
                    "n_supports": 5,
                    "coefficients": numbers(5),
                    "rho": [0.7],
                },
            )
            for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID")
        ],
    ],
)
def test_features_and_regressors(op: str, x: np.ndarray, version: int, attributes: dict[str, Any]) -> None:
    same(made(op, x, version=version, **attributes), x)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_linear_classifiers(transform: str, classes: int) -> None:
    labels = [3, 5, 9][: max(classes, 2)]
    found = made(
        "LinearClassifier",
        X,
        2,
        1,
        coefficients=numbers(classes, 4),
        intercepts=numbers(classes),
        classlabels_ints=labels,
        multi_class=1,
        post_transform=transform,
    )
    same(found, X)


MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def trees(modes: tuple[str, ...], *, missing: bool = False) -> dict[str, Any]:
    """Two trees: one of five nodes, one of three; leaves are 2, 3, 4 and 1, 2."""
    return {
        "nodes_treeids": [0] * 5 + [1] * 3,
        "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
        "nodes_featureids": [2, 0, 0, 0, 0, 1, 0, 0],
        "nodes_modes": [modes[0], modes[-1], "LEAF", "LEAF", "LEAF", modes[0], "LEAF", "LEAF"],
        "nodes_values": [0.5, float(X[3, 0]), 0.0, 0.0, 0.0, -0.25, 0.0, 0.0],
        "nodes_truenodeids": [1, 2, 0, 0, 0, 1, 0, 0],
        "nodes_falsenodeids": [4, 3, 0, 0, 0, 2, 0, 0],
        "nodes_missing_value_tracks_true": [int(missing)] * 8,
    }


LEAVES = ([0, 0, 0, 1, 1], [2, 3, 4, 1, 2])


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("modes", [*((m,) for m in MODES), ("BRANCH_LEQ", "BRANCH_GT"), ("BRANCH_LT", "BRANCH_EQ")])
def test_regressors_of_trees(aggregate: str, modes: tuple[str, ...]) -> None:
    ids, nodes = LEAVES
    found = made(
        "TreeEnsembleRegressor",
        X,
        **trees(modes),
        target_treeids=ids,
        target_nodeids=nodes,
        target_ids=[0, 1, 0, 0, 1],
        target_weights=numbers(5),
        n_targets=2,
        base_values=[0.5, -1.0],
        aggregate_function=aggregate,
    )
    same(found, X)


@pytest.mark.parametrize("missing", [False, True])
def test_nan_takes_the_branch_that_the_node_says(missing: bool) -> None:
    ids, nodes = LEAVES
    found = made(
        "TreeEnsembleRegressor",
        MISSING,
        **trees(("BRANCH_LEQ",), missing=missing),
        target_treeids=ids,
        target_nodeids=nodes,
        target_ids=[0] * 5,
        target_weights=numbers(5),
        n_targets=1,
    )
    assert np.isnan(MISSING).any()
    same(found, MISSING)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize(
    ("labels", "ids", "negative"),
    [([0, 1, 2], [0, 1, 2, 0, 1], True), ([4, 6], [0] * 5, False), ([4, 6], [1] * 5, False), ([4, 6], [0] * 5, True)],
)
def test_classifiers_of_trees(transform: str, labels: list[int], ids: list[int], negative: bool) -> None:
    weights = np.array(numbers(5))
    found = made(
        "TreeEnsembleClassifier",
        X,
        2,
        **trees(("BRANCH_LEQ",)),
        class_treeids=LEAVES[0],
        class_nodeids=LEAVES[1],
        class_ids=ids,
        class_weights=(weights if negative else np.abs(weights) / 4).tolist(),
        classlabels_int64s=labels,
        post_transform=transform,
    )
    same(found, X)


def test_the_best_of_two_classes_with_scores_of_their_own() -> None:
    """onnxruntime names the second class here whenever its score is positive; the definition says the best."""
    ids, nodes = LEAVES
    weights = [0.9, 0.2, 0.1, 0.8, 0.3]
    found = made(
        "TreeEnsembleClassifier",
        X,
        2,
        **trees(("BRANCH_LEQ",)),
        class_treeids=ids * 2,
        class_nodeids=nodes * 2,
        class_ids=[0] * 5 + [1] * 5,
        class_weights=[*weights, *(1 - w for w in weights)],
        classlabels_int64s=[4, 6],
    )
    label, scores = run(found, {"x": X})
    np.testing.assert_allclose(scores, reference(found, {"x": X})[1], 1e-6)
    np.testing.assert_array_equal(label, np.array([4, 6])[scores.argmax(1)])
    assert len(set(label.tolist())) == 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ensembles_of_the_newer_form_with_membership(dtype: Any) -> None:
    """The node tests of ONNX have more of it."""
    x = np.array([[1.2], [3.0], [2.0], [4.5], [0.0]], dtype)
    found = made(
        "TreeEnsemble",
        x,
        version=5,
        n_targets=2,
        tree_roots=[0],
        nodes_featureids=[0, 0],
        nodes_splits=numpy_helper.from_array(np.array([4.0, 0.0], dtype)),
        nodes_modes=numpy_helper.from_array(np.array([0, 6], np.uint8)),
        membership_values=numpy_helper.from_array(np.array([1.2, 3.0, np.nan], dtype)),
        nodes_truenodeids=[1, 0],
        nodes_trueleafs=[0, 1],
        nodes_falsenodeids=[2, 1],
        nodes_falseleafs=[1, 1],
        leaf_targetids=[0, 1, 0],
        leaf_weights=numpy_helper.from_array(np.array([5.0, 6.0, 7.0], dtype)),
    )
    (got,) = run(found, {"x": x})
    np.testing.assert_array_equal(got, np.array([[5, 0], [5, 0], [0, 6], [7, 0], [0, 6]], dtype))


def text_classifier(tmp_path: Path) -> Path:
    """As exporters of scikit-learn write it: labels of text, scores as dictionaries, a branch of the graph for the label alone."""
    weights = {"names": np.array(["no", "yes"], object), "w": np.array(numbers(4, 2), np.float32).reshape(4, 2)}
    nodes = [
        node("MatMul", ["x", "w"], ["scores"], "MatMul"),
        node("Softmax", ["scores"], ["probabilities"], "Softmax", axis=1),
        node("ArgMax", ["scores"], ["place"], "ArgMax", axis=1, keepdims=0),
        node("ArrayFeatureExtractor", ["names", "place"], ["label"], "Labels", domain=LEARNING),
        node("ZipMap", ["probabilities"], ["output_probability"], "ZipMap", domain=LEARNING, classlabels_strings=["no", "yes"]),
    ]
    found = model(nodes, {"x": (np.float32, "N", 4)}, ["output_probability"], weights, domains=(LEARNING,))
    found.graph.output.insert(0, helper.make_tensor_value_info("label", onnx.TensorProto.STRING, None))
    path = tmp_path / "text.onnx"
    onnx.save(found, path)
    return path


def test_text_is_left_out_and_dictionaries_are_arrays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import onnxruntime

    path = text_classifier(tmp_path)
    made_of = load(str(path), {}, {"x": X})
    assert made_of.outputs == ("probabilities",)
    said = capsys.readouterr().err
    assert "output label is text" in said
    assert "a column each for no, yes" in said
    whole = onnx.load(path)
    whole.graph.output.append(helper.make_tensor_value_info("probabilities", onnx.TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(whole.SerializeToString(), providers=["CPUExecutionProvider"])
    scores = np.asarray(session.run(["probabilities"], {"x": X})[0])
    for engine in ("vm", "onnxruntime"):
        trace = find_engine(engine).engine.run(made_of, {"x": X}, RunOptions())
        np.testing.assert_allclose(trace.outputs["probabilities"], scores, 1e-6)


@pytest.mark.parametrize(
    ("attribute", "value", "what"),
    [
        ("nodes_truenodeids", [1, 0, 0, 0, 0, 1, 0, 0], "form no trees"),
        ("nodes_falsenodeids", [9, 3, 0, 0, 0, 2, 0, 0], "leads to one that is not there"),
        ("nodes_featureids", [40, 0, 0, 0, 0, 1, 0, 0], "ask for features 0 to 40, the input has 4"),
        ("nodes_modes", ["LEAF"] * 3, "one of each a node is expected"),
        ("nodes_modes", ["BRANCH_NO", *["LEAF"] * 7], "its mode 'BRANCH_NO' is not supported"),
    ],
)
def test_trees_that_are_none(attribute: str, value: list[Any], what: str) -> None:
    ids, nodes = LEAVES
    given = trees(("BRANCH_LEQ",)) | {attribute: value}
    leaves: dict[str, Any] = {"target_treeids": ids, "target_nodeids": nodes, "target_ids": [0] * 5, "target_weights": numbers(5)}
    with pytest.raises(ModelError, match=what):
        program(made("TreeEnsembleRegressor", X, **given, **leaves), {"x": X})


def test_columns_joined_to_features() -> None:
    one = node("FeatureVectorizer", ["a", "b"], ["y"], domain=LEARNING, inputdimensions=[4, 1])
    found = model([one], {"a": (np.float32, 7, 4), "b": (np.float32, 7, 1)}, ["y"], domains=(LEARNING,))
    inputs = {"a": X, "b": X[:, :1] * 3}
    np.testing.assert_array_equal(run(found, inputs)[0], reference(found, inputs)[0])
    found.graph.node[0].attribute[0].ints[1] = 2
    with pytest.raises(ModelError, match="an input of 1 features, its inputdimensions say 2"):
        program(found, inputs)


@pytest.mark.parametrize(
    ("op", "attributes", "what"),
    [
        ("LinearRegressor", {"coefficients": [1.0] * 5, "targets": 1}, "5 coefficients for 4 features and 1 results"),
        ("LinearRegressor", {"coefficients": [1.0] * 4, "post_transform": "PROBIT"}, "post_transform PROBIT is not supported"),
        (
            "LinearClassifier",
            {"coefficients": [1.0] * 12, "intercepts": [1.0] * 3, "classlabels_ints": [1]},
            "1 labels for 3 classes",
        ),
        ("OneHotEncoder", {"cats_strings": ["a"]}, "compares float32 with text"),
        ("OneHotEncoder", {"cats_int64s": [1], "zeros": 0}, "fails for a class that it does not know"),
        ("LabelEncoder", {"keys_strings": ["a"], "values_int64s": [1]}, "compares float32 with text"),
        ("Normalizer", {"norm": "L3"}, "norm L3 is not supported"),
    ],
)
def test_what_no_tensor_of_numbers_has_is_named(op: str, attributes: dict[str, Any], what: str) -> None:
    with pytest.raises(ModelError, match=what):
        program(made(op, X, 2 if op == "LinearClassifier" else 1, version=2, **attributes), {"x": X})
