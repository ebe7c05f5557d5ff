"""Targets of code generation; see `fleet.targets.driver`."""

from fleet.dlavm._lazy import handing_on

__getattr__ = handing_on(__name__, {"targets": "fleet.targets.driver.cpp"})
