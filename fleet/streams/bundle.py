"""A stream on disk: `stream.json` and its memory as compressed arrays, complete or absent. Nothing in it is executed or unpickled.

A bundle that states what is expected of it is a test if it is stored below a folder `bundles` (`fleet.regress.pytest_plugin`).
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np

from fleet.compare.diverged import Divergence
from fleet.compare.signature import FailureSignature
from fleet.core.codec import is_table
from fleet.core.files import RecordPair
from fleet.errors import DeviceError, ModelError
from fleet.isa.memory import as_bytes
from fleet.isa.registry import description_hash, find_device, interface_hash
from fleet.isa.resolved import begun_state, resolved
from fleet.sdk import Call, Device, InstructionSet, Write
from fleet.sdk.hardware.state import REGISTERS
from fleet.streams.case import Setting, StreamCase, StreamCommit, StreamOutcome
from fleet.streams.stream_signature import of_outcome

NAME = "stream.json"
SCHEMA = 2
_LONGEST = 160  # characters of a folder's name that says which case it is
_MOST_JSON, _MOST_BYTES = 64 << 20, 1 << 30
"""Limits of a bundle: size of its JSON text, and of its memory when unpacked. No failing program needs more."""

Expect = Literal["passes", "diverges"]
"""passes: engines must agree in every bit (a bug that is fixed, or has to be). diverges: they must differ as `signature` says."""


@dataclass(frozen=True)
class _Call:
    """The stored form of `Call`."""

    instruction: str
    fields: Mapping[str, int]
    ops: tuple[str, ...]


@dataclass(frozen=True)
class StoredBlock:
    """The place of a block of memory, whose bytes are stored elsewhere."""

    space: str
    bank: int
    offset: int
    size: int


@dataclass(frozen=True)
class _Block(StoredBlock):
    """The place of array "block<n>". constant: the value of all its bytes (then there is no array), or None."""

    constant: int | None


@dataclass(frozen=True)
class Bundle:
    """A stored stream and its outcome.

    description_hash: of the set and device that it was made for. For a test (`expect`) it is their `interface_hash`: each run
    compares the stored commits (`fleet.streams.renew.moved`), so semantics may change as long as they give the same commits.
    verdict: "pass" or "fail". power_on: seed of the design's state at power-on. signature: how it failed; None if it passed.
    expect: expected outcome as a test; None if the stream is not a test. story: where it comes from, one line for people.
    command: command line that runs it again.
    """

    name: str
    device: str
    instruction_set: str
    description_hash: str
    setting: Setting
    seed: int
    power_on: int
    causes: tuple[int, ...] | None
    parameters: tuple[tuple[int, int], ...]
    made_by: str
    command: str
    verdict: str
    expect: Expect | None
    signature: FailureSignature | None
    story: str
    reasons: tuple[str, ...]
    divergence: Divergence | None
    expected: tuple[StreamCommit, ...]
    found: tuple[StreamCommit, ...]
    calls: tuple[_Call, ...]
    places: tuple[_Block, ...]
    classes: Mapping[str, str]

    @property
    def _made_again(self) -> str:
        """The command that draws the stream again, and runs it under the setting under which it was stored."""
        power_on = f" --power-on {self.power_on}" if self.power_on else ""
        return self.made_by and self.made_by + self.setting.options + power_on

    def case(self, arrays: Mapping[str, np.ndarray], where: str, *, any_description: bool = False) -> StreamCase:
        """Return the stream.

        Raises DeviceError if the installed description is not the one that it was made for (unless `any_description`), or if a
        block is outside its space.
        """
        instruction_set, device = find_device(self.device)
        now = _hash(instruction_set, device, self.expect)
        if now != self.description_hash and not any_description:
            again = f"fleet stream renew {where}" if self.expect is not None else self._made_again
            raise DeviceError(
                f"made for description {self.description_hash[:16]}, {device.name} has {now[:16]}", where=_stated(where),
                hint=f"make it again with `{again}`" if again else None,
            )  # fmt: skip
        for i, b in enumerate(self.places):
            room = device.memory.get(b.space, 0) if b.space not in device.arrays else device.arrays[b.space].size
            room = 4 * len(device.state.registers) if b.space == REGISTERS else room
            if b.offset < 0 or b.size < 0 or b.offset + b.size > room:
                raise DeviceError(
                    f"block {i} is bytes [{b.offset:#x}, {b.offset + b.size:#x}) of {b.space}: {room:#x}", where=where
                )
        blocks = tuple(Write(b.space, b.offset, _bytes(b, arrays, i), b.bank) for i, b in enumerate(self.places))
        calls = (Call(c.instruction, dict(c.fields), c.ops) for c in self.calls)
        calls = resolved(instruction_set, device, calls, begun_state(device, blocks))
        return StreamCase(
            self.name, self.device, calls, blocks, self.causes, dict(self.parameters), self.seed, self.made_by, self.classes
        )


_STORED = RecordPair(Bundle, "stream", SCHEMA, "stream", again="make it again")


def _hash(instruction_set: InstructionSet, device: Device, expect: Expect | None) -> str:
    return (description_hash if expect is None else interface_hash)(instruction_set, device)


def _bytes(block: _Block, arrays: Mapping[str, np.ndarray], number: int) -> np.ndarray:
    return arrays[f"block{number}"] if block.constant is None else np.full(block.size, block.constant, np.uint8)


def _stated(where: str) -> str:
    """Return the file:line of the hash in a stored stream, or `where` if the file cannot be read."""
    path = Path(where) / NAME if Path(where).is_dir() else Path(where)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return where
    return next((f"{path}:{n}" for n, line in enumerate(lines, 1) if '"description_hash"' in line), where)


def _folder_name(text: str) -> str:
    """Return a valid file name; a long one is shortened to its beginning and a digest of the whole."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", text)
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}-{sha256(text.encode()).hexdigest()[:12]}"


