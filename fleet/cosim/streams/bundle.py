"""A stream on disk: `stream.json` and its memory as compressed arrays, whole or absent; nothing in it is executed or unpickled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from fleet.cosim._codec import decode, encode
from fleet.cosim.files import load_pair, save_pair
from fleet.cosim.result import Divergence
from fleet.cosim.streams.case import Setting, StreamCase, StreamCommit, StreamOutcome
from fleet.errors import DeviceError, ModelError
from fleet.isa.contract import Call, Write
from fleet.isa.registry import description_hash, find_device

__all__ = ["NAME", "SCHEMA", "Bundle", "load_bundle", "save_bundle"]

NAME = "stream.json"
SCHEMA = 1


@dataclass(frozen=True)
class _Call:
    """`Call` as it travels."""

    instruction: str
    fields: Mapping[str, int]
    ops: tuple[str, ...]


@dataclass(frozen=True)
class _Block:
    """Place of array "block<n>"."""

    space: str
    bank: int
    offset: int


@dataclass(frozen=True)
class Bundle:
    """What a bundle holds. command: plays it again; description_hash: of the set and device that it was made for.

    verdict: "pass" or "fail"; power_on: seed of the design's state at power-on.
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
    reasons: tuple[str, ...]
    divergence: Divergence | None
    expected: tuple[StreamCommit, ...]
    found: tuple[StreamCommit, ...]
    calls: tuple[_Call, ...]
    places: tuple[_Block, ...]
    classes: Mapping[str, str]

    def case(self, arrays: Mapping[str, np.ndarray], where: str) -> StreamCase:
        """The stream. Raises DeviceError when the installed description is not the one that it was made for."""
        instruction_set, device = find_device(self.device)
        now = description_hash(instruction_set, device)
        if now != self.description_hash:
            raise DeviceError(
                f"made for description {self.description_hash[:16]}, {device.name} has {now[:16]}", where=_stated(where),
                hint=f"make it again with `{self.made_by}`" if self.made_by else None,
            )  # fmt: skip
        calls = tuple(Call(c.instruction, dict(c.fields), c.ops) for c in self.calls)
        blocks = tuple(Write(b.space, b.offset, arrays[f"block{i}"], b.bank) for i, b in enumerate(self.places))
        return StreamCase(
            self.name, self.device, calls, blocks, self.causes, dict(self.parameters), self.seed, self.made_by, self.classes
        )


def _stated(where: str) -> str:
    """file:line of the hash in a stored stream; the place alone where there is no such file."""
    path = Path(where) / NAME if Path(where).is_dir() else Path(where)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return where
    return next((f"{path}:{n}" for n, line in enumerate(lines, 1) if '"description_hash"' in line), where)


def save_bundle(outcome: StreamOutcome, folder: Path, *, power_on: int = 0) -> Path:
    """Writes `folder/<name and setting>/stream.json` and its arrays; returns the JSON's path. Raises FleetError."""
    case = outcome.case
    instruction_set, device = find_device(case.device)
    folder = folder / re.sub(r"[^A-Za-z0-9_.-]+", "-", f"{case.name}-{outcome.setting.name}")
    bundle = Bundle(
        name=case.name, device=case.device, instruction_set=instruction_set.name,
        description_hash=description_hash(instruction_set, device), setting=outcome.setting, seed=case.seed, power_on=power_on,
        causes=case.causes, parameters=tuple(case.parameters.items()), made_by=case.replay,
        command=f"fleet stream run {folder / NAME}",
        verdict="pass" if outcome.passed else "fail", reasons=outcome.reasons, divergence=outcome.divergence,
        expected=tuple(outcome.expected), found=tuple(outcome.found),
        calls=tuple(_Call(c.instruction, {k: int(v) for k, v in c.fields.items()}, c.ops) for c in case.calls),
        places=tuple(_Block(b.space, b.bank, b.offset) for b in case.blocks), classes=case.classes,
    )  # fmt: skip
    arrays = {f"block{i}": np.ascontiguousarray(b.data).reshape(-1).view(np.uint8) for i, b in enumerate(case.blocks)}
    return save_pair(folder, NAME, {"schema": SCHEMA, "kind": "stream"}, cast("dict[str, Any]", encode(bundle)), arrays)


def load_bundle(path: Path) -> tuple[Bundle, dict[str, np.ndarray]]:
    """Reads `stream.json` (or the folder that holds it). Raises ModelError for anything that is not a whole bundle."""
    path = path / NAME if path.is_dir() else path
    table, arrays = load_pair(path)
    if (schema := table.pop("schema", None)) != SCHEMA or table.pop("kind", None) != "stream":
        raise ModelError(f"no stream of schema {SCHEMA} (found {schema!r})", where=str(path))
    bundle = decode(Bundle, table, str(path), "stream")
    missing = [i for i in range(len(bundle.places)) if arrays.get(f"block{i}", np.zeros(0)).dtype != np.uint8]
    if missing:
        raise ModelError(f"the bytes of block {missing[0]} are missing", where=str(path))
    return bundle, arrays
