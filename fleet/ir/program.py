"""A program: one compiled model, the input of every target."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from fleet.errors import ModelError
from fleet.ir.dialect import FleetOp
from fleet.ir.schedule import USUAL_SCHEDULE, MatmulChoice, Schedule
from fleet.ir.weights import Recipe, Weights


@dataclass(frozen=True)
class ModuleSource:
    """A module that a model imports from beside its file.

    path: of its file. file: its name in source places, "pkg/norm.py". package: whether it is a package. statements: its top-level
    statements that the front end has read completely, by their position.
    """

    path: str
    text: str
    package: bool = False
    file: str = ""
    statements: tuple[int, ...] = ()


@dataclass(frozen=True)
class DataFile:
    """A data file that was read together with the source. path: absolute. sha256: of its content, in hexadecimal."""

    path: str
    sha256: str

    def check(self) -> None:
        """Raise ModelError if the file has changed."""
        try:
            found = hashlib.sha256(Path(self.path).read_bytes()).hexdigest()
        except OSError as error:
            raise ModelError(f"cannot be read ({error.strerror})", where=self.path, hint="the source has read it") from error
        if found != self.sha256:
            raise ModelError("has changed since the source was read", where=self.path, hint="start the command again")


@dataclass(frozen=True)
class Argument:
    """One argument of the model's function.

    kind is "input" (given for each run) or "weight" (bound when the program is created).
    shape has -1 for dimensions unknown until the run; dims are then the names of the dimensions ("" if one has none, or is known):
    dimensions of the same name must have the same size in a run. () if no dimension has a name.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    kind: str
    dims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    """IR, weights, inputs and outputs of a model. Immutable: passes create a new one.

    Attributes:
        module: holds one `func.func`, a single block of `fleet` operations that ends with `func.return`.
        arguments: in the order of the function's arguments.
        weights: name -> array, for every argument of kind "weight", C-contiguous, of the declared dtype; lazy if the mapping
            is a `fleet.ir.weights.Weights`.
        outputs: names of the returned values, in order ("logits", or "out0" for an unnamed expression).
        source: the source text, for messages and provenance; source_name: its file name as the user gave it.
        symbols: values that named dimensions were bound to ({"N": 360}).
        bound: values of the model's inputs that determined shapes or branches, by name; they are not inputs of the program.
        words: texts represented by numbers in the program, with these numbers; empty except for ONNX models with text.
        fates: operation id -> what became of an operation that passes removed ("fused into h1", "the same as mul.3").
        modules: dotted name -> module that the source imports from beside its file.
        handlers: the `except` clauses that were taken while reading the source, as file and line: "model.py:12".
        files: the data files that the source has read.
        schedule: how the loops of kernels run; it changes no bit, and is no part of `hash`.
        matmul: what computes matrix products on a CUDA device; no part of `hash` either, since the golden is the same.
    """

    module: ModuleOp
    arguments: tuple[Argument, ...]
    weights: Mapping[str, np.ndarray]
    outputs: tuple[str, ...]
    source: str = ""
    source_name: str = "<graph>"
    symbols: Mapping[str, int] = field(default_factory=dict)
    fates: Mapping[str, str] = field(default_factory=dict)
    bound: Mapping[str, np.ndarray] = field(default_factory=dict)
    words: Mapping[str, int] = field(default_factory=dict)
    modules: Mapping[str, ModuleSource] = field(default_factory=dict)
    handlers: tuple[str, ...] = ()
    files: tuple[DataFile, ...] = ()
    schedule: Schedule = USUAL_SCHEDULE
    matmul: MatmulChoice = "exact"

    @property
    def all_sources(self) -> str:
        """Return the text of the source and of all modules that it imports, for hashes."""
        return "\n".join((self.source, *(f"# {name}\n{m.text}" for name, m in sorted(self.modules.items()))))

    def line_at(self, place: str) -> str:
        """Return the source line of a place "model.py:12:5", stripped; "" if the file is unknown."""
        file, _, rest = place.partition(":")
        number = rest.partition(":")[0]
        texts = {m.file: m.text for m in self.modules.values()} | {PurePath(self.source_name).name: self.source}
        lines = texts.get(file, "").splitlines()
        return lines[int(number) - 1].strip() if number.isdecimal() and 0 < int(number) <= len(lines) else ""

    @property
    def function(self) -> FuncOp:
        """The module's one function."""
        (function,) = (op for op in self.module.ops if isinstance(op, FuncOp))
        return function

    def operations(self) -> Iterator[FleetOp]:
        """The operations in program order, without the return."""
        return (op for op in self.function.body.block.ops if isinstance(op, FleetOp))

    def returned(self) -> tuple[SSAValue, ...]:
        """The values that the function returns, in the order of `outputs`."""
        last = self.function.body.block.last_op
        assert isinstance(last, ReturnOp)
        return tuple(last.operands)

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """Arguments that a run must be given."""
        return tuple(a for a in self.arguments if a.kind == "input")

    @property
    def unknown(self) -> tuple[str, ...]:
        """Dimensions that are unknown until the run, for messages: their names, or "dimension 0 of x"."""
        found: dict[str, None] = {}
        for a in self.arguments:
            names = a.dims or ("",) * len(a.shape)
            found |= dict.fromkeys(
                name or f"dimension {i} of {a.name}" for i, (d, name) in enumerate(zip(a.shape, names, strict=True)) if d < 0
            )
        return tuple(found)

    @cached_property
    def hash(self) -> str:
        """SHA-256 (hex) over the printed IR, names of unknown dimensions, and the weights' names, dtypes, shapes and bytes, or
        their recipes' hashes."""
        h = hashlib.sha256(str(self.module).encode())
        for argument in self.arguments:
            if any(argument.dims):
                h.update(f"{argument.name}:dims:{','.join(argument.dims)}".encode())
        recipes = self.weights.entries if isinstance(self.weights, Weights) else {}
        for name in sorted(self.weights):
            recipe = recipes.get(name)
            if isinstance(recipe, Recipe):
                h.update(f"{name}:recipe:{recipe.digest}".encode())
                continue
            w = self.weights[name]
            h.update(f"{name}:{w.dtype.str}:{w.shape}".encode())
            h.update(np.ascontiguousarray(w).tobytes())
        return h.hexdigest()
