"""Devices of the directed tests: one of every installed set, or those that the variable FLEET_DEVICES names (comma-separated)."""

from __future__ import annotations

import os

from fleet.cosim.streams.suite import suite_devices


def devices() -> list[str]:
    named = os.environ.get("FLEET_DEVICES")
    return named.split(",") if named else suite_devices(all_devices=False)
