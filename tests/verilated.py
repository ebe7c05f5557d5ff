"""How tests build a bench of a single module: Verilator's runtime is compiled once for all of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from fleet.engines.rtl_sim.cache import cache_folder
from fleet.engines.rtl_sim.objects import make_sharing
from fleet.engines.rtl_sim.tools import find_toolchain

_CFLAGS = "-std=c++17 -I.."
"""C++ flags of every bench. They are those of fleet's simulations, so that both share compiled objects; a bench that needs a macro
defines it in its copy of the driver, not here."""

_MOST_SLOW = 1_500_000
"""Bytes of initialisation code (`*__Slow.cpp`) up to which a design is compiled as one source file, which parses the runtime's
headers once. A larger one is compiled file by file: only then does OPT_SLOW apply, and initialisation code is not optimised."""


def verilated(arguments: Sequence[str], folder: Path, prefix: str) -> Path:
    """The executable `obj/<prefix>` in `folder`, out of the files that `arguments` name there."""
    tools = find_toolchain()

    def run(command: Sequence[str], count: int = 1) -> None:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout[-1000:], done.stderr[-4000:])

    run([str(tools.verilator), "--cc", "--exe", "--prefix", prefix, "-Mdir", "obj", "-CFLAGS", _CFLAGS, *arguments])
    flags = ["OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O1"]
    if sum(path.stat().st_size for path in (folder / "obj").glob("*__Slow.cpp")) < _MOST_SLOW:
        flags.append("VM_PARALLEL_BUILDS=0")
    command = [str(tools.make), "-C", "obj", "-f", f"{prefix}.mk", "-j2", *flags]
    make_sharing(cache_folder() / "objects", command, folder / "obj", os.environ, tools.compiler_version, run)
    return folder / "obj" / prefix
