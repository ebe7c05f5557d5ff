"""Linear models and preparation of features: operators of ai.onnx.ml, as exporters of scikit-learn write them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, binary, concat, unary, where
from fleet.frontend.onnx.call import NodeCall, NodeValue
from fleet.frontend.onnx.operators.normalisation import softmax
from fleet.frontend.onnx.registry import LEARNING, operator

_FLOATS: list[float] = []
_INTEGERS: list[int] = []
_TEXTS: list[str] = []
_TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")


def floats(n: NodeCall, name: str) -> np.ndarray:
    """An attribute of floats, float32; empty where the node has none."""
    return np.asarray(n.attribute(name, _FLOATS), np.float32)


def integers(n: NodeCall, name: str) -> np.ndarray:
    """An attribute of integers, int64; empty where the node has none."""
    return np.asarray(n.attribute(name, _INTEGERS), np.int64)


def listed(n: NodeCall, name: str, x: OnnxArray) -> np.ndarray:
    """Numbers of the texts that an attribute lists and x is compared with. Raises ModelError where x is not text."""
    found = n.words(name)
    if found.size and x.dtype != np.int64:
        n.refuse(f"compares {x.dtype} with text")
    return found


def rows_of(n: NodeCall) -> OnnxArray:
    """The first input as rows of features; one of rank 1 is one row. Raises ModelError for other ranks."""
    x = n.x
    if x.rank not in (1, 2):
        n.refuse(f"features of rank {x.rank}, expected rows of features")
    return x.unsqueeze(0) if x.rank == 1 else x


def transformed(n: NodeCall, scores: OnnxArray, transform: str) -> OnnxArray:
    """Scores [rows, classes] after the node's post_transform. Raises ModelError for one that is not supported."""
    if transform not in _TRANSFORMS:
        n.refuse(f"its post_transform {transform} is not supported", f"supported are {', '.join(_TRANSFORMS)}")
    match transform:
        case "LOGISTIC":
            return unary("sigmoid", scores)
        case "SOFTMAX":
            return softmax(scores, 1)
        case "SOFTMAX_ZERO":  # a score of 0 stays 0
            top = scores.max([1], keepdims=True)
            powers = where(unary("abs", scores) > 1e-7, unary("exp", scores - top), scores * unary("exp", -top))
            return powers / powers.sum([1], keepdims=True)
        case _:
            return scores


def label_of(n: NodeCall, places: OnnxArray, numbers: str, classes: int) -> OnnxArray | None:
    """Labels of classes [rows]; None where they are text, which no tensor of a program carries.

    Raises ModelError where there are not as many as classes.
    """
    labels = integers(n, numbers)
    if not labels.size:
        if n.attribute("classlabels_strings", _TEXTS):
            return None
        n.refuse(f"has no {numbers}")
    if labels.size != classes:
        n.refuse(f"{labels.size} labels for {classes} classes")
    return n.constant(labels).take(places)


def two_scores(score: OnnxArray, transform: str, *, shares: bool) -> OnnxArray:
    """Scores of two classes [rows, 2] made of the second one's [rows, 1].

    shares: the score is a probability, and the first class has the rest; else it is a distance, and the first has its negative.
    """
    if transform == "LOGISTIC":
        return unary("sigmoid", concat([-score, score], 1))
    return concat([1 - score if shares else -score, score], 1)


def _product(n: NodeCall, rows: int) -> OnnxArray:
    """Features by the node's coefficients, [rows of coefficients, features], and its intercepts."""
    x, factors, shift = rows_of(n).astype(np.float32), floats(n, "coefficients"), floats(n, "intercepts")
    if factors.size != rows * x.shape[1]:
        n.refuse(f"{factors.size} coefficients for {x.shape[1]} features and {rows} results")
    found = x @ n.constant(np.ascontiguousarray(factors.reshape(rows, -1).T))
    return found + n.constant(shift) if shift.size else found


@operator("LinearRegressor", domain=LEARNING)
def _linear_regressor(n: NodeCall) -> OnnxArray:
    return transformed(n, _product(n, n.attribute("targets", 1)), n.attribute("post_transform", "NONE"))


@operator("LinearClassifier", domain=LEARNING)
def _linear_classifier(n: NodeCall) -> Sequence[NodeValue]:
    transform = n.attribute("post_transform", "NONE")
    labels = len(integers(n, "classlabels_ints")) or len(n.attribute("classlabels_strings", _TEXTS))
    classes = floats(n, "intercepts").size or labels
    scores = _product(n, classes)
    if classes == 1:
        place = (scores > (0.5 if transform == "LOGISTIC" and labels != 2 else 0.0)).astype(np.int64).squeeze(1)
    else:
        place = n.build.emit("argmax", [scores], axis=1)
    if (classes, labels) == (1, 2):  # the second class's score; the first has what is left to 1, whatever the score is
        found = two_scores(scores, transform, shares=True)
    else:
        found = transformed(n, scores, transform)
    return [label_of(n, place, "classlabels_ints", max(classes, 2)), found]


