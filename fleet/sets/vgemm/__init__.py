"""vgemm: INT8 products, INT32 accumulators, 128-bit words and dependency queues, after VTA. docs/vgemm.md specifies it."""

from __future__ import annotations

from pathlib import Path

from fleet.sdk import InstructionSet, IssueRules, load_devices
from fleet.sets.vgemm.conformance import SOURCES, ahead, joined
from fleet.sets.vgemm.coverage import COVERAGE
from fleet.sets.vgemm.error_model import error_model
from fleet.sets.vgemm.layout import VgemmLayout
from fleet.sets.vgemm.loops import Alu, Finish, Gemm
from fleet.sets.vgemm.lower.patterns import PATTERNS
from fleet.sets.vgemm.order import unordered
from fleet.sets.vgemm.pads import check_device
from fleet.sets.vgemm.rtl import rtl_files
from fleet.sets.vgemm.state import STATE
from fleet.sets.vgemm.transfers import Load, Store

_HERE = Path(__file__).parent
_DEVICES = load_devices(_HERE / "devices", "vgemm", parameters=("Block",), state=STATE)
check_device(_DEVICES.values())

INSTRUCTION_SET = InstructionSet(
    name="vgemm",
    sdk="2.2",
    description=_HERE / "vgemm.rdl",
    instructions={cls.name: cls for cls in (Load, Store, Gemm, Alu, Finish)},
    patterns=PATTERNS,
    layout=VgemmLayout(),
    devices=_DEVICES,
    rtl=rtl_files(),
    sources=(_HERE / "layout.py", _HERE / "state.py"),
    passes=("expand-functions{only=clip}", "split-groups", "fold-weight-views", "turn-products", "integer-products"),
    error_model=error_model,
    issue=IssueRules(joined, ahead, unordered),
    conformance=SOURCES,
    coverage=COVERAGE,
)
