"""The two sides of a comparison of instruction sets: an installed set, a description file, or either one from a git revision."""

from __future__ import annotations

import io
import json
import os
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fleet.core.processes import run
from fleet.errors import DeviceError
from fleet.isa.registry import GROUP

__all__ = ["RevisionSide", "find_side", "snapshot"]

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
    points = list(entry_points(group=GROUP, name=name))
    if not points:
        known = ", ".join(sorted({p.name for p in entry_points(group=GROUP)})) or "none"
        raise DeviceError("is neither a description (.rdl) nor an installed set", where=text, hint=f"installed: {known}")
    if not at:
        return RevisionSide(text, name, None)
    spec = find_spec(points[0].value.partition(":")[0].partition(".")[0])
    if spec is None or spec.origin is None:
        raise DeviceError("its package cannot be found", where=text)
    root = Path(spec.origin).resolve().parents[1]
    top = _top(root)
    return RevisionSide(text, name, None, _checked_out(top, revision, folder) / root.relative_to(top))


def snapshot(side: RevisionSide, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of `fleet.verify.changes.snapshot` for a side with a set. Raises DeviceError with its message."""
    path = [str(side.path)] if side.path else []
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*path, *(p for p in sys.path if p)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = run(
        [sys.executable, "-P", str(_SNAPSHOT)],
        input=json.dumps({"set": side.set_name, **request}),
        env=environment,
        timeout=_TIMEOUT,
    )
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise DeviceError(f"cannot be looked at ({last})", where=side.label) from None
    if "error" in answer:
        raise DeviceError(str(answer["error"]), where=side.label)
    return answer


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
