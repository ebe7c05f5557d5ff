"""Runs a program on CPython and on the golden and compares every bit; a share of the programs also runs on other engines."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from fleet.compare.compiled_stream import open_stream
from fleet.core.scratch import Scratch
from fleet.cosim.campaign import cosim
from fleet.cosim.comparisons import ComparisonSession
from fleet.cosim.options import CosimOptions
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.base import RunOptions
from fleet.engines.interp import ENGINE as INTERP
from fleet.engines.registry import find_engine
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as GOLDEN
from fleet.errors import DeviceError, FleetError, SourceError
from fleet.frontend.source import load
from fleet.ir.lowering_options import USUAL
from fleet.ir.operations.operation import op_id
from fleet.ir.program import Program
from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.targets.bytecode.vm import VM
from fleet.verify.programs.drawing import FUNCTION
from fleet.verify.programs.memory_order import IN_C_ORDER, in_c_order
from fleet.verify.programs.parts.values import ProgramArray

Kind = Literal["agreed", "refused", "differs"]
KERNEL_ENGINES = ("riscv", "aarch64", "llvm-cpu", "cvm", "cvm-riscv", "cvm-aarch64", "opencl", "cuda")
"""Engines with compiled kernels, which the derived bounds hold where functions of libm and products are computed."""
_OPTIONS = RunOptions(keep_tensors=False)
_NAMED = RunOptions()


@dataclass(frozen=True)
class ComparedProgram:
    """A program to compare. weights: names among `arrays` that are bound at compile time; device: for engine iss."""

    source: str
    arrays: Mapping[str, ProgramArray]
    weights: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    device: str | None = None


@dataclass(frozen=True)
class ProgramOutcome:
    """The outcome of a program.

    cause: of a refusal its code, or the error's type; of a difference what differs ("dtype", "bits", "raised", an engine's name).
    said: full message. line: in the source, 0 if unknown. engines: those beside CPython and the golden that agreed. reordered:
    results agreed only with operands in C order (see `memory_order`). named: variables that name operations, and arrays that the
    source makes.
    """

    kind: Kind
    cause: str = ""
    said: str = ""
    line: int = 0
    engines: tuple[str, ...] = ()
    reordered: bool = False
    named: tuple[str, ...] = ()


class ProgramOracle:
    """Compares programs; a context manager, because it owns a folder."""

    def __init__(self) -> None:
        self._scratch = Scratch("programs")
        self._path = self._scratch.path / "model.py"

    def __enter__(self) -> ProgramOracle:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._scratch.close()

    def compare(self, model: ComparedProgram, known: ByCPython | None = None) -> ProgramOutcome:
        """Run CPython first (known: its earlier result), then the golden, then the model's engines."""
        ran = known or by_cpython(model.source, model.arrays)
        expected = ran.results
        if not isinstance(expected, str) and not all(isinstance(v, np.ndarray | np.generic) for v in expected):
            return ProgramOutcome("refused", "no array", "a result is a Python number, which has no dtype")
        self._path.unlink(missing_ok=True)  # truncating a file may wait for the disk
        self._path.write_text(model.source, encoding="utf-8")
        weights = {n: a for n, a in model.arrays.items() if n in model.weights}
        inputs = {n: a for n, a in model.arrays.items() if n not in weights}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program = load(f"{self._path}:{FUNCTION}", weights, inputs, dynamic=True)
                if not model.engines:
                    vars(program)["hash"] = ""  # saves a fifth of the time; no trace is stored
                trace = GOLDEN.run(program, inputs, _NAMED)
        except FleetError as error:
            return _refused(error)
        except Exception as error:
            return ProgramOutcome("differs", "internal error", f"{type(error).__name__}: {error}")
        found = list(trace.outputs.values())
        if isinstance(expected, str):
            return ProgramOutcome("differs", "accepted", f"CPython raises {expected}")
        wrong = difference(model.source, [np.asarray(v) for v in expected], found)
        if wrong is not None and (wrong.cause != "bits" or not _agree_in_c_order(model, program, inputs)):
            return wrong
        if wrong is None and (printed := str(trace.meta["stdout"])) != ran.printed:
            return ProgramOutcome("differs", "print", f"expected {ran.printed!r}, found {printed!r}")
        named, misnamed = _named(program, trace, ran.variables)
        if misnamed:
            return ProgramOutcome("differs", "variable", misnamed)
        if not model.engines:
            return ProgramOutcome("agreed", reordered=wrong is not None, named=named)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return replace(self._others(model, program, inputs), reordered=wrong is not None)

    def _others(self, model: ComparedProgram, program: Program, inputs: Mapping[str, ProgramArray]) -> ProgramOutcome:
        """Compare the engines that the model names with the golden."""
        golden = GOLDEN.run(program, inputs, RunOptions())
        taken: list[str] = []
        for name in model.engines:
            try:
                wrong = _ON_ENGINE[name](self, model, program, inputs, golden)
            except FleetError:
                taken.append(f"refused by {name}")  # the engine reports what it cannot hold or reduce
                continue
            except Exception as error:
                wrong = f"internal error: {type(error).__name__}: {error}"
            if wrong:
                return ProgramOutcome("differs", name, wrong)
            taken.append(name)
        return ProgramOutcome("agreed", engines=tuple(taken))

    def _interp(self, model: ComparedProgram, program: Program, inputs: Mapping[str, ProgramArray], golden: Trace) -> str:
        """Compare every bit: interp has the golden's operators, without bytecode."""
        return self._bits(golden, INTERP.run(program, inputs, _OPTIONS))

    def _bits(self, golden: Trace, found: Trace) -> str:
        """Compare the bits of the outputs."""
        wrong = difference("", list(golden.outputs.values()), list(found.outputs.values()), list(golden.outputs))
        return wrong.said if wrong else ""

    def _kernels(self, name: str, program: Program, inputs: Mapping[str, ProgramArray], golden: Trace) -> str:
        """Compare every bit of an engine with compiled kernels, or else within the derived bounds."""
        found = find_engine(name).engine.run(program, inputs, RunOptions())
        if not self._bits(golden, found):
            return ""
        session = ComparisonSession(program, inputs, golden, {}, self._scratch.path)
        comparison, _ = session.against_golden(golden, found)
        return "" if comparison.verdict == "pass" else "; ".join(comparison.reasons)

    def _iss(self, model: ComparedProgram, program: Program, inputs: Mapping[str, ProgramArray], golden: Trace) -> str:
        """Compare within the bounds of the device's arithmetic. Raises DeviceError if no part of the program runs on the device."""
        assert model.device is not None
        data = DataProvenance("random", 1, None, None, None)
        if not open_stream(program, model.device, USUAL).groups:
            raise DeviceError("no operation of the program runs there", where=model.device)
        result = cosim(program, inputs, None, ("vm", "iss"), CosimOptions(str(self._path), data, model.device))
        return "" if result.verdict == "pass" else "; ".join(result.reasons)


