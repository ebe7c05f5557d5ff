"""Files in the manner of exporters of scikit-learn and LightGBM: pipelines with labels of text, dictionaries of scores, trees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from strangers import FileOf, StrangerFile, at, scores_of, stranger

F = np.float32
ML = "ai.onnx.ml"


def _sklearn() -> FileOf:
    f = FileOf(15, "skl2onnx", style="{kind}_{n}")
    f.domains[ML] = 1
    return f


def _ended(f: FileOf, labels: str, scores: str, names: list[str]) -> dict[str, tuple[object, ...]]:
    """The end that skl2onnx gives every classifier: a label, and a dictionary for each row by ZipMap."""
    f.node("Cast", [labels], out="output_label", to=8)
    f.node("ZipMap", [scores], out="output_probability", domain=ML, classlabels_strings=names)
    return {"output_label": ("string", None), "output_probability": (scores_of(8),)}


@stranger
def sklearn_logistic_pipeline(folder: Path) -> StrangerFile:
    """StandardScaler, LogisticRegression with three named classes."""
    f = _sklearn()
    x = f.node("Scaler", ["X"], domain=ML, offset=f.floats(4).tolist(), scale=[1.0, 2.0, 0.5, 1.5])
    names = ["setosa", "versicolor", "virginica"]
    f.node("LinearClassifier", [x], out=["label", "raw"], domain=ML, classlabels_strings=names, post_transform="SOFTMAX",
           coefficients=f.floats(12).tolist(), intercepts=f.floats(3).tolist(), multi_class=1)  # fmt: skip
    scores = f.node("Normalizer", ["raw"], domain=ML, norm="L1")
    return at(folder, "logistic", f.model({"X": (F, None, 4)}, _ended(f, "label", scores, names)), {"X": f.floats(7, 4)})


@stranger
def sklearn_support_vectors(folder: Path) -> StrangerFile:
    """SVC with an RBF kernel, three classes, probabilities by Platt's method."""
    f = _sklearn()
    names, counts = ["a", "b", "c"], [3, 4, 3]
    f.node("SVMClassifier", ["X"], out=["label", "probabilities"], domain=ML, classlabels_strings=names, kernel_type="RBF",
           kernel_params=[0.3, 0.0, 3.0], vectors_per_class=counts, support_vectors=f.floats(40).tolist(), post_transform="NONE",
           coefficients=f.floats(20).tolist(), rho=f.floats(3).tolist(), prob_a=[-1.5, -0.9, -1.2],
           prob_b=[0.1, -0.2, 0.05])  # fmt: skip
    return at(folder, "svc", f.model({"X": (F, None, 4)}, _ended(f, "label", "probabilities", names)), {"X": f.floats(9, 4)})


@stranger
def sklearn_forest_of_columns(folder: Path) -> StrangerFile:
    """A column of text through OneHotEncoder beside numbers through Imputer and Scaler, then a random forest."""
    f = _sklearn()
    hot = f.node("OneHotEncoder", ["city"], domain=ML, cats_strings=["Bern", "Oslo", "Rome"], zeros=1)
    hot = f.node("Reshape", [hot, f.integers(-1, 3)])
    numbers = f.node("Imputer", ["numbers"], domain=ML, imputed_value_floats=[0.5, -0.5], replaced_value_float=float("nan"))
    numbers = f.node("Scaler", [numbers], domain=ML, offset=[0.1, 0.2], scale=[1.0, 2.0])
    x = f.node("Concat", [hot, numbers], axis=1)
    trees = 3
    f.node(
        "TreeEnsembleClassifier", [x], out=["label", "probabilities"], domain=ML, classlabels_strings=["no", "yes"],
        nodes_treeids=[t for t in range(trees) for _ in range(5)], nodes_nodeids=[0, 1, 2, 3, 4] * trees,
        nodes_featureids=[3, 1, 0, 0, 0, 4, 0, 0, 0, 0, 2, 4, 0, 0, 0], nodes_values=[0.2, 0.5, 0, 0, 0] * trees,
        nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"] * trees,
        nodes_truenodeids=[1, 2, 0, 0, 0] * trees, nodes_falsenodeids=[4, 3, 0, 0, 0] * trees,
        class_treeids=[t for t in range(trees) for _ in range(6)], class_nodeids=[2, 2, 3, 3, 4, 4] * trees,
        class_ids=[0, 1] * (3 * trees), class_weights=[0.3, 0.03, 0.1, 0.23, 0.2, 0.13] * trees, post_transform="NONE",
    )  # fmt: skip
    ports = {"city": ("string", None, 1), "numbers": (F, None, 2)}
    made = f.model(ports, _ended(f, "label", "probabilities", ["no", "yes"]))
    numbers_given = f.floats(6, 2)
    numbers_given[1, 0] = np.nan
    city = np.array([["Oslo"], ["Rome"], ["Bern"], ["Paris"], ["Rome"], ["Oslo"]])
    return at(folder, "forest", made, {"city": city, "numbers": numbers_given})


