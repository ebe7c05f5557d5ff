"""An ONNX file as a model: its arguments, random inputs, and the program for the inputs that are given.

An input whose values decide shapes, axes or branches is bound to the values that are given, as a named dimension is bound to its
size: it is then no input of the program. So is one that the user says is known. A spec is "path.onnx" with choices behind it
(`fleet.frontend.onnx.choice`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fleet.core.notice import notice
from fleet.core.room import bytes_of, check_room
from fleet.errors import ModelError
from fleet.frontend.onnx.choice import Choice
from fleet.frontend.onnx.cut import cut, resized
from fleet.frontend.onnx.graph import Model, Port
from fleet.frontend.onnx.importer import import_model
from fleet.frontend.onnx.narrow import BY_CODE
from fleet.frontend.onnx.problems import NeedsInputs, refuse
from fleet.frontend.onnx.reader import read_file
from fleet.frontend.onnx.tensors import dtype_of
from fleet.ir.program import Argument, Program
from fleet.symbols.dims import DeclarationError, Declared, bind

__all__ = ["load", "open_model", "program_of", "sample_inputs", "signature"]


def open_model(choice: Choice) -> Model:
    """The file, or the part of it that is asked for, with the sizes that are given. Raises ModelError."""
    model = read_file(Path(choice.path))
    if choice.dims:
        model = resized(model, dict(choice.dims))
    return cut(model, choice.first, choice.last) if choice.first or choice.last else model


def signature(spec: str) -> list[Declared]:
    """The inputs of a model: names, dtypes and dimensions; those of a part that begins in the middle are as they are given.

    Raises ModelError.
    """
    choice = Choice.of(spec)
    return [_declared(choice, p) for p in open_model(choice).graph.inputs]


def sample_inputs(spec: str, *, batch: int = 8, seed: int = 0) -> dict[str, np.ndarray]:
    """Seeded random arrays for every input: standard normal floats, integers 0 or 1; unknown dimensions get `batch`."""
    rng = np.random.default_rng(seed)
    found: dict[str, np.ndarray] = {}
    for a in signature(spec):
        if a.dims is None or a.dtype is None:
            refuse(Choice.of(spec).path, f"does not say which shape the input {a.name!r} has", "give it with --input")
        shape = tuple(d if isinstance(d, int) else batch for d in a.dims)
        check_room(
            bytes_of(shape, np.dtype(np.float64)), f"a drawn {a.name}, {a.dtype}{list(shape)},", where=str(Choice.of(spec).path)
        )
        found[a.name] = (rng.standard_normal(shape) if a.dtype.kind == "f" else rng.integers(0, 2, shape)).astype(a.dtype)
    return found


def load(
    spec: str, weights: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray], *, dynamic: Collection[str] | bool = ()
) -> Program:
    """Reads a model for inputs of these shapes.

    Args:
        spec: "path.onnx".
        weights: none; the file has them.
        inputs: every input by name. Values matter only where they decide shapes, axes or branches.
        dynamic: none; the dimensions get the inputs' sizes.

    Raises:
        ModelError: a file that is no model, operators that are not supported, inputs that do not fit.
    """
    if weights:
        refuse(spec, "has its weights in it", "leave --weights out; inputs are given with --input")
    if dynamic:
        refuse(spec, "dimensions of an ONNX model cannot stay unknown", "leave --dynamic out: they get the inputs' sizes")
    choice = Choice.of(spec)
    return program_of(open_model(choice), inputs, choice)


def program_of(model: Model, inputs: Mapping[str, np.ndarray], choice: Choice | None = None) -> Program:
    """The program of a model that has been read. Raises as `load`."""
    choice = choice or Choice(model.name)
    declared = [_declared(choice, p) for p in model.graph.inputs]
    if unknown := [n for n in choice.known if n not in {a.name for a in declared}]:
        refuse(model.name, f"has no input {unknown[0]!r:.80}", f"inputs are {', '.join(a.name for a in declared)}")
    if missing := [f"{a.name} ({a})" for a in declared if a.name not in inputs]:
        refuse(model.name, f"no input for {', '.join(missing)}", f"given are {', '.join(inputs) or 'none'}")
    try:
        symbols = bind(_apart(model.name, declared, inputs), {a.name: inputs[a.name].shape for a in declared})
    except DeclarationError as error:
        raise ModelError(str(error), where=model.name) from None
    arguments = [_argument(model.name, a, inputs[a.name]) for a in declared]
    bound: dict[str, np.ndarray] = {name: inputs[name] for name in choice.known}
    while True:
        try:
            return import_model(model, arguments, bound, symbols, inputs)
        except NeedsInputs as needed:
            new = needed.names - bound.keys()
            assert new, "an input that is bound is known"
            bound |= {name: inputs[name] for name in new}


def _apart(where: str, declared: Sequence[Declared], inputs: Mapping[str, np.ndarray]) -> list[Declared]:
    """The inputs with a name of its own for a dimension whose name stands for two sizes, and a line that says so.

    Exporters give one name to sizes that were equal when the model was written; no engine holds a model to it.
    """
    sizes: dict[str, int] = {}
    found: list[Declared] = []
    for a in declared:
        dims = list(a.dims or ())
        for i, (dim, size) in enumerate(zip(dims, inputs[a.name].shape, strict=False)):
            if isinstance(dim, str) and sizes.setdefault(dim, size) != size:
                dims[i] = f"{a.name}.{i}"
                notice(f'{where}: dimension {dim} is {sizes[dim]}, and {size} as dimension {i} of "{a.name}": taken as two')
        found.append(a if a.dims is None else replace(a, dims=tuple(dims)))
    return found


def _declared(choice: Choice, port: Port) -> Declared:
    where = choice.path
    if port.code is None and port.name in choice.first:
        return Declared(port.name)
    if port.code is None:
        kind = "a sequence or an optional" if port.sequence else "of no known type"
        refuse(where, f"the input {port.name!r} is {kind}", "inputs are tensors")
    narrow = BY_CODE.get(port.code)
    dtype = dtype_of(port.code, f"{where}:input {port.name}") if narrow is None else narrow.carried
    dims = None if port.dims is None else tuple(d if d != "" else f"{port.name}.{i}" for i, d in enumerate(port.dims))
    return Declared(port.name, dtype, dims)


def _argument(where: str, a: Declared, array: np.ndarray) -> Argument:
    if a.dtype is not None and array.dtype != a.dtype:
        refuse(where, f'input "{a.name}" is declared {a}, the given array is {array.dtype}', f"convert it to {a.dtype}")
    return Argument(a.name, array.shape, array.dtype, "input")
