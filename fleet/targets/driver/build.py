"""Compiles a C++ host program."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from fleet.core.processes import run
from fleet.errors import FleetError, SetupError
from fleet.targets.driver import include_dir


def build_program(
    sources: Sequence[Path],
    output: Path,
    *,
    folders: Sequence[Path] = (),
    macros: Sequence[str] = (),
    debug: bool = False,
    compiler: str = "g++",
) -> Path:
    """Compile and link a host program; the compiler's own output goes to standard error.

    Args:
        sources: C++17 files.
        output: the program.
        folders: with headers, in addition to that of `fleet_host.h`.
        macros: "NAME" or "NAME=VALUE".
        debug: for a debugger instead of for speed.
        compiler: name or path of a C++17 compiler that accepts g++'s options.

    Returns:
        The program's path.

    Raises:
        SetupError: the compiler does not exist.
        FleetError: a source is missing or does not compile.
    """
    program = shutil.which(compiler)
    if program is None:
        raise SetupError(f"`{compiler}` is needed to build a host program and was not found", hint="install g++, or name another")
    for source in sources:
        if not source.is_file():
            raise FleetError("no such file", where=str(source))
    options = ["-g", "-O0"] if debug else ["-O2"]
    includes = [f"-I{folder}" for folder in (*folders, include_dir())]
    defines = [f"-D{macro}" for macro in macros]
    line = [program, "-std=c++17", "-Wall", "-Wextra", *options, *defines, *includes, *map(str, sources), "-o", str(output)]
    if run(line, capture=False).returncode:
        raise FleetError("the host program does not compile (the compiler's own words stand above)", where=str(sources[0]))
    return output
