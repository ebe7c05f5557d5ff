"""Functions compiled for this machine's processor: LLVM IR in, callable addresses out, kept on disk between processes.

Only a faster way to what NumPy computes: whoever uses it keeps a NumPy path, which is taken where llvmlite is missing, the
processor is not x86-64, or `FLEET_KERNEL=numpy` asks for it.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fleet.core.cache import cache_root
from fleet.core.sealed import read_sealed, write_sealed
from fleet.errors import SetupError

VARIABLE = "FLEET_KERNEL"
VARIANTS = ("avx512", "avx2", "portable")
"""Best first. `numpy` stands beside them for no compiled code at all."""
_NEEDS: dict[str, frozenset[str]] = {
    "avx512": frozenset({"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vnni", "f16c", "fma"}),
    "avx2": frozenset({"avx2", "f16c", "fma"}),
    "portable": frozenset(),
}
_BASELINE = "x86-64"
_HERE = Path(__file__).resolve().parent
_SHARED = (_HERE / "native.py", _HERE / "native_ir.py")


CType = Any
"""A type of ctypes, None for no result; ctypes gives their base no public name."""


@dataclass(frozen=True)
class Target:
    """The machine for which code is made.

    variant: one of VARIANTS, by which kernels choose their instructions; cpu, features: as LLVM names them.
    """

    variant: str
    cpu: str
    features: str


def _llvm() -> Any:  # llvmlite has no type information
    import llvmlite.binding

    return llvmlite.binding


@lru_cache(maxsize=1)
def _processor() -> tuple[str, frozenset[str], str] | None:
    """(name, features that are there, all features as a string); None where nothing can be compiled."""
    if platform.machine() not in {"x86_64", "AMD64"}:
        return None
    try:
        llvm = _llvm()
    except ImportError:
        return None
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    return llvm.get_host_cpu_name(), frozenset(f for f, there in features.items() if there), features.flatten()


def variants() -> tuple[str, ...]:
    """The variants that this machine can run, best first; empty where nothing can be compiled."""
    processor = _processor()
    return () if processor is None else tuple(v for v in VARIANTS if processor[1] >= _NEEDS[v])


def target() -> Target | None:
    """Return the target to compile for: the best variant, or the one that FLEET_KERNEL names; None for NumPy.

    Raises:
        SetupError: FLEET_KERNEL names what is not known or what this machine cannot run.
    """
    asked = os.environ.get(VARIABLE)
    if asked == "numpy":
        return None
    return _target(asked or "")


@lru_cache(maxsize=8)
def _target(asked: str) -> Target | None:
    there = variants()
    if asked and asked not in there:
        choices = ", ".join((*there, "numpy"))
        raise SetupError(
            f"'{asked}' is not a kind of compiled code that this machine runs", where=VARIABLE, hint=f"one of {choices}"
        )
    processor = _processor()
    if processor is None or not there:
        return None
    variant = asked or there[0]
    if variant == "portable":
        return Target(variant, _BASELINE, "")
    cpu, _, features = processor
    if variant == "avx2":
        features += ",-avx512f"  # and with it all that builds on it
    return Target(variant, cpu, features)


@lru_cache(maxsize=1)
def _jit() -> Any:  # of llvmlite
    return _llvm().create_lljit_compiler()


def compile_library(
    name: str,
    for_target: Target,
    sources: Sequence[Path],
    build: Callable[[Target], object],
    signatures: Mapping[str, tuple[CType, Sequence[CType]]],
) -> Mapping[str, Callable[..., Any]]:  # what the signatures say
    """Compiles, or takes the object from the disk cache. The code stays loaded until the process ends: call once a target.

    Args:
        name: of the library, for the cache.
        for_target: from `target`.
        sources: the files that `build` depends on; with versions and processor their text is the cache's key.
        build: makes the llvmlite module.
        signatures: function -> (ctypes result, ctypes arguments).

    Returns:
        The functions by name. They check nothing and run without the interpreter's lock.
    """
    import llvmlite

    llvm = _llvm()
    h = hashlib.sha256(repr((llvmlite.__version__, llvm.llvm_version_info, for_target, name)).encode())
    for path in (*_SHARED, *sources):
        h.update(hashlib.sha256(path.read_bytes()).digest())
    key = h.hexdigest()
    folder = _cache_folder()
    path = folder / f"{name}-{key[:32]}.o" if folder else None
    code = read_sealed(path, key, "the compiled kernel") if path else None
    if code is None:
        code = _emit(str(build(for_target)), for_target)
        if path:
            write_sealed(path, key, code)
    builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for symbol in signatures:
        builder.export_symbol(symbol)
    loaded = builder.link(_jit(), f"{name}{len(_loaded)}")
    _loaded.append(loaded)
    return {symbol: ctypes.CFUNCTYPE(result, *arguments)(loaded[symbol]) for symbol, (result, arguments) in signatures.items()}


_loaded: list[object] = []
"""Code that LLVM loaded. It would be freed with its tracker, so all trackers are kept."""


def _emit(text: str, for_target: Target) -> bytes:
    """Optimises and compiles; x86-64 ELF."""
    llvm = _llvm()
    triple = llvm.Target.from_default_triple()
    machine = triple.create_target_machine(cpu=for_target.cpu, features=for_target.features, opt=3, reloc="pic", codemodel="small")
    module = llvm.parse_assembly(text)
    module.verify()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


def _cache_folder() -> Path | None:
    """`native` in fleet's cache; None unless it is ours alone to write."""
    try:
        folder = cache_root() / "native"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.lstat()
    except (OSError, RuntimeError):
        return None
    # What lies there is run: nobody else may have put it there.
    return folder if folder.is_dir() and found.st_uid == os.getuid() and not found.st_mode & 0o022 else None
