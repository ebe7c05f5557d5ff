"""A model stored as IR text, with its weights and inputs beside it, and how it is run and compared.

`model.json` names the arrays and the IR (`model.mlir`). It is read as text and arrays; nothing in it is executed or unpickled.
`fleet cosim <model.json>` runs it; below a folder `bundles` it is a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fleet.compare.signature import FailureSignature
from fleet.core.file_kinds import MODEL_BUNDLE as MODEL
from fleet.core.files import RecordPair
from fleet.errors import DeviceError, ModelError
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.program import Program
from fleet.ir.text import parse_ir, print_ir
from fleet.isa.registry import description_hash, find_device
from fleet.streams.bundle import check_extent
from fleet.transforms.entry import program_of

TEXT = "model.mlir"
_MOST_TEXT = 16 << 20


@dataclass(frozen=True)
class ModelBundle:
    """Record of a stored model, beside its IR and arrays.

    engines, device, memory, seed, lowering: as `CosimOptions`. weights, inputs: names of arrays. outputs: names of results.
    description_hash: of the device's set; empty without a device. expect: "passes" or "diverges" (then by `signature`).
    """

    name: str
    engines: tuple[str, ...]
    device: str | None
    memory: str
    seed: int
    lowering: LoweringOptions
    weights: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    description_hash: str
    expect: str
    signature: FailureSignature | None
    story: str

    def check_description(self, where: str) -> None:
        """Raise DeviceError if the installed description is not the one that the bundle was made for."""
        if self.device is None:
            return
        instruction_set, device = find_device(self.device)
        now = description_hash(instruction_set, device)
        if now != self.description_hash:
            what = f"made for description {self.description_hash[:16]}, {self.device} has {now[:16]}"
            raise DeviceError(what, where=where, hint=f"make it again with `fleet stream renew {where}`")


_STORED = RecordPair(ModelBundle, "model", 1, "model")


def save_model_bundle(folder: Path, bundle: ModelBundle, program: Program, inputs: Mapping[str, np.ndarray]) -> Path:
    """Write `folder/model.json`, its IR and its arrays; return the JSON's path. Hash, names and outputs are filled in."""
    made_for = description_hash(*find_device(bundle.device)) if bundle.device else ""
    weights = {a.name: np.asarray(program.weights[a.name]) for a in program.arguments if a.kind == "weight"}
    names = tuple(a.name for a in program.inputs)
    whole = replace(bundle, description_hash=made_for, weights=tuple(weights), inputs=names, outputs=program.outputs)
    arrays = {**{f"weight:{k}": v for k, v in weights.items()}, **{f"input:{k}": inputs[k] for k in whole.inputs}}
    return _STORED.save(folder / MODEL, whole, arrays, beside={folder / TEXT: print_ir(program.module)})


def load_model_bundle(path: Path) -> tuple[ModelBundle, Program, dict[str, np.ndarray]]:
    """Return the bundle, its program and inputs. Raises ModelError if a part is missing or does not fit."""
    path = path / MODEL if path.is_dir() else path
    check_extent(path)
    bundle, arrays = _STORED.load(path)
    text = path.parent / TEXT
    try:
        if text.stat().st_size > _MOST_TEXT:
            raise ModelError(f"more than {_MOST_TEXT:,} bytes of IR", where=str(text))
        module = parse_ir(text.read_text(encoding="utf-8"), str(text))
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"the IR cannot be read ({error})", where=str(text)) from error
    try:
        weights = {k: arrays[f"weight:{k}"] for k in bundle.weights}
        inputs = {k: arrays[f"input:{k}"] for k in bundle.inputs}
    except KeyError as error:
        raise ModelError(f"the array {error} is missing", where=str(path)) from error
    program = program_of(module, weights, str(path))
    if len(program.outputs) != len(bundle.outputs):
        raise ModelError(f"{len(bundle.outputs)} outputs are named, the IR has {len(program.outputs)}", where=str(path))
    for a in program.inputs:
        if a.name not in inputs or inputs[a.name].shape != a.shape or inputs[a.name].dtype != a.dtype:
            raise ModelError(f"input {a.name} is missing or of another shape or dtype", where=str(path))
    return bundle, replace(program, outputs=bundle.outputs), inputs
