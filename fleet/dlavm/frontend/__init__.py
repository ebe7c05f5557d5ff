"""Builds graphs from ONNX and from NumPy source, which is read and never executed (see `fleet.frontend.source`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fleet.cosim.models.loaded import load_model
from fleet.dlavm.device.base_accel import Accel
from fleet.frontend.source import load, sample_inputs, signature
from fleet.ir.accel.nodes import Node
from fleet.isa.registry import find_device, instruction_sets
from fleet.symbols.expr import Var
from fleet.targets.accel.compile import lowered_program
from fleet.transforms.conversion.from_program import from_program

__all__ = ["from_numpy", "from_onnx", "load", "sample_inputs", "signature"]


def from_onnx(model: str | Path, device: Accel | str | None = None, token: Var | None = None, dims: Sequence[Var] = ()) -> Node:
    """Return the graph of an ONNX model, without types: `transform.infer_type` and `transform.fuse` come next.

    Args:
        model: the file.
        device: determines which groups of operations become one (norms, softmax, activations). None: the first installed set that
            supports graphs.
        token: the dimension of the rows; None: as many as the model's shapes state.
        dims: free dimensions of the model that stay free, by their names: `ne.Var("batch", max_data=64)`.

    Raises ModelError, with the operation and its place, if no graph operator computes it.
    """
    return _graph(str(model), device, token, dims)


def from_numpy(
    model: str, device: Accel | str | None = None, token: Var | None = None, weights: str | Path | None = None,
    dims: Sequence[Var] = (),
) -> Node:  # fmt: skip
    """Return the graph of "path.py:function". weights: an .npz file; the others as `from_onnx`."""
    return _graph(model, device, token, dims, None if weights is None else Path(weights))


def _graph(model: str, device: Accel | str | None, token: Var | None, dims: Sequence[Var], weights: Path | None = None) -> Node:
    if device is None:
        instruction_set = next(s for s in instruction_sets().values() if s.tasks is not None)
    else:
        instruction_set, _ = find_device(device.device.name if isinstance(device, Accel) else device)
    program = load_model(model, weights, None, 0, None, [v.name for v in dims]).program
    return from_program(lowered_program(program, instruction_set), token, dims)
