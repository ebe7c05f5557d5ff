"""Cycles of MVM instructions in the RTL with ideal memory, beside the cost formula: `python benchmarks/mvm_cycles.py [DEVICE...]`.

Every case is compared with the functional model on the way. The rows are Python tuples (device, tokens, CHin, CHout, Tblk, mode,
cycles), as tests/sets/hbm0923/test_timing.py holds them; the cost, its error and the cycles by class stand behind, as a comment.
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "rtl_models" / "hbm0923"))

from mvm_random import Case, Place, Runner, compare, prepare

from fleet.sets.hbm0923.cycles.mvm import mvm_cycles

MODES = {
    "mvm": {},
    "bn": {"bn": True, "relu": True},
    "argmax": {"bn": True, "argmax": True},
    "res": {"bn": True, "residual": True, "relu": True},
    **{f"{kept} of 8": {"kept": kept} for kept in (4, 2, 1)},
}

# tokens, CHin, CHout, Tblk, mode
DIGITS = [(64, 128, "bn"), (128, 128, "res"), (128, 10, "argmax")]
COMMON = [
    *((32, chin, chout, 128, mode) for chin, chout, mode in DIGITS),
    (1, 4096, 256, 128, "mvm"),
    (1, 4096, 256, 128, "bn"),
    (1, 4096, 256, 32, "mvm"),
    (16, 4096, 256, 128, "mvm"),
    (20, 64, 128, 128, "mvm"),
    (1, 576, 1000, 32, "mvm"),
    (1, 576, 1000, 128, "bn"),
    (100, 128, 10, 128, "mvm"),
    (1, 32, 8, 128, "mvm"),
    (3, 2100, 40, 128, "res"),
    (7, 300, 200, 64, "argmax"),
    (40, 640, 96, 64, "res"),
    (64, 256, 64, 32, "bn"),
    (2, 1024, 512, 128, "res"),
    (5, 100, 70, 128, "bn"),
    (200, 32, 32, 32, "res"),
    (12, 768, 768, 128, "bn"),
    (1, 2048, 2048, 128, "argmax"),
    (8, 2048, 64, 64, "mvm"),
    (17, 2048, 7, 128, "mvm"),
    (8, 31, 9, 128, "mvm"),
    (1, 16384, 40, 64, "bn"),
    # Short ones: padding, half beats and operands that come last.
    (2, 1, 33, 128, "mvm"),
    (2, 65, 33, 32, "bn"),
    (3, 96, 32, 32, "mvm"),
    (1, 64, 70, 128, "mvm"),
    (1, 96, 33, 128, "bn"),
    (1, 636, 65, 128, "res"),
]
CASES = {
    "hbm_small": [
        *((360, chin, chout, 128, mode) for chin, chout, mode in DIGITS),
        *COMMON,
        (4, 8192, 64, 128, "bn"),
        (250, 200, 33, 128, "argmax"),
        (500, 64, 64, 64, "mvm"),
        (60, 1000, 100, 128, "mvm"),
        (2, 16384, 9, 32, "mvm"),
    ],
    "hbm0923": [
        *COMMON,
        (64, 4096, 256, 128, "mvm"),
        (4, 8192, 256, 128, "bn"),
        (250, 200, 133, 128, "argmax"),
        (500, 64, 64, 64, "mvm"),
        (60, 1000, 400, 128, "mvm"),
        (2, 131072, 33, 32, "mvm"),
    ],
}


def measure(name: str) -> list[float]:
    """Prints the rows of one device and returns the relative errors of the cost."""
    folder = Path(tempfile.mkdtemp())
    errors: list[float] = []
    try:
        runner = Runner(name, folder)
        for tokens, chin, chout, tblk, mode in CASES[name]:
            case = dataclasses.replace(Case(chin=chin, chout=chout, tokens=tokens, tblk=tblk), **MODES[mode])
            _, records = compare(runner, [case], 1, pages=True)
            cycles = records[0].end - records[0].start
            operands = prepare(runner.device, runner.memory, case, Place(pages=True), np.random.default_rng(1))
            cost = mvm_cycles(runner.device, operands)
            errors.append(cost / cycles - 1)
            row = (name, tokens, chin, chout, tblk, mode, cycles)
            text = str(row).replace("'", '"')
            print(f"    {text},  # {cost} {100 * errors[-1]:+.1f} % {list(records[0].cycles.values())}")
        runner.close()
    finally:
        shutil.rmtree(folder)
    return errors


def main() -> None:
    errors = np.abs(np.concatenate([measure(device) for device in sys.argv[1:] or CASES]))
    quantiles = {what: f"{100 * np.quantile(errors, q):.1f} %" for what, q in {"median": 0.5, "95th": 0.95, "worst": 1.0}.items()}
    print(f"# error of the cost over {errors.size} cases: {quantiles}")


if __name__ == "__main__":
    main()
