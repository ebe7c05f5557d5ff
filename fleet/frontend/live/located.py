"""The place of a live Python function in its source: the file's text and the syntax tree of its definition."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from fleet.errors import SourceError
from fleet.frontend.reading.errors import SourceText
from fleet.frontend.reading.module import MAX_SOURCE_BYTES, SourceModule, parse


@dataclass(eq=False)
class LocatedFile:
    """A parsed file. `nodes`: ids of its nodes, so that a node leads to its file."""

    module: SourceModule
    codes: list[CodeType]
    nodes: set[int] = field(default_factory=set)

    @property
    def source(self) -> SourceText:
        """Text and name."""
        return self.module.source

    def adopt(self, tree: ast.AST) -> None:
        """Counts the nodes of a tree as this file's. Whoever calls keeps the tree."""
        self.nodes.update(id(n) for n in ast.walk(tree))


_FILES: dict[str, LocatedFile] = {}
"""By name; replaced when the text changes. A file is read again, never changed, so that threads can share it."""


def locate(function: FunctionType) -> tuple[LocatedFile, ast.FunctionDef]:
    """As `locate_any`, of a function with a name. SourceError for a lambda."""
    file, node = locate_any(function)
    if isinstance(node, ast.Lambda):
        file.source.fail("F502", node, "a lambda cannot be compiled by itself", "write it as a function with def")
    return file, node


def locate_any(function: FunctionType) -> tuple[LocatedFile, ast.FunctionDef | ast.Lambda]:
    """The file and the definition of a function or lambda.

    Raises SourceError: no source (typed into Python's prompt, made by exec), or a source that is not the function's.
    """
    code = function.__code__
    where = f"{code.co_filename}:{code.co_firstlineno}"
    file = _open(function)
    if code.co_name == "<lambda>":
        lambdas = [n for n in ast.walk(file.module.tree) if isinstance(n, ast.Lambda) and n.lineno == code.co_firstlineno]
        found = [n for n in lambdas if _is_of(file, n, code) and (len(lambdas) == 1 or _is_at(n, code))]
        if len(found) == 1:
            return file, found[0]
    for node in ast.walk(file.module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno and _is_of(file, node, code):
                if isinstance(node, ast.AsyncFunctionDef):
                    file.source.fail("F502", node, "a coroutine is not supported", "write it without async")
                return file, node
    raise SourceError(
        f"the definition of `{code.co_name}` is not there: the file is not the one that Python has loaded", where=where,
        hint="it was changed since: import it again",
    )  # fmt: skip


def _open(function: FunctionType) -> LocatedFile:
    code = function.__code__
    name = code.co_filename
    linecache.checkcache(name)
    lines = linecache.getlines(name, function.__globals__)
    where = f"{name}:{code.co_firstlineno}"
    if not lines:
        what = f"the source of `{code.co_name}` cannot be read (typed into Python's prompt, or made by exec?)"
        raise SourceError(what, where=where, hint="put the function into a file")
    text = "".join(lines)
    if len(text) > MAX_SOURCE_BYTES:
        raise SourceError(f"larger than {MAX_SOURCE_BYTES} bytes", where=name, hint="split the file")
    found = _FILES.get(name)
    if found is None or found.source.text != text:
        module = parse(text, name)
        codes = list(_codes(compile(module.tree, name, "exec", dont_inherit=True)))  # to be compared; never run
        found = LocatedFile(module, codes)
        found.adopt(module.tree)
        _FILES[name] = found
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _is_at(node: ast.Lambda, code: CodeType) -> bool:
    """Return whether `code` was compiled from this lambda, by the position of its body: a line may have several lambdas."""
    body = node.body
    return (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset) in code.co_positions()


def _is_of(file: LocatedFile, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, code: CodeType) -> bool:
    """Return whether the text is what the code was compiled from. Assertions may have been rewritten (pytest does)."""
    arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    if arguments != list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]):
        return False
    if any(isinstance(n, ast.Assert) for n in ast.walk(node)):
        return True
    same_place = [c for c in file.codes if (c.co_firstlineno, c.co_name) == (code.co_firstlineno, code.co_name)]
    return any(_same(c, code) for c in same_place)


def _same(a: CodeType, b: CodeType) -> bool:
    def plain(code: CodeType) -> list[Any]:
        return [repr(c) for c in code.co_consts if not isinstance(c, CodeType)]

    if (a.co_code, a.co_names, a.co_freevars, plain(a)) != (b.co_code, b.co_names, b.co_freevars, plain(b)):
        return False
    inner = zip(
        (c for c in a.co_consts if isinstance(c, CodeType)), (c for c in b.co_consts if isinstance(c, CodeType)), strict=True
    )
    return all(_same(x, y) for x, y in inner)
