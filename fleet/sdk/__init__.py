"""All that a plug-in may import of fleet: the contract of instruction sets, versioned.

What semantics and manifests need is here. `fleet.sdk.lowering`, `fleet.sdk.ir`, `fleet.sdk.tasks` and `fleet.sdk.error_model` serve
compilation, `fleet.sdk.dram` and its ports cycle estimates, `fleet.sdk.native` compiled kernels.
"""

from fleet.core.toml_places import place
from fleet.errors import DeviceError, FleetError, ModelError
from fleet.sdk.conformance import ANY_CYCLES, DATA_KINDS, WORKING, CycleRules, Draw, NoRoomError, Place, Source, data_kind, halves
from fleet.sdk.coverage import CoverageHints, Limit
from fleet.sdk.device_file import load_devices
from fleet.sdk.hardware.device import Device
from fleet.sdk.hardware.rtl_files import GeneratedSource, RtlFiles, generated_files, listed_sources, rtl_models
from fleet.sdk.hardware.rtl_memory import Lanes, RtlMemory, RtlRegister
from fleet.sdk.hardware.state import MemoryArray, OnChipMemory, State, StateRegister
from fleet.sdk.instructions.instruction import Call, Instruction, Memory, Range, Write, contiguous
from fleet.sdk.instructions.operands import Bits, Operand, Operands, Violation, ceil_div
from fleet.sdk.instructions.parts import instructions_in, patterns_in
from fleet.sdk.issue_rules import IssueRules
from fleet.sdk.layout import Arrangement, Layout
from fleet.sdk.manifest import Extension, InstructionSet, Loader
from fleet.sdk.version import VERSION

__all__ = [
    "ANY_CYCLES",
    "DATA_KINDS",
    "VERSION",
    "WORKING",
    "Arrangement",
    "Bits",
    "Call",
    "CoverageHints",
    "CycleRules",
    "Device",
    "DeviceError",
    "Draw",
    "Extension",
    "FleetError",
    "GeneratedSource",
    "Instruction",
    "InstructionSet",
    "IssueRules",
    "Lanes",
    "Layout",
    "Limit",
    "Loader",
    "Memory",
    "MemoryArray",
    "ModelError",
    "NoRoomError",
    "OnChipMemory",
    "Operand",
    "Operands",
    "Place",
    "Range",
    "RtlFiles",
    "RtlMemory",
    "RtlRegister",
    "Source",
    "State",
    "StateRegister",
    "Violation",
    "Write",
    "ceil_div",
    "contiguous",
    "data_kind",
    "generated_files",
    "halves",
    "instructions_in",
    "listed_sources",
    "load_devices",
    "patterns_in",
    "place",
    "rtl_models",
]
