"""Addresses of registers in the comment that high-level synthesis writes into a block of registers (`*_s_axi.v`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ADDRESS_INFO = "-Address Info-"

_BLOCK = re.compile(rf"^//-+{ADDRESS_INFO}-*\n((?://[^-\n][^\n]*\n)+)", re.M)
_MODULE = re.compile(r"^\s*module\s+(\w+)", re.M)
_LINE = re.compile(r"//\s*0x([0-9a-fA-F]+)\s*(:|~)\s*(.*)")
_SIGNAL = re.compile(r"(Data|Control) signal of (\w+)")
_BIT = re.compile(r"//\s+bit\s+[\d~\s]+-.*\(([\w/]+)\)\s*$")
_NAMES = {
    "Control signals": "ap_ctrl", "Global Interrupt Enable": "gie", "IP Interrupt Enable": "ier", "IP Interrupt Status": "isr",
}  # fmt: skip


def registers_of(path: Path) -> Iterator[tuple[str, int, str]]:
    """(name, offset, access) of the registers that the comments of a source list; parts of a wide one are `NAME_0`, `NAME_1`.

    With several blocks in the file, the name of a register has that of its block in front.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    blocks = list(_BLOCK.finditer(text))
    for block in blocks:
        module = [m[1] for m in _MODULE.finditer(text, 0, block.start())][-1:]
        prefix = f"{module[0].removesuffix('_s_axi')}." if module and len(blocks) > 1 else ""
        yield from ((prefix + name, offset, access) for name, offset, access in _registers(block[1]))


def _registers(block: str) -> Iterator[tuple[str, int, str]]:
    found: dict[int, tuple[str, set[str]]] = {}
    offset = -1
    memory = False
    for line in block.splitlines():
        if (match := _LINE.match(line)) is not None:
            offset, ranged, memory = int(match[1], 16), match[2] == "~", memory and match[2] == ":"
            name = "" if ranged or memory else _name(match[3])
            memory = ranged  # the next line has its last address
            if name:
                found[offset] = name, set()
            else:
                offset = -1
        elif offset >= 0 and (bit := _BIT.match(line)) is not None:
            found[offset][1].update(bit[1].split("/"))
    names = [name for name, _ in found.values()]
    for offset, (name, words) in found.items():
        before = sum(other == name for at, (other, _) in found.items() if at < offset)
        access = ("r" if "Read" in words else "") + ("w" if words & {"Write", "TOW"} else "")
        yield f"{name}_{before}" if names.count(name) > 1 else name, offset, access or "r"


def _name(text: str) -> str:
    """The name by which drivers know a register; "" for what is reserved."""
    if (signal := _SIGNAL.match(text)) is not None:
        return signal[2] + ("_ctrl" if signal[1] == "Control" else "")
    return next((name for start, name in _NAMES.items() if text.startswith(start)), "")
