"""All planted faults."""

from __future__ import annotations

import bus_faults
import checked_faults
import class_faults
import compiler_faults
import credit_faults
import evidence_faults
import hardware_faults
import harness_faults
import kernel_faults
import language_faults
import leftover_faults
import lowering_faults
import memory_faults
import model_faults
import pass_faults
import process_faults
import regression_faults
import silent_faults
import software_faults
import sparse_faults
import state_faults
import stream_faults
import verdict_faults
import vgemm_faults
from planting import Fault

FAULTS: tuple[Fault, ...] = (
    *hardware_faults.FAULTS,
    *sparse_faults.FAULTS,
    *software_faults.FAULTS,
    *silent_faults.FAULTS,
    *stream_faults.FAULTS,
    *credit_faults.FAULTS,
    *vgemm_faults.FAULTS,
    *model_faults.FAULTS,
    *memory_faults.FAULTS,
    *compiler_faults.FAULTS,
    *lowering_faults.FAULTS,
    *kernel_faults.FAULTS,
    *pass_faults.FAULTS,
    *checked_faults.FAULTS,
    *harness_faults.FAULTS,
    *verdict_faults.FAULTS,
    *process_faults.FAULTS,
    *regression_faults.FAULTS,
    *language_faults.FAULTS,
    *bus_faults.FAULTS,
    *class_faults.FAULTS,
    *evidence_faults.FAULTS,
    *state_faults.FAULTS,
    *leftover_faults.FAULTS,
)
