"""Weights that nothing uses any more (a mask that attention knows by itself, what a folded weight was made of)."""

from __future__ import annotations

from fleet.transforms.edit import Edit
from fleet.transforms.passes import plain

__all__ = ["PASS"]


def _apply(edit: Edit) -> None:
    edit.drop_unused_weights()


PASS = plain("drop-weights", "take out weights that nothing uses", "bits", _apply)
