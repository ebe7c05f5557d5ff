"""Prints a driver's program as C++17 that uses `fleet_host.h`. `targets` lists the languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from fleet.symbols.expr import Expr, Number
from fleet.targets.driver import statements as st

__all__ = ["HPP", "DriverLanguage", "print_cpp", "targets"]

_PARAMETERS: Mapping[str, str] = {"device": "HANDLE& ", "memory": "HANDLE& ", "folder": "char* ", "int": "int "}
_TYPES: Mapping[str, str] = {"float32": "float", "float64": "double", "float16": "uint16_t", "bool": "uint8_t"}
"""C++ type of an element on the host; integers have their own names, FP16 is stored as bits."""
_GIVES: Mapping[str, str] = {"nothing": "void", "word": "uint32_t", "address": "uint64_t"}


@dataclass(frozen=True)
class DriverLanguage:
    """A language that drivers are printed in. suffix: of its files."""

    name: str
    suffix: str
    write: Callable[[st.DriverProgram], str]


def print_cpp(program: st.DriverProgram) -> str:
    """Return the text below the title line; the caller adds that line, which contains the content's hash."""
    lines = list(_Printer().block(program.body, ""))
    if program.namespace is not None:
        lines = [f"namespace {program.namespace} {{", "", *lines, "", f"}}  // namespace {program.namespace}"]
    if program.tensors:
        lines = ["#pragma once", "", '#include "fleet_host.h"', '#include "fleet_tensors.h"', "", *lines]
    return "\n".join(lines) + "\n"


def _type(dtype: np.dtype) -> str:
    return _TYPES.get(dtype.name, f"{dtype.name}_t")


def _declared(parameter: st.Parameter | st.ArrayName) -> str:
    if isinstance(parameter, st.Parameter):
        return f"{_PARAMETERS[parameter.kind]}{parameter.name}"
    return f"{'' if parameter.written else 'const '}{_type(parameter.dtype)}* {parameter.name}"


def _escaped(text: str) -> str:
    """Escape text for a string literal."""
    return re.sub(r'[\\"]|[\x00-\x1f\x7f]', lambda m: f"\\{m[0]}" if m[0] in '\\"' else f"\\{ord(m[0]):03o}", text)


