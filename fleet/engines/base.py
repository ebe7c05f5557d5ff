"""The engine contract: run a compiled program, return a trace. Engines are plug-ins (`fleet.engines` entry points)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from fleet.engines.legs.write_log import WriteLog
from fleet.engines.trace import Commit, Trace
from fleet.ir.lowering_options import USUAL, LoweringOptions
from fleet.ir.program import Program

Progress = Callable[[float, str], None]
"""Called with the finished fraction (0 to 1) and a few words; engines call it at least once a second of work."""


@dataclass(frozen=True)
class RunOptions:
    """Options of a run; an engine ignores options that it does not know.

    Attributes:
        device: a device name of an installed instruction set ("hbm_small"); needed by `iss` and `rtl`.
        memory: "ideal", "fixed" (latency), "stall" (seeded random) or "timed" (DRAM, refresh phases seeded): results must not
            depend on it.
        seed: seed of everything random in the run (stalls, power-on state).
        keep_tensors: whether per-operation tensors are kept in the trace (outputs always are).
        workdir: folder for files of the engine (images, logs, waves); a temporary folder if None.
        progress: see `Progress`.
        lowering: options of the accelerator's compile. The rounded golden must use the same.
        riscv: "isa" (`fleet.targets.riscv.isa.find_isa`) and "emulator" (`fleet.engines.riscv_emulators.registry`) of the engine
            `riscv`, "pipeline" of passes before it compiles ("none" for no passes); defaults: rv64gc, a suitable emulator
            and "riscv".
        expected: commits of a run that must be equal, in order: an engine that supports it ends at the first that differs, and
            returns a trace with `stopped`. Empty: the run does not end early.
        rtl_jobs: `rtl` runs in legs, so many at a time (`fleet.engines.legs`); 1: as one run. A run in legs ends at its first
            commit that differs from the functional model's.
        rtl_sample: `rtl` runs a sample of the instructions (`fleet.engines.legs.sample.sample_choice`), drawn by `seed`; "": all.
            Its commits are then those of the sample, without clocks, and nothing else in its trace comes from hardware.
        written: where `iss` keeps its writes for `rtl` in legs, which then need not compute them again; None: nowhere.
        rtl_build: mode of the simulation's build, "checked", "fast" or "edit"; "": what `FLEET_RTL_BUILD` says.
    """

    device: str | None = None
    memory: str = "ideal"
    seed: int = 0
    keep_tensors: bool = True
    workdir: Path | None = None
    progress: Progress | None = None
    lowering: LoweringOptions = USUAL
    riscv: Mapping[str, str] = field(default_factory=dict[str, str])
    expected: Sequence[Commit] = ()
    rtl_jobs: int = 1
    rtl_sample: str = ""
    written: WriteLog | None = None
    rtl_build: str = ""


class Engine(Protocol):
    """The interface of a plug-in under `fleet.engines`: an instance with these members.

    A trace carries the evidence that this engine made it (`Trace.evidence`, `fleet.engines.evidence`). A model needs none;
    cycles of an accelerator's instructions, or a name that claims hardware, need the evidence of a simulation.
    """

    name: str
    target: str
    """The form that a program is compiled to: "bytecode", "accel", "riscv" or "source"."""

    def available(self) -> str | None:
        """Return None if it can run here, else one line: what is missing and how to get it."""
        ...

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Compile (or take from the cache), run, and return a complete trace.

        `inputs` has every `program.inputs` name with exactly its shape and dtype (checked by the caller).
        Raises FleetError subclasses for all errors that bad input can cause.
        """
        ...


@runtime_checkable
class SimulatedEngine(Protocol):
    """An engine that has its design in a simulator, and has it in others too."""

    def on(self, simulator: str) -> Engine:
        """Return the same engine in another simulator; its name is "rtl@icarus"."""
        ...


@dataclass(frozen=True)
class EngineInfo:
    """A registered engine: its entry-point name, the object, and its distribution."""

    name: str
    engine: Engine
    distribution: str = field(default="fleet")
