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
from fleet.frontend.drawn import drawn_input
from fleet.frontend.onnx.choice import ModelChoice
from fleet.frontend.onnx.cut import cut, replaced, resized
from fleet.frontend.onnx.dynamic import MAX_NAMES, ProgramInstance, drawn_sizes, generalised
from fleet.frontend.onnx.graph import OnnxModel, OnnxPort
from fleet.frontend.onnx.importer import import_model
from fleet.frontend.onnx.narrow import BY_CODE
from fleet.frontend.onnx.problems import NeedsInputs, refuse
from fleet.frontend.onnx.reader import read_file
from fleet.frontend.onnx.sizes.demanded import demanded_sizes
from fleet.frontend.onnx.sizes.names import input_sizes, stated
from fleet.frontend.onnx.tensors import dtype_of
from fleet.frontend.onnx.texts import TEXT, decoded, encoded, spelled
from fleet.ir.program import Argument, Program
from fleet.symbols.dims import DeclarationError, Declared, bind, names_of


def open_model(choice: ModelChoice) -> OnnxModel:
    """The file, or the part of it that is asked for, with the sizes that are given. Raises ModelError."""
    model = read_file(Path(choice.path))
    if choice.dims:
        model = resized(model, dict(choice.dims))
    return cut(model, choice.first, choice.last) if choice.first or choice.last else model


def signature(spec: str) -> list[Declared]:
    """The inputs of a model: names, dtypes and dimensions; those of a part that begins in the middle are as they are given.

    Raises ModelError.
    """
    choice = ModelChoice.of(spec)
    return [_declared(choice, p) for p in open_model(choice).graph.inputs]


def sample_inputs(spec: str, *, batch: int = 8, seed: int = 0) -> dict[str, np.ndarray]:
    """Seeded random arrays for every input; unknown dimensions get the size that the model demands, else `batch`.

    Numbers are drawn by `drawn_input`; texts are those that the model names, and one that it does not.
    """
    rng = np.random.default_rng(seed)
    found: dict[str, np.ndarray] = {}
    model = open_model(ModelChoice.of(spec))
    sizes = sizes_of(model, batch)
    texts, words = {p.name for p in model.graph.inputs if p.code == TEXT}, model.words
    for a in signature(spec):
        if a.dims is None or a.dtype is None:
            refuse(ModelChoice.of(spec).path, f"does not say which shape the input {a.name!r} has", "give it with --input")
        shape = tuple(d if isinstance(d, int) else sizes.get(d, batch) for d in a.dims)
        check_room(
            bytes_of(shape, np.dtype(np.float64)),
            f"a drawn {a.name}, {a.dtype}{list(shape)},",
            where=str(ModelChoice.of(spec).path),
        )
        if a.name in texts:  # a text that the model names, or none of them
            numbers = rng.integers(-1, len(words), shape)
            found[a.name] = decoded(words, numbers).astype(np.str_) if spelled(model) else numbers
        else:
            found[a.name] = drawn_input(rng, shape, a.dtype)
    return found


def sizes_of(model: OnnxModel, batch: int) -> dict[str, int]:
    """Sizes of the unknown dimensions of drawn inputs, by their names (`fleet.frontend.onnx.sizes`)."""
    return input_sizes(free_dims(model), demanded_sizes(model), batch)


def free_dims(model: OnnxModel) -> list[str]:
    """Names of the inputs' unknown dimensions; one without a name is called "INPUT.PLACE"."""
    return list(dict.fromkeys(d for p in model.graph.inputs for d in _named(p) or () if isinstance(d, str)))


def chosen_dims(model: OnnxModel) -> list[str]:
    """Names of unknown dimensions whose sizes the model leaves open: neither demanded nor expressions of others."""
    names = free_dims(model)
    demanded = demanded_sizes(model)
    return [n for n in names if n not in demanded and stated(n, [other for other in names if other != n]) is None]


