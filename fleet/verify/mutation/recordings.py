"""Results of the unchanged engines on the probes, on disk: JSON, plus the bytes of memory in an array; nothing is unpickled."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from fleet.core.files import RecordPair
from fleet.core.scratch import Scratch
from fleet.errors import ModelError
from fleet.isa.memory import as_bytes
from fleet.isa.registry import description_hash, find_device
from fleet.sdk import Call, Write
from fleet.streams.bundle import StoredBlock
from fleet.streams.case import Setting, StreamCase
from fleet.streams.images import Images
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case
from fleet.verify.mutation.probes import Effort, Expected, left_by_model, probes

_BYTES = "bytes"


@dataclass(frozen=True)
class Recording:
    """A case, the functional model's result, and the hardware's cycles of every call (empty for a set without hardware)."""

    case: StreamCase
    expected: Expected
    cycles: tuple[int, ...]


@dataclass(frozen=True)
class Reference:
    """A probe's result on the unchanged design: the result of iss, cycles of every call from start to commit, and of the job."""

    expected: Expected
    cycles: tuple[int, ...]


@dataclass(frozen=True)
class _Case:
    """The stored form of `Recording`. fields: of each call. blocks: their data are the next `size` bytes of the array, each."""

    name: str
    instructions: tuple[str, ...]
    fields: tuple[Mapping[str, int], ...]
    blocks: tuple[StoredBlock, ...]
    parameters: tuple[tuple[int, int], ...]
    seed: int
    expected: Expected
    cycles: tuple[int, ...]


@dataclass(frozen=True)
class _Recordings:
    device: str
    cases: tuple[_Case, ...]


@dataclass(frozen=True)
class _References:
    references: Mapping[str, Reference]


_RECORDINGS = RecordPair(_Recordings, "recordings", None)
_REFERENCES = RecordPair(_References, "references", None)
T = TypeVar("T", _Recordings, _References)


def recorded(device: str, folder: Path, effort: Effort = "usual") -> Path:
    """Record the probes' cases once and return the file, for `load_recordings`.

    A process with a changed functional model reads it, because the change would affect its own draws. Cycles count from start to
    commit of each call, on ideal memory. Raises SetupError, DeviceError, BuildError, SimulationError.
    """
    instruction_set, chip = find_device(device)
    cases = list(dict.fromkeys(p.case for p in probes(device, effort)))
    key = hashlib.sha256("\n".join([description_hash(instruction_set, chip), *cases]).encode()).hexdigest()[:16]
    path = folder / f"streams-{device}-{key}" / "streams.json"
    if path.exists():
        return path
    made: list[Recording] = []
    with Scratch("mutants") as temporary, ExitStack() as stack:
        runner = stack.enter_context(StreamRunner(device)) if instruction_set.rtl is not None else None
        images = Images(chip, temporary)
        stack.callback(images.close)
        for case in map(make_case, cases):
            found = runner.hardware(case, Setting())[0] if runner is not None else []
            cycles = tuple((c.end or 0) - (c.start or 0) for c in found)
            made.append(Recording(case, left_by_model(instruction_set, chip, case, images), cycles))
    return save_recordings(path, device, made)


def save_recordings(path: Path, device: str, made: Sequence[Recording]) -> Path:
    """Write `path` (JSON) and its array, in their own folder. Raises FleetError."""
    cases: list[_Case] = []
    data: list[np.ndarray] = [np.zeros(0, np.uint8)]
    for r in made:
        blocks = [as_bytes(b.data) for b in r.case.blocks]
        data += blocks
        places = (StoredBlock(b.space, b.bank, b.offset, d.size) for b, d in zip(r.case.blocks, blocks, strict=True))
        calls = r.case.calls
        cases.append(
            _Case(
                r.case.name, tuple(c.instruction for c in calls), tuple({k: int(v) for k, v in c.fields.items()} for c in calls),
                tuple(places), tuple(r.case.parameters.items()), r.case.seed, r.expected, r.cycles,
            )
        )  # fmt: skip
    return _RECORDINGS.save(path, _Recordings(device, tuple(cases)), {_BYTES: np.concatenate(data)})


def load_recordings(path: Path) -> list[Recording]:
    """Read what `save_recordings` wrote. Raises ModelError if the file is damaged."""
    table, arrays = _load(_RECORDINGS, path)
    data, at = arrays.get(_BYTES, np.zeros(0, np.uint8)), 0
    found: list[Recording] = []
    for c in table.cases:
        calls = tuple(Call(i, f) for i, f in zip(c.instructions, c.fields, strict=True))
        blocks: list[Write] = []
        for b in c.blocks:
            blocks.append(Write(b.space, b.offset, data[at : at + b.size], b.bank))
            at += b.size
        case = StreamCase(c.name, table.device, calls, tuple(blocks), None, dict(c.parameters), c.seed)
        found.append(Recording(case, c.expected, c.cycles))
    if at != data.size:
        raise ModelError(f"{data.size:,} bytes of memory, expected {at:,}", where=str(path), hint="remove the folder")
    return found


def save_references(path: Path, found: Mapping[str, Reference]) -> Path:
    """Write references by the probe's name, for `load_references`. Raises FleetError."""
    return _REFERENCES.save(path, _References(found), {})


def load_references(path: Path) -> dict[str, Reference]:
    """Read what `save_references` wrote; empty if there is no file. Raises ModelError if the file is damaged."""
    if not path.exists():
        return {}
    return dict(_load(_REFERENCES, path)[0].references)


def _load(form: RecordPair[T], path: Path) -> tuple[T, dict[str, np.ndarray]]:
    try:
        return form.load(path)
    except ModelError as error:
        raise ModelError(f"no recordings ({error.what})", where=str(path), hint=f"remove {path.parent}") from error
