"""Weights that are turned, reshaped or cut before they are used become weights that lie so.

For devices whose patterns take models as they come: `fold-weights` would fold casts and scales as well, which are part of what
such patterns match.
"""

from __future__ import annotations

from fleet.transforms.edit import Edit
from fleet.transforms.passes import plain
from fleet.transforms.simplify.fold_weights import MOVES, fold_pure

__all__ = ["PASS"]


def _apply(edit: Edit) -> None:
    fold_pure(edit, MOVES)


PASS = plain("fold-weight-views", "make weights of weights that are turned, reshaped or cut", "bits", _apply)
