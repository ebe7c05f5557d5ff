"""HBM0923: the instruction set of the accelerator family of that name. docs/arithmetic.md defines its arithmetic."""

from __future__ import annotations

from pathlib import Path

from fleet.sdk import InstructionSet, IssueRules, load_devices
from fleet.sets.hbm0923.conformance import SOURCES, ahead
from fleet.sets.hbm0923.coverage import COVERAGE
from fleet.sets.hbm0923.error_model import error_model
from fleet.sets.hbm0923.instructions import INSTRUCTIONS
from fleet.sets.hbm0923.layout import FeatureLayout
from fleet.sets.hbm0923.loader import load_calls
from fleet.sets.hbm0923.operators import TASKS
from fleet.sets.hbm0923.patterns import COMPOSITES, PATTERNS
from fleet.sets.hbm0923.rtl import rtl_files
from fleet.sets.hbm0923.state import STATE
from fleet.sets.hbm0923.units.pos_emb import HEAD_CHANNELS

_HERE = Path(__file__).resolve().parent

PARAMETERS: tuple[str, ...] = (
    "Tin", "Tout", "HbmPorts", "Tblk", "TgroupCh", "DatDepth", "WtDepth", "PortFifoDepth", "MaxToken", "Log2BankStep",
    "SfuInterval", "AttInterval", "AttQueries", "ScaleFp20", "Sparse", "MaxChannels",
    "ArrayLatency", "ProductLatency", "DotLatency", "RoundLatency", "ScaleLatency", "AddLatency", "NarrowLatency",
)  # fmt: skip

INSTRUCTION_SET = InstructionSet(
    name="hbm0923",
    sdk="2.6",
    description=_HERE / "hbm0923.rdl",
    instructions=INSTRUCTIONS,
    patterns=PATTERNS,
    layout=FeatureLayout(),
    devices=load_devices(
        _HERE / "devices", "hbm0923", parameters=PARAMETERS, above_zero=set(PARAMETERS) - {"ScaleFp20", "Sparse"}, state=STATE
    ),
    rtl=rtl_files(),
    sources=(_HERE / "layout.py", _HERE / "state.py"),
    error_model=error_model,
    issue=IssueRules(ahead=ahead),
    conformance=SOURCES,
    coverage=COVERAGE,
    head_channels=HEAD_CHANNELS,
    loader=load_calls,
    composites=COMPOSITES,
    tasks=TASKS,
)
