"""What can be wrong with an ONNX model, as errors of fleet and as requests between the parts of the front end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from fleet.errors import ModelError

_SHOWN = 40


class NeedsInputs(Exception):
    """Values of these inputs decide a shape, an axis or a branch; they must be bound before the model can be read."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(", ".join(sorted(names)))
        self.names = names


def refuse(where: str, what: str, hint: str | None = None) -> NoReturn:
    """Raises ModelError."""
    raise ModelError(what, where=where, hint=hint)


def unsupported(where: str, found: Sequence[tuple[str, Sequence[str]]], remedy: str = "") -> ModelError:
    """One error for all operators that are not supported: each with its nodes. remedy: what to do beside looking them up."""
    lines: list[str] = []
    for name, nodes in found[:_SHOWN]:
        more = f" and {len(nodes) - 5} more" if len(nodes) > 5 else ""
        lines.append(f"  {name}: {', '.join(nodes[:5])}{more}")
    if len(found) > _SHOWN:
        lines.append(f"  and {len(found) - _SHOWN} more operators")
    names = "operator is" if len(found) == 1 else "operators are"
    return ModelError(
        f"{len(found)} {names} not supported",
        where=where,
        hint="`fleet help onnx-operators` lists what is" + (f"; {remedy}" if remedy else ""),
        detail="\n".join(lines),
    )
