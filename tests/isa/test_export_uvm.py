"""The UVM model, elaborated by slang against a stub of UVM's register classes, has every register and field of the description."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from export_files import files_of

from fleet.isa.description import Description, Field, Register

STUB = Path(__file__).parent / "exports" / "uvm"
_ACCESS = {"rw": "RW", "r": "RO", "w": "WO"}


def elaborated(text: str) -> tuple[Any, str]:
    """The compilation of a package beside the stub, and what slang has to say."""
    pyslang = pytest.importorskip("pyslang")
    manager = pyslang.SourceManager()
    manager.addUserDirectories(str(STUB))
    compilation = pyslang.ast.Compilation()
    compilation.addSyntaxTree(pyslang.syntax.SyntaxTree.fromFile(str(STUB / "uvm_pkg.sv"), manager))
    compilation.addSyntaxTree(pyslang.syntax.SyntaxTree.fromText(text, manager, "model.sv"))
    return compilation, pyslang.DiagnosticEngine.reportAll(manager, compilation.getAllDiagnostics())


def constant(argument: Any) -> Any:
    if argument.constant is not None:
        return int(argument.constant.value)
    while hasattr(argument, "operand"):
        argument = argument.operand
    return argument.value if hasattr(argument, "value") else None


def model(compilation: Any) -> tuple[dict[str, int], dict[str, str], dict[str, dict[str, list[Any]]]]:
    """Of the block: register -> offset, register -> its class. Of every class: field -> what it is configured with."""
    offsets: dict[str, int] = {}
    classes: dict[str, str] = {}
    fields: dict[str, dict[str, list[Any]]] = defaultdict(dict)
    inside = [""]

    def visit(node: Any) -> None:
        if type(node).__name__ == "ClassType":
            inside[0] = node.name
        if type(node).__name__ != "CallExpression":
            return
        if node.subroutineName == "add_reg":
            register = node.arguments[0]
            while hasattr(register, "operand"):
                register = register.operand
            offsets[register.member.name] = constant(node.arguments[1])
            classes[register.member.name] = register.member.type.name
        elif node.subroutineName == "configure" and len(node.arguments) == 9:
            fields[inside[0]][node.thisClass.member.name] = [constant(a) for a in node.arguments[1:7]]

    compilation.getRoot().visit(visit)
    return offsets, classes, fields


def expected(r: Register, f: Field) -> list[Any]:
    """size, lsb, access, volatile, reset, has_reset."""
    volatile = f.hardware == "w" or r.role == "irq_status"
    has_reset = f.software != "r" or f.reset != 0
    return [f.width, f.low, "W1C" if r.role == "irq_status" else _ACCESS[f.software], volatile, f.reset, has_reset]


def test_slang_finds_every_register_and_field(described: Description) -> None:
    files = files_of(described, "uvm")
    assert list(files) == [f"{described.name}_uvm_pkg.sv"]
    compilation, said = elaborated(files[f"{described.name}_uvm_pkg.sv"].decode())
    assert said == ""
    offsets, classes, fields = model(compilation)
    named = {r.name: r for r in described.registers}
    assert {name: offsets.get(name, offsets.get(f"{name}_")) for name in named} == {n: r.address for n, r in named.items()}
    assert len(offsets) == len(named)
    for name, r in named.items():
        found = fields[classes.get(name) or classes[f"{name}_"]]
        assert {n.removesuffix("_"): v for n, v in found.items()} == {f.name: expected(r, f) for f in r.fields}, name


def test_names_that_uvm_has_already_get_an_underscore(described: Description) -> None:
    text = files_of(described, "uvm")[f"{described.name}_uvm_pkg.sv"].decode()
    for name in ("build", "reset", "default_map"):
        taken = any(name in (r.name, *(f.name for f in r.fields)) for r in described.registers)
        assert (f" {name}_;" in text) == taken
        assert f" {name};" not in text


def test_the_stub_refuses_a_model_that_asks_for_what_uvm_has_not(described: Description) -> None:
    text = files_of(described, "uvm")[f"{described.name}_uvm_pkg.sv"].decode()
    for wrong in (text.replace(".add_reg(", ".add_register(", 1), text.replace(", UVM_NO_COVERAGE);", ");", 1)):
        assert wrong != text
        assert "error" in elaborated(wrong)[1]
