"""The two sides of a comparison of instruction sets: an installed set, a description file, or either one from a git revision."""

from __future__ import annotations

import io
import json
import os
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from fleet.core.codec import Json, decode, encode_record, is_table
from fleet.core.plugins import installed
from fleet.core.processes import run
from fleet.errors import DeviceError
from fleet.isa.registry import GROUP
from fleet.sdk import Call

_SNAPSHOT = Path(__file__).with_name("snapshot.py")
_TIMEOUT = 600


@dataclass(frozen=True)
class RevisionSide:
    """One side of a comparison.

    label: as the user wrote it; set_name: None for a description alone; rdl: the description file in that case; path: put in front
    of the import path.
    """

    label: str
    set_name: str | None
    rdl: Path | None
    path: Path | None = None


@dataclass(frozen=True)
class SideCall:
    """An instruction with its fields. name: of the program that it belongs to."""

    name: str
    instruction: str
    fields: Mapping[str, int]

    @property
    def call(self) -> Call:
        """The call as the codec takes it."""
        return Call(self.instruction, self.fields)


@dataclass(frozen=True)
class SideModel:
    """A model to compile: "path.py:function" or a file. Paths are absolute; None: random data from the seed."""

    model: str
    weights: str | None = None
    input: str | None = None
    seed: int = 0
    samples: int | None = None


@dataclass(frozen=True)
class SnapshotRequest:
    """Request to one side.

    Attributes:
        device: None for the smallest. cases: number of conformance cases to draw of every kind.
        models: to compile. judge: calls of the other side.
    """

    device: str | None
    cases: int = 0
    models: tuple[SideModel, ...] = ()
    judge: tuple[SideCall, ...] = ()


@dataclass(frozen=True)
class JudgedCall:
    """A call on a side.

    Attributes:
        writes: register writes as (address, value); None if it cannot be encoded.
        binary: in hexadecimal; "" if the instruction has no binary form.
        problem: why it is illegal, else "".
    """

    writes: tuple[tuple[int, int], ...] | None
    binary: str
    problem: str = ""


@dataclass(frozen=True)
class StreamFigures:
    """A compiled model.

    host: steps on the host. cycles: estimated. bytes: read and written. stream: bytes of register writes, `digest` over them.
    """

    instructions: int
    host: int
    cycles: int
    bytes: int
    stream: int
    digest: str


@dataclass(frozen=True)
class ModelOnSide:
    """A model on a side: its figures, or None with the reason why it cannot be compiled."""

    figures: StreamFigures | None
    error: str

    def to_json(self) -> dict[str, Json]:
        """The figures, or {"error": reason}."""
        return encode_record(self.figures) if self.figures is not None else {"error": self.error}


@dataclass(frozen=True)
class SideSnapshot:
    """Behaviour of an instruction set on programs.

    Attributes:
        description: its file, `hash` of it alone. rtl: whether the set has hardware.
        device: the chosen one, `description_hash` of set and device. device_hashes, interface_hashes: of every device.
        calls: of the conformance cases. undrawn: why cases cannot be drawn. bins: coverage bins that the calls fall into.
        judged: in the order of the request. models: by the name of the request.
    """

    description: str
    rtl: bool
    device: str
    description_hash: str
    device_hashes: Mapping[str, str]
    interface_hashes: Mapping[str, str]
    hash: str
    calls: tuple[SideCall, ...]
    undrawn: tuple[str, ...]
    bins: tuple[str, ...]
    judged: tuple[JudgedCall, ...]
    models: Mapping[str, ModelOnSide]


def find_side(text: str, folder: Path) -> RevisionSide:
    """Resolve "SET", "FILE.rdl", "SET@REVISION" or "FILE.rdl@REVISION". Revisions are checked out into `folder`.

    Raises DeviceError if the file, set or revision does not exist.
    """
    name, at, revision = text.partition("@")
    if at and not revision:
        raise DeviceError("no revision behind '@'", where=text)
    if name.endswith(".rdl"):
        if not at:
            if not Path(name).is_file():
                raise DeviceError("no such description", where=name)
            return RevisionSide(text, None, Path(name))
        top = _top(Path(name).resolve().parent)
        inside = Path(name).resolve().relative_to(top)
        tree = _checked_out(top, revision, folder)
        if not (tree / inside).is_file():
            raise DeviceError(f"{inside} is not in revision {revision}", where=text)
        return RevisionSide(text, None, tree / inside)
    points = list(installed(GROUP, name))
    if not points:
        known = ", ".join(sorted({p.name for p in installed(GROUP)})) or "none"
        raise DeviceError("is neither a description (.rdl) nor an installed set", where=text, hint=f"installed: {known}")
    if not at:
        return RevisionSide(text, name, None)
    spec = find_spec(points[0].value.partition(":")[0].partition(".")[0])
    if spec is None or spec.origin is None:
        raise DeviceError("its package cannot be found", where=text)
    root = Path(spec.origin).resolve().parents[1]
    top = _top(root)
    return RevisionSide(text, name, None, _checked_out(top, revision, folder) / root.relative_to(top))


def snapshot(side: RevisionSide, request: SnapshotRequest) -> SideSnapshot:
    """Return what a side with a set answers. Raises DeviceError with its message."""
    path = [str(side.path)] if side.path else []
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*path, *(p for p in sys.path if p)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = run(
        [sys.executable, "-P", str(_SNAPSHOT)],
        input=json.dumps({"set": side.set_name, **encode_record(request)}),
        env=environment,
        timeout=_TIMEOUT,
    )
    try:
        answer: object = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise DeviceError(f"cannot be looked at ({last})", where=side.label) from None
    if is_table(answer) and "error" in answer:
        raise DeviceError(str(answer["error"]), where=side.label)
    return decode(SideSnapshot, answer, side.label, "snapshot")


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        done = run(["git", "-C", str(folder), *arguments], text=False)
    except OSError as error:
        raise DeviceError(f"git cannot be run ({error.strerror})", where=str(folder)) from error
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())
        raise DeviceError(f"git {arguments[0]}: {said}", where=str(folder))
    return done.stdout


def _top(folder: Path) -> Path:
    return Path(_git(folder, "rev-parse", "--show-toplevel").decode().strip()).resolve()


def _checked_out(top: Path, revision: str, folder: Path) -> Path:
    """Check out a revision below `folder` and return its tree. The user's own checkout does not change."""
    if revision.startswith("-"):
        raise DeviceError("no revision", where=revision)
    commit = _git(top, "rev-parse", "--verify", f"{revision}^{{commit}}").decode().strip()
    tree = folder / commit
    if not tree.is_dir():
        with tarfile.open(fileobj=io.BytesIO(_git(top, "archive", "--format=tar", commit))) as archive:
            archive.extractall(tree, filter="data")
    return tree
