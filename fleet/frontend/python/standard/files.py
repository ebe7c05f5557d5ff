"""Files: `open`, `np.load`, `np.loadtxt`, `pathlib.Path` and what `os.path` asks of the disk.

Data that lie below the source's folder or the working directory are read with the source, and are constants of the program.
What a source writes is left aside: a model makes no files.
"""

from __future__ import annotations

import ast
import io
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath

import numpy as np

from fleet.frontend.arrays.making import check_size
from fleet.frontend.python.builtins.opened import opened
from fleet.frontend.python.containers import builtin
from fleet.frontend.python.flow import exceptions
from fleet.frontend.reading.data_files import PATH, allowed, data, is_path, path_text, text_of, write
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import (
    Class,
    Dict,
    ForeignArray,
    Library,
    List,
    NumberValue,
    ObjectInstance,
    Partial,
    Value,
)


def _load(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`np.load` of an array, or of an archive of arrays."""
    if len(args) != 1 or keywords.keys() - {"allow_pickle", "mmap_mode"}:
        ev.fail("F506", node, "np.load with these arguments is not supported", "give a path")
    name = PurePosixPath(path_text(ev, node, args[0])).name
    content = data(ev, node, args[0])
    try:
        loaded = np.load(io.BytesIO(content), allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return _constant(ev, node, loaded)
        with loaded:
            arrays: dict[str, Value] = {name: ForeignArray(loaded[name]) for name in loaded.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        ev.fail("F703", node, f"np.load of {name}: {error}", "files of numbers are read, without pickles")
    made = ObjectInstance(Class("NpzFile"), {"files": List(list(arrays)), "_arrays": Dict(arrays)})
    made.kind.names |= {n: Partial(Library(f"numpy.lib.NpzFile.{n}"), (made,)) for n in _OF_ARCHIVE}
    return made


def _constant(ev: Evaluator, node: ast.AST, array: np.ndarray) -> Value:
    if array.dtype.kind not in "biufcU":
        ev.fail("F403", node, f"an array of {array.dtype} in a file", "arrays of numbers and texts are read")
    check_size(ev, node, array.shape, array.dtype)
    return ev.domain.literal(ev, node, np.array(array, order="C"))


def _of_archive(name: str, ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """A method of what `np.load` gives for an archive."""
    own, *rest = args
    assert isinstance(own, ObjectInstance)
    arrays = own.attributes["_arrays"]
    assert isinstance(arrays, Dict)
    match name:
        case "__enter__":
            return own
        case "__exit__" | "close":
            return None
        case "__len__":
            return NumberValue(len(arrays.items))
        case "__contains__":
            return NumberValue(rest[0] in arrays.items)
        case "__iter__" | "keys":
            return builtin.call(ev, node, Dict(dict.fromkeys(arrays.items)), "keys", [], {})
        case "__getitem__" | "get":
            found = arrays.items.get(rest[0]) if isinstance(rest[0], str) else None
            if found is None and name == "get":
                return rest[1] if len(rest) > 1 else keywords.get("default")
            if found is None:
                exceptions.lacks(ev, node, "this archive", rest[0], f"it has {', '.join(map(str, arrays.items))}")
            assert isinstance(found, ForeignArray)
            return _constant(ev, node, np.asarray(found.array))
        case _:  # values, items
            parts = {n: _of_archive("__getitem__", ev, node, [own, n], {}) for n in arrays.items}
            return builtin.call(ev, node, Dict(parts), name, [], {})


_OF_ARCHIVE = (
    *("__enter__", "__exit__", "__len__", "__contains__", "__iter__", "__getitem__"),
    *("keys", "values", "items", "get", "close"),
)


def _nothing(ev: Evaluator, node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    """What saves arrays or makes folders."""
    if not args or not is_path(args[0]):
        ev.fail("F506", node, "saving into this is not supported", "give a path: what is saved is left aside")
    write(ev, node, args[0], ".npy", ".npz")
    return None


# ---- paths


def _made(text: str) -> ObjectInstance:
    path = PurePosixPath(text)
    made = ObjectInstance(Class("PosixPath"), {PATH: str(path), "name": path.name, "stem": path.stem, "suffix": path.suffix})
    if path.parent != path:
        made.attributes["parent"] = _made(str(path.parent))
    made.attributes["parts"] = path.parts
    made.kind.names |= {n: Partial(Library(f"pathlib.Path.{n}"), (made,)) for n in _OF_PATH}
    return made


def _path(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if keywords:
        ev.fail("F208", node, "pathlib.Path takes no keywords")
    return _made(os.path.join("", *(path_text(ev, node, a) for a in args)) or ".")


def _of_path(name: str, ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """A method of a Path."""
    own, *rest = args
    text = path_text(ev, node, own)
    match name:
        case "__truediv__" | "joinpath":
            return _made(os.path.join(text, *(path_text(ev, node, r) for r in rest)))
        case "__rtruediv__":
            return _made(os.path.join(path_text(ev, node, rest[0]), text))
        case "__str__" | "__fspath__" | "as_posix":
            return text
        case "__repr__":
            return f"PosixPath({text!r})"
        case "__eq__":
            return NumberValue(is_path(rest[0]) and not isinstance(rest[0], str) and path_text(ev, node, rest[0]) == text)
        case "resolve" | "absolute":
            return _made(os.path.abspath(text))
        case "with_suffix" | "with_name":
            return _made(str(getattr(PurePosixPath(text), name)(path_text(ev, node, rest[0]))))
        case "read_text":
            return text_of(ev, node, own, {**dict(zip(("encoding", "errors"), rest, strict=False)), **keywords})
        case "read_bytes":
            return data(ev, node, own)
        case "open":
            return opened(ev, node, [own, *rest], dict(keywords))
        case "exists" | "is_file" | "is_dir":
            return _asked(name, ev, node, [own], keywords)
        case _:  # mkdir, write_text, touch
            write(ev, node, own)
            return None


_OF_PATH = (
    *("__truediv__", "__rtruediv__", "__str__", "__fspath__", "__repr__", "__eq__", "joinpath", "as_posix", "resolve", "absolute"),
    *("with_suffix", "with_name", "read_text", "read_bytes", "open", "exists", "is_file", "is_dir", "mkdir", "write_text", "touch"),
)


def _asked(name: str, ev: Evaluator, node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    """Whether a file or folder is there; one that is elsewhere on the disk is not asked for."""
    path = allowed(ev, node, path_text(ev, node, args[0]))
    return NumberValue(path.is_file() if "file" in name else path.is_dir() if "dir" in name else path.exists())


def _absolute(ev: Evaluator, node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    return os.path.abspath(path_text(ev, node, args[0]))


def _joined(ev: Evaluator, node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    return os.path.join(*(path_text(ev, node, a) for a in args))


def _of_text(name: str, ev: Evaluator, node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    return getattr(os.path, name)(path_text(ev, node, args[0]))


CALLS: Mapping[str, Callable[..., Value]] = {
    "numpy.load": _load,
    **{f"numpy.lib.NpzFile.{n}": partial(_of_archive, n) for n in _OF_ARCHIVE},
    **dict.fromkeys(("numpy.save", "numpy.savez", "numpy.savez_compressed", "os.makedirs", "os.mkdir"), _nothing),
    **dict.fromkeys(("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath"), _path),
    **{f"pathlib.Path.{n}": partial(_of_path, n) for n in _OF_PATH},
    **{f"os.path.{n}": partial(_asked, n) for n in ("exists", "isfile", "isdir")},
    **{f"os.path.{n}": _absolute for n in ("abspath", "realpath")},
    "os.path.join": _joined,
    "os.fspath": lambda ev, node, args, _keywords: path_text(ev, node, args[0]),
    **{f"os.path.{n}": partial(_of_text, n) for n in ("basename", "dirname", "normpath")},
    "os.getcwd": lambda *_given: os.getcwd(),
}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
