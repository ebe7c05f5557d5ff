"""Programs that another process has compiled for this machine: what their code needs, without passes and code generation.

An entry in the cache's folder `host` belongs to a program with its weights, a schedule, a processor, and fleet's own sources. It
says where arrays lie, has the weights that passes have made, and names the code (`fleet.targets.host.kept`).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from pathlib import Path

import numpy as np

from fleet.core.codec import decode, encode
from fleet.errors import FleetError
from fleet.ir.program import Program
from fleet.ir.weights import Weights
from fleet.targets.host.code import Arena, HostCode
from fleet.targets.host.kept import keep, kept, kept_path
from fleet.targets.host.loader import host_machine, load
from fleet.targets.riscv.plan import Region
from fleet.targets.riscv.stored import StoredBuffer, StoredPrint, stored, stored_prints

_MOST = 1 << 25
"""Bytes of weights made by passes that an entry may have."""
_ROOMS = ("ir", "symbols", "transforms", "targets/host", "targets/riscv", "targets")
"""Folders of the sources that decide what code is made of a program."""


@dataclass(frozen=True)
class ReadyHost:
    """A program's code, and what it prints."""

    code: HostCode
    prints: tuple[StoredPrint, ...]

    def printed(self) -> str:
        """Return the text of the last run's prints."""
        text = StringIO()
        for one in self.prints:
            one.show(self.code.fetch, text)
        return text.getvalue()


@dataclass(frozen=True)
class _Record:
    """An entry. code: name of the object. made: weights whose bytes follow, in order; all others are the program's."""

    code: str
    regions: tuple[Region, ...]
    inputs: tuple[StoredBuffer, ...]
    outputs: Mapping[str, StoredBuffer]
    weights: tuple[StoredBuffer, ...]
    made: tuple[str, ...]
    prints: tuple[StoredPrint, ...]
    operations: tuple[tuple[str, str | None], ...]
    checks: Mapping[str, str]
    symbols: Mapping[str, int]


def ready_host(program: Program) -> ReadyHost:
    """Return a program's code for this machine, without its intermediate results. Raises what `compile_host` raises."""
    path = _path(program)
    found = _known(program, path)
    return found if found is not None else _compiled(program, path)


def _path(program: Program) -> Path:
    processor, features, _machine = host_machine()
    names = [program.outputs, [a.name for a in program.arguments], program.source_name]
    key = json.dumps([_sources(), processor, features, repr(program.schedule), program.hash, names])
    return kept_path(f"{hashlib.sha256(key.encode()).hexdigest()}.program")


@lru_cache(maxsize=1)
def _sources() -> str:
    """Return a digest that is another one when a source of `_ROOMS` has been written."""
    root = Path(__file__).parents[2]
    rows = sorted(row for room in _ROOMS for row in _written(root, root / room, deep=room != "targets"))
    return hashlib.sha256(repr([np.__version__, rows]).encode()).hexdigest()


def _written(root: Path, folder: Path, *, deep: bool) -> Iterator[tuple[str, int, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                found = entry.stat()
                yield entry.path[len(str(root)) :], found.st_size, found.st_mtime_ns, found.st_ctime_ns
            elif deep and entry.is_dir() and entry.name != "__pycache__":
                yield from _written(root, Path(entry.path), deep=True)


def _known(program: Program, path: Path) -> ReadyHost | None:
    body = kept(path)
    if body is None:
        return None
    size = int.from_bytes(body[:8], "little")
    try:
        record = decode(_Record, json.loads(body[8 : 8 + size]), str(path))
    except (ValueError, FleetError):
        return None
    code = kept(kept_path(record.code))
    if code is None:
        return None
    import llvmlite.binding as llvm

    arena = Arena(record.regions, program.source_name)
    at = 8 + size
    for weight in record.weights:
        view = arena.view(weight.buffer())
        if weight.name in record.made:
            view[...] = np.frombuffer(body, view.dtype, view.size, at).reshape(view.shape)
            at += view.nbytes
        else:
            view[...] = program.weights[weight.name]
    module = llvm.parse_assembly("\n".join(f'@"{symbol}" = external global i8' for symbol in record.symbols))
    engine = llvm.create_mcjit_compiler(module, host_machine()[2])
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    load(engine, module, record.symbols, arena)
    checks = {int(number): message for number, message in record.checks.items()}
    inputs, outputs = tuple(b.buffer() for b in record.inputs), tuple((n, b.buffer()) for n, b in record.outputs.items())
    return ReadyHost(HostCode(inputs, outputs, record.operations, checks, engine, arena), record.prints)


def _compiled(program: Program, path: Path) -> ReadyHost:
    from fleet.targets.host.compile import compile_host
    from fleet.targets.riscv.prepare import prepared

    changed = prepared(program, "riscv")
    made = compile_host(changed, keep=False)
    plan, prints = made.plan, stored_prints(changed, made.plan)
    weights = tuple(map(stored, plan.weights.values()))
    new = [w.name for w in weights if not _is_same(program, changed, w.name)]
    if sum(plan.weights[name].nbytes for name in new) <= _MOST and len(dict(plan.outputs)) == len(plan.outputs):
        record = _Record(
            made.kept.path.name,
            plan.regions,
            tuple(map(stored, plan.inputs.values())),
            {name: stored(buffer) for name, buffer in plan.outputs},
            weights,
            tuple(new),
            prints,
            made.operations,
            {str(number): message for number, message in made.checks.items()},
            made.symbols,
        )
        text = json.dumps(encode(record)).encode()
        arrays = (np.ascontiguousarray(changed.weights[name]).tobytes() for name in new)
        keep(path, len(text).to_bytes(8, "little") + text + b"".join(arrays))
    return ReadyHost(made, prints)


def _is_same(before: Program, after: Program, name: str) -> bool:
    """Return whether a weight is the program's own."""
    if name not in before.weights:
        return False
    old, new = (p.weights.entries if isinstance(p.weights, Weights) else p.weights for p in (before, after))
    return old.get(name) is new.get(name)