class _Printer:
    def __init__(self) -> None:
        self.wide: set[str] = set()
        self.vectors: set[str] = set()

    def number(self, value: Number) -> str:
        return value.to_cpp(self.wide) if isinstance(value, Expr) else str(value)

    def block(self, block: st.Block, indent: str) -> Iterator[str]:
        for statement in block.body:
            if isinstance(statement, st.Block):
                yield from self.block(statement, indent)
            else:
                for line in self.statement(statement):
                    yield f"{indent}{line}" if line else ""

    def statement(self, s: st.Node) -> Iterator[str]:
        match s:
            case st.Annotation(text):
                # A line break or a final backslash would end or extend the comment.
                yield f"// {' '.join(text.split())}".rstrip("\\ ") if text else ""
            case st.Define():
                yield self._define(s)
            case st.Assign(name, value):
                yield f"{name} = {f'(int)({self.number(value)})' if isinstance(value, Expr) else value};"
            case st.CsbWrite(register, value, title):
                yield f"CSB_Write(device, {register}, {self._word(value)});" + (f"  // {title}" if title else "")
            case st.WaitFor(register, value):
                yield f"while (CSB_Read(device, {register}) != {value}) {{}}"
            case st.WriteWord(address, value):
                yield f"DDR_Update(h2cx, {self.number(address)}, {self._word(value)});"
            case st.CopyFile(space, file, address, size):
                name = f'(std::string(prefix) + "/{_escaped(file)}").c_str()'
                yield f"{space.upper()}_Write_bin(h2cx, {name}, {self.number(address)}, {size});"
            case st.DefineArray(array):
                yield f"std::vector<{_type(array.dtype)}> {array.name}({array.count});"
                self.vectors.add(array.name)
            case st.ReadArray(array, file):
                yield f'fleet_tensors::read_file(std::string(prefix) + "/{_escaped(file)}", {array.name});'
            case st.CopyArray(target, source):
                yield f"for (uint64_t i = 0; i < {target.count}; ++i) {target.name}[i] = {source.name}[i];"
            case st.StoreTensor():
                yield self._transfer("DDR_Store", s)
            case st.LoadTensor():
                yield self._transfer("DDR_Load", s)
            case st.HostKernel(name, arrays, comment):
                yield f"// {' '.join(comment.split())}".rstrip("\\ ")
                yield f'extern "C" int64_t {name}({", ".join(map(_declared, arrays))});'
                yield ""
            case st.CallKernel(kernel, arrays):
                given = ", ".join(map(self._pointer, arrays))
                yield f'fleet_tensors::check({kernel.name}({given}), "{kernel.name}", "{_escaped(kernel.comment)}");'
            case st.Ports():
                yield from self._ports(s)
            case st.CallFunction(name, parameters):
                yield f"{name}({', '.join(p.name for p in parameters)});"
            case st.Return(value):
                yield f"return {f'CSB_Read(device, {value.register})' if isinstance(value, st.CsbRead) else self.number(value)};"
            case st.For(index, count, body):
                yield f"for (int {index} = 0; {index} < {self.number(count)}; ++{index}) {{"
                yield from self.block(body, "  ")
                yield "}"
            case st.IfThen(condition, then, otherwise):
                yield f"if ({self.number(condition)}) {{"
                yield from self.block(then, "  ")
                if otherwise is not None:
                    yield "} else {"
                    yield from self.block(otherwise, "  ")
                yield "}"
            case st.DriverFunction():
                given = ", ".join(map(_declared, s.parameters))
                yield f"{_GIVES[s.gives]} {s.name}({given}) {{"
                body = list(self.block(s.body, "  "))
                used = set(re.findall(r"\w+", "\n".join(body)))
                yield from (f"  (void){p.name};" for p in s.parameters if p.name not in used)
                yield from body
                yield "}"
                yield ""
            case st.Block():
                yield from self.block(s, "")

    def _pointer(self, array: st.ArrayName) -> str:
        return f"{array.name}.data()" if array.name in self.vectors else array.name

    def _transfer(self, function: str, s: st.StoreTensor | st.LoadTensor) -> str:
        a = s.arrangement
        stored = "fleet_tensors::Half" if a.number.kind == "f" else f"{a.number.name}_t"
        numbers = [a.rows, a.channels, a.lanes, a.row_step, a.block_step, a.count, -1 if a.fraction is None else a.fraction]
        return f"{function}<{stored}>(h2cx, {self._pointer(s.array)}, 0x{s.address:09x}, {{{', '.join(map(str, numbers))}}});"

    def _ports(self, s: st.Ports) -> Iterator[str]:
        for table, arrays in (("input_ports", s.inputs), ("output_ports", s.outputs)):
            yield f"const fleet_tensors::Port {table}[] = {{"
            for name, a in arrays.items():
                shape, size = ",".join(map(str, a.shape)), a.count * a.dtype.itemsize
                yield f'  {{"{name}", "{a.dtype.newbyteorder("<").str}", "{shape}", {size}}},'
            yield "};"
        yield ""
        given = [f"static_cast<const {_type(a.dtype)}*>(from[{i}])" for i, a in enumerate(s.inputs.values())]
        given += [f"static_cast<{_type(a.dtype)}*>(to[{i}])" for i, a in enumerate(s.outputs.values())]
        yield f"void {s.run}_ports(HANDLE& device, HANDLE& h2cx, const void* const* from, void* const* to) {{"
        yield f"  {s.run}(device, h2cx, {', '.join(given)});"
        yield "}"

    def _word(self, value: Number) -> str:
        """Return a register's value: expressions have 64 bits, and their value fits into 32."""
        return f"(uint32_t)({self.number(value)})" if isinstance(value, Expr) else f"{value}" if value < 1 << 31 else f"{value}u"

    def _define(self, s: st.Define) -> str:
        comment = f"  // {s.comment}" if s.comment else ""
        if s.kind == "address":
            self.wide.add(s.name)
            text = f"0x{s.value:09x}" if isinstance(s.value, int) else f"({self.number(s.value)})"
            return f"uint64_t {s.name} = {text};{comment}"
        return f"int {s.name} = {self.number(s.value)};{comment}"


HPP = DriverLanguage("hpp", ".h", print_cpp)

targets = SimpleNamespace(hpp=HPP)
"""For scripts in the seeds' form: `targets.hpp`."""
