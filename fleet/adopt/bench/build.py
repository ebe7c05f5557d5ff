"""Builds the bench of an adopted design with Verilator, once: the cache knows it by the hash of all that goes in."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from fleet.adopt.bench.library import part_files
from fleet.adopt.bench.plan import BenchPlan
from fleet.adopt.bench.text import TOP, bench_text
from fleet.adopt.closure import closure_hash
from fleet.adopt.workspace import AdoptWorkspace
from fleet.core.notice import notice
from fleet.core.processes import start
from fleet.core.sealed import BrokenSealError, check_folder, remove_unused, seal_folder
from fleet.engines.rtl_sim.build import BuildError, wave_options
from fleet.engines.rtl_sim.cache import cache_folder, locked
from fleet.engines.rtl_sim.logs import keep_log
from fleet.engines.rtl_sim.objects import make_sharing
from fleet.engines.rtl_sim.part import OBJCACHE, begin, goes_on, mark_verilated, open_part, remove_old
from fleet.engines.rtl_sim.tools import SimulatorTools, find_toolchain
from fleet.errors import DeviceError, SetupError

__all__ = ["build_bench", "wave_name"]

# Style and lint of foreign sources are their owner's business; errors still end the build, and build.log has the warnings.
_VERILATOR = (
    "--cc", "--exe", "--main", "--timing", "--prefix", "Vtop", "--top-module", TOP, "-O3", "--x-assign", "fast",
    "--x-initial", "unique", "--assert", "--timescale", "1ns/1ps", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--quiet-stats",
    "-Mdir", "obj",
)  # fmt: skip
_MAKE = ("OPT_FAST=-O1", "OPT_GLOBAL=-O1", "OPT_SLOW=-O0")
"""A smoke test runs thousands of cycles, not millions: the compiler is what takes time."""
_EXECUTABLE = "Vtop"
_ERROR_LINE = re.compile(r"^%Error|(^|\s)(fatal )?error:|undefined reference|No space left|No such file")
_SHOWN = 5


def build_bench(work: AdoptWorkspace, plan: BenchPlan) -> Path:
    """The executable, built now or taken from the cache.

    Raises DeviceError where modules have no source, BuildError where something does not compile, SetupError for tools and disk.
    """
    if work.top.missing:
        m = work.top.missing[0]
        more = f" and {len(work.top.missing) - 1} more" if len(work.top.missing) > 1 else ""
        raise DeviceError(
            f"{m.name}{more} has no source ({m.path})", where=m.where,
            hint="add a file with a model of it to `substitutes` in adopt.toml",
        )  # fmt: skip
    tools = find_toolchain()
    text = bench_text(work, plan)
    options = [*_VERILATOR, *wave_options(tools)]
    key = _key(work, text, options, tools)
    folder = cache_folder()
    with contextlib.suppress(BrokenSealError):
        return _checked(folder / key, key)
    with locked(folder / f"{key}.lock", lambda: None):
        if (folder / key).is_dir():
            try:
                return _checked(folder / key, key)
            except BrokenSealError as error:
                notice(f"{folder / key}: the stored simulation is not what was built: {error}; building it again")
                shutil.rmtree(folder / key, ignore_errors=True)
        remove_old(folder)
        remove_unused(folder / "objects")
        part = folder / f"{key}.part"
        try:
            open_part(folder, key, [("bench.sv", text.encode())])
            begun = time.monotonic()
            _compile(work, part, options, tools)
            info = {
                "seconds": time.monotonic() - begun, "top": work.top.name, "parameters": dict(work.parameters),
                "flavour": "adopted", "options": options, "verilator": tools.verilator_version, "compiler": tools.compiler_version,
            }  # fmt: skip
            (part / "info.json").write_text(json.dumps(info, indent=2), encoding="utf-8")
            shutil.move(part / "obj" / _EXECUTABLE, part / _EXECUTABLE)
            begin(part)
            seal_folder(part, key)
            os.replace(part, folder / key)
        except KeyboardInterrupt:  # whoever wants it next goes on with it
            raise
        except OSError as error:
            shutil.rmtree(part, ignore_errors=True)
            raise SetupError(f"cannot build the bench ({error})", where=str(folder), hint="free room or set FLEET_CACHE") from error
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    return folder / key / _EXECUTABLE


def wave_name(executable: Path) -> str:
    """wave.fst or wave.vcd: what an executable writes."""
    options: list[str] = json.loads((executable.parent / "info.json").read_text(encoding="utf-8"))["options"]
    return "wave.fst" if "--trace-fst" in options else "wave.vcd"


def _checked(folder: Path, key: str) -> Path:
    check_folder(folder, key).sha256(_EXECUTABLE)
    return folder / _EXECUTABLE


def _key(work: AdoptWorkspace, text: str, options: Sequence[str], tools: SimulatorTools) -> str:
    """SHA-256 of everything that the executable depends on."""
    digest = hashlib.sha256()
    versions = [tools.verilator_version, tools.compiler_version, platform.machine(), closure_hash(work.top, work.sources)]
    digest.update(json.dumps([versions, list(options), _MAKE, text]).encode())
    for path in (*part_files(work.protocols.values()), *work.sources.waivers, *work.sources.cpp):
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:32]


def _compile(work: AdoptWorkspace, folder: Path, options: Sequence[str], tools: SimulatorTools) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("VERILATOR_ROOT", "VERILATOR_BIN", "MAKEFLAGS", "MAKELEVEL")}
    environment["OBJCACHE"] = OBJCACHE
    sources = work.sources
    command = [str(tools.verilator), *options]
    command += [f"-I{p}" for p in sources.include_dirs] + [f"-D{n}={v}" if v else f"-D{n}" for n, v in sources.defines]
    for path in sources.library_dirs:
        command += ["-y", str(path)]
    command += [w for path in sources.library_files for w in ("-v", str(path))]
    files = (*sources.waivers, *part_files(work.protocols.values()), *work.top.files, *sources.cpp)
    command += [*map(str, files), "bench.sv"]

    def step(words: Sequence[str], _count: int = 1) -> None:
        _step(work, words, folder, environment)

    if not goes_on(folder, command):
        step(command)
        mark_verilated(folder, command)
    make = [str(tools.make), "-C", "obj", "-f", "Vtop.mk", "-j2", *_MAKE]
    run: Callable[[Sequence[str], int], None] = step
    make_sharing(folder.parent / "objects", make, folder / "obj", environment, tools.compiler_version, run)


def _step(work: AdoptWorkspace, command: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
    """Runs one command, its output appended to build.log."""
    log = folder / "build.log"
    with log.open("a") as f:
        f.write("$ " + " ".join(command) + "\n")
        f.flush()
        begun = f.tell()
        with start(command, cwd=folder, env=environment, stdout=f, stderr=subprocess.STDOUT) as process:
            code = process.wait()
    if code != 0:
        with log.open(errors="replace") as f:
            f.seek(begun)
            output = f.read()
        lines = [line for line in output.splitlines() if _ERROR_LINE.search(line)] or output.splitlines()[-3:]
        first = [re.sub(r"^%Error(-[A-Z]+)?: ", "", line.strip()) for line in lines[:_SHOWN]]
        kept = keep_log((folder / "key").read_text(encoding="utf-8"), log.read_bytes())
        raise BuildError(
            f"the bench does not compile: {first[0] if first else 'no message'}", where=work.top.name,
            hint=f"the whole log is in {kept}", detail="\n".join(first[1:]) or None,
        )  # fmt: skip
