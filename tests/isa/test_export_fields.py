"""The SystemVerilog of an export: clean for two readers, and a struct of every register holds every word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from export_files import files_of
from hardware_files import slang_is_silent, verilator_says

from fleet.isa.description import Description, DescriptionError, Register
from fleet.isa.exports.formats import exported
from fleet.isa.generate.export_sv import camel
from fleet.sdk import generated_files

WORDS = (0x00000000, 0xFFFFFFFF, 0xA5A55A5A, 0x12345678, 0x80000001)


@pytest.fixture(scope="module")
def folder(described: Description, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("sv")
    for name, data in files_of(described, "sv").items():
        (found / name).write_bytes(data)
    (found / "claims.sv").write_text("\n".join(claims(described)) + "\n")
    return found


def claims(d: Description) -> Iterator[str]:
    """A module that does not elaborate where a name of the package says something else than the description."""
    yield f"module claims import {d.hardware}_fields_pkg::*; ();"
    for n, r in enumerate((*d.registers, *(r for i in d.instructions.values() for r in i.view or ()))):
        wanted = list(_values(r))
        wanted += [f"$bits({r.name}_t) == 32", f"{camel(r.name)}Offset == {r.address}", f"{camel(r.name)}Reset == 32'h{r.reset:x}"]
        for m, word in enumerate(WORDS):
            yield f"  localparam {r.name}_t W{n}_{m} = {r.name}_t'(32'h{word:x});"
            wanted.append(f"32'(W{n}_{m}) == 32'h{word:x}")
            wanted += [f"W{n}_{m}.{f.name} == {f.width}'{'sh' if f.signed else 'h'}{f.get(word):x}" for f in r.fields]
            wanted += [f"(W{n}_{m}.{f.name} < 0) == {word >> f.high & 1}" for f in r.fields if f.signed]
        yield from (f'  if (!({w})) begin : gen_{n}_{k} $error("{w}"); end' for k, w in enumerate(wanted))
    yield "endmodule"


def _values(r: Register) -> Iterator[str]:
    for f in r.fields:
        name = f"{camel(r.name)}{camel(f.name)}"
        yield f"{name}Lsb == {f.low}"
        yield f"{name}Width == {f.width}"
        yield f"{name}Mask == 32'h{f.mask:x}"
        for e in f.encode:
            yield f"{name}{camel(e.name)} == {e.value}"
            yield f"$bits({r.name}_{f.name}_e) == {f.width}"


def test_both_readers_take_the_package_and_agree_with_the_description(described: Description, folder: Path) -> None:
    package = f"{described.hardware}_fields_pkg.sv"
    assert verilator_says([package, "claims.sv"], "--top-module", "claims", folder=folder) == ""
    assert slang_is_silent([folder / package, folder / "claims.sv"], "-Wno-useless-cast")


def test_verilator_lints_all_files_together(described: Description, folder: Path) -> None:
    files = [*generated_files(described.hardware), f"{described.hardware}_fields_pkg.sv"]
    assert sorted(p.name for p in folder.iterdir()) == sorted([*files, "claims.sv"])
    assert verilator_says(files, "--top-module", f"{described.hardware}_csr", folder=folder) == ""


def test_a_wrong_mask_is_found(described: Description, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    package = (folder / f"{described.hardware}_fields_pkg.sv").read_text()
    (folder / "wrong.sv").write_text(package.replace("Lsb = 0;", "Lsb = 1;", 1))
    try:
        assert "Lsb == 0" in verilator_says(["wrong.sv", "claims.sv"], "--top-module", "claims", folder=folder)
        assert not slang_is_silent([folder / "wrong.sv", folder / "claims.sv"], "-Wno-useless-cast")
    finally:
        (folder / "wrong.sv").unlink()
    assert "Lsb == 0" in capfd.readouterr().err


TWICE = """\
addrmap twice {
    fleet_map = "registers"; default regwidth = 32; default sw = rw; default hw = r;
    reg { fleet_unit = "u"; fleet_role = "start"; default swmod; field { fleet_kind = "mode"; } go[3:0] = 0; } u_start @ 0x0;
    reg { fleet_role = "parameter"; field { fleet_kind = "value"; } b_c[3:0] = 0; } a @ 0x4;
    reg { fleet_role = "parameter"; field { fleet_kind = "value"; } c[3:0] = 0; } a_b @ 0x8;
};
addrmap twice_instructions { fleet_map = "instructions"; default regwidth = 8; default sw = r; default hw = na;
    reg { fleet_unit = "u"; fleet_opcode = 1; fleet_start = 1; field { fleet_kind = "constant"; } cfg_id[7:0] = 1; } run @ 0x0; };
"""


def test_two_fields_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "twice.rdl").write_text(TWICE)
    with pytest.raises(DescriptionError, match=r"twice\.rdl:5: ABCLsb would stand twice .*; rename one: .*twice\.rdl:4"):
        exported(tmp_path / "twice.rdl", "sv")
