"""The NumPy stack VM.

The code is decoded once, through a table of one handler an opcode, into a list of closures. Decoding runs the operand
stack symbolically: what a closure reads (slots, constants) and writes (a slot) is known before the run, so that a run
touches no stack at all. Semantics are those of the stack machine; a test holds that against a plain interpretation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fleet.errors import FleetError, ModelError
from fleet.targets.bytecode.hints import DispatchHintParser, DispatchInfo, parse_type
from fleet.targets.bytecode.module import ByteCodeModule
from fleet.targets.bytecode.opcodes import ELEMENT_CODES, INDEXED, OpCode, TypeCode
from fleet.targets.bytecode.operators import Kernel, Operator, kernel

__all__ = ["VM"]

_Step = Callable[[list[Any]], None]
_DTYPES = {code: dtype for dtype, code in ELEMENT_CODES.items()}


class VM:
    """Runs one bytecode module, any number of times.

    Args:
        bc: the module.
        operators: entries that come before the project's table (name -> Operator).
        echo: called instead of `print` by the program's print.

    Raises ModelError for code that is not well formed, with the offset.
    """

    def __init__(self, bc: ByteCodeModule, operators: Mapping[str, Operator] | None = None, echo: Kernel = print) -> None:
        self.bc = bc
        decoder = _Decoder(bc, operators or {}, echo)
        decoder.decode()
        self._steps, self._places = decoder.finish()
        self._frame = decoder.frame
        self._tensors = decoder.tensors
        self._inputs = [(i, a) for i, a in enumerate(bc.arguments) if a.name not in bc.weights]
        self._weights = [(i, a.name) for i, a in enumerate(bc.arguments) if a.name in bc.weights]

    def run(
        self, inputs: Mapping[str, np.ndarray] | None = None, *, tensors: dict[str, np.ndarray] | None = None
    ) -> dict[str, np.ndarray]:
        """Runs the code.

        Args:
            inputs: argument name -> array, for every argument without a weight.
            tensors: filled with every operation's result under the operation's id, when given.

        Returns output name -> array. Raises ModelError for a missing or unfit input, and for an operator that fails
        on the values (naming the operation).
        """
        frame = self._frame.copy()
        for slot, name in self._weights:  # here, not when decoding: a lazy weight is made when it is needed
            frame[slot] = self.bc.weights[name]
        for slot, argument in self._inputs:
            frame[slot] = self._input(inputs or {}, argument.name, argument.shape, argument.dtype)
        step: _Step | None = None
        try:
            with np.errstate(all="ignore"):
                for step in self._steps:
                    step(frame)
        except FleetError:
            raise
        except (ArithmeticError, ValueError, LookupError, TypeError, AttributeError, MemoryError) as error:
            place = self._places.get(step, "bytecode") if step is not None else "bytecode"
            raise ModelError(f"fails on these values: {str(error) or type(error).__name__}", where=place) from error
        if tensors is not None:
            for name, (register, dtype) in self._tensors.items():
                tensors[name] = np.asarray(frame[register], dtype)
        return {o.name: _output(frame[o.slot], o.type, o.scalar) for o in self.bc.outputs}

    def _input(self, inputs: Mapping[str, np.ndarray], name: str, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        if name not in inputs:
            raise ModelError(f'no input "{name}"', hint=f"given are {', '.join(inputs) or 'none'}")
        array = inputs[name]
        if array.shape != shape or array.dtype != dtype:
            raise ModelError(f'input "{name}" must be {dtype}{list(shape)}, found {array.dtype}{list(array.shape)}')
        return array


def _output(value: Any, type_: str, scalar: bool) -> np.ndarray:
    return np.asarray(value, parse_type(type_)[1]) if scalar else np.asarray(value)


class _Decoder:
    """Registers: the slots first, then constants and values that live on the stack only."""

    def __init__(self, bc: ByteCodeModule, operators: Mapping[str, Operator], echo: Kernel) -> None:
        self.bc = bc
        self.operators = operators
        self.echo = echo
        self.frame: list[Any] = [None] * bc.variable_size
        self.tensors: dict[str, tuple[int, np.dtype | None]] = {}
        self._number_types: dict[str, np.dtype] = {}
        self._stack: list[int] = []
        self._instructions: list[tuple[Kernel, tuple[int, ...], int | None, str | None]] = []
        self._position = 0
        self._written: set[int] = set(range(len(bc.arguments)))
        self._invoked = 0

    def decode(self) -> None:
        """Fills the instruction list."""
        if len(self.bc.arguments) > self.bc.variable_size:
            raise ModelError(f"{len(self.bc.arguments)} arguments in {self.bc.variable_size} slots", where="bytecode")
        while self._position < len(self.bc.code):
            start = self._position
            handler = _HANDLERS.get(self._next())
            if handler is None:
                raise ModelError(f"unknown opcode {self.bc.code[start]}", where=f"bytecode offset {start}")
            try:
                handler(self)
            except FleetError as error:
                raise ModelError(str(error), where=f"bytecode offset {start}") from error
        for output in self.bc.outputs:
            if output.slot not in self._written:
                raise ModelError(f'output "{output.name}" is in slot {output.slot}, which nothing writes', where="bytecode")

    def finish(self) -> tuple[list[_Step], dict[_Step, str]]:
        """The closures, and the operation's id behind those that have one."""
        writes = Counter(target for _, _, target, _ in self._instructions if target is not None)
        steps: list[_Step] = []
        places: dict[_Step, str] = {}
        for function, sources, target, name in self._instructions:
            step = _closure(function, sources, target)
            steps.append(step)
            if name is None:
                continue
            places[step] = name
            if target is not None:
                kept = target
                if writes[target] > 1:  # a slot that is written again: keep this value apart
                    kept = self._register(None)
                    steps.append(_closure(_identity, (target,), kept))
                self.tensors[name] = (kept, self._number_types.get(name))
        return steps, places

    # ---- helpers of the handlers

    def _next(self) -> int:
        if self._position >= len(self.bc.code):
            raise ModelError("the code ends within an instruction", where=f"bytecode offset {self._position}")
        self._position += 1
        return self.bc.code[self._position - 1]

    def _register(self, value: Any) -> int:
        self.frame.append(value)
        return len(self.frame) - 1

    def _constant(self, index: int) -> Any:
        if not 0 <= index < len(self.bc.consts):
            raise ModelError(f"constant {index} of {len(self.bc.consts)}")
        return self.bc.consts[index]

    def push_value(self, value: Any) -> None:
        """Pushes a constant."""
        self._stack.append(self._register(value))

    def load(self, slot: int) -> None:
        """Pushes a slot's value."""
        if slot not in self._written:
            raise ModelError(f"slot {slot} is read before it is written")
        self._stack.append(slot)

    def store(self, slot: int) -> None:
        """Pops into a slot. Loads of that slot that are still on the stack keep the old value."""
        if not 0 <= slot < self.bc.variable_size:
            raise ModelError(f"slot {slot} of {self.bc.variable_size}")
        source = self._pop()
        if slot in self._stack:
            old = self._register(None)
            self._instructions.append((_identity, (slot,), old, None))
            self._stack = [old if r == slot else r for r in self._stack]
        last = self._instructions[-1] if self._instructions else None
        if last is not None and last[2] == source and source >= self.bc.variable_size and source not in self._stack:
            self._instructions[-1] = (last[0], last[1], slot, last[3])
        else:
            self._instructions.append((_identity, (source,), slot, None))
        self._written.add(slot)

    def _pop(self) -> int:
        if not self._stack:
            raise ModelError("the operand stack is empty")
        return self._stack.pop()

    def ldc(self) -> None:
        """`ldc` of a scalar or of a tensor."""
        kind = self._next()
        if kind == TypeCode.scalar:
            self.push_value(self._constant(self._next()))
            return
        if kind != TypeCode.tensor:
            raise ModelError(f"ldc of type code {kind}")
        shape = [self._next() for _ in range(self._next())]
        element = self._next()
        if element not in _DTYPES:
            raise ModelError(f"elements of type code {element}")
        value = self._constant(self._next())
        try:
            dtype = _DTYPES[TypeCode(element)]
            filled = np.full(shape, value, dtype) if np.ndim(value) == 0 else np.reshape(np.asarray(value, dtype), shape)
        except (ValueError, TypeError, OverflowError, MemoryError) as error:
            raise ModelError(f"constant of shape {shape}: {error}") from error
        filled.flags.writeable = False
        self.push_value(filled)

    def invoke(self) -> None:
        """`invokestatic`: operands are popped in reverse, the result, if any, is pushed."""
        hint = self._constant(self._next())
        if not isinstance(hint, str):
            raise ModelError(f"invokestatic of constant {hint!r}, which is no dispatch hint")
        info: DispatchInfo = DispatchHintParser(hint).parse()
        info.target = self.bc.target
        function = self.echo if info.name == "print" and "print" not in self.operators else kernel(info, self.operators)
        sources = [self._pop() for _ in info.in_types][::-1]
        name = self.bc.invokes[self._invoked] if self._invoked < len(self.bc.invokes) else None
        self._invoked += 1
        if name is not None and info.python_result:
            self._number_types[name] = parse_type(info.out_types[0])[1]
        target = self._register(None) if info.out_types else None
        self._instructions.append((function, tuple(sources), target, name))
        if target is not None:
            self._stack.append(target)

    def load_next(self) -> None:
        """A load whose slot follows."""
        self.load(self._next())

    def store_next(self) -> None:
        """A store whose slot follows."""
        self.store(self._next())


