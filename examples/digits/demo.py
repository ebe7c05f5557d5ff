"""What `make demo` runs: the handwritten digits five ways, a planted fault that is found, what to try next. --all: both devices."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from unittest import mock

import click
import numpy as np

from fleet.cli.main import main as fleet
from fleet.errors import ExitCode
from fleet.sets.hbm0923 import instructions

ROOT = Path(__file__).parents[2]
DIGITS = Path("examples/digits")
PLANTED = Path("reports/digits_planted")
NEXT = (
    ("all that is known of the fault, on one page",
     f"fleet why {PLANTED}"),
    ("see the instructions that the digits became",
     "fleet compile --emit accel-regs examples/digits/model.py:forward --weights examples/digits/weights.npz --device hbm_small"),
    ("your own model: change a line of examples/digits/model.py and run again",
     "fleet cosim examples/digits/model.py:forward --engines vm,riscv,iss,rtl --device hbm_small --report reports/mine"),
    ("the regression: digits and a language model's 4096 x 256 layer on every memory model, in parallel",
     "make sim"),
)  # fmt: skip


def _cosim(device: str, folder: str, batch: int | None = None, engines: str = "cpython,vm,iss,rtl,riscv", *more: str) -> int:
    arguments = [
        "cosim", str(DIGITS / "model.py") + ":forward", "--weights", str(DIGITS / "weights.npz"),
        "--input", str(DIGITS / "test.npz"), "--labels", str(DIGITS / "labels.npz"), "--metric", "accuracy",
        "--engines", engines, "--device", device, "--report", folder, *more,
    ]  # fmt: skip
    arguments += ["--batch", str(batch)] if batch else []
    sys.argv[1:] = arguments  # the command that the report says makes it again
    return fleet(arguments)


_epilogue = instructions.epilogue


def _without_relu(
    acc: np.ndarray, bn: tuple[np.ndarray, np.ndarray] | None, residual: np.ndarray | None, *, mul: bool, relu: bool
) -> np.ndarray:
    """The fault: with a residual, the functional model forgets the ReLU."""
    return _epilogue(acc, bn, residual, mul=mul, relu=relu and residual is None)


def _planted() -> int:
    """The same model with a fault in the functional model, in this process alone: the hardware stays as it was built."""
    from fleet.cli.table import print_comparison
    from fleet.cosim.result import CosimResult
    from fleet.report.run.why import find_failure, page

    click.secho("\nCan it go red? mvm_bn_res of the functional model now forgets its ReLU; 32 images", bold=True)
    with mock.patch.object(instructions, "epilogue", _without_relu):
        code = _cosim("hbm_small", str(PLANTED), 32, "vm,iss,rtl", "--quiet")
    if code != ExitCode.DIFFERS:
        click.echo(f"fleet: the planted fault was not found: exit code {code}", err=True)
        return code or ExitCode.INTERNAL
    found = next(c for c in CosimResult.load(PLANTED).comparisons if c.name == "rtl-vs-iss")
    print_comparison(found)
    lines = page(find_failure(str(PLANTED), Path("reports"))).splitlines()
    for label in ("instruction", "address", "values"):
        click.echo(f"  {next(line for line in lines if line.startswith(label))}")
    click.secho("found: the right instruction, the right element; the sources are as they were", fg="green")
    return ExitCode.AGREED


def main() -> int:
    """The table, the page, the fault; the exit code of the worst."""
    os.chdir(ROOT)
    both = "--all" in sys.argv[1:]
    start = time.monotonic()
    click.secho("Handwritten digits, all 360 test images, device hbm_small", bold=True)
    code = _cosim("hbm_small", "reports/digits")
    if code == ExitCode.AGREED:
        code = _planted()
    if both and code in {ExitCode.AGREED, ExitCode.DIFFERS}:
        click.secho("\nThe same model, the first 32 images, device hbm0923 (4,096 multipliers)", bold=True)
        code = max(code, _cosim("hbm0923", "reports/digits_hbm0923", 32))
    if code not in (ExitCode.AGREED, ExitCode.DIFFERS, ExitCode.INCOMPLETE):
        return code  # it ended before its time, and has said why in one line
    click.echo(f"\n{time.monotonic() - start:.0f} s; open {ROOT / 'reports/digits/index.html'}")
    click.secho("Try next (after `source .venv/bin/activate`):", bold=True)
    for words, command in NEXT:
        click.echo(f"  {words}:\n    {command}")
    return code


if __name__ == "__main__":
    sys.exit(main())
