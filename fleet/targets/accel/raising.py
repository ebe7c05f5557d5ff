"""Finds the composite operations of an instruction set's patterns in a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fleet.errors import DeviceError
from fleet.ir.program import Program
from fleet.transforms.passes import find_pass
from fleet.transforms.pipeline import PIPELINES, Pipeline
from fleet.transforms.products.widen_heads import widen_heads

_PASSES: Mapping[str, str] = {
    "softmax": "raise-softmax",
    "layer_norm": "raise-norm",
    "rms_norm": "raise-norm",
    "gelu": "raise-activation",
    "silu": "raise-activation",
    "sigmoid": "raise-activation",
    "rope": "raise-rope",
    "attention": "raise-attention",
    "linear": "fuse-linear",
}
"""Composite -> the pass that finds it. An attention is found by its softmax."""


def raised(program: Program, composites: Sequence[str], head_channels: Sequence[int] = (), passes: Sequence[str] = ()) -> Program:
    """Return the program after the target's pipeline, with only those raising passes that find these composites.

    The same object if the passes change nothing, or if no composites are requested: then a set's patterns take unchanged
    models. Raises DeviceError if no pass finds a composite.

    head_channels: sizes of an attention's head that the set takes; smaller heads are padded with zeros (`widen_heads`).
    passes: passes of the set that run before everything else.
    """
    if unknown := [name for name in composites if name not in _PASSES]:
        raise DeviceError(f"no composite operation is called {unknown[0]}", hint=f"there are {', '.join(_PASSES)}")
    if passes:
        first = Pipeline("first", tuple(find_pass(name) for name in passes)).run(program)[0]
        program = program if str(first.module) == str(program.module) else first
    if not composites:
        return program
    wanted = {_PASSES[name] for name in composites}
    names = [name for name in PIPELINES["accel"] if name in wanted or name not in _PASSES.values()]
    found = program
    # Pad heads before layers are fused: the zeros go into the weights of single products. By then a mask is a reshaped weight.
    at = names.index("raise-attention") + 1 if head_channels and "attention" in composites else len(names)
    for part in (names[:at], ["fold-weights", *names[at:]] if names[at:] else []):
        if part and found is not program:
            found = widen_heads(found, head_channels)
        found = Pipeline("accel", tuple(find_pass(name) for name in part)).run(found)[0] if part else found
    return program if str(found.module) == str(program.module) else found
