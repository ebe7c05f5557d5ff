"""Registers of a design, read from what it ships (SystemRDL, IP-XACT, reggen's hjson, comments), and their file, `registers.toml`.

[[register]]
name = "ctrl.start"      # with the names of what it is in
offset = 0x10            # bytes
bits = 32
reset = 0x0              # where all fields state one; others are 0 and not in `known`
known = 0x0000_00ff      # the bits whose reset value is stated
access = "rw"            # what software may do: r, w, rw
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.parsers.expat import ExpatError

from systemrdl.compiler import RDLCompiler
from systemrdl.messages import MessagePrinter, RDLCompileError, Severity
from systemrdl.node import RegNode, RootNode
from systemrdl.source_ref import DetailedFileSourceRef, SourceRefBase

from fleet.adopt.address_info import ADDRESS_INFO, registers_of
from fleet.adopt.filelist import HDL_SUFFIXES
from fleet.adopt.reggen import reggen_registers
from fleet.core.toml_file import read_toml
from fleet.errors import DeviceError, SetupError

_IPXACT_WORDS = (b"ipxact", b"spiritconsortium")
_RDL, _IPXACT, _REGGEN = (".rdl", ".systemrdl"), (".xml", ".ipxact"), ".hjson"
_REGGEN_WORDS = (b"registers", b"regwidth", b"bus_interfaces")


@dataclass(frozen=True)
class AdoptedRegister:
    """A register. offset: in bytes, of its map's start; reset: value, right in the bits of `known`; access: "r", "w" or "rw"."""

    name: str
    offset: int
    bits: int
    reset: int = 0
    known: int = 0
    access: str = "rw"


class _Quiet(MessagePrinter):
    """Keeps the first error."""

    def __init__(self) -> None:
        self.first = ""

    def print_message(self, severity: Severity, text: str, src_ref: SourceRefBase | None) -> None:
        if not self.first and severity in (Severity.ERROR, Severity.FATAL):
            place = ""
            if isinstance(src_ref, DetailedFileSourceRef):
                place = f"{src_ref.path}:{src_ref.line}: "
            self.first = f"{place}{text}"


def shipped(folders: Iterable[Path], sources: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Descriptions of registers in some folders, not below them; without any, the sources whose comments list registers."""
    found: dict[Path, None] = {}
    for folder in folders:
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            begin = path.read_bytes()[:4000].lower() if path.suffix in _IPXACT else b""
            whole = path.read_bytes() if path.suffix == _REGGEN else b""
            if path.suffix in _RDL or any(w in begin for w in _IPXACT_WORDS) or (whole and all(w in whole for w in _REGGEN_WORDS)):
                found[path] = None
    return tuple(found) or tuple(p for p in sources if ADDRESS_INFO.encode() in p.read_bytes())


def read_registers(path: Path) -> tuple[AdoptedRegister, ...]:
    """The registers of a description, by offset.

    Raises DeviceError if it cannot be read, SetupError where its reader is missing.
    """
    if not path.is_file():
        raise DeviceError("there is no such file", where=str(path))
    if path.suffix in HDL_SUFFIXES:
        listed = sorted(registers_of(path), key=lambda r: r[1])
        if not listed:
            raise DeviceError("has no comment with addresses of registers", where=str(path))
        return tuple(AdoptedRegister(name, offset, 32, access=access) for name, offset, access in listed)
    if path.suffix == _REGGEN:
        return tuple(AdoptedRegister(r.name, r.offset, r.bits, r.reset, r.known, r.access) for r in reggen_registers(path))
    quiet = _Quiet()
    compiler = RDLCompiler(message_printer=quiet)
    try:
        if path.suffix in _RDL:
            compiler.compile_file(str(path))
        elif path.suffix in _IPXACT:
            _import_ipxact(compiler, path)
        else:
            known = ", ".join((*_RDL, *_IPXACT, _REGGEN))
            raise DeviceError(
                f"registers are not read from '{path.suffix}' files",
                where=str(path),
                hint=f"known are {known}",
            )
        root = compiler.elaborate()
    except RDLCompileError as error:
        where, _, what = quiet.first.rpartition(": ")
        raise DeviceError(what or str(error), where=where or str(path)) from error
    return tuple(sorted(_registers(root), key=lambda r: r.offset))


def _import_ipxact(compiler: RDLCompiler, path: Path) -> None:
    try:
        from peakrdl_ipxact import IPXACTImporter
    except ImportError as error:
        raise SetupError(f"reading IP-XACT needs peakrdl-ipxact ({error})", hint="pip install 'fleet-cosim[exports]'") from error
    try:
        IPXACTImporter(compiler).import_file(str(path))
    except (ValueError, KeyError, ExpatError) as error:
        raise DeviceError(f"is not IP-XACT that can be read ({error})", where=str(path)) from error


def _registers(root: RootNode) -> Iterator[AdoptedRegister]:
    top = root.top
    for node in top.descendants(unroll=True):
        if not isinstance(node, RegNode):
            continue
        reset = known = 0
        readable = writable = False
        for f in node.fields():
            value = f.get_property("reset")
            if isinstance(value, int):
                reset |= value << f.low
                known |= ((1 << f.width) - 1) << f.low
            readable |= f.is_sw_readable
            writable |= f.is_sw_writable
        access = ("r" if readable else "") + ("w" if writable else "")
        name = node.get_path().removeprefix(f"{top.inst_name}.")
        yield AdoptedRegister(name, node.absolute_address, int(node.get_property("regwidth")), reset, known, access or "r")


def registers_text(registers: Iterable[AdoptedRegister], source: str) -> str:
    """The file of registers. source: what they were read from."""
    lines = [f"# Registers, read from {source}."]
    for r in registers:
        lines += ["", "[[register]]", f"name = {json.dumps(r.name)}", f"offset = {r.offset:#x}", f"bits = {r.bits}"]
        lines += [f"reset = {r.reset:#x}", f"known = {r.known:#x}", f'access = "{r.access}"']
    return "\n".join(lines) + "\n"


def registers_file(path: Path) -> tuple[AdoptedRegister, ...]:
    """Read the registers that `registers_text` wrote. Raises DeviceError with file:line."""
    table = read_toml(path, DeviceError)
    table.only("register")
    found: list[AdoptedRegister] = []
    for t in table.tables("register"):
        t.only("name", "offset", "bits", "reset", "known", "access")
        reset, known = (t.integer(k, 0) if k in t else 0 for k in ("reset", "known"))
        access = t.chosen("access", ("r", "w", "rw"), "rw")
        found.append(AdoptedRegister(t.text("name"), t.integer("offset", 0), t.integer("bits", 1), reset, known, access))
    return tuple(found)
