"""All planted faults, and the commands that must pass without one."""

from __future__ import annotations

import data
import hardware_faults
import memory_faults
import model_faults
import silent_faults
import software_faults
import stream_faults
import vgemm_faults
from planting import Fault

FAULTS: tuple[Fault, ...] = (
    *hardware_faults.FAULTS,
    *software_faults.FAULTS,
    *silent_faults.FAULTS,
    *stream_faults.FAULTS,
    *vgemm_faults.FAULTS,
    *model_faults.FAULTS,
    *memory_faults.FAULTS,
)

CONTROLS = {
    "digits": data.digits("--engines", "vm,cpython,iss,rtl,riscv", *data.DEVICE),
    "difference": data.cosim("difference", "--engines", "vm,cpython,riscv"),
    "groups": data.cosim("groups", "--engines", "vm,iss,rtl", *data.DEVICE),
    "ties": data.cosim("corners:ties", "--engines", "vm,iss,rtl", *data.DEVICE),
    "zeros": data.cosim("corners:zeros", "--engines", "vm,iss,rtl", *data.DEVICE),
    "case": software_faults.RUN_CASE,
}
