"""Accelerators."""

from fleet.dlavm.device import hbm_accel
from fleet.dlavm.device.base_accel import Accel

__all__ = ["Accel", "hbm_accel"]