def _agree_in_c_order(model: ComparedProgram, program: Program, inputs: Mapping[str, ProgramArray]) -> bool:
    """Return whether every bit agrees if CPython and the golden compute last digits on arrays in C order."""
    expected = by_cpython(in_c_order(model.source), model.arrays).results
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = VM(ByteCodeConverter(program).convert(), IN_C_ORDER).run(inputs)
    return not isinstance(expected, str) and difference("", [np.asarray(v) for v in expected], list(found.values())) is None


_OnEngine: TypeAlias = Callable[[ProgramOracle, ComparedProgram, Program, Mapping[str, ProgramArray], Trace], str]


def _on_kernels(name: str) -> _OnEngine:
    return lambda oracle, _model, program, inputs, golden: oracle._kernels(name, program, inputs, golden)  # pyright: ignore[reportPrivateUsage]


_ON_ENGINE: Mapping[str, _OnEngine] = {
    "interp": ProgramOracle._interp,  # pyright: ignore[reportPrivateUsage]
    **{name: _on_kernels(name) for name in KERNEL_ENGINES},
    "iss": ProgramOracle._iss,  # pyright: ignore[reportPrivateUsage]
}


def _named(program: Program, trace: Trace, variables: Mapping[str, object]) -> tuple[tuple[str, ...], str]:
    """Return the named values, and how a variable's operation differs from CPython's variable. Last digits may differ."""
    named = [a.name for a in program.arguments if a.kind == "weight"]
    for op in program.operations():
        name = getattr(op.properties.get("var"), "data", "")
        mine, theirs = trace.tensors.get(op_id(op)), variables.get(name)
        if not name or mine is None:
            continue
        named.append(name)
        if isinstance(theirs, np.ndarray | np.generic) and (mine.dtype, mine.shape) != (theirs.dtype, theirs.shape):
            return (), f"variable {name}: expected {theirs.dtype}{list(theirs.shape)}, found {mine.dtype}{list(mine.shape)}"
        if isinstance(theirs, np.ndarray | np.generic) and not _alike(mine, np.asarray(theirs)):
            return (), f"variable {name}: expected {theirs}, found {mine}"
    return tuple(sorted(named)), ""


