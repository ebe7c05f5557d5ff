"""The ports of a foreign top module as they are: names, directions, resolved types and widths; no meaning yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Direction = Literal["in", "out", "inout"]
"""Seen from the design."""


@dataclass(frozen=True)
class PortLeaf:
    """One signal of a port: the port itself, or a field of its structure or interface that is no structure.

    Attributes:
        port: name of the port.
        fields: names of the fields that lead to it, outermost first; empty for a plain port.
        direction: of a field of an interface that of its modport; "inout" where nothing says.
        width: bits of one element, 0 where the type is not made of bits.
        count: how many elements there are: arrays of structures and unpacked arrays, all dimensions.
        dimensions: packed dimensions of one element, outermost first (`logic [1:0][31:0]` is (2, 32); a bit is ()).
        offset: its lowest bit in one element of the port's unpacked array; of a field of an interface, in that field.
        strides: (number, bits from one to the next) of packed arrays of structures that lead to it, outermost first.
        member: how many of `fields` lead to the member of an interface.
    """

    port: str
    fields: tuple[str, ...]
    direction: Direction
    width: int
    count: int = 1
    dimensions: tuple[int, ...] = ()
    offset: int = 0
    strides: tuple[tuple[int, int], ...] = ()
    member: int = 0

    @property
    def path(self) -> str:
        """The hierarchical name in SystemVerilog: `req_i.aw.addr`."""
        return ".".join((self.port, *self.fields))


@dataclass(frozen=True)
class TopParameter:
    """A parameter of the top, or of an interface port (`port.T`).

    value: as SystemVerilog text, of a type parameter the type; given: not the default.
    """

    name: str
    value: str
    is_type: bool = False
    given: bool = False


@dataclass(frozen=True)
class TopPort:
    """One port of the top.

    Attributes:
        direction: "inout" for an interface; its fields have their own.
        type: as slang writes the resolved type; `interface.modport` of an interface port.
        interface: name of the interface, "" for any other port; modport: "" where the port names none.
        interface_inputs: names of the input ports of the interface itself (its clock, its reset).
        packed: whether one element is a vector of bits; an unpacked structure is not.
        array: unpacked dimensions (elements each), outermost first.
        where: file:line.
    """

    name: str
    direction: Direction
    type: str
    leaves: tuple[PortLeaf, ...]
    interface: str = ""
    modport: str = ""
    array: tuple[int, ...] = ()
    where: str = ""
    packed: bool = True
    interface_inputs: tuple[str, ...] = ()
    interface_parameters: tuple[TopParameter, ...] = ()

    @property
    def width(self) -> int:
        """Bits of all leaves of one element of `array`."""
        elements = 1
        for n in self.array:
            elements *= n
        return sum(leaf.width * leaf.count for leaf in self.leaves) // max(1, elements)


@dataclass(frozen=True)
class Missing:
    """A module that is instantiated and has no source: a technology cell, a memory macro, a black box.

    ports: names that its instances connect; path: of the first instance below the top; count: instances of distinct parents.
    """

    name: str
    where: str
    path: str
    ports: tuple[str, ...]
    count: int


@dataclass(frozen=True)
class ReadmemFile:
    """A file that a design reads when it starts ($readmemh).

    name: as the design says it; where: file:line; path: None if it was not found.
    """

    name: str
    where: str
    path: Path | None


@dataclass(frozen=True)
class Polarity:
    """What the sources tell of a reset or an enable.

    Attributes:
        port: name of the port.
        low: whether it is active low; None if they use it both ways.
        text: the use that tells.
        where: file:line of it.
    """

    port: str
    low: bool | None
    text: str
    where: str


@dataclass(frozen=True)
class EdgeUse:
    """An input of one bit whose edges the sources wait for.

    Attributes:
        port: name of the port.
        protocol: "clock", or "reset" of one that is asynchronous.
        low: whether it is the falling edge, of a reset: active low.
        text: the use that tells.
        where: file:line of it.
    """

    port: str
    protocol: str
    low: bool
    text: str
    where: str


@dataclass(frozen=True)
class Top:
    """A top module that was elaborated.

    Attributes:
        modules: names of all modules and interfaces below it, itself included, ascending.
        files: the sources that are needed for it, in compile order; pruned: those that are not.
        included: files that `files` include, ascending.
        missing: modules without a source, ascending.
        warnings: what slang says of the design that is no error, `file:line: text`.
        tool: the reader and its version.
        data: files that it reads when it starts, as far as their names are constant.
        polarities: of resets and enables of memories, as far as the sources tell.
        edges: inputs whose edges the sources wait for, in the order of the ports.
        keywords: the standard whose keywords the `.v` files have ("1364-2005": `do` and `bit` are names); "": SystemVerilog's.
    """

    name: str
    where: str
    parameters: tuple[TopParameter, ...]
    ports: tuple[TopPort, ...]
    modules: tuple[str, ...]
    files: tuple[Path, ...]
    pruned: tuple[Path, ...]
    included: tuple[Path, ...]
    missing: tuple[Missing, ...]
    warnings: tuple[str, ...]
    tool: str
    data: tuple[ReadmemFile, ...] = ()
    keywords: str = ""
    polarities: tuple[Polarity, ...] = ()
    edges: tuple[EdgeUse, ...] = ()

    def leaves(self) -> Iterator[PortLeaf]:
        """Iterate over all signals, in the order of the ports."""
        for port in self.ports:
            yield from port.leaves


def interface_values(parameters: Mapping[str, str], port: str) -> str:
    """Return the parameters of an interface port, as its instance takes them; "" if it has its defaults."""
    given = [f".{name.removeprefix(f'{port}.')}({value})" for name, value in parameters.items() if name.startswith(f"{port}.")]
    return f" #({', '.join(given)})" if given else ""
