"""Identity of a co-simulation: model and device by their hashes, the data, and each engine's run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fleet.core.codec import MAY_BE_MISSING, Json
from fleet.cosim.identity import ContentHashes, Provenance
from fleet.cosim.run_request import RunRequest

Status = Literal["ran", "failed", "not asked"]


@dataclass(frozen=True)
class DeviceFigures:
    """The device as reports need it: clock, sizes and roofline limits (`fleet.sdk.Device`).

    estimated_mhz: the clock that its RTL is estimated to reach at most; None if that is not known. estimated_by: the stage that
    decides it.
    """

    name: str
    instruction_set: str
    clock_mhz: float
    parameters: Mapping[str, int]
    limits: Mapping[str, float]
    estimated_mhz: float | None = field(default=None, metadata=MAY_BE_MISSING)
    estimated_by: str = field(default="", metadata=MAY_BE_MISSING)

    @property
    def clock(self) -> str:
        """The clock in words, with the estimate of the RTL's own."""
        if self.estimated_mhz is None:
            return f"{self.clock_mhz:g} MHz"
        return f"{self.clock_mhz:g} MHz (its RTL is estimated to reach at most {self.estimated_mhz:g} MHz: {self.estimated_by})"


@dataclass(frozen=True)
class RunIdentity:
    """Identity of a run, to distinguish results and to repeat it. Hashes are SHA-256 hex.

    Attributes:
        model: as the user gave it ("examples/digits/model.py:forward").
        case: name of the case; None for a run by hand.
        source_hash: of the model's source text. weights_hash: of all weights. inputs_hash: of all inputs.
        program_hash: `Program.hash`. rounded_program_hash: `Program.hash` of the rounded golden; None without it.
        description_hash: of description, semantics and device file; None without a device.
        rtl_hash: of RTL sources and parameters; None if the RTL did not run.
        tools: name -> version ("numpy", "verilator", "fleet", ...).
        memory, seed: as requested.
        date: ISO 8601, from the caller (nothing here reads a clock).
        command: one line that makes the same run again, as text. request: the same as data; None in older results and from Python.
        content: what decides the figures. provenance: what does not (`fleet.cosim.identity`). None in older results.
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
    content: ContentHashes | None = field(default=None, metadata=MAY_BE_MISSING)
    provenance: Provenance | None = field(default=None, metadata=MAY_BE_MISSING)
    request: RunRequest | None = field(default=None, metadata=MAY_BE_MISSING)


@dataclass(frozen=True)
class DataProvenance:
    """Origin of inputs and labels.

    kind: "real" or "random" (seeded). banner: what a reader must be told first (random data), else None.
    samples: rows of the batch. inputs, labels: file names as given, or None.
    image_shape: (height, width) of an input row that is a picture, so that a report can show it; None if unknown.
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
        name: of the engine, or "vm-rounded". status: "ran", "failed" (error says why) or "not asked".
        required: whether the user named it (the rounded golden, and a golden that others need, may run without that).
        evidence: what proves that it ran (`fleet.engines.evidence`): "model", "sample", "bench", "board"; None if it did not run.
        elapsed_s: wall time of the run itself.
        cycles: total cycles; None without a clock. counters: as `Trace.counters` documents.
        dtypes: operation id -> dtype name. dtype_note: a sentence if dtypes differ from the golden's, else "".
        placement: operation id -> "device", "riscv" or "host"; empty if everything runs in one place.
        meta: JSON values of the trace (tool versions, host steps, quantisation).
        exit_code: exit code of its failure (`fleet.errors.ExitCode`); None if it did not fail.
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
    meta: Mapping[str, Json] = field(default_factory=dict[str, Json])
    exit_code: int | None = field(default=None, metadata=MAY_BE_MISSING)

    @property
    def cut(self) -> str:
        """Cuts of a run in legs, or a sample, and what was proved, in one line; empty for other runs."""
        return str(self.meta.get("cut", ""))
