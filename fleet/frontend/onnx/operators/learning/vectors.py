"""Support vector machines of ai.onnx.ml: kernels, decisions between each two classes, votes, and probabilities of pairs joined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, concat, maximum, minimum, unary, where
from fleet.frontend.onnx.call import NodeCall, NodeValue
from fleet.frontend.onnx.operators.learning.classical import floats, integers, label_of, rows_of, transformed, two_scores
from fleet.frontend.onnx.registry import LEARNING, operator

_TEXTS: list[str] = []
_KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")
_ROUNDS = 100
"""Rounds in which probabilities of pairs are joined, at most."""
_NEAR = 1e-7
"""Probabilities of pairs keep this distance from 0 and 1."""


@operator("SVMRegressor", domain=LEARNING)
def _svm_regressor(n: NodeCall) -> OnnxArray:
    x = rows_of(n).astype(np.float32)
    factors, count = floats(n, "coefficients"), n.attribute("n_supports", 0)
    kernel = n.attribute("kernel_type", "LINEAR")
    vectors = floats(n, "support_vectors").reshape(count, -1) if count else factors.reshape(1, -1)
    if vectors.shape[1] != x.shape[1]:
        n.refuse(f"vectors of {vectors.shape[1]} features, the input has {x.shape[1]}")
    found = _kernel(n, x, vectors, kernel if count else "LINEAR")
    if count:
        found = found @ n.constant(np.ascontiguousarray(factors.reshape(-1, count).T))
    found = found + n.constant(floats(n, "rho"))
    if n.attribute("one_class", 0):  # whether it is one of the class
        found = where(found > 0.0, 1.0, found.like(-1.0))
    return transformed(n, found, n.attribute("post_transform", "NONE"))


def _kernel(n: NodeCall, x: OnnxArray, vectors: np.ndarray, kind: str) -> OnnxArray:
    """A kernel of every row with every vector, [rows, vectors]."""
    if kind not in _KERNELS:
        n.refuse(f"its kernel {kind} is not supported", f"supported are {', '.join(_KERNELS)}")
    gamma, shift, degree = (*floats(n, "kernel_params").tolist(), 0.0, 0.0, 0.0)[:3]
    product = x @ n.constant(np.ascontiguousarray(vectors.T))
    match kind:
        case "POLY":
            return (product * gamma + shift) ** product.like(degree)
        case "SIGMOID":
            return unary("tanh", product * gamma + shift)
        case "RBF":
            sizes = n.constant((vectors * vectors).sum(1))
            apart = (x * x).sum([1], keepdims=True) - product * 2 + sizes
            return unary("exp", maximum(apart, 0) * -gamma)
        case _:
            return product


@operator("SVMClassifier", domain=LEARNING)
def _svm_classifier(n: NodeCall) -> Sequence[NodeValue]:
    labels = len(integers(n, "classlabels_ints")) or len(n.attribute("classlabels_strings", _TEXTS))
    if labels < 2:
        n.refuse(f"has labels of {labels} classes, expected two and more")
    transform = n.attribute("post_transform", "NONE")
    x, factors = rows_of(n).astype(np.float32), floats(n, "coefficients")
    counts, shifts = integers(n, "vectors_per_class"), floats(n, "rho")
    if not counts.sum():  # without vectors: a linear score a class
        if factors.size != labels * x.shape[1] or not shifts.size:
            n.refuse(f"{factors.size} coefficients for {x.shape[1]} features and {labels} classes")
        scores = x @ n.constant(np.ascontiguousarray(factors.reshape(labels, -1).T)) + n.constant(shifts[:1])
        place = n.build.emit("argmax", [scores], axis=1)
        if labels == 2:
            best = scores.max([1])
            sure = best >= 0.5 if (factors >= 0).all() else best > 0.0
            place = where(sure, 1, place)
        return [label_of(n, place, "classlabels_ints", labels), transformed(n, scores, transform)]
    decisions = _decisions(n, x, factors, counts, shifts, labels)
    pairs = _pairs(labels)
    votes: list[OnnxArray] = []
    for c in range(labels):
        won = [decisions.part(1, k, 1) > 0.0 for k, (i, _) in enumerate(pairs) if i == c]
        won += [unary("logical_not", decisions.part(1, k, 1) > 0.0) for k, (_, j) in enumerate(pairs) if j == c]
        votes.append(concat([v.astype(np.int32) for v in won], 1).sum([1], keepdims=True))
    label = label_of(n, n.build.emit("argmax", [concat(votes, 1)], axis=1), "classlabels_ints", labels)
    first, second = floats(n, "prob_a"), floats(n, "prob_b")
    if first.size:
        if first.size != len(pairs) or second.size != len(pairs):
            n.refuse(f"{first.size} and {second.size} numbers in prob_a and prob_b, expected {len(pairs)}")
        bent = unary("sigmoid", decisions * n.constant(first) + n.constant(second))
        return [label, transformed(n, _joined(n, minimum(maximum(1 - bent, _NEAR), 1 - _NEAR), labels), transform)]
    if labels == 2:
        return [label, two_scores(decisions, transform, shares=transform != "NONE")]
    return [label, transformed(n, decisions, transform)]


def _pairs(classes: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(classes) for j in range(i + 1, classes)]


def _decisions(n: NodeCall, x: OnnxArray, factors: np.ndarray, counts: np.ndarray, shifts: np.ndarray, classes: int) -> OnnxArray:
    """Decisions between each two classes [rows, pairs]: the kernels with the vectors of both, by their coefficients.

    Coefficients are [classes - 1, vectors]: a row of class c has those against the classes before it, then those behind it.
    """
    total, pairs = int(counts.sum()), _pairs(classes)
    vectors = floats(n, "support_vectors")
    if (
        counts.size != classes
        or factors.size != (classes - 1) * total
        or vectors.size != total * x.shape[1]
        or shifts.size < len(pairs)
    ):
        n.refuse(
            f"{counts.tolist()} vectors a class, {vectors.size} numbers of vectors, {factors.size} coefficients and {shifts.size} "
            f"shifts do not fit {classes} classes of {x.shape[1]} features"
        )
    begin = np.cumsum(counts) - counts
    table, of_pairs = factors.reshape(classes - 1, total), np.zeros((total, len(pairs)), np.float32)
    for k, (i, j) in enumerate(pairs):
        for own, row in ((i, j - 1), (j, i)):
            part = slice(begin[own], begin[own] + counts[own])
            of_pairs[part, k] = table[row, part]
    kernels = _kernel(n, x, vectors.reshape(total, -1), n.attribute("kernel_type", "LINEAR"))
    return kernels @ n.constant(of_pairs) + n.constant(shifts[: len(pairs)])


def _joined(n: NodeCall, first: OnnxArray, classes: int) -> OnnxArray:
    """Probabilities of classes [rows, classes] out of those of the first class of each pair [rows, pairs].

    The second method of Wu, Lin and Weng, "Probability Estimates for Multi-class Classification by Pairwise Coupling": a row is
    left as it is once its error is below 0.005 / classes. The program has the rounds that the given rows need.
    """
    each = range(classes)
    place = {pair: k for k, pair in enumerate(_pairs(classes))}
    share = {
        (i, j): first.part(1, place[i, j], 1) if i < j else 1 - first.part(1, place[j, i], 1) for i in each for j in each if i != j
    }
    q: dict[tuple[int, int], OnnxArray] = {}
    for i in each:
        squares = [share[j, i] * share[j, i] for j in each if j != i]
        q[i, i] = sum(squares[1:], squares[0])
        q |= {(i, j): -(share[j, i] * share[i, j]) for j in each if j != i}
    rows = [concat([q[i, j] for j in each], 1) for i in each]
    p = n.constant(np.full((1, classes), 1 / classes, np.float32)).broadcast_to(first.shape[0], classes)
    limit = float(np.float32(0.005) / np.float32(classes))
    for turn in range(_ROUNDS):
        qp = concat([(row * p).sum([1], keepdims=True) for row in rows], 1)
        whole = (p * qp).sum([1], keepdims=True)
        going = unary("abs", qp - whole).max([1], keepdims=True) >= limit
        if not n.build.general:
            values, _ = n.build.computed(going, "whether probabilities are joined cannot be computed while the model is read")
            if not values.any():
                done = unary("logical_not", going).reduce("reduce_all", [0, 1], False)
                n.build.holds(done, f"probabilities need more than the {turn} rounds for which the program was compiled")
                break
        new = p
        for i in each:
            change = (whole - qp.part(1, i, 1)) / q[i, i]
            new = new + n.constant(np.eye(1, classes, i, np.float32)) * change
            grown = change + 1
            whole = (whole + change * (change * q[i, i] + qp.part(1, i, 1) * 2)) / grown / grown
            qp = (qp + rows[i] * change) / grown
            new = new / grown
        p = where(going, new, p)
    return p
