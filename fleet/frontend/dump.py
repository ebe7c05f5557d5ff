"""Dumps of what the front end reads: the tokens of a source and its syntax tree."""

from __future__ import annotations

import ast
import io
import tokenize

from fleet.errors import SourceError
from fleet.frontend.reading.errors import SourceText
from fleet.frontend.reading.module import parse

_LAYOUT = frozenset({tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})


def tokens(text: str, name: str) -> str:
    """One line a token: place (line:column, both from 1), kind, and text as a Python literal where it has one.

    `name` is the file's name for messages. Raises SourceError where Python's tokenizer stops.
    """
    source = SourceText(text, name)
    lines: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = tokenize.tok_name[token.exact_type]
            shown = "" if token.type in _LAYOUT else f" {token.string!r}"
            lines.append(f"{token.start[0]}:{token.start[1] + 1} {kind}{shown}")
    except tokenize.TokenError as error:
        line, column = error.args[1]
        raise source.error(line, max(column, 1), f"not Python: {error.args[0]}", code="F101") from None
    except SyntaxError as error:
        raise source.error(error.lineno or 1, max(error.offset or 1, 1), f"not Python: {error.msg}", code="F101") from None
    return "\n".join(lines) + "\n"


def tree(text: str, name: str) -> str:
    """The syntax tree, one node a line, indented by two spaces, with the place of every statement and expression.

    Raises SourceError if the file is not Python, or nested too deeply to be shown.
    """
    lines: list[str] = []
    try:
        _show(parse(text, name).tree, "", 0, lines)
    except RecursionError:
        raise SourceError(
            "nested too deeply to be shown", where=name, hint="split it over several assignments", code="F602"
        ) from None
    return "\n".join(lines) + "\n"


def python_tree(text: str, name: str) -> str:
    """The syntax tree as `ast.dump` prints it, in one line. Raises SourceError if the file is not Python."""
    return ast.dump(parse(text, name).tree) + "\n"


def visits(text: str, name: str) -> str:
    """A line "Visit X" for every node, in the order in which `ast.NodeVisitor` comes to it. Raises SourceError as `python_tree`."""
    lines: list[str] = []
    stack: list[ast.AST] = [parse(text, name).tree]
    while stack:
        node = stack.pop()
        lines.append(f"Visit {type(node).__name__}")
        stack += reversed(list(ast.iter_child_nodes(node)))
    return "\n".join(lines) + "\n"


def _show(node: ast.AST, label: str, depth: int, lines: list[str]) -> None:
    place = f" @{node.lineno}:{node.col_offset + 1}" if isinstance(node, ast.stmt | ast.expr) else ""
    plain = [f"{k}={v!r}" for k, v in ast.iter_fields(node) if not _is_tree(v) and v not in (None, [])]
    lines.append(f"{'  ' * depth}{label}{type(node).__name__}({', '.join(plain)}){place}")
    for key, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            if not isinstance(value, ast.expr_context):
                _show(value, f"{key}: ", depth + 1, lines)
        elif isinstance(value, list):
            for i, part in enumerate(value):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
                if isinstance(part, ast.AST):
                    _show(part, f"{key}[{i}]: ", depth + 1, lines)


def _is_tree(value: object) -> bool:
    return isinstance(value, ast.AST) or (isinstance(value, list) and any(isinstance(v, ast.AST) for v in value))  # pyright: ignore[reportUnknownVariableType]
