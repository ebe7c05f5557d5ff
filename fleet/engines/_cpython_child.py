"""Runs a model as Python does: the child process of engine `cpython`. It imports nothing of fleet.

Called as `python _cpython_child.py FOLDER`. FOLDER/job.json describes the job; FOLDER/arguments.npz holds the arguments.
It writes FOLDER/arrays.npz and, last, FOLDER/result.json (which may contain an error instead).
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

_KINDS = "biufc"


@dataclass(frozen=True)
class JobModule:
    """A module beside the model's file (`fleet.ir.program.ModuleSource`)."""

    path: str
    text: str
    package: bool
    file: str
    statements: list[int]


@dataclass(frozen=True)
class PythonJob:
    """The job of the process; `fleet.engines.cpython` writes it.

    Attributes:
        name: of the source, for messages. function: to call; None for a script.
        arguments: names, in the order of the stored arrays. variables: names whose values are kept.
        libraries: allowed imports. statements: lines of the module that the front end has read.
        modules: dotted name -> module beside the file. package: the package of the file.
        handlers: the `except` clauses that the front end has followed, as "file:line".
        path: absolute path of the file, as the source sees it.
    """

    name: str
    function: str | None
    arguments: list[str]
    variables: list[str]
    libraries: list[str]
    statements: list[int]
    modules: dict[str, JobModule]
    package: str
    handlers: list[str]
    path: str

    @staticmethod
    def of(table: dict[str, Any]) -> PythonJob:
        """Build the job from its JSON table."""
        modules: dict[str, Any] = {name: JobModule(**module) for name, module in table["modules"].items()}
        given: dict[str, Any] = {**table, "modules": modules}
        return PythonJob(**given)


def main(folder: Path) -> None:
    """Run the job of a folder."""
    job = PythonJob.of(json.loads((folder / "job.json").read_text(encoding="utf-8")))
    try:
        with _writing_nothing():
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
    sys.meta_path[:0] = [StandIns(), ModulesBeside(job)]
    sys.argv = [job.name]
    os.environ.clear()  # a model gets no command-line arguments: it computes the same everywhere
    needed = _needed(tree, job.function, job.statements, _importable(job), _followed(job, Path(job.name).name))
    code = compile(needed, job.name, "exec", dont_inherit=True)
    with np.load(folder / "arguments.npz", allow_pickle=False) as z:
        arguments = {name: z[f"a{i}"] for i, name in enumerate(job.arguments)}
    namespace: dict[str, Any] = {"__name__": "__main__" if job.function is None else "__fleet_model__", "__file__": job.path}
    if job.package:
        namespace["__package__"] = job.package
    start = time.perf_counter()
    with contextlib.nullcontext() if job.function is None else contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(code, namespace)  # only what the front end has read, and only if `cpython` is requested
        except SystemExit as ended:
            if job.function is not None or ended.code:
                raise
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


@contextlib.contextmanager
def _writing_nothing() -> Generator[None]:
    """Keep the source from writing files: files opened for writing are kept in memory; saved arrays and folders are dropped."""
    opened = io.open

    def data(file: Any, mode: str = "r", *given: Any, **options: Any) -> Any:
        if not set(mode) & set("wax+"):
            return opened(file, mode, *given, **options)
        return io.BytesIO() if "b" in mode else io.StringIO()

    def unless_file(save: Callable[..., Any]) -> Callable[..., Any]:
        return lambda into, *given, **options: None if isinstance(into, str | os.PathLike) else save(into, *given, **options)

    instead: list[tuple[Any, str, Any]] = [(builtins, "open", data), (io, "open", data)]
    instead += [(np, n, unless_file(getattr(np, n))) for n in ("save", "savez", "savez_compressed", "savetxt")]
    folders = (os, "makedirs"), (os, "mkdir"), (Path, "mkdir"), (Path, "touch")
    instead += [(owner, name, lambda *_given, **_options: None) for owner, name in folders]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in instead]
    try:
        for owner, name, function in instead:
            setattr(owner, name, function)
        yield
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)


