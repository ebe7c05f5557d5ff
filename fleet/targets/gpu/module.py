"""Program -> kernels as text, and the steps of the host: launches, computations of its own, prints.

Results that are other views of a value (`fleet.targets.riscv.views`) have no step. Operations that do the same on other arrays
share a kernel. A kernel's parameters have the names of the first operation's values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import indent

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, SSAValue

from fleet.errors import DeviceError
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, ElementOp, FleetOp, FusedOp, MatmulOp, PrintOp, kind_of, op_id
from fleet.ir.program import Program
from fleet.ir.schedule import check_matmul
from fleet.targets.gpu.builder import LaunchBody, TextBuilder
from fleet.targets.gpu.kernels import host_reason, launches_of
from fleet.targets.gpu.library import GemmCall, gemm_of
from fleet.targets.gpu.printer import StatementPrinter
from fleet.targets.gpu.products import GPU_CHOICES, MOST
from fleet.targets.gpu.statements import Pointer
from fleet.targets.gpu.surface import Surface
from fleet.targets.gpu.tensor_tiles import tensor_functions
from fleet.targets.riscv.codegen import in_kernels
from fleet.targets.riscv.kernels.fused import describe_bodies
from fleet.targets.riscv.kernels.kernel import I8, ArrayOperand, contiguous, element, index
from fleet.targets.riscv.kernels.operations import describe
from fleet.targets.riscv.plan import HELD, array_of, type_supported
from fleet.targets.riscv.views import view_of
from fleet.transforms.edit import text_of
from fleet.transforms.schedule_loops import loops_of
from fleet.transforms.simplify.infer_shapes import check_known

GROUP = 256
"""Work items of a group."""
_ROUNDS, _MANY = 4, 1 << 18
"""Rounds of a work item, which keep several loads on their way, in launches of that many."""
SCRATCH, STOPPED, FAULT = "%scratch", "%stopped", "%fault"
"""Memory of a run besides values: of work items; the first item with a fault (int32), and its three words (int64)."""
_WORDS = (
    "alignas and asm auto bool break case catch char class const constant continue decltype default delete do double else enum "
    "explicit export extern false float for friend goto half if inline int long mutable namespace new not operator or private "
    "protected public register restrict return short signed sizeof static struct switch template this throw true try typedef "
    "typename union unsigned using virtual void volatile while xor kernel global local uint ulong uchar ushort size_t "
    "fma fmaf sqrt sqrtf fmax fmin floor ceil rint fabs copysign fault stopped scratch i r inside row lane real out linux unix "
    "left right next_left next_right own_left own_right sums lefts rights staged clear multiply load_left load_right store_sums "
    "to_bfloat16 Sums Fragment_f16 Fragment_bf16"
)
_RESERVED = frozenset(_WORDS.split())
_TAKEN = re.compile(r"(?:[vkst]|tile|total)?\d+.*|_.*|get_.*|as_.*|atomic.*|[A-Z][A-Z0-9_]{2,}")
"""Words that no parameter is called: the languages', the generator's own, and macros."""


@dataclass(frozen=True)
class GpuArray:
    """A value in memory: elements of `memory`, from `offset` on. strides, offset: in elements. dtype `HELD`: the host keeps it."""

    memory: str
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0


@dataclass(frozen=True)
class GpuKernel:
    """One kernel. text: in the language. groups, local: of a launch. stops: whether a fault may end it."""

    name: str
    text: str
    groups: int
    local: int
    stops: bool


@dataclass(frozen=True)
class KernelStep:
    """A launch for an operation; arguments: names of memory, in the kernel's order."""

    op: FleetOp
    kernel: GpuKernel
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class HostComputation:
    """An operation that the host computes, or a print. reason: why, "" for a print."""

    op: FleetOp
    reason: str


@dataclass(frozen=True)
class GemmStep:
    """A product that cuBLAS computes. arguments: names of memory and elements before the first one: result, operands."""

    op: FleetOp
    call: GemmCall
    arguments: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class GpuModule:
    """Kernels and steps of a program.

    Attributes:
        program: with the kernels of several operations that it was made of; prepared: before these were made.
        surface: the language.
        text: all kernels.
        kernels: in the order of the text.
        steps: of a run, in order.
        arrays: value -> its arrays: one, or the parts of a tuple.
        sizes: memory -> bytes; constants: memory -> what lies there from the beginning.
        scratch: bytes of `SCRATCH`.
        capability: the compute capability that the kernels need, 80 for 8.0; 0: any.
    """

    program: Program
    prepared: Program
    surface: Surface
    text: str
    kernels: tuple[GpuKernel, ...]
    steps: tuple[KernelStep | GemmStep | HostComputation, ...]
    arrays: Mapping[SSAValue, tuple[GpuArray, ...]]
    sizes: Mapping[str, int]
    constants: Mapping[str, np.ndarray]
    scratch: int
    capability: int = 0


