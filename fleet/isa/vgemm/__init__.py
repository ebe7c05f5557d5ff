"""vgemm: INT8 products, INT32 accumulators, 128-bit words and dependency queues, after VTA. docs/vgemm.md says it in words."""

from __future__ import annotations

from pathlib import Path

from fleet.isa.contract import InstructionSet
from fleet.isa.devices import load_devices
from fleet.isa.vgemm.conformance import SOURCES, ahead, joined
from fleet.isa.vgemm.coverage import COVERAGE
from fleet.isa.vgemm.error_model import error_model
from fleet.isa.vgemm.layout import VgemmLayout
from fleet.isa.vgemm.loops import Alu, Finish, Gemm
from fleet.isa.vgemm.lowering import PATTERNS
from fleet.isa.vgemm.order import unordered
from fleet.isa.vgemm.pads import check_device
from fleet.isa.vgemm.rtl import rtl_files
from fleet.isa.vgemm.transfers import Load, Store

__all__ = ["INSTRUCTION_SET"]

_HERE = Path(__file__).parent
_PARAMETERS = ("Block", "UopDepth", "InpDepth", "WgtDepth", "AccDepth", "OnchipDepth")
_DEVICES = load_devices(_HERE / "devices", "vgemm", parameters=_PARAMETERS)
check_device(_DEVICES.values())

INSTRUCTION_SET = InstructionSet(
    name="vgemm",
    description=_HERE / "vgemm.rdl",
    instructions={cls.name: cls for cls in (Load, Store, Gemm, Alu, Finish)},
    patterns=PATTERNS,
    layout=VgemmLayout(),
    devices=_DEVICES,
    rtl=rtl_files(),
    sources=tuple(_HERE / f"{name}.py" for name in ("words", "pads", "legality", "transfers", "loops", "layout")),
    extra={
        "conformance": SOURCES,
        "coverage": COVERAGE,
        "joined": joined,
        "ahead": ahead,
        "unordered": unordered,
        "error_model": error_model,
        "passes": ("expand-functions{only=clip}", "fold-weight-views", "turn-products", "integer-products"),
    },
)