class _Aside:
    """Stand-in for any object of a plotting or logging library: it accepts every call and shows nothing."""

    __iter__ = None

    def __init__(self, *_given: object, **_options: object) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _OF_A_DRAWING.get(name, _Aside())

    def __call__(self, *_given: object, **_options: object) -> Any:
        return _Aside()

    def __getitem__(self, _index: object) -> Any:
        return _Aside()

    def __setitem__(self, _index: object, _value: object) -> None:
        pass

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_raised: object) -> None:
        pass


class _Bar(_Aside):
    """A progress bar that shows nothing: it iterates over its argument."""

    def __init__(self, iterable: Any = (), *_shown: object, **_options: object) -> None:
        self._over = iterable

    def __iter__(self) -> Any:
        return iter(self._over)

    def __len__(self) -> int:
        return len(self._over)

    @staticmethod
    def write(text: str, end: str = "\n", **_options: object) -> None:
        """Print, as the bar does above its line."""
        print(text, end=end)


def _subplots(nrows: int = 1, ncols: int = 1, *_given: object, squeeze: bool = True, **_options: object) -> Any:
    axes = np.full((nrows, ncols), _Aside(), dtype=object)
    return _Aside(), (axes if not squeeze else axes.item() if axes.size == 1 else axes.squeeze())


def _range_bar(*ends: int, **_options: object) -> _Bar:
    return _Bar(range(*ends))


def _as_it_is(function: object = None, *_given: object, **_options: object) -> Any:
    return function if isinstance(function, FunctionType) else _as_it_is


_OF_A_DRAWING: dict[str, object] = {
    "plot": lambda *_given, **_options: [_Aside()],  # pyright: ignore[reportUnknownLambdaType]
    "hist": lambda *_given, **_options: (_Aside(), _Aside(), _Aside()),  # pyright: ignore[reportUnknownLambdaType]
    "subplots": _subplots,
}
_STAND_INS: dict[str, dict[str, object]] = {
    **dict.fromkeys(("matplotlib", "mpl_toolkits", "seaborn"), _OF_A_DRAWING),
    **{name: {} for name in ("logging", "doctest")},
    "fleet": {"jit": _as_it_is},
    "numba": {"njit": _as_it_is, "jit": _as_it_is, "prange": range},
    "tqdm": {"tqdm": _Bar, "trange": _range_bar, "tnrange": _range_bar},
}
"""Package -> contents of each of its modules; all other names are an `_Aside`. `fleet` has its functions.

Calls of the other packages change no value of a model (`fleet.frontend.python.standard.aside`, `progress`). The packages themselves
would open windows and write files, and need not be installed.
"""


class StandIns(MetaPathFinder, Loader):
    """Imports the packages of `_STAND_INS`, installed or not."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return a spec of any module of them."""
        del path, target
        return ModuleSpec(fullname, self, is_package=True) if fullname.split(".", maxsplit=1)[0] in _STAND_INS else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a module that has everything."""
        module = ModuleType(spec.name)
        found = _STAND_INS[spec.name.split(".")[0]]
        if spec.name == "fleet":
            path = Path(__file__).parents[1] / "frontend" / "model_functions.py"
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
        module.__dict__.update(found)
        module.__dict__["__getattr__"] = _Aside().__getattr__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module is complete."""


class ModulesBeside(MetaPathFinder, Loader):
    """Imports the modules beside the model's file: the part that the front end has read."""

    def __init__(self, job: PythonJob) -> None:
        self._job = job

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return a spec of one of them."""
        del path, target
        found = self._job.modules.get(fullname)
        return None if found is None else ModuleSpec(fullname, self, is_package=found.package)

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None: Python creates the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the part of a module that the front end has read."""
        found = self._job.modules[module.__name__]
        tree = ast.parse(found.text, found.path)
        module.__dict__["__file__"] = os.path.abspath(found.path)
        needed = _needed(tree, "", found.statements, _importable(self._job), _followed(self._job, found.file))
        exec(compile(needed, found.path, "exec", dont_inherit=True), module.__dict__)


