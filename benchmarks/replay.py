"""Whether a change leaves what is compiled as it was: a digest of every form of every case, compared with another checkout's.

    python benchmarks/replay.py                # print the digests
    python benchmarks/replay.py ../before      # print what differs from that checkout; exit code 1 if anything does

A case's model is compiled once for each slice of its batch: the bytecode file, the RISC-V image and, for each device, loader and
way of issuing that the case names, the stream. A stream's digest is over register writes or binaries, host steps, constants and the
places of tensors, not over the description's hash, which changes with every source that an instruction set imports. A case whose
data is not there (`make` in its file) is compiled with seeded weights.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fleet.cosim.models.loaded import load_model
from fleet.errors import FleetError
from fleet.ir.dialect import op_id
from fleet.ir.program import Program
from fleet.isa.registry import find_device
from fleet.regress.cases import Case, CaseRun, find_cases
from fleet.targets.accel.compile import compile_accel
from fleet.targets.accel.program import AccelProgram, HostStep
from fleet.targets.accel.stream import segment_bytes
from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.targets.riscv.compile import compile_riscv

CASES = Path(__file__).resolve().parents[1] / "sim" / "cases"


def _bytecode(program: Program) -> str:
    with tempfile.TemporaryDirectory(prefix="fleet-replay-") as folder:
        path = Path(folder) / "module.fbc"
        ByteCodeConverter(program).convert().save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()


def _stream(compiled: AccelProgram) -> str:
    h = hashlib.sha256()
    for step in compiled.steps:
        h.update(f"host {op_id(step.op)}\n".encode() if isinstance(step, HostStep) else segment_bytes(step))
    for image in compiled.images():
        h.update(f"{image.space} {image.bank} {image.offset} {len(image.data)}\n".encode())
        h.update(image.data.tobytes())
    for buffer in compiled.plan.buffers.values():
        h.update(f"{buffer.key} {buffer.offset} {buffer.size} {buffer.shape} {buffer.dtype}\n".encode())
    h.update(f"{sorted(compiled.registers.items())}\n".encode())
    return h.hexdigest()


def _form(program: Program, run: CaseRun, form: str) -> str:
    if form == "bytecode":
        return _bytecode(program)
    if form == "riscv" or run.device is None:
        return compile_riscv(program).hash
    return _stream(compile_accel(program, *find_device(run.device), run.lowering))


def _digests(case: Case) -> Iterator[tuple[str, str]]:
    there = all(path is None or path.exists() for path in (case.weights, case.input))
    weights, data = (case.weights, case.input) if there else (None, None)
    done: set[str] = set()
    for run in case.runs:
        program = None
        for form in ("bytecode", "riscv", *([f"{run.device} {run.issue} {run.load}"] if run.device else [])):
            name = f"{case.name} {run.samples or 'all'} {form}"
            if name in done:
                continue
            done.add(name)
            program = program or load_model(case.model, weights, data, 0, run.samples).program
            try:
                yield name, _form(program, run, form)
            except FleetError as error:
                yield name, f"refused: {error}"


def _here() -> dict[str, str]:
    return {name: digest for case in find_cases(CASES) for name, digest in _digests(case)}


def _there(checkout: Path) -> dict[str, str]:
    """The digests that another checkout's fleet makes of this checkout's cases."""
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve())}
    told = subprocess.run([sys.executable, __file__], env=environment, check=True, capture_output=True, text=True).stdout
    return dict(line.split("\t") for line in told.splitlines())


def main() -> None:
    """Print the digests, or the differences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, nargs="?", help="the other checkout")
    before = parser.parse_args().before
    now = _here()
    if before is None:
        print("\n".join(f"{name}\t{digest}" for name, digest in now.items()))
        return
    then = _there(before)
    wrong = [name for name in sorted(now.keys() | then.keys()) if now.get(name) != then.get(name)]
    for name in wrong:
        print(f"{name}: {then.get(name, 'not made')} before, {now.get(name, 'not made')} now")
    print(f"{len(now)} forms of {len(find_cases(CASES))} cases, {len(wrong)} differ from {before}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
