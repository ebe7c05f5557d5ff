"""What a co-simulation ran: the model and the device by their hashes, the data, and each engine's run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fleet.cosim.identity import ContentHashes, Provenance

__all__ = ["DataProvenance", "DeviceFigures", "EngineRun", "RunIdentity"]

Status = Literal["ran", "failed", "not asked"]


@dataclass(frozen=True)
class DeviceFigures:
    """The device as pictures need it: clock, sizes and roofline limits (`fleet.sdk.Device`)."""

    name: str
    instruction_set: str
    clock_mhz: float
    parameters: Mapping[str, int]
    limits: Mapping[str, float]


@dataclass(frozen=True)
class RunIdentity:
    """What ran, so that two results can be told apart and the run can be made again. Hashes are SHA-256 hex.

    Attributes:
        model: as the user gave it ("examples/digits/model.py:forward").
        case: name of the case, None for a run by hand.
        source_hash: of the model's source text; weights_hash: of all weights; inputs_hash: of all inputs.
        program_hash: `Program.hash`; rounded_program_hash: the same of the rounded golden, None without it.
        description_hash: hash of description, semantics and device file; None without a device.
        rtl_hash: hash of RTL sources and parameters, None where the RTL did not run.
        tools: name -> version ("numpy", "verilator", "fleet", ...).
        memory, seed: as asked for.
        date: ISO 8601, given by the caller (nothing here reads a clock).
        command: one line that makes the same run again.
        content, provenance: what decides the figures, and what does not (`fleet.cosim.identity`); None in older results.
    """

    model: str
    case: str | None
    source_hash: str
    weights_hash: str
    inputs_hash: str
    program_hash: str
    rounded_program_hash: str | None
    description_hash: str | None
    rtl_hash: str | None
    device: DeviceFigures | None
    tools: Mapping[str, str]
    memory: str
    seed: int
    date: str
    command: str
    content: ContentHashes | None = field(default=None, metadata={"may_be_missing": True})
    provenance: Provenance | None = field(default=None, metadata={"may_be_missing": True})


@dataclass(frozen=True)
class DataProvenance:
    """Where inputs and labels came from.

    kind: "real" or "random" (seeded); banner: what a reader must be told first (random data), else None.
    samples: rows of the batch. inputs and labels: file names as given, None where there is none.
    image_shape: (height, width) of an input row that is a picture, so that a report can show it; None when unknown.
    """

    kind: Literal["real", "random"]
    samples: int
    inputs: str | None
    labels: str | None
    banner: str | None
    image_shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class EngineRun:
    """One engine's run.

    Attributes:
        name: see the module; status: "ran", "failed" (error says why) or "not asked".
        required: whether the user named it (the rounded golden and a golden run for others' sake are not).
        evidence: what shows that it ran (`fleet.engines.evidence`): "model", "bench", "board"; None where it did not run.
        elapsed_s: wall time of the run itself.
        cycles: total cycles, None without a clock; counters: as `Trace.counters` documents.
        dtypes: operation id -> dtype name; dtype_note: a sentence where dtypes differ from the golden's, else "".
        placement: operation id -> "device" or "host"; empty where everything runs in one place.
        meta: JSON values of the trace (tool versions, host steps, quantisation).
        exit_code: what its failure means for a command (`fleet.errors.ExitCode`); None where it did not fail.
    """

    name: str
    status: Status
    required: bool = True
    error: str | None = None
    evidence: str | None = None
    elapsed_s: float = 0.0
    cycles: int | None = None
    counters: Mapping[str, float] = field(default_factory=dict[str, float])
    dtypes: Mapping[str, str] = field(default_factory=dict[str, str])
    dtype_note: str = ""
    program_hash: str | None = None
    description_hash: str | None = None
    placement: Mapping[str, str] = field(default_factory=dict[str, str])
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    exit_code: int | None = field(default=None, metadata={"may_be_missing": True})
