"""Builds `fleet-vm` and the shared objects with kernels, once per content: `cvm` in fleet's cache."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fleet.core.cache import cache_root
from fleet.core.processes import run
from fleet.core.scratch import Scratch
from fleet.core.sealed import BrokenSealError, check_folder, seal_folder
from fleet.errors import FleetError, SetupError
from fleet.targets.cvm.compile import MACHINES, Machine, VmProgram, kernels_object, native

FLAGS: tuple[str, ...] = ("-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2")
WARNINGS: tuple[str, ...] = ("-Wall", "-Wextra", "-Wshadow", "-Wconversion")
LIBRARIES: tuple[str, ...] = ("-lm", "-ldl")
"""libdl is empty if libc contains it."""


@dataclass(frozen=True)
class CrossToolchain:
    """The toolchain that builds programs for another machine, and runs them on this one.

    Attributes:
        compiler: of C11, with gcc's options.
        launcher: words before a program's name to run it.
        machine: target of the kernels.
        missing: what is not installed and how to get it, or None.
    """

    compiler: str
    launcher: tuple[str, ...]
    machine: Machine
    missing: str | None = None


def host_toolchain() -> CrossToolchain:
    """Return this machine's own toolchain: `cc`, or `gcc`."""
    found = next((c for c in ("cc", "gcc") if shutil.which(c)), None)
    missing = None if found else "no C compiler is installed; install the package gcc"
    return CrossToolchain(found or "cc", (), native(), missing)


def riscv_toolchain() -> CrossToolchain:
    """Return Debian's cross compiler for rv64gc, and qemu-user to run its programs."""
    return _crossing("riscv64", "riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross")


def aarch64_toolchain() -> CrossToolchain:
    """Return Debian's cross compiler for AArch64, and qemu-user to run its programs."""
    return _crossing("aarch64", "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross")


def _crossing(machine: str, compiler: str, packages: str) -> CrossToolchain:
    emulator = f"qemu-{machine}"
    needs = {compiler: packages, emulator: "qemu-user"}
    missing = [tool for tool in needs if shutil.which(tool) is None]
    if missing:
        what = f"{' and '.join(missing)} not installed; install the packages {' '.join(needs[t] for t in missing)}"
        return CrossToolchain(compiler, (emulator,), MACHINES[machine], what)
    return CrossToolchain(compiler, (emulator, "-L", _sysroot(compiler)), MACHINES[machine])


@lru_cache(maxsize=4)
def _sysroot(compiler: str) -> str:
    """Return the folder of a cross compiler's libraries, which contains lib/libc.so.6."""
    library = Path(run([compiler, "-print-file-name=libc.so.6"]).stdout.strip())
    return str(library.resolve().parent.parent) if library.is_absolute() else "/"


def vm_folder() -> Path:
    """Return the folder with the C sources."""
    return Path(__file__).resolve().parent / "vm"


def sources() -> tuple[Path, ...]:
    """Return the C files of `fleet-vm`, in order."""
    return tuple(sorted(vm_folder().glob("*.c")))


def build_vm(tools: CrossToolchain, flags: Sequence[str] = ()) -> Path:
    """Build `fleet-vm`. flags: further compiler options. Raises SetupError, FleetError if it does not compile."""
    files = (*sources(), vm_folder() / "vm.h")
    digest = hashlib.sha256("\0".join((*FLAGS, *LIBRARIES, *flags, _version(tools))).encode())
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())

    def make(folder: Path) -> None:
        line = [tools.compiler, *FLAGS, *flags, f"-I{vm_folder()}", *map(str, sources()), "-o", str(folder / "fleet-vm")]
        _compile([*line, *LIBRARIES], "fleet-vm")

    return _kept("vm", digest.hexdigest(), make) / "fleet-vm"


def build_kernels(program: VmProgram, tools: CrossToolchain) -> Path:
    """Build a shared object with the kernels. Raises SetupError, FleetError if it cannot be linked, DeviceError."""
    import llvmlite
    import llvmlite.binding as llvm

    made_by = f"{llvmlite.__version__} {llvm.llvm_version_info} {tools.machine} {_version(tools)}\n"
    key = hashlib.sha256((made_by + program.kernels).encode()).hexdigest()

    def make(folder: Path) -> None:
        part = folder / "kernels.o"
        part.write_bytes(kernels_object(program.kernels, tools.machine))
        _compile([tools.compiler, "-shared", str(part), "-o", str(folder / "kernels.so"), "-lm", "-pthread"], "the kernels")
        part.unlink()

    return _kept("kernels", key, make) / "kernels.so"


def _version(tools: CrossToolchain) -> str:
    if tools.missing is not None:
        raise SetupError(tools.missing, where="the C VM")
    return _asked(tools.compiler)


@lru_cache(maxsize=4)
def _asked(compiler: str) -> str:
    return str(run([compiler, "--version"]).stdout).partition("\n")[0]


def _compile(line: Sequence[str], what: str) -> None:
    done = run(line)
    if done.returncode:
        said = str(done.stderr).strip().splitlines() or ["without a word"]
        raise FleetError(f"{what} does not compile: {said[0]}", where=line[0], detail="\n".join(said))


def _kept(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """Return the cache folder for `key`; make it if it is missing or damaged."""
    home = cache_root() / "cvm"
    place = home / f"{kind}-{key[:32]}"
    try:
        check_folder(place, key)
        return place
    except BrokenSealError:
        pass
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with Scratch(kind, home) as scratch:
            folder = scratch / "made"
            folder.mkdir()
            make(folder)
            seal_folder(folder, key)
            if place.exists():
                place.rename(scratch / "replaced")
            folder.rename(place)
    except (OSError, subprocess.SubprocessError) as error:
        try:
            check_folder(place, key)  # another process made it meanwhile
        except BrokenSealError:
            raise SetupError(f"cannot build {kind} ({error})", where=str(home), hint="set FLEET_CACHE to a folder") from error
    return place
