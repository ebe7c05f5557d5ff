"""What a night of 10,000 runs costs behind a history of 90: `python benchmarks/nights.py [--rounds 3]`.

The runs are made up (`tests/night/many_nights.py`). Processor seconds, the least of the rounds. The figures to hold: collecting
with the page under 120 s, the page under 2 MB, comparing two nights under 1 s.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "night"))

from many_nights import NIGHTS, many_nights
from nights_made import night_id

from fleet.night import history as h
from fleet.night.collect import collect
from fleet.night.compare import compare, find_side
from fleet.report.regression.night import write_night


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds: int = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="fleet-nights-") as name:
        folder = many_nights(Path(name))
        night = folder / "night"
        collecting, comparing, page = [], [], 0
        for _ in range(rounds):
            begin = time.process_time()
            found = collect(night, night / "nights" / night_id(NIGHTS - 1), folder / "none.toml")
            page = write_night(found, folder / "out").html.stat().st_size
            collecting.append(time.process_time() - begin)
            begin = time.process_time()
            compare(find_side("last~1", night), find_side("last", night)).markdown()
            comparing.append(time.process_time() - begin)
        print("| what | figure |\n|---|---|")
        print(f"| collect a night, with its page | {min(collecting):.1f} s |")
        print(f"| page | {page:,} bytes |")
        print(f"| history | {(night / h.FILE).stat().st_size:,} bytes |")
        print(f"| compare two nights | {min(comparing):.2f} s |")


if __name__ == "__main__":
    main()
