"""From file names to a program with the data of one run; cases and commands share it."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fleet.core.file_kinds import MODEL_BUNDLE
from fleet.cosim.models.data import load_arrays, random_like
from fleet.errors import ModelError
from fleet.ir.program import Program
from fleet.ir.types import shape_of

if TYPE_CHECKING:
    from fleet.symbols.dims import Declared

_LARGER = (64, 512, 4096, 16384)
"""Sizes of an ONNX model's free dimensions that are tried in this order where the usual one is refused."""

_SEARCH_S = 20.0
"""Seconds after which no further size is tried."""

RANDOM_BANNER = "seeded random data: task figures (accuracy, flipped predictions) mean nothing"


@dataclass(frozen=True)
class LoadedModel:
    """A program with the data of one run.

    spec: of the model, with the sizes that were chosen for its free dimensions where 8 is too small.
    inputs: all inputs by name. random: names of arguments that were drawn, not given.
    bound: names of inputs whose values decide the program (of ONNX models), so that they are not inputs of it.
    """

    spec: str
    program: Program
    inputs: Mapping[str, np.ndarray]
    random: tuple[str, ...]
    bound: tuple[str, ...] = ()

    @property
    def banner(self) -> str | None:
        """`RANDOM_BANNER` if data were drawn, and which inputs were bound; None if neither."""
        drawn = f"{RANDOM_BANNER} (drawn: {', '.join(self.random)})" if self.random else ""
        bound = f"compiled for these values, which decide shapes or branches: {', '.join(self.bound)}" if self.bound else ""
        return "; ".join(part for part in (drawn, bound) if part) or None


def _first_rows(inputs: dict[str, np.ndarray], spec: str, batch: int) -> dict[str, np.ndarray]:
    """Return the inputs, cut to `batch` rows if their leading dimension is named in the signature."""
    from fleet.frontend.source import signature

    named = {a.name for a in signature(spec) if a.dims and isinstance(a.dims[0], str)}
    return {name: array[:batch] if name in named else array for name, array in inputs.items()}


def _check_names(spec: str, arguments: Sequence[Declared], inputs: Mapping[str, np.ndarray], path: Path | None) -> None:
    """Raise ModelError if an array is given that the model has no argument for: a name that is written wrongly would count for
    nothing. For a part of an ONNX model the inputs of the whole one may be given.
    """
    from fleet.frontend.onnx.choice import ModelChoice
    from fleet.frontend.onnx.entry import replaceable
    from fleet.frontend.source import is_onnx, signature

    names = dict.fromkeys(a.name for a in arguments)
    if is_onnx(spec) and inputs.keys() - names.keys():
        whole = ModelChoice(ModelChoice.of(spec).path).spec
        names |= dict.fromkeys((*(a.name for a in signature(whole)), *replaceable(whole)))
    if unknown := [name for name in inputs if name not in names]:
        shown = ", ".join(names) or "none"
        raise ModelError(
            f"holds {unknown[0]!r:.80}, which is no argument of the model",
            where=str(path),
            hint=f"the model's arguments are {shown:.500}",
        )


def _check_complete(arguments: Sequence[Declared], weights: Mapping[str, np.ndarray]) -> None:
    """Raise ModelError if weights lack an array of fixed size: a drawn one would look like the model's own."""
    fixed = [a for a in arguments[1:] if not a.optional and a.dims and all(isinstance(d, int) for d in a.dims)]
    if missing := [a for a in fixed if a.name not in weights]:
        what = ", ".join(f"{a.name} ({a})" for a in missing)
        raise ModelError(f"no weight for {what}", hint=f"given are {', '.join(weights)}; add it, or give it with --input")


