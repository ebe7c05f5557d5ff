"""Prints a driver's program: C++17 over the functions of `fleet_host.h`. `targets` lists the languages there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace

from fleet.symbols.expr import Expr, Number
from fleet.targets.graph import statements as st

__all__ = ["HPP", "Target", "print_cpp", "targets"]

_PARAMETERS: Mapping[str, str] = {"device": "HANDLE& ", "memory": "HANDLE& ", "folder": "char* ", "int": "int "}
_GIVES: Mapping[str, str] = {"nothing": "void", "word": "uint32_t", "address": "uint64_t"}


@dataclass(frozen=True)
class Target:
    """A language that drivers are printed in. suffix: of a file of it."""

    name: str
    suffix: str
    write: Callable[[st.Program], str]


def print_cpp(program: st.Program) -> str:
    """The text below the title line, which has the content's hash in it and is the caller's."""
    lines = list(_Printer().block(program.body, ""))
    if program.namespace is not None:
        lines = [f"namespace {program.namespace} {{", "", *lines, "", f"}}  // namespace {program.namespace}"]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """As it stands between quotes."""
    return re.sub(r'[\\"]|[\x00-\x1f\x7f]', lambda m: f"\\{m[0]}" if m[0] in '\\"' else f"\\{ord(m[0]):03o}", text)


class _Printer:
    def __init__(self) -> None:
        self.wide: set[str] = set()

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
                # A line's end, or a backslash there, would lead out of the comment.
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
            case st.Function():
                given = ", ".join(f"{_PARAMETERS[p.kind]}{p.name}" for p in s.parameters)
                yield f"{_GIVES[s.gives]} {s.name}({given}) {{"
                body = list(self.block(s.body, "  "))
                used = set(re.findall(r"\w+", "\n".join(body)))
                yield from (f"  (void){p.name};" for p in s.parameters if p.name not in used)
                yield from body
                yield "}"
                yield ""
            case st.Block():
                yield from self.block(s, "")

    def _word(self, value: Number) -> str:
        """A register's value: expressions are 64 bits wide and their value fits 32."""
        return f"(uint32_t)({self.number(value)})" if isinstance(value, Expr) else f"{value}" if value < 1 << 31 else f"{value}u"

    def _define(self, s: st.Define) -> str:
        comment = f"  // {s.comment}" if s.comment else ""
        if s.kind == "address":
            self.wide.add(s.name)
            text = f"0x{s.value:09x}" if isinstance(s.value, int) else f"({self.number(s.value)})"
            return f"uint64_t {s.name} = {text};{comment}"
        return f"int {s.name} = {self.number(s.value)};{comment}"


HPP = Target("hpp", ".h", print_cpp)

targets = SimpleNamespace(hpp=HPP)
"""As seed 004 takes them: `targets.hpp`."""