def load(
    spec: str, weights: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray], *, dynamic: Collection[str] | bool = ()
) -> Program:
    """Reads a model for inputs of these shapes.

    Args:
        spec: "path.onnx".
        weights: none; the file has them.
        inputs: every input by name. Values matter only where they decide shapes, axes or branches. An input that has a default
            in the file, an initializer of its name, may be missing.
        dynamic: names of dimensions that stay unknown until the run, True for all that have a name; others get the inputs' sizes.

    Raises:
        ModelError: a file that is no model, operators that are not supported, inputs that do not fit.
    """
    if weights:
        refuse(spec, "has its weights in it", "leave --weights out; inputs are given with --input")
    choice = ModelChoice.of(spec)
    model = replaced(open_model(choice), inputs)
    inputs = encoded(model, inputs)
    return general_program(model, inputs, choice, dynamic) if dynamic else program_of(model, inputs, choice)


def numbered(spec: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Inputs with numbers in place of text, as the program takes them, but for those that are bound. Raises ModelError."""
    return encoded(replaced(open_model(ModelChoice.of(spec)), inputs), inputs)


def replaceable(spec: str) -> list[str]:
    """Names of the inputs that have a default in the file and may be given. Raises ModelError."""
    return [p.name for p in open_model(ModelChoice.of(spec)).graph.replaceable]


def program_of(model: OnnxModel, inputs: Mapping[str, np.ndarray], choice: ModelChoice | None = None) -> Program:
    """The program of a model that has been read. Raises as `load`."""
    choice, model = choice or ModelChoice(model.name), replaced(model, inputs)
    declared = _checked(model, inputs, choice)
    try:
        symbols = bind(_apart(model.name, declared, inputs), {a.name: inputs[a.name].shape for a in declared})
    except DeclarationError as error:
        raise ModelError(str(error), where=model.name) from None
    arguments = [_argument(model.name, a, inputs[a.name]) for a in declared]
    bound = {name: inputs[name] for name in (*choice.known, *_texts_of(inputs))}
    return _imported(model, arguments, symbols, inputs, bound, inputs)


def _texts_of(inputs: Mapping[str, np.ndarray]) -> list[str]:
    """Names of the inputs whose letters decide what the model makes of them."""
    return [name for name, array in inputs.items() if array.dtype.kind == "U"]


def _checked(model: OnnxModel, inputs: Mapping[str, np.ndarray], choice: ModelChoice) -> list[Declared]:
    """The inputs that a model declares. Raises ModelError where one of them, or of what is said of them, is missing."""
    declared = [_declared(choice, p) for p in model.graph.inputs]
    if unknown := [n for n in choice.known if n not in {a.name for a in declared}]:
        refuse(model.name, f"has no input {unknown[0]!r:.80}", f"inputs are {', '.join(a.name for a in declared)}")
    if missing := [f"{a.name} ({a})" for a in declared if a.name not in inputs]:
        refuse(model.name, f"no input for {', '.join(missing)}", f"given are {', '.join(inputs) or 'none'}")
    return declared


def _imported(
    model: OnnxModel,
    arguments: Sequence[Argument],
    symbols: Mapping[str, int],
    inputs: Mapping[str, np.ndarray],
    bound: dict[str, np.ndarray],
    given: Mapping[str, np.ndarray] | None,
    choices: list[tuple[str, object]] | None = None,
) -> Program:
    """The program, with inputs bound one after another as they turn out to decide shapes; `inputs`: those that may be."""
    while True:
        try:
            return import_model(model, arguments, bound, symbols, given, choices)
        except NeedsInputs as needed:
            new = needed.names - bound.keys()
            assert new, "an input that is bound is known"
            if open_ := sorted(new - inputs.keys()):
                refuse(model.name, f"values of {open_[0]} decide a shape, and its size is unknown", "leave it out of --dynamic")
            bound = bound | {name: inputs[name] for name in new}


def general_program(
    model: OnnxModel, inputs: Mapping[str, np.ndarray], choice: ModelChoice, dynamic: Collection[str] | bool
) -> Program:
    """The program in which dimensions stay unknown: these, or with True all that have a name. Raises as `load`."""
    declared = _apart(model.name, _checked(model, inputs, choice), inputs)
    named = names_of(declared)
    names = list(named) if isinstance(dynamic, bool) else sorted(dynamic)
    if foreign := [n for n in names if n not in named]:
        refuse(model.name, f"no dimension of an input is called {foreign[0]!r:.80}", f"there are {', '.join(named) or 'none'}")
    if not names:
        return program_of(model, inputs, choice)
    if len(names) > MAX_NAMES:
        refuse(
            model.name,
            f"{len(names)} dimensions would stay unknown ({', '.join(names)}), at most {MAX_NAMES} may",
            "name them with --dynamic",
        )
    try:
        symbols = bind(declared, {a.name: inputs[a.name].shape for a in declared})
    except DeclarationError as error:
        raise ModelError(str(error), where=model.name) from None
    fixed = {a.name: inputs[a.name] for a in declared if not set(a.dims or ()) & set(names)}
    bound = {name: fixed[name] for name in (*choice.known, *_texts_of(fixed))}
    if open_ := [name for name in (*choice.known, *_texts_of(inputs)) if name not in fixed]:
        refuse(model.name, f"{open_[0]} is known, and one of its dimensions is not", "leave it out of --known, or of --dynamic")
    given = [_argument(model.name, a, inputs[a.name]) for a in declared]
    rest = {n: s for n, s in symbols.items() if n not in names}

    def instance(sizes: Mapping[str, int]) -> tuple[ProgramInstance, list[tuple[str, object]]]:
        choices: list[tuple[str, object]] = []
        shaped = [replace(g, shape=_shape(a, g.shape, sizes)) for a, g in zip(declared, given, strict=True)]
        return ProgramInstance(sizes, _imported(model, shaped, rest, fixed, dict(bound), None, choices)), choices

    made = [instance(sizes) for sizes in drawn_sizes(names)]
    instances = [i for i, _ in made]
    chosen = made[0][1]
    for name in names if chosen else ():  # sizes of 1 are what branches and Squeeze ask for
        one = instance({**instances[0].sizes, name: 1})[1]
        if other := next((a for a, b in zip(chosen, one, strict=False) if a != b), None):
            refuse(other[0], f"chooses otherwise where {name} is 1, as one program cannot", f"leave {name} out of --dynamic")
    unknown = dict.fromkeys(names, -1)
    arguments = [
        Argument(
            a.name,
            _shape(a, inputs[a.name].shape, unknown),
            inputs[a.name].dtype,
            "input",
            tuple(str(d) if d in unknown else "" for d in a.dims) if a.dims and set(a.dims) & set(names) else (),
        )
        for a in declared
    ]
    return generalised(model.name, instances, arguments, rest)


def _shape(a: Declared, shape: tuple[int, ...], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """A shape with the sizes of its named dimensions."""
    return tuple(sizes.get(d, s) if isinstance(d, str) else s for d, s in zip(a.dims or shape, shape, strict=True))


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


def _declared(choice: ModelChoice, port: OnnxPort) -> Declared:
    where = choice.path
    if port.code is None and port.name in choice.first:
        return Declared(port.name)
    if port.code is None:
        kind = "a sequence or an optional" if port.sequence else "of no known type"
        refuse(where, f"the input {port.name!r} is {kind}", "inputs are tensors")
    narrow = BY_CODE.get(port.code)
    if port.code == TEXT:
        dtype = np.dtype(np.int64)
    else:
        dtype = dtype_of(port.code, f"{where}:input {port.name}") if narrow is None else narrow.carried
    return Declared(port.name, dtype, _named(port))


def _named(port: OnnxPort) -> tuple[int | str, ...] | None:
    """An input's dimensions, each with a name or a size."""
    return None if port.dims is None else tuple(d if d != "" else f"{port.name}.{i}" for i, d in enumerate(port.dims))


def _argument(where: str, a: Declared, array: np.ndarray) -> Argument:
    if a.dtype is not None and array.dtype != a.dtype and array.dtype.kind != "U":
        refuse(where, f'input "{a.name}" is declared {a}, the given array is {array.dtype}', f"convert it to {a.dtype}")
    return Argument(a.name, array.shape, array.dtype, "input")
