"""Runs a model as Python does: the child process of engine `cpython`. It imports nothing of fleet.

Called as `python _cpython_child.py FOLDER`. FOLDER/job.json says what to run; FOLDER/arguments.npz holds the arguments.
It writes FOLDER/arrays.npz and, last, FOLDER/result.json (or an error in its place).
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

_KINDS = "biufc"


@dataclass(frozen=True)
class PythonJob:
    """What the process runs; `fleet.engines.cpython` writes it.

    Attributes:
        name: of the source, for messages. function: to call; None for a script.
        arguments: names, in the order of the stored arrays. variables: whose values are kept.
        libraries: that may be imported. statements: lines of the module that the front end has read.
    """

    name: str
    function: str | None
    arguments: list[str]
    variables: list[str]
    libraries: list[str]
    statements: list[int]


def main(folder: Path) -> None:
    """Runs the job of a folder."""
    job = PythonJob(**json.loads((folder / "job.json").read_text(encoding="utf-8")))
    try:
        outputs, variables, elapsed = _run(job, folder)
        result = _store(job, folder, outputs, variables) | {"elapsed_s": elapsed}
    except BaseException as error:
        places = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == job.name]
        line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else (places[-1] if places else None)
        lines = traceback.format_exception_only(error)[-1].strip().splitlines()
        last = lines[0] if lines else type(error).__name__
        result = {"error": last, "line": line}
    temporary = folder / "result.json.tmp"
    temporary.write_text(json.dumps(result), encoding="utf-8")
    os.replace(temporary, folder / "result.json")


def _run(job: PythonJob, folder: Path) -> tuple[list[Any], dict[str, Any], float]:
    tree = ast.parse((folder / "source.py").read_text(encoding="utf-8"), job.name)
    code = compile(_needed(tree, job.function, job.statements, job.libraries), job.name, "exec", dont_inherit=True)
    with np.load(folder / "arguments.npz", allow_pickle=False) as z:
        arguments = {name: z[f"a{i}"] for i, name in enumerate(job.arguments)}
    namespace: dict[str, Any] = {"__name__": "__main__" if job.function is None else "__fleet_model__", "__file__": job.name}
    start = time.perf_counter()
    with contextlib.nullcontext() if job.function is None else contextlib.redirect_stdout(io.StringIO()):
        exec(code, namespace)  # only what the front end has read, and only where `cpython` is asked for
    if job.function is None:
        return [], namespace, time.perf_counter() - start
    function = namespace[job.function]
    inner: CodeType = function.__code__
    variables: dict[str, Any] = {}

    def on_event(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "return" and frame.f_code is inner:
            variables.clear()
            variables.update(frame.f_locals)

    positional = [arguments.pop(n) for n in inner.co_varnames[: inner.co_posonlyargcount] if n in arguments]
    start = time.perf_counter()
    sys.setprofile(on_event)
    try:
        value = function(*positional, **arguments)
    finally:
        sys.setprofile(None)
    elapsed = time.perf_counter() - start
    value = list(value.values()) if isinstance(value, dict) else value
    return list(value) if isinstance(value, tuple | list) else [value], variables, elapsed


def _needed(tree: ast.Module, function: str | None, statements: list[int], libraries: list[str]) -> ast.Module:
    """What a model needs of its file: NumPy, math, and what the front end has read.

    Of a function's file these are the top-level statements in `statements`, which the front end has evaluated whole, and it
    knows nothing that touches files or starts programs; of a script, all of it. Everything else of the file (other imports,
    other statements) may do anything, so it is left out: a model's file can run no code of its own.
    """
    read = set(range(len(tree.body))) if function is None else set(statements)
    named = _names(tree, function, read)
    body: list[ast.stmt] = []
    for i, s in enumerate(tree.body):
        is_import = isinstance(s, ast.Import | ast.ImportFrom)
        if isinstance(s, ast.FunctionDef) and i not in read and (s.name == function or s.name in named):
            _refuse_calls(s)
        model = isinstance(s, ast.FunctionDef) and s.name == function and not s.decorator_list
        if not (_is_known(s, libraries) if is_import else i in read or model):  # pyright: ignore[reportArgumentType]
            continue
        for inner in ast.walk(s):
            if isinstance(inner, ast.stmt):
                _without_annotations(inner)
            if isinstance(inner, ast.Try) and inner.handlers:
                _without_handlers(inner)
        body.append(s)
    return ast.Module(body, [])


def _names(tree: ast.Module, function: str | None, read: set[int]) -> set[str]:
    """What the model and the statements that are kept may name."""
    kept = [s for i, s in enumerate(tree.body) if i in read or (isinstance(s, ast.FunctionDef) and s.name == function)]
    return {node.id for s in kept for node in ast.walk(s) if isinstance(node, ast.Name)}


def _is_known(statement: ast.Import | ast.ImportFrom, libraries: list[str]) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.level == 0 and (statement.module or "").split(".")[0] in libraries
    return all(alias.name.split(".")[0] in libraries for alias in statement.names)


def _without_annotations(statement: ast.stmt) -> None:
    """Remove annotations, which Python evaluates and the front end does not."""
    if isinstance(statement, ast.AnnAssign):
        statement.annotation = ast.copy_location(ast.Constant(None), statement.annotation)
    if not isinstance(statement, ast.FunctionDef):
        return
    spec = statement.args
    statement.returns = None
    for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg):
        if argument is not None:
            argument.annotation = None


def _without_handlers(statement: ast.Try) -> None:
    """Replace handlers, which the front end has not read, by one that raises the exception again."""
    again = ast.Raise()
    handler = ast.ExceptHandler(None, None, [ast.copy_location(again, statement)])
    statement.handlers = [ast.copy_location(handler, statement)]


class RefusedError(Exception):
    """The file is not run."""


def _refuse_calls(statement: ast.FunctionDef) -> None:
    """A default that the front end could not evaluate must not be evaluated here."""
    spec = statement.args
    for default in (*spec.defaults, *spec.kw_defaults):
        if default is not None and any(isinstance(node, ast.Call) for node in ast.walk(default)):
            raise RefusedError(f"line {default.lineno}: a default of {statement.name} is a call, which would run before the model")


def _store(job: PythonJob, folder: Path, outputs: list[Any], variables: dict[str, Any]) -> dict[str, Any]:
    arrays = [np.asarray(v) for v in outputs]
    for i, a in enumerate(arrays):
        if a.dtype.kind not in _KINDS:
            raise TypeError(f"returned value {i} is no array of numbers ({type(outputs[i]).__name__})")
    kept = {n: np.asarray(variables[n]) for n in job.variables if n in variables and _numeric(variables[n])}
    stored = {f"o{i}": a for i, a in enumerate(arrays)} | {f"v{i}": a for i, a in enumerate(kept.values())}
    np.savez(folder / "arrays.npz", **stored)  # type: ignore[arg-type]
    return {"outputs": len(arrays), "variables": list(kept), "numpy": np.__version__}


def _numeric(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | bool | int | float | complex) and np.asarray(value).dtype.kind in _KINDS


if __name__ == "__main__":
    main(Path(sys.argv[1]))
