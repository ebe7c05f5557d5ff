"""Faults that are planted in a copy of the hardware, one at a time, and the shrinking of a long program that finds each.

`python sim/shrink/planted_programs.py DEVICE INSTRUCTIONS SECONDS MEMORY ISSUE`, run with a copy's sources, draws programs of so
many instructions until one fails, shrinks it and prints a line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "verify" / "shrink"))

from faulty import program
from planting import Edit, Project

from fleet.isa.codec import disassemble
from fleet.isa.registry import find_device
from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.shrink.stream import shrink_stream

HBM, VGEMM = "rtl_models/hbm0923/hbm0923", "rtl_models/vgemm/vgemm"
LENGTH, SECONDS, PROGRAMS = 200, 120, 40


@dataclass(frozen=True)
class Planted:
    """name, what: for tables; edit: what is planted; issue, memory: under which it shows; most: instructions that may be left."""

    name: str
    what: str
    device: str
    edit: Edit
    issue: str = "regs"
    memory: str = "ideal"


@dataclass(frozen=True)
class Row:
    """How it went: instructions and bytes of memory before and after, attempts, and the program that is left."""

    program: str
    signature: str
    setting: str
    before: tuple[int, int]
    after: tuple[int, int]
    attempts: int
    seconds: float
    finished: bool
    listing: tuple[str, ...]


FAULTS = (
    Planted(
        "missed hazard", "dispatcher: a younger instruction reads activations before the older one has written them", "hbm_small",
        Edit(f"{HBM}_dispatch.sv", "if (meets(younger.data[r], older.wr[w]) && !data_q[order_q[i]])", "if (1'b0)"),
        "aux", "stall:1",
    ),
    Planted(
        "dropped last beat", "DDR writer: the last beat of an output is never written", "hbm_small",
        Edit(
            f"{HBM}_ddr_writer.sv", "assign push          = valid_i || extra_push;",
            "assign push          = (valid_i && !(out_i.last_block && out_i.last_token)) || extra_push;",
        ),
    ),
    Planted(
        "off-by-one counter", "mvm: a group of 128 inputs ends a beat too early", "hbm_small",
        Edit(
            f"{HBM}_mvm_issue.sv", "ctrl_o.group_end   = plan_i.group != 2'd2 || beat_q[0] || last_beat || kept != Dense;",
            "ctrl_o.group_end   = plan_i.group != 2'd2 || !beat_q[0] || last_beat || kept != Dense;",
        ),
    ),
    Planted(
        "wrong rounding", "binary32 to FP16: ties are rounded up instead of to even", "hbm_small",
        Edit(
            "rtl_models/arith/fp_pkg.sv", "(32'(p.mag[44]) & 32'(p.mag[45] || p.mag[43:0] != 44'd0))", "32'(p.mag[44])",
        ),
    ),
    Planted(
        "wrong shift", "alu: a shift right by 32 is one by 0", "vgemm_small",
        Edit(f"{VGEMM}_array.sv", "(b > 32'd31) ? 5'd31", "(b > 32'd32) ? 5'd31"),
    ),
    Planted(
        "missed token", "load and compute do not wait for tokens of the first queue", "vgemm_small",
        Edit(f"{VGEMM}_stage.sv", "(head.pop & ~tokens_i) == '0", "(head.pop & ~tokens_i & 4'b1110) == '0"),
        "aux", "stall:1",
    ),
)  # fmt: skip


def shrink_planted(fault: Planted, folder: Path, length: int = LENGTH, seconds: float = SECONDS) -> Row:
    """Plants the fault in a copy of the project under `folder` and shrinks there. Raises AssertionError where nothing fails."""
    project = Project.copy(folder)
    project.edit(fault.edit)
    process = subprocess.run(
        [sys.executable, __file__, fault.device, str(length), str(seconds), fault.memory, fault.issue],
        env={**os.environ, "PYTHONPATH": str(folder)}, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout + process.stderr
    table = json.loads(process.stdout.splitlines()[-1])
    return Row(**{k: tuple(v) if isinstance(v, list) else v for k, v in table.items()})


def main(arguments: Sequence[str]) -> int:
    """The side that runs with the copy's sources."""
    device, length, seconds, memory, issue = arguments
    setting = Setting(memory, "aux" if issue == "aux" else "regs")
    instruction_set, _ = find_device(device)
    with StreamRunner(device) as runner:
        programs = (program(device, seed, int(length)) for seed in range(PROGRAMS))
        case = next((c for c in programs if _fails(runner, c, setting)), None)
    if case is None:
        print(f"none of {PROGRAMS} programs fails")
        return 1
    began = time.monotonic()
    found = shrink_stream(case, setting, seconds=float(seconds))
    row = Row(
        case.name, str(found.signature), found.outcome.setting.name,
        (found.before.instructions, found.before.bytes), (found.after.instructions, found.after.bytes),
        found.ran, round(time.monotonic() - began, 1), found.finished,
        tuple(disassemble(instruction_set, c) for c in found.outcome.case.calls),
    )  # fmt: skip
    print(json.dumps(asdict(row)))
    return 0


def _fails(runner: StreamRunner, case: StreamCase, setting: Setting) -> bool:
    from fleet.verify.shrink.oracle import Attempt, ShrinkOracle

    attempt = Attempt(case, setting, 0, tuple(range(len(case.calls))))
    return ShrinkOracle(runner, time.monotonic() + 1, lambda _: None, attempt).run(attempt).signature is not None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
