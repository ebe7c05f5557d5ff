"""HBM0923: the instruction set of the accelerator family of that name (now: the MVM unit). docs/arithmetic.md."""

from __future__ import annotations

from pathlib import Path

from fleet.isa.contract import InstructionSet
from fleet.isa.devices import load_devices
from fleet.isa.hbm0923.error_model import error_model
from fleet.isa.hbm0923.instructions import INSTRUCTIONS
from fleet.isa.hbm0923.layout import FeatureLayout
from fleet.isa.hbm0923.loader import load_calls
from fleet.isa.hbm0923.patterns import PATTERNS
from fleet.isa.hbm0923.rtl import rtl_files

_HERE = Path(__file__).resolve().parent

PARAMETERS: tuple[str, ...] = (
    "Tin", "Tout", "HbmPorts", "Tblk", "TgroupCh", "DatDepth", "WtDepth", "PortFifoDepth", "MaxToken", "Log2BankStep",
)  # fmt: skip

INSTRUCTION_SET = InstructionSet(
    name="hbm0923",
    description=_HERE / "hbm0923.rdl",
    instructions=INSTRUCTIONS,
    patterns=PATTERNS,
    layout=FeatureLayout(),
    devices=load_devices(_HERE / "devices", "hbm0923", parameters=PARAMETERS),
    rtl=rtl_files(),
    # What decides the bits: semantics, legality, layouts.
    sources=tuple(
        _HERE / f"{name}.py" for name in ("arithmetic", "instructions", "legality", "layout", "operands", "ranges", "weights")
    ),
    extra={"error_model": error_model},
    loader=load_calls,
)
