"""Explains why something was not raised: the near misses of every idiom, gathered over a target's pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fleet.ir.dialect import op_id
from fleet.ir.operations.composite import covered_ids
from fleet.ir.program import Program
from fleet.transforms.edit import Edit
from fleet.transforms.pipeline import pipeline
from fleet.transforms.products.fuse_linear import fuse_linear
from fleet.transforms.raising.activation import raise_activations
from fleet.transforms.raising.attention import raise_attention
from fleet.transforms.raising.norm import raise_norms
from fleet.transforms.raising.rope import raise_rope
from fleet.transforms.raising.search import Miss, RaisingSite
from fleet.transforms.raising.softmax import raise_softmax

_SEARCHES: Mapping[str, Callable[[RaisingSite], None]] = {
    "raise-softmax": raise_softmax,
    "raise-norm": raise_norms,
    "raise-activation": raise_activations,
    "raise-rope": raise_rope,
    "raise-attention": raise_attention,
    "fuse-linear": fuse_linear,
}


def explain(program: Program, pipeline_name: str = "riscv") -> tuple[Miss, ...]:
    """Return the near misses of a pipeline, in the order in which they were met, without those that were raised later."""
    edit = Edit(program)
    misses: list[Miss] = []
    for one in pipeline(pipeline_name).passes:
        if one.name in _SEARCHES:
            _SEARCHES[one.name](RaisingSite(edit, misses))
        else:
            one.apply(edit)
    raised = {i for op in edit.operations() for i in (*covered_ids(op), *([op_id(op)] if covered_ids(op) else []))}
    return tuple(dict.fromkeys(m for m in misses if m.op not in raised))


def explanation(program: Program, pipeline_name: str = "riscv") -> str:
    """Return the near misses as text, one line each, or a line that there are none."""
    lines = [f"{m.idiom} at {m.op}{f' ({m.at})' if m.at else ''}: {m.why}" for m in explain(program, pipeline_name)]
    return "\n".join(lines or ["nothing nearly matched an idiom"]) + "\n"
