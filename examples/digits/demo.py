"""What `make demo` runs: the handwritten digits five ways, on both devices, and what to try next."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import click

from fleet.cli.main import main as fleet
from fleet.errors import ExitCode

ROOT = Path(__file__).parents[2]
DIGITS = Path("examples/digits")
NEXT = (
    ("the regression: digits and a language model's 4096 x 256 layer on every memory model, in parallel",
     "make sim"),
    ("see the instructions that the digits became",
     "fleet compile --emit accel-regs examples/digits/model.py:forward --weights examples/digits/weights.npz --device hbm_small"),
    ("your own model: change a line of examples/digits/model.py and run again",
     "fleet cosim examples/digits/model.py:forward --engines vm,riscv,iss,rtl --device hbm_small --report reports/mine"),
)  # fmt: skip


def _cosim(device: str, folder: str, batch: int | None) -> int:
    arguments = [
        "cosim", str(DIGITS / "model.py") + ":forward", "--weights", str(DIGITS / "weights.npz"),
        "--input", str(DIGITS / "test.npz"), "--labels", str(DIGITS / "labels.npz"), "--metric", "accuracy",
        "--engines", "cpython,vm,iss,rtl,riscv", "--device", device, "--report", folder,
    ]  # fmt: skip
    arguments += ["--batch", str(batch)] if batch else []
    sys.argv[1:] = arguments  # the command that the report says makes it again
    return fleet(arguments)


def main() -> int:
    """Both devices, the table, the page; the exit code of the worst."""
    os.chdir(ROOT)
    start = time.monotonic()
    click.secho("Handwritten digits, all 360 test images, device hbm_small", bold=True)
    code = _cosim("hbm_small", "reports/digits", None)
    if code in {0, 1}:
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
