"""Simulation speed and cycles of the MVM unit: `python benchmarks/rtl_array.py [DEVICE...]`.

One row a case: device cycles, the limit of HBM (weights and scales at one beat a port and cycle), their ratio, and what the
simulation does a second; results are compared with the functional model on the way. The first row is the unit idle.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "rtl_models" / "hbm0923"))

from mvm_random import Case, Runner, ceil_div, channel_bytes, compare

from fleet.engines.rtl_sim.job import JobScript

CASES = [
    (Case(chin=4096, chout=256, tokens=1, tblk=128), "ideal"),
    (Case(chin=4096, chout=256, tokens=1, tblk=128), "fixed:60"),
    (Case(chin=4096, chout=256, tokens=1, tblk=64), "ideal"),
    (Case(chin=4096, chout=256, tokens=1, tblk=32), "ideal"),
    (Case(chin=4096, chout=256, tokens=16, tblk=128), "ideal"),
    (Case(chin=4096, chout=4096, tokens=1, tblk=128), "fixed:60"),
]


def idle(runner: Runner, cycles: int = 400_000) -> float:
    """Cycles a second while the host polls a register that never changes."""
    script = JobScript()
    for _ in range(cycles // 5):
        script.read(4)
    status, _, _ = runner.play(script)
    return status.cycles / status.seconds


def table(name: str) -> None:
    """All rows of one device."""
    folder = Path(tempfile.mkdtemp())
    try:
        runner = Runner(name, folder)
        print(f"{name}: idle {idle(runner) / 1e6:.2f} M cycles/s")
        print(
            f"{'K x N':>12} {'tokens':>6} {'group':>5} {'memory':>9}"
            f" {'cycles':>8} {'limit':>7} {'ratio':>6} {'k cycles/s':>10} {'M MAC/s':>8}"
        )
        for case, memory in CASES:
            status, records = compare(runner, [case], 1, memory)
            cycles = records[0].end - records[0].start
            blocks = ceil_div(case.chout, runner.device.parameters["Tout"])
            limit = blocks * channel_bytes(runner.device, case.chin, case.tblk) // 32
            macs = case.chin * case.chout * case.tokens
            print(
                f"{case.chin:>6}x{case.chout:<5} {case.tokens:>6} {case.tblk:>5} {memory:>9}"
                f" {cycles:>8} {limit:>7} {limit / cycles:>6.3f}"
                f" {status.cycles / status.seconds / 1e3:>10.0f} {macs / status.seconds / 1e6:>8.0f}"
            )
        runner.close()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    for device in sys.argv[1:] or ["hbm0923", "hbm_small"]:
        table(device)
