"""Removes unused weights (such as a mask that attention implies, or the origin of a folded weight)."""

from __future__ import annotations

from fleet.transforms.edit import Edit
from fleet.transforms.passes import plain


def _apply(edit: Edit) -> None:
    edit.drop_unused_weights()


PASS = plain("drop-weights", "take out weights that nothing uses", "bits", _apply, adds_weights=False)