def _led_to(
    spec: str, arguments: Sequence[Declared], inputs: dict[str, np.ndarray], seed: int, batch: int | None
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the inputs of a part of an ONNX model: if its first values are not given, the VM computes them from the model's
    inputs.

    Returns the inputs, and the names of the arrays that were drawn for it. Raises as `load_model`.
    """
    from fleet.engines.base import RunOptions
    from fleet.engines.vm import ENGINE as VM
    from fleet.frontend.onnx.choice import ModelChoice
    from fleet.frontend.source import load, sample_inputs, signature

    choice = ModelChoice.of(spec)
    missing = tuple(name for name in choice.first if name not in inputs)
    if not missing:
        return inputs, []
    before = ModelChoice(choice.path, last=missing, dims=choice.dims).spec
    asked = [a.name for a in signature(before)]
    rest = [a.name for a in arguments if a.name not in choice.first]
    given = {name: array for name, array in inputs.items() if name in (*asked, *rest)}
    if given and batch:
        given = _first_rows(given, before, batch)
    drawn = [] if given else list(dict.fromkeys((*asked, *rest)))
    if not given:
        given = sample_inputs(ModelChoice(choice.path, dims=choice.dims).spec, {}, batch=batch or 8, seed=seed)
    program = load(before, {}, given)
    fed = {a.name: np.asarray(given[a.name], order="C") for a in program.inputs}
    found = VM.run(program, fed, RunOptions(seed=seed, keep_tensors=False)).outputs
    return {**{n: a for n, a in given.items() if n in rest}, **found}, drawn


def _drawn_onnx(
    spec: str, arguments: Sequence[Declared], bound: Mapping[str, np.ndarray], seed: int, batch: int | None,
    dynamic: Collection[str] | bool,
) -> tuple[str, dict[str, np.ndarray], Program]:  # fmt: skip
    """Draw the inputs of an ONNX model and read it: free dimensions behind the first grow until the model takes them.

    A signal is as long as a frame at least, an image as large as what the model divides it by. Returns the spec with the sizes.
    Raises ModelError: the first refusal, if no size will do.
    """
    from fleet.frontend.onnx.choice import ModelChoice
    from fleet.frontend.onnx.importer import unsupported_operators
    from fleet.frontend.onnx.load import chosen_dims, open_model
    from fleet.frontend.source import load, sample_inputs

    def read(spec: str) -> tuple[str, dict[str, np.ndarray], Program]:
        given = sample_inputs(spec, {}, batch=batch or 8, seed=seed)
        return spec, given, load(spec, bound, given, dynamic=dynamic)

    try:
        return read(spec)
    except ModelError as error:
        refused = error
    rows = {a.dims[0] for a in arguments if a.dims and len(a.dims) > 1}
    choice = ModelChoice.of(spec)
    model = open_model(choice)
    free = [d for d in chosen_dims(model) if d not in rows]
    if not free or bound or unsupported_operators(model):
        raise refused
    until = time.monotonic() + _SEARCH_S
    tries = [[(name, size) for name in free] for size in _LARGER]
    tries[2:2] = [[(name, 1)] for name in chosen_dims(model)]
    for sizes in tries:
        with suppress(ModelError):
            return read(replace(choice, dims=(*choice.dims, *sizes)).spec)
        if time.monotonic() > until:
            break
    tried = f"give sizes of {', '.join(free)} with --dim NAME=SIZE, or --input: drawn ones of {batch or 8} and more are refused"
    raise ModelError(refused.what, where=refused.where, hint=refused.hint or tried, detail=refused.detail)


def load_model(
    spec: str, weights: Path | None, input_path: Path | None, seed: int, batch: int | None, dynamic: Collection[str] | bool = ()
) -> LoadedModel:
    """Read the model, its weights and inputs; draw what is not given.

    For a part of an ONNX model, arrays given under the names of its first values are used; else these are computed from the model's
    inputs. Without `weights`, all arguments except the first are taken as weights and drawn (an ONNX model has its own). Without
    `input_path`, the other arguments are drawn (with `weights`, only the first one and those with a named dimension).
    dynamic: dimensions that stay unknown in the program, whatever the arrays.
    Raises FleetError if anything does not fit, naming the files.
    """
    from fleet.frontend.mlir.choice import parts
    from fleet.frontend.onnx.entry import numbered, replaceable
    from fleet.frontend.source import is_onnx, load, sample_inputs, signature

    if Path(spec).name == MODEL_BUNDLE:
        from fleet.cosim.models.model_bundle import load_model_bundle

        if weights or input_path or batch:
            raise ModelError("has weights and inputs of its own", where=spec, hint="leave --weights, --input and --batch out")
        _, program, stored = load_model_bundle(Path(spec))
        return LoadedModel(spec, program, stored, ())
    arguments = signature(spec)
    drawn: list[str] = []
    bound = load_arrays(weights, what="weights") if weights else {}
    inputs = load_arrays(input_path, what="input") if input_path else {}
    _check_names(spec, arguments, inputs, input_path)
    if is_onnx(spec):
        if any(array.dtype.kind in "US" for array in inputs.values()):
            inputs = numbered(spec, inputs)
        inputs, drawn = _led_to(spec, arguments, inputs, seed, batch)
    known = {a.name for a in arguments} | {*(replaceable(spec) if is_onnx(spec) else ())}
    for path, arrays in ((weights, bound), (input_path, inputs)):
        if path and not known & arrays.keys():
            names = ", ".join(sorted(arrays)) or "nothing"
            raise ModelError(f"holds {names}; the model's arguments are {', '.join(a.name for a in arguments)}", where=str(path))
    if not weights and not is_onnx(spec):
        shapes = {
            a.name: (tuple(a.dims), a.dtype)
            for a in arguments[1:]
            if a.name not in inputs
            and not a.optional
            and a.dtype is not None
            and a.dims
            and all(isinstance(d, int) for d in a.dims)
        }
        bound = random_like(shapes, seed)  # pyright: ignore[reportArgumentType]
        drawn += bound
    given = {name: array for name, array in inputs.items() if name in known}
    if given and batch and not drawn:
        given = _first_rows(given, spec, batch)
    try:
        if not given:
            if weights:
                _check_complete(arguments, bound)
            if is_onnx(spec):
                spec, given, program = _drawn_onnx(spec, arguments, bound, seed, batch, dynamic)
            else:
                given = sample_inputs(spec, bound, batch=batch or 8, seed=seed)
                program = load(spec, bound, given, seed=seed, dynamic=dynamic)
            drawn = [*given, *drawn]
        else:
            program = load(spec, bound, given, seed=seed, dynamic=dynamic)
    except ModelError as error:
        files = [str(path) for path in (weights, input_path) if path]
        place = error.where or ""
        file = spec.partition("?")[0] if is_onnx(spec) else parts(spec)[0]
        named = place.startswith(f"{file}:")  # with a node, or a line
        where = " and ".join([place if named else spec, *files])
        raise ModelError(error.what, where=where, hint=error.hint, detail=error.detail) from error
    empty = [a for a in program.inputs if 0 in a.shape]
    if empty and all(0 in shape_of(value.type) for value in program.returned()):
        where, a = str(input_path) if input_path else spec, empty[0]
        what = f'input "{a.name}" is empty, shape {list(a.shape)}, and so are all results'
        raise ModelError(what, where=where, hint="give at least one row")
    fed = {a.name: np.asarray(given[a.name], order="C") for a in program.inputs}
    bound_inputs = tuple(name for name in given if name not in fed and name not in program.weights)
    return LoadedModel(spec, program, fed, tuple(drawn), bound_inputs)