def save_bundle(
    outcome: StreamOutcome, folder: Path, *, power_on: int = 0, expect: Expect | None = None, story: str = "",
    folder_name: str | None = None,
) -> Path:  # fmt: skip
    """Write `folder/<name and setting>/stream.json` and its arrays; return the JSON's path. Raises FleetError.

    folder_name: replaces the name and setting.
    """
    case = outcome.case
    instruction_set, device = find_device(case.device)
    folder = folder / (folder_name or _folder_name(f"{case.name}-{outcome.setting.name}"))
    data = [as_bytes(b.data) for b in case.blocks]
    constants = [int(d[0]) if d.size and (d == d[0]).all() else None for d in data]
    bundle = Bundle(
        name=case.name, device=case.device, instruction_set=instruction_set.name,
        description_hash=_hash(instruction_set, device, expect), setting=outcome.setting, seed=case.seed, power_on=power_on,
        causes=case.causes, parameters=tuple(case.parameters.items()), made_by=case.replay,
        command=f"fleet stream run {folder / NAME}",
        verdict="pass" if outcome.passed else "fail", expect=expect, signature=of_outcome(outcome), story=story,
        reasons=outcome.reasons, divergence=outcome.divergence,
        expected=tuple(outcome.expected), found=tuple(outcome.found),
        calls=tuple(_Call(c.instruction, {k: int(v) for k, v in c.fields.items()}, c.ops) for c in case.calls),
        places=tuple(
            _Block(b.space, b.bank, b.offset, d.size, c) for b, d, c in zip(case.blocks, data, constants, strict=True)
        ),
        classes=case.classes,
    )  # fmt: skip
    arrays = {f"block{i}": d for i, (d, c) in enumerate(zip(data, constants, strict=True)) if c is None}
    return _STORED.save(folder / NAME, bundle, arrays)


def load_bundle(path: Path) -> tuple[Bundle, dict[str, np.ndarray]]:
    """Read `stream.json` (or the folder that holds it). Raises ModelError if it is not a complete bundle."""
    path = path / NAME if path.is_dir() else path
    check_extent(path)
    bundle, arrays = _STORED.load(path)
    for i, b in enumerate(bundle.places):
        array = arrays.get(f"block{i}", np.zeros(0))
        if b.constant is None and (array.dtype != np.uint8 or array.ndim != 1 or array.size != b.size):
            raise ModelError(f"the bytes of block {i} are missing", where=str(path))
        if b.constant is not None and not 0 <= b.constant < 256:
            raise ModelError(f"block {i} has the constant {b.constant}, expected a byte", where=str(path))
    if sum(b.size for b in bundle.places) > _MOST_BYTES:
        raise ModelError(f"the blocks hold more than {_MOST_BYTES:,} bytes", where=str(path))
    return bundle, arrays


def check_extent(path: Path) -> None:
    """Raise ModelError if the bundle would take too much memory. Unreadable files pass: their reader reports them."""
    try:
        if path.stat().st_size > _MOST_JSON:
            raise ModelError(f"more than {_MOST_JSON:,} bytes of JSON", where=str(path))
        table: object = json.loads(path.read_text(encoding="utf-8"))
        name = table.get("arrays_file") if is_table(table) else None
        if isinstance(name, str) and Path(name).name == name:
            with zipfile.ZipFile(path.parent / name) as z:
                size = sum(entry.file_size for entry in z.infolist())
            if size > 2 * _MOST_BYTES:
                raise ModelError(f"the arrays unfold to {size:,} bytes", where=str(path.parent / name))
    except (OSError, ValueError, zipfile.BadZipFile):
        return
