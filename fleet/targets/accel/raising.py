"""Finding in a model the composite operations that an instruction set's patterns ask for."""

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
    """The program after the target's pipeline, of whose raising passes only those run that find these composites.

    The very same object where they change nothing, and where no composites are asked for: then a set's patterns take models as
    they come. Raises DeviceError for a composite that no pass finds.

    head_channels: sizes of an attention's head that the set takes; smaller heads are filled with zeros (`widen_heads`).
    passes: what the set wants done before everything else.
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
    # Heads are filled before layers are fused: zeros go into the weights of single products. A mask is a weight reshaped by then.
    at = names.index("raise-attention") + 1 if head_channels and "attention" in composites else len(names)
    for part in (names[:at], ["fold-weights", *names[at:]] if names[at:] else []):
        if part and found is not program:
            found = widen_heads(found, head_channels)
        found = Pipeline("accel", tuple(find_pass(name) for name in part)).run(found)[0] if part else found
    return program if str(found.module) == str(program.module) else found
