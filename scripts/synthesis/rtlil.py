"""Modules of Yosys' intermediate text: cut apart, calls of operators made boxes, equal ones found."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from operators import BY_MARKER

_MODULE = re.compile(r"^module (\S+)\n(.*?)^end$", re.DOTALL | re.MULTILINE)
_CELL = re.compile(r"^  cell (\S+) (\S+)\n(.*?)^  end$", re.DOTALL | re.MULTILINE)
_PORT = re.compile(
    r"^  wire (?:width (\d+) )?(?:upto |signed |offset \d+ )*(input|output|inout) (\d+) (?:signed )?(\S+)$", re.MULTILINE
)
_PART = re.compile(r"^  cell [^\n]*\n(?:    [^\n]*\n)*  end$|^  [^\n]*$", re.MULTILINE)
_NUMBER = re.compile(r"(\$(?:\w+\$)?\d+)")
_NOISE = re.compile(r"^ *attribute .*\n", re.MULTILINE)


_ROUNDS = 6
AROUND = "\\all_together"
REGISTERS = ("fp_cut", "fp_delay")
"""Modules that hold only registers. They are flattened into what instantiates them, so that unread bits are removed."""


@dataclass(frozen=True)
class Port:
    """A port: direction and width in bits. name: with its escape."""

    name: str
    output: bool
    width: int


@dataclass(frozen=True)
class Module:
    """A module.

    Attributes:
        name: with its escape. text: body, with calls of operators as boxes.
        ports: in order. parts: modules that it instantiates, by their names, how often. calls: of operators, how often.
        registers: modules of `REGISTERS` that it instantiates; they are no parts.
    """

    name: str
    text: str
    ports: tuple[Port, ...]
    parts: Mapping[str, int]
    calls: Mapping[str, int]
    registers: tuple[str, ...] = ()


def read_modules(text: str) -> dict[str, Module]:
    """Return the modules of a design by name."""
    found: dict[str, Module] = {}
    for name, read in _MODULE.findall(_NOISE.sub("", text)):
        calls, parts, registers = Counter[str](), Counter[str](), Counter[str]()

        def cell(
            m: re.Match[str], calls: Counter[str] = calls, parts: Counter[str] = parts, registers: Counter[str] = registers
        ) -> str:
            kind, instance, inner = m.groups()
            if kind == "$div" and (width := re.search(r"parameter \\Y_WIDTH (\d+)", inner)) and int(width[1]) in BY_MARKER:
                operator = BY_MARKER[int(width[1])]
                calls[operator.name] += 1
                kept = "".join(line for line in inner.splitlines(keepends=True) if line.lstrip().startswith("connect"))
                return f"  cell \\{operator.name} {instance}\n{kept}  end"
            if kind.startswith("\\"):
                (registers if kind.lstrip("\\").partition("$")[0] in REGISTERS else parts)[kind] += 1
            return m[0]

        body = _CELL.sub(cell, read)
        ports = tuple(
            Port(port, direction != "input", int(width or 1))
            for width, direction, _, port in sorted(_PORT.findall(body), key=lambda p: int(p[2]))
        )
        found[name] = Module(name, body, ports, parts, calls, tuple(registers))
    return found


def keys(modules: Mapping[str, Module]) -> dict[str, str]:
    """Return a hash of each module's content, in which neither its place in the hierarchy nor automatic numbers count."""
    made: dict[str, str] = {}

    def key(name: str) -> str:
        if name not in made:
            module = modules[name]
            text = module.text
            for part in sorted((*module.parts, *module.registers), key=len, reverse=True):
                if part in modules:
                    text = text.replace(f"cell {part} ", f"cell {key(part)} ")
            made[name] = _whatever_numbers(text)
        return made[name]

    for name in modules:
        key(name)
    return made


def _whatever_numbers(text: str) -> str:
    """Return a hash of a module, whatever the numbers in its automatic names and the order of its cells, wires and connections.

    Colour refinement: an automatic name's colour is a hash of the cells, wires and connections that use it, with the colours of
    their other automatic names; after `_ROUNDS` rounds colours replace numbers, and the text is sorted and hashed. Modules that
    differ only in wiring farther than `_ROUNDS` unnamed cells from every name would have one hash.
    """
    parts = _PART.findall(text)
    named = [_NUMBER.split(part) for part in parts]  # text, name, text, ...
    hashes: dict[str, str] = {}
    for _ in range(_ROUNDS):
        seen: dict[str, list[str]] = {}
        for words in named:
            common = _hash([_joined(words, hashes)])
            for at in range(1, len(words), 2):
                seen.setdefault(words[at], []).append(f"{at} {common}")
        hashes = {name: _hash(sorted(where)) for name, where in seen.items()}
    return _hash(sorted(_joined(words, hashes) for words in named))


def _hash(texts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _joined(words: Sequence[str], hashes: Mapping[str, str]) -> str:
    return "".join(hashes.get(word) or word.rstrip("0123456789") if at % 2 else word for at, word in enumerate(words))


def together(chosen: Sequence[Module], modules: Mapping[str, Module]) -> str:
    """Return a design of some modules below `AROUND`, with boxes for all else that they instantiate and call.

    `flatten` puts their registers into them.
    """
    cells = "".join(f"  attribute \\keep 1\n  cell {m.name} \\part{i}\n  end\n" for i, m in enumerate(chosen))
    texts = "".join(f"attribute \\keep 1\nattribute \\keep_hierarchy 1\nmodule {m.name}\n{m.text}end\n" for m in chosen)
    inner = dict.fromkeys(name for m in chosen for name in m.registers)
    texts += "".join(f"module {name}\n{modules[name].text}end\n" for name in inner)
    return f"{_boxes(chosen, modules)}{texts}module {AROUND}\n{cells}end\n"


def _boxes(chosen: Sequence[Module], modules: Mapping[str, Module]) -> str:
    made: list[str] = []
    for name in dict.fromkeys(part for m in chosen for part in m.parts if part not in {m.name for m in chosen}):
        wires = "".join(
            f"  wire width {p.width} {'output' if p.output else 'input'} {i} {p.name}\n"
            for i, p in enumerate(modules[name].ports, start=1)
        )
        made.append(f"attribute \\blackbox 1\nattribute \\keep 1\nmodule {name}\n{wires}end\n")
    for o in BY_MARKER.values():
        if any(o.name in m.calls for m in chosen):
            wires = "".join(
                f"  wire width {o.marker} {direction} {i} \\{port}\n"
                for i, (direction, port) in enumerate((("input", "A"), ("input", "B"), ("output", "Y")), start=1)
            )
            made.append(f"attribute \\blackbox 1\nmodule \\{o.name}\n{wires}end\n")
    return "".join(made)