def _handlers() -> dict[int, Callable[[_Decoder], None]]:
    table: dict[int, Callable[[_Decoder], None]] = {OpCode.ldc: _Decoder.ldc, OpCode.invokestatic: _Decoder.invoke}
    for value in range(-1, 6):
        table[OpCode.iconst_0 + value] = lambda d, value=value: d.push_value(value)
    for value in range(3):
        table[OpCode.fconst_0 + value] = lambda d, value=value: d.push_value(float(value))
    for load, store in ((OpCode.iload, OpCode.istore), (OpCode.fload, OpCode.fstore), (OpCode.aload, OpCode.astore)):
        table[load], table[store] = _Decoder.load_next, _Decoder.store_next
        for slot in range(INDEXED):
            table[load + 1 + slot] = lambda d, slot=slot: d.load(slot)
            table[store + 1 + slot] = lambda d, slot=slot: d.store(slot)
    return table


_HANDLERS = _handlers()
"""The dispatch table: opcode -> its decoder."""


def _identity(value: Any) -> Any:
    return value


def _closure(function: Kernel, sources: tuple[int, ...], target: int | None) -> _Step:
    """One step on the frame; the common arities without building an argument list."""
    if target is None:

        def effect(frame: list[Any]) -> None:
            function(*[frame[s] for s in sources])

        return effect
    if len(sources) == 1:
        (only,) = sources

        def unary(frame: list[Any]) -> None:
            frame[target] = function(frame[only])

        return unary
    if len(sources) == 2:
        first, second = sources

        def binary(frame: list[Any]) -> None:
            frame[target] = function(frame[first], frame[second])

        return binary

    def general(frame: list[Any]) -> None:
        frame[target] = function(*[frame[s] for s in sources])

    return general
