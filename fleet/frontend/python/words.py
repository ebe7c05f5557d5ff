"""Names of syntax nodes for messages."""

from __future__ import annotations

import ast
from collections.abc import Mapping

_KINDS: Mapping[str, str] = {
    "If": "`if`",
    "For": "`for`",
    "While": "`while`",
    "With": "`with`",
    "Try": "`try`",
    "FunctionDef": "a function inside a function",
    "ClassDef": "a class",
    "Import": "an import inside a function",
    "ImportFrom": "an import inside a function",
    "Delete": "`del`",
    "Raise": "`raise`",
    "Assert": "`assert`",
    "Global": "`global`",
    "Nonlocal": "`nonlocal`",
    "Lambda": "`lambda`",
    "IfExp": "a conditional expression",
    "Dict": "a dict",
    "ListComp": "a list comprehension",
    "GeneratorExp": "a generator expression",
    "Compare": "a comparison",
    "BoolOp": "`and` / `or`",
    "JoinedStr": "an f-string",
    "Await": "`await`",
    "Starred": "a starred expression",
    "NamedExpr": "`:=`",
}


def kind(node: ast.AST) -> str:
    """Return the name of a node as a reader of the source calls it."""
    name = type(node).__name__
    return _KINDS.get(name, f"`{name}`")
