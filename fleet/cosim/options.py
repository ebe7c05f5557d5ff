"""Options of a co-simulation: everything except the model, its data and the names of the engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fleet.compare.verdict import Comparison, TaskMetric
from fleet.cosim.run_request import RunRequest
from fleet.cosim.what_ran import DataProvenance, EngineRun
from fleet.engines.base import Engine
from fleet.engines.trace import Trace
from fleet.ir.lowering_options import USUAL, LoweringOptions


@dataclass(frozen=True)
class CosimOptions:
    """Options of a co-simulation.

    Attributes:
        model: as the user gave it, for the record. case: name of its case; None for a run by hand.
        device, memory, seed: as `RunOptions`.
        metric: "accuracy" or None. Labels without a metric mean accuracy.
        data: provenance of inputs and labels.
        date: ISO 8601. request: what was asked for, to make the same run again; None if called from Python.
        waivers: comparison name -> operation id -> text; turns a failing row into a pass that says so.
        workdir: where engines leave images, logs and waves (one folder per engine); None: a temporary one.
        progress: called with (engine, fraction, words).
        on_engine: called after each engine with its row and its task figure. on_comparison: called after each comparison.
        on_trace: called with the name and the trace of each engine that ran (goldens are taken from these).
        engines: name -> engine, instead of the registered ones (tests).
        lowering: options of the accelerator's compile.
        riscv: instruction set and emulator of the engine `riscv`, as `RunOptions`.
        stop: end the hardware's run at its first commit that differs from the functional model's.
        rtl_jobs, rtl_sample, rtl_build: as `RunOptions`.
    """

    model: str
    data: DataProvenance
    device: str | None = None
    memory: str = "ideal"
    seed: int = 0
    metric: str | None = None
    case: str | None = None
    date: str = ""
    request: RunRequest | None = None
    waivers: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    workdir: Path | None = None
    progress: Callable[[str, float, str], None] | None = None
    on_engine: Callable[[EngineRun, TaskMetric | None], None] | None = None
    on_comparison: Callable[[Comparison], None] | None = None
    on_trace: Callable[[str, Trace], None] | None = None
    engines: Mapping[str, Engine] | None = None
    lowering: LoweringOptions = USUAL
    riscv: Mapping[str, str] = field(default_factory=dict[str, str])
    stop: bool = True
    rtl_jobs: int = 1
    rtl_sample: str = ""
    rtl_build: str = ""
