"""What the checker of the buses costs: the same job on the same design with and without it, as a ratio.

    python benchmarks/axi_checker.py --device vgemm_small --memory ideal --memory stall:1

Both executables are built with a plain C++ main; the one without has an empty `fleet_axi_checker.sv`. The job and its
rounds are those of `same_job.py`; the best of `--rounds` counts.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from same_job import arguments, play

from fleet.engines.rtl_sim import build as building
from fleet.engines.rtl_sim.build import build, design_of
from fleet.isa.registry import find_device
from fleet.sdk import rtl_models


def _executables(device: str, folder: Path) -> dict[str, Path]:
    """With the checker, and without."""
    design = design_of(*find_device(device))
    found = {"with": build(design, "plain")}
    copy = folder / "rtl_models"
    shutil.copytree(rtl_models(), copy)
    checker = copy / "memory" / "fleet_axi_checker.sv"
    text = checker.read_text(encoding="utf-8")
    head = re.search(r"\nmodule fleet_axi_checker.*?\n\);\n", text, re.DOTALL)
    assert head is not None
    checker.write_text(text[: head.end()] + "endmodule\n", encoding="utf-8")
    original, building.rtl_models = building.rtl_models, lambda: copy
    try:
        found["without"] = build(design, "plain")
    finally:
        building.rtl_models = original
    return found


def main() -> None:
    """Prints the table."""
    options = arguments(str(__doc__), cycles=1_000_000, rounds=5).parse_args()
    print(f"{'device':12} {'memory':8} {'cycles':>10} {'with':>12} {'without':>12} {'cost':>7}")
    for device in options.device or ["vgemm_small"]:
        with tempfile.TemporaryDirectory(prefix="fleet-axi-") as name:
            executables = _executables(device, Path(name))
        for played in play(device, executables, options):
            with_, without = played.speed("with"), played.speed("without")
            cost, cycles = 100 * (without / with_ - 1), min(played.cycles)
            print(f"{device:12} {played.memory:8} {cycles:10,} {with_:12,.0f} {without:12,.0f} {cost:6.1f} %")


if __name__ == "__main__":
    main()
