"""Names of both sides of the pipe; apart from the worker, which can only be imported inside a simulator."""

from __future__ import annotations

FDS_VARIABLE = "FLEET_SIM_FDS"
"""Environment: the two inherited file descriptors, "<requests>,<replies>"."""

WORKER_MODULE = "fleet.engines.rtl_sim.worker"