@stranger
def lightgbm_ranks(folder: Path) -> StrangerFile:
    """onnxmltools' LightGBM: one class's raw scores, whole labels, ZipMap."""
    f = FileOf(15, "OnnxMLTools", style="{kind}_{n}")
    f.domains[ML] = 1
    f.node(
        "TreeEnsembleClassifier", ["input"], out=["label_tensor", "probability_tensor"], domain=ML, classlabels_int64s=[0, 1],
        nodes_treeids=[0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 0, 1, 2], nodes_featureids=[0, 0, 0, 2, 0, 0],
        nodes_values=[0.1, 0, 0, -0.3, 0, 0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"] * 2,
        nodes_missing_value_tracks_true=[1, 0, 0, 0, 0, 0], nodes_hitrates=[1.0] * 6,
        nodes_truenodeids=[1, 0, 0, 1, 0, 0], nodes_falsenodeids=[2, 0, 0, 2, 0, 0], class_treeids=[0, 0, 1, 1],
        class_nodeids=[1, 2, 1, 2], class_ids=[0, 0, 0, 0], class_weights=[-0.7, 0.4, 0.2, -0.1], post_transform="LOGISTIC",
    )  # fmt: skip
    f.node("Cast", ["label_tensor"], out="label", to=7)
    f.node("ZipMap", ["probability_tensor"], out="probabilities", domain=ML, classlabels_int64s=[0, 1])
    made = f.model({"input": (F, "N", 3)}, {"label": (np.int64, "N"), "probabilities": (scores_of(7),)})
    return at(folder, "lightgbm", made, {"input": f.floats(8, 3)})


@stranger
def sklearn_nearest_neighbours(folder: Path) -> StrangerFile:
    """KNeighborsClassifier: distances by Scan, TopK, ArrayFeatureExtractor, votes by ReduceSum of Equal."""
    from onnx import helper

    f = _sklearn()
    known = f.weight(f.floats(12, 3), "training")
    port = helper.make_tensor_value_info
    body = [
        helper.make_node("Sub", ["next_in", "next"], ["cdistd_17_C0"]),
        helper.make_node("ReduceSumSquare", ["cdistd_17_C0"], ["norm"], axes=[1], keepdims=0),
        helper.make_node("Identity", ["next_in"], ["next_out"]),
        helper.make_node("Identity", ["norm"], ["scan_out"]),
    ]
    scan = helper.make_graph(body, "cdist", [port("next_in", 1, [None, 3]), port("next", 1, [3])],
                             [port("next_out", 1, [None, 3]), port("scan_out", 1, [None])])  # fmt: skip
    f.node("Scan", [known, "X"], out=["kept", "squared"], num_scan_inputs=1, body=scan)
    f.node("TopK", [f.node("Sqrt", ["squared"]), f.integers(3)], out=["near", "places"], axis=1, largest=0, sorted=1)
    flat = f.node("Reshape", ["places", f.integers(-1)])
    labels = f.weight(f.rng.integers(0, 3, (1, 12)), "classes")
    votes = f.node("Reshape", [f.node("ArrayFeatureExtractor", [labels, flat], domain=ML), f.node("Shape", ["places"])])
    counts = [
        f.node("ReduceSum", [f.node("Cast", [f.node("Equal", [votes, f.integers(c)])], to=1), f.integers(1)], keepdims=1)
        for c in range(3)
    ]
    shares = f.node("Concat", counts, axis=1)
    best = f.node("ArgMax", [shares], axis=1, keepdims=0)
    f.node("ArrayFeatureExtractor", [f.integers(5, 7, 9), best], out="picked", domain=ML)
    f.node("Reshape", ["picked", f.integers(-1)], out="output_label")
    f.node("Div", [shares, f.weight(np.array(3, F))], out="output_probability")
    made = f.model({"X": (F, None, 3)}, {"output_label": (np.int64, None), "output_probability": (F, None, 3)})
    return at(folder, "neighbours", made, {"X": f.floats(5, 3)})


@stranger
def sklearn_words(folder: Path) -> StrangerFile:
    """TfidfVectorizer of words already separated, and a linear model: text goes in."""
    f = _sklearn()
    f.node(
        "TfIdfVectorizer", ["words"], out="counts", mode="TF", max_gram_length=1, min_gram_length=1, max_skip_count=0,
        ngram_counts=[0], ngram_indexes=[0, 1, 2], pool_strings=["bad", "fine", "good"],
    )  # fmt: skip
    idf = f.node("Mul", ["counts", f.weight(np.array([[1.5, 1.2, 1.1]], F))])
    x = f.node("Normalizer", [idf], domain=ML, norm="L2")
    f.node("LinearClassifier", [x], out=["label", "scores"], domain=ML, classlabels_ints=[0, 1], post_transform="LOGISTIC",
           coefficients=f.floats(6).tolist(), intercepts=f.floats(2).tolist(), multi_class=0)  # fmt: skip
    made = f.model({"words": ("string", None, 4)}, {"label": (np.int64, None), "scores": (F, None, 2)})
    words = np.array([["good", "fine", "day", "good"], ["bad", "bad", "day", "fine"]])
    return at(folder, "words", made, {"words": words})
