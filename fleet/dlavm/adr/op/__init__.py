"""Functions that build calls."""

from fleet.dlavm.adr.op import general, hbm

__all__ = ["general", "hbm"]
