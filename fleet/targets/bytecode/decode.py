"""Decodes bytecode to steps on registers, with the values that die at each step: the form that the VM runs.

Decoding runs the operand stack symbolically: the sources (slots, constants) and the target (a slot) of a step are known before the
run, so that a run needs no stack. Where blocks meet, stack values are in separate registers, one per depth. Semantics are those of
the stack machine; a test compares them with a plain interpreter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fleet.errors import FleetError, ModelError
from fleet.targets.bytecode.flow import ELEMENT_DTYPES, BasicBlock, ControlFlow, analyse
from fleet.targets.bytecode.hints import DispatchInfo, parse_type
from fleet.targets.bytecode.instructions import BytecodeInstruction, Form
from fleet.targets.bytecode.module import ByteCodeModule
from fleet.targets.bytecode.opcodes import OpCode, TypeCode
from fleet.targets.bytecode.operators import Operator, OperatorKernel, kernel
from fleet.targets.bytecode.printing import printer

MAX_CONSTANT_BYTES = 1 << 31
"""Maximum bytes of a tensor made by one ldc; protects against code that would exhaust memory."""

_MADE_ONCE = 1 << 16
"""Constant tensors up to this size are made once, at decoding; larger ones are made, and freed, in every run."""


@dataclass
class DecodedStep:
    """One call.

    Attributes:
        function: takes the sources' values; its result goes to target (None: no result).
        info: the dispatch; None for moves and constants.
        name: id of the IR operation, if there is one.
        offset: of the instruction in the code.
        dead: registers that nothing reads after this step.
    """

    function: OperatorKernel
    sources: tuple[int, ...]
    target: int | None
    offset: int
    info: DispatchInfo | None = None
    name: str | None = None
    dead: tuple[int, ...] = ()

    @property
    def place(self) -> str:
        """The operation's id or the code offset, for messages."""
        return self.name or f"bytecode offset {self.offset}"

    @property
    def number_dtype(self) -> np.dtype | None:
        """The IR's dtype of a result that is a Python number, else None."""
        if self.info is None or not self.info.python_result:
            return None
        return parse_type(self.info.out_types[0])[1]


@dataclass
class StepBlock:
    """Steps and their successor: without a condition `otherwise`, else `then` if register `condition` equals `when`.

    `weight` is the steps that a run of the block counts; 0: its steps and one.
    """

    steps: list[DecodedStep] = field(default_factory=list[DecodedStep])
    condition: int | None = None
    when: bool = True
    then: int = -1
    otherwise: int = -1
    entry_dead: tuple[int, ...] = ()
    weight: int = 0


@dataclass
class DecodedCode:
    """Decoded code: blocks (block `len(blocks)` is the end), and the initial registers (with constants in place)."""

    blocks: list[StepBlock]
    frame: list[Any]


def decode(module: ByteCodeModule, operators: Mapping[str, Operator], echo: OperatorKernel) -> DecodedCode:
    """Decode a module. Raises ModelError with the offset if the code is malformed or an operator is unknown."""
    flow = analyse(module)
    for output in module.outputs:
        if flow.end is not None and output.slot not in flow.end.slots:
            raise ModelError(f'output "{output.name}" is in slot {output.slot}, which nothing writes', where="bytecode")
    decoder = _Decoder(module, flow, operators, echo)
    blocks = [decoder.block(b) for b in flow.blocks]
    _mark_dead(blocks, {o.slot for o in module.outputs}, decoder.constants)
    return DecodedCode(blocks, decoder.frame)


def _identity(value: Any) -> Any:
    return value


