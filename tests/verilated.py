"""How tests build a bench of a single module: Verilator's runtime is compiled once for all of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from fleet.engines.rtl_sim.cache import cache_folder
from fleet.engines.rtl_sim.objects import make_sharing
from fleet.engines.rtl_sim.tools import find_toolchain

_CFLAGS = "-std=c++17 -ffp-contract=off -I.."
"""Of all benches: one with flags of its own compiles a runtime of its own. Its macros stand in the first lines of its copy."""


def verilated(arguments: Sequence[str], folder: Path, prefix: str, fast: str = "-O1") -> Path:
    """The executable `obj/<prefix>` in `folder`, out of the files that `arguments` name there.

    fast: how the design and the bench are optimised.
    """
    tools = find_toolchain()

    def run(command: Sequence[str], count: int = 1) -> None:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout[-1000:], done.stderr[-4000:])

    run([str(tools.verilator), "--cc", "--exe", "--prefix", prefix, "-Mdir", "obj", "-CFLAGS", _CFLAGS, *arguments])
    flags = [f"OPT_FAST={fast}", "OPT_SLOW=-O0", "OPT_GLOBAL=-O1"]
    command = [str(tools.make), "-C", "obj", "-f", f"{prefix}.mk", "-j2", *flags]
    make_sharing(cache_folder() / "objects", command, folder / "obj", os.environ, tools.compiler_version, run)
    return folder / "obj" / prefix
