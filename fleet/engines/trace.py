"""The trace: the record of an engine's run, in one form for all engines, so that any two can be compared.

A trace has two alignments (docs/architecture.md):
  operations   `tensors[op id]`, for engines of every kind;
  commits      one record per accelerator instruction, in program order, for `iss` and `rtl`.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from fleet.core.archives import check_archive
from fleet.core.codec import NOT_STORED, Json, decode, encode_record, is_list, is_table
from fleet.core.files import replacing
from fleet.engines.evidence import Evidence
from fleet.errors import ModelError

CYCLE_CLASSES: tuple[str, ...] = ("compute", "weight_wait", "activation_wait", "write_back", "issue", "dependency")
"""Every cycle of an instruction belongs to exactly one of these; an assertion in the RTL checks the sum."""


@dataclass(frozen=True)
class Commit:
    """One accelerator instruction made architecturally visible.

    Attributes:
        seq: position in program order, from 0, over the whole run (all tasks).
        instruction: its name in the instruction set ("mvm_bn").
        ops: ids of the IR operations that it implements; the last one is its result.
        digest: sum modulo 2^64 of the mix of (space, offset, byte) over the bytes written (`fleet.isa.digest`).
        bytes_written: bytes written to all destinations.
        result: value of the unit's result register (argmax) after the commit; None if it has none.
        start, end: cycles since the run's first; None for engines without a clock.
        cycles: class -> cycles (`CYCLE_CLASSES`), summing to end - start; empty without a clock.
        token_range: [first, last) rows of the batch that it computes; None if not applicable.
        error: the cause with which it was refused, 0 for an instruction that ran. Only conformance tests keep refused commits.
    """

    seq: int
    instruction: str
    ops: tuple[str, ...]
    digest: int
    bytes_written: int
    result: int | None = None
    start: int | None = None
    end: int | None = None
    cycles: Mapping[str, int] = field(default_factory=dict)
    token_range: tuple[int, int] | None = None
    error: int = 0


@dataclass
class Trace:
    """Result of one engine's run.

    Attributes:
        engine: "vm", "iss", "rtl", "riscv", "cpython", ...
        program_hash: `Program.hash` of the program that ran, with its weights (the rounded golden has another).
        outputs: output name -> array, as the model returns it.
        tensors: operation id -> array, in the operation's own shape and in the engine's own dtype.
        device: device name, None off the accelerator.
        description_hash: hash of description, semantics and device file (`InstructionSet.hash`); None off the accelerator.
        commits: see `Commit`; empty off the accelerator.
        placement: operation id -> "device", "riscv" or "host"; empty if everything runs in one place.
        counters: name -> number, e.g. "cycles", "instructions", "macs", "hbm_read_bytes", "ddr_read_bytes",
            "ddr_write_bytes", "hbm_port_bytes.<p>"; per operation "instructions.<op id>". Names have the unit unless it is a count.
        meta: tool versions, seed, memory model, host steps, quantisation: JSON values only.
        elapsed_s: wall time of the run itself, without set-up and compilation.
        stopped: number of the last commit of a run that ended there because the commit differs from `RunOptions.expected`;
            such a trace is not complete.
        evidence: proof that this engine made it, see `fleet.engines.evidence`; by default that of a model.
        complete: False until the engine sets it at the very end; an incomplete trace never compares equal.
    """

    engine: str
    program_hash: str
    outputs: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray], metadata=NOT_STORED)
    tensors: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray], metadata=NOT_STORED)
    device: str | None = None
    description_hash: str | None = None
    commits: list[Commit] = field(default_factory=list)
    placement: dict[str, str] = field(default_factory=dict)
    counters: dict[str, float] = field(default_factory=dict)
    meta: dict[str, Json] = field(default_factory=dict[str, Json])
    elapsed_s: float = 0.0
    complete: bool = False
    stopped: int | None = None
    evidence: Evidence = field(default_factory=Evidence)

    def save(self, path: Path) -> None:
        """Write `path` (one .npz: arrays and a JSON header) under a temporary name, then rename it.

        Raises FleetError if it cannot be written.
        """
        header = {**encode_record(self), "outputs": list(self.outputs), "tensors": list(self.tensors)}
        arrays = {f"o{i}": a for i, a in enumerate(self.outputs.values())}
        arrays |= {f"t{i}": a for i, a in enumerate(self.tensors.values())}
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
        with replacing(path) as f:
            np.savez(f, **arrays)  # pyright: ignore[reportArgumentType]

    @classmethod
    def load(cls, path: Path) -> Trace:
        """Read the output of `save`; nothing is unpickled. Raises ModelError if the file is not a complete trace."""
        try:
            check_archive(path, str(path))
            with np.load(path, allow_pickle=False) as z:
                header: object = json.loads(z["header"].tobytes())
                if not is_table(header):
                    raise ValueError("its header is not a table")
                outputs = {name: z[f"o{i}"] for i, name in enumerate(_names(header, "outputs"))}
                tensors = {name: z[f"t{i}"] for i, name in enumerate(_names(header, "tensors"))}
            return replace(decode(cls, header, str(path), "trace"), outputs=outputs, tensors=tensors)
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            raise ModelError(f"not a whole trace ({error})", where=str(path), hint="run it again") from error


def _names(header: dict[str, Json], key: str) -> list[str]:
    """Remove and return the names of arrays in a header. Raises ValueError."""
    names = header.pop(key, None)
    if not is_list(names):
        raise ValueError(f"its {key} are not listed")
    return [str(name) for name in names]
