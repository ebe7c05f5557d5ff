"""C headers by PeakRDL-cheader: `<set>.h` of the registers, `<set>_instructions.h` of instructions and their views.

The exporter gives a struct of all registers (`<set>_t`) and masks, positions, widths and resets of fields. Behind it stands what
it leaves out: named values, and of every instruction opcode and start values. The struct of a view has its registers where the
unit's operands lie, so `(volatile <set>_instructions__<instruction>_view_t *)base` shows a unit's registers under the
instruction's names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from peakrdl_cheader.c_standards import CStandard
from peakrdl_cheader.exporter import CHeaderExporter
from systemrdl.node import AddrmapNode

from fleet.core.scratch import Scratch
from fleet.isa.description import Description, Register


def files(description: Description, maps: Mapping[str, AddrmapNode]) -> Mapping[str, bytes]:
    """Both headers, for C11 with GNU's `packed` (GCC, Clang)."""
    registers, instructions = maps["registers"], maps["instructions"]
    views = ((i, r) for i in description.instructions.values() for r in i.view or ())
    more = {
        f"{description.name}.h": (registers, _values((registers.inst_name, r) for r in description.registers)),
        f"{description.name}_instructions.h": (
            instructions,
            [
                *_words(description, instructions.inst_name),
                *_values((f"{instructions.inst_name}__{i.name}_view", r) for i, r in views),
            ],
        ),
    }
    found: dict[str, bytes] = {}
    with Scratch("c") as folder:
        for name, (top, lines) in more.items():
            CHeaderExporter().export(top, str(folder / name), std=CStandard.gnu11, reuse_typedefs=False)
            found[name] = _with(Path(folder, name).read_text(encoding="utf-8"), lines).encode()
    return found


def _values(registers: Iterable[tuple[str, Register]]) -> Iterator[str]:
    """Named values, under the name that the exporter gives the field."""
    for prefix, r in registers:
        for f in r.fields:
            for e in f.encode:
                yield f"#define {'__'.join((prefix, r.name, f.name, e.name)).upper()} {e.value:#x}u"


def _words(d: Description, prefix: str) -> Iterator[str]:
    """Opcode, start value and the bits that may be set beside it, of every instruction."""
    for i in d.instructions.values():
        name = f"{prefix}__{i.name}".upper()
        yield f"#define {name}_opcode {i.opcode:#x}u"
        yield f"#define {name}_start {i.start:#x}u"
        yield f"#define {name}_start_optional {i.start_optional:#x}u"


def _with(text: str, lines: Iterable[str]) -> str:
    """The header with more lines inside its guard, which it ends with."""
    body, guard, end = text.rpartition("#endif")
    more = "\n".join(lines)
    return f"{body}// Added by fleet: what the exporter leaves out.\n{more}\n\n{guard}{end}" if more else text
