"""From a description to hardware text: `python -m fleet.isa.export [--check] FILE.rdl [-o FOLDER]`.

For a set that keeps its generated files beside its hardware. `fleet.isa.hardware` makes what a set leaves to the build
(`fleet.sdk.GeneratedSource`); `fleet isa export` shows it. Files of set S:

  S_regs_pkg.sv, S_regs.sv   AXI4-Lite register block by PeakRDL-regblock (asynchronous reset, active low; a bad
                             address or access answers SLVERR)
  S_pkg.sv                   register numbers, opcodes, start values, error causes, operand structures
  S_csr.sv                   the register block with plain ports (`fleet.isa.generate.export_sv`)
  S.vlt                      Verilator's waivers for the files above

Order for a compiler: S.vlt, S_regs_pkg.sv, S_regs.sv, S_pkg.sv, S_csr.sv (`generated_files`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from fleet.core.files import write_atomically
from fleet.core.scratch import Scratch
from fleet.errors import ComparisonFailure, FleetError
from fleet.isa.description import Description
from fleet.isa.generate import export_sv
from fleet.isa.reading import rdl as description_rdl
from fleet.isa.reading.cache import load
from fleet.sdk import generated_files


def generate(path: Path | str) -> Mapping[str, str]:
    """File name -> text, everything that is generated from one description. Raises DescriptionError."""
    description = load(path)
    texts = {
        f"{description.hardware}.vlt": export_sv.waivers(description),
        **_register_block(description),
        f"{description.hardware}_pkg.sv": export_sv.package(description),
        f"{description.hardware}_csr.sv": export_sv.csr_module(description),
    }
    return {name: texts[name] for name in generated_files(description.hardware)}


def export(path: Path | str, folder: Path) -> Sequence[Path]:
    """Writes the generated files of one description into `folder`; files that are current are left alone.

    Returns the files in compile order.
    """
    texts = generate(path)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        _write(folder / name, text)
    return [folder / name for name in texts]


def check(path: Path | str, folder: Path) -> None:
    """Raises ComparisonFailure naming the first file in `folder` that is missing or not what `generate` gives."""
    for name, text in generate(path).items():
        file = folder / name
        hint = f"run `python -m fleet.isa.export {path} -o {folder}`"
        if not file.exists():
            raise ComparisonFailure("generated file is missing", where=str(file), hint=hint)
        old = file.read_text(encoding="utf-8")
        if old != text:
            lines = zip([*old.splitlines(), ""], [*text.splitlines(), ""], strict=False)
            line = next((n for n, (a, b) in enumerate(lines, 1) if a != b), 1)
            raise ComparisonFailure("is not what the description generates", where=f"{file}:{line}", hint=hint)


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_atomically(path, text.encode())


def _register_block(description: Description) -> Mapping[str, str]:
    from peakrdl_regblock import RegblockExporter
    from peakrdl_regblock.cpuif.axi4lite import AXI4Lite_Cpuif_flattened

    name = f"{description.hardware}_regs"
    top = description_rdl.elaborate(description.path)["registers"]
    with Scratch("export") as folder:
        RegblockExporter().export(
            top,
            str(folder),
            cpuif_cls=AXI4Lite_Cpuif_flattened,
            module_name=name,
            package_name=f"{name}_pkg",
            address_width=16,
            default_reset_activelow=True,
            default_reset_async=True,
            err_if_bad_addr=True,
            err_if_bad_rw=True,
        )
        head = export_sv.header(description, "AXI4-Lite register block (PeakRDL-regblock)")
        return {
            file: head + Path(folder, file).read_text(encoding="utf-8").rstrip() + "\n" for file in (f"{name}_pkg.sv", f"{name}.sv")
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m fleet.isa.export", description="Generates hardware text from a description.")
    parser.add_argument("file", type=Path, help="a .rdl file")
    parser.add_argument("-o", "--output", type=Path, help="folder (default: beside FILE)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is not current")
    options = parser.parse_args(arguments)
    path: Path = options.file
    folder: Path = options.output or path.parent
    try:
        if options.check:
            check(path, folder)
            print(f"{folder}: current with {path.name}")
        else:
            files = export(path, folder)
            print(f"{folder}: {len(files)} files from {path.name}")
    except FleetError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
