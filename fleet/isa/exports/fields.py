"""SystemVerilog package of every field of every register, and of every instruction's view: `<set>_fields_pkg`.

Names follow the lowRISC style. Of field `mode` of register `mvm_flags`:
  `MvmFlagsOffset`, `MvmFlagsReset`        byte address and value after reset of the register (a view's: of the operand)
  `MvmFlagsModeLsb`, `...Width`, `...Mask`   where the field lies in the 32 bits
  `mvm_flags_mode_e`, `MvmFlagsModeAdd`    its named values
  `mvm_flags_t`                            the register as a packed struct; bits without a field are `reserved__<high>_<low>`
A struct's members are plain `logic`, signed where the field is, and no enums: every word that hardware may read is a value of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.isa.description import Description, DescriptionError, Field, Register
from fleet.isa.generate.export_sv import camel, header

_WAIVED = ("UNUSEDPARAM", "SYMRSVDWORD")


def package(description: Description) -> str:
    """The text of the package. Raises DescriptionError where two fields would give one name."""
    return header(description, "Fields of all registers") + "\n".join(_lines(description)) + "\n"


def _lines(d: Description) -> Iterator[str]:
    taken: dict[str, str] = {}
    yield "// A reader takes what it needs of these, and a field may be called like a word of C++."
    yield from (f"/* verilator lint_off {rule} */" for rule in _WAIVED)
    yield f"package {d.hardware}_fields_pkg;"
    for r in d.registers:
        yield from _register(r, taken)
    for i in d.instructions.values():
        if i.view is not None:
            yield ""
            yield f"  // The operands of unit {i.unit} as {i.name} calls them."
            for r in i.view:
                yield from _register(r, taken)
    yield ""
    yield f"endpackage : {d.hardware}_fields_pkg"
    yield from (f"/* verilator lint_on {rule} */" for rule in _WAIVED)


def _register(r: Register, taken: dict[str, str]) -> Iterator[str]:
    name = camel(r.name)
    yield ""
    yield f"  // {r.name}, {r.role}: {r.title}"
    yield f"  localparam logic [15:0] {_new(f'{name}Offset', r.where, taken)} = 16'h{r.address:04x};"
    yield f"  localparam logic [31:0] {_new(f'{name}Reset', r.where, taken)} = 32'h{r.reset:08x};"
    for f in r.fields:
        yield from _field(r, f, taken)
    yield "  typedef struct packed {"
    yield from _members(r)
    yield f"  }} {_new(f'{r.name}_t', r.where, taken)};"


def _field(r: Register, f: Field, taken: dict[str, str]) -> Iterator[str]:
    name = f"{camel(r.name)}{camel(f.name)}"
    yield f"  localparam int unsigned {_new(f'{name}Lsb', f.where, taken)} = {f.low};"
    yield f"  localparam int unsigned {_new(f'{name}Width', f.where, taken)} = {f.width};"
    yield f"  localparam logic [31:0] {_new(f'{name}Mask', f.where, taken)} = 32'h{f.mask:08x};"
    if f.encode:
        yield f"  typedef enum {_logic(f.width)} {{"
        last = len(f.encode) - 1
        for n, e in enumerate(f.encode):
            value = f"{_new(f'{name}{camel(e.name)}', f.where, taken)} = {f.width}'d{e.value}{'' if n == last else ','}"
            yield f"    {value}{f'  // {e.desc}' if e.desc else ''}"
        yield f"  }} {_new(f'{r.name}_{f.name}_e', f.where, taken)};"


def _members(r: Register) -> Iterator[str]:
    """First written, most significant: the fields downwards, and the bits between them."""
    high = 31
    for f in reversed(r.fields):
        if f.high < high:
            yield _reserved(high, f.high + 1)
        yield f"    {_logic(f.width, 'signed ' if f.signed else '')} {f.name};  // {f.high}:{f.low} {f.title}"
        high = f.low - 1
    if high >= 0:
        yield _reserved(high, 0)


def _reserved(high: int, low: int) -> str:
    # No field is called so: names in descriptions have no two underscores in a row.
    return f"    {_logic(high - low + 1)} reserved__{high}_{low};"


def _logic(width: int, sign: str = "") -> str:
    return f"logic {sign}[{width - 1}:0]" if width > 1 or sign else "logic"


def _new(name: str, where: str, taken: dict[str, str]) -> str:
    if name in taken:
        raise DescriptionError(f"{name} would stand twice in the package of fields", where=where, hint=f"rename one: {taken[name]}")
    taken[name] = where
    return name
