"""Engine `cpython`: the user's source run by Python itself, in a subprocess. It checks the golden.

The only engine that executes source text: the function (or script) and what it names, which the front end has read and
which therefore only computes. Everything else of the file is left out.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fleet.core.codec import decode, encode_record, is_table
from fleet.core.processes import start
from fleet.core.scratch import Scratch
from fleet.engines._cpython_child import JobModule, PythonJob
from fleet.engines.base import RunOptions
from fleet.engines.trace import Trace
from fleet.errors import ComparisonFailure, ModelError
from fleet.frontend.python.names import LIBRARIES
from fleet.frontend.reading.imported import ModuleFinder
from fleet.frontend.source import SCRIPT, module_statements, parameters
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype

_CHILD = Path(__file__).with_name("_cpython_child.py")
_MAX_PRINTED = 1 << 20
_NOT_OF_VALUES = ("ImportError", "ModuleNotFoundError", "MemoryError", "RefusedError")
"""Errors unrelated to the values: a missing package, too little memory, a file that was not run."""


class CpythonEngine:
    """Runs `program.source`; tensors are the function's variables as it returns (of a script, its globals).

    Args:
        timeout_s: wall time that a run may take, start of the process included.
    """

    name = "cpython"
    target = "source"

    def __init__(self, timeout_s: float = 600.0) -> None:
        self.timeout_s = timeout_s

    def available(self) -> str | None:
        """Location of a name in this interpreter."""
        return None if sys.executable else "the Python interpreter's path is unknown"

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Run the source; return a complete trace. `meta["stdout"]` is the printed text, cut to its first MiB if
        `meta["stdout_cut"]` is true.

        Raises ComparisonFailure if the file fails (with the last line of its traceback) or returns something else than the
        program, ModelError if it takes too long.
        """
        if not program.source:
            raise ModelError("the program has no Python source", where="cpython", hint="leave engine cpython out")
        for file in program.files:
            file.check()
        variables = _variables(program)
        with Scratch("cpython") as folder:
            try:
                _write_job(folder, program, inputs, list(variables) if options.keep_tensors else [])
            except OSError as error:
                raise ModelError(f"cannot write the job ({error.strerror or error})", where=str(folder)) from error
            status = self._execute(folder, program, options)
            result = _result(folder, program, status)
            trace = Trace("cpython", program.hash)
            with np.load(folder / "arrays.npz", allow_pickle=False) as z:
                found = [z[f"o{i}"] for i in range(result.outputs)]
                values = {n: z[f"v{i}"] for i, n in enumerate(result.variables)}
            with (folder / "stdout").open("rb") as written:
                printed, cut = written.read(_MAX_PRINTED).decode(errors="replace"), bool(written.read(1))
        trace.outputs = _outputs(program, found)
        for variable, (identity, dtype) in variables.items():
            if variable in values:
                trace.tensors[identity] = np.asarray(values[variable], dtype)
        for name, value in zip(program.outputs, program.returned(), strict=True):
            if isinstance(value.owner, FleetOp):
                trace.tensors[op_id(value.owner)] = trace.outputs[name]
        trace.elapsed_s = result.elapsed_s
        trace.meta = {
            "numpy": result.numpy,
            "python": platform.python_version(),
            "seed": options.seed,
            "dtypes": {name: str(t.dtype) for name, t in trace.tensors.items()},
            "stdout": printed,
            "stdout_cut": cut,
        }
        trace.complete = True
        return trace

    def _execute(self, folder: Path, program: Program, options: RunOptions) -> int:
        command = [sys.executable, "-I", str(_CHILD), str(folder)]
        deadline = time.monotonic() + self.timeout_s
        with (
            (folder / "stdout").open("wb") as out,
            (folder / "stderr").open("wb") as err,
            start(command, stdout=out, stderr=err) as process,
        ):
            while True:
                try:
                    return process.wait(timeout=min(1.0, max(0.01, deadline - time.monotonic())))
                except subprocess.TimeoutExpired:
                    if time.monotonic() >= deadline:
                        raise ModelError(f"took longer than {self.timeout_s:g} s", where=f"cpython {program.source_name}") from None
                    if options.progress is not None:
                        options.progress(0.5, "CPython runs the file")


def _variables(program: Program) -> dict[str, tuple[str, np.dtype | None]]:
    """Variable -> the operation whose value it holds at the end (the last one), and its dtype if it is a Python number."""
    found: dict[str, tuple[str, np.dtype | None]] = {}
    for op in program.operations():
        var = op.properties.get("var")
        if var is not None and op.results:
            type_ = op.results[0].type
            found[str(getattr(var, "data", ""))] = (op_id(op), None if is_tensor(type_) else numpy_dtype(type_))
    return found


def _write_job(folder: Path, program: Program, inputs: Mapping[str, np.ndarray], variables: list[str]) -> None:
    given = parameters(program.source, program.source_name, program.function.sym_name.data)
    names = [a.name for a in program.arguments if a.name in given]  # the source creates the others itself
    arrays = {f"a{i}": program.weights[n] if n in program.weights else inputs[n] for i, n in enumerate(names)}
    np.savez(folder / "arguments.npz", **arrays)  # pyright: ignore[reportArgumentType]
    (folder / "source.py").write_text(program.source, encoding="utf-8")
    function = program.function.sym_name.data
    job = PythonJob(
        name=program.source_name,
        function=None if function == SCRIPT else function,
        arguments=names,
        variables=variables,
        libraries=sorted(LIBRARIES),  # not __future__: with annotations as strings, `dataclass` looks for the file's module
        statements=[] if function == SCRIPT else module_statements(program),
        modules={n: JobModule(m.path, m.text, m.package, m.file, list(m.statements)) for n, m in program.modules.items()},
        package=ModuleFinder.of(program.source_name).package,
        handlers=list(program.handlers),
        path=os.path.abspath(program.source_name),
    )
    (folder / "job.json").write_text(json.dumps(encode_record(job)), encoding="utf-8")


@dataclass(frozen=True)
class _Failure:
    """The reason why the file did not run. line: of the file, if known."""

    error: str
    line: int | None


@dataclass(frozen=True)
class _Ran:
    """The result of the child process. outputs: number of arrays. variables: names, in the order of their arrays."""

    outputs: int
    variables: tuple[str, ...]
    numpy: str
    elapsed_s: float


def _result(folder: Path, program: Program, status: int) -> _Ran:
    where = f"cpython {program.source_name}"
    try:
        result: object = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        tail = (folder / "stderr").read_text(errors="replace").strip().splitlines()
        ended = f"signal {-status}" if status < 0 else f"status {status}"
        raise ComparisonFailure(
            f"the process ended with {ended} and left no result{': ' + tail[-1] if tail else ''}", where=where
        ) from None
    if not is_table(result) or "error" not in result:
        return decode(_Ran, result, where, "result")
    failure = decode(_Failure, result, where, "result")
    kind = ModelError if failure.error.startswith(_NOT_OF_VALUES) else ComparisonFailure
    raise kind(f"running the file fails: {failure.error}", where=where + (f":{failure.line}" if failure.line else ""))


def _outputs(program: Program, found: list[np.ndarray]) -> dict[str, np.ndarray]:
    if len(found) != len(program.outputs) and program.function.sym_name.data != SCRIPT:
        raise ComparisonFailure(f"the file returned {len(found)} values, the program has {len(program.outputs)}", where="cpython")
    types = [v.type for v in program.returned()]
    return {
        name: a if is_tensor(t) else np.asarray(a, numpy_dtype(t)) for name, a, t in zip(program.outputs, found, types, strict=True)
    }


ENGINE = CpythonEngine()
