"""Kernels that several threads compute: each a part of the kernel's indices along one axis, started and awaited by the kernel.

Threads are POSIX threads of the C library that is in the process. What cannot be started, the kernel's own thread computes.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from fleet.targets.riscv.kernels.kernel import I32, I64, POINTER, Builder, Value, index, moved_bytes

_VOID = ir.VoidType()


def emit_threads(
    b: Builder, function: Value, count: int, threads: int, scratch: int, emit_part: Callable[[Value, int], None]
) -> None:
    """Emit the body of a kernel whose parts run at the same time.

    Args:
        b: the builder, in `function`: pointers to arrays and to scratch memory.
        count: indices along the axis that is divided.
        threads: at most so many parts.
        scratch: bytes of scratch for one part; `function` is given them for all.
        emit_part: emits the body of a function of the same arguments and the part's first index, for so many indices.
    """
    each = -(-count // threads)
    parts = [(first, min(each, count - first)) for first in range(0, count, each)]
    made: dict[int, Value] = {}
    for _, size in parts:
        if size not in made:
            made[size] = _starter(function, size, emit_part)
    create, join = _library(function.module)
    *arrays, memory = function.args
    packs: list[Value] = []
    names: list[Value] = []
    for n, (first, _) in enumerate(parts):
        pack = b.alloca(POINTER, size=len(arrays) + 2)
        given = [*arrays, moved_bytes(b, memory, n * scratch), b.inttoptr(index(first), POINTER)]
        for i, value in enumerate(given):
            b.store(value, b.gep(pack, [index(i)], source_etype=POINTER))
        packs.append(pack)
    started: list[Value] = []
    for pack, (_, size) in zip(packs[1:], parts[1:], strict=True):
        name = b.alloca(I64)
        names.append(name)
        null = ir.Constant(POINTER, None)
        started.append(b.icmp_signed("==", b.call(create, [name, null, made[size], pack]), ir.Constant(I32, 0)))
    b.call(made[parts[0][1]], [packs[0]])
    for name, there, pack, (_, size) in zip(names, started, packs[1:], parts[1:], strict=True):
        with b.if_else(there) as (then, otherwise):
            with then:
                b.call(join, [b.load(name, typ=I64), ir.Constant(POINTER, None)])
            with otherwise:
                b.call(made[size], [pack])


def _starter(function: Value, size: int, emit_part: Callable[[Value, int], None]) -> Value:
    """Return a function that a thread starts with, `void *f(void *pack)`, of parts of that size."""
    pointers = len(function.args)
    name = f"{function.name}_part_{size}"
    inside = ir.Function(function.module, ir.FunctionType(_VOID, [POINTER] * pointers + [I64]), name)
    inside.linkage = "internal"
    for attribute in ("noinline", "nounwind"):
        inside.attributes.add(attribute)
    set.add(inside.attributes, '"no-builtins"')  # llvmlite's own `add` does not support string attributes
    for argument in inside.args[:-1]:
        argument.add_attribute("noalias")
    emit_part(inside, size)
    start = ir.Function(function.module, ir.FunctionType(POINTER, [POINTER]), f"{name}_start")
    start.linkage = "internal"
    b = ir.IRBuilder(start.append_basic_block("entry"))
    given = [b.load(b.gep(start.args[0], [index(i)], source_etype=POINTER), typ=POINTER) for i in range(pointers + 1)]
    b.call(inside, [*given[:-1], b.ptrtoint(given[-1], I64)])
    b.ret(ir.Constant(POINTER, None))
    return start


def _library(module: Value) -> tuple[Value, Value]:
    """Return the C library's `pthread_create` and `pthread_join`."""
    types = {
        "pthread_create": ir.FunctionType(I32, [POINTER] * 4),
        "pthread_join": ir.FunctionType(I32, [I64, POINTER]),
    }
    found = [module.globals.get(name) or ir.Function(module, type_, name) for name, type_ in types.items()]
    return found[0], found[1]
