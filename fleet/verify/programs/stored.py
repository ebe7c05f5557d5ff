"""Stored programs: `<name>.py` beside `<name>.json` with the arrays as numbers, the engines, and the failure.

A folder of them is collected as tests: a program that failed once must agree, or be refused, from then on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fleet.core.files import write_atomically
from fleet.errors import ModelError
from fleet.verify.programs.oracle import ComparedProgram
from fleet.verify.programs.parts.values import DTYPES, ProgramArray

_AGAIN = "see `fleet fuzz --help`"


def save_program(folder: Path, model: ComparedProgram, story: str, *, name: str = "") -> Path:
    """Write both files and return the program's path. name: default derived from the content. Raises FleetError."""
    name = name or hashlib.sha256(model.source.encode()).hexdigest()[:12]
    arrays = {n: {"dtype": a.dtype.name, "shape": list(a.shape), "values": a.reshape(-1).tolist()} for n, a in model.arrays.items()}
    table = {
        "story": story, "engines": list(model.engines), "device": model.device, "weights": list(model.weights), "arrays": arrays,
    }  # fmt: skip
    path = folder / f"{name}.py"
    write_atomically(path.with_suffix(".json"), (json.dumps(table, indent=1) + "\n").encode())
    write_atomically(path, model.source.encode())
    return path


def load_program(path: Path) -> tuple[ComparedProgram, str]:
    """Return the model and its story. Raises ModelError if the files are incomplete."""
    beside = path.with_suffix(".json")
    try:
        source, table = path.read_text(encoding="utf-8"), json.loads(beside.read_text(encoding="utf-8"))
        arrays = {str(n): _array(a) for n, a in table["arrays"].items()}
        engines, weights = (tuple(map(str, table[k])) for k in ("engines", "weights"))
        device = None if table["device"] is None else str(table["device"])
        return ComparedProgram(source, arrays, weights, engines, device), str(table["story"])
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"not a stored program ({type(error).__name__}: {error})"
        raise ModelError(what, where=str(beside), hint=_AGAIN) from error


def _array(table: Any) -> ProgramArray:
    if table["dtype"] not in DTYPES:
        raise ValueError(f"dtype {table['dtype']}")
    return np.array(table["values"], table["dtype"]).reshape([int(n) for n in table["shape"]])


def find_programs(folder: Path) -> Iterator[Path]:
    """Yield all programs of a folder, by name."""
    yield from sorted(p for p in folder.glob("*.py") if p.with_suffix(".json").exists())
