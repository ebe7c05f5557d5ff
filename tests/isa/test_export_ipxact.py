"""The IP-XACT component, read by ipyxact and by ElementTree, says what the description says."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from export_files import files_of

from fleet.isa.description import Description, Field, Register

IPXACT = "{http://www.accellera.org/XMLSchema/IPXACT/1685-2014}"
FLEET = "{urn:fleet-cosim:instruction-set}"
ACCESS = {"rw": "read-write", "r": "read-only", "w": "write-only"}

# What IEEE 1685-2014 lets stand in these elements, in its order, as far as an export of registers can have it.
NAMES = ["name", "displayName", "description"]
ORDER = {
    "component": ["vendor", "library", "name", "version", "memoryMaps"],
    "memoryMap": [*NAMES, "addressBlock"],
    "addressBlock": [*NAMES, "baseAddress", "range", "width", "register", "vendorExtensions"],
    "register": [*NAMES, "addressOffset", "size", "field", "alternateRegisters", "vendorExtensions"],
    "alternateRegister": [*NAMES, "alternateGroups", "field", "vendorExtensions"],
    "alternateGroups": ["alternateGroup"],
    "field": [
        *NAMES, "bitOffset", "resets", "bitWidth", "volatile", "access", "enumeratedValues", "modifiedWriteValue",
        "vendorExtensions",
    ],
    "enumeratedValue": [*NAMES, "value"],
}  # fmt: skip


@pytest.fixture(scope="module")
def component(described: Description, tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = files_of(described, "ipxact")
    assert list(files) == [f"{described.name}.xml"]
    path = tmp_path_factory.mktemp("ipxact") / f"{described.name}.xml"
    path.write_bytes(files[path.name])
    return path


def shown(fields: Sequence[Field]) -> list[tuple[object, ...]]:
    return [(f.name, f.low, f.width, ACCESS[f.software], [(e.name, e.value) for e in f.encode]) for f in fields]


def number(text: str) -> int:
    assert text.startswith("'h")
    return int(text[2:], 16)


def read(fields: Any) -> list[tuple[object, ...]]:
    enums = [f.enumeratedValues.enumeratedValue if f.enumeratedValues else [] for f in fields]
    values = [[(e.name, number(e.value)) for e in found] for found in enums]
    return [(f.name, f.bitOffset, f.bitWidth, f.access, v) for f, v in zip(fields, values, strict=True)]


def test_another_parser_reads_what_the_description_says(described: Description, component: Path) -> None:
    ipyxact = pytest.importorskip("ipyxact.ipyxact")
    found = ipyxact.Component()
    found.load(str(component))
    assert (found.name, found.version, found.nsversion) == (described.name, described.hash[:32], "2014")
    (block,) = found.memoryMaps.memoryMap[0].addressBlock
    assert (block.baseAddress, block.width) == (0, 32)
    assert block.range >= described.registers[-1].address + 4
    by_name = {r.name: r for r in block.register}
    assert list(by_name) == [r.name for r in described.registers]
    for r in described.registers:
        register = by_name[r.name]
        assert (register.addressOffset, register.size) == (r.address, 32)
        assert read(register.field) == shown(r.fields), r.name
        others = register.alternateRegisters.alternateRegister if register.alternateRegisters else []
        views = views_of(described, r)
        assert [a.name for a in others] == [v.name for v in views]
        for alternate, view in zip(others, views, strict=True):
            assert read(alternate.field) == shown(view.fields), view.name


def views_of(d: Description, register: Register) -> list[Register]:
    """By opcode."""
    return [v for i in d.instructions.values() for v in i.view or () if v.address == register.address]


def elements(root: ET.Element, tag: str) -> Iterator[ET.Element]:
    return root.iter(f"{IPXACT}{tag}")


def text(element: ET.Element, path: str) -> str:
    return element.findtext("/".join(f"{IPXACT}{p}" for p in path.split("/"))) or ""


def test_elements_stand_in_the_standards_order(component: Path) -> None:
    root = ET.parse(component).getroot()
    for tag, order in ORDER.items():
        for element in elements(root, tag):
            places = [order.index(child.tag.removeprefix(IPXACT)) for child in element]
            assert places == sorted(places), (tag, text(element, "name"))


def test_resets_groups_texts_and_write_effects(described: Description, component: Path) -> None:
    root = ET.parse(component).getroot()
    assert text(root, "memoryMaps/memoryMap/addressBlock/description") == described.desc
    for element in [*elements(root, "register"), *elements(root, "alternateRegister")]:
        r = described.register(text(element, "name"))
        assert text(element, "alternateGroups/alternateGroup") == (r.view or "")
        assert text(element, "displayName") in (r.title, "")
        assert text(element, "description") == r.desc
        for field, f in zip(element.findall(f"{IPXACT}field"), r.fields, strict=True):
            reset = text(field, "resets/reset/value")
            assert (number(reset) if reset else 0) == f.reset
            assert text(field, "modifiedWriteValue") == ("oneToClear" if r.role == "irq_status" else "")
            assert text(field, "volatile") == ("true" if "w" in f.hardware or r.role == "irq_status" else "")


def test_vendor_extensions_hold_fleets_own_properties(described: Description, component: Path) -> None:
    root = ET.parse(component).getroot()
    (own,) = root.iter(f"{FLEET}instructionSet")
    assert (own.get("name"), own.get("descriptionHash"), own.get("extends")) == (described.name, described.hash, described.extends)
    words = {i.get("name"): i for i in own.findall(f"{FLEET}instruction")}
    assert list(words) == list(described.instructions)
    for i in described.instructions.values():
        w = words[i.name]
        assert [w.get(a) for a in ("unit", "fetch")] == [i.unit, "true" if i.fetch else None]
        numbers = [int(w.get(a) or "") for a in ("opcode", "start", "startOptional", "beats")]
        assert numbers == [i.opcode, i.start, i.start_optional, i.beats]
    for element in [*elements(root, "register"), *elements(root, "alternateRegister")]:
        r = described.register(text(element, "name"))
        if element.tag == f"{IPXACT}register":
            (e,) = element.findall(f"{IPXACT}vendorExtensions/{FLEET}register")
            order = str(r.order) if r.role == "operand" else None
            assert [e.get(a) for a in ("role", "unit", "order", "fetchWord")] == [r.role, r.unit, order, r.fetch_word]
        for field, f in zip(element.findall(f"{IPXACT}field"), r.fields, strict=True):
            (e,) = field.findall(f"{IPXACT}vendorExtensions/{FLEET}field")
            allowed = " ".join(map(str, f.allowed)) if f.allowed else None
            numbers = [str(n) if n > 1 else None for n in (f.align, f.scale)]
            assert [e.get(a) for a in ("kind", "space", "allowed", "align", "scale")] == [f.kind, f.space, allowed, *numbers]
            part = (f.operand, str(f.operand_low)) if f.operand else (None, None)
            assert (e.get("operand"), e.get("operandLow")) == part
            assert e.get("signed") == ("true" if f.signed else None)
