"""The parameters that a design's top module declares, and the values that a device gives them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fleet.errors import DeviceError
from fleet.sdk import Device, RtlFiles

DESCRIPTION_HASH = "DescHash"
_MEBIBYTE = 1 << 20
_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|`(?:timescale|default_nettype)[^\n]*', re.S)
_IMPORTS = re.compile(r"\A(\s*import\b[^;]*;)+")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*$")


def top_parameters(rtl: RtlFiles, device: Device) -> dict[str, int]:
    """Parameter -> value of the device, for those that the top module declares: the others keep what the source says.

    On offer are the device's own parameters, the depths of its on-chip memories ("AccDepth"), and the sizes of the others in bytes
    ("DdrBytes") and in MiB ("DdrMegabytes"); or what the manifest's own function gives.

    Args:
        rtl: as `fleet.isa.hardware.hardware_of` gives it: every source is a file.
        device: of the set.

    Raises:
        DeviceError: no source defines the top module, or the top module counts a memory in MiB that is no whole number of them.
    """
    declared = declared_parameters(rtl.files, rtl.top)
    if rtl.parameters is not None:
        return {name: value for name, value in rtl.parameters(device).items() if name in declared}
    offered: dict[str, int] = {}
    for space, size in device.memory.items():
        offered[f"{space.capitalize()}Bytes"] = size
        offered[megabytes := f"{space.capitalize()}Megabytes"] = size // _MEBIBYTE
        if megabytes in declared and size % _MEBIBYTE:
            what = f"memory.{space} is {size} bytes, expected a multiple of {_MEBIBYTE} (1 MiB)"
            raise DeviceError(what, where=str(device.path), hint=f"{rtl.top} has the parameter {megabytes}")
    offered = {**device.parameters, **{name: value for name, value in offered.items() if name not in device.parameters}}
    return {name: value for name, value in offered.items() if name in declared}


def declared_parameters(sources: Sequence[Path], top: str) -> frozenset[str]:
    """Names of the value parameters of a module; those of its body where its header has none. Raises DeviceError."""
    return frozenset(_declared(_behind_name(sources, top)))


def has_channels(sources: Sequence[Path], top: str) -> bool:
    """Whether the AXI ports of a top module are structures (`ddr_req_o`) and not a port for each signal. Raises DeviceError."""
    return re.search(r"\bddr_req_o\b", _header(_behind_name(sources, top))) is not None


def _behind_name(sources: Sequence[Path], top: str) -> str:
    """Return the text after `module <top>`, without comments."""
    begin = re.compile(rf"\bmodule\s+(?:(?:automatic|static)\s+)?{re.escape(top)}\b")
    for path in sources:
        if path.suffix == ".vlt":
            continue
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise DeviceError(f"cannot read the hardware's source ({error.strerror})", where=str(path)) from error
        if (found := begin.search(text := _NOISE.sub(" ", text))) is not None:
            return text[found.end() :]
    raise DeviceError(f"no source defines the top module '{top}'", where=str(sources[0].parent) if sources else top)


def _header(text: str) -> str:
    """Parameters and ports, from behind the module's name and its imports."""
    text = _IMPORTS.sub("", text)
    return text[: text.find(";")]


def _declared(text: str) -> list[str]:
    header, text = _header(text), _IMPORTS.sub("", text)
    if (list_ := re.search(r"#\s*\(", header)) is not None:
        return _names(_inside(text[list_.end() :]))
    body = text[: end.start()] if (end := re.search(r"\bendmodule\b", text)) is not None else text
    return [name for s in re.findall(r"\bparameter\b([^;]*);", body) for name in _names(f"parameter {s}")]


def _inside(text: str) -> str:
    """Up to the parenthesis that closes one before the text."""
    depth = 1
    for at, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0:
            return text[:at]
    return text


def _names(text: str) -> list[str]:
    """Names of declarations between commas; a keyword holds until the next one, `type` until a data type."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    found: list[str] = []
    local = of_type = False
    for part in parts:
        words = part.split("=")[0].split()
        if words and words[0] in ("parameter", "localparam"):
            local, of_type = words.pop(0) == "localparam", False
        of_type = words[:1] == ["type"] or (of_type and len(words) == 1)
        name = _NAME.search(" ".join(words))
        if name is not None and not local and not of_type:
            found.append(name[1])
    return found