def _importable(job: PythonJob) -> Callable[[str], bool]:
    """Return whether a module may be imported, by its dotted name: a known library's, or one that the front end has read."""
    return lambda name: name.split(".", maxsplit=1)[0] in job.libraries or name in job.modules


def _followed(job: PythonJob, file: str) -> frozenset[int]:
    """Return the lines of a file's `except` clauses that the front end has followed."""
    places = (place.rpartition(":") for place in job.handlers)
    return frozenset(int(line) for of, _, line in places if of == file)


def _needed(
    tree: ast.Module, function: str | None, statements: list[int], importable: Callable[[str], bool], followed: frozenset[int]
) -> ast.Module:
    """Return the part of the file that a model needs: NumPy, math, and the statements that the front end has read.

    For a function these are the top-level statements in `statements`, which the front end has evaluated completely; it
    supports nothing that accesses files or starts programs. For a script it is the whole file. Everything else in the file (other
    imports, other statements) could do anything, so it is removed: a model's file cannot run arbitrary code.
    """
    read = set(range(len(tree.body))) if function is None else set(statements)
    named = _names(tree, function, read)
    body: list[ast.stmt] = []
    for i, s in enumerate(tree.body):
        is_import = isinstance(s, ast.Import | ast.ImportFrom)
        if isinstance(s, ast.FunctionDef) and i not in read and (s.name == function or s.name in named):
            _refuse_calls(s)
        model = isinstance(s, ast.FunctionDef) and s.name == function and not s.decorator_list
        inside = isinstance(s, ast.ImportFrom) and s.level and i in read
        if not (inside or _is_known(s, importable) if is_import else i in read or model):  # pyright: ignore[reportArgumentType]
            continue
        for inner in ast.walk(s):
            if isinstance(inner, ast.stmt):
                _without_annotations(inner)
            if isinstance(inner, ast.Try) and inner.handlers:
                _keep_followed(inner, followed)
        body.append(s)
    return ast.Module(body, [])


def _names(tree: ast.Module, function: str | None, read: set[int]) -> set[str]:
    """Names that the model and the kept statements may use."""
    kept = [s for i, s in enumerate(tree.body) if i in read or (isinstance(s, ast.FunctionDef) and s.name == function)]
    return {node.id for s in kept for node in ast.walk(s) if isinstance(node, ast.Name)}


def _is_known(statement: ast.Import | ast.ImportFrom, importable: Callable[[str], bool]) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.level == 0 and importable(statement.module or "")
    return all(importable(alias.name) for alias in statement.names)


def _without_annotations(statement: ast.stmt) -> None:
    """Remove annotations, which Python evaluates and the front end does not."""
    if isinstance(statement, ast.AnnAssign):
        statement.annotation = ast.copy_location(ast.Constant(None), statement.annotation)
    if not isinstance(statement, ast.FunctionDef):
        return
    spec = statement.args
    statement.returns = None
    registered = any(isinstance(d, ast.Attribute) and d.attr == "register" for d in statement.decorator_list)
    arguments = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]
    for argument in arguments[registered:]:  # functools.singledispatch needs the first annotation, which the front end has read
        if argument is not None:
            argument.annotation = None


def _keep_followed(statement: ast.Try, followed: frozenset[int]) -> None:
    """Remove the handlers after the last one that the front end has followed, and let those before it raise the exception again.

    Their code was never read. The front end claims that they are not entered; this run checks that.
    """
    again = ast.copy_location(ast.Raise(), statement)
    last = max((i for i, h in enumerate(statement.handlers) if h.lineno in followed), default=-1)
    kept = statement.handlers[: last + 1]
    for handler in kept:
        if handler.lineno not in followed:
            handler.body = [again]
    statement.handlers = kept or [ast.copy_location(ast.ExceptHandler(None, None, [again]), statement)]


class RefusedError(Exception):
    """The file was not run."""


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
