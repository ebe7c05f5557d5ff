"""An outcome of a sweep, made by hand, for tests of its page."""

from __future__ import annotations

from dataclasses import replace

from fleet.sdk.hardware.device import ClockEstimate
from fleet.sdk.hardware.sweepable import CellCount, CostError, EnergyCost
from fleet.sweep.records import (
    EnergyShare,
    HardwareRecord,
    LeftOut,
    ModelRecord,
    Quality,
    QualityRecord,
    SweepAxis,
    SweepOutcome,
    SweepPoint,
    SweptPoint,
)

__all__ = ["swept_outcome"]


def point(lanes: int, memory: str, cycles: float, sqnr: float, *, front: bool = False) -> SweptPoint:
    model = ModelRecord(
        cycles=cycles, clock_mhz=100.0, counters={"macs": 64.0, "cycles_estimate": cycles},
        energy=(EnergyShare("a MAC", 64.0, 76.8),), cells={"LUT": 157.0 * lanes},
        quality=QualityRecord((Quality("SQNR", sqnr, "dB", True),), "pass"),
    )  # fmt: skip
    values = {"Lanes": str(lanes), "memory": memory}
    return SweptPoint(SweepPoint(values, f"dev@Lanes={lanes}", memory, {"group": 32}), f"key{lanes}{memory}", model, front=front)


def swept_outcome() -> SweepOutcome:
    """Return an outcome with a point in RTL, one that cannot run the model, and a combination left out."""
    built = replace(point(8, "timed", 1234, 20.5, front=True), hardware=HardwareRecord(1300, 1200, 1234, "pass"))
    refused = SweptPoint(
        SweepPoint({"Lanes": "2", "memory": "ideal"}, "dev@Lanes=2", "ideal", {}), "key2", ModelRecord("too <small>")
    )
    return SweepOutcome(
        "model.py:<f>", "dev", "demo", "5 rows", "fleet sweep model.py:f", "2026-01-31T00:00:00",
        (SweepAxis("Lanes", ("2", "4", "8")), SweepAxis("memory", ("ideal", "timed"))),
        (refused, point(4, "ideal", 2400, 19.0), point(8, "ideal", 1100, 20.5, front=True), built),
        (LeftOut({"Lanes": "3"}, "a tree has two inputs"),), ("time", "SQNR", "energy", "LUT"),
        (CostError("ideal", 0.0, 0.1, None, "a page"),), (EnergyCost("a MAC", "macs", 1.2, "a <table>"),),
        (CellCount("a lane", "Lanes", {"LUT": 157.0}, "a script"),), 3, 1, "pass", (),
        ClockEstimate(121.0, "control (a <table>)"),
    )  # fmt: skip
