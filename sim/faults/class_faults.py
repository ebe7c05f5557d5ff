"""Faults in what no result shows: the class that a cycle is counted in, and what a register holds after reset."""

from __future__ import annotations

import stream_faults
import vgemm_faults
from planting import GENERATED, Choice, Fault

_UNIT = "rtl_models/hbm0923/hbm0923_unit_ctrl.sv"
_CORE = "rtl_models/vgemm/vgemm_core.sv"


def _class(
    name: str, what: str, command: tuple[str, ...], device: str, instruction: str, found: str, choice: Choice, *,
    quick: bool = False,
) -> Fault:  # fmt: skip
    """found: the class that the instruction must not have."""
    says = rf"instruction \d+ [(]{instruction}[)]: it has cycles of {found}, and can have none: .*"
    return Fault(name, what, command, f"FAIL {device}/", (says,), at=f"instruction {instruction}", kind="RTL", choices=(choice,),
                 nightly=not quick)  # fmt: skip


FAULTS = (
    _class(
        "class-compute",
        "vgemm: what a product takes is counted as waiting for weights",
        vgemm_faults.streams("gemm/directed/0"),
        vgemm_faults.DEVICE,
        "gemm",
        "weight_wait",
        Choice(_CORE, "own_loads_q ? 2'd2 : 2'd0", "own_loads_q ? 2'd2 : 2'd1", "assign classes[ModCompute] = ", ";"),
        quick=True,
    ),
    _class(
        "class-store",
        "vgemm: what a store takes is counted as work",
        vgemm_faults.streams("store/directed/0"),
        vgemm_faults.DEVICE,
        "store",
        "compute",
        Choice(_CORE, "2'd3", "2'd0", "assign classes[ModStore] = ", ";"),
    ),
    _class(
        "class-load",
        "vgemm: loads of inputs are counted as waiting for weights",
        vgemm_faults.streams("load/directed/2"),
        vgemm_faults.DEVICE,
        "load",
        "weight_wait",
        Choice(_CORE, "load_weights_q ? 2'd1 : 2'd2", "2'd1", "assign classes[ModLoad] = ", ";"),
    ),
    _class(
        "class-units",
        "hbm0923: what any unit works is counted as waiting for weights",
        stream_faults.streams("elementwise/directed/0"),
        stream_faults.SMALL,
        "elementwise",
        "weight_wait",
        Choice(_UNIT, "3'(Compute)", "3'(WeightWait)", "else                        spent = ", ";"),
    ),
    Fault(
        "reset-value",
        "vgemm: the first command register holds 0x40 after reset",
        ("pytest", "-q", "-p", "no:cacheprovider", "sim/conformance/test_registers.py", "-k", "hold_their_reset and vgemm"),
        "FAILED sim/conformance/test_registers.py",
        (r"cmd_w0 [(]0x\w+[)] reads 0x40 after reset, expected 0x0 .*",),
        at="register cmd_w0",
        kind="RTL",
        choices=(Choice(f"{GENERATED}vgemm_regs.sv", "32'h0", "32'h40", "field_storage.cmd_w0.value.value <= ", ";"),),
        nightly=True,
    ),
)
