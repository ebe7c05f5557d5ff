"""Files that a source reads while it is read: data below its own folder or the working directory."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import ObjectInstance, Value, words
from fleet.ir.program import DataFile

_MOST_TEXT = 1 << 24
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


def allowed(ev: Evaluator, node: ast.AST, name: str) -> Path:
    """Return the absolute path of a file that a source may read. Raises SourceError F204 for one that lies elsewhere."""
    path = Path(name).resolve()
    below = (Path.cwd(), Path(ev.source.name).resolve().parent)
    if not any(path.is_relative_to(folder) for folder in below):
        hint = "a source reads files below its own folder and the working directory"
        ev.fail("F204", node, f"{name} lies elsewhere", hint)
    return path


def text_of(ev: Evaluator, node: ast.AST, value: Value) -> str:
    """Return the content of a text file, with Python's line ends. Raises SourceError F607 for one that is too long."""
    content = data(ev, node, value)
    if len(content) > _MOST_TEXT:
        ev.fail("F607", node, f"a text file of more than {_MOST_TEXT} bytes", "np.load reads arrays of any size")
    try:
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        return ev.refuse("F703", node, str(error), error)
