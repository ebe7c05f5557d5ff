"""What it costs that the bench can read and set on-chip memories: the same job on the same design with and without, as a ratio.

    python benchmarks/arrays.py --device vgemm_small --device hbm_small

Both executables are built with a plain C++ main; for the one without, no variable of the design is public. The job and its rounds
are those of `same_job.py`; the best of `--rounds` counts.
"""

from __future__ import annotations

from dataclasses import replace

from same_job import arguments, play

from fleet.engines.rtl_sim.build import build, design_of
from fleet.isa.registry import find_device


def main() -> None:
    """Prints the table."""
    options = arguments(str(__doc__), cycles=1_000_000, rounds=5).parse_args()
    print(f"{'device':12} {'memory':8} {'cycles':>10} {'with':>12} {'without':>12} {'ratio':>7}")
    for device in options.device or ["vgemm_small"]:
        design = design_of(*find_device(device))
        executables = {"with": build(design, "plain"), "without": build(replace(design, keepers=()), "plain")}
        for played in play(device, executables, options):
            with_, without = played.speed("with"), played.speed("without")
            cycles = min(played.cycles)
            print(f"{device:12} {played.memory:8} {cycles:10,} {with_:12,.0f} {without:12,.0f} {with_ / without:7.3f}")


if __name__ == "__main__":
    main()
