"""Whether a change of the hardware or of the bench costs speed: the same job on the simulations of two checkouts, as a ratio.

    python benchmarks/checkouts.py ../before --device vgemm_small --device hbm_small

Both executables are built with a plain C++ main, each by its own checkout; the one called from makes the job. The job and its
rounds are those of `same_job.py`; the best of `--rounds` counts, and the median of the ratios of a round. The cycles of both must
be equal.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

from same_job import arguments, play

_BUILD = """
import sys
from fleet.engines.rtl_sim.build import build, design_of
from fleet.isa.registry import find_device
print(build(design_of(*find_device(sys.argv[1])), "plain"))
"""


def other_executable(checkout: Path, device: str) -> Path:
    """The simulation of a device with a plain main, as another checkout builds it. Raises CalledProcessError.

    It builds in its own environment if it has one: entry points of another version name other modules.
    """
    own = checkout / ".venv" / "bin" / "python"
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PATH": f"{own.parent}{os.pathsep}{os.environ['PATH']}"}
    command = [str(own) if own.exists() else sys.executable, "-c", _BUILD, device]
    return Path(subprocess.run(command, cwd=checkout, env=environment, check=True, capture_output=True, text=True).stdout.strip())


def main() -> None:
    """Prints the table."""
    parser = arguments(str(__doc__), cycles=300_000, rounds=9)
    parser.add_argument("before", type=Path, help="the other checkout")
    options = parser.parse_args()
    checkouts = {"before": options.before.resolve(), "now": Path(__file__).resolve().parents[1]}
    print(f"{'device':12} {'memory':8} {'cycles':>10} {'before':>12} {'now':>12} {'ratio':>7} {'median':>7}")
    for device in options.device or ["vgemm_small"]:
        executables = {which: other_executable(checkout, device) for which, checkout in checkouts.items()}
        for played in play(device, executables, options):
            if len(played.cycles) > 1:
                sys.exit(f"{device}, {played.memory}: the cycles differ: {sorted(played.cycles)}")
            (count,) = played.cycles
            before, now = played.speed("before"), played.speed("now")
            median = statistics.median(b / n for b, n in zip(played.seconds["before"], played.seconds["now"], strict=True))
            row = f"{device:12} {played.memory:8} {count:10,} {before:12,.0f} {now:12,.0f} {now / before:7.3f} {median:7.3f}"
            print(row, flush=True)


if __name__ == "__main__":
    main()
