"""An ONNX file as a model: its arguments, random inputs, and the program for the inputs that are given.

An input whose values decide shapes, axes or branches is bound to the values that are given, as a named dimension is bound to its
size: it is then no input of the program.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from fleet.errors import ModelError
from fleet.frontend.onnx.graph import Model, Port
from fleet.frontend.onnx.importer import import_model
from fleet.frontend.onnx.problems import NeedsInputs, refuse
from fleet.frontend.onnx.reader import read_file
from fleet.frontend.onnx.tensors import dtype_of
from fleet.ir.program import Argument, Program
from fleet.symbols.dims import DeclarationError, Declared, bind

__all__ = ["load", "program_of", "sample_inputs", "signature"]


def signature(spec: str) -> list[Declared]:
    """The inputs of a model: names, dtypes and dimensions. Raises ModelError."""
    return [_declared(spec, p) for p in read_file(Path(spec)).graph.inputs]


def sample_inputs(spec: str, *, batch: int = 8, seed: int = 0) -> dict[str, np.ndarray]:
    """Seeded random arrays for every input: standard normal floats, integers 0 or 1; unknown dimensions get `batch`."""
    rng = np.random.default_rng(seed)
    found: dict[str, np.ndarray] = {}
    for a in signature(spec):
        if a.dims is None or a.dtype is None:
            refuse(spec, f"does not say which shape the input {a.name!r} has", "give it with --input")
        shape = tuple(d if isinstance(d, int) else batch for d in a.dims)
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
    return program_of(read_file(Path(spec)), inputs)


def program_of(model: Model, inputs: Mapping[str, np.ndarray]) -> Program:
    """The program of a model that has been read. Raises as `load`."""
    declared = [_declared(model.name, p) for p in model.graph.inputs]
    if missing := [f"{a.name} ({a})" for a in declared if a.name not in inputs]:
        refuse(model.name, f"no input for {', '.join(missing)}", f"given are {', '.join(inputs) or 'none'}")
    try:
        symbols = bind(declared, {a.name: inputs[a.name].shape for a in declared})
    except DeclarationError as error:
        raise ModelError(str(error), where=model.name) from None
    arguments = [_argument(model.name, a, inputs[a.name]) for a in declared]
    bound: dict[str, np.ndarray] = {}
    while True:
        try:
            return import_model(model, arguments, bound, symbols)
        except NeedsInputs as needed:
            new = needed.names - bound.keys()
            assert new, "an input that is bound is known"
            bound |= {name: inputs[name] for name in new}


def _declared(where: str, port: Port) -> Declared:
    if port.code is None:
        kind = "a sequence or an optional" if port.sequence else "of no known type"
        refuse(where, f"the input {port.name!r} is {kind}", "inputs are tensors")
    dtype = dtype_of(port.code, f"{where}:input {port.name}")
    dims = None if port.dims is None else tuple(d if d != "" else f"{port.name}.{i}" for i, d in enumerate(port.dims))
    return Declared(port.name, dtype, dims)


def _argument(where: str, a: Declared, array: np.ndarray) -> Argument:
    if array.dtype != a.dtype:
        refuse(where, f'input "{a.name}" is declared {a}, the given array is {array.dtype}', f"convert it to {a.dtype}")
    return Argument(a.name, array.shape, array.dtype, "input")