@operator("Scaler", domain=LEARNING)
def _scaler(n: NodeCall) -> OnnxArray:
    x = n.x.astype(np.float32)
    return (x - n.constant(floats(n, "offset"))) * n.constant(floats(n, "scale"))


@operator("Normalizer", domain=LEARNING)
def _normalizer(n: NodeCall) -> OnnxArray:
    x, norm = n.x.astype(np.float32), n.attribute("norm", "MAX")
    axis = x.rank - 1
    match norm:
        case "MAX":
            size = x.max([axis], keepdims=True)
        case "L1":
            size = unary("abs", x).sum([axis], keepdims=True)
        case "L2":
            size = unary("sqrt", (x * x).sum([axis], keepdims=True))
        case _:
            n.refuse(f"its norm {norm} is not supported", "supported are MAX, L1, L2")
    return x / where(size.equal(0), size.like(1), size)


@operator("Imputer", domain=LEARNING)
def _imputer(n: NodeCall) -> OnnxArray:
    x = n.x
    if x.dtype.kind == "f":
        filled = floats(n, "imputed_value_floats").astype(x.dtype)
        sought = n.attribute("replaced_value_float", 0.0)
    else:
        filled = integers(n, "imputed_value_int64s").astype(x.dtype)
        sought = n.attribute("replaced_value_int64", 0)
    if filled.size not in (1, x.shape[-1]):
        n.refuse(f"{filled.size} values for {x.shape[-1]} features")
    missing = unary("isnan", x) if isinstance(sought, float) and math.isnan(sought) else x.equal(sought)
    return where(missing, n.constant(filled).broadcast_to(*x.shape), x)


@operator("FeatureVectorizer", domain=LEARNING)
def _feature_vectorizer(n: NodeCall) -> OnnxArray:
    sizes = [int(d) for d in integers(n, "inputdimensions")] or [-1] * len(n.values)
    parts: list[OnnxArray] = []
    for x, size in zip(n.arrays(), sizes, strict=True):
        rows = x.unsqueeze(0) if x.rank == 1 else x.reshape(x.shape[0], -1)
        if size >= 0 and rows.shape[1] != size:
            n.refuse(f"an input of {rows.shape[1]} features, its inputdimensions say {size}")
        parts.append(rows.astype(np.float32))
    return concat(parts, 1)


@operator("OneHotEncoder", domain=LEARNING)
def _one_hot_encoder(n: NodeCall) -> OnnxArray:
    classes = np.concatenate([integers(n, "cats_int64s"), listed(n, "cats_strings", n.x)])
    if not n.attribute("zeros", 1):
        n.refuse("fails for a class that it does not know (zeros=0), as no program can", "export it with handle_unknown='ignore'")
    found = n.x.astype(np.int64)
    return found.unsqueeze(found.rank).equal(n.constant(classes)).astype(np.float32)


@operator("LabelEncoder", domain=LEARNING)
def _label_encoder(n: NodeCall) -> OnnxArray:
    """Keys to values; the first key that fits decides. NaN is a key from version 4 of the operator."""
    keys, values = _entries(n, "keys"), _entries(n, "values")
    if keys is None or values is None or keys.dtype.kind not in "fi" or values.dtype.kind not in "fi":
        n.refuse("encodes text that is not listed, which is not supported", "begin behind it with --from")
    if n.has("keys_strings"):
        listed(n, "keys_strings", n.x)
    if keys.size != values.size:
        n.refuse(f"{keys.size} keys and {values.size} values")
    default = n.attribute("default_tensor", np.zeros(0))
    if not default.size:
        default = np.asarray(n.attribute("default_int64", -1) if values.dtype.kind == "i" else n.attribute("default_float", 0.0))
    table = np.concatenate([values.reshape(-1), default.reshape(-1)[:1].astype(values.dtype)])
    x = n.x.unsqueeze(n.x.rank)
    known = n.constant(keys.reshape(-1).astype(n.x.dtype))
    n.bounded(n.x.size, keys.size)
    same = x.equal(known)
    if n.opset >= 4 and keys.dtype.kind == "f" and np.isnan(keys).any():
        same = binary("logical_or", same, binary("logical_and", unary("isnan", x), unary("isnan", known)))
    places = where(same, n.constant(np.arange(keys.size, dtype=np.int64)), keys.size)
    return n.constant(table).take(places.min([x.rank - 1]))


def _entries(n: NodeCall, side: str) -> np.ndarray | None:
    """The node's keys or values, of text its numbers; None where they are a tensor of something else."""
    if n.has(f"{side}_tensor"):
        return n.attribute(f"{side}_tensor", np.zeros(0))
    if n.has(f"{side}_strings"):
        return n.words(f"{side}_strings")
    for kind, dtype in (("int64s", np.int64), ("floats", np.float32)):
        if n.has(f"{side}_{kind}"):
            return np.asarray(n.attribute(f"{side}_{kind}", _FLOATS), dtype)
    return None