def _alike(a: ProgramArray, b: ProgramArray) -> bool:
    if a.tobytes() == b.tobytes():
        return True
    with np.errstate(all="ignore"):
        return a.dtype.kind == "f" and np.allclose(a, b, rtol=0.1, atol=1e-2, equal_nan=True)


@dataclass(frozen=True)
class ByCPython:
    """CPython's result: returned values or error; variables at the function's end; printed text."""

    results: list[object] | str
    variables: Mapping[str, object]
    printed: str = ""


def by_cpython(source: str, arrays: Mapping[str, ProgramArray]) -> ByCPython:
    """Run the program on CPython. It executes the source, so that must be a drawn or stored program."""
    space: dict[str, Any] = {"__name__": "__main__"}  # imports within a package and dataclasses need it
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(_with_variables(source), "model.py", "exec"), space)
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                found, variables = space[FUNCTION](**{n: a.copy() for n, a in arrays.items()})
    except Exception as error:
        return ByCPython(f"{type(error).__name__}: {error}", {})
    results = list(cast("tuple[object, ...]", found)) if isinstance(found, tuple) else [found]
    return ByCPython(results, variables, printed.getvalue())


def _with_variables(source: str) -> ast.Module:
    """Make every return of the function return its variables too."""
    tree = ast.parse(source)
    for s in tree.body:
        if isinstance(s, ast.FunctionDef) and s.name == FUNCTION:
            for found in _returns(s.body):
                every = ast.parse("locals()", mode="eval").body
                found.value = ast.Tuple([found.value or ast.Constant(None), every], ast.Load())
    return ast.fix_missing_locations(tree)


def _returns(body: Sequence[ast.AST]) -> Iterator[ast.Return]:
    """Yield the returns of a function, without those of functions defined in it."""
    for node in body:
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            yield from _returns(list(ast.iter_child_nodes(node)))


def _refused(error: FleetError) -> ProgramOutcome:
    code = error.code if isinstance(error, SourceError) and error.code else type(error).__name__
    found = re.search(r"model\.py:(\d+)", str(error))
    return ProgramOutcome("refused", code, str(error), int(found[1]) if found else 0)


def difference(
    source: str, expected: Sequence[ProgramArray], found: Sequence[ProgramArray], names: Sequence[str] = ()
) -> ProgramOutcome | None:
    """Return the first result that differs: in number, dtype, shape, then bits. All NaNs are equal: sign and payload are open."""
    names = names or [n.strip(" ()\n") for n in source.rpartition("return ")[2].split(",")]
    if len(names) != len(expected):
        names = [f"result {i}" for i in range(len(expected))]
    if len(expected) != len(found):
        return ProgramOutcome("differs", "count", f"{len(expected)} results, found {len(found)}")
    for name, a, b in zip(names, expected, found, strict=True):
        if a.dtype != b.dtype or a.shape != b.shape:
            what = "dtype" if a.dtype != b.dtype else "shape"
            return ProgramOutcome("differs", what, f"{name}: expected {a.dtype}{list(a.shape)}, found {b.dtype}{list(b.shape)}")
        wrong = _wrong(a, b)
        if wrong is not None and wrong.any():
            at = np.unravel_index(int(np.argmax(wrong)), a.shape)
            place = [int(i) for i in at]
            return ProgramOutcome(
                "differs", "bits", f"{name}{place}: expected {a[at]!r}, found {b[at]!r}; {int(wrong.sum())} of {a.size} differ"
            )
    return None


def _wrong(a: ProgramArray, b: ProgramArray) -> ProgramArray | None:
    """Return which elements differ; None if no element can."""
    if a.tobytes() == b.tobytes():
        return None
    if a.dtype.kind != "f":
        return np.asarray(a != b)
    bits = {2: np.int16, 4: np.int32, 8: np.int64}[a.dtype.itemsize]
    x, y = np.array(a, order="C").view(bits), np.array(b, order="C").view(bits)
    return np.asarray((x != y) & ~(np.isnan(a) & np.isnan(b)))
