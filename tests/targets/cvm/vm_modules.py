"""Bytecode modules made by hand, and `fleet-vm` run on them: for tests of the C VM without a model."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from fleet.core.processes import run
from fleet.ir.program import Program
from fleet.targets.bytecode import VM, ByteCodeModule
from fleet.targets.bytecode.contents import ArgumentSlot
from fleet.targets.bytecode.hints import DispatchInfo, print_hint
from fleet.targets.bytecode.opcodes import OpCode as Op
from fleet.targets.cvm.build import build_kernels, build_vm, host_toolchain
from fleet.targets.cvm.compile import TARGET, compile_vm

SPELLED = {
    "bool": "i1",
    "float32": "f32",
    "float64": "f64",
    **{f"{s}int{n}": f"{s or 'i'}{n}" for s in ("", "u") for n in (8, 16, 32, 64)},
}
SANITIZED = ("-g", "-O1", "-DFLEET_GUARDS", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def spelled(array: np.ndarray) -> str:
    return "x".join([*map(str, array.shape), SPELLED[array.dtype.name]])


@cache
def no_kernels() -> Path:
    """A shared object whose table is empty."""
    block = Block()
    block.add_op(ReturnOp())
    program = Program(ModuleOp([FuncOp("model", ([], []), Region(block))]), (), {}, ())
    return build_kernels(compile_vm(program), host_toolchain())


def fleet_vm(path: Path, kernels: Path, *arguments: str, sanitized: bool = False, timeout: float = 60):
    """Runs the C VM; a completed process."""
    program = build_vm(host_toolchain(), SANITIZED if sanitized else ())
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096"}
    return run([str(program), str(path), str(kernels), *arguments], timeout=timeout, env=env)


def prints(values: Sequence[np.ndarray | bool | int | float], said: Sequence[tuple[list[int], dict[str, str]]]) -> ByteCodeModule:
    """A module that prints: (which values, attributes of the print) each. Arrays are weights; numbers of Python's are constants."""
    arrays = [v for v in values if isinstance(v, np.ndarray | np.generic)]
    slots = iter(range(len(arrays)))
    at = {i: next(slots) for i, v in enumerate(values) if isinstance(v, np.ndarray | np.generic)}
    letters = {bool: ("b", "i1"), int: ("I", "i64"), float: ("d", "f64")}
    consts: list[object] = []
    code: list[int] = []
    for which, attributes in said:
        letter, types = "", list[str]()
        for i in which:
            value = values[i]
            if i in at:
                code += [Op.aload, at[i]]
                letter, types = letter + "r", [*types, spelled(np.asarray(value))]
            else:
                code += [Op.ldc, 1, len(consts)]
                consts.append(value)
                found = letters[type(value)]
                letter, types = letter + found[0], [*types, found[1]]
        code += [Op.invokestatic, len(consts)]
        consts.append(print_hint(DispatchInfo("python", "print", [letter], types, [], dict(attributes))))
    arguments = tuple(ArgumentSlot(f"w{i}", "weight", a.shape, a.dtype.name) for i, a in enumerate(arrays))
    weights = {f"w{i}": np.asarray(a) for i, a in enumerate(arrays)}
    return ByteCodeModule(consts, code, "python", len(arrays), (), arguments, (), weights)


def both(module: ByteCodeModule, folder: Path) -> tuple[str, str]:
    """What the Python VM prints, and what the C VM prints."""
    text = io.StringIO()
    VM(module, echo=lambda *values, end="\n": print(*values, end=end, file=text)).run()
    path = folder / "prints.fbc"
    replace(module, target=TARGET).save(path)
    done = fleet_vm(path, no_kernels(), "-o", str(folder / "outputs"))
    assert done.returncode == 0, done.stderr
    return text.getvalue(), done.stdout