class _Decoder:
    """Registers: the slots first, then constants, values that exist only on the stack, and the stack where blocks meet."""

    def __init__(self, module: ByteCodeModule, flow: ControlFlow, operators: Mapping[str, Operator], echo: OperatorKernel) -> None:
        self.module, self.flow, self.operators, self.echo = module, flow, operators, echo
        self.frame: list[Any] = [None] * module.variable_size
        self.constants: set[int] = set()
        self._kernels: dict[int, OperatorKernel] = {}
        self._depths: list[int] = []
        self._numbers: dict[tuple[type, str], int] = {}
        invokes = [i.offset for i in flow.instructions if i.form is Form.invoke]
        self._names = dict(zip(invokes, module.invokes, strict=False))
        self._stack: list[int] = []
        self._steps: list[DecodedStep] = []

    def block(self, block: BasicBlock) -> StepBlock:
        if block.depth is None:
            return StepBlock()
        self._steps = []
        self._stack = [self._at_depth(i) for i in range(block.depth)]
        for i in self.flow.instructions[block.first : block.last]:
            try:
                self._instruction(i)
            except FleetError as error:
                raise ModelError(str(error), where=f"bytecode offset {i.offset}") from error
        last = self.flow.instructions[block.last - 1]
        found = StepBlock(self._steps, otherwise=block.successors[-1])
        if last.form is Form.branch:
            found.condition, found.when, found.then = self._stack.pop(), last.op is OpCode.if_true, block.successors[0]
        if any(s < len(self.flow.blocks) for s in block.successors):
            self._settle(last.offset)
        return found

    def _settle(self, offset: int) -> None:
        """Move the stack values to the registers that the next block expects."""
        for depth, register in enumerate(self._stack):
            if register != (place := self._at_depth(depth)):
                self._steps.append(DecodedStep(_identity, (register,), place, offset))

    def _at_depth(self, depth: int) -> int:
        while depth >= len(self._depths):
            self._depths.append(self._register(None))
        return self._depths[depth]

    def _register(self, value: Any) -> int:
        self.frame.append(value)
        return len(self.frame) - 1

    def _instruction(self, i: BytecodeInstruction) -> None:
        match i.form:
            case Form.push:
                self._stack.append(self._number(i.number))
            case Form.ldc:
                self._ldc(i)
            case Form.invoke:
                self._invoke(i)
            case Form.load:
                self._stack.append(i.slot)
            case Form.store:
                self._store(i)
            case _:
                pass

    def _number(self, value: Any) -> int:
        key = (type(value), repr(value))
        if key not in self._numbers:
            self._numbers[key] = self._register(value)
            self.constants.add(self._numbers[key])
        return self._numbers[key]

    def _ldc(self, i: BytecodeInstruction) -> None:
        value = self.module.consts[i.constant]
        if i.element is None or i.shape is None:
            if isinstance(value, bool | int | float | str):
                self._stack.append(self._number(value))
            else:
                self._constant(value)
            return
        dtype = ELEMENT_DTYPES[TypeCode(i.element)]
        nbytes = _product(i.shape) * dtype.itemsize
        if nbytes > MAX_CONSTANT_BYTES:
            raise ModelError(f"constant of shape {list(i.shape)}: {nbytes} bytes, at most {MAX_CONSTANT_BYTES} are possible")
        try:
            if np.ndim(value) != 0:
                self._constant(np.reshape(np.asarray(value, dtype), i.shape))
            elif nbytes <= _MADE_ONCE:
                self._constant(np.full(i.shape, value, dtype))
            else:
                number = np.asarray(value, dtype)[()]
                register = self._register(None)
                self._steps.append(DecodedStep(lambda s=i.shape, v=number: np.full(s, v), (), register, i.offset))
                self._stack.append(register)
        except (ValueError, TypeError, OverflowError, MemoryError) as error:
            raise ModelError(f"constant of shape {list(i.shape)}: {error}") from error

    def _constant(self, value: Any) -> None:
        if isinstance(value, np.ndarray) and not value.ndim:
            value = value[()]  # without dimensions: a NumPy scalar, as in the source
        elif isinstance(value, np.ndarray):
            value = value.view()
            value.flags.writeable = False
        register = self._register(value)
        self.constants.add(register)
        self._stack.append(register)

    def _invoke(self, i: BytecodeInstruction) -> None:
        info = self.flow.dispatches[i.constant]
        if i.constant not in self._kernels:
            own = info.name == "print" and "print" not in self.operators
            self._kernels[i.constant] = printer(info, self.echo) if own else kernel(info, self.operators)
        sources = tuple(self._stack.pop() for _ in info.in_types)[::-1]
        target = self._register(None) if info.out_types else None
        name = self._names.get(i.offset)
        self._steps.append(DecodedStep(self._kernels[i.constant], sources, target, i.offset, info, name))
        if target is not None:
            self._stack.append(target)

    def _store(self, i: BytecodeInstruction) -> None:
        """Pop into a slot. Earlier loads of that slot on the stack keep the old value."""
        source = self._stack.pop()
        if i.slot in self._stack:
            old = self._register(None)
            self._steps.append(DecodedStep(_identity, (i.slot,), old, i.offset))
            self._stack = [old if r == i.slot else r for r in self._stack]
        last = self._steps[-1] if self._steps else None
        fresh = source >= self.module.variable_size and source not in self._depths and source not in self._stack
        if last is not None and last.target == source and fresh:
            last.target = i.slot
        elif source != i.slot:
            self._steps.append(DecodedStep(_identity, (source,), i.slot, i.offset))


def _product(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def _mark_dead(blocks: list[StepBlock], outputs: set[int], constants: set[int]) -> None:
    """Compute live variables backwards over the blocks to a fixed point; then mark what dies at each step and on each edge."""
    end = len(blocks)
    live_in: list[set[int]] = [set() for _ in blocks] + [set(outputs)]
    before: list[list[int]] = [[] for _ in range(end + 1)]
    for n, block in enumerate(blocks):
        for s in _next(block):
            before[s].append(n)
    work = list(range(end))
    while work:
        n = work.pop()
        live = _before(blocks[n], _after(blocks[n], live_in))
        if live != live_in[n]:
            live_in[n] = live
            work += before[n]
    for n, block in enumerate(blocks):
        live = _after(block, live_in)
        if block.condition is not None:
            live.add(block.condition)
        for step in reversed(block.steps):
            touched = {*step.sources, step.target} - {None}
            step.dead = tuple(sorted(r for r in touched if r is not None and r not in live and r not in constants))
            live.discard(-1 if step.target is None else step.target)
            live.update(step.sources)
        left = {r for p in before[n] for r in (*_after(blocks[p], live_in), blocks[p].condition) if r is not None}
        block.entry_dead = tuple(sorted(left - live_in[n] - constants))


def _next(block: StepBlock) -> tuple[int, ...]:
    ways = (block.otherwise,) if block.condition is None else (block.then, block.otherwise)
    return tuple(s for s in ways if s >= 0)


def _after(block: StepBlock, live_in: list[set[int]]) -> set[int]:
    return {r for s in _next(block) for r in live_in[s]}


def _before(block: StepBlock, live: set[int]) -> set[int]:
    if block.condition is not None:
        live.add(block.condition)
    for step in reversed(block.steps):
        if step.target is not None:
            live.discard(step.target)
        live.update(step.sources)
    return live
