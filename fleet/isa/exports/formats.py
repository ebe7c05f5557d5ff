"""Exports of a description: format -> files. PeakRDL's exporters write most of them (the extra `exports`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from systemrdl.messages import RDLCompileError
from systemrdl.node import AddrmapNode

from fleet.errors import SetupError
from fleet.isa import export
from fleet.isa.description import Description, DescriptionError
from fleet.isa.exports import fields
from fleet.isa.reading.cache import load
from fleet.isa.reading.rdl import elaborate

_EXTRA = "install the extra: pip install 'fleet-cosim[exports]'"

Maps = Mapping[str, AddrmapNode]
Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Format:
    """One format.

    Attributes:
        name: what `--format` takes; what: the files, for people.
        packages: modules that are needed, all of the extra `exports`.
        module: of `fleet.isa.exports`; its `files(description, maps)` gives relative path -> content. "": see `_hardware`.
    """

    name: str
    what: str
    packages: tuple[str, ...] = ()
    module: str = ""


FORMATS: Mapping[str, Format] = {
    f.name: f
    for f in (
        Format("ipxact", "IP-XACT (IEEE 1685-2014) component", ("peakrdl_ipxact",), "ipxact"),
        Format("uvm", "UVM register model, a SystemVerilog package", ("peakrdl_uvm",), "uvm"),
        Format("c", "C headers of registers and of instructions", ("peakrdl_cheader",), "c_header"),
        Format("html", "pages to browse registers and instructions", ("peakrdl_html", "markdown"), "html"),
        Format("sv", "SystemVerilog: register block, packages of constants, fields, enums and structs"),
    )
}


def exported(path: Path, name: str) -> Files:
    """Relative path -> content of every file of one format.

    path: a description; name: of `FORMATS`. Raises DescriptionError, and SetupError where the format's exporter is not installed.
    """
    wanted = FORMATS[name]
    if missing := [p for p in wanted.packages if find_spec(p) is None]:
        raise SetupError(f"the package {missing[0].replace('_', '-')} is missing", where=f"--format {name}", hint=_EXTRA)
    description = load(path)
    if not wanted.module:
        return _hardware(description)
    try:
        files: Callable[[Description, Maps], Files] = import_module(f"fleet.isa.exports.{wanted.module}").files
    except ImportError as error:  # of another version, or without what it needs itself (GitPython: a git)
        why = " ".join(str(error).split())[:120]
        raise SetupError(f"the exporter cannot be loaded ({why})", where=f"--format {name}", hint=_EXTRA) from error
    try:
        return files(description, elaborate(path))
    except RDLCompileError as error:
        raise DescriptionError(f"cannot be exported as {name} ({error})", where=str(path)) from error


def _hardware(description: Description) -> Files:
    """Return the sources that hardware is built from, and the package of all fields."""
    texts = {**export.generate(description.path), f"{description.hardware}_fields_pkg.sv": fields.package(description)}
    return {name: text.encode() for name, text in texts.items()}
