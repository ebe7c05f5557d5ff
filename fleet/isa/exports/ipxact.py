"""IP-XACT (IEEE 1685-2014): the register map by PeakRDL-ipxact, the views as alternate registers, fleet's properties as extensions.

Standard elements say what the standard has words for: names, offsets, fields, resets, access, named values. A view's register is an
`alternateRegister` of the operand, in the group of its instruction. What the standard has no words for stands in
`vendorExtensions`, in the namespace `NAMESPACE`: of the address block the instructions, of registers and fields the properties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.dom import minidom

from peakrdl_ipxact import IPXACTExporter
from systemrdl.node import AddressableNode, AddrmapNode, FieldNode, RegfileNode, RegNode

from fleet.core.scratch import Scratch
from fleet.isa.description import Description, Field, Register

NAMESPACE = "urn:fleet-cosim:instruction-set"
_VIEW = "_view"


def files(description: Description, maps: Mapping[str, AddrmapNode]) -> Mapping[str, bytes]:
    """One component, `<set>.xml`; its version is the first half of the description's hash."""
    name = f"{description.name}.xml"
    with Scratch("ipxact") as folder:
        _Exporter(description, maps["instructions"]).export(maps["registers"], str(folder / name))
        return {name: Path(folder, name).read_bytes()}


class _Exporter(IPXACTExporter):
    def __init__(self, description: Description, instructions: AddrmapNode) -> None:
        super().__init__(vendor="fleet-cosim", library="instruction_sets", version=description.hash[:32])
        self._description = description
        self._alternates = _alternates(description, instructions)

    def add_register(self, parent: minidom.Element, node: RegNode) -> None:
        super().add_register(parent, node)
        register = parent.lastChild
        found = self._alternates.get(node.absolute_address)
        if found and isinstance(register, minidom.Element):
            alternates = self.doc.createElement(f"{self.ns}alternateRegisters")
            register.insertBefore(alternates, _extensions(register, self.ns))
            for instruction, other in found:
                self._alternate(alternates, instruction, other)

    def _alternate(self, parent: minidom.Element, instruction: str, node: RegNode) -> None:
        alternate = self.doc.createElement(f"{self.ns}alternateRegister")
        parent.appendChild(alternate)
        self.add_nameGroup(alternate, node.inst_name, node.get_property("name", default=None), node.get_property("desc"))
        groups = self.doc.createElement(f"{self.ns}alternateGroups")
        alternate.appendChild(groups)
        self.add_value(groups, f"{self.ns}alternateGroup", instruction)
        for field in node.fields():
            self.add_field(alternate, field)

    def addressBlock_vendorExtensions(self, parent: minidom.Element, node: AddressableNode) -> None:
        d = self._description
        block = self._own(parent, "instructionSet", {"name": d.name, "extends": d.extends, "descriptionHash": d.hash})
        for i in d.instructions.values():
            values = {
                "name": i.name, "title": i.title, "unit": i.unit, "opcode": i.opcode, "start": i.start,
                "startOptional": i.start_optional, "beats": i.beats, "fetch": "true" if i.fetch else None,
            }  # fmt: skip
            self._own(block, "instruction", values)

    def register_vendorExtensions(self, parent: minidom.Element, node: RegNode) -> None:
        r: Register = self._description.register(node.inst_name)
        values = {"role": r.role, "unit": r.unit, "fetchWord": r.fetch_word}
        self._own(parent, "register", {**values, "order": r.order} if r.role == "operand" else values)

    def field_vendorExtensions(self, parent: minidom.Element, node: FieldNode) -> None:
        f: Field = next(f for f in self._description.register(node.parent.inst_name).fields if f.name == node.inst_name)
        values = {
            "kind": f.kind, "space": f.space, "align": f.align if f.align > 1 else None,
            "allowed": " ".join(map(str, f.allowed)) if f.allowed is not None else None,
            "signed": "true" if f.signed else None, "scale": f.scale if f.scale > 1 else None,
            "operand": f.operand or None, "operandLow": f.operand_low if f.operand else None,
        }  # fmt: skip
        self._own(parent, "field", values)

    def _own(self, parent: minidom.Element, tag: str, values: Mapping[str, str | int | None]) -> minidom.Element:
        """An element of ours; a value that is None is left out."""
        element = self.doc.createElement(f"fleet:{tag}")
        if not parent.tagName.startswith("fleet:"):
            element.setAttribute("xmlns:fleet", NAMESPACE)
        for name, value in values.items():
            if value is not None:
                element.setAttribute(name, str(value))
        parent.appendChild(element)
        return element


def _alternates(description: Description, instructions: AddrmapNode) -> Mapping[int, Sequence[tuple[str, RegNode]]]:
    """Address of an operand -> (instruction, register of its view) of all instructions with a view, by opcode."""
    views = {v.inst_name.removesuffix(_VIEW): v for v in instructions.children() if isinstance(v, RegfileNode)}
    found: dict[int, list[tuple[str, RegNode]]] = {}
    for name in (i.name for i in description.instructions.values() if i.view is not None):
        for register in views[name].registers():
            found.setdefault(register.address_offset, []).append((name, register))
    return found


def _extensions(register: minidom.Element, ns: str) -> minidom.Element | None:
    """Elements before which alternate registers must stand."""
    found = [c for c in register.childNodes if isinstance(c, minidom.Element) and c.tagName == f"{ns}vendorExtensions"]
    return found[0] if found else None
