"""Calibration: run a model's lowered program on data with the VM, and measure the inputs of its products."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from fleet.compare.bounds.golden_values import Values
from fleet.core.scratch import Scratch
from fleet.cosim.models.data import load_arrays
from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.vm import ENGINE as VM
from fleet.errors import ModelError
from fleet.frontend.onnx.choice import ModelChoice, is_onnx
from fleet.frontend.source import signature
from fleet.ir import dialect as d
from fleet.ir.calibration import RANGES, Calibration, largest
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.operations import composite as c
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype, shape_of
from fleet.isa.registry import find_device
from fleet.targets.accel.compile import lowered_program

_MOST_VALUES = 1 << 20
"""Values of a tensor that are kept for percentile and entropy; larger tensors are sampled evenly."""
_MOST_INPUTS = 4096
"""Largest number of inputs of a matrix for which second moments are kept."""

Progress = Callable[[float, str], None]


def products(program: Program) -> list[tuple[FleetOp, str]]:
    """Return the products of real activations with a weight matrix: (operation, name of the weight)."""
    found: list[tuple[FleetOp, str]] = []
    for op in program.operations():
        if isinstance(op, d.MatmulOp | c.LinearOp):
            name = _weight(program, op.operands[1])
            if name is not None and len(shape_of(op.operands[1].type)) == 2 and numpy_dtype(op.operands[0].type).kind == "f":
                found.append((op, name))
    return found


def calibrate(program: Program, samples: Sequence[Mapping[str, np.ndarray]], method: str = "percentile") -> Calibration:
    """Run a lowered program on samples and return the calibration.

    Args:
        program: as a target lowered it (`lowered_program`); its ids and weights are those of the calibration.
        samples: inputs by name, for one run each.
        method: how ranges are chosen, one of `RANGES`.

    Raises:
        ModelError: no samples, an unknown method, or a tensor that is not finite.
    """
    if not samples:
        raise ModelError("no sample was given", where="calibration")
    if method not in RANGES:
        largest(np.zeros(1), method)
    kept: dict[str, list[np.ndarray]] = {}
    moments: dict[str, np.ndarray] = {}
    rows: dict[str, int] = {}
    for inputs in samples:
        tensors = VM.run(program, inputs, RunOptions(keep_tensors=True)).tensors
        values = Values(program, inputs, tensors)
        for op, weight in products(program):
            x = np.asarray(values.of(op.operands[0]))
            if not np.isfinite(x).all():
                raise ModelError("its left operand is not finite on this data", where=f"calibration of {op_id(op)}")
            kept.setdefault(op_id(op), []).append(_thinned(x, _MOST_VALUES // len(samples)))
            flat = x.reshape(-1, x.shape[-1]).astype(np.float32)
            if flat.shape[1] <= _MOST_INPUTS:
                moments[weight] = moments.get(weight, np.float32(0)) + flat.T @ flat
                rows[weight] = rows.get(weight, 0) + flat.shape[0]
    seen = {name: (min(float(v.min()) for v in parts), max(float(v.max()) for v in parts)) for name, parts in kept.items()}
    ranges = {name: largest(np.concatenate(parts), method) for name, parts in kept.items()}
    return Calibration(method, len(samples), ranges, seen, {name: m / rows[name] for name, m in moments.items()})


def calibrate_model(
    spec: str,
    weights: Path | None,
    data: Path,
    device: str,
    folder: Path,
    *,
    method: str = "percentile",
    progress: Progress | None = None,
) -> Path:
    """Calibrate a model for a device; return the file that the compile option "calibration" names.

    Args:
        spec, weights: the model, as for `load_model`.
        data: an .npz with the model's inputs. If each has one additional leading axis, each index of it is a sample.
        device: device whose lowering is calibrated. folder: where the file is written.
        method: as for `calibrate`. progress: called with the finished fraction and words.

    Raises:
        FleetError: as `load_model` and `calibrate`.
    """
    report = progress or _silent
    instruction_set, _ = find_device(device)
    program: Program | None = None
    samples: list[Mapping[str, np.ndarray]] = []
    with Scratch("calibrate") as scratch:
        files = _samples(spec, data, scratch)
        for i, file in enumerate(files):
            report(0.5 * i / len(files), f"reading sample {i + 1} of {len(files)}")
            loaded = load_model(spec, weights, file, 0, None)
            if loaded.random:
                raise ModelError(f"holds no {', '.join(loaded.random)}", where=str(data), hint="calibration needs every input")
            if program is not None and loaded.program.hash != program.hash:
                raise ModelError(
                    "its samples give programs that differ", where=str(data), hint="inputs that are bound must be the same in all"
                )
            program = loaded.program
            samples.append(loaded.inputs)
    assert program is not None
    report(0.5, "running the model")
    return calibrate(lowered_program(program, instruction_set), samples, method).save(folder)


def _samples(spec: str, data: Path, folder: Path) -> list[Path]:
    """Return one file per sample: the file itself, or a file for each index of the additional leading axis of its arrays."""
    whole = ModelChoice(ModelChoice.of(spec).path, dims=ModelChoice.of(spec).dims).spec if is_onnx(spec) else spec
    arrays = load_arrays(data, what="calibration data")
    ranks = {a.name: len(a.dims) for s in {whole, spec} for a in signature(s) if a.dims is not None}
    known = {name: array for name, array in arrays.items() if name in ranks}
    if not known or any(array.ndim != ranks[name] + 1 for name, array in known.items()):
        return [data]
    sizes = {array.shape[0] for array in known.values()}
    if len(sizes) != 1 or 0 in sizes:
        counts = " and ".join(str(n) for n in sorted(sizes))
        raise ModelError(f"has {counts} samples", where=str(data), hint="give as many of each input")
    made: list[Path] = []
    for i in range(sizes.pop()):
        made.append(folder / f"{i}.npz")
        one: dict[str, Any] = {name: array[i] for name, array in known.items()}
        np.savez(made[-1], **one)
    return made


def _silent(_fraction: float, _words: str) -> None:
    pass


def _weight(program: Program, value: SSAValue) -> str | None:
    if not isinstance(value, BlockArgument):
        return None
    argument = program.arguments[value.index]
    return argument.name if argument.kind == "weight" else None


def _thinned(x: np.ndarray, most: int) -> np.ndarray:
    """Return at most about `most` values, evenly sampled, and always the smallest and the largest."""
    flat = x.reshape(-1)
    step = -(-flat.size // max(most, 1))
    return flat if step <= 1 else np.concatenate([flat[::step], [flat.min(), flat.max()]]).astype(flat.dtype)
