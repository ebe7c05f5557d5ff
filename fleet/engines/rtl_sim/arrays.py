"""Architectural state where the RTL keeps it: read and set by the bench, in the order of bytes of the description.

The manifest says in which variables a memory lies (`RtlFiles.memories`). Verilator makes exactly these public (`visible`), the
executable says what it has of them (`variables`), and `KeptState` is what a job takes there and brings back.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from fleet.errors import DeviceError
from fleet.isa.memory import MappedMemory
from fleet.sdk import Device, RtlFiles, RtlMemory, Write
from fleet.sdk.hardware.state import REGISTERS, evaluated

_BANK = "bank"
_LIST = "arrays.txt"
_NAME = re.compile(r"[A-Za-z_][\w{}]*(\[[\w{}]+\])?(\.[A-Za-z_][\w{}]*(\[[\w{}]+\])?)*\Z")
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class Keeper:
    """The variables of the RTL that keep a memory or a state register.

    Attributes:
        what: "memory acc", for messages.
        space, offset, size: its bytes, as `Memory.view` takes them.
        module, variable: of the declaration.
        names: of the variables, below the top module.
        lsb: of a register's part.
        digits: (count, size) of every placeholder, the first one slowest: byte n belongs to digit (n // size) % count.
    """

    what: str
    space: str
    offset: int
    size: int
    module: str
    variable: str
    names: tuple[str, ...]
    digits: tuple[tuple[int, int], ...] = ()
    lsb: int = 0

    @property
    def share(self) -> int:
        """Bytes of each variable."""
        return self.size // len(self.names)

    def order(self) -> np.ndarray | None:
        """Offset in the memory of every byte, variable by variable; None: they lie one behind the other."""
        return None if len(self.names) == 1 else _order(self.size, self.digits)


@dataclass(frozen=True)
class Variable:
    """A public variable of an executable: elements of so many bits."""

    elements: int
    bits: int


@lru_cache(maxsize=64)
def _order(size: int, digits: tuple[tuple[int, int], ...]) -> np.ndarray:
    offsets = np.arange(size)
    number = np.zeros(size, np.int64)
    for count, step in digits:
        number = number * count + offsets // step % count
    return np.argsort(number, kind="stable")


def keepers(rtl: RtlFiles, device: Device) -> tuple[Keeper, ...]:
    """All that a set declares, for one device. Raises DeviceError for unknown names, and lanes that do not share evenly."""
    found: list[Keeper] = []
    for name, memory in rtl.memories.items():
        if name not in device.arrays:
            raise _unknown(device, "memory", name, device.arrays)
        array = device.arrays[name]
        banks = (array.banks, array.depth * array.row_bytes)
        found.append(_keeper(device, f"memory {name}", name, 0, array.size, memory, {_BANK: banks} if array.banks > 1 else {}))
    registers = [r.name for r in device.state.registers]
    for name, parts in rtl.registers.items():
        if name not in registers:
            raise _unknown(device, "state register", name, registers)
        for part in parts:
            memory = RtlMemory(part.module, part.path)
            keeper = _keeper(device, f"state register {name}", REGISTERS, 4 * registers.index(name), 4, memory, {})
            found.append(replace(keeper, lsb=part.lsb))
    return tuple(found)


def _unknown(device: Device, kind: str, name: str, known: Iterable[str]) -> DeviceError:
    return DeviceError(
        f"the RTL keeps a {kind} '{name}', which the description does not have", where=device.instruction_set,
        hint=f"expected one of {', '.join(known) or 'none'}",
    )  # fmt: skip


def _keeper(
    device: Device, what: str, space: str, offset: int, size: int, memory: RtlMemory, known: Mapping[str, tuple[int, int]]
) -> Keeper:  # fmt: skip
    where = f"{device.name}, {what}"
    if not _NAME.match(memory.path):
        raise DeviceError(f"'{memory.path}' is not the name of a variable below the top module", where=where)
    sizes = {
        lane.name: (evaluated(lane.count, device.parameters), evaluated(lane.size, device.parameters)) for lane in memory.lanes
    }
    sizes |= known
    placeholders = _PLACEHOLDER.findall(memory.path)
    for name in dict.fromkeys((*placeholders, *(lane.name for lane in memory.lanes))):
        if name not in sizes:
            raise DeviceError(
                f"nothing says what {{{name}}} of '{memory.path}' is", where=where, hint=f"known are {', '.join(sizes) or 'none'}"
            )  # fmt: skip
        if name not in placeholders:
            raise DeviceError(f"'{memory.path}' has no {{{name}}}", where=where)
    digits = tuple(sizes[name] for name in dict.fromkeys(placeholders))
    for count, step in digits:
        if count < 1 or step < 1 or size % (count * step):
            raise DeviceError(f"{count} arrays of {step} bytes in turn do not share {size} bytes evenly", where=where)
    names = array_names(memory.path, {name: sizes[name][0] for name in dict.fromkeys(placeholders)})
    return Keeper(what, space, offset, size, memory.module, memory.path.rpartition(".")[2].split("[")[0], names, digits)


def array_names(path: str, counts: Mapping[str, int]) -> tuple[str, ...]:
    """All names that a pattern stands for, the first placeholder slowest. counts: placeholder -> how many."""
    names = [path]
    for name, count in counts.items():
        names = [n.replace(f"{{{name}}}", str(i)) for n in names for i in range(count)]
    return tuple(names)


def visible(found: Sequence[Keeper]) -> str:
    """Return the Verilator configuration that makes their variables public; empty without variables.

    For reading: what the bench writes between two edges, Verilator need not look for at every one.
    """
    if not found:
        return ""
    lines = sorted({f'public_flat_rd -module "{k.module}" -var "{k.variable}"' for k in found})
    return "\n".join(["`verilator_config", "// Generated by fleet.engines.rtl_sim.arrays; do not edit.", *lines, ""])


def list_variables(executable: Path) -> None:
    """Ask a new executable for its public variables, and keep what it says beside it. Raises DeviceError if it does not run."""
    import cocotb_tools.config

    libraries = f"{cocotb_tools.config.libs_dir}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    run = subprocess.run(
        [str(executable), "--arrays"], env=os.environ | {"LD_LIBRARY_PATH": libraries}, capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        raise DeviceError(f"the simulation does not say which arrays it has: {run.stderr.strip()[-200:]}", where=str(executable))
    (executable.parent / _LIST).write_text(run.stdout, encoding="utf-8")


def variables(executable: Path) -> dict[str, Variable]:
    """Public variables of an executable, by name below the top module."""
    path = executable.parent / _LIST
    found: dict[str, Variable] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        name, elements, bits = line.split()
        found[name] = Variable(int(elements), int(bits))
    return found


def check(found: Sequence[Keeper], variables: Mapping[str, Variable], top: str) -> None:
    """Raise DeviceError, in one line, for a variable that the design does not have or that is too small."""
    for k in found:
        for name in k.names:
            if name not in variables:
                like = [v for v in variables if v.rpartition(".")[2] == k.variable]
                raise DeviceError(
                    f"{k.what}: the design has no variable '{name}' in a module '{k.module}'", where=top,
                    hint=f"it has {', '.join(like[:4])}" if like else None,
                )  # fmt: skip
            v = variables[name]
            if k.space == REGISTERS:
                if v.elements != 1 or not 0 <= k.lsb <= 32 - v.bits:
                    raise DeviceError(
                        f"{k.what}: '{name}' is {v.elements} x {v.bits} bits from bit {k.lsb} on, expected one word inside 32",
                        where=top,
                    )
            elif v.bits % 8 or v.elements * v.bits < 8 * k.share or k.share % (v.bits // 8):
                raise DeviceError(
                    f"{k.what}: '{name}' is {v.elements:,} x {v.bits} bits, expected whole bytes and {k.share:,} of them", where=top
                )


Files = tuple[Path, Path, Path]
"""Files of a job: the list of arrays, their contents before it and after it."""


@dataclass(frozen=True)
class KeptState:
    """Architectural state that a simulation keeps, and the files by which jobs exchange it.

    found: checked against `variables`. folder: for the files.
    """

    found: tuple[Keeper, ...]
    variables: Mapping[str, Variable]
    folder: Path

    def whole(self, device: Device) -> bool:
        """Return whether all architectural state of the device can be set."""
        kept = {(k.space, k.offset) for k in self.found}
        return all((name, 0) in kept for name in device.arrays) and all(
            (REGISTERS, 4 * n) in kept for n in range(len(device.state.registers))
        )

    def set_all(self, memory: MappedMemory) -> Files | None:
        """As `put`, for a job that begins in the middle of a program: it sets all that is known."""
        return self._put(memory, {k.space for k in self.found}) if self.found else None

    def put(self, memory: MappedMemory, blocks: Sequence[Write]) -> Files | None:
        """Write what a job needs: a list of arrays, their content; last the file that it leaves. None: nothing is known.

        A job sets what reset leaves undefined, and what the blocks name; the rest is left to the design's reset.
        Raises DeviceError for a block of a memory or register of which the manifest does not say where the RTL keeps it.
        """
        device = memory.device
        wanted = {b.space for b in blocks if b.space in device.arrays or b.space == REGISTERS}
        for b in blocks:
            if b.space in wanted and not self._keeps(b):
                raise DeviceError(
                    f"the stream begins with content of {device.place(b.space, 0, b.offset)}, and the set does not say where its "
                    "RTL keeps it", where=device.name, hint="state it in RtlFiles(memories=..., registers=...)",
                )  # fmt: skip
        if not self.found:
            return None
        return self._put(memory, wanted | {array.name for array in device.arrays.values() if array.undefined})

    def _put(self, memory: MappedMemory, wanted: Collection[str]) -> Files:
        lines: list[str] = []
        parts: list[bytes] = []
        for k in self.found:
            view = memory.view(k.space, k.offset, k.size)
            order = k.order()
            if k.space == REGISTERS:  # the bits that the variable has are taken
                view = (view.view("<u4") >> np.uint32(k.lsb)).view(np.uint8)
            data = view if order is None else view[order]
            for n, name in enumerate(k.names):
                held = self._held(k, name)
                lines.append(f"{held // self._bytes(name)} {int(k.space in wanted)} {name}\n")
                parts.append(data[n * k.share :][:held].tobytes())
        paths = self.folder / "arrays", self.folder / "arrays.from", self.folder / "arrays.to"
        paths[0].write_text("".join(lines), encoding="utf-8")
        paths[1].write_bytes(b"".join(parts))
        paths[2].unlink(missing_ok=True)
        return paths

    def get(self, path: Path, memory: MappedMemory) -> None:
        """Put what a job left into memory, which then knows it. Raises DeviceError if it is not whole."""
        data = np.fromfile(path, np.uint8) if path.is_file() else np.zeros(0, np.uint8)
        registers: dict[int, int] = {}
        at = 0
        for k in self.found:
            size = sum(self._held(k, name) for name in k.names)
            part, at = data[at : at + size], at + size
            if part.size != size:
                raise DeviceError("the simulation left no whole content of its arrays", where=str(path))
            view = memory.view(k.space, k.offset, k.size)
            order = k.order()
            if k.space == REGISTERS:
                registers[k.offset] = registers.get(k.offset, 0) | int.from_bytes(part.tobytes(), "little") << k.lsb
            elif order is None:
                view[:] = part
            else:
                view[order] = part
        for offset, value in registers.items():
            memory.view(REGISTERS, offset, 4).view("<u4")[0] = value
        memory.known = tuple(dict.fromkeys((k.space, k.offset, k.size) for k in self.found))

    def _keeps(self, block: Write) -> bool:
        size = block.data.nbytes
        if block.space != REGISTERS:
            return any(k.space == block.space for k in self.found)
        kept = {k.offset for k in self.found if k.space == REGISTERS}
        return kept.issuperset(range(block.offset, block.offset + size, 4))

    def _held(self, k: Keeper, name: str) -> int:
        """Bytes of a variable's share in the files: of a register of fewer bits, those that it has."""
        return self._bytes(name) if k.space == REGISTERS else k.share

    def _bytes(self, name: str) -> int:
        return (self.variables[name].bits + 7) // 8
