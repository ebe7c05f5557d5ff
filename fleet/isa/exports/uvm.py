"""UVM register model of the register map, by PeakRDL-uvm: package `<set>_uvm_pkg`, one class a register, one block.

It has names, offsets, fields, access, volatility and resets. UVM has no words for fleet's own properties and for views, nor does
the exporter for named values: they are not in it (format `sv` has views and named values).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from peakrdl_uvm import UVMExporter
from systemrdl.node import AddrmapNode, Node

from fleet.core.scratch import Scratch
from fleet.isa.description import Description

_MEMBERS = {
    "build", "clone", "compare", "configure", "copy", "create", "default_map", "get", "lock_model", "mirror", "pack",
    "peek", "poke", "post_read", "post_write", "pre_read", "pre_write", "predict", "print", "read", "record", "reset",
    "sample", "set", "sprint", "unpack", "update", "write",
}  # fmt: skip
"""Methods of uvm_reg and uvm_reg_block. A field or register of such a name gets an underscore."""


def files(description: Description, maps: Mapping[str, AddrmapNode]) -> Mapping[str, bytes]:
    """One package, named like its file."""
    name = f"{description.name}_uvm_pkg.sv"
    with Scratch("uvm") as folder:
        _Exporter().export(maps["registers"], str(folder / name), reuse_class_definitions=False)
        return {name: Path(folder, name).read_bytes()}


class _Exporter(UVMExporter):
    def _get_inst_name(self, node: Node) -> str:
        name = node.inst_name
        return f"{name}_" if name in _MEMBERS else name
