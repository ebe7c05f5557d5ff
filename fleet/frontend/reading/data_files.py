"""Files that a source reads while it is read: data below its own folder or the working directory."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from pathlib import Path

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import ObjectInstance, Value
from fleet.frontend.reading.wording import words
from fleet.ir.program import DataFile

_MOST_TEXT = 1 << 24
_UTF8 = ("utf-8", "utf8")
PATH = "_path"
"""The attribute of a `pathlib.Path` that holds its text."""


def path_text(ev: Evaluator, node: ast.AST, value: Value) -> str:
    """Return the text of a path. Raises SourceError F408 if the value is neither a known text nor a Path."""
    value = ev.settled(value)
    text = value.attributes.get(PATH) if isinstance(value, ObjectInstance) else value
    return text if isinstance(text, str) else ev.fail("F408", node, f"{words(value)} is no path", "give a text or a pathlib.Path")


def is_path(value: Value) -> bool:
    """Return whether a value names a file: a text, or a Path."""
    return isinstance(value, str) or (isinstance(value, ObjectInstance) and PATH in value.attributes)


def data(ev: Evaluator, node: ast.AST, value: Value) -> bytes:
    """Return the content of a file, and note that the source has read it.

    Raises:
        SourceError: F204 for a file elsewhere on the disk; as Python's FileNotFoundError if there is none.
    """
    name = path_text(ev, node, value)
    if ev.inside:
        ev.fail("F511", node, f"{name} is read in a part that only the run enters or repeats", "read it before")
    path = allowed(ev, node, name)
    try:
        content = path.read_bytes()
    except OSError as error:
        told = type(error)(f"[Errno {error.errno}] {error.strerror}: {name!r}")
        return ev.refuse("F703", node, str(told), told, "the file must be there when the source is read")
    ev.files[path] = DataFile(str(path), hashlib.sha256(content).hexdigest())
    return content


def write(ev: Evaluator, node: ast.AST, value: Value, *endings: str) -> None:
    """Note that the source writes a file, or makes a folder, which is left aside. endings: what may be added to the name."""
    path = Path(path_text(ev, node, value)).resolve()
    if not path.is_dir():
        ev.written |= {path, *(path.with_name(path.name + ending) for ending in endings)}


def allowed(ev: Evaluator, node: ast.AST, name: str) -> Path:
    """Return the absolute path of a file that a source may ask for.

    Raises SourceError F204 for one that lies elsewhere, F506 for one that the source itself has written.
    """
    path = Path(name).resolve()
    if not ev.written.isdisjoint((path, *path.parents)):
        ev.fail("F506", node, f"{name} was written by the source, and what a source writes is left aside", "keep it in a variable")
    below = (Path.cwd(), Path(ev.source.name).resolve().parent)
    if not any(path.is_relative_to(folder) for folder in below):
        hint = "a source reads files below its own folder and the working directory"
        ev.fail("F204", node, f"{name} lies elsewhere", hint)
    return path


def text_of(ev: Evaluator, node: ast.AST, value: Value, options: Mapping[str, Value] | None = None) -> str:
    """Return the content of a text file in UTF-8, with Python's line ends.

    options: keywords of `open`. Raises SourceError F506 for other encodings than UTF-8, F607 for a text that is too long.
    """
    given = {k: v for k, v in (options or {}).items() if v is not None}
    coding, errors = given.pop("encoding", "utf-8"), given.pop("errors", "strict")
    if given or not isinstance(coding, str) or coding.lower().replace("_", "-") not in _UTF8 or errors != "strict":
        ev.fail("F506", node, "a text file is read as UTF-8, with no other options")
    content = data(ev, node, value)
    if len(content) > _MOST_TEXT:
        ev.fail("F607", node, f"a text file of more than {_MOST_TEXT} bytes", "np.load reads arrays of any size")
    try:
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        return ev.refuse("F703", node, str(error), error)
