"""`fleet doctor`: installed programs and their versions, missing ones and how to get them, and plug-ins that cannot be loaded.

Uses only the standard library, except for the plug-ins: it must run on a machine where nothing is set up (`make doctor`).
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import asdict, dataclass
from pathlib import Path

from fleet.engines.rtl_sim.tools import GHDL_HINT, ICARUS_HINT, MINIMUM, YOSYS_HINT, how_to_get


@dataclass(frozen=True)
class DoctorFinding:
    """One checked program or package.

    needed_by: what does not work without it; hint: how to get it (empty if present); optional: the demo and the tests run without
    it.
    """

    name: str
    found: str
    ok: bool
    needed_by: str
    hint: str = ""
    optional: bool = False


def _all_of(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout or done.stderr).strip()


def _version_of(command: list[str]) -> str:
    text = _all_of(command)
    return text.splitlines()[0].strip() if text else ""


def _tool(name: str, needed_by: str, package: str, *, optional: bool = False) -> DoctorFinding:
    path = shutil.which(name)
    if path is None:
        hint = f"apt-get install {package} (or your distribution's package)"
        return DoctorFinding(name, "missing", False, needed_by, hint, optional)
    return DoctorFinding(name, f"{_version_of([path, '--version'])} ({path})", True, needed_by)


def verilator_version(program: str) -> tuple[int, int] | None:
    """Return the (major, minor) version that the program reports; None if it does not run."""
    # Verilator's perl wrapper cannot start from a path with blanks. Its binary can, and `rtl` builds through a link.
    binary = Path(program).resolve().with_name("verilator_bin")
    words = [_version_of([p, "--version"]) for p in (program, str(binary) if binary.is_file() else program)]
    match = next((m for m in (re.match(r"Verilator (\d+)\.(\d+)", w) for w in words) if m), None)
    return (int(match[1]), int(match[2])) if match else None


def _verilator() -> DoctorFinding:
    bundled = Path(sysconfig.get_path("purelib")) / "verilator" / "bin" / "verilator"
    candidates = [c for c in (shutil.which("verilator"), str(bundled) if bundled.exists() else None) if c]
    too_old = ""
    for candidate in candidates:
        version = verilator_version(candidate)
        if version is None:
            continue
        text = f"{version[0]}.{version[1]:03d} ({candidate})"
        if version >= MINIMUM:
            return DoctorFinding("verilator", text, True, "engine rtl")
        too_old = too_old or f"{text}, too old: 5.036 is the oldest that cocotb 2 accepts"
    return DoctorFinding("verilator", too_old or "missing", False, "engine rtl", how_to_get())


def _other_program(name: str, needed_by: str, hint: str, asks: str = "-V") -> DoctorFinding:
    path = shutil.which(name)
    if path is None:
        return DoctorFinding(name, "missing", False, needed_by, hint, optional=True)
    return DoctorFinding(name, f"{_version_of([path, asks])} ({path})", True, needed_by)


def _mlir() -> DoctorFinding:
    """Check mlir-opt: its version must understand the syntax that the export writes (see `fleet.targets.mlir.lower`)."""
    name = "mlir-opt-22"
    path = shutil.which(name) or shutil.which("mlir-opt", path="/usr/lib/llvm-22/bin")
    if path is None:
        hint = "apt-get install mlir-22-tools (Debian security); `fleet help mlir`"
        return DoctorFinding(name, "missing", False, "engine mlir", hint, optional=True)
    version = re.search(r"version (\S+)", _all_of([path, "--version"]))
    return DoctorFinding(name, f"{version[1] if version else 'of no known version'} ({path})", True, "engine mlir")


def _extra(name: str, *, with_all: bool = True) -> str:
    """Return the command that installs an extra of the package. with_all: `make setup` (only in a checkout) installs it too."""
    checkout = (Path(__file__).parents[3] / "scripts" / "setup").is_file()
    wanted = "-e '." if checkout else "'fleet-cosim"
    return f"{shlex.quote(sys.executable)} -m pip install {wanted}[{name}]'" + (", or make setup" if checkout and with_all else "")


def _package(name: str, needed_by: str, hint: str = "", *, optional: bool = False) -> DoctorFinding:
    hint = hint or f"install it anew: {sys.executable} -m pip install --force-reinstall fleet-cosim, or make setup"
    try:
        return DoctorFinding(name, importlib.metadata.version(name), True, needed_by)
    except importlib.metadata.PackageNotFoundError:
        return DoctorFinding(name, "missing", False, needed_by, hint, optional)


def _cache() -> DoctorFinding:
    root = os.environ.get("FLEET_CACHE") or str(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fleet")
    place = Path(root)
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free / 2**30
    ok = os.access(place, os.W_OK) and free > 1
    hint = "" if ok else "set FLEET_CACHE to a writable folder with 1 GiB free"
    return DoctorFinding("cache folder", f"{root} ({free:.0f} GiB free)", ok, "engine rtl", hint)


def _plugins() -> list[DoctorFinding]:
    """Check third-party plug-ins; empty if fleet cannot be imported because packages are missing."""
    try:
        from fleet.core.plugins import foreign_points, load_plugin
        from fleet.errors import FleetError
        from fleet.isa.registry import GROUP, broken
    except ImportError:
        return []
    found = {f"instruction set {name}": error for name, error in broken().items()}
    for point in foreign_points():
        if point.group != GROUP:
            try:
                load_plugin(point, point.group)
            except FleetError as error:
                found[f"{point.group} {point.name}"] = error
    hint = "mend or uninstall the package that brings it"
    return [DoctorFinding(name, f"cannot be loaded: {error}", False, "whoever asks for it", hint) for name, error in found.items()]


_CROSS = (
    ("riscv64-linux-gnu-gcc", "engine cvm-riscv", "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"),
    ("qemu-riscv64", "engine cvm-riscv", "qemu-user"),
    ("aarch64-linux-gnu-gcc", "engine cvm-aarch64", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
    ("qemu-aarch64", "engine cvm-aarch64", "qemu-user"),
)
"""The C VM's tools for other processors: program, engine, packages."""


