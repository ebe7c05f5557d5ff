"""The SystemVerilog sources of an instruction set: files, and those that fleet makes when a build or a lint needs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fleet.errors import DeviceError
from fleet.sdk.hardware.device import Device
from fleet.sdk.hardware.rtl_memory import RtlMemory, RtlRegister

__all__ = ["GENERATED", "GeneratedSource", "RtlFiles", "generated_files", "listed_sources", "rtl_models"]

GENERATED = "generated/"
"""Prefix of a file list's lines that name generated sources."""


def rtl_models() -> Path:
    """Folder of fleet's own SystemVerilog, in a checkout or installed: `rtl_models() / "arith/fp_pkg.sv"` has the arithmetic
    of FP16 and binary32, `"axi/fleet_axi_pkg.sv"` the channels as structures. An installation without hardware lacks it.
    """
    package = Path(__file__).resolve().parents[2]
    installed = package / "_rtl_models"
    return installed if installed.is_dir() else package.parent / "rtl_models"


@dataclass(frozen=True)
class GeneratedSource:
    """A source that no repository holds: fleet makes it when hardware is built, linted or hashed, and keeps it in its cache.

    Attributes:
        name: of the file; one of `generated_files` where `text` is None.
        text: the set's own generator; None: made from the description.
    """

    name: str
    text: Callable[[], str] | None = None


@dataclass(frozen=True)
class RtlFiles:
    """The hardware of a set.

    Attributes:
        sources: SystemVerilog files in compile order (packages first), and generated ones in their places.
        top: Module name, with the ports of rtl_models/README.md.
        include_dirs: Where the files that sources include are found.
        parameters: From a device to parameters (name -> int), of which the top module gets those that it declares. None: on offer
            are the device's own, depths of on-chip memories ("AccDepth") among them, and sizes of memories ("DdrBytes",
            "DdrMegabytes").
        memories: On-chip memory -> where the RTL keeps it. Simulations compare its whole content when a stream has ended, and may
            begin with any content; what is not listed is known by what the hardware tells of its writes.
        registers: State register -> where the RTL keeps it (a register in several parts); compared as memories are.
    """

    sources: tuple[Path | GeneratedSource, ...]
    top: str
    include_dirs: tuple[Path, ...] = ()
    parameters: Callable[[Device], Mapping[str, int]] | None = None
    memories: Mapping[str, RtlMemory] = field(default_factory=dict[str, RtlMemory])
    registers: Mapping[str, tuple[RtlRegister, ...]] = field(default_factory=dict[str, tuple[RtlRegister, ...]])

    @property
    def written(self) -> tuple[Path, ...]:
        """The sources that are files of the set, without generated ones, in compile order."""
        return tuple(s for s in self.sources if isinstance(s, Path))

    @property
    def files(self) -> tuple[Path, ...]:
        """All sources as files, in compile order.

        Raises:
            DeviceError: one is still to be generated; `fleet.isa.hardware.hardware_of` makes it.
        """
        if wanted := [s.name for s in self.sources if isinstance(s, GeneratedSource)]:
            raise DeviceError(f"{wanted[0]} is not generated yet", where=self.top, hint="take the files of `hardware_of(set)`")
        return self.written


def generated_files(name: str) -> tuple[str, ...]:
    """Names of the files that `fleet.isa.export` generates from a description, in compile order.

    name: `Description.hardware`, the set's own unless it extends another.
    """
    return (f"{name}.vlt", f"{name}_regs_pkg.sv", f"{name}_regs.sv", f"{name}_pkg.sv", f"{name}_csr.sv")


def listed_sources(
    listing: Path, root: Path, texts: Mapping[str, Callable[[], str]] | None = None
) -> tuple[Path | GeneratedSource, ...]:
    """The sources of a file list, one a line in compile order; a comment begins with `#`.

    Args:
        listing: the file list; its names are relative to `root`. A name "generated/..." is no file but a `GeneratedSource`.
        root: a folder.
        texts: name of a generated file -> the set's own generator. Others are made from the description.

    Raises:
        OSError: the list cannot be read.
    """
    lines = (line.split("#")[0].strip() for line in listing.read_text(encoding="utf-8").splitlines())
    own = texts or {}

    def source(line: str) -> Path | GeneratedSource:
        name = line.removeprefix(GENERATED)
        return root / line if name == line else GeneratedSource(name, own.get(name))

    return tuple(source(line) for line in lines if line)
