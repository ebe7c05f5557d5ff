"""Dead code elimination: removes operations with unused results. Prints, and what they need, stay."""

from __future__ import annotations

from fleet.transforms.edit import Edit
from fleet.transforms.passes import plain


def _apply(edit: Edit) -> None:
    edit.sweep()


PASS = plain("dce", "take out operations whose results nothing uses", "bits", _apply, adds_weights=False)