def generate_gpu(program: Program, surface: Surface, *, keep: bool = True) -> GpuModule:
    """Return the kernels of a program after the passes of `fleet.targets.riscv.prepare`.

    keep: whether every result can be read after the run. Raises DeviceError for unknown sizes, and if no operation has a kernel.
    """
    check_known(program, surface.name)
    check_matmul(program.matmul, surface.name, program.source_name)
    return _Module(in_kernels(program, keep=keep, choices=GPU_CHOICES), surface).make(program)


def _numbered(body: str, surface: Surface, rounds: int) -> str:
    """Return the statements of an item of a launch, with its number `i`; of several numbers, a group apart, if it has rounds."""
    if rounds == 1:
        return f"  const int i = {surface.item};\n{body}"
    number = f"{surface.group} * {GROUP * rounds} + {surface.inside} + r * {GROUP}"
    loop = f"  #pragma unroll\n  for (int r = 0; r < {rounds}; ++r) {{\n    const int i = {number};\n"
    return f"{loop}{indent(body, '  ')}  }}\n"


class _Module:
    def __init__(self, program: Program, surface: Surface) -> None:
        self._program, self._surface = program, surface
        self._arrays: dict[SSAValue, tuple[GpuArray, ...]] = {}
        self._sizes: dict[str, int] = {}
        self._constants: dict[str, np.ndarray] = {}
        self._steps: list[KernelStep | GemmStep | HostComputation] = []
        self._kernels: dict[str, list[tuple[GpuKernel, tuple[str, ...]]]] = {}
        self._names: Counter[str] = Counter()
        self._words: dict[str, str] = {}
        self._scratch = 0

    def make(self, prepared: Program) -> GpuModule:
        for argument, value in zip(self._program.arguments, self._program.function.body.block.args, strict=True):
            self._words[f"%{argument.name}"] = argument.name
            self._own(value, f"%{argument.name}")
        refusals: list[DeviceError] = []
        for op in self._program.operations():
            self._operation(op, refusals)
        if refusals and all(isinstance(step, HostComputation) for step in self._steps):
            raise refusals[0]
        kernels = [kernel for group in self._kernels.values() for kernel, _ in group]
        text = "".join(kernel.text for kernel in kernels)
        surface = self._surface
        functions, capability = tensor_functions(text)
        head = f"// {surface.how}\n{surface.double if 'double' in text else ''}{surface.head}\n{functions}"
        parts = [part for part in (text.rstrip(), self._calls()) if part]
        return GpuModule(
            self._program, prepared, surface, head + "\n\n".join(parts) + "\n", tuple(kernels), tuple(self._steps), self._arrays,
            self._sizes, self._constants, self._scratch, capability,
        )  # fmt: skip

    def _calls(self) -> str:
        """Return the calls of cuBLAS, which the host makes between the launches, as comments; "" without any."""
        lines = [
            f"// {op_id(step.op)}: {step.call.text(*(self._address(*place) for place in step.arguments))}"
            for step in self._steps
            if isinstance(step, GemmStep)
        ]
        return "\n".join(["// Between the launches, with one = 1 and zero = 0:", *lines]) if lines else ""

    def _address(self, memory: str, offset: int) -> str:
        name = re.sub(r"[^A-Za-z0-9_]", "_", self._words[memory])
        return f"{name} + {offset}" if offset else name

    # ---- memory

    def _own(self, value: SSAValue, name: str) -> None:
        """Give a value memory of its own; a tuple's parts have each their own."""
        type_ = value.type
        parts: Sequence[Attribute] = type_.types.data if isinstance(type_, TupleType) and type_supported(type_) else (type_,)
        made: list[GpuArray] = []
        for n, part in enumerate(parts):
            memory = name if len(parts) == 1 and not isinstance(type_, TupleType) else f"{name}.{n}"
            shape, dtype = array_of(part)
            made.append(GpuArray(memory, dtype, shape, contiguous(shape)))
            if dtype != HELD:
                count = int(np.prod(shape, dtype=np.int64))
                if count > MOST:
                    what = f"{name.removeprefix('%')} has {count:,} elements on {self._surface.name}; expected at most {MOST:,}"
                    raise DeviceError(what, where=self._program.source_name, hint="use a smaller batch")
                self._sizes[memory] = count * dtype.itemsize
            self._words.setdefault(memory, self._words.get(name, "out"))
        self._arrays[value] = tuple(made)

    def _view(self, op: FleetOp) -> GpuArray | None:
        """Return the part of an operand's memory that is the result, or None."""
        if not op.operands:
            return None
        source, *others = self._arrays[op.operands[0]]
        shape, dtype = array_of(op.results[0].type)
        if source.dtype == HELD:
            return None
        if isinstance(op, ElementOp):
            part = (source, *others)[op.index.value.data]
            self._words[part.memory] = text_of(op, "var") or self._words[part.memory]
            return part
        if others or source.dtype != dtype:
            return None
        view = view_of(op, source.shape, source.strides, shape)
        if view is None:
            return None
        return GpuArray(source.memory, dtype, shape, view.strides, source.offset + view.offset)

    # ---- operations

    def _operation(self, op: FleetOp, refusals: list[DeviceError]) -> None:
        if isinstance(op, PrintOp):
            self._steps.append(HostComputation(op, ""))
            return
        result, id_ = op.results[0], op_id(op)
        view = self._view(op)
        if view is not None:
            self._arrays[result] = (view,)
            return
        self._words[id_] = text_of(op, "var") or kind_of(op)
        self._own(result, id_)
        if isinstance(op, ConstantOp):
            (array,) = self._arrays[result]
            self._constants[array.memory] = np.full(array.shape, constant_value(op), array.dtype)
            return
        reason = host_reason(op, [self._operand(v, None) for v in (*op.results, *op.operands)])
        try:
            if reason is None:
                if not self._in_library(op):
                    self._launch(op)
                return
            refusals.append(DeviceError(f"operation {id_} on {self._surface.name}: {reason}", where=text_of(op, "at")))
        except DeviceError as error:
            reason = error.what.partition(": ")[2] or error.what
            refusals.append(DeviceError(error.what.replace("riscv", self._surface.name), where=error.where, hint=error.hint))
        self._steps.append(HostComputation(op, reason))

    def _operand(self, value: SSAValue, pointers: Mapping[str, Pointer] | None) -> ArrayOperand:
        """Return a value as an array of a kernel; of a tuple its first part."""
        array = self._arrays[value][0]
        owner = value.owner
        known = constant_value(owner) if isinstance(owner, ConstantOp) and array.dtype != HELD else None
        pointer = None
        if pointers is not None and known is None:
            pointer = replace(pointers[array.memory], offset=index(array.offset) if array.offset else None)
        return ArrayOperand(pointer, array.dtype, array.shape, array.strides, known)

    def _in_library(self, op: FleetOp) -> bool:
        """Add a call of cuBLAS, if it is asked for and has one for the operation."""
        if self._program.matmul != "cublas" or not isinstance(op, MatmulOp):
            return False
        values = (op.results[0], *op.operands)
        call = gemm_of(*(self._operand(v, None) for v in values))
        if call is None:
            return False
        places = tuple((a.memory, a.offset) for a in (self._arrays[v][0] for v in values))
        self._steps.append(GemmStep(op, call, places))
        return True

    def _launch(self, op: FleetOp) -> None:
        results = self._arrays[op.results[0]]
        operands = [self._arrays[v][0] for v in op.operands]
        memory = list(dict.fromkeys(a.memory for a in (*results, *operands)))
        same = ",".join(f"{memory.index(a.memory)}+{a.offset}" for a in (*results, *operands))
        shapes = [self._operand(v, None) for v in (*op.results, *op.operands)]
        key = f"{describe(op, shapes)}{describe_bodies(op) if isinstance(op, FusedOp) else ''}{same}"
        if key not in self._kernels:
            self._kernels[key] = self._make(op, results, memory)
        for kernel, needed in self._kernels[key]:
            places = [memory[int(n)] if n.isdigit() else n for n in needed]
            self._steps.append(KernelStep(op, kernel, tuple(places)))

    def _make(self, op: FleetOp, results: Sequence[GpuArray], memory: Sequence[str]) -> list[tuple[GpuKernel, tuple[str, ...]]]:
        """Return the kernels of an operation, each with its arguments: numbers of memory, or names of other memory."""
        names = self._parameters(results, memory)
        types = {a.memory: element(a.dtype) if a.dtype.kind != "b" else I8 for a in self._in_memory(op)}
        pointers = {m: Pointer(names[m], types[m]) for m in memory}
        made = [ArrayOperand(pointers[a.memory], a.dtype, a.shape, a.strides) for a in results]
        operands = [self._operand(v, pointers) for v in op.operands]
        b, launches = launches_of(op, made, operands, self._surface, self._program.matmul)
        kind = "fused_" + "_".join(kind_of(one) for one in op.operations[:4]) if isinstance(op, FusedOp) else kind_of(op)
        found: list[tuple[GpuKernel, tuple[str, ...]]] = []
        for launch in launches:
            self._scratch = max(self._scratch, b.scratch * launch.items, b.common)
            found.append(self._kernel(self._name(kind), b, launch, memory, pointers, loops_of(op).unroll))
        return found

    def _in_memory(self, op: FleetOp) -> list[GpuArray]:
        return [*self._arrays[op.results[0]], *(self._arrays[v][0] for v in op.operands)]

    def _name(self, kind: str) -> str:
        self._names[kind] += 1
        number = self._names[kind]
        return f"{kind}_kernel" if number == 1 else f"{kind}_{number}_kernel"

    def _parameters(self, results: Sequence[GpuArray], memory: Sequence[str]) -> dict[str, str]:
        """Return memory -> the name of its parameter."""
        own = [a.memory for a in results]
        names: dict[str, str] = {}
        for m in memory:
            word = re.sub(r"[^A-Za-z0-9_]", "_", self._words[m])
            if m in own:
                name = "out" if len(own) == 1 else f"out_{own.index(m)}"
            elif word in _RESERVED or _TAKEN.fullmatch(word):
                name = f"x_{word}"
            else:
                name = word
            while name in names.values():
                name += "_"
            names[m] = name
        return names

    def _kernel(
        self,
        name: str,
        b: TextBuilder,
        launch: LaunchBody,
        memory: Sequence[str],
        pointers: Mapping[str, Pointer],
        unroll: int | None,
    ) -> tuple[GpuKernel, tuple[str, ...]]:
        surface = self._surface
        alone = launch.items == 1 and launch.groups is None
        local = launch.local or (1 if alone else GROUP)
        printer = StatementPrinter(surface, b.base)
        body = printer.text(launch.block, 1)
        rounds = unroll or (_ROUNDS if launch.items >= _MANY else 1)
        if launch.groups is not None or "for (" in body or launch.items < local * rounds:
            rounds = 1
        groups = launch.groups or -(-launch.items // (local * rounds))
        if launch.groups is None and launch.items < groups * local * rounds:
            body = f"  if (i < {launch.items}) {{\n{indent(body, '  ')}  }}\n"
        if launch.groups is None and re.search(r"\bi\b", body):
            body = _numbered(body, surface, rounds)
        parameters: list[str] = []
        arguments: list[str] = []
        for n, m in enumerate(memory):
            pointer = pointers[m]
            if not re.search(rf"\b{pointer.name}\[", body):
                continue
            written = re.search(rf"^\s*{pointer.name}\[[^;]*\] = ", body, re.MULTILINE)
            parameters.append(self._parameter(surface.types[str(pointer.type)], pointer.name, constant=written is None))
            arguments.append(str(n))
        if re.search(r"\bscratch\b", body):
            parameters.append(self._parameter(surface.types["i8"], "scratch"))
            arguments.append(SCRATCH)
        if printer.stops:
            parameters += [self._parameter("int", "stopped"), self._parameter(surface.types["i64"], "fault")]
            arguments += [STOPPED, FAULT]
        busy = "" if launch.groups is None or launch.local else surface.busy
        head = surface.kernel.format(local=local, busy=busy, name=name, parameters=", ".join(parameters))
        return GpuKernel(name, f"{head} {{\n{body}}}\n\n", groups, local, printer.stops), tuple(arguments)

    def _parameter(self, type_: str, name: str, *, constant: bool = False) -> str:
        surface = self._surface
        return f"{surface.memory}{'const ' if constant else ''}{type_} *{surface.restrict} {name}"
