"""One build of a design that contains all of its mutants; the active one is selected when the simulation starts.

Every site becomes `((fleet_mutant_pkg::active == 17) ? (changed) : (as it was))`. The arms of a conditional expression are in the
context of the whole, so the surrounding widths and signs stay. Nested sites are changed in the last arm only, because one mutant is
active at a time. A C++ function sets `active` at the start of the simulation from the argument `+fleet_mutant=17` (0 without it:
nothing changes). `active` is a variable, so no tool can fold it; functions read it again at each call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fleet.core.files import write_atomically
from fleet.engines.rtl_sim.build import Design
from fleet.errors import SetupError
from fleet.verify.mutation.mutant import Mutant, Over, ended, identified

if TYPE_CHECKING:
    from fleet.verify.mutation.rtl_walk import RtlSite

_PACKAGE = """// Generated: which mutant the design is, 0 for none. Read when time begins, and by functions (a function that is not
// inlined cannot see a variable of a package) at each call.
package fleet_mutant_pkg;
  import "DPI-C" pure function int unsigned fleet_mutant_chosen();
  int unsigned active = fleet_mutant_chosen();
endpackage
"""
_CHOICE = """// Generated: the number that the simulation's argument +fleet_mutant=N gives, 0 without one.
#include <cstdlib>

#include "verilated.h"

extern "C" unsigned int fleet_mutant_chosen() {
  static const unsigned int number = [] {
    const std::string found = Verilated::threadContextp()->commandArgsPlusMatch("fleet_mutant=");
    const std::size_t at = found.find('=');
    return at == std::string::npos ? 0u : static_cast<unsigned int>(std::strtoul(found.c_str() + at + 1, nullptr, 10));
  }();
  return number;
}
"""
_LOCAL = b" automatic int unsigned fleet_mutant = fleet_mutant_pkg::fleet_mutant_chosen(); "
_GENERATED = b"enerated"
_HEAD = 400


def plusarg(number: int) -> str:
    """Return the simulation's argument that activates a mutant."""
    return f"+fleet_mutant={number}"


@dataclass(frozen=True)
class Schemata:
    """A design with sites, and its mutants in the order of their numbers."""

    design: Design
    sites: tuple[RtlSite, ...]
    mutants: tuple[Mutant, ...]

    def write(self, folder: Path) -> Design:
        """Write the instrumented design's sources below `folder`; files without sites stay where they are."""
        sources, choice = instrument(folder, self.design.sources, self.sites, self.mutants)
        return replace(self.design, sources=sources, cpp=(*self.design.cpp, choice))


def instrument(
    folder: Path, sources: Sequence[Path], sites: Sequence[RtlSite], mutants: Sequence[Mutant]
) -> tuple[tuple[Path, ...], Path]:
    """Write sources with all mutants below `folder`. Returns the sources, a package first, and a file of C++.

    Files without sites stay where they are. mutants: of the sites, in their order.
    """
    numbers = iter(m.number for m in mutants)
    by_file: dict[Path, list[_Choice]] = {}
    for site in sites:
        choices = [(next(numbers), text) for _, text in site.alternatives]
        known = by_file.setdefault(site.file, [])
        if site.function and not any(c.start == site.function and not c.texts for c in known):
            known.append(_Choice(site.function, site.function, ()))
        known.append(_Choice(site.start, site.end, choices, "fleet_mutant" if site.function else "fleet_mutant_pkg::active"))
    folder.mkdir(parents=True, exist_ok=True)
    package, choice = folder / "fleet_mutant_pkg.sv", folder / "fleet_mutant.cpp"
    write_atomically(package, _PACKAGE.encode())
    write_atomically(choice, _CHOICE.encode())
    written = [package]
    taken = {package.name}
    for n, path in enumerate(sources):
        found = by_file.get(path.resolve())
        if found is None:
            written.append(path)
            continue
        text = path.read_bytes()
        name = path.name if path.name not in taken else f"{path.stem}_{n}{path.suffix}"
        taken.add(name)
        write_atomically(folder / name, _rendered(text, 0, len(text), sorted(found, key=lambda c: (c.start, -c.end))))
        written.append(folder / name)
    return tuple(written), choice


@dataclass(frozen=True)
class _Choice:
    """Bytes `start` to `end`, with (number, text) of their alternatives; without texts: the start of a function."""

    start: int
    end: int
    texts: Sequence[tuple[int, str]]
    chosen: str = ""


def rtl_mutants(design: Design, relative_to: Path) -> Schemata:
    """Return all mutants of a design's hand-written files. Raises SetupError, DeviceError."""
    written = {p for p in design.sources if _GENERATED not in p.read_bytes()[:_HEAD]}
    dut = design.dut
    try:
        from fleet.verify.mutation.rtl_walk import sites
    except ImportError as error:
        raise SetupError(f"mutants of hardware need pyslang ({error})", hint="pip install 'fleet-cosim[dev]'") from error
    found = sites(design.sources, design.include_dirs, dut.top, dut.parameters, written)
    return Schemata(design, tuple(found), tuple(described(found, relative_to)))


def described(found: Sequence[RtlSite], relative_to: Path) -> list[Mutant]:
    """Return the mutants of all sites, in their order."""
    return identified(_described(found, relative_to))


def _described(found: Sequence[RtlSite], relative_to: Path) -> Iterator[tuple[Over, str, int, str, str, str, str, str]]:
    texts: dict[Path, bytes] = {}
    for s in found:
        text = texts.setdefault(s.file, s.file.read_bytes())
        name = str(s.file.relative_to(relative_to)) if s.file.is_relative_to(relative_to) else s.file.name
        line = text.count(b"\n", 0, s.start) + 1
        begin, end = text.rfind(b"\n", 0, s.start) + 1, text.find(b"\n", s.start)
        context = text[begin : end if end >= 0 else len(text)].decode().strip()
        before = text[s.start : s.end].decode()
        for operator, after in s.alternatives:
            yield "rtl", name, line, s.unit, operator, before, after, context


def _rendered(text: bytes, start: int, end: int, choices: Sequence[_Choice]) -> bytes:
    """Return bytes `start` to `end` with the choices (ascending, outer ones first) inserted."""
    out: list[bytes] = []
    at, i = start, 0
    while i < len(choices):
        c = choices[i]
        if not c.texts:
            out.append(text[at : c.start] + _LOCAL)
            at, i = c.start, i + 1
            continue
        inner = i + 1
        while inner < len(choices) and choices[inner].start < c.end:
            inner += 1
        out.append(text[at : c.start])
        now = ended(_rendered(text, c.start, c.end, choices[i + 1 : inner]))
        arms = "".join(f"({c.chosen} == 32'd{number}) ? ({after}) : " for number, after in c.texts)
        out.append(b"(" + arms.encode() + b"(" + now + b"))")
        at, i = c.end, inner
    out.append(text[at:end])
    return b"".join(out)
