"""Runs a model's file as Python does: the child process of engine `cpython`. It imports nothing of fleet.

Called as `python _cpython_child.py FOLDER`. FOLDER/job.json says what to run; FOLDER/arguments.npz holds the arguments.
It writes FOLDER/arrays.npz and, last, FOLDER/result.json (or an error in its place).
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

_KINDS = "biuf"


def main(folder: Path) -> None:
    """Runs the job of a folder."""
    job: dict[str, Any] = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    try:
        outputs, variables, elapsed = _run(job, folder)
        result = _store(job, folder, outputs, variables) | {"elapsed_s": elapsed}
    except BaseException as error:
        places = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == job["name"]]
        line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else (places[-1] if places else None)
        lines = traceback.format_exception_only(error)[-1].strip().splitlines()
        last = lines[0] if lines else type(error).__name__
        result = {"error": last, "line": line}
    temporary = folder / "result.json.tmp"
    temporary.write_text(json.dumps(result), encoding="utf-8")
    os.replace(temporary, folder / "result.json")


def _run(job: dict[str, Any], folder: Path) -> tuple[list[Any], dict[str, Any], float]:
    code = compile((folder / "source.py").read_text(encoding="utf-8"), job["name"], "exec", dont_inherit=True)
    with np.load(folder / "arguments.npz", allow_pickle=False) as z:
        arguments = {name: z[f"a{i}"] for i, name in enumerate(job["arguments"])}
    sys.path.insert(0, job["folder"])
    script = job["function"] is None
    namespace: dict[str, Any] = {"__name__": "__main__" if script else "__fleet_model__", "__file__": job["name"]}
    start = time.perf_counter()
    exec(code, namespace)  # the only place in fleet that runs a user's file, and only where `cpython` is asked for
    if script:
        return [], namespace, time.perf_counter() - start
    function = namespace[job["function"]]
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
    return list(value) if isinstance(value, tuple | list) else [value], variables, elapsed


def _store(job: dict[str, Any], folder: Path, outputs: list[Any], variables: dict[str, Any]) -> dict[str, Any]:
    arrays = [np.asarray(v) for v in outputs]
    for i, a in enumerate(arrays):
        if a.dtype.kind not in _KINDS:
            raise TypeError(f"returned value {i} is no array of numbers ({type(outputs[i]).__name__})")
    kept = {n: np.asarray(variables[n]) for n in job["variables"] if n in variables and _numeric(variables[n])}
    stored = {f"o{i}": a for i, a in enumerate(arrays)} | {f"v{i}": a for i, a in enumerate(kept.values())}
    np.savez(folder / "arrays.npz", **stored)  # type: ignore[arg-type]
    return {"outputs": len(arrays), "variables": list(kept), "numpy": np.__version__}


def _numeric(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | bool | int | float) and np.asarray(value).dtype.kind in _KINDS


if __name__ == "__main__":
    main(Path(sys.argv[1]))
