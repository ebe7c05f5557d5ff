"""The VM dialect: a bytecode module as text, one line per instruction with the types of what it pops and pushes; and back.

    vm.module "python" slots 3 program ""
    vm.argument 0 input "x" : ?x4xf32
    vm.output "y" slot 1 : ?x4xf32
    vm.const 0 = "device_add_sig_rr_r_ins_?x4xf32_?x4xf32_outs_?x4xf32"
       0: vm.aload_0 : ?x4xf32
       1: vm.aload_0 : ?x4xf32
       2: vm.invokestatic 0 add "y" : (?x4xf32, ?x4xf32) -> ?x4xf32
       4: vm.astore_1 : ?x4xf32

The number before an instruction is its offset in the code, which jumps name. The text has no weights: in a module read from text
they are inputs. Printing, reading and printing again gives the same text; that comparison checks types and offsets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from fleet.errors import FleetError, ModelError
from fleet.ir.types import DTYPES, spelling, tensor_type
from fleet.targets.bytecode.contents import ArgumentSlot, OutputSlot
from fleet.targets.bytecode.flow import ControlFlow, analyse
from fleet.targets.bytecode.hints import parse_type
from fleet.targets.bytecode.instructions import BytecodeInstruction, Form, form_of
from fleet.targets.bytecode.module import ByteCodeModule
from fleet.targets.bytecode.opcodes import OpCode, TypeCode

MAX_ELEMENTS = 1 << 16
"""Maximum elements of an array constant in the text."""


def print_vm(module: ByteCodeModule) -> str:
    """Return the text with a final newline. Raises ModelError for malformed code or a huge array constant."""
    flow = analyse(module)
    head = [f"vm.module {_quoted(module.target)} slots {module.variable_size} program {_quoted(module.program_hash)}"]
    head += [
        f"vm.argument {i} {a.kind} {_quoted(a.name)} : {spelling(tensor_type(a.shape, a.dtype))}{_dims_text(a)}"
        for i, a in enumerate(module.arguments)
    ]
    head += [f"vm.output {_quoted(o.name)} slot {o.slot} : {o.type}{' number' * o.scalar}" for o in module.outputs]
    head += [f"vm.const {i} = {_constant_text(c)}" for i, c in enumerate(module.consts)]
    return "\n".join([*head, *_body(module, flow)]) + "\n"


def _dims_text(a: ArgumentSlot) -> str:
    return f" dims {json.dumps(list(a.dims), ensure_ascii=False)}" if a.dims else ""


def _body(module: ByteCodeModule, flow: ControlFlow) -> Iterator[str]:
    names = iter(module.invokes)
    for i, type_ in zip(flow.instructions, flow.types, strict=True):
        name = next(names, None) if i.form is Form.invoke else None
        text = f"{i.offset:6}: vm.{i.op.name}{_operands(i, flow, name)}"
        if i.form is Form.invoke and i.constant in flow.dispatches:
            info = flow.dispatches[i.constant]
            text += f" : ({', '.join(info.in_types)}) -> {info.out_types[0] if info.out_types else '()'}"
        elif type_:
            text += f" : {type_}"
        yield text


def _operands(i: BytecodeInstruction, flow: ControlFlow, name: str | None) -> str:
    match i.form:
        case Form.ldc:
            if i.shape is None or i.element is None:
                return f" {i.constant}"
            return f" {i.constant} tensor [{', '.join(map(str, i.shape))}] {i.element.name}"
        case Form.invoke:
            operator = f" {flow.dispatches[i.constant].name}" if i.constant in flow.dispatches else ""
            return f" {i.constant}{operator}" + (f" {_quoted(name)}" if name is not None else "")
        case Form.jump | Form.branch:
            return f" {i.target}"
        case _:
            return f" {i.slot}" if i.end - i.offset > 1 else ""


def _quoted(text: str) -> str:
    return json.dumps(text)


def _constant_text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        if value.size > MAX_ELEMENTS:
            raise ModelError(f"a constant array of {value.size} elements has no text form, at most {MAX_ELEMENTS} have")
        return f"{value.dtype.name} {json.dumps(list(value.shape))} {json.dumps(value.reshape(-1).tolist())}"
    return _quoted(value) if isinstance(value, str) else repr(value)


_STRING = r'("(?:[^"\\]|\\.)*")'
_NUMBER = r"(-?[0-9]{1,19})"
_TYPE = r" : ([^ ]+)"


def parse_vm(text: str, name: str = "<vm>") -> ByteCodeModule:
    """Read what `print_vm` wrote. Raises ModelError that names the line."""
    reader = _Reader(name)
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        reader.read(number, line.strip())
    module = reader.module()
    try:
        again = print_vm(module).splitlines()
    except FleetError as error:
        raise ModelError(f"VM text of code that is not well formed: {error}", where=name) from error
    for number, (found, expected) in enumerate(zip(lines, again, strict=False), 1):
        if found.split() != expected.split():
            raise ModelError(f'"{found.strip()[:200]}", expected "{expected.strip()[:200]}"', where=f"{name}:{number}")
    if len(lines) != len(again):
        raise ModelError(f"{len(lines)} lines of VM text, expected {len(again)}", where=name)
    return module


class _Reader:
    """Reads line by line; types and offsets of an instruction are checked later, by comparison with the printed form."""

    def __init__(self, name: str) -> None:
        self._name, self._line = name, 0
        self._head: tuple[str, int, str] | None = None
        self._arguments: list[ArgumentSlot] = []
        self._outputs: list[OutputSlot] = []
        self._consts: list[Any] = []
        self._code: list[int] = []
        self._invokes: list[str] = []

    def read(self, number: int, line: str) -> None:
        self._line = number
        for pattern, take in _LINES:
            if found := pattern.fullmatch(line):
                try:
                    take(self, found)
                except (ValueError, TypeError, KeyError, OverflowError, RecursionError, FleetError) as error:
                    self._fail(str(error)[:200])
                return
        self._fail(f'"{line[:200]}" is no line of VM text')

    def module(self) -> ByteCodeModule:
        if self._head is None:
            self._fail("there is no vm.module line")
        target, slots, program = self._head
        return ByteCodeModule(
            self._consts, self._code, target, slots, tuple(self._invokes), tuple(self._arguments), tuple(self._outputs), {}, program
        )

    def _fail(self, why: str) -> NoReturn:
        raise ModelError(f"not VM text: {why}", where=f"{self._name}:{self._line}")

    def head(self, found: re.Match[str]) -> None:
        self._head = (json.loads(found[1]), int(found[2]), json.loads(found[3]))

    def argument(self, found: re.Match[str]) -> None:
        shape, dtype = parse_type(found[4])
        dims = tuple(str(n) for n in json.loads(found[5])) if found[5] else ()
        self._arguments.append(ArgumentSlot(json.loads(found[3]), found[2], shape, dtype.name, dims))

    def output(self, found: re.Match[str]) -> None:
        parse_type(found[3])
        self._outputs.append(OutputSlot(json.loads(found[1]), int(found[2]), found[3], found[4] is not None))

    def constant(self, found: re.Match[str]) -> None:
        self._consts.append(_constant_value(found[2]))

    def instruction(self, found: re.Match[str]) -> None:
        op = OpCode[found[1]]
        form, slot = form_of(op)
        words = found[2] or ""
        self._code.append(op)
        if form is Form.ldc:
            self._ldc(words)
        elif form is Form.invoke:
            constant, operation = self._words(rf" {_NUMBER}(?: [^ ]+)?(?: {_STRING})?", words)
            self._code.append(int(constant))
            if operation is not None:
                self._invokes.append(json.loads(operation))
        elif form is Form.push or slot is not None:
            self._words("", words)
        else:
            self._code.append(int(self._words(rf" {_NUMBER}", words)[0]))

    def _ldc(self, words: str) -> None:
        constant, shape, element = self._words(rf" {_NUMBER}(?: tensor \[([0-9, ]*)\] (\w+))?", words)
        if element is None:
            self._code += [TypeCode.scalar, int(constant)]
            return
        dims = [int(d) for d in shape.split(",")] if shape else []
        self._code += [TypeCode.tensor, len(dims), *dims, TypeCode[element], int(constant)]

    def _words(self, pattern: str, words: str) -> tuple[Any, ...]:
        found = re.fullmatch(pattern, words)
        if found is None:
            self._fail(f'the operands "{words.strip()[:200]}"')
        return found.groups()


def _constant_value(text: str) -> Any:
    if text.startswith('"'):
        return json.loads(text)
    if text in ("True", "False"):
        return text == "True"
    kind, _, rest = text.partition(" ")
    if kind in DTYPES:
        decoder = json.JSONDecoder()
        shape, end = decoder.raw_decode(rest)
        return np.array(json.loads(rest[end:]), kind).reshape(shape)
    return int(text) if re.fullmatch(r"-?[0-9]+", text) else float(text)


_LINES: tuple[tuple[re.Pattern[str], Callable[[_Reader, re.Match[str]], None]], ...] = (
    (re.compile(r"\d+: vm\.(\w+)(.*?)(?: : .*)?"), _Reader.instruction),
    (re.compile(rf"vm\.const {_NUMBER} = (.*)"), _Reader.constant),
    (re.compile(rf"vm\.argument {_NUMBER} (input|weight) {_STRING}{_TYPE}(?: dims (\[.*\]))?"), _Reader.argument),
    (re.compile(rf"vm\.output {_STRING} slot {_NUMBER} : ([^ ]+)( number)?"), _Reader.output),
    (re.compile(rf"vm\.module {_STRING} slots {_NUMBER} program {_STRING}"), _Reader.head),
)
