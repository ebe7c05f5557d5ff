"""Runs a program with onnxruntime: an ONNX model from its file, every other program as exported by `fleet.targets.onnx`.

The trace has the value of every operation that the model names, so that a comparison with the golden names the first operation
that differs. Graph optimisations are off, because they would fuse operations and change roundings.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
from xdsl.ir import SSAValue

from fleet.engines.base import RunOptions
from fleet.engines.onnxruntime.of_file import file_of, fused, open_file
from fleet.engines.onnxruntime.session import OnnxRuntimeSession, level_of
from fleet.engines.trace import Trace
from fleet.errors import ComparisonFailure, ModelError
from fleet.ir.dialect import PrintOp
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype
from fleet.targets.printed import printed

FUNCTION_ULP: Mapping[str, float] = {"log": 4.0, "tanh": 16.0, "expm1": 8.0, "log1p": 8.0}
"""Largest errors of onnxruntime's float32 functions in ULPs, if they exceed NumPy's 4: measured over 6 million numbers,
rounded up (tanh 14; expm1 and log1p are compositions of the export). `tests/engines/test_onnxruntime_engine.py` measures again."""
FUNCTION_ABSOLUTE: Mapping[str, float] = {"sigmoid": 2e-7, "expm1": 2e-7, "log1p": 2e-7}
"""Largest absolute errors of its own operators for some functions, in float32: Sigmoid is a rational function that ends at
-18, Elu and similar ones are exp(x) - 1, Softplus is log(1 + exp(x))."""


class OnnxRuntimeEngine:
    """Engine `onnxruntime`.

    Args:
        level: of graph optimisation ("none", "basic", "extended", "all"); None: as the environment's
            FLEET_ONNXRUNTIME_OPTIMISATIONS says, else none. For timing only: values that are kept cannot be optimised away.
    """

    name = "onnxruntime"
    target = "onnx"

    def __init__(self, level: str | None = None) -> None:
        self.level = level

    def available(self) -> str | None:
        """None if the packages of the extra `onnx` are installed, else what to install."""
        missing = [name for name in ("onnxruntime", "onnx", "ml_dtypes") if find_spec(name) is None]
        return f"the package {missing[0]} is missing: pip install 'fleet-cosim[onnx]'" if missing else None

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Run the program's file or its export, and return a complete trace.

        `meta["model"]` is the one that ran: "file" or "export". Raises DeviceError if the program cannot be exported, or if
        onnxruntime refuses the model or fails.
        """
        from fleet.frontend.onnx.texts import decoded, recoded

        path = file_of(program)
        absolute = dict(FUNCTION_ABSOLUTE)
        if path is None:
            trace = self._export(program, inputs, options)
        else:
            model = open_file(path, program, keep=options.keep_tensors)
            session = OnnxRuntimeSession(model.data, folder=model.folder, level=level_of(self.level), where=str(path))
            given = {**program.bound, **inputs}
            if missing := [name for name in session.inputs if name not in given]:
                raise ModelError(f"no input {missing[0]!r}", where=str(path), hint=f"given are {', '.join(given) or 'none'}")
            names = list(dict.fromkeys([*program.outputs, *model.exposed.values(), *model.taken]))
            start = time.perf_counter()
            texts = session.texts
            words = program.words
            fed = {n: decoded(words, given[n]) if n in texts and given[n].dtype.kind == "i" else given[n] for n in session.inputs}
            found = session.run([model.widened.get(n, n) for n in names], fed)
            found = dict(zip(names, found.values(), strict=True))
            elapsed = time.perf_counter() - start
            found = {n: recoded(words, array) if array.dtype.kind == "O" else array for n, array in found.items()}
            trace = Trace(self.name, program.hash, {n: found[n] for n in program.outputs}, elapsed_s=elapsed)
            if options.keep_tensors:
                trace.tensors = {identity: found[name] for identity, name in model.exposed.items()}
                trace.meta["fates"] = fused(program, model.exposed)
                seen = {**model.weights, **given, **found}
                absolute |= {identity: norm.rounding(seen) for identity, norm in model.norms.items()}
            trace.meta["model"] = "file"
        if options.progress is not None:
            options.progress(1.0, f"{len(trace.tensors)} values")
        trace.meta |= {
            "seed": options.seed,
            "function_ulp": dict(FUNCTION_ULP),
            "function_absolute": absolute,
            "unrounded": ["float16"],  # it computes in float32, and omits the casts between two operators
            "dtypes": {name: str(t.dtype) for name, t in trace.tensors.items()},
            "tools": {"onnxruntime": version("onnxruntime"), "onnx": version("onnx")},
        }
        trace.complete = True
        return trace

    def _export(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Run the program's own export; its printed text is formatted from the values."""
        from fleet.targets.onnx.export import export_onnx
        from fleet.targets.onnx.write import in_memory

        export = export_onnx(program, every_result=options.keep_tensors)
        session = OnnxRuntimeSession(in_memory(export), level=level_of(self.level))
        wanted = export.tensors if options.keep_tensors else {}
        names = list(dict.fromkeys([*export.outputs.values(), *(n for p in export.printed for n in p), *wanted.values()]))
        start = time.perf_counter()
        try:
            found = session.run(names, {name: inputs[name] for name in session.inputs})
        except ComparisonFailure as error:
            failed = [words for node, words in export.checks.items() if f"Name:'{node}'" in error.what]
            if failed:
                raise ModelError(failed[0], where=program.source_name) from error
            raise
        elapsed = time.perf_counter() - start
        shown: dict[SSAValue, np.ndarray] = {
            v: found[n]
            for op, row in zip(_prints(program), export.printed, strict=True)
            for v, n in zip(op.operands, row, strict=True)
        }
        trace = Trace(self.name, program.hash, elapsed_s=elapsed)
        for name, value in zip(program.outputs, program.returned(), strict=True):
            trace.outputs[name] = np.asarray(found[export.outputs[name]], numpy_dtype(value.type))
        trace.tensors = {identity: found[name] for identity, name in wanted.items()}
        trace.meta |= {"model": "export", "stdout": printed(program, shown.__getitem__)}
        return trace


def _prints(program: Program) -> list[PrintOp]:
    return [op for op in program.operations() if isinstance(op, PrintOp)]


ENGINE = OnnxRuntimeEngine()
