"""From a changed line of RTL to the verdict of `fleet stream run`: `python benchmarks/edit_loop.py [--rounds N]`.

Each round changes one line of one unit, runs one conformance stream and takes the processor time of the command and of all that it
started. The first build of a design, which makes the objects that later ones share, is shown apart; its cache is a temporary one.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "isa"))

from workspaces import ROOT, Workspace


@dataclass(frozen=True)
class Subject:
    """stream: what runs; file: what is edited; before, after: a line and its other text, `{n}` the number of the round."""

    name: str
    stream: str
    file: Path
    before: str
    after: str
    environment: Mapping[str, str]
    folder: Path


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(subject: Subject, cache: Path) -> float:
    """Seconds of processor time of the command."""
    before = _spent()
    command = [sys.executable, "-m", "fleet.cli.main", "stream", "run", subject.stream]
    environment = {**os.environ, **subject.environment, "FLEET_CACHE": str(cache)}
    done = subprocess.run(command, cwd=subject.folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.stdout + done.stderr)
    return _spent() - before


def _template(folder: Path, kind: str, stream: str, file: str, before: str, after: str) -> Subject:
    """The set that `fleet isa new` writes."""
    work = Workspace(folder / kind)
    work.folder.mkdir()
    work.fleet("init", ".")
    work.new_set("mine", "--kind", kind)
    rtl = work.folder / "sets" / "mine" / "mine" / "rtl"
    return Subject(f"{kind} template", stream, rtl / file, before, after, work.environment, work.folder)


def _own(folder: Path, device: str, file: str, stream: str, before: str, after: str) -> Subject:
    """One of the project's sets, in a copy of the project."""
    project = folder / device
    for part in ("fleet", "rtl_models"):
        shutil.copytree(ROOT / part, project / part, ignore=shutil.ignore_patterns("__pycache__"))
    return Subject(device, stream, project / "rtl_models" / file, before, after, {"PYTHONPATH": str(project)}, project)


def main() -> None:
    """Prints the table, a line as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print("| design | first build, s | edit to verdict, s | without an edit, s |")
    print("|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="fleet-edit-") as name:
        folder = Path(name)
        subjects = (
            _template(
                folder, "vector", "mine_tiny/vadd/random/0", "mine_lanes.sv", "    opcode_o = '0;\n",
                "    opcode_o = 16'({n} - {n});\n",
            ),
            _template(
                folder, "systolic", "mine_tiny/compute/directed/0", "mine_array.sv", "<= above + $unsigned(32'(product));",
                "<= above + $unsigned(32'(product)) + 32'd{n};",
            ),
            _own(
                folder, "vgemm_small", "vgemm/vgemm_storer.sv", "vgemm_small/store/random/0", "elem_q + 17'd1;", "elem_q + 17'd{n};"
            ),
            _own(
                folder, "hbm_small", "hbm0923/hbm0923_elementwise.sv", "hbm_small/elementwise/random/0", "4'd0 : count_q + 4'd1;",
                "4'd0 : count_q + 4'd{n};",
            ),
        )  # fmt: skip
        for subject in subjects:
            text = subject.file.read_text()
            if subject.before not in text:
                sys.exit(f"{subject.file}: no line {subject.before!r}")
            first, again, edited = _run(subject, folder / "cache"), _run(subject, folder / "cache"), list[float]()
            for n in range(2, 2 + rounds):
                subject.file.write_text(text.replace(subject.before, subject.after.format(n=n), 1))
                edited.append(_run(subject, folder / "cache"))
            print(f"| {subject.name} | {first:.1f} | {median(edited):.1f} | {again:.1f} |", flush=True)


if __name__ == "__main__":
    main()