def examine() -> list[DoctorFinding]:
    """Check everything. Runs some `--version` commands, changes nothing."""
    python_ok = (3, 11) <= sys.version_info < (3, 14)
    platform_ok = platform.system() == "Linux" and platform.machine() == "x86_64"
    return [
        DoctorFinding(
            "platform", f"{platform.system()} {platform.machine()}", platform_ok, "everything",
            "" if platform_ok else "tested on Linux x86_64 only; elsewhere bring your own Verilator",
        ),
        DoctorFinding("python", f"{platform.python_version()} ({sys.executable})", python_ok, "everything",
                "" if python_ok else "install Python 3.11, 3.12 or 3.13"),
        _tool("g++", "engine rtl", "g++"),
        _tool("make", "engine rtl", "make"),
        _tool("perl", "engine rtl", "perl"),
        _verilator(),
        _other_program("iverilog", "--simulator icarus, engine rtl@icarus", ICARUS_HINT),
        _other_program("yosys", "fleet isa replay --simulator cxxrtl", YOSYS_HINT),
        _other_program("ghdl", "VHDL in fleet isa adopt", GHDL_HINT, "--version"),
        *(_package(p, "everything") for p in ("numpy", "xdsl", "click", "rich", "jinja2")),
        _package("matplotlib", "the report's pictures"),
        _package("systemrdl-compiler", "engines iss and rtl"),
        _package("peakrdl-regblock", "generating register blocks"),
        _package("cocotb", "engine rtl"),
        _package("llvmlite", "engines riscv, aarch64, llvm-cpu and mlir"),
        _tool("gcc", "engine cvm", "gcc", optional=True),
        *(_tool(name, engine, package, optional=True) for name, engine, package in _CROSS),
        _mlir(),
        _package("unicorn", "engines riscv and aarch64", _extra("riscv")),
        *(_package(p, "engine opencl", _extra("opencl", with_all=False), optional=True)
          for p in ("pyopencl", "pocl-binary-distribution")),
        *(_package(p, "engine iree", _extra("iree", with_all=False), optional=True)
          for p in ("iree-base-compiler", "iree-base-runtime")),
        *(_package(p, "engine cuda", _extra("cuda", with_all=False), optional=True) for p in ("cupy-cuda13x", "nvidia-cuda-nvrtc")),
        *(_package(p, "language models from files", _extra("llm"), optional=True)
          for p in ("gguf", "tokenizers")),
        *(_package(p, "ONNX models, in and out", _extra("onnx"), optional=True) for p in ("onnx", "ml_dtypes")),
        _package("onnxruntime", "engine onnxruntime", _extra("onnx"), optional=True),
        *(_package(f"peakrdl-{p}", "fleet isa export", _extra("exports"), optional=True)
          for p in ("ipxact", "uvm", "cheader", "html")),
        *(_package(p, "pytest sim/ --executor dask", _extra("cluster"), optional=True)
          for p in ("distributed", "dask-jobqueue", "cryptography")),
        _package("pyarrow", "fleet night export", _extra("parquet", with_all=False), optional=True),
        _package("pyslang", "fleet isa adopt", _extra("adopt"), optional=True),
        _package("hjson", "registers in hjson, fleet isa adopt", _extra("adopt"), optional=True),
        _package("pyosys", "engines rtl@icarus and rtl@cxxrtl", _extra("simulators", with_all=False), optional=True),
        _package("pytest", "make test, pytest sim/"),
        _cache(),
        *_plugins(),
    ]  # fmt: skip


def main(*, as_json: bool = False) -> int:
    """Print the findings. Returns 0 if the demo and the tests can run, 2 if something that they need is missing or broken."""
    findings = examine()
    missing = [f for f in findings if not f.ok and not f.optional]
    extra = [f for f in findings if not f.ok and f.optional]
    if as_json:
        print(json.dumps({"ok": not missing, "findings": [asdict(f) for f in findings]}, indent=1))
        return 2 if missing else 0
    width = max(len(f.name) for f in findings)
    for f in findings:
        print(f"{'ok      ' if f.ok else 'optional' if f.optional else 'MISSING '} {f.name:{width}}  {f.found}")
        if not f.ok:
            print(f"         {'':{width}}  needed by {f.needed_by}; to get it: {f.hint}")
    without = f"; without {', '.join(dict.fromkeys(f.needed_by for f in extra))}" if extra else ""
    if missing:
        print(f"{len(missing)} missing: {', '.join(f.name for f in missing)}")
    else:
        print(f"the demo and the tests can run{without}" if extra else "everything is there")
    return 2 if missing else 0


if __name__ == "__main__":
    sys.exit(main(as_json="--json" in sys.argv[1:]))
