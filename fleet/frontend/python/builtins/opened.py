"""The builtin `open`: text that is read; what is written into a file is kept by nobody."""

from __future__ import annotations

import ast

from fleet.frontend.python.builtins.record import Builtin
from fleet.frontend.reading.data_files import text_of, write
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import List, Value


def opened(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    """`open(path, mode)`: the lines of the file, or an empty text to write into."""
    given = dict(zip(("file", "mode", "buffering", "encoding"), args, strict=False)) | keywords
    mode = given.get("mode", "r")
    if not isinstance(mode, str) or "b" in mode or "+" in mode:
        ev.fail("F506", node, "open with this mode is not supported", "text is read; np.load reads arrays")
    if "r" in mode:
        options = {k: v for k, v in given.items() if k in ("encoding", "errors", "newline")}
        return List(list(text_of(ev, node, given["file"], options).splitlines(keepends=True)), "StringIO")
    write(ev, node, given["file"])
    return List([], "StringIO")


OPENED = {"open": Builtin(opened, 1, 4, ("mode", "encoding", "newline", "errors"))}
