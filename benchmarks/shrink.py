"""How small failing programs of 200 instructions become, and in what time: `python benchmarks/shrink.py [--listing]`.

Each fault is planted alone in a copy of the hardware, programs are drawn until one fails, and that one is shrunk. The seconds are
those of the shrinking, with the start of its simulation and without the build of the faulty hardware, which is kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "sim" / "shrink"))

from planted_programs import FAULTS, LENGTH, SECONDS, shrink_planted


def main() -> None:
    """Prints the table, a line as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, default=LENGTH)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--only", default="", help="faults whose name contains this")
    parser.add_argument("--listing", action="store_true", help="also print the programs that are left")
    chosen = parser.parse_args()
    print("| device | fault | instructions | bytes of memory | attempts | seconds | fails with |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for fault in FAULTS:
        if chosen.only not in fault.name:
            continue
        with tempfile.TemporaryDirectory(prefix="fleet-shrink-") as folder:
            row = shrink_planted(fault, Path(folder) / "project", chosen.length, chosen.seconds)
        (a, b), (c, d) = row.before, row.after
        late = "" if row.finished else " (time was over)"
        print(
            f"| {fault.device} | {fault.name} | {a} -> {c} | {b:,} -> {d:,} | {row.attempts} | {row.seconds}{late} "
            f"| {row.signature} ({row.setting}) |",
            flush=True,
        )
        if chosen.listing:
            print("\n".join(f"    {line}" for line in row.listing), flush=True)


if __name__ == "__main__":
    main()
