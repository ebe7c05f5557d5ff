"""A program in sections, one device each: what `with fleet.device(...)` asks for.

A section is a run of operations, in program order, that want the same device; those that say nothing run on the host. Between
sections tensors are copied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from xdsl.dialects.builtin import StringAttr, TupleType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue

from fleet.errors import DeviceError
from fleet.ir.dialect import DEVICE, CheckOp, ConstantOp, FleetOp, PrintOp, all_operations, op_id
from fleet.ir.program import Program
from fleet.ir.text import print_ir
from fleet.ir.types import is_tensor
from fleet.transforms.edit import text_of
from fleet.transforms.part import ProgramPart, part_of

HOST = "host"
"""The device of operations that want none."""

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class DeviceSection:
    """One run of operations.

    Attributes:
        device: a target or device, or `HOST`.
        part: the operations as a program, whose outputs have the ids of the operations that compute them.
    """

    device: str
    part: ProgramPart


@dataclass(frozen=True)
class DeviceSections:
    """A program's sections in order, and the program."""

    program: Program
    sections: tuple[DeviceSection, ...]

    def run(self, inputs: Arrays, run: Callable[[int, Arrays], Arrays]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Run the sections one after the other.

        Args:
            inputs: the program's, by name.
            run: takes a section's number and its inputs, returns its outputs.

        Returns:
            The program's outputs by name, and id of an operation -> its result, for results that leave their section.
        """
        values: dict[str, np.ndarray] = {}
        for n, section in enumerate(self.sections):
            part = section.part
            given = {
                a.name: values[part.sources[a.name]] if a.name in part.sources else inputs[a.name] for a in part.program.inputs
            }
            values.update(run(n, given))
        last = self.program.function.body.block.last_op
        assert isinstance(last, ReturnOp)
        found = {name: self.value(v, inputs, values) for name, v in zip(self.program.outputs, last.operands, strict=True)}
        return found, values

    def value(self, value: SSAValue, inputs: Arrays, values: Arrays) -> np.ndarray:
        """Return what a value was that is returned or printed."""
        if isinstance(value.owner, FleetOp):
            return values[op_id(value.owner)]
        argument = self.program.arguments[self.program.function.body.block.args.index(value)]  # pyright: ignore[reportArgumentType]
        return np.asarray((self.program.weights if argument.kind == "weight" else inputs)[argument.name])

    def text(self) -> str:
        """Return the sections as text: what is copied, from where to where, and the IR that each device runs."""
        made: dict[str, str] = {}
        lines: list[str] = []
        for section in self.sections:
            part = section.part
            for name, source in part.sources.items():
                if made[source] != section.device:
                    lines.append(f"copy {source} from {made[source]} to {section.device} as %{name}")
            lines += [f"on {section.device} {{", *(f"  {line}" for line in print_ir(part.program.module).splitlines()), "}"]
            made |= dict.fromkeys(part.program.outputs, section.device)
        return "\n".join(lines) + "\n"


def is_placed(program: Program) -> bool:
    """Return whether an operation of the program wants a device."""
    return any(DEVICE in op.attributes for op in all_operations(program.function.body.block))


def sections_of(program: Program) -> DeviceSections:
    """Divide a program.

    Raises DeviceError for a device inside a body that a condition or loop of the run decides about, and for `raise` and `assert`
    that the run decides: no section has a result of them.
    """
    operations = list(program.operations())
    for op in operations:
        if isinstance(op, CheckOp):
            where = text_of(op, "at") or program.source_name
            raise DeviceError("`raise` or `assert` beside `fleet.device`", where=where, hint="check before the call")
        for inner in op.walk():
            if inner is not op and isinstance(inner, FleetOp) and _device(inner) not in (HOST, _device(op)):
                raise DeviceError(
                    f"a part of it is placed on {_device(inner)}", where=text_of(op, "at") or program.source_name,
                    hint="write `with fleet.device(...)` around the whole `if` or loop",
                )  # fmt: skip
    placed = [op for op in operations if op.results and not _is_number(op)]
    runs = [(device, list(run)) for device, run in groupby(placed, key=_device)]
    numbers = [op for op in operations if op.results and _is_number(op) and any(_shows(u.operation) for u in op.results[0].uses)]
    if numbers:
        runs.append((HOST, numbers))
    return DeviceSections(program, tuple(DeviceSection(device, _part(program, run)) for device, run in runs))


def _part(program: Program, run: Sequence[FleetOp]) -> ProgramPart:
    inside = set(run)
    leaving = [op_id(op) for op in run if any(use.operation not in inside for r in op.results for use in r.uses)]
    part = part_of(program, [op_id(op) for op in run], leaving)
    for op in all_operations(part.program.function.body.block):  # a copy, and what it says is done
        op.attributes.pop(DEVICE, None)
    return part


def _device(op: FleetOp) -> str:
    attribute = op.attributes.get(DEVICE)
    return attribute.data if isinstance(attribute, StringAttr) else HOST


def _is_number(op: FleetOp) -> bool:
    """Return whether it is a number of the program: made where it is used, on every device."""
    type_ = op.results[0].type
    return isinstance(op, ConstantOp) or not (is_tensor(type_) or isinstance(type_, TupleType))


def _shows(op: object) -> bool:
    return isinstance(op, ReturnOp | PrintOp)
