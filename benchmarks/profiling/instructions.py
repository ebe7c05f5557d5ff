"""Instructions of the host by owner, counted by `valgrind --tool=callgrind`: exact, whatever else the machine does.

What a library executes (copies of data) counts where it was called. Owners are those of `samples.py`, and so is what the
executable must be. Valgrind knows no AVX-512: a fast build for a processor that has it cannot be counted.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

from profiling.samples import owned

_FIELD = re.compile(r"(c?ob|c?fn|c?fi|fl|fe|cfl)=(?:\((\d+)\))?\s*(.*)")


def can_count() -> bool:
    """Whether valgrind is there."""
    return shutil.which("valgrind") is not None


def counted(executable: Path, job: Path, folder: Path) -> Counter[str]:
    """Instructions of one job by owner. Raises CalledProcessError if it cannot be run."""
    out = folder / "callgrind.out"
    command = ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", f"--callgrind-out-file={out}"]
    subprocess.run([*command, str(executable), str(job)], check=True, capture_output=True)
    counts, outside = _by_address(out, executable)
    return owned(counts, executable) + Counter({"libraries": outside})


def _by_address(out: Path, executable: Path) -> tuple[Counter[int], int]:
    """Instructions by address in the executable's file, and what its own code neither executes nor calls."""
    names: dict[str, dict[str, str]] = {"ob": {}, "fn": {}}
    own: Counter[int] = Counter()
    whole, here, called, target, function, entry = 0, False, False, False, "", 0
    for line in out.read_text(errors="replace").splitlines():
        if line[:2] in {"0x", "+0", "-0"} or line[:1].isdigit():
            address, *_, cost = line.split()
            if called:  # the inclusive cost of a call
                called = False
                if here and not target:
                    own[int(address, 16)] += int(cost)
                continue
            whole += int(cost)
            if here:
                own[int(address, 16)] += int(cost)
                if function == "main":
                    entry = min(entry or int(address, 16), int(address, 16))
        elif line.startswith("calls="):
            called = True
        elif field := _FIELD.match(line):
            kind, number, name = field.groups()
            table = names["ob" if kind.endswith("ob") else "fn"]
            if kind in {"ob", "cob", "fn", "cfn"}:
                if number and name:
                    table[number] = name
                name = table.get(number, name) if number else name
            if kind == "ob":
                here = target = Path(name) == executable
            elif kind == "cob":
                target = Path(name) == executable
            elif kind == "fn":
                function, target = name, here
            elif kind == "cfn" and "libc_start_main" in name:
                target = True  # the library calls main: all of the program
        if not called and not line.startswith(("calls=", "cob=", "cfn=", "cfi=", "cfl=")):
            target = here
    symbols = subprocess.run(["nm", str(executable)], check=True, capture_output=True, text=True).stdout
    (main,) = [int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" T main")]
    return Counter({address - entry + main: count for address, count in own.items()}), whole - sum(own.values())
