"""What a token's writes into the caches cost the functional model: `python benchmarks/cache_writes.py [../before]`.

Keys and values of one token of llama2-7b's shape (32 layers, 32 heads of 128 channels): 131,072 pieces of two bytes, 1,024 of 256.
Seconds of processor time, the median of the rounds, and with another checkout both in turn; the digests must be equal.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

_LAYERS = 32
_MEASURE = f"""
import sys, tempfile, time
from pathlib import Path
import numpy as np
from fleet.engines.execute import execute_calls
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.sdk import Call
from fleet.sets.hbm0923.units.dat2hbm import Dat2HbmOperands
set_, device = find_device("hbm0923")
shape = dict(channels=128, heads=32, tokens=1, last=9, in_addr=0, in_surface=64, in_line=64 * 4, out_addr=1 << 20)
values = Dat2HbmOperands(**shape, keys=0, wt_line=128, wt_head=128 * 4)
keys = Dat2HbmOperands(**shape, keys=1, wt_line=256, wt_head=256 * 8)
calls = [Call("dat2hbm", o.encode()) for o in (values, keys)]
with tempfile.TemporaryDirectory() as folder:
    memory = MappedMemory(device, Path(folder))
    memory.view("ddr", 0, 1 << 15)[:] = np.random.default_rng(1).integers(0, 256, 1 << 15, np.uint8)
    list(execute_calls(set_, device, memory, calls, 0))
    start = time.process_time()
    for _ in range({_LAYERS}):
        commits = list(execute_calls(set_, device, memory, calls, 0))
    print(time.process_time() - start, *(c.digest for c in commits))
"""


def main() -> None:
    """Prints the seconds of each checkout."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("before", type=Path, nargs="?", help="another checkout")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    checkouts = {"now": Path(__file__).resolve().parents[1]} | ({"before": options.before.resolve()} if options.before else {})
    seconds: dict[str, list[float]] = {name: [] for name in checkouts}
    digests: set[tuple[str, ...]] = set()
    with tempfile.TemporaryDirectory() as elsewhere:  # Python looks for the package in the working directory first
        for _ in range(options.rounds):
            for name, checkout in checkouts.items():
                environment = {**os.environ, "PYTHONPATH": str(checkout)}
                command = [sys.executable, "-c", _MEASURE]
                run = subprocess.run(command, cwd=elsewhere, env=environment, check=True, capture_output=True, text=True)
                took, *found = run.stdout.split()
                seconds[name].append(float(took))
                digests.add(tuple(found))
    if len(digests) > 1:
        sys.exit(f"the digests differ: {digests}")
    for name, found in seconds.items():
        print(f"{name:8} {statistics.median(found):8.4f} s a token, {min(found):.4f} to {max(found):.4f}")


if __name__ == "__main__":
    main()
