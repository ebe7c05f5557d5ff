"""The builtin `open`: text that is read; what is written into a file is kept by nobody."""

from __future__ import annotations

import ast

from fleet.frontend.python.builtins.record import Builtin
from fleet.frontend.reading.data_files import path_text, text_of
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import List, Value


def opened(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    """`open(path, mode)`: the lines of the file, or an empty text to write into."""
    given = dict(zip(("file", "mode", "buffering", "encoding"), args, strict=False)) | keywords
    mode = given.get("mode", "r")
    if not isinstance(mode, str) or "b" in mode or "+" in mode:
        ev.fail("F506", node, "open with this mode is not supported", "text is read; np.load reads arrays")
    if "r" in mode:
        return List(list(text_of(ev, node, given["file"]).splitlines(keepends=True)), "StringIO")
    path_text(ev, node, given["file"])
    return List([], "StringIO")


OPENED = {"open": Builtin(opened, 1, 4, ("mode", "encoding", "newline", "errors"))}
