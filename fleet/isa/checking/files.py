"""Check that generated files are those that the description generates now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fleet.errors import ComparisonFailure
from fleet.isa import export
from fleet.isa.checking.finding import Finding
from fleet.isa.generate.modules import check_module, python_modules
from fleet.isa.reading.cache import load
from fleet.sdk import InstructionSet, generated_files


def generated_folder(instruction_set: InstructionSet) -> Path | None:
    """The folder of the set's generated hardware files; None for a set without hardware, or that leaves them to the build."""
    if instruction_set.rtl is None:
        return None
    names = set(generated_files(load(instruction_set.description).hardware))
    return next((p.parent for p in instruction_set.rtl.written if p.name in names), None)


def check_generated(instruction_set: InstructionSet) -> Iterator[Finding]:
    """The generated Python modules that are not current, and the first of the hardware's files that is missing or not current."""
    description = load(instruction_set.description)
    for name, text in python_modules(description).items():
        if not (path := instruction_set.description.with_name(name)).exists():
            continue
        try:
            check_module(description, path, text)
        except ComparisonFailure as error:
            yield Finding(error.where or str(path), f"{error.what}; {error.hint}" if error.hint else error.what)
    folder = generated_folder(instruction_set)
    if folder is None:
        if instruction_set.rtl is not None and len(instruction_set.rtl.written) == len(instruction_set.rtl.sources):
            yield Finding(
                load(instruction_set.description).path.as_posix() + ":1", "none of the hardware's files is generated from it"
            )
        return
    try:
        export.check(instruction_set.description, folder)
    except ComparisonFailure as error:
        yield Finding(error.where or str(folder), f"{error.what}; {error.hint}" if error.hint else error.what)
