"""Ensembles of decision trees, of ai.onnx.ml: all trees of all rows go down one level at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, binary, concat, where
from fleet.frontend.onnx.call import NodeCall, NodeValue
from fleet.frontend.onnx.limits import MAX_UNROLLED
from fleet.frontend.onnx.operators.learning.classical import integers, label_of, rows_of, transformed, two_scores
from fleet.frontend.onnx.registry import LEARNING, operator

_TEXTS: list[str] = []

_MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ")
"""Comparisons of a node by TreeEnsemble's numbers; BRANCH_LEQ and so on in the older operators."""
_BELOW, _EQUAL, _ABOVE = ({0, 1, 5}, {0, 2, 4}, {2, 3, 5})
"""Modes that are true for a value below, equal to and above the split."""
_MEMBER = 6
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees in one table of nodes; a leaf leads to itself.

    Attributes:
        roots: int64 [trees]. feature: int64 [nodes]. split: float [nodes]. mode: int64 [nodes], places of `_MODES`.
        missing: bool [nodes], NaN takes the true branch. leaf: bool [nodes]. yes, no: int64 [nodes], the branches.
        weights: float [nodes, targets]. given: bool [nodes, targets], where a leaf has a weight.
    """

    roots: np.ndarray
    feature: np.ndarray
    split: np.ndarray
    mode: np.ndarray
    missing: np.ndarray
    leaf: np.ndarray
    yes: np.ndarray
    no: np.ndarray
    weights: np.ndarray
    given: np.ndarray

    def depth(self, n: NodeCall) -> int:
        """Steps from the roots until every row has met a leaf. Raises ModelError if the nodes form no trees."""
        there, steps = np.unique(self.roots), 0
        met = np.zeros(len(self.leaf), bool)
        met[there] = True
        while (there := np.unique(there[~self.leaf[there]])).size:
            steps += 1
            if steps > min(len(self.yes), MAX_UNROLLED):
                n.refuse("its nodes form no trees: a branch leads back, or it has more levels than are read")
            there = np.concatenate([self.yes[there], self.no[there]])
            met[there] = True
        if not met.all():
            n.refuse("its nodes form no trees: no root leads to some of them")
        return steps


def _reached(n: NodeCall, x: OnnxArray, forest: Forest) -> OnnxArray:
    """The leaf of every row and tree, [rows, trees]."""
    rows, features = x.shape
    inner = ~forest.leaf
    asked = forest.feature[inner]
    if asked.min(initial=0) < 0 or asked.max(initial=-1) >= features:
        n.refuse(f"its nodes ask for features {int(asked.min())} to {int(asked.max())}, the input has {features}")
    flat = x.reshape(rows * features)
    begin = n.constant(np.arange(rows, dtype=np.int64).reshape(rows, 1) * features)
    feature, split = n.constant(np.where(inner, forest.feature, 0)), n.constant(forest.split.astype(x.dtype))
    yes, no = n.constant(forest.yes), n.constant(forest.no)
    modes = set(forest.mode[inner].tolist())
    below, equal, above = (np.isin(forest.mode, list(m)) for m in (_BELOW, _EQUAL, _ABOVE))
    # NaN goes where the node says; a node that asks for "other than" finds it other
    lost = forest.missing | (forest.mode == _MODES.index("NEQ"))
    place = n.constant(forest.roots.reshape(1, -1)).broadcast_to(rows, len(forest.roots))
    for _ in range(forest.depth(n)):
        value, limit = flat.take(begin + feature.take(place)), split.take(place)
        match modes:
            case _ if modes <= {0}:
                answer = value <= limit
            case _ if modes <= {1}:
                answer = value < limit
            case _:
                answer = where(value < limit, n.constant(below).take(place), n.constant(above).take(place))
                answer = where(value.equal(limit), n.constant(equal).take(place), answer)
        if lost[inner].any() or not modes <= {0, 1}:
            answer = where(binary("not_equal", value, value), n.constant(lost).take(place), answer)
        place = where(answer, yes.take(place), no.take(place))
    return place


def _scores(
    n: NodeCall, forest: Forest, aggregate: str, base: np.ndarray, *, always: bool = False
) -> tuple[OnnxArray, OnnxArray | None]:
    """What the leaves of all trees give together [rows, targets], and whether one of them has a weight for it (None: always).

    base: what is added to a target; as in onnxruntime only where a leaf has a weight for it, unless `always`.
    """
    x = rows_of(n)
    if x.dtype.kind != "f":
        x = x.astype(np.float32)
    kind = np.float64 if x.dtype == np.float64 and forest.weights.dtype == np.float64 else np.float32
    leaves = _reached(n, x, forest)
    n.bounded(*forest.weights.shape)
    table = forest.weights.astype(kind)
    if aggregate in ("MIN", "MAX"):
        nothing = np.inf if aggregate == "MIN" else -np.inf
        found = n.constant(np.where(forest.given, table, kind(nothing))).take(leaves)
        found = found.min([1]) if aggregate == "MIN" else found.max([1])
        found = where(found.equal(nothing), found.like(0), found)
    elif aggregate in ("SUM", "AVERAGE"):
        found = n.constant(table).take(leaves).sum([1])
        found = found / len(forest.roots) if aggregate == "AVERAGE" else found
    else:
        n.refuse(f"its aggregate_function {aggregate} is not supported", f"supported are {', '.join(_AGGREGATES)}")
    shifted = found + n.constant(base.astype(kind)) if base.size else found
    ends = forest.given[forest.leaf]
    there = None if ends.all() else n.constant(forest.given).take(leaves).reduce("reduce_any", [1], False)
    return shifted if always or there is None else where(there, shifted, found), there


def _numbers(n: NodeCall, name: str) -> np.ndarray:
    """An attribute of floats, or of the tensor that stands in its place."""
    if n.has(f"{name}_as_tensor"):
        return n.attribute(f"{name}_as_tensor", np.zeros(0)).reshape(-1)
    empty: list[float] = []
    return np.asarray(n.attribute(name, empty), np.float32)


def _named_forest(n: NodeCall, side: str, targets: int, ids: np.ndarray) -> Forest:
    """The trees of TreeEnsembleRegressor and TreeEnsembleClassifier: nodes are named by tree and number."""
    trees, numbers = integers(n, "nodes_treeids"), integers(n, "nodes_nodeids")
    words = n.attribute("nodes_modes", _TEXTS)
    split, weights = _numbers(n, "nodes_values"), _numbers(n, f"{side}_weights")
    places = {key: i for i, key in enumerate(zip(trees.tolist(), numbers.tolist(), strict=True))}
    own = np.arange(len(places), dtype=np.int64)
    if not len(places) == len(trees) == len(words) == len(split):
        n.refuse(
            f"{len(places)} nodes of {len(trees)} names, {len(words)} modes, {len(split)} values: one of each a node is expected"
        )
    leaf = np.array([w == "LEAF" for w in words], bool)
    unknown = [w for w in words if w != "LEAF" and w.removeprefix("BRANCH_") not in _MODES]
    if unknown:
        n.refuse(f"its mode {unknown[0]!r:.40} is not supported", f"supported are {', '.join(_MODES)}")
    mode = np.array([0 if w == "LEAF" else _MODES.index(w.removeprefix("BRANCH_")) for w in words], np.int64)

    def branch(name: str) -> np.ndarray:
        to = integers(n, name).tolist()
        found = [i if leaf[i] else places.get((t, to[i]), -1) for i, t in enumerate(trees.tolist())]
        if -1 in found:
            n.refuse(f"its node {int(numbers[found.index(-1)])} leads to one that is not there")
        return np.asarray(found, np.int64)

    table = np.zeros((len(own), targets), weights.dtype)
    given = np.zeros(table.shape, bool)
    leaves = zip(integers(n, f"{side}_treeids").tolist(), integers(n, f"{side}_nodeids").tolist(), strict=True)
    for key, target, weight in zip(leaves, ids.tolist(), weights, strict=True):
        if key not in places or not 0 <= target < targets:
            n.refuse(f"a weight for node {key[1]} of tree {key[0]} and target {target}, one of which is not there")
        table[places[key], target] += weight
        given[places[key], target] = True
    missing = integers(n, "nodes_missing_value_tracks_true").astype(bool)
    yes, no = branch("nodes_truenodeids"), branch("nodes_falsenodeids")
    led = np.zeros(len(own), bool)
    led[np.concatenate([yes[~leaf], no[~leaf]])] = True
    roots = own[~led]
    if sorted(trees[roots].tolist()) != sorted(set(trees.tolist())):
        n.refuse("its nodes form no trees: one of them has no root, or several")
    return Forest(
        *(roots, integers(n, "nodes_featureids"), split, mode, missing if missing.size else np.zeros(len(own), bool)),
        *(leaf, yes, no, table, given),
    )


@operator("TreeEnsembleRegressor", domain=LEARNING)
def _regressor(n: NodeCall) -> OnnxArray:
    forest = _named_forest(n, "target", n.attribute("n_targets", 1), integers(n, "target_ids"))
    found, _ = _scores(n, forest, n.attribute("aggregate_function", "SUM"), _numbers(n, "base_values"))
    return transformed(n, found, n.attribute("post_transform", "NONE"))


@operator("TreeEnsembleClassifier", domain=LEARNING)
def _classifier(n: NodeCall) -> Sequence[NodeValue]:
    transform = n.attribute("post_transform", "NONE")
    labels = "classlabels_int64s"
    classes = len(integers(n, labels)) or len(n.attribute("classlabels_strings", _TEXTS))
    ids, base = integers(n, "class_ids"), _numbers(n, "base_values")
    single = classes == 2 and len(set(ids.tolist())) == 1  # one score decides
    forest = _named_forest(n, "class", 1 if single else classes, np.zeros_like(ids) if single else ids)
    scores, there = _scores(n, forest, "SUM", base[-1:] if single else base, always=True)
    scores = scores.astype(np.float32)
    if not single:
        known = scores if there is None else where(there, scores, -np.inf)
        place = n.build.emit("argmax", [known], axis=1)
        return [label_of(n, place, labels, classes), transformed(n, scores, transform)]
    shares = bool((forest.weights >= 0).all())
    place = (scores > (0.5 if shares else 0.0)).astype(np.int64).squeeze(1)
    if ids[0] == 0:  # it stands for the second class, and the first has what is left
        return [label_of(n, place, labels, classes), two_scores(scores, transform, shares=shares)]
    return [label_of(n, place, labels, classes), transformed(n, concat([scores * 0, scores], 1), transform)]


@operator("TreeEnsemble", domain=LEARNING)
def _ensemble(n: NodeCall) -> OnnxArray:
    """The newer form: inner nodes and leaves in tables of their own, addressed by their places."""
    nothing = np.zeros(0)
    split, leaves = (n.attribute(name, nothing).reshape(-1) for name in ("nodes_splits", "leaf_weights"))
    mode = n.attribute("nodes_modes", nothing).reshape(-1).astype(np.int64)
    inner, targets = len(split), n.attribute("n_targets", 1)
    feature, missing = integers(n, "nodes_featureids"), integers(n, "nodes_missing_value_tracks_true").astype(bool)
    total = inner + len(leaves)
    own = np.arange(total, dtype=np.int64)

    def branch(name: str, leaf: str) -> np.ndarray:
        to, ends = integers(n, name), integers(n, leaf).astype(bool)
        if not len(to) == len(ends) == len(mode) == len(feature) == inner:
            n.refuse(f"{inner} splits, {len(to)} {name}, {len(ends)} {leaf}, {len(mode)} modes, {len(feature)} features")
        found = np.concatenate([to + np.where(ends, inner, 0), own[inner:]])
        if found.size and (found.min() < 0 or found.max() >= total):
            n.refuse(f"its {name} lead to nodes that are not there")
        return found

    def padded(a: np.ndarray) -> np.ndarray:
        return np.concatenate([a, np.zeros(len(leaves), a.dtype)])

    ids = integers(n, "leaf_targetids")
    if len(ids) != len(leaves) or not all(0 <= i < targets for i in ids.tolist()):
        n.refuse(f"targets of {len(ids)} leaves for {len(leaves)} leaves and {targets} targets")
    table = np.zeros((total, targets), leaves.dtype)
    given = np.zeros(table.shape, bool)
    table[own[inner:], ids], given[own[inner:], ids] = leaves, True
    roots = integers(n, "tree_roots")
    if not roots.size or roots.min() < 0 or roots.max() >= inner:
        n.refuse(f"its tree_roots are no nodes: {roots.tolist()[:8]}")
    if not set(mode.tolist()) <= set(range(len(_MODES) + 1)):
        n.refuse(f"its nodes_modes are {sorted(set(mode.tolist()))}, expected 0 to {_MEMBER}")
    forest = Forest(
        *(roots, padded(feature), padded(split), padded(mode), padded(missing if missing.size else np.zeros(inner, bool))),
        own >= inner,
        *(branch("nodes_truenodeids", "nodes_trueleafs"), branch("nodes_falsenodeids", "nodes_falseleafs"), table, given),
    )
    forest = _expanded(n, forest, inner)
    aggregate, transform = n.attribute("aggregate_function", 1), n.attribute("post_transform", 0)
    if aggregate not in range(len(_AGGREGATES)) or transform not in range(len(_TRANSFORMS)):
        n.refuse(f"its aggregate_function {aggregate} or post_transform {transform} is unknown")
    found, _ = _scores(n, forest, _AGGREGATES[aggregate], np.zeros(0))
    return transformed(n, found, _TRANSFORMS[transform]).astype(n.x.dtype)


def _expanded(n: NodeCall, forest: Forest, inner: int) -> Forest:
    """Nodes that ask for membership of a set, as chains of nodes that ask for each member."""
    asking = np.flatnonzero(forest.mode[:inner] == _MEMBER)
    if not asking.size:
        return forest
    values = n.attribute("membership_values", np.zeros(0)).reshape(-1)
    sets: list[list[float]] = [[]]
    for value in values.tolist():
        if np.isnan(value):
            sets.append([])
        else:
            sets[-1].append(value)
    if len(sets) - 1 != len(asking) or sets[-1] or not all(sets[:-1]):
        n.refuse(f"membership_values of {len(sets) - 1} sets for {len(asking)} nodes, each ended by NaN and with a member")
    columns = {name: getattr(forest, name).tolist() for name in ("feature", "split", "mode", "missing", "leaf", "yes", "no")}
    for node, members in zip(asking.tolist(), sets, strict=False):
        last = columns["no"][node]
        at = node
        for i, member in enumerate(members):
            columns["split"][at], columns["mode"][at] = member, _MODES.index("EQ")
            columns["no"][at] = last
            if i + 1 < len(members):
                for column in columns.values():
                    column.append(column[node])
                columns["no"][at] = at = len(columns["no"]) - 1
    more = len(columns["mode"]) - len(forest.mode)
    arrays = {name: np.asarray(column, getattr(forest, name).dtype) for name, column in columns.items()}
    wide = ((0, more), (0, 0))
    return Forest(forest.roots, **arrays, weights=np.pad(forest.weights, wide), given=np.pad(forest.given, wide))
