"""Folds transposes, reshapes and slices of weights into the weights.

For devices whose patterns match models as they are: `fold-weights` would also fold casts and scales, which are part of these
patterns.
"""

from __future__ import annotations

from fleet.transforms.edit import Edit
from fleet.transforms.passes import plain
from fleet.transforms.simplify.fold_weights import MOVES, fold_pure


def _apply(edit: Edit) -> None:
    fold_pure(edit, MOVES)


PASS = plain("fold-weight-views", "make weights of weights that are turned, reshaped or cut", "bits", _apply, adds_weights=False)
