"""Modules beside a model's file (`from layers import relu`), found by Python's rules and read as the file is: never executed."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from fleet.frontend.reading.errors import SourceText
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.findings import Poisoned, TooManyErrors
from fleet.frontend.reading.module import parse
from fleet.frontend.reading.places import SourcePlaces
from fleet.frontend.reading.values import Broken, CallFrame, Namespace, Value


@dataclass(frozen=True)
class _Opened:
    source: SourceText
    nodes: frozenset[int]


def import_module(ev: Evaluator, node: ast.stmt, name: str) -> Namespace | None:
    """Import a module and the packages that it is in, once; None where no such module lies beside the file."""
    space: Namespace | None = None
    for end in range(1, name.count(".") + 2):
        dotted = ".".join(name.split(".")[:end])
        outer, space = space, ev.imports.spaces.get(dotted) or _read(ev, node, dotted)
        if space is None:
            if outer is not None:
                what = f"there is no module `{dotted}`"
                ev.refuse("F205", node, what, ModuleNotFoundError(f"No module named '{dotted}'"), f"`{outer.name}` is {outer.path}")
            return None
        if outer is not None:
            outer.frame.variables[dotted.rpartition(".")[2]] = space
    return space


def _read(ev: Evaluator, node: ast.stmt, name: str) -> Namespace | None:
    found = ev.imports.finder.find(name)
    if found is None:
        return None
    if ev.inside:
        ev.fail("F502", node, f"`{name}` is imported where only the run decides", "import it at the top of the file")
    module = parse(found.text, found.path, found.file)
    if isinstance(ev.source, SourcePlaces):
        ev.source.files[id(module)] = _Opened(module.source, frozenset(id(n) for n in ast.walk(module.tree)))
    frame = CallFrame(name, 1, ev.scope(module.tree))
    frame.variables |= {"__name__": name, "__doc__": ast.get_docstring(module.tree, clean=False)}
    frame.variables["__file__"] = os.path.abspath(found.path)
    space = ev.imports.spaces[name] = Namespace(name, found.path, frame)
    ev.imports.texts[frame] = module.source
    ev.imports.packages[frame] = name if found.package else name.rpartition(".")[0]
    outer = ev.globals, ev.tolerant, len(ev.evaluated)
    ev.globals, ev.tolerant = frame, True  # what cannot be read is an error where it is used
    try:
        ev.run(module.tree.body, frame)
    except (Poisoned, TooManyErrors):
        pass
    finally:
        ev.globals, ev.tolerant = outer[:2]
    read = {id(s) for s in ev.evaluated[outer[2] :]}
    statements = tuple(i for i, s in enumerate(module.tree.body) if id(s) in read)
    ev.imports.read[name] = replace(found, statements=statements)
    return space


def parent_of(ev: Evaluator, node: ast.ImportFrom) -> str:
    """Return the dotted name of the module that `from ... import` names. SourceError where it leaves the package."""
    if not node.level:
        return node.module or ""
    frame = ev.frame.module()
    package = ev.imports.packages.get(frame, ev.imports.finder.package)
    parts = package.split(".") if package else []
    if node.level > len(parts):
        what, theirs = "it leaves the package", "beyond top-level package"
        if not parts:
            what = "this is an import within a package, and no __init__.py lies beside the file"
            theirs = "with no known parent package"
        cause = ImportError(f"attempted relative import {theirs}")
        ev.refuse("F205", node, what, cause, "import by the full name, or define it here")
    names = [*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])]
    return ".".join(names)


def member(ev: Evaluator, node: ast.ImportFrom, space: Namespace, name: str) -> Value:
    """Return what `from module import name` binds: a name of the module, or a module within it."""
    inner = f"{space.name}.{name}"
    found = import_module(ev, node, inner) if name not in space.frame.variables and ev.imports.finder.find(inner) else None
    cause = ImportError(f"cannot import name '{name}' from '{space.name}' ({space.path})")
    return found or attribute(ev, node, space, name, cause)


def lies_beside(ev: Evaluator, node: ast.Import | ast.ImportFrom) -> bool:
    """True if the files beside the model decide whether an import works: it is relative, or its first name is found there."""
    if isinstance(node, ast.ImportFrom):
        if node.level:
            return ev.imports.finder.decides
        return ev.imports.finder.find((node.module or "").split(".")[0]) is not None
    return all(ev.imports.finder.find(alias.name.split(".")[0]) is not None for alias in node.names)


def attribute(ev: Evaluator, node: ast.AST, space: Namespace, name: str, cause: Exception | None = None) -> Value:
    """Return a name of a module.

    SourceError F205 where it has none (Python raises `cause`; None: an AttributeError), and the error of a statement that could not
    be read.
    """
    found = space.frame.variables.get(name, space)
    if found is space:
        close = get_close_matches(name, sorted(space.frame.variables), 1)
        hint = f"did you mean `{close[0]}`?" if close else None
        cause = cause or AttributeError(f"module '{space.name}' has no attribute '{name}'")
        ev.refuse("F205", node, f"the module `{space.name}` ({space.path}) has no `{name}`", cause, hint)
    if isinstance(found, Broken):
        raise found.error
    return found


def everything(space: Namespace) -> Mapping[str, Value]:
    """Return what `from module import *` binds: the names of its `__all__`, else those without an underscore."""
    names = space.frame.variables
    public = getattr(names.get("__all__"), "items", names.get("__all__"))
    listed = public if isinstance(public, list | tuple) else [n for n in names if not n.startswith("_")]
    return {str(n): names[str(n)] for n in listed if str(n) in names}
